"""Floats that no recorded operation uses stay floats, and are no part of the graph."""

from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import Compare, ControlFlow, GradMode, MemoryTimeline, StepThrough

LABS = [ControlFlow, StepThrough, GradMode, MemoryTimeline]


def optimizer(lr=0.1, momentum=0.5):
    w = torch.tensor(1.0, requires_grad=True)
    opt = torch.optim.SGD([w], lr=lr, momentum=momentum)
    for _ in range(2):
        opt.zero_grad()
        ((w - 3) ** 2).backward()
        opt.step()
    return (w - 3) ** 2


def by_hand(lr=0.1, start=1.0):
    w = start * 1
    loss = (w - 3) ** 2
    (g,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w = w - lr * g
    return (start - w) ** 2


def asked_about(x=2.0):
    w = torch.tensor(1.0, requires_grad=True)
    return w * 2 if x > 0 else w * 3


def taken_out(x=2.0, w=1.0):
    return w * x.item()


def hinted(lr: torch.Tensor = 0.1, w=1.0):
    return w * 2


EXPECTED = [
    (optimizer, []),
    (by_hand, ["start"]),
    (asked_about, ["x"]),
    (taken_out, ["x", "w"]),
    (hinted, ["lr", "w"]),
]


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize(("function", "expected"), EXPECTED)
def test_a_float_is_a_tensor_if_the_graph_or_a_test_depends_on_it(
    lab: Any, function: Any, expected: list[str]
) -> None:
    widget = lab(function)

    assert not widget.message
    assert widget._arguments.tensors == expected
    values = widget._arguments.values()
    assert [name for name, value in values.items() if type(value) is not float] == expected


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
def test_the_learning_rate_of_an_optimizer_is_no_branch_and_no_leaf() -> None:
    widget = ControlFlow(optimizer)

    assert [e for e in widget.recording.events if e["kind"] == "branch"] == []
    assert {n["name"] for n in widget.recording.nodes if n["kind"] == "leaf"} == {"w"}
    # By hand: w = 1 + 0.1 * 4 = 1.4; the velocity is 0.5 * -4 - 3.2 = -5.2, and w = 1.92.
    assert widget.answer.item() == pytest.approx((1.92 - 3) ** 2)
    widget.controls["lr"].value = 0.2
    assert not widget.message and "lr" not in widget.grads


def test_an_argument_that_is_used_at_other_settings_only_is_a_tensor_there() -> None:
    def later(x=2.0, n=1):
        w = torch.tensor(1.0, requires_grad=True)
        return w * x if n > 2 else w * 2

    widget = ControlFlow(later)
    assert widget.grads == {}

    widget.controls["n"].value = 3

    assert widget.grads["x"].item() == 1.0  # of w * x with w = 1


def test_a_function_whose_floats_are_used_runs_as_often_as_one_without_any() -> None:
    runs: list[int] = []

    def used(x=2.0):
        runs.append(1)
        return x * x

    def given(x):
        runs.append(1)
        return x * x

    counts = []
    for function, examples in ((used, {}), (given, {"x": torch.tensor(2.0, requires_grad=True)})):
        runs.clear()
        ControlFlow(function, **examples)
        counts.append(len(runs))

    assert counts[0] == counts[1]


def test_replaying_a_trace_takes_the_float_as_frozen() -> None:
    def scaled(x=2.0, eps=0.5):
        with torch.no_grad():
            shift = torch.ones(()) * eps
        return x * shift

    widget = Compare(scaled)

    assert not widget.message and widget.agrees
    assert widget.dynamic.item() == widget.static.item() == 1.0
