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
from autodiff_kit.ops.elementwise import abs, exp, log, where
from autodiff_kit.ops.gathering import scatter_add
from autodiff_kit.ops.layouts import zeros
from autodiff_kit.ops.reduction import cumsum, prod_dim, sum_dim
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

    Source: PyTorch's ``cumprod_backward``, which shows where factors are 0 and others inf or nan.
    """
    count = x.shape[dim] if x.shape else 1
    if count < 2 or not x.shape:
        return g
    if np.all(getattr(x, "_array", x)):
        return _from_the_end(out * g, dim, cumsum) / x
    if isinstance(x, ARRAYS):
        return _share_beside_zeros(g, x, out, dim)

    def part(v: Value, start: int, end: int = count) -> Value:
        return slice_dim(v, dim=dim, start=start, end=end, step=1)

    shares = []
    for i in range(count):  # everything without factor i, from there on
        before = prod_dim(part(x, 0, i), dim=dim, keepdim=True)
        after = cumprod(part(x, i + 1), dim=dim)
        others = cat(before, before * after if i else after, dim=dim)
        shares.append(sum_dim(part(g, i) * others, dim=(dim,)))
    return stack(*shares, dim=dim)


def _share_beside_zeros(g: Value, x: Value, out: Value, dim: int) -> Value:
    """Compute with arrays: up to the first 0 divided, at it from there to the next, then 0."""
    is_zero = x == 0
    zeros_so_far = np.cumsum(is_zero, dim)
    is_before, is_first = zeros_so_far == 0, is_zero & (zeros_so_far == 1)
    up_to_it = _from_the_end(np.where(is_before, out * g, 0), dim, cumsum) / x
    behind = np.where((zeros_so_far == 1) & ~is_zero, x, 1)
    sums = np.cumprod(behind, dim) * np.where(zeros_so_far == 1, g, 0)
    before = cat(np.ones_like(out.take([0], dim)), out.take(range(x.shape[dim] - 1), dim), dim=dim)
    at_it = before * np.sum(sums, dim, keepdims=True)
    return np.where(is_before, up_to_it, np.where(is_first, at_it, x.dtype.type(0)))


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
    def _(g: Value, x: Value, indices: Value, dim: int) -> Value:
        # PyTorch saves x, too, though only its shape is needed.
        return scatter_add(zeros(g, x.shape), indices, g, dim=dim)


@op(
    "x.logcumsumexp(dim)",
    tex=r"\ln \textstyle\sum_{j \le i} e^{x_j}",
    type_check=checks.refuse("logcumsumexp_out_cpu"),
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
    plus = _from_the_end(where(positive, size, _LOG_OF_0) - out, dim, logcumsumexp)
    minus = _from_the_end(where(negative, size, _LOG_OF_0) - out, dim, logcumsumexp)
    return exp(plus + x) - exp(minus + x)


def _from_the_end(x: Value, dim: int, scan: Any) -> Value:
    dims = (dim,) if x.shape else ()
    return flip(scan(flip(x, dims=dims), dim=dim), dims=dims)
