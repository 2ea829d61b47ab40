"""What PyTorch refuses to compute with whole numbers and truth values.

After reading this file you know why ``mask - 1`` and ``5 % 0`` are errors while their floating
twins are not. An op names a check by ``whole=``; it runs only when not all inputs are floats.
Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.dtypes import number_in, result_dtype, tensor_type
from autodiff_kit.errors import error

__all__ = ["no_derivative", "refuse_bool", "refuse_bool_difference", "refuse_floats"]
__all__ += ["refuse_float_alpha", "refuse_negative_power", "refuse_outside", "refuse_zero_divisor"]

Check = Callable[..., None]
Ints = tuple[int, ...]


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def refuse_bool(key: str, **values: str) -> Check:
    """Make a check that raises ``error(key, **values)`` when all inputs are bool tensors."""

    def check(*arrays: Value, **params: Any) -> None:
        if all(map(_is_bool, arrays)):
            raise error(key, **values)

    return check


def refuse_bool_difference(*arrays: Value, y: Any = None, **params: Any) -> None:
    """Refuse ``mask - mask`` and ``mask - 1``; ``y`` is the number of ``1 - mask``."""
    are_bool = [*map(_is_bool, arrays if y is None else (*arrays, y))]
    if any(are_bool):
        raise error("dtypes.bools_subtracted" if all(are_bool) else "dtypes.bool_subtracted")


def refuse_zero_divisor(name: str) -> Check:
    """Make a check that refuses to divide whole numbers by 0: no inf can be the answer."""
    refuse = refuse_bool("dtypes.bool_kernel", kernel=f"{name}_cpu")

    def check(x: Value, y: Value, **params: Any) -> None:
        refuse(x, y)
        whole = all(np.asarray(value).dtype.kind != "f" for value in (x, y))
        if whole and np.any(np.asarray(y) == 0):
            raise error("dtypes.zero_divisor")

    return check


def refuse_outside(x: Value, **numbers: Any) -> None:
    """Refuse numbers that the whole numbers of the result do not reach."""
    dtype = result_dtype(x, *numbers.values())
    if dtype.kind != "f":
        for number in numbers.values():
            number_in(number, dtype)


def refuse_negative_power(x: Value, *, exponent: Any) -> None:
    """Refuse ``x ** -1`` for whole numbers, whose result is none."""
    if isinstance(exponent, int) and exponent < 0:
        raise error("dtypes.negative_power")
    refuse_outside(x, exponent=exponent)


def refuse_float_alpha(*arrays: Value, alpha: Any) -> None:
    """Refuse to add half of a whole number."""
    if isinstance(alpha, float) and all(np.asarray(v).dtype.kind != "f" for v in arrays):
        raise error("dtypes.float_alpha")


def refuse_floats(name: str, x: Value) -> None:
    """Refuse to work bit by bit on floats."""
    if x.dtype.kind == "f":
        raise error("dtypes.bits_of_floats", name=name, kind=tensor_type(x.dtype))


def no_derivative(name: str) -> NoReturn:
    """Raise PyTorch's error for an op that it does not differentiate."""
    raise error("autograd.no_derivative", op=name)
