"""All labs with functions as learners write them: what is said is true, and names the function."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import (
    Compare,
    ControlFlow,
    Costs,
    Descent,
    ErrorStory,
    GradientFlow,
    GradMode,
    MemoryTimeline,
    Slope,
    StepThrough,
    descent,
    measuring,
    slope,
)
from autodiff_kit.widgets.running import name_of, run
from tests.gate import some
from tests.widgets import odd_functions as odd
from tests.widgets.clock import the_clock_strikes

LABS: dict[str, Callable[[Any], Any]] = {
    "ControlFlow": lambda f: ControlFlow(f, x=2.0),
    "Compare": lambda f: Compare(f, x=2.0),
    "StepThrough": lambda f: StepThrough(f, x=2.0),
    "MemoryTimeline": lambda f: MemoryTimeline(f, x=2.0),
    "GradMode": lambda f: GradMode(f, x=2.0),
    "Slope": lambda f: Slope(f, x=0.5),
    "Descent": lambda f: Descent(lambda x, y: f(x) + y * y, detail=5, steps=1),
    "Costs": lambda f: Costs([torch.tensor(2.0, requires_grad=True)], way=f),
}
REWRITES = "GradMode"

# Names of the kit's own functions and of Python's machinery: no word of them is for a learner.
INTERNAL = re.compile(
    r"\b_[a-z]\w+|\bthere_and_back\b|\bNoneType\b|autodiff_kit\.widgets|Traceback|0x[0-9a-f]{6}"
)


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(measuring, "FEWEST", 1)
        monkeypatch.setattr(measuring, "MOST", 1)
        yield


def told(lab: Any) -> str:
    """Return all that a lab says; fail if anything of the kit's own is in it."""
    text = f"{lab.message}\n{lab.canvas.caption}"
    assert not INTERNAL.search(text), text
    return text


def answer_of(function: Any, x: float) -> float:
    leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    return float(function(leaf).item())


@pytest.mark.filterwarnings("ignore:careful")
@pytest.mark.parametrize("name", some(odd.SMOOTH, 12))
def test_control_flow_answers_what_the_function_answers(name: str) -> None:
    function = odd.SMOOTH[name]

    lab = ControlFlow(function, x=2.0)

    assert lab.message == ""
    assert f"The answer is {lab.answer.reshape(()).item():.4g}"[:17] in told(lab).replace("[", "")
    assert lab.answer.item() == pytest.approx(answer_of(function, 2.0), rel=1e-5)
    if name not in ("detached", "half_detached", "hooked"):  # there autograd is not the slope
        near = answer_of(function, 2.001) - answer_of(function, 1.999)
        assert lab.grads["x"].item() == pytest.approx(near / 0.002, rel=1e-3, abs=1e-6)


@pytest.mark.filterwarnings("ignore:careful")
@pytest.mark.parametrize("name", some(odd.SMOOTH, 12))
def test_every_lab_takes_what_gives_one_number(name: str) -> None:
    for kind, make in LABS.items():
        if kind in (REWRITES, "ControlFlow", "Slope"):  # the first needs lines to rewrite; the
            continue  # others have their own test
        lab = make(odd.SMOOTH[name])

        told(lab)
        if kind == "Compare" and lab.message:  # a trace cannot follow everything
            assert "backward" in lab.message or "cannot be replayed" in lab.message
        else:
            assert lab.message == "", kind
            assert lab.still().startswith("<svg")


