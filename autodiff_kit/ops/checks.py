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
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import teach

__all__ = ["no_derivative", "refuse_bool", "refuse_bool_difference", "refuse_floats"]
__all__ += ["refuse_float_alpha", "refuse_negative_power", "refuse_zero_divisor"]

Check = Callable[..., None]


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def refuse_bool(error: Exception) -> Check:
    """Make a check that raises an error like ``error`` when all inputs are bool tensors."""

    def check(*arrays: Value, **params: Any) -> None:
        if all(map(_is_bool, arrays)):
            raise type(error)(teach(str(error), "Convert first: x.float() or x.long()."))

    return check


def refuse_bool_difference(*arrays: Value, y: Any = None, **params: Any) -> None:
    """Refuse ``mask - mask`` and ``mask - 1``; ``y`` is the number of ``1 - mask``."""
    operands = arrays if y is None else (*arrays, y)
    if all(map(_is_bool, operands)):
        which, instead = "two bool tensors", "Use the `^`"
    elif any(map(_is_bool, operands)):
        which = "a bool tensor"
        instead = "If you are trying to invert a mask, use the `~`"
    else:
        return
    name = "logical_xor" if which == "two bool tensors" else "logical_not"
    raise RuntimeError(
        teach(
            f"Subtraction, the `-` operator, with {which} is not supported. {instead} or "
            f"`{name}()` operator instead.",
            "To compute with True as 1 and False as 0, convert first: mask.float().",
        )
    )


def refuse_zero_divisor(name: str) -> Check:
    """Make a check that refuses to divide whole numbers by 0: no inf can be the answer."""
    refuse = refuse_bool(NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'"))

    def check(x: Value, y: Value, **params: Any) -> None:
        refuse(x, y)
        _refuse_zero(x, y)

    return check


def _refuse_zero(x: Value, y: Value) -> None:
    floats = [np.asarray(v).dtype.kind == "f" for v in (x, y)]
    if not any(floats) and np.any(np.asarray(y) == 0):
        raise RuntimeError(
            teach("ZeroDivisionError", "Whole numbers have no inf; x.float() gives inf or nan.")
        )


def refuse_negative_power(x: Value, *, exponent: Any) -> None:
    """Refuse ``x ** -1`` for whole numbers, whose result is none."""
    if isinstance(exponent, int) and exponent < 0:
        raise RuntimeError(
            teach(
                "Integers to negative integer powers are not allowed.",
                "Convert first: x.float() ** -1, or write an exponent with a point: x ** -1.0.",
            )
        )


def refuse_float_alpha(*arrays: Value, alpha: Any) -> None:
    """Refuse to add half of a whole number."""
    if isinstance(alpha, float) and all(np.asarray(v).dtype.kind != "f" for v in arrays):
        raise RuntimeError(
            teach(
                "For integral input tensors, argument alpha must not be a floating point number.",
                "Convert first: x.float().",
            )
        )


def refuse_floats(name: str, x: Value) -> None:
    """Refuse to work bit by bit on floats."""
    if x.dtype.kind == "f":
        raise NotImplementedError(
            teach(
                f"\"{name}_cpu\" not implemented for '{tensor_type(x.dtype)}'",
                "&, | and ^ work on bool and integer tensors; write (x > 0) & (y > 0) with the "
                "parentheses.",
            )
        )


def no_derivative(name: str) -> NoReturn:
    """Raise PyTorch's error for an op that it does not differentiate."""
    raise RuntimeError(
        teach(
            f"derivative for aten::{name} is not implemented",
            "Rounding is flat with jumps in between. Call detach() before it, or use "
            "torch.div(x, y, rounding_mode='floor'), whose gradient is 0.",
        )
    )
