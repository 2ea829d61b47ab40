"""The text of tensors, with expectations worked out by hand from PyTorch's rules.

``test_printing_parity.py`` compares with PyTorch itself.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_kit import dtypes
from autodiff_kit.printing import set_printoptions, tensor_repr


@pytest.fixture(autouse=True)
def default_settings() -> Iterator[None]:
    default = dtypes.get_default_dtype()
    yield
    set_printoptions(profile="default")
    dtypes.set_default_dtype(default)


def text(values: Any, dtype: str = "float32", **place: Any) -> str:
    return tensor_repr(np.array(values, dtype), **place)


# -- the form of numbers -----------------------------------------------------------------------


def test_floats_have_four_digits_and_the_width_of_the_longest() -> None:
    # "-10.2500" has 8 characters, "1.5000" has 6.
    assert text([1.5, -10.25]) == "tensor([  1.5000, -10.2500])"


def test_floats_that_are_all_integral_end_with_a_point() -> None:
    assert text([1.0, -20.0]) == "tensor([  1., -20.])"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 1000], "tensor([   1., 1000.])"),
        ([1, 1001], "tensor([1.0000e+00, 1.0010e+03])"),
        ([1e8], "tensor([100000000.])"),
        ([2e8], "tensor([2.0000e+08])"),
        ([0.0003], "tensor([0.0003])"),
        ([0.00009], "tensor([9.0000e-05])"),
    ],
)
def test_scientific_starts_beyond_ratio_1000_above_1e8_and_below_1e_4(
    values: list[float], expected: str
) -> None:
    assert text(values) == expected


def test_float32_closest_to_1e_4_lies_below_it_and_is_scientific() -> None:
    # float32(1e-4) = 0.0000999999974...; float64(1e-4) = 0.000100000000000000005
    assert text([1e-4]) == "tensor([1.0000e-04])"
    assert text([1e-4], "float64") == "tensor([0.0001], dtype=torch.float64)"


def test_ratio_beyond_all_floats_is_scientific_without_a_warning() -> None:
    assert text([1e-300, 1e300], "float64").startswith("tensor([1.0000e-300, 1.0000e+300]")


def test_zeros_infinities_and_nan_have_no_say_in_the_form() -> None:
    # Alone, 2. has two characters; the longer ones stick out.
    assert text([0.0, 2.0, math.nan, -math.inf]) == "tensor([0., 2., nan, -inf])"
    assert text([0.5, math.nan, math.inf]) == "tensor([0.5000,    nan,    inf])"


def test_negative_zero_keeps_its_sign() -> None:
    assert text([-0.0, 0.0]) == "tensor([-0., 0.])"


def test_integers_and_bools_are_aligned() -> None:
    assert text([1, -20], "int64") == "tensor([  1, -20])"
    assert text([True, False], "bool") == "tensor([ True, False])"


def test_numpy_scalar_prints_as_a_tensor_without_dimensions() -> None:
    assert tensor_repr(np.float32(2.5)) == "tensor(2.5000)"


# -- lines and brackets ------------------------------------------------------------------------


def test_rows_are_aligned_and_planes_are_parted_by_a_blank_line() -> None:
    expected = (
        "tensor([[[0, 1],\n"
        "         [2, 3]],\n"
        "\n"
        "        [[4, 5],\n"
        "         [6, 7]]])"
    )  # fmt: skip
    assert text(np.arange(8).reshape(2, 2, 2), "int64") == expected


def test_a_line_takes_as_many_numbers_as_fit_into_the_linewidth() -> None:
    # 29 columns less the 7 of "tensor(" leave 22 = 5 * (2 digits + ", ") + 2: five to a line.
    set_printoptions(linewidth=29)

    assert text(range(10, 18), "int64") == "tensor([10, 11, 12, 13, 14,\n        15, 16, 17])"


def test_a_line_takes_at_least_one_number() -> None:
    set_printoptions(linewidth=1)

    assert text([1, 2], "int64") == "tensor([1,\n        2])"


# -- summaries ---------------------------------------------------------------------------------


def test_1000_elements_are_shown_and_1001_are_summarised() -> None:
    assert "..." not in text(range(1000), "int64")
    assert text(range(1001), "int64") == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"


def test_summary_is_formatted_for_the_numbers_it_shows() -> None:
    # The hidden 1e9 would have made it scientific.
    assert text([1] * 600 + [1e9] + [1] * 600) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_summary_cuts_long_dimensions_only() -> None:
    set_printoptions(threshold=5, edgeitems=1)

    expected = "tensor([[1, 2],\n        ...,\n        [5, 6]])"
    assert text([[1, 2], [3, 4], [5, 6]], "int64") == expected


def test_no_edge_items_leave_only_dots_and_the_size() -> None:
    set_printoptions(threshold=1, edgeitems=0)

    assert text([1, 2], "int64") == "tensor([...], size=(2,))"


# -- what is said after the elements -----------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int16", "int32", "uint8"])
def test_dtype_is_shown_unless_the_elements_show_it(dtype: str) -> None:
    assert text([], dtype) == f"tensor([], dtype=torch.{dtype})"
    assert text([1], dtype).endswith(f"], dtype=torch.{dtype})")


def test_changed_default_dtype_changes_which_one_is_shown() -> None:
    dtypes.set_default_dtype(dtypes.float64)

    assert text([1.5], "float64") == "tensor([1.5000])"
    assert text([1.5], "float32") == "tensor([1.5000], dtype=torch.float32)"


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ((0,), "float32", "tensor([])"),
        ((0, 3), "float32", "tensor([], size=(0, 3))"),
        ((0,), "int64", "tensor([], dtype=torch.int64)"),
        ((2, 0), "bool", "tensor([], size=(2, 0), dtype=torch.bool)"),
    ],
)
def test_empty_tensor_shows_size_and_dtype(
    shape: tuple[int, ...], dtype: str, expected: str
) -> None:
    assert tensor_repr(np.empty(shape, dtype)) == expected


def test_grad_fn_stands_for_requires_grad() -> None:
    assert text([1], requires_grad=True) == "tensor([1.], requires_grad=True)"
    expected = "tensor([1.], grad_fn=<AddBackward0>)"
    assert text([1], requires_grad=True, grad_fn="AddBackward0") == expected


def test_what_does_not_fit_goes_to_a_new_line() -> None:
    # "tensor([1]" has 10 characters and ", dtype=torch.int8)" 19: 29 in all, and PyTorch wants one
    # column more.
    set_printoptions(linewidth=30)
    assert text([1], "int8") == "tensor([1], dtype=torch.int8)"
    set_printoptions(linewidth=29)
    assert text([1], "int8") == "tensor([1],\n       dtype=torch.int8)"


def test_every_suffix_is_placed_for_itself() -> None:
    # 11 + 21 + 20 + 1 characters: 53, and one column more.
    set_printoptions(linewidth=54)
    expected = "tensor([1.], dtype=torch.float64, requires_grad=True)"
    assert text([1], "float64", requires_grad=True) == expected
    set_printoptions(linewidth=53)
    expected = "tensor([1.], dtype=torch.float64,\n       requires_grad=True)"
    assert text([1], "float64", requires_grad=True) == expected


# -- options -----------------------------------------------------------------------------------


def test_precision_counts_the_digits_after_the_point() -> None:
    set_printoptions(precision=2)

    assert text([1.2345]) == "tensor([1.23])"


def test_sci_mode_overrides_the_choice_until_options_are_set_again() -> None:
    set_printoptions(sci_mode=True)
    assert text([1.0]) == "tensor([1.0000e+00])"
    set_printoptions(sci_mode=False)
    assert text([1e9]) == "tensor([1000000000.])"
    set_printoptions(precision=3)
    assert text([1e9]) == "tensor([1.000e+09])"


def test_profile_sets_all_and_an_explicit_option_wins() -> None:
    set_printoptions(linewidth=20, profile="short")
    assert text([1.2345] * 3) == "tensor([1.23, 1.23,\n        1.23])"
    set_printoptions(profile="full")
    assert "..." not in text(range(2000), "int64")


def test_impossible_precision_is_refused_at_the_next_print() -> None:
    set_printoptions(precision=-1)

    with pytest.raises(ValueError, match="precision"):
        text([1.5])
