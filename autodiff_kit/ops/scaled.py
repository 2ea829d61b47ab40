"""Sums and differences with a factor, ``torch.add(x, y, alpha=2)``, and arithmetic with a number.

To Python's ``x * 2``, PyTorch makes a tensor of the number; its functions in C++ do not. So their
nodes have other names, ``MulBackward1``, and one edge. Read ``arithmetic.py`` first.
"""

from __future__ import annotations

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import number_in
from autodiff_kit.ops import checks
from autodiff_kit.ops.table import op, vjp

__all__ = ["add_number", "add_scaled", "div_number", "mul_number", "sub_number", "sub_scaled"]
__all__ += ["times"]


def times(x: Value, factor: float) -> Value:
    """Multiply by a number, if it is not 1."""
    return x if factor == 1 else x * factor


@op("x + alpha * y", tex=r"x + \alpha y", node="AddBackward0", type_check=checks.refuse_alpha)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, alpha: times(g, alpha), tex=r"\alpha \bar z")
def add_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Add a multiple: what ``torch.add(x, y, alpha=...)`` calls."""
    return x + _multiple(x, y, alpha)


def _check_scaled_difference(*arrays: Value, alpha: float) -> None:
    checks.refuse_bool_difference(*arrays)
    checks.refuse_alpha(*arrays, alpha=alpha)


@op(
    "x - alpha * y",
    tex=r"x - \alpha y",
    node="SubBackward0",
    type_check=_check_scaled_difference,
)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, alpha: times(-g, alpha), tex=r"-\alpha \bar z")
def sub_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Subtract a multiple: what ``torch.sub(x, y, alpha=...)`` calls."""
    return x - _multiple(x, y, alpha)


def _multiple(x: Value, y: Value, alpha: float) -> Value:
    dtype = (x if hasattr(x, "dtype") else y).dtype  # one may be a number
    return number_in(alpha, dtype) * y  # in this dtype: True + 2 * True is True


@op("x + y", tex=r"x + a", node="AddBackward1")
@vjp("x", lambda g: g, tex=r"\bar z")
def add_number(x: Value, *, y: float) -> Value:
    """Add a number."""
    return x + x.dtype.type(y)


@op("x - y", tex=r"x - a", node="SubBackward1")
@vjp("x", lambda g: g, tex=r"\bar z")
def sub_number(x: Value, *, y: float) -> Value:
    """Subtract a number."""
    return x - x.dtype.type(y)


@op("x * y", tex=r"a\,x", node="MulBackward1")
@vjp("x", lambda g, y: g * y, tex=r"a\,\bar z")
def mul_number(x: Value, *, y: float) -> Value:
    """Multiply by a number."""
    return x * x.dtype.type(y)


@op("x / y", tex=r"x / a", node="DivBackward1")
@vjp("x", lambda g, y: g / y, tex=r"\bar z / a")
def div_number(x: Value, *, y: float) -> Value:
    """Divide by a number, which may be 0."""
    return x / x.dtype.type(y)
