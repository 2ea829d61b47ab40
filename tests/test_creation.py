"""Factories: values, types, shapes, and whose memory it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit import from_data


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, torch.int64),
        (1.5, torch.float32),
        (True, torch.bool),
        ([], torch.float32),
        ([True, 2], torch.int64),
        ([1, 2.5], torch.float32),
        (np.array([1.0]), torch.float64),
        (np.float32(1), torch.float32),
        ([np.float64(1)], torch.float64),
    ],
    ids=str,
)
def test_the_dtype_follows_the_data(data: Any, dtype: Any) -> None:
    assert torch.tensor(data).dtype is dtype


def test_tensor_copies_and_from_numpy_shares() -> None:
    array = np.zeros(2)
    copied, shared = torch.tensor(array), torch.from_numpy(array)

    array[0] = 1.0

    assert copied.tolist() == [0.0, 0.0]
    assert shared.tolist() == [1.0, 0.0]


def test_rows_must_have_one_length() -> None:
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        torch.tensor([[1, 2], [3]])


@pytest.mark.parametrize("wrong", ["a", [1, "a"], None, {1}, [None]], ids=str)
def test_tensors_are_made_of_numbers(wrong: Any) -> None:
    with pytest.raises((TypeError, RuntimeError), match=r"invalid data type|Could not infer dtype"):
        torch.tensor(wrong)


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8 without overflow"):
        torch.tensor([300], dtype=torch.uint8)


def test_numbers_too_large_for_float32_are_inf() -> None:
    assert torch.tensor([1e300, -1e300]).tolist() == [float("inf"), float("-inf")]


def test_copying_a_tensor_warns() -> None:
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        torch.tensor(torch.ones(2))


def test_a_list_of_tensors_that_need_gradients_warns_where_it_stands() -> None:
    x = torch.tensor(1.0, requires_grad=True)

    with pytest.warns(UserWarning, match="may lead to unexpected behavior") as caught:
        y = torch.tensor([x, 2.0])

    assert y.tolist() == [1.0, 2.0]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("size", [(2, 3), ((2, 3),), ([2, 3],), (torch.Size([2, 3]),)], ids=str)
def test_sizes_come_one_by_one_or_as_one_list(size: Any) -> None:
    for factory in (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn):
        assert factory(*size).shape == (2, 3)


def test_sizes_are_whole_numbers_from_0_on() -> None:
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        torch.ones(-1)
    with pytest.raises(TypeError, match="must be tuple of ints, not float"):
        torch.ones(2.5)


def test_factories_ask_for_gradients() -> None:
    tensors = [
        factory(2, requires_grad=True) for factory in (torch.ones, torch.zeros, torch.rand)
    ] + [
        torch.tensor([1.0], requires_grad=True),
        torch.full((2,), 1.0, requires_grad=True),
        torch.eye(2, requires_grad=True),
        torch.arange(3.0, requires_grad=True),
        torch.linspace(0, 1, 3, requires_grad=True),
        torch.ones_like(torch.ones(2), requires_grad=True),
    ]

    assert all(x.requires_grad and x.is_leaf for x in tensors)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_whole_numbers_cannot_need_gradients(dtype: Any) -> None:
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        torch.ones(2, dtype=dtype, requires_grad=True)


def test_full_follows_its_value() -> None:
    kinds = [torch.full((1,), value).dtype for value in (1, 1.0, True)]

    assert kinds == [torch.int64, torch.float32, torch.bool]


def test_arange_counts_up_and_down() -> None:
    assert torch.arange(3).tolist() == [0, 1, 2]
    assert torch.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert torch.arange(1, 2, 0.5).tolist() == [1.0, 1.5]


def test_arange_refuses_steps_that_lead_nowhere() -> None:
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        torch.arange(1, 5, 0)
    with pytest.raises(RuntimeError, match="inconsistent with step sign"):
        torch.arange(5, 1)


def test_linspace_has_both_ends_and_is_symmetrical_but_for_rounding() -> None:
    x = torch.linspace(-1, 1, 101, dtype=torch.float64)

    assert (x[0].item(), x[-1].item()) == (-1.0, 1.0)
    # Not exactly, in PyTorch neither: on one side the sums are rounded where the places are not.
    assert torch.allclose(x, -x.flip(0), rtol=0, atol=2e-16)


@pytest.mark.parametrize(("steps", "values"), [(0, []), (1, [2.0]), (2, [2.0, 4.0])])
def test_linspace_of_few_steps(steps: int, values: list[float]) -> None:
    assert torch.linspace(2, 4, steps).tolist() == values


def test_likes_take_shape_and_dtype() -> None:
    x = torch.ones(2, 3, dtype=torch.float64)

    for like in (torch.zeros_like, torch.ones_like, torch.rand_like):
        assert (like(x).shape, like(x).dtype) == (x.shape, x.dtype)


@pytest.mark.parametrize("make", [torch.from_numpy, torch.tensor, torch.as_tensor, torch.Tensor])
def test_negative_strides_are_refused(make: Callable[..., torch.Tensor]) -> None:
    with pytest.raises(
        ValueError, match="At least one stride in the given numpy array is negative"
    ):
        make(np.ones(3)[::-1])


def test_other_devices_are_refused_in_words() -> None:
    with pytest.raises(AssertionError, match="not compiled with CUDA enabled\n-> The kit computes"):
        torch.ones(2, device="cuda")
    with pytest.raises(RuntimeError, match="at start of device string: gpu\n-> The kit computes"):
        torch.ones(2).to("gpu")


def test_there_is_no_gpu() -> None:
    assert torch.cuda.is_available() is False


@pytest.mark.parametrize("data", [0, [1, 2], [[1], [2]]])
def test_integers_are_int64_also_where_those_of_numpy_have_4_bytes(
    data: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = from_data._plain_array
    monkeypatch.setattr(from_data, "_plain_array", lambda numbers: plain(numbers).astype("int32"))

    assert torch.tensor(data).dtype is torch.int64
    assert torch.tensor(data).tolist() == data
