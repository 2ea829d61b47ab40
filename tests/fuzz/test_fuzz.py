"""The first programs of the fuzzer, in the gate; ``python -m tests.fuzz`` runs more."""

from functools import cache

import pytest

from tests.parity import require_torch

require_torch()

from tests.fuzz.__main__ import Result, run_many  # noqa: E402
from tests.fuzz.known import reason_for  # noqa: E402
from tests.fuzz.running import Difference, Run, replay, run_seed  # noqa: E402
from tests.fuzz.shrinking import as_source, shrunk  # noqa: E402
from tests.fuzz.writing import FLAVOURS  # noqa: E402

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]
COUNT = 400  # programs of each flavour
WRONG = ("value", "gradient", "dtype", "shape", "requires_grad", "is_leaf", "accepted")


@cache
def first_programs(flavour: str) -> Result:
    return run_many(COUNT, 0, 1, flavour)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_programs_give_in_the_kit_what_they_give_in_pytorch(flavour: str) -> None:
    result = first_programs(flavour)

    ending = [examples[0] for cause, examples in result.causes.items() if cause[0] in WRONG]
    if ending:
        seed, difference, lines = ending[0]
        small, last = shrunk(lines, difference)
        pytest.fail(f"seed {seed}: {last}\n{as_source(small)}")


@pytest.mark.parametrize("kind", ["grad_fn", "version", "strides"])
def test_nearly_all_checks_agree(kind: str) -> None:
    results = [first_programs(flavour) for flavour in FLAVOURS]

    checks = sum(result.checks[kind] for result in results)
    assert sum(result.disagreements[kind] for result in results) <= 0.001 * checks


def test_a_seed_is_one_program() -> None:
    assert run_seed(7).lines == run_seed(7).lines != run_seed(8).lines


def test_a_replay_says_what_the_first_run_said() -> None:
    run = run_seed(5)

    assert replay(run.lines).checks == run.checks


def test_what_differs_is_found_and_made_small() -> None:
    lines = ["a = torch.ones(2)", "b = a * 2", "r = torch.__name__", "c = b + a"]
    (difference,) = replay(lines).differences

    assert difference.kind == "repr"
    assert shrunk(lines, difference)[0] == ["r = torch.__name__"]


def test_a_program_ends_before_pytorch_crashes() -> None:
    both = """class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 1, x * 2
    @staticmethod
    def backward(ctx, g, h): return g + h"""
    leaf = "a = torch.ones(2, 2, requires_grad=True)"
    lines = [leaf, both, "k = Both.apply(a)", "k[1].retain_grad()", "k[1][1:].mul_(2)"]
    run = replay([*lines, "k[1].sum().backward()"])

    assert run.over
    assert run.differences == []


def test_a_wrong_value_has_no_excuse() -> None:
    lines = ["a = torch.ones(2)", "b = a + 1"]
    difference = Difference("value", lines[1], "b", "2.0", "3.0")

    assert reason_for(difference, lines) is None


# Programs in which something differs on purpose, and a fault at the same place that must be found.
FAULTS = {
    "a gradient whose memory is shared": (
        ["a = torch.ones(2, requires_grad=True)", "g = torch.ones(1, 2)", "b = a.view(1, 2)"],
        ["b.backward(g)", "c = g * 2"],
        "c._array = c._array + 1",
        "value",
    ),
    "a wrong .grad after backward(g)": (
        ["a = torch.ones(2, requires_grad=True)", "g = torch.ones(2)", "b = a * 3"],
        ["b.backward(g)"],
        "a._grad._array = a._grad._array + 1",
        "gradient",
    ),
    "a flag that a hook does not see": (
        ["a = torch.ones(2, requires_grad=True)", "a.register_hook(hook('a'))"],
        ["a.backward(a)"],
        "log[0] = ('a', [([1.0, 2.0], False, 'torch.float32')])",
        "gradient",
    ),
    "the node of what is computed from a gradient": (
        ["a = torch.ones(2, requires_grad=True)"],
        ["d, = torch.autograd.grad((a ** 3).sum(), a, create_graph=True)", "e = d + a"],
        "e = d - a",
        "value",
    ),
    "a name in the graph above a rule": (
        ["a = torch.ones(2, requires_grad=True)"],
        ["d, = torch.autograd.grad((a ** 3).sum(), a, create_graph=True)", "e = d.clone()"],
        "e = d * 1",
        "grad_fn",
    ),
    "whether a gradient requires grad": (
        ["a = torch.ones(2, requires_grad=True)"],
        ["d, = torch.autograd.grad((a ** 3).sum(), a, create_graph=True)"],
        "d = d.detach()",
        "requires_grad",
    ),
    "the version of a gradient": (
        ["a = torch.ones(2, requires_grad=True)", "b = a * 1"],
        ["d, = torch.autograd.grad((b + b * 2 + b * 3).sum(), b)"],
        "d.zero_().add_(1).add_(2).add_(3)",
        "version",
    ),
    "a value next to an inference tensor that requires grad": (
        ["with torch.inference_mode():\n    e = torch.ones(2, requires_grad=True)"],
        ["b = e.sin()", "c = torch.ones(2) + 1"],
        "c._array = c._array + 1",
        "value",
    ),
    "a sorted value": (
        ["a = torch.tensor([2., 1.])"],
        ["k = a.sort()"],
        "k[0]._array = k[0]._array + 1",
        "value",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_differs_on_purpose_hides_no_fault(name: str) -> None:
    before, program, fault, kind = FAULTS[name]
    run = Run()
    for line in before + program:
        run.step(line)
    assert [d for d in run.differences if reason_for(d, run.lines) is None] == []

    exec(fault, run.kit)
    run.kit.pop("__builtins__")
    run.finish()

    faults = [d for d in run.differences if reason_for(d, run.lines) is None]
    assert kind in [d.kind for d in faults]
