"""Types of elements: their names, how they combine, and which stay."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.dtypes import as_dtype, from_numpy_dtype, result_dtype


@pytest.fixture(autouse=True)
def float32_is_the_default() -> Iterator[None]:
    yield
    torch.set_default_dtype(torch.float32)


def test_short_names_are_the_same_types() -> None:
    assert torch.float is torch.float32
    assert torch.double is torch.float64
    assert torch.half is torch.float16
    assert torch.long is torch.int64
    assert torch.int is torch.int32
    assert torch.short is torch.int16


def test_types_print_as_pytorchs() -> None:
    assert (
        str([torch.float32, torch.int64, torch.bool]) == "[torch.float32, torch.int64, torch.bool]"
    )


def test_types_stay_themselves_when_pickled() -> None:
    assert pickle.loads(pickle.dumps(torch.float32)) is torch.float32


def test_the_default_type_is_what_python_floats_become() -> None:
    torch.set_default_dtype(torch.float64)

    assert torch.get_default_dtype() is torch.float64
    assert torch.tensor(1.0).dtype is torch.float64
    assert (torch.tensor(1) / 2).dtype is torch.float64


def test_the_default_type_is_a_float() -> None:
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        torch.set_default_dtype(torch.int64)


ARRAY, NUMBER = np.ones(2), np.float64(1)
FLOAT32, INT64 = np.ones(2, "float32"), np.ones(2, "int64")


@pytest.mark.parametrize(
    ("values", "result"),
    [
        ((FLOAT32, ARRAY), "float64"),  # arrays widen each other
        ((FLOAT32, NUMBER), "float32"),  # a number does not widen its own category
        ((INT64, np.float64(1)), "float64"),  # but lifts into its own
        ((INT64, 0.5), "float32"),  # a Python number into the default
        ((np.ones(2, "int8"), 1000), "int8"),
        ((np.ones(2, "bool"), 2), "int64"),
        ((np.ones(2, "bool"), True), "bool"),
        ((np.ones(2, "uint8"), np.ones(2, "int8")), "int16"),
        ((np.float16(1), np.float32(1)), "float32"),
        ((1, 2.5), "float32"),
    ],
    ids=str,
)
def test_types_combine(values: Any, result: str) -> None:
    assert result_dtype(*values) == result


def test_integers_divide_to_floats() -> None:
    assert (torch.tensor([1, 2]) / 2).tolist() == [0.5, 1.0]


def test_sums_of_whole_numbers_and_masks_are_int64() -> None:
    for dtype in (torch.bool, torch.uint8, torch.int32):
        assert torch.ones(3, dtype=dtype).sum().dtype is torch.int64


def test_gradients_come_back_in_the_type_of_their_leaf() -> None:
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)

    (x * y).sum().backward()

    assert x.grad is not None
    assert y.grad is not None
    assert (x.grad.dtype, y.grad.dtype) == (torch.float32, torch.float64)


def test_conversion_to_another_float_is_part_of_the_graph() -> None:
    x = torch.ones(2, requires_grad=True)

    y = x.double()

    assert y.grad_fn is not None
    assert y.grad_fn.name() == "ToCopyBackward0"


def test_conversion_to_whole_numbers_is_not() -> None:
    x = torch.tensor([1.7, -1.7], requires_grad=True)

    assert x.long().tolist() == [1, -1]
    assert not x.long().requires_grad


def test_conversion_to_the_same_type_changes_nothing() -> None:
    x = torch.ones(2)

    assert x.float() is x
    assert x.to(torch.float32) is x
    assert x.to(torch.float32, copy=True) is not x


def test_in_place_operations_never_change_the_type() -> None:
    x = torch.tensor([1, 2])

    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        x += 0.5
    assert x.tolist() == [1, 2]


def test_products_do_not_convert() -> None:
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64)


def test_pythons_types_stand_for_dtypes() -> None:
    assert [as_dtype(t, "f") for t in (float, int, bool)] == [
        torch.float64,
        torch.int64,
        torch.bool,
    ]


def test_a_name_is_no_dtype() -> None:
    wrong: Any = "float32"
    with pytest.raises(TypeError, match=r"ones\(\): argument 'dtype' must be torch.dtype, not str"):
        torch.ones(2, dtype=wrong)


def test_numpy_types_that_the_kit_does_not_have_are_named() -> None:
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy\.complex128"):
        from_numpy_dtype(np.dtype("complex128"))


def test_sizes_stay_sizes() -> None:
    size = torch.Size([2, 3])

    assert repr(size + torch.Size([4])) == "torch.Size([2, 3, 4])"
    assert repr((1, *size)) == "(1, 2, 3)"
    assert repr((1,) + size) == "torch.Size([1, 2, 3])"  # noqa: RUF005
    assert repr(size[1:]) == "torch.Size([3])"
    assert repr(size * 2) == "torch.Size([2, 3, 2, 3])"
    assert size[0] == 2
    assert size == (2, 3)
    assert size.numel() == 6
