"""Functions at the top of the namespace, and methods with more than one form."""

from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.functions import basic
from autodiff_kit.tensor import Tensor
from tests.rows import for_each

OTHERS = {"cat", "einsum", "is_tensor", "pow", "split", "stack", "where"}
METHODS = [name for name in basic.__all__ if name not in OTHERS]
MATRIX = torch.tensor([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]])


@for_each("name", METHODS)
def test_a_function_refuses_what_is_no_tensor(name: str) -> None:
    with pytest.raises(
        TypeError,
        match=rf"^{name}\(\)(: argument 'input' \(position 1\) must be Tensor, not list"
        r"| received an invalid combination of arguments - got \(list, int\)"
        r"| takes 1 positional argument but 2 were given)",
    ):
        getattr(torch, name)([1.0], 1)


@for_each("name", METHODS)
def test_a_function_has_a_name_and_a_docstring(name: str) -> None:
    function = getattr(torch, name)

    assert function.__name__ == name
    assert function.__doc__.strip().endswith(".")


@pytest.mark.parametrize("name", ["exp", "sum", "relu", "t", "amax", "flatten", "sign", "argmax"])
def test_a_function_is_the_method_by_another_name(name: str) -> None:
    assert torch.equal(getattr(torch, name)(MATRIX), getattr(MATRIX, name)())


def test_reductions_take_one_or_several_dimensions() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)

    assert x.sum(1).shape == (2, 4)
    assert x.sum((0, 2)).shape == (3,)
    assert x.sum([-1, 0], keepdim=True).shape == (1, 3, 1)
    assert x.mean(dim=(1, 2)).tolist() == [5.5, 17.5]
    assert x.sum(()).item() == 276.0


def test_max_gives_values_and_places_along_a_dimension() -> None:
    result = MATRIX.max(1)

    assert result.values.tolist() == [1.5, 3.0]
    assert result.indices.tolist() == [0, 0]
    values, indices = torch.min(MATRIX, 0)
    assert (values.tolist(), indices.tolist()) == ([1.5, -2.0, -1.0], [0, 0, 1])


def test_max_of_two_tensors_is_the_larger_one() -> None:
    assert torch.max(MATRIX, torch.tensor(1.0)).tolist() == [[1.5, 1.0, 1.0], [3.0, 1.0, 1.0]]


def test_add_and_sub_scale_their_second_operand() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])

    assert torch.add(x, y, alpha=0.5).tolist() == [6.0, 12.0]
    assert x.sub(y, alpha=2).tolist() == [-19.0, -38.0]


@pytest.mark.parametrize(("mode", "expected"), [("floor", [-2, 1]), ("trunc", [-1, 1])])
def test_division_rounds_down_or_towards_zero(mode: str, expected: list[int]) -> None:
    x = torch.tensor([-3, 3])

    assert x.div(2, rounding_mode=mode).tolist() == expected
    assert x.float().div(2, rounding_mode=mode).tolist() == expected


def test_clamp_takes_numbers_and_tensors() -> None:
    x = torch.tensor([-2.0, 0.5, 2.0])

    assert x.clamp(-1, 1).tolist() == [-1.0, 0.5, 1.0]
    assert x.clamp(min=torch.tensor([0.0, 1.0, 0.0])).tolist() == [0.0, 1.0, 2.0]
    assert torch.tensor([1, 5]).clamp(max=torch.tensor(3)).tolist() == [1, 3]
    assert x.clamp_min(0).tolist() == [0.0, 0.5, 2.0]


def test_where_chooses_or_finds() -> None:
    x = torch.tensor([1.0, -2.0])

    assert torch.where(x > 0, x, 0.0).tolist() == [1.0, 0.0]
    assert torch.where(x > 0, 1, 2).dtype is torch.int64
    (places,) = torch.where(x > 0)
    assert places.tolist() == [0]


def test_where_sends_an_exact_zero_into_the_other_branch() -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)

    torch.where(x > 0, x.sqrt(), x * 3).sum().backward()

    # at 0 the slope of sqrt is inf, and 0 * inf is nan: so it is in PyTorch
    assert x.grad is not None
    assert x.grad.tolist()[1] == 0.25
    assert np.isnan(x.grad.tolist()[0])


def test_joining() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3])

    assert torch.cat([x, y]).tolist() == [1.0, 2.0, 3.0]
    assert torch.stack([x, x + 1], dim=1).tolist() == [[1.0, 2.0], [2.0, 3.0]]


def test_a_size_of_minus_one_is_worked_out() -> None:
    x = torch.arange(6)

    assert x.view(2, -1).shape == (2, 3)
    assert x.reshape(-1, 1).shape == (6, 1)
    assert x.reshape((3, -1)).shape == (3, 2)


