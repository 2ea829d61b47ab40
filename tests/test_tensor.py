"""The tensor: what it is made of, what it tells, and what it refuses."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.tensor import Tensor
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run_both


def leaf(*values: float) -> Tensor:
    return torch.tensor(list(values), requires_grad=True)


# -- leaves and their gradients --------------------------------------------------------------------


def test_a_tensor_needs_no_gradient_unless_asked() -> None:
    x = torch.tensor([1.0])

    assert (x.requires_grad, x.is_leaf, x.grad_fn, x.grad) == (False, True, None, None)


def test_a_result_needs_a_gradient_if_an_operand_does() -> None:
    y = leaf(1.0) * torch.tensor([2.0])

    assert (y.requires_grad, y.is_leaf) == (True, False)


def test_reading_the_gradient_of_a_result_warns() -> None:
    y = leaf(1.0) * 2

    with pytest.warns(UserWarning, match="that is not a leaf Tensor is being accessed"):
        assert y.grad is None


def test_reading_a_retained_gradient_does_not_warn() -> None:
    y = leaf(1.0) * 2
    y.retain_grad()

    assert y.grad is None


def test_integers_cannot_need_gradients() -> None:
    with pytest.raises(RuntimeError, match=r"only Tensors of floating point dtype can require"):
        torch.tensor([1, 2]).requires_grad_()


def test_a_result_cannot_be_switched_off() -> None:
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        (leaf(1.0) * 2).requires_grad = False


@pytest.mark.parametrize("wrong", [1, [1.0], np.ones(1)], ids=["int", "list", "array"])
def test_a_gradient_is_a_tensor(wrong: Any) -> None:
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        leaf(1.0).grad = wrong


def test_a_gradient_has_its_tensors_shape_and_dtype() -> None:
    x = leaf(1.0, 2.0)

    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size '\\[3\\]'"):
        x.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype 'double'"):
        x.grad = torch.ones(2, dtype=torch.float64)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "kind"), [(2.5, float), (3, int), (True, bool), ([[7.0]], float)])
def test_item_gives_a_python_number(data: Any, kind: type) -> None:
    number = torch.tensor(data).item()

    assert type(number) is kind
    assert number == np.array(data).item()


def test_item_wants_one_element() -> None:
    with pytest.raises(
        RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"
    ):
        torch.ones(2).item()


def test_float_wants_one_element() -> None:
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python"):
        float(torch.ones(2))


def test_float_of_a_tensor_that_needs_a_gradient_warns() -> None:
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert float(leaf(2.0)) == 2.0


def test_if_wants_one_answer() -> None:
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value"):
        assert torch.ones(2) > 0


def test_a_number_has_no_length_and_no_elements() -> None:
    x = torch.tensor(1.0)

    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(x)
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        list(x)


def test_numpy_shares_memory() -> None:
    x = torch.zeros(2)
    array = x.numpy()

    x += 1
    array[0] = 5.0

    assert x.tolist() == [5.0, 1.0]
    assert array.tolist() == [5.0, 1.0]


def test_numpy_of_a_number_shares_memory_too() -> None:
    x = torch.tensor(1.0)
    array = x.numpy()

    x += 1
    array += 1

    assert (x.item(), array.item()) == (3.0, 3.0)


def test_numpy_refuses_to_lose_the_graph() -> None:
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        leaf(1.0).numpy()
    assert leaf(1.0).numpy(force=True).tolist() == [1.0]


def test_a_tensor_counts_and_formats_like_a_number() -> None:
    assert [10, 20, 30][torch.tensor(2)] == 30
    assert f"{torch.tensor(1.234):.2f} {torch.tensor(7)}" == "1.23 7"


def test_a_float_is_no_index() -> None:
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        [1, 2][torch.tensor(1.0)]


# -- identity --------------------------------------------------------------------------------------


def test_tensors_are_told_apart_by_identity_not_by_value() -> None:
    x, y = torch.ones(2), torch.ones(2)

    assert len({x, y, x}) == 2
    assert (x == y).tolist() == [True, True]


def test_comparing_with_something_else_is_false() -> None:
    x: Any = torch.ones(2)

    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711


def test_numpy_numbers_on_the_left_give_tensors() -> None:
    x = torch.tensor([1.0, 2.0])

    y = np.float64(2.0) * x

    assert isinstance(y, Tensor)
    assert y.dtype is torch.float32


def test_unknown_attributes_are_attribute_errors() -> None:
    with pytest.raises(AttributeError):
        torch.ones(2).no_such_method  # noqa: B018


# -- memory ----------------------------------------------------------------------------------------


def test_detach_shares_memory_and_version() -> None:
    x = leaf(1.0, 2.0)
    y = x.detach()

    y[0] = 7.0

    assert x.tolist() == [7.0, 2.0]
    assert (x._version, y._version) == (1, 1)
    assert not y.requires_grad


def test_data_shares_memory_only() -> None:
    x = leaf(1.0, 2.0)

    x.data[0] = 7.0

    assert x.tolist() == [7.0, 2.0]
    assert x._version == 0


def test_a_view_knows_its_base() -> None:
    x = torch.zeros(2, 3)

    assert x.t()[1:]._base is x
    assert x._base is None
    assert x.clone()._base is None


def test_deep_copies_are_leaves_of_their_own() -> None:
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()

    y = copy.deepcopy(x)

    assert (y.requires_grad, y.is_leaf) == (True, True)
    assert y.grad is not None
    assert y.grad.tolist() == [2.0, 4.0]
    y.grad.zero_()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]


def test_results_cannot_be_deep_copied() -> None:
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(leaf(1.0) * 2)


def test_a_result_is_a_leaf_after_it_was_pickled_and_a_copy_shares_its_memory() -> None:
    y = leaf(1.0) * 2

    for twin in (copy.copy(y), pickle.loads(pickle.dumps(y))):
        assert twin.is_leaf and twin.requires_grad and twin.item() == 2
    assert copy.copy(y).data_ptr() == y.data_ptr()


@pytest.mark.parity
def test_what_was_copied_or_loaded_counts_one_change_as_in_pytorch() -> None:
    program = """
