"""The static graph: what it replays, what it has frozen, and what it refuses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.static import StaticGraph
from autodiff_kit.tensor import Tensor

RNG = np.random.default_rng(0)


def tensor(*shape: int, grad: bool = True, dtype: str = "float64") -> Tensor:
    return torch.tensor(RNG.normal(size=shape).astype(dtype), requires_grad=grad)


def dynamic(function: Callable[..., Any], inputs: list[Tensor]) -> tuple[Any, list[Any]]:
    """Value and gradients as the dynamic graph gives them."""
    fresh = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    value = function(*fresh)
    value.backward()
    return value.detach().numpy(), [x.grad for x in fresh]


FUNCTIONS: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]]]] = {
    "one product": (lambda x, y: x * y, [(), ()]),
    "the same input twice": (lambda x: x * x, [()]),
    "both inputs get one gradient": (lambda x, y: (x + y).sum(), [(3,), (3,)]),
    "broadcasting": (lambda x, y: (x * y + 1).sum(), [(2, 3), (3,)]),
    "a network": (
        lambda x, w, b, v: (((x @ w + b).tanh() @ v) ** 2).mean(),
        [(5, 4), (4, 3), (3,), (3, 1)],
    ),
    "shapes": (lambda x: (x.reshape(-1)[1:].sum() * x.t().exp()).mean(), [(2, 3)]),
    "joining": (lambda x, y: (torch.cat([x, y, x]) ** 3).sum(), [(2,), (3,)]),
    "numbers on both sides": (lambda x: (2 - 3 / (x * x + 1) ** 2).sum(), [(4,)]),
    "a loop": (lambda x, w: sum((x * w**k for k in range(1, 4)), x).sum(), [(3,), (3,)]),
    "changed in place": (lambda x: (x * 2).add_(1).mul_(3).sum(), [(3,)]),
    "the largest of a row": (lambda x: x.max(1).values.sum() * x.max(), [(3, 4)]),
    "a part cut off": (lambda x: (x * x.detach() + x.data).sum(), [(3,)]),
    "an input that does not matter": (lambda x, y: x.sum(), [(3,), (2,)]),
    "inf on the way": (lambda x: (torch.exp(x * 1000) - 1 / (x - x + 1)).sum(), [(3,)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_replay_gives_bit_for_bit_what_the_dynamic_graph_gives(name: str) -> None:
    function, shapes = FUNCTIONS[name]
    graph = StaticGraph.trace(function, *(tensor(*shape) for shape in shapes))

    for _ in range(3):
        inputs = [tensor(*shape) for shape in shapes]
        expected, gradients = dynamic(function, inputs)
        value, own = graph.gradient(*inputs)

        np.testing.assert_array_equal(value.numpy(), expected)
        np.testing.assert_array_equal(graph.run(*inputs).numpy(), expected)
        for x, ours, theirs in zip(inputs, own, gradients, strict=True):
            expected = np.zeros(x.shape) if theirs is None else theirs.numpy()
            assert ours is not None
            np.testing.assert_array_equal(ours.numpy(), expected)


def test_a_replay_applies_no_op_and_builds_no_node() -> None:
    class Count(Observer):
        def applied(self, *_: Any) -> None:
            raise AssertionError

    graph = StaticGraph.trace(lambda x: (x * x).sum(), tensor(3))

    with installed(Count()):
        value, (gradient,) = graph.gradient(tensor(3))

    assert value.grad_fn is None
    assert gradient is not None
    assert gradient.grad_fn is None


def test_gradients_are_the_learners_own() -> None:
    graph = StaticGraph.trace(lambda x, y: (x + y).sum(), tensor(3), tensor(3))

    _, (a, b) = graph.gradient(tensor(3), tensor(3))
    assert a is not None
    assert b is not None
    a.mul_(5)

    assert b.tolist() == [1.0, 1.0, 1.0]


def test_the_branch_of_the_one_run_is_taken_ever_after() -> None:
    def f(x: Tensor) -> Tensor:
        if x > 0:
            return x * 2
        return x * -1

    graph = StaticGraph.trace(f, torch.tensor(3.0))

    assert graph.run(torch.tensor(-3.0)).item() == -6.0  # the dynamic f gives 3
    branch = graph.frozen[1]
    assert (branch.kind, "if x > 0:" in branch.where) == ("branch", True)
    assert "True" in branch.what


def test_a_tensor_made_inside_keeps_its_values() -> None:
    graph = StaticGraph.trace(lambda x: x + torch.rand(2), tensor(2, dtype="float32"))
    zero = torch.zeros(2)

    assert graph.run(zero).tolist() == graph.run(zero).tolist()
    assert [item.kind for item in graph.frozen] == ["shape", "tensor"]


def test_a_tensor_from_outside_is_read_at_each_run() -> None:
    w = torch.tensor([1.0, 2.0])
    graph = StaticGraph.trace(lambda x: x * w, torch.ones(2))

    w += 10

    assert graph.run(torch.ones(2)).tolist() == [11.0, 12.0]


def test_what_nobody_needs_is_not_computed() -> None:
    def f(x: Tensor) -> Tensor:
        unused = x.exp() * 3
        return x + 1 if unused is not None else x

    graph = StaticGraph.trace(f, tensor(2))

    assert graph.removed == 2
    assert "exp" not in graph.program


def test_values_are_let_go_after_their_last_use() -> None:
    graph = StaticGraph.trace(lambda x: x.exp().sin().cos(), tensor(2))

    lines = [line.strip() for line in graph.program.splitlines()]
    assert lines[1:6] == ["v1 = exp(v0)", "del v0", "v2 = sin(v1)", "del v1", "v3 = cos(v2)"]


def test_several_results_come_as_a_tuple() -> None:
    graph = StaticGraph.trace(lambda x: (x + 1, x * 2), torch.tensor(1.0))

    assert [y.item() for y in graph.run(torch.tensor(5.0))] == [6.0, 10.0]
    with pytest.raises(RuntimeError, match="has no gradient"):
        graph.gradient(torch.tensor(5.0))


def test_inputs_that_want_no_gradient_get_none() -> None:
    graph = StaticGraph.trace(lambda x, y: x * y, tensor(), tensor(grad=False))

    _, (a, b) = graph.gradient(torch.tensor(2.0).double(), torch.tensor(7.0).double())

    assert a is not None
    assert (a.item(), b) == (7.0, None)


def test_no_grad_inside_is_traced_too() -> None:
    def f(x: Tensor) -> Tensor:
        with torch.no_grad():
            factor = x * 2
        return x * factor

    graph = StaticGraph.trace(f, torch.tensor(3.0, requires_grad=True))

    value, (gradient,) = graph.gradient(torch.tensor(3.0))
    assert gradient is not None
    assert (value.item(), gradient.item()) == (18.0, 6.0)


def test_a_copy_of_indices_follows_the_input() -> None:
    graph = StaticGraph.trace(lambda x: x.max(0).indices, torch.tensor([1.0, 5.0]))

    assert graph.run(torch.tensor([9.0, 5.0])).item() == 0


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "item": (lambda x: x * x.sum().item(), r"item\(\) takes a value out of the tensors"),
    "float": (lambda x: x * float(x.sum()), r"float\(\) or int\(\) takes a value"),
    "tolist": (lambda x: x + x.tolist()[0], r"tolist\(\) takes a value"),
    "numpy": (lambda x: x + float(x.detach().numpy()[0]), r"numpy\(\) takes a value"),
    "an input changed in place": (lambda x: x.add_(1), "add_ changes a tensor in place"),
    "a view changed in place": (lambda x: (x * 2)[:1].add_(1), "changes a tensor in place"),
    "backward inside": (lambda x: (x * 2).sum().backward(), "cannot run backward"),
    "no tensor out": (lambda x: 3, "must return a Tensor"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:Converting a tensor")
def test_what_a_replay_could_not_repeat_is_refused(name: str) -> None:
    function, words = REFUSED[name]
    example = torch.ones(3, requires_grad=name == "backward inside")

    with pytest.raises((RuntimeError, TypeError), match=words) as caught:
        StaticGraph.trace(function, example)

    if name != "no tensor out":
        assert "line " in str(caught.value)
        assert '": (lambda x:' in str(caught.value)  # the line itself


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([torch.ones(3), torch.ones(3)], "traced with 1 inputs, but got 2"),
        ([torch.ones(4)], r"Input 0 was float32 \[3\] when the graph was traced, and is float32"),
        ([torch.ones(3).double()], "is float64"),
        ([[1.0, 2.0, 3.0]], "Input 0 must be a Tensor, not list"),
    ],
)
def test_other_inputs_than_the_examples_are_refused(inputs: list[Any], words: str) -> None:
    graph = StaticGraph.trace(lambda x: x + 1, torch.ones(3))

    with pytest.raises((RuntimeError, TypeError), match=words):
        graph.run(*inputs)


def test_examples_are_tensors() -> None:
    with pytest.raises(TypeError, match="example 1 must be a Tensor, not float"):
        StaticGraph.trace(lambda x, y: x * y, torch.ones(3), 2.0)


def test_a_graph_says_what_it_has_frozen() -> None:
    text = repr(StaticGraph.trace(lambda x: x * 2 + 1, torch.ones(3)))

    assert text.startswith("StaticGraph(2 operations, frozen:")
    assert "input 0 has shape [3] and dtype torch.float32" in text


@pytest.mark.parametrize("momentum", [0.1, None])
def test_running_statistics_are_no_part_of_a_replay(momentum: float | None) -> None:
    layer = torch.nn.BatchNorm1d(2, momentum=momentum)

    with pytest.raises(RuntimeError, match="BatchNorm1d updates its own buffers"):
        StaticGraph.trace(lambda x: layer(x).sum(), torch.ones(4, 2))


def test_neither_are_those_that_are_given_to_the_function() -> None:
    mean, var = torch.zeros(2), torch.ones(2)

    def f(x: Any) -> Any:
        return torch.nn.functional.batch_norm(x, mean, var, training=True).sum()

    with pytest.raises(RuntimeError, match="batch_norm changes a tensor in place"):
        StaticGraph.trace(f, torch.ones(4, 2))