@pytest.mark.filterwarnings("ignore:careful")
@pytest.mark.parametrize("name", some(odd.SMOOTH, 12))
@pytest.mark.parametrize("x", [-0.5, 0.5])
def test_the_slope_that_is_said_is_that_of_the_curve(name: str, x: float) -> None:
    function = odd.SMOOTH[name]
    step = 1e-3  # some compute in float32

    text = told(Slope(function, x=x)).replace("\N{MINUS SIGN}", "-")

    measured = (answer_of(function, x + step) - answer_of(function, x - step)) / (2 * step)
    number = re.search(r"(?:the slope|has the slope) (-?[\d.e-]+?)(?: here|:)", text)
    assert number is not None, text
    assert float(number[1]) == pytest.approx(measured, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("function", odd.NO_TENSOR, ids=name_of)
def test_what_returns_no_tensor_is_told_what_it_returned(function: Any) -> None:
    name = function.__name__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # as of a coroutine that never ran
        warnings.simplefilter("ignore", UserWarning)
        for kind, make in LABS.items():
            if kind == "GradMode" and name in ("a_coroutine", "an_async_generator"):
                with pytest.raises(TypeError, match=f"{name} is written with `async def`"):
                    make(function)
                continue
            if kind == "Descent":
                continue  # the lambda around it raises, before the lab sees what it returned
            lab = make(function)
            if kind in ("StepThrough", "Costs") and lab.message == "":
                continue  # it did something with tensors, and its result is not asked for
            assert "\n-> " in lab.message, kind
            assert re.search(name if kind != "Costs" else r"\w", told(lab)), kind
    if name == "a_generator":
        assert "is a generator, as it contains `yield`" in ControlFlow(function, x=2.0).message


def test_a_plain_number_is_told_by_costs() -> None:
    lab = Costs([torch.ones(1)], three=odd.an_int)

    assert lab.message.startswith("three did nothing with tensors, and returned the int 3")


@pytest.mark.parametrize(("function", "words"), odd.RAISING.items(), ids=map(name_of, odd.RAISING))
def test_an_error_of_the_function_is_shown_with_its_line(function: Any, words: str) -> None:
    for kind, make in LABS.items():
        lab = make(function)

        assert lab.message.startswith(words), kind
        assert "It came from line" in lab.message, kind
        told(lab)


@the_clock_strikes
@pytest.mark.parametrize("function", odd.ENDLESS, ids=name_of)
def test_a_function_that_never_ends_is_stopped_by_its_name(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(run.__kwdefaults__, "seconds", 0.05)
    for module in (slope, descent):
        monkeypatch.setattr(module, "SECONDS", 0.05)
    for kind, make in LABS.items():
        lab = make(function)

        name = "The lambda" if kind == "Descent" else function.__name__
        assert lab.message.startswith(f"{name} was stopped: it "), kind
        told(lab)


@pytest.mark.parametrize("name", odd.VARYING)
def test_no_lab_takes_one_run_of_a_varying_function_for_all(name: str) -> None:
    function = odd.VARYING[name]
    for kind in ("ControlFlow", "Compare", "Slope", "Costs", "GradMode"):
        if kind == "GradMode" and name in ("object", "lambda"):
            continue
        lab = LABS[kind](function)

        text = told(lab)
        assert lab.message == ""
        assert re.search(r"a different result each time|other operations|draws random", text), kind
        assert "wrong" not in text.lower()


def test_what_a_lambda_only_passes_on_is_told_by_its_own_name() -> None:
    for function, words in (
        (odd.a_generator, "a_generator is a generator, as it contains `yield`"),
        (odd.a_coroutine, "a_coroutine is written with `async def`"),
    ):
        lab = ErrorStory(lambda function=function: function(torch.ones(1)))

        assert lab.message.startswith(words)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (odd.as_it_is, "as_it_is did no operation on a tensor"),
        (odd.constant, "constant did no operation on a tensor"),
        (odd.in_a_thread, "No operation was seen while in_a_thread ran, though it returned a"),
    ],
    ids=lambda it: getattr(it, "__name__", ""),
)
def test_a_tensor_that_no_seen_operation_made_is_told_as_what_it_is(
    function: Any, words: str
) -> None:
    for kind in ("StepThrough", "MemoryTimeline"):
        lab = LABS[kind](function)

        assert lab.message.startswith(words), kind
        assert "without float()" not in told(lab)  # it computes with x, or does not need to
        assert "thread" in lab.message or "Compute something with x" in lab.message


