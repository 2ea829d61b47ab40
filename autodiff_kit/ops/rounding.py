"""Rounding, and remainders.

After reading this file you know what flat pieces with jumps in between do to a gradient: where
PyTorch gives 0, and where it refuses. Read next: ``reduction.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops import checks
from autodiff_kit.ops.elementwise import zeros_like
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = ["ceil", "div_rounded", "floor", "floor_divide", "floor_divide_by_number"]
__all__ += ["floor_divide_number", "remainder", "remainder_by_number", "remainder_of_number"]
__all__ += ["round"]


def _no_bool_rounding(name: str) -> checks.Check:
    return checks.refuse_bool("dtypes.bool_kernel", kernel=f"{name}_vml_cpu")


@op("floor(x)", tex=r"\lfloor x \rfloor", type_check=_no_bool_rounding("floor"))
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def floor(x: Value) -> Value:
    """Round down; flat almost everywhere, so its gradient is 0."""
    return np.floor(x)


@op("ceil(x)", tex=r"\lceil x \rceil", type_check=_no_bool_rounding("ceil"))
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def ceil(x: Value) -> Value:
    """Round up; flat almost everywhere, so its gradient is 0."""
    return np.ceil(x)


@op("round(x)", tex=r"\operatorname{round}(x)", type_check=_no_bool_rounding("round"))
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def round(x: Value) -> Value:
    """Round to the nearest integer, halves to even; its gradient is 0."""
    return np.round(x)


_check_remainder = checks.refuse_zero_divisor("remainder")
_check_floor = checks.refuse_zero_divisor("div_floor")
_check_trunc = checks.refuse_zero_divisor("div_trunc")


def _check_rounded(x: Value, y: Value, *, rounding_mode: str) -> None:
    (_check_floor if rounding_mode == "floor" else _check_trunc)(x, y)


def _rest(x: Value, y: Value) -> Value:
    rest: Any = np.remainder(x, y)
    if rest.dtype.kind != "f":
        return rest
    return scalar_if_0d(
        np.where(rest == 0, np.copysign(rest, x), rest)
    )  # 0 has the sign of x in PyTorch


@op(
    "x % y",
    tex=r"x \bmod y",
    node="RemainderBackward0",
    operands=("y",),
    type_check=_check_remainder,
)
@vjp("x", lambda g: g, tex=r"\bar z")
def remainder_by_number(x: Value, *, y: float) -> Value:
    """Return what is left after whole divisions by a number: what ``x % 2`` calls."""
    return _rest(x, y)


@op("x % y", tex=r"x \bmod y", node="RemainderBackward1", type_check=_check_remainder)
@vjp("x", lambda g: g, tex=r"\bar z")
def remainder(x: Value, y: Value) -> Value:
    """Return what is left after whole divisions; the sign is that of ``y``."""
    return _rest(x, y)


@remainder.vjp("y", tex=r"-\bar z \odot \lfloor x / y \rfloor")
def _(g: Value, x: Value, y: Value) -> Value:
    return -g * div_rounded(x, y, rounding_mode="floor")


@op(
    "x // y",
    tex=r"\lfloor x / y \rfloor",
    node=checks.NOT_IMPLEMENTED,
    operands=("y",),
    type_check=_check_floor,
)
@vjp(
    "x",
    lambda g: checks.no_derivative("autograd.no_derivative", "floor_divide"),
    tex=r"\text{none}",
)
def floor_divide_by_number(x: Value, *, y: float) -> Value:
    """Divide by a number and round down; PyTorch does not differentiate it."""
    return x // y


@op("x // y", tex=r"\lfloor x / y \rfloor", node=checks.NOT_IMPLEMENTED, type_check=_check_floor)
@vjp(
    "x",
    lambda g: checks.no_derivative("autograd.no_derivative", "floor_divide"),
    tex=r"\text{none}",
)
@vjp(
    "y",
    lambda g: checks.no_derivative("autograd.no_derivative", "floor_divide"),
    tex=r"\text{none}",
)
def floor_divide(x: Value, y: Value) -> Value:
    """Divide and round down; PyTorch does not differentiate it."""
    return x // y


@op(
    "y // x",
    tex=r"\lfloor y / x \rfloor",
    node=checks.NOT_IMPLEMENTED,
    operands=("y",),
    type_check=lambda x, y: _check_floor(y, x),
)
@vjp(
    "x",
    lambda g: checks.no_derivative("autograd.no_derivative", "floor_divide"),
    tex=r"\text{none}",
)
def floor_divide_number(x: Value, *, y: float) -> Value:
    """Divide a number by a tensor and round down: what ``7 // x`` calls."""
    return y // x


@op(
    "y % x",
    tex=r"y \bmod x",
    node=checks.NOT_IMPLEMENTED,
    operands=("y",),
    type_check=lambda x, y: _check_remainder(y, x),
)
@vjp("x", lambda g: checks.no_derivative("autograd.no_derivative", "remainder"), tex=r"\text{none}")
def remainder_of_number(x: Value, *, y: float) -> Value:
    """Return what is left of a number: what ``7 % x`` calls."""
    return _rest(y, x)


@op(
    "div(x, y, rounding_mode)",
    tex=r"\operatorname{round}(x / y)",
    node="DivBackward2",
    type_check=_check_rounded,
)
@vjp("x", lambda g, y: zeros_like(g), tex=r"0")
@vjp("y", lambda g, x, y: zeros_like(g), tex=r"0")
def div_rounded(x: Value, y: Value, *, rounding_mode: str) -> Value:
    """Divide and round, ``"floor"`` or ``"trunc"``; flat, so its gradient is 0."""
    if rounding_mode == "floor":
        return x // y
    if x.dtype.kind == "f":
        return np.trunc(x / y)
    down = x // y
    return down + ((down < 0) & (down * y != x))