def test_reshape_copies_only_if_it_must() -> None:
    x = torch.arange(6).reshape(2, 3)

    assert x.reshape(6).data_ptr() == x.data_ptr()
    assert x.t().reshape(6).data_ptr() != x.data_ptr()


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        (((3,), (3,)), ()),
        (((2, 3), (3,)), (2,)),
        (((3,), (3, 4)), (4,)),
        (((2, 3), (3, 4)), (2, 4)),
        (((5, 2, 3), (3,)), (5, 2)),
        (((5, 2, 3), (3, 4)), (5, 2, 4)),
        (((3,), (5, 3, 4)), (5, 4)),
        (((2, 3), (5, 3, 4)), (5, 2, 4)),
        (((6, 1, 2, 3), (5, 3, 4)), (6, 5, 2, 4)),
    ],
    ids=str,
)
def test_matrix_products_of_all_ranks(shapes: Any, result: tuple[int, ...]) -> None:
    a, b = (np.random.default_rng(k).normal(size=shape) for k, shape in enumerate(shapes))
    x, y = (torch.tensor(v, requires_grad=True) for v in (a, b))

    z = x @ y

    assert z.shape == result
    np.testing.assert_allclose(z.detach().numpy(), a @ b)
    z.sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    # the derivative by x in direction u is the product of u and y
    np.testing.assert_allclose((x.grad.numpy() * a).sum(), (a @ b).sum())
    np.testing.assert_allclose((y.grad.numpy() * b).sum(), (a @ b).sum())


def test_products_of_vectors_by_name() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])

    assert torch.dot(x, y).item() == 11.0
    assert torch.outer(x, y).tolist() == [[3.0, 4.0], [6.0, 8.0]]


INDICES = [
    *("0", "-1", "1:", ":-1", "::2", "None", "...", "0, 1", ":, 0", "..., 0", "None, 0"),
    *("0, ..., None", "[1, 0]", ":, [0, 2]", "[0, 1], [2, 0]", "x > 0", "x[:, 0] > 2"),
    *("1, [2, 2, 0]", "[0, 1], 1:"),
]


@pytest.mark.parametrize("index", INDICES)
def test_indexing_is_numpys(index: str) -> None:
    array = MATRIX.numpy()

    actual: Tensor = eval(f"x[{index}]", {"x": MATRIX})

    np.testing.assert_array_equal(actual.numpy(), eval(f"x[{index}]", {"x": array}))


def test_indices_far_apart_keep_numbers_out_of_the_way() -> None:
    x = torch.arange(24).reshape(2, 3, 4)

    # PyTorch selects by the number first: the list indexes what is left. NumPy would move axes.
    assert x[[0, 1], :, 0].shape == (2, 3)
    assert torch.equal(x[[0, 1], :, 0], x[:, :, 0])


def test_what_is_taken_twice_gets_both_gradients() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

    x[[0, 0, 2]].sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 0.0, 1.0]


def test_comparing_whole_tensors() -> None:
    x = torch.tensor([1.0, 2.0])

    assert torch.equal(x, x.clone())
    assert not torch.equal(x, x.reshape(2, 1))
    assert torch.allclose(x, x + 1e-9)
    assert not torch.allclose(x, torch.tensor([1.0, 2.1]))
    assert torch.is_tensor(x)
    assert not torch.is_tensor([1.0])


# The operators that the kit promises: as function and method, and in place where that makes sense.
IN_PLACE_TOO = (
    *("add", "sub", "mul", "div", "pow", "neg", "abs", "square", "reciprocal", "rsqrt", "exp"),
    *("log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "clamp"),
    *("clamp_min", "clamp_max", "sign", "floor", "ceil", "round", "cumsum", "addmm"),
    *("masked_fill", "scatter", "index_add"),
)
FUNCTIONS = (
    *("maximum", "minimum", "where", "sum", "mean", "max", "min", "amax", "amin", "prod", "std"),
    *("var", "logsumexp", "softmax", "log_softmax", "norm", "argmax", "argmin", "all", "any"),
    *("sort", "topk", "matmul", "mm", "bmm", "mv", "dot", "outer", "reshape", "transpose", "t"),
    *("permute", "squeeze", "unsqueeze", "flatten", "split", "chunk", "unbind", "narrow", "flip"),
    *("gather", "index_select", "masked_select"),
)


@for_each("name", [*IN_PLACE_TOO, *FUNCTIONS])
def test_an_operator_is_a_function_and_a_method(name: str) -> None:
    assert callable(getattr(torch, name))
    assert callable(getattr(Tensor, name))


@for_each("name", IN_PLACE_TOO)
def test_an_operator_has_an_in_place_form(name: str) -> None:
    assert getattr(Tensor, f"{name}_").__name__ == f"{name}_"


def test_the_variance_of_one_two_three_four() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])

    # squared distances from 2.5: 2.25 + 0.25 + 0.25 + 2.25 = 5
    assert x.var().item() == pytest.approx(5 / 3)
    assert x.var(unbiased=False).item() == pytest.approx(5 / 4)
    assert x.var(correction=2).item() == pytest.approx(5 / 2)
    assert x.std(0, False, keepdim=True).tolist() == pytest.approx([1.25**0.5])