@pytest.mark.parametrize("function", [odd.changes_what_was_saved, odd.runs_backward])
def test_a_backward_that_fails_is_said_by_what_compares_gradients(function: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(RuntimeError) as error:
        function(x).backward()

    text = told(ControlFlow(function, x=2.0))

    assert f"backward() on it raises RuntimeError: {str(error.value).split('. ')[0]}." in text
    if function is odd.changes_what_was_saved:  # the other cannot be traced
        lab = Compare(function, x=2.0)
        assert "Backward through the dynamic graph raises RuntimeError: one of the" in told(lab)


def test_a_generator_that_is_drawn_from_is_named_where_it_comes_from() -> None:
    for kind in ("ControlFlow", "Compare", "Slope", "Costs"):
        text = told(LABS[kind](odd.draws_by_default))

        assert "a different result each time" in text
        assert "It changes the default value of g." in text
        assert "Something besides its arguments" not in text
    lab = ControlFlow(lambda x, g: x * torch.rand((), generator=g), x=2.0, g=torch.Generator())
    assert "It changes its argument g." in told(lab)


def test_a_number_of_numpy_is_a_number() -> None:
    lab = ControlFlow(odd.square, x=np.float32(2.5))

    assert (lab.answer.item(), lab.grads["x"].item()) == (6.25, 5)


def test_nothing_is_advised_against_that_was_not_written() -> None:
    lab = ControlFlow(odd.square, x="ab")

    assert lab.message.startswith("TypeError")  # text times text
    lab = ControlFlow(lambda x: x + x, x="ab")
    assert lab.message.endswith("-> Give it a float, which becomes a tensor: x=2.0.")
    lab = ControlFlow(lambda x: x + x, x=2)
    assert lab.message.endswith("-> Give it a float, which becomes a tensor: x=2.0, and not x=2.")


def test_a_generator_that_is_made_inside_may_be_what_decides() -> None:
    text = told(ControlFlow(lambda x: x * np.random.default_rng().random(), x=2.0))

    assert "such as the time, a file or a random generator made inside." in text


def test_a_list_by_default_is_what_the_function_computes_with() -> None:
    lab = ControlFlow(odd.list_by_default, x=2.0)

    assert lab.message == ""
    assert (lab.answer.item(), "factors" in lab.controls) == (10, False)  # 2 * 2 + 2 * 3
    lab = ControlFlow(odd.list_by_default, x=2.0, factors=[[1.0, 1.0], [2.0, 3.0]])
    assert lab.answer.item() == 4  # a list that is given is a choice: here of lists


def test_a_cached_result_is_told_by_its_slope_and_not_as_a_number_and_none() -> None:
    odd.cache.clear()

    text = told(LABS["Slope"](odd.caching))

    assert "the slope 2, then no slope. It changes cache." in text
    assert "Refused" not in text


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x * torch.sin(1 / x) if x != 0 else x * 0,  # its slope at 0 is 0
        lambda x: (x * x + 1e-12).sqrt(),  # and so is this one's
    ],
)
def test_a_slope_that_cannot_be_measured_is_not_denied(function: Any) -> None:
    text = told(Slope(function, -1, 1, x=0.0))

    assert "No slope can be measured here" in text
    assert text.rstrip().endswith("Autograd gives 0.")


def test_a_function_that_is_stopped_is_not_run_a_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(run.__kwdefaults__, "operations", 10)
    for kind in ("ControlFlow", "Compare", "StepThrough", "MemoryTimeline"):
        odd.count = 0

        lab = LABS[kind](odd.counts_and_goes_on)

        assert lab.message.startswith("counts_and_goes_on was stopped: ")
        assert odd.count == 1, kind


def test_what_is_returned_has_the_right_article() -> None:
    lab = ControlFlow(odd.named, x=2.0)

    assert lab.message.startswith("named returned an Out of 2 items")


def test_an_error_without_words_ends_without_a_colon() -> None:
    def unsure() -> None:
        raise AssertionError

    assert ErrorStory(unsure).message.startswith("AssertionError\n")


def train(model: Any) -> None:
    for _ in range(2):
        model(torch.ones(3, 1)).sum().backward()


def generating(model: Any) -> Any:
    train(model)
    yield model


async def awaiting(model: Any) -> None:
    train(model)


def without_backward(model: Any) -> Any:
    return model(torch.ones(3, 1)).sum()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (generating, "generating is a generator, as it contains `yield`"),
        (awaiting, "awaiting is written with `async def`"),
        (without_backward, "without_backward ran, but no gradient reached any parameter"),
        (odd.raising, "ValueError: nothing good"),
    ],
)
def test_a_training_that_did_not_happen_is_named(function: Any, words: str) -> None:
    lab = GradientFlow(torch.nn.Linear(1, 1), function)

    assert lab.message.startswith(words)
    told(lab)


