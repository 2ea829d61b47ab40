"""The backward pass: right for any graph, each node once, in an order that works."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_kit as torch
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.ops import sum_to
from autodiff_kit.tensor import Tensor
from tests.ops.gradients import numerical

# -- any graph -------------------------------------------------------------------------------------

UNARY: dict[str, Callable[[Any], Any]] = {
    "tanh": lambda x: x.tanh() if isinstance(x, Tensor) else np.tanh(x),
    "sin": lambda x: x.sin() if isinstance(x, Tensor) else np.sin(x),
    "negative": lambda x: -x,
    "square": lambda x: x * x,
    "sum": lambda x: x.sum(),
    "shifted": lambda x: 2 - x / 3,
    "row": lambda x: x.reshape(1, -1),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / (y * y + 2),
}


@st.composite
def programs(draw: Any) -> list[tuple[str, int, int]]:
    """Return steps (operation, operand, operand): each uses any two earlier values, often again."""
    steps = []
    for count in range(2, 2 + draw(st.integers(1, 12))):
        name = draw(st.sampled_from([*UNARY, *BINARY, *BINARY]))
        steps.append((name, draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))))
    return steps


def execute(program: list[tuple[str, int, int]], x: Any, y: Any) -> Any:
    values = [x, y]
    for name, first, second in program:
        if name in UNARY:
            values.append(UNARY[name](values[first]))
        else:
            values.append(BINARY[name](values[first], values[second]))
    return sum(value.sum() for value in values)  # so that every value matters


@settings(deadline=None, max_examples=150)
@given(programs(), st.sampled_from([(), (3,), (1, 3)]))
def test_gradients_of_any_graph_agree_with_finite_differences(program: Any, shape: Any) -> None:
    x = np.linspace(-0.7, 0.9, 3)
    y = np.linspace(0.4, 0.6, math.prod(shape)).reshape(shape)[()]
    tensors = [torch.tensor(v, requires_grad=True) for v in (x, y)]

    execute(program, *tensors).backward()

    for wrt, tensor in enumerate(tensors):
        correct = numerical(lambda *v: float(execute(program, *v)), [x, y], wrt)
        assert tensor.grad is not None
        np.testing.assert_allclose(tensor.grad.numpy(), correct, rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
@settings(deadline=None, max_examples=60)
@given(programs())
def test_backward_and_grad_give_the_same_with_and_without_create_graph(program: Any) -> None:
    gradients: dict[bool, list[Any]] = {}
    for create_graph in (False, True):
        tensors = [torch.tensor(v, requires_grad=True) for v in ([0.3, -0.8], 0.5)]
        total = execute(program, *tensors)
        grads = torch.autograd.grad(total, tensors, create_graph=create_graph, retain_graph=True)
        total.backward(create_graph=create_graph)
        gradients[create_graph] = [*grads, *(t.grad for t in tensors)]

    for a, b in zip(gradients[False], gradients[True], strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5)


def after_backward(make: Callable[[], tuple[list[Any], Any]], watched: bool) -> list[Any]:
    """Return the gradients, what the hooks saw, and whether a second backward is refused."""
    leaves, out = make()
    gradients: list[Any] = []
    if out.requires_grad and not out.is_leaf:
        out.register_hook(lambda g: gradients.append(g.numpy().copy()))
    cotangent = torch.tensor(np.linspace(-1, 2, out.numel()).reshape(out.shape), dtype=out.dtype)
    with installed(Observer() if watched else None):
        out.backward(cotangent, retain_graph=True)
        out.backward(cotangent)
        try:
            out.backward(cotangent)
        except RuntimeError as error:
            gradients.append(str(error).split(":")[0])
    return [leaf.grad.numpy() for leaf in leaves if leaf.grad is not None] + gradients


@settings(deadline=None, max_examples=100)
@given(programs())
def test_a_graph_goes_back_the_same_whether_somebody_watches_or_not(program: Any) -> None:
    def make() -> tuple[list[Any], Any]:
        leaves = [torch.tensor(v, requires_grad=True) for v in ([0.3, -0.8], 0.5)]
        return leaves, execute(program, *leaves)

    plain, watched = after_backward(make, False), after_backward(make, True)

    assert len(plain) == len(watched)
    for a, b in zip(plain, watched, strict=True):
        np.testing.assert_array_equal(a, b)


# -- the order -------------------------------------------------------------------------------------


class Log(Observer):
    def __init__(self) -> None:
        self.lines: list[tuple[Any, ...]] = []

    def visited(self, node: Node, g: Any) -> None:
        self.lines.append(("visited", node.number))

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        self.lines.append(("contributed", node.number, edge.number))


@settings(deadline=None, max_examples=60)
@given(programs())
def test_a_node_is_visited_once_and_after_all_its_contributions(program: Any) -> None:
    tensors = [torch.tensor(v, requires_grad=True) for v in ([0.3, -0.8], 0.5)]
    total = execute(program, *tensors)
    log = Log()

    with installed(log):
        total.backward()

    visits = [line[1] for line in log.lines if line[0] == "visited"]
    assert len(visits) == len(set(visits))
    leaves = {x._node.number for x in tensors}
    inner = [number for number in visits if number not in leaves]
    assert inner == sorted(inner, reverse=True)  # the newest first
    for at, line in enumerate(log.lines):
        if line[0] == "contributed":
            assert ("visited", line[2]) not in log.lines[:at]


def test_each_rule_is_called_once_however_many_paths_there_are() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(60):  # 2 ** 60 paths from y to x
        y = y + y
    log = Log()

    with installed(log):
        y.backward()

    assert len(log.lines) == 61 + 120  # visits, and two contributions of every sum
    assert x.grad is not None
    assert x.grad.item() == 2.0**60


# -- leaves ----------------------------------------------------------------------------------------


def test_gradients_add_up_in_the_tensor_that_holds_them() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    grad = x.grad

    (x * 4).sum().backward()

    assert x.grad is grad
    assert grad is not None
    assert grad.tolist() == [7.0, 7.0]


def test_inputs_that_no_path_leads_to_are_left_alone() -> None:
    x, y = (torch.tensor(v, requires_grad=True) for v in (1.0, 2.0))

    (x * 2).backward()

    assert y.grad is None


def test_a_seed_of_the_shape_of_the_output_weighs_its_elements() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    (x * x).backward(torch.tensor([1.0, 10.0]))

    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 40.0]  # 2 x times the weight


def test_roots_may_depend_on_each_other() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    z = y * 2

    torch.autograd.backward([z, y, y])  # 4x + 2x + 2x

    assert x.grad is not None
    assert x.grad.item() == 24.0


def test_no_outputs_have_no_gradients() -> None:
    x = torch.ones(2, requires_grad=True)

    torch.autograd.backward(())

    assert x.grad is None
    assert torch.autograd.grad((), x, allow_unused=True) == (None,)
    assert torch.autograd.grad([], [x], materialize_grads=True)[0].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="at index 0 appears to not have been used in the graph"):
        torch.autograd.grad((), x)


def test_grad_of_an_inner_tensor_does_not_use_up_what_lies_before_it() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    z = y * y

    (g,) = torch.autograd.grad(z, y)  # 2y = 18
    y.backward()

    assert g.item() == 18.0
    assert x.grad is not None
    assert x.grad.item() == 6.0


def test_the_values_of_parts_that_were_not_asked_for_stay() -> None:
    x, y = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    square, cube = x * x, y * y * y
    total = square + cube

    torch.autograd.grad(total, x)

    assert cube.grad_fn is not None
    assert set(cube.grad_fn.saved()) == {"x", "y"}
    assert square.grad_fn is not None
    assert square.grad_fn.saved() == {}


def test_a_leaf_switched_off_later_gets_no_gradient() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    x.requires_grad = False

    y.backward()

    assert x.grad is None  # as in PyTorch: it does not require grad any more


def test_backward_inside_of_no_grad_works() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    with torch.no_grad():
        y.backward()

    assert x.grad is not None
    assert x.grad.item() == 4.0
    assert torch.is_grad_enabled()


def test_backward_of_a_leaf_is_its_seed() -> None:
    x = torch.tensor(2.0, requires_grad=True)

    x.backward()

    assert x.grad is not None
    assert x.grad.item() == 1.0


# -- broadcasting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (2, 3)])
def test_broadcasting_is_undone_by_summing_the_copies(shape: tuple[int, ...]) -> None:
    g = np.arange(6.0).reshape(2, 3)

    summed = sum_to(g, shape=shape)

    # each element of the smaller array had 6 / size copies
    assert np.shape(summed) == shape
    assert np.sum(summed) == 15.0


def test_the_graph_of_a_number_and_a_matrix() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)

    (x * m).sum().backward()

    assert x.grad is not None
    assert m.grad is not None
    assert x.grad.item() == 10.0  # 1 + 2 + 3 + 4
    assert m.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


# -- nodes -----------------------------------------------------------------------------------------


def test_a_consumer_has_a_greater_number_than_what_it_consumed() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = (x * x).exp() + x

    stack = [y.grad_fn]
    while stack:
        node = stack.pop()
        assert node is not None
        for edge, _ in node.next_functions:
            if edge is not None:
                assert edge.number < node.number
                stack.append(edge)


def test_a_leaf_has_one_node_that_accumulates() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    first = (x * 2).grad_fn
    second = (x + 1).grad_fn
    assert first is not None
    assert second is not None

    (node, _), *_ = first.next_functions

    assert isinstance(node, AccumulateGrad)
    assert node is second.next_functions[0][0]
    assert node.variable is x
    assert node.next_functions == ()


def test_a_node_that_is_looked_at_has_a_class_of_its_own() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.stack([x * 2, x])

    assert type(y.grad_fn).__name__ == "StackBackward0"
    assert isinstance(y.grad_fn, Node)
    assert [type(n).__name__ for n, _ in y.grad_fn.next_functions] == [
        "MulBackward0",
        "AccumulateGrad",
    ]
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 3.0


def test_saved_attributes_are_listed() -> None:
    x = torch.tensor(2.0, requires_grad=True)

    names = dir((x * x).grad_fn)

    assert [n for n in names if n.startswith("_saved")] == ["_saved_other", "_saved_self"]
    assert not [n for n in dir((x + x).grad_fn) if n.startswith("_saved")]


def test_conversions_that_promotion_inserts_are_not_shown() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    y = x * torch.tensor([2.0], dtype=torch.float64)

    assert y.grad_fn is not None
    ((node, _), _) = y.grad_fn.next_functions

    assert isinstance(node, AccumulateGrad)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
def test_the_mode_is_put_back_when_a_rule_fails() -> None:
    x = torch.tensor(2.0, requires_grad=True)

    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide"):
        (x // 2).backward(create_graph=True)

    assert torch.is_grad_enabled()
    with torch.no_grad():
        pass


def test_the_advice_of_a_backward_without_its_graph_holds_after_a_retained_one() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()  # this one, the second, frees

    with pytest.raises(RuntimeError, match="a second time") as caught:
        y.backward()

    advice = str(caught.value).split("\n-> ")[1]
    released = (
        "An earlier backward has already released what MulBackward0, the node of y, had saved"
    )
    assert advice.startswith(released)
    assert advice.endswith("pass retain_graph=True to every backward before this one.")
    y = x * x
    for _ in range(2):  # as advised
        y.backward(retain_graph=True)
    y.backward()
