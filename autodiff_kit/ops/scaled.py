"""Sums and differences with a factor: ``torch.add(x, y, alpha=2)``.

Read ``arithmetic.py`` first.
"""

from __future__ import annotations

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import number_in
from autodiff_kit.ops import checks
from autodiff_kit.ops.table import op, vjp

__all__ = ["add_scaled", "sub_scaled"]


@op("x + alpha * y", tex=r"x + \alpha y", node="AddBackward0", type_check=checks.refuse_alpha)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, alpha: g * alpha, tex=r"\alpha \bar z")
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
@vjp("y", lambda g, alpha: g * -alpha, tex=r"-\alpha \bar z")
def sub_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Subtract a multiple: what ``torch.sub(x, y, alpha=...)`` calls."""
    return x - _multiple(x, y, alpha)


def _multiple(x: Value, y: Value, alpha: float) -> Value:
    dtype = (x if hasattr(x, "dtype") else y).dtype  # one may be a number
    return number_in(alpha, dtype) * y  # in this dtype: True + 2 * True is True
