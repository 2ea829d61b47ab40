"""What is told to whoever watches, and that nothing is told to nobody."""

from collections.abc import Sequence
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.core.op import Op
from autodiff_kit.tensor import Tensor


class Log(Observer):
    """Writes down all that it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def created(self, tensor: Tensor) -> None:
        self.events.append(("created", tuple(tensor.shape)))

    def applied(
        self, op: Op, inputs: Sequence[Any], params: dict[str, Any], out: Tensor, node: Node | None
    ) -> None:
        self.events.append(("applied", op.name, params, node is not None))

    def modified(self, tensor: Tensor, how: str) -> None:
        self.events.append(("modified", how, tensor.tolist()))

    def branched(self, tensor: Tensor, taken: bool) -> None:
        self.events.append(("branched", taken))

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        self.events.append(("backward", [node.name() for node, _ in roots]))

    def visited(self, node: Node, g: Any) -> None:
        self.events.append(("visited", node.name(), g.tolist()))

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        name = node.edges()[index][0]
        self.events.append(("contributed", name, before.tolist(), after.tolist(), total.tolist()))

    def accumulated(self, node: AccumulateGrad, tensor: Tensor | None, g: Any, grad: Any) -> None:
        self.events.append(("accumulated", g.tolist(), grad.tolist()))

    def released(self, node: Node) -> None:
        self.events.append(("released", node.name()))

    def backward_finished(self) -> None:
        self.events.append(("finished",))


def test_a_run_is_told_step_by_step() -> None:
    log = Log()

    with installed(log):
        x = torch.tensor(3.0, requires_grad=True)
        y = x * x
        if y > 5:
            y.backward()

    # dy/dx = 2 x: two contributions of 3
    assert log.events == [
        ("created", ()),
        ("applied", "mul", {}, True),
        ("applied", "gt", {}, False),
        ("branched", True),
        ("backward", ["MulBackward0"]),
        ("visited", "MulBackward0", 1.0),
        ("contributed", "x", 3.0, 3.0, 3.0),
        ("contributed", "y", 3.0, 3.0, 6.0),
        ("released", "MulBackward0"),
        ("visited", "torch::autograd::AccumulateGrad", 6.0),
        ("accumulated", 6.0, 6.0),
        ("finished",),
    ]


def test_contributions_are_told_before_and_after_broadcasting_is_undone() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * torch.tensor([1.0, 10.0])
    log = Log()

    with installed(log):
        y.sum().backward()

    assert ("contributed", "x", [1.0, 10.0], 11.0, 11.0) in log.events


def test_parameters_are_told() -> None:
    x = torch.ones(2, 3)
    log = Log()

    with installed(log):
        x.sum(1, keepdim=True)

    assert log.events == [("applied", "sum_dim", {"dim": (1,), "keepdim": True}, False)]


def test_a_change_in_place_is_told_after_the_op_that_it_is() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True) * 1
    log = Log()

    with installed(log):
        x += 1

    assert log.events == [("applied", "add", {}, True), ("modified", "add_", [2.0, 3.0])]


def test_a_view_is_looked_at_again_once_it_is_used() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True) * 1
    view = x[1:]
    log = Log()

    with installed(log):
        x += 1
        changes = len(log.events)
        view * 2

    assert [line[:2] for line in log.events[:changes]] == [("applied", "add"), ("modified", "add_")]
    assert [line[1] for line in log.events[changes:]] == ["pick", "mul"]
    assert view.tolist() == [3.0]


def test_create_graph_is_told_with_the_ops_of_the_rules() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    log = Log()

    with installed(log):
        torch.autograd.grad(y, x, create_graph=True)

    assert [line[1] for line in log.events if line[0] == "applied"] == ["mul", "mul", "add"]
    assert not [line for line in log.events if line[0] == "released"]


def test_the_observer_before_comes_back() -> None:
    outer, inner = Log(), Log()

    with installed(outer):
        with pytest.raises(ValueError, match="stop"), installed(inner):
            raise ValueError("stop")
        torch.ones(2)

    assert (len(outer.events), len(inner.events)) == (1, 0)
    assert local.mode.observer is None


def test_the_base_class_takes_everything_in_silence() -> None:
    with installed(Observer()):
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        y = x * 2
        y += 1
        if y.sum() > 0:
            y.sum().backward()
        (y * y).sum().backward()

    assert x.grad is not None


def test_numbers_tell_nodes_apart_although_addresses_repeat() -> None:
    numbers = set()
    for _ in range(100):
        node = (torch.ones(1, requires_grad=True) * 2).grad_fn
        assert node is not None
        numbers.add(node.number)

    assert len(numbers) == 100