import copy, io, pickle
x, n = torch.ones(2, requires_grad=True), torch.tensor(3)
file = io.BytesIO()
torch.save([x, n, torch.nn.Parameter(n * 1.5)], file)
file.seek(0)
twins = [*torch.load(file), copy.copy(x), copy.copy(x * 2), copy.copy(n), copy.deepcopy(x)]
twins += [copy.deepcopy(n), pickle.loads(pickle.dumps(x)), copy.deepcopy(torch.nn.Parameter(x))]
print([twin._version for twin in (*twins, x, n)])
twins[3].data[0] = 5
print(x)
"""
    assert run_both(require_torch(), program).raised is None


@pytest.mark.parametrize(
    "x", [leaf(1.0, 2.0), torch.tensor(3), torch.tensor(2.5), torch.ones(2, 0)]
)
def test_leaves_can_be_pickled(x: Tensor) -> None:
    y = pickle.loads(pickle.dumps(x))

    assert torch.equal(x, y)
    assert (x.dtype, x.requires_grad) == (y.dtype, y.requires_grad)


def test_the_constructor_makes_sizes_or_values() -> None:
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor([2, 3]).tolist() == [2.0, 3.0]
    assert torch.Tensor().shape == (0,)


# -- operators -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign", ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!="]
)
def test_operators_work_with_numbers_on_either_side(sign: str) -> None:
    values = np.array([1.5, 2.0, 3.0])
    x = torch.tensor(values)

    for expression in (f"x {sign} 2", f"2 {sign} x", f"x {sign} x", f"2.5 {sign} x"):
        expected = eval(expression, {"x": values})
        np.testing.assert_allclose(eval(expression, {"x": x}).numpy(), expected)


@pytest.mark.parametrize("sign", ["&", "|", "^"])
def test_masks_combine(sign: str) -> None:
    a, b = np.array([True, True, False]), np.array([True, False, False])

    actual = eval(f"a {sign} b", {"a": torch.tensor(a), "b": torch.tensor(b)})

    assert actual.tolist() == eval(f"a {sign} b", {"a": a, "b": b}).tolist()


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**"])
def test_augmented_operators_change_the_tensor_itself(sign: str) -> None:
    values = np.array([1.5, 2.0, 3.0])
    x = torch.tensor(values)
    names = {"x": x, "same": x}

    exec(f"x {sign}= 2", names)

    assert names["x"] is x
    np.testing.assert_allclose(x.numpy(), eval(f"values {sign} 2"))


def test_matrix_products_take_tensors_only() -> None:
    with pytest.raises(TypeError, match="unsupported operand type"):
        torch.ones(2) @ 2


def test_unpacking_and_loops_go_over_the_first_dimension() -> None:
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    assert (a.tolist(), b.tolist()) == ([1.0, 2.0], [3.0, 4.0])
    assert [int(x) for x in torch.tensor([5, 6])] == [5, 6]


@pytest.mark.parametrize("factor", [0.0, -0.0, 1.0, -2.0, math.inf, math.nan])
def test_a_product_with_a_matrix_of_one_element_is_that_of_floats(factor: float) -> None:
    numbers = [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan]
    expected = [str(0.0 + number * factor) for number in numbers]  # a sum of one product
    column, one = torch.tensor(numbers).reshape(-1, 1), torch.tensor([[factor]])

    products = [column @ one, one @ column.T, column @ one[0]]

    assert [[str(v) for v in p.flatten().tolist()] for p in products] == [expected] * 3
