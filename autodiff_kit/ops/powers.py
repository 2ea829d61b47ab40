"""Powers: a tensor to a number, a number to a tensor, a tensor to a tensor.

After reading this file you know what the gradient of ``x ** y`` is at the points where the
formula of school would divide by 0 or take the logarithm of 0. Read next: ``rounding.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops import checks
from autodiff_kit.ops.elementwise import log, masked, zeros_like
from autodiff_kit.ops.layouts import copy_of, scalar_if_0d
from autodiff_kit.ops.table import op

__all__ = ["pow_from_number", "pow_tensor", "pow_to_number"]

# What PyTorch computes instead of a general power: faster, and with an answer of its own at -inf.
_POWERS: dict[float, Callable[[Value], Value]] = {
    -2: lambda x: 1 / (x * x),
    -1: lambda x: 1 / x,
    -0.5: lambda x: 1 / np.sqrt(x),
    0: lambda x: np.ones_like(x)[()],  # of a bool to the power False, NumPy makes an int8
    0.5: lambda x: np.sqrt(x),
    1: copy_of,
    2: lambda x: x * x,
    3: lambda x: x * x * x,
}


def _power(x: Value, y: Value) -> Value:
    """Return ``x ** y``; an integer to a negative power is 0, or 1 or -1 for those two."""
    if np.asarray(x).dtype.kind == "f" or np.asarray(y).dtype.kind == "f":
        return x**y
    exponent = np.where(y < 0, y & 1, y)  # of 1 and -1 only whether it is odd counts
    return scalar_if_0d(np.where((y >= 0) | (abs(x) == 1), x**exponent, 0))


_refuse_bools = checks.refuse_bool("dtypes.bool_kernel", kernel="pow")


@op(
    "x ** exponent",
    tex=r"x^n",
    node="PowBackward0",
    operands=("exponent",),
    type_check=checks.refuse_negative_power,
)
def pow_to_number(x: Value, *, exponent: float) -> Value:
    """Raise every element to one power: what ``x ** 2`` calls."""
    shortcut = _POWERS.get(exponent)
    return x**exponent if shortcut is None else shortcut(x)


@pow_to_number.vjp("x", tex=r"\bar z \odot n\,x^{n-1}")
def _(g: Value, x: Value, exponent: float) -> Value:
    # PyTorch defines the gradient of x ** 0 as 0, at x = 0 too, where 0 * 0 ** -1 would be nan.
    if exponent == 0:
        return zeros_like(g)
    return g * (exponent * pow_to_number(x, exponent=exponent - 1))


@op(
    "base ** x",
    tex=r"a^x",
    node="PowBackward2",
    operands=("base",),
    saved_as={"x": "exponent", "base": "self"},
    type_check=lambda x, base: _refuse_bools(base, x),
    layout="rows",
)
def pow_from_number(x: Value, *, base: float) -> Value:
    """Raise one number to every power: what ``2 ** x`` calls."""
    return _power(base, x)


@pow_from_number.vjp("x", tex=r"\bar z \odot z \ln a")
def _(g: Value, out: Value, x: Value, base: float) -> Value:
    slope = out * float(np.log(base))
    return g * (slope if base else masked(slope, ~(x >= 0)))  # 0 ** x is flat from 0 on; nan is not


@op(
    "x ** y",
    tex=r"x^y",
    node="PowBackward1",
    saved_as={"y": "exponent"},
    type_check=_refuse_bools,
)
def pow_tensor(x: Value, y: Value) -> Value:
    """Raise elementwise to elementwise powers; shapes broadcast."""
    return _power(x, y)


@pow_tensor.vjp("x", tex=r"\bar z \odot y \odot x^{y-1}")
def _(g: Value, out: Value, x: Value, y: Value, y_dtype: Any) -> Value:
    if y_dtype.kind == "b":
        raise error("dtypes.bool_subtracted")  # of y - 1
    lower = y - 1 if y_dtype.kind != "u" else (y - 1) % 256  # uint8 below 0 begins at the top
    return masked(g * (y * x**lower), y != 0)


@pow_tensor.vjp("y", tex=r"\bar z \odot z \odot \ln x")
def _(g: Value, out: Value, x: Value, y: Value) -> Value:
    return g * masked(out * log(x), (x != 0) | ~(y >= 0))