def test_gradients_that_are_missing_at_a_step_are_no_explosion() -> None:
    lab = GradientFlow({"a": [1.0], "b": [0.5, 2.0], "c": [None, 2.0]})

    assert "No gradient at this step: 1 of 3 layers, a." in lab.canvas.caption
    assert "explodes in" not in lab.canvas.caption
    lab.controls["step"].value = 0
    assert "No gradient at this step: 1 of 3 layers, c." in lab.canvas.caption


def test_a_parameter_that_got_no_gradient_in_a_pass_has_none_at_that_step() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)
    )

    def alternating(model: Any) -> None:
        model(torch.ones(1, 1)).sum().backward()
        model[1](torch.ones(1, 1)).sum().backward()
        model(torch.ones(1, 1)).sum().backward()

    lab = GradientFlow(model, alternating)

    assert lab.sizes["0.weight"][1] is None
    assert [len(sizes) for sizes in lab.sizes.values()] == [3, 3]


def test_a_layer_that_never_gets_a_gradient_is_said_to_have_none_and_not_0() -> None:
    model = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(4)))
    model[1].weight.requires_grad_(False)

    lab = GradientFlow(model, lambda m: m[3](m[2](m[1](torch.ones(1, 2)))).sum().backward())

    assert lab.sizes["0.weight"] == lab.sizes["1.weight"] == [None]
    assert "No gradient at any step: 2 of 4 layers, (0), (1)." in lab.canvas.caption
    assert "requires_grad is False in 1 of 4 layers, (1)." in lab.canvas.caption
    assert "in the first layer that has one, (2)" in lab.canvas.caption
    assert "<title>(0): no gradient</title>" in lab.canvas.svg


def test_a_gradient_that_a_hook_has_taken_away_is_none_and_not_0() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    model[0].weight.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))

    lab = GradientFlow(model, lambda m: m(torch.ones(1, 1)).sum().backward())

    assert lab.sizes["0.weight"] == [None]
    assert lab.sizes["1.weight"] != [None]


def test_a_class_is_told_to_be_made_an_object() -> None:
    for make in (LABS["ControlFlow"], LABS["Slope"], LABS["Costs"], GradientFlow):
        with pytest.raises(TypeError, match=r"Net is a class\.\n-> Give an object of it: Net\(\)"):
            make(odd.Net)


def test_what_takes_any_number_of_arguments_is_told_to_be_wrapped() -> None:
    def total(*xs: Any) -> Any:
        return sum(xs)

    with pytest.raises(TypeError, match=r"total takes \*xs, and a lab gives arguments by name"):
        ControlFlow(total, x=2.0)


def test_keywords_that_a_function_collects_become_controls() -> None:
    def product(**factors: Any) -> Any:
        return factors["a"] * factors["b"]

    lab = ControlFlow(product, a=2.0, b=3.0)

    assert (lab.answer.item(), lab.grads["a"].item()) == (6, 3)


@pytest.mark.parity
def test_tensors_of_pytorch_itself_are_told_apart_from_the_kits() -> None:
    from tests.parity import require_torch

    pytorch = require_torch()
    space: dict[str, Any] = {"torch": pytorch, "__name__": "learner"}
    source = "def sine(x):\n    return torch.sin(x)\ndef two(x):\n    return torch.tensor(2.)\n"
    import linecache

    linecache.cache["learner.py"] = len(source), None, source.splitlines(True), "learner.py"
    exec(compile(source, "learner.py", "exec"), space)
    for kind in ("ControlFlow", "Compare", "StepThrough", "GradMode", "Slope"):
        for function in (space["sine"], space["two"]):
            text = told(LABS[kind](function))

            assert "of PyTorch itself" in text or "PyTorch itself and tensors of the kit" in text
            assert "import autodiff_kit as torch" in text
            assert "not Tensor" not in text
    with pytest.raises(TypeError, match="x is a tensor of PyTorch itself"):
        ControlFlow(odd.square, x=pytorch.tensor(2.0))
    two = space["two"]
    lab = ErrorStory(lambda: space["sine"](torch.ones(1)))
    assert lab.message.startswith("PyTorch itself and tensors of the kit are mixed")
    lab = Costs([torch.ones(1)], two=two)
    assert lab.message.startswith("two returned a tensor of PyTorch itself.")
    lab = Descent(lambda x, y: two(x) + y, detail=5, steps=1)
    assert lab.message.startswith("PyTorch itself and tensors of the kit are mixed")
    assert "ErrorStory(f, library=torch)" in ErrorStory(lambda: two(1)).message
