"""Labs do not trust a function: random numbers and side effects are noticed and said."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import (
    Batching,
    BesidePyTorch,
    Compare,
    ControlFlow,
    Costs,
    Descent,
    GradMode,
    Slope,
)
from autodiff_kit.widgets.distrust import examined

count = 0
log: list[float] = []
memory: dict[str, Any] = {}
numbers = itertools.count()
generator = np.random.default_rng(0)
weight = torch.tensor(1.0)


def counting(x: Any) -> Any:
    global count
    count += 1
    return x * count


def logging(x: Any) -> Any:
    log.append(1.0)
    return x * 2


def growing(x: Any) -> Any:
    log.append(1.0)
    return x * len(log)


def remembering(x: Any) -> Any:
    if "x" not in memory:
        memory["x"] = x * 2
    return memory["x"]


def next_number(x: Any) -> Any:
    return x * next(numbers)


def calls_another(x: Any) -> Any:
    return counting(x)


def changing_weight(x: Any) -> Any:
    with torch.no_grad():
        weight.add_(1.0)
    return x * weight


def with_list(x: Any, calls: list[int] = []) -> Any:  # noqa: B006 - that is what is noticed
    calls.append(1)
    return x * len(calls)


def with_attribute(x: Any) -> Any:
    with_attribute.calls = getattr(with_attribute, "calls", 0) + 1  # type: ignore[attr-defined]
    return x * with_attribute.calls  # type: ignore[attr-defined]


def closure() -> Callable[[Any], Any]:
    inside = 0

    def f(x: Any) -> Any:
        nonlocal inside
        inside += 1
        return x * inside

    return f


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls


class Counter:
    total = 0

    def __init__(self) -> None:
        self.calls = 0

    def method(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls

    @classmethod
    def shared(cls, x: Any) -> Any:
        cls.total += 1
        return x * cls.total


def doubt_of(function: Any) -> str:
    return examined(
        function, lambda: function(torch.tensor(2.0)), lambda answer: answer.detach().clone()
    ).doubt


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (counting, "It changes count."),
        (growing, "It changes log."),
        (calls_another, "It changes count."),
        (next_number, "It changes numbers."),
        (changing_weight, "It changes weight."),
        (with_list, "It changes the default value of calls."),
        (with_attribute, "It changes with_attribute.calls."),
        (closure(), "It changes inside."),
        (Layer(), "It changes Layer.calls."),
        (Counter().method, "It changes self.calls."),
        (Counter.shared, "It changes Counter.total."),
        (functools.partial(counting), "It changes count."),
        (lambda x: x * random.random(), "It draws random numbers."),
        (lambda x: x * float(np.random.rand()), "It draws random numbers."),
        (lambda x: x * torch.rand(()), "It draws random numbers."),
        (lambda x: x * float(generator.random()), "It changes generator."),
    ],
)
def test_what_makes_a_result_differ_is_named(function: Any, names: str) -> None:
    doubt = doubt_of(function)

    assert "returns a different result each time with the same arguments" in doubt
    assert doubt.endswith(names)


def seeded(x: Any) -> Any:
    torch.manual_seed(3)
    return x * torch.rand(())


@pytest.mark.parametrize("function", [torch.sin, lambda x: x * 2, seeded, torch.nn.ReLU()])
def test_of_what_answers_the_same_twice_nothing_is_said(function: Any) -> None:
    assert examined(function, lambda: function(torch.ones(1)), lambda value: 1.0).doubt == ""


def test_a_side_effect_that_changes_no_result_is_said_too() -> None:
    doubt = doubt_of(logging)

    assert doubt == "logging changes log each time, and this lab runs it more than once."


def test_random_numbers_that_by_chance_changed_nothing_are_said_too() -> None:
    doubt = doubt_of(lambda x: x * (random.random() < 2))

    assert doubt == "The lambda draws random numbers: another run may give another result."


def test_curves_and_surfaces_say_that_a_default_value_is_changed() -> None:
    def surface(x: Any, y: Any, calls: list[int] = []) -> Any:  # noqa: B006
        calls.append(1)
        return x * x + y * y * len(calls)

    for lab in (Slope(with_list), Descent(surface)):
        assert "changes its argument calls each time" in lab.canvas.caption


def test_a_function_that_fails_the_second_time_is_doubted() -> None:
    values = [2.0]

    doubt = doubt_of(lambda x: x * values.pop())

    assert "fails the second time with the same arguments (IndexError: pop from empty" in doubt
    assert "It changes values." in doubt


def test_other_operations_at_the_second_run_are_noticed() -> None:
    memory.clear()

    lab = ControlFlow(remembering, x=2.0)

    assert lab.canvas.caption.startswith("remembering runs other operations the second time")
    assert "It changes memory." in lab.canvas.caption


def longer(x: Any, items: tuple[float, ...]) -> Any:
    items.append(3.0)  # type: ignore[attr-defined]
    return x * len(items)


@pytest.mark.parametrize("kind", [ControlFlow, Compare, GradMode])
def test_an_argument_that_is_changed_in_place_is_named_and_the_learners_own_stays(
    kind: Any,
) -> None:
    items = [1.0, 2.0]

    lab = kind(longer, x=2.0, items=items)

    assert "longer changes its argument items each time" in lab.canvas.caption
    assert items == [1.0, 2.0]


def test_what_a_changed_argument_gives_is_what_the_first_call_gives() -> None:
    lab = ControlFlow(longer, x=2.0, items=[1.0, 2.0])

    assert lab.answer.item() == 6


def test_what_compare_says_of_a_random_function_is_no_verdict() -> None:
    lab = Compare(lambda x: x * random.random(), x=2.0)

    assert "The lambda returns a different result each time" in lab.canvas.caption
    assert "wrong" not in lab.canvas.caption
    assert ">wrong</text>" not in lab.canvas.svg
    assert 'adk-line-of-source adk-is-wrong"' not in lab.canvas.svg


def test_compare_calls_a_function_few_times_and_says_how_many_at_most() -> None:
    calls: list[int] = []

    class Quiet:  # its calls are counted, and not seen by the lab
        def __call__(self, x: Any) -> Any:
            calls.append(1)
            return x * 2

    Compare(Quiet(), x=2.0)

    assert "at most 34 times" in str(Compare.__doc__)
    assert 3 <= len(calls) <= 34


def test_one_with_side_effects_is_called_three_times_and_not_timed() -> None:
    before = count

    lab = Compare(counting, x=2.0)

    assert count - before == 3  # twice to compare, once to trace
    assert "changes something outside of itself" in lab.note


def test_control_flow_does_not_blame_the_control_for_what_a_side_effect_has_done() -> None:
    lab = ControlFlow(counting, x=2.0, then={"x": 3.0})

    assert "counting returns a different result each time" in lab.canvas.caption
    assert "stayed" not in lab.canvas.caption
    lab.controls["frozen"].value = True
    assert "no trace to compare with" in lab.canvas.caption


def test_a_curve_of_a_random_function_has_no_slope() -> None:
    for function in (lambda x: x * random.random(), counting):  # also at 0, where all are 0
        lab = Slope(function, x=0.0)

        assert "So the picture shows one run at each point, and no slope" in lab.canvas.caption
        assert 'class="adk-tangent"' not in lab.canvas.svg


def test_a_state_that_shows_later_is_noticed_as_well() -> None:
    calls: list[int] = []

    class Late:
        __slots__ = ()

        def __call__(self, x: Any) -> Any:
            calls.append(1)
            return x * (1.0 if len(calls) < 20 else 2.0)

    lab = Slope(Late(), x=1.0)

    assert "Late returned different results at the same x: 1.0, then 2.0." in lab.canvas.caption


def test_results_that_differ_in_their_last_digits_are_not_told_as_if_they_were_equal() -> None:
    calls = itertools.count()

    class Clock:
        __slots__ = ()

        def __call__(self, x: Any) -> Any:
            return x * (27870.0 if next(calls) < 20 else 27870.01)

    lab = Slope(Clock(), x=1.0)

    assert "Clock returned different results at the same x: 27870.0, then 27870.01." in (
        lab.canvas.caption
    )


def test_costs_names_what_differs_between_two_calls() -> None:
    lab = Costs([torch.ones(2)], random=lambda x: x * random.random(), plain=torch.sin)

    assert "It draws random numbers." in lab.canvas.caption


def test_costs_leaves_an_input_that_is_changed_in_place_as_it_was() -> None:
    x = torch.ones(2)

    lab = Costs([x], doubled=lambda x: x.mul_(2))

    assert "The lambda changes its argument each time" in lab.canvas.caption
    assert x.tolist() == [1.0, 1.0]


def test_a_program_that_answers_otherwise_each_time_is_not_called_unequal_for_that() -> None:
    lab = BesidePyTorch("import random\nx = torch.ones(2) * random.random()\ny = torch.ones(2)")

    assert lab.varying == ["x = torch.ones(2) * random.random()"]
    assert "this program answers something else each time" in lab.canvas.caption


def test_a_step_with_random_numbers_is_not_compared_between_three_ways() -> None:
    w = torch.ones(2, 3, requires_grad=True)

    lab = Batching(lambda x, h: torch.tanh(x @ w + h + torch.rand(())), lengths=[2, 1])

    assert "So the three variants cannot be compared." in lab.canvas.caption


class Doubled(torch.autograd.Function):
    """A rule of the learner's own; the kit keeps something with its class at the first call."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def by_rule(x: Any) -> Any:
    return Doubled.apply(x)


def test_a_function_of_the_learners_own_is_no_side_effect() -> None:
    x = torch.tensor(1.0, requires_grad=True)

    report = examined(by_rule, lambda: by_rule(x), lambda value: value)

    assert report.doubt == ""
    assert not report.has_effects