def test_a_variance_without_degrees_of_freedom_warns_and_is_nan() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert np.isnan(torch.tensor([1.0]).var().item())


def test_norms_of_three_and_four() -> None:
    x = torch.tensor([3.0, -4.0])

    assert x.norm().item() == 5.0
    assert x.norm(1).item() == 7.0
    assert x.norm(float("inf")).item() == 4.0
    assert torch.tensor([[3.0, 0.0], [4.0, 2.0]]).norm(dim=0).tolist() == [5.0, 2.0]


def test_the_norm_of_zero_has_the_gradient_zero() -> None:
    x = torch.zeros(2, requires_grad=True)

    x.norm().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0]


def test_sums_on_the_way() -> None:
    assert torch.tensor([[1, 2], [3, 4]]).cumsum(0).tolist() == [[1, 2], [4, 6]]


def test_sort_and_topk_return_named_pairs() -> None:
    x = torch.tensor([2.0, 3.0, 1.0])

    assert x.sort().indices.tolist() == [2, 0, 1]
    values, indices = x.topk(2)
    assert (values.tolist(), indices.tolist()) == ([3.0, 2.0], [1, 0])
    assert repr(x.max(0)).startswith("torch.return_types.max(\nvalues=tensor(3.),\nindices=")


def test_equal_elements_stay_in_their_order() -> None:
    x = torch.tensor([1, 0, 1, 0])

    assert x.sort().indices.tolist() == [1, 3, 0, 2]
    assert x.sort(descending=True).indices.tolist() == [0, 2, 1, 3]


def test_a_gradient_goes_back_to_where_an_element_was() -> None:
    x = torch.tensor([2.0, 3.0, 1.0], requires_grad=True)

    (x.sort().values * torch.tensor([10.0, 20.0, 30.0])).sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [20.0, 30.0, 10.0]


def test_parts_are_views() -> None:
    x = torch.arange(5)

    assert [part.tolist() for part in x.split(2)] == [[0, 1], [2, 3], [4]]
    assert [part.tolist() for part in torch.chunk(x, 2)] == [[0, 1, 2], [3, 4]]
    first, _ = x.split([1, 4])
    first.zero_().add_(7)
    assert x[0].item() == 7


def test_scatter_makes_one_hot_rows() -> None:
    classes = torch.tensor([[2], [0]])

    marks = torch.zeros(2, 3).scatter_(1, classes, 1)

    assert marks.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert marks.gather(1, classes).tolist() == [[1.0], [1.0]]


def test_index_add_adds_as_often_as_an_index_occurs() -> None:
    x = torch.zeros(2).index_add_(0, torch.tensor([1, 1, 0]), torch.tensor([1.0, 2.0, 5.0]))

    assert x.tolist() == [5.0, 3.0]


def test_a_source_of_scatter_that_is_larger_than_the_index_gets_no_gradient() -> None:
    source = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

    out = torch.zeros(3).scatter(0, torch.tensor([2]), source)

    # So PyTorch has it.
    with pytest.raises(RuntimeError, match=r"got \[1\] but expected shape compatible with \[3\]"):
        out.sum().backward()


def test_masks_choose() -> None:
    x = torch.tensor([1.0, -2.0, 3.0])

    assert x.masked_fill(x < 0, 0.0).tolist() == [1.0, 0.0, 3.0]
    assert x.masked_select(x > 0).tolist() == [1.0, 3.0]
    assert torch.ones(2, dtype=torch.int64).masked_fill(
        torch.tensor([True, False]), 2.5
    ).tolist() == [
        2,
        1,
    ]


EQUATIONS = ["ij,jk->ik", "ij,kj", "ij,ij->", "ij->ji", "ij,j->i", "i,j->ij", "aij,ajk->aik"]
EQUATIONS += ["ij,jk,kl->il", "ijk,ilm->jklm", "i,ij,j"]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_is_numpys(equation: str) -> None:
    parts = equation.split("->")[0].split(",")
    arrays = [np.random.default_rng(i).normal(size=[3] * len(part)) for i, part in enumerate(parts)]

    actual: Tensor = torch.einsum(equation, *map(torch.tensor, arrays))

    np.testing.assert_allclose(actual.numpy(), np.einsum(equation, *arrays), atol=1e-12)


def test_tensors_without_elements_may_be_joined_to_any() -> None:
    x = torch.ones(2, 3, requires_grad=True)

    joined = torch.cat([torch.tensor([]), x], dim=1)
    joined.sum().backward()

    assert joined.shape == (2, 3)
    assert x.grad is not None
    assert x.grad.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("p", [0.5, 1.5, 2, 3])
@pytest.mark.parametrize("value", [1e30, -1e-30])
def test_the_norm_of_one_element_is_its_size_whatever_its_powers_are(
    p: float, value: float
) -> None:
    x = torch.tensor([[value], [value]])  # the square is beyond float32

    assert x.norm(p, dim=1).tolist() == x.abs().flatten().tolist()
