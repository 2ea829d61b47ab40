"""Running products and extremes: every result on the way along a dimension.

After reading this file you know how the gradient of a running product is right also where factors
are 0: it is not divided by them. Read next: ``diagonals.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS
from autodiff_kit.core.op import Value
from autodiff_kit.ops import checks
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import abs, exp, log, where
from autodiff_kit.ops.gathering import scatter_add
from autodiff_kit.ops.indexing import select
from autodiff_kit.ops.layouts import zeros
from autodiff_kit.ops.shape import cat, flip, slice_dim, stack
from autodiff_kit.ops.table import op, vjp

__all__ = ["cummax", "cummin", "cumprod", "logcumsumexp"]


@op("x.cumprod(dim)", tex=r"\textstyle\prod_{j \le i} x_j", layout="rows")
@vjp(
    "x",
    lambda g, x, out, dim: _share_of_factors(g, x, out, dim),
    tex=r"\textstyle\sum_{j \ge i} \bar z_j z_j / x_i",
)
def cumprod(x: Value, *, dim: int) -> Value:
    """Multiply along a dimension, and return every product on the way."""
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype("int64")
    return np.cumprod(x, dim, dtype=dtype) if x.ndim else x.astype(dtype)


def _share_of_factors(g: Value, x: Value, out: Value, dim: int) -> Value:
    """Return for each factor what it is multiplied with, summed over the products it is in.

    That is the product of those before it, times a sum over those after it, which obeys
    ``after[i] = g[i] + x[i + 1] * after[i + 1]``.
    """
    count = x.shape[dim] if x.shape else 1
    if count < 2 or not x.shape:
        return g
    if isinstance(x, ARRAYS) and x.all():
        sums = np.cumsum(np.flip(out * g, dim), dim)
        return np.flip(sums, dim) / x
    after = [select(g, dim=dim, index=count - 1)]
    for i in reversed(range(count - 1)):
        after.append(select(g, dim=dim, index=i) + select(x, dim=dim, index=i + 1) * after[-1])
    first = slice_dim(x, dim=dim, start=0, end=1, step=1)
    before = cat(first * 0 + 1, slice_dim(out, dim=dim, start=0, end=count - 1, step=1), dim=dim)
    return before * stack(*after[::-1], dim=dim)


def _extreme_so_far(x: Value, dim: int, larger: Any) -> tuple[Value, Value]:
    """Return the extremes so far, and where they are: the last of equal ones."""
    if not x.ndim:
        return x.copy(), np.int64(0)
    values = larger.accumulate(x, dim)
    places = np.arange(x.shape[dim]).reshape([-1 if i == dim else 1 for i in range(x.ndim)])
    is_new = (x == values) | (np.isnan(x) if x.dtype.kind == "f" else False)
    return values, np.maximum.accumulate(np.where(is_new, places, 0), dim)


@op("x.cummax(dim)", tex=r"\max_{j \le i} x_j", by_products=("indices",), layout="rows")
def cummax(x: Value, *, dim: int) -> tuple[Value, Value]:
    """Return the largest element so far along a dimension, and where it is."""
    return _extreme_so_far(x, dim, np.maximum)


@op("x.cummin(dim)", tex=r"\min_{j \le i} x_j", by_products=("indices",), layout="rows")
def cummin(x: Value, *, dim: int) -> tuple[Value, Value]:
    """Return the smallest element so far along a dimension, and where it is."""
    return _extreme_so_far(x, dim, np.minimum)


for _extreme in (cummax, cummin):

    @_extreme.vjp("x", tex=r"\textstyle\sum_{j : \arg z_j = i} \bar z_j")
    def _(g: Value, indices: Value, x_shape: Ints, dim: int) -> Value:
        return scatter_add(zeros(g, x_shape), indices, g, dim=dim)


@op(
    "x.logcumsumexp(dim)",
    tex=r"\ln \textstyle\sum_{j \le i} e^{x_j}",
    type_check=checks.refuse("logcumsumexp_cpu"),
    layout="rows",
)
def logcumsumexp(x: Value, *, dim: int) -> Value:
    """Return the logarithm of the running sum of exponentials; never overflows."""
    return np.logaddexp.accumulate(x, dim) if x.ndim else x.copy()


_LOG_OF_0 = -1e38  # finite, so that it can be differentiated; float32 holds it


@logcumsumexp.vjp("x", tex=r"e^{x_i} \textstyle\sum_{j \ge i} \bar z_j e^{-z_j}")
def _(g: Value, out: Value, x: Value, dim: int) -> Value:
    if not x.shape:
        return g
    # Positive and negative gradients apart, as logarithms: e^{-z} alone would overflow.
    positive, negative = g > 0, g < 0
    size = log(abs(g))
    gained = _from_the_end(where(positive, size, _LOG_OF_0) - out, dim)
    lost = _from_the_end(where(negative, size, _LOG_OF_0) - out, dim)
    return exp(gained + x) - exp(lost + x)


def _from_the_end(x: Value, dim: int) -> Value:
    dims = (dim,) if x.shape else ()
    return flip(logcumsumexp(flip(x, dims=dims), dim=dim), dims=dims)
