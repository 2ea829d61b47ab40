"""Reductions: sums, means, products and extremes, of all elements or along dimensions.

After reading this file you know why a sum's gradient is a copy for every element, and who gets
the gradient when two elements share the maximum. Read next: ``statistics.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import masked
from autodiff_kit.ops.gathering import check_bounds, masked_fill_tensor, scatter
from autodiff_kit.ops.layouts import zeros
from autodiff_kit.ops.shape import (
    cat,
    expand,
    flip,
    ones,
    reshape,
    stack,
    transpose,
    unsqueeze,
    unsqueeze_each,
)
from autodiff_kit.ops.table import op, vjp

__all__ = ["all_elements", "amax", "amin", "any_element", "argmax", "argmin", "cumsum", "mark"]
__all__ += ["max_all", "max_dim", "mean_all", "mean_dim", "min_all", "min_dim", "prod_all"]
__all__ += ["prod_dim", "share", "sum_all", "sum_dim"]


# The reductions themselves: np.sum and the like cost three times as much on small arrays.
_add: Callable[..., Value] = np.add.reduce
_multiply: Callable[..., Value] = np.multiply.reduce
_maximum: Callable[..., Value] = np.maximum.reduce
_minimum: Callable[..., Value] = np.minimum.reduce


def spread(g: Value, shape: Ints) -> Value:
    """Give every element its copy of a reduced gradient; arrays are filled, not viewed."""
    if isinstance(g, ARRAYS):
        out = np.empty(shape, g.dtype)  # half the time of np.broadcast_to on small arrays
        out[...] = g
        return out
    return expand(g, shape=shape)


def shared_out(g: Value, shape: Ints, count: int) -> Value:
    """Give every element its share of the gradient of a mean."""
    if hasattr(g, "_array"):
        return expand(g, shape=shape) / max(1, count)
    return spread(g / max(1, count), shape)  # one division for all


def shared_by(g: Value, winners: Value) -> Value:
    """Give each of the winners among all elements the same part of a gradient, the others 0."""
    if isinstance(g, ARRAYS):
        everywhere = tuple(range(winners.ndim))
        return masked(share(spread(g, winners.shape), winners, dim=everywhere), winners)
    count = wrap(np.count_nonzero(winners._array) * g._array.dtype.type(1))
    return masked_fill_tensor(zeros(g, winners.shape), winners, g / count)


def repeated(g: Value, shape: Ints) -> Value:
    """Give every element of a sum its copy of the gradient, as a view, as PyTorch does."""
    if isinstance(g, ARRAYS) and g.size == 1:  # a sixth of the time of np.broadcast_to
        return np.ndarray(shape, g.dtype, np.asarray(g), 0, (0,) * len(shape))
    return expand(g, shape=shape)


def keep(g: Value, shape: Ints, dim: Ints, keepdim: bool) -> Value:
    """Put the reduced dimensions back as dimensions of size 1."""
    if keepdim:
        return g
    if not isinstance(g, ARRAYS):
        return unsqueeze_each(g, dim if shape else ())
    return reshape(g, shape=tuple(1 if i in dim else n for i, n in enumerate(shape)))


def _sum_type(x: Value) -> Any:
    return None if x.dtype.kind == "f" else np.dtype("int64")  # sums of ints and bools are int64


@op("x.sum()", tex=r"\textstyle\sum_i x_i", node="SumBackward0")
@vjp("x", lambda g, x_shape: repeated(g, x_shape), tex=r"\bar z\,\mathbf 1")
def sum_all(x: Value) -> Value:
    """Add up all elements."""
    return _add(x, None) if x.dtype.kind == "f" else _add(x, None, dtype="int64")


@op("x.sum(dim)", tex=r"\textstyle\sum_{dim} x", node="SumBackward1", layout="rows")
def sum_dim(x: Value, *, dim: Ints, keepdim: bool = False) -> Value:
    """Add up along dimensions."""
    if dim in ((1,), (-1,)) and x.ndim == 2 and x.dtype.kind == "f" and x.shape[1] <= 4096:
        out = x.dot(ones(x.shape[1], x.dtype))  # a quarter of the time where rows are short
        return out[:, None] if keepdim else out
    return _add(x, dim, dtype=_sum_type(x), keepdims=keepdim)


@sum_dim.vjp("x", tex=r"\bar z\,\mathbf 1")
def _(g: Value, x_shape: Ints, dim: Ints, keepdim: bool) -> Value:
    return repeated(keep(g, x_shape, dim, keepdim), x_shape)


@op("x.cumsum(dim)", tex=r"\textstyle\sum_{j \le i} x_j", layout="rows")
def cumsum(x: Value, *, dim: int) -> Value:
    """Add up along a dimension, and return every sum on the way."""
    if not x.ndim:
        return _add(x, None, dtype=_sum_type(x))
    out = np.cumsum(x, dim, dtype=_sum_type(x))
    out += 0  # where NumPy begins with the first element: a sum that begins with 0 is never -0
    return out


@cumsum.vjp("x", tex=r"\textstyle\sum_{j \ge i} \bar z_j")
def _(g: Value, dim: int) -> Value:
    if math.prod(g.shape) <= 1 or g.shape[dim] == 1:
        return g
    dims = (dim,)
    return flip(cumsum(flip(g, dims=dims), dim=dim), dims=dims)


@op("x.mean()", tex=r"\tfrac1n \textstyle\sum_i x_i", node="MeanBackward0")
def mean_all(x: Value) -> Value:
    """Average all elements; nan if there are none."""
    return _add(x, None) / x.dtype.type(x.size)


@mean_all.vjp("x", tex=r"\bar z\,\mathbf 1 / n")
def _(g: Value, x_shape: Ints) -> Value:
    return shared_out(g, x_shape, math.prod(x_shape))


@op("x.mean(dim)", tex=r"\tfrac1n \textstyle\sum_{dim} x", node="MeanBackward1", layout="rows")
def mean_dim(x: Value, *, dim: Ints, keepdim: bool = False) -> Value:
    """Average along dimensions."""
    count = x.dtype.type(_count(x.shape, dim))
    return _add(x, dim, keepdims=keepdim) / count


@mean_dim.vjp("x", tex=r"\bar z\,\mathbf 1 / n")
def _(g: Value, x_shape: Ints, dim: Ints, keepdim: bool) -> Value:
    return shared_out(keep(g, x_shape, dim, keepdim), x_shape, _count(x_shape, dim))


def _count(shape: Ints, dim: Ints) -> int:
    return math.prod([shape[i] for i in dim]) if shape else 1


@op("x.prod()", tex=r"\textstyle\prod_i x_i", node="ProdBackward0")
def prod_all(x: Value) -> Value:
    """Multiply all elements."""
    return _multiply(x, None, dtype=_sum_type(x))


@prod_all.vjp("x", tex=r"\bar z \textstyle\prod_{j \ne i} x_j")
def _(g: Value, out: Value, x: Value) -> Value:
    if x.ndim == 0:
        return g
    if _has_no_zero(x):
        return g * (out / x)
    if math.prod(x.shape) == 1:  # of a Tensor, size is a method
        return reshape(g, shape=x.shape)
    return g * reshape(products_of_others(reshape(x, shape=(-1,))), shape=x.shape)


@op("x.prod(dim)", tex=r"\textstyle\prod_{dim} x", node="ProdBackward1", layout="rows")
def prod_dim(x: Value, *, dim: int, keepdim: bool = False) -> Value:
    """Multiply along a dimension."""
    if x.ndim == 0:
        return x.copy() if x.dtype.kind == "f" else np.int64(x)
    return _multiply(x, dim, dtype=_sum_type(x), keepdims=keepdim)


@prod_dim.vjp("x", tex=r"\bar z \textstyle\prod_{j \ne i} x_j")
def _(g: Value, out: Value, x: Value, dim: int, keepdim: bool) -> Value:
    if x.ndim == 0:
        return g
    g = keep(g, x.shape, (dim,), keepdim)
    if _has_no_zero(x):
        return g * (keep(out, x.shape, (dim,), keepdim) / x)
    if x.shape[dim] == 1:
        return g
    last = x.ndim - 1
    others = products_of_others(transpose(x, dim0=dim, dim1=last))
    return g * transpose(others, dim0=dim, dim1=last)


def _has_no_zero(x: Value) -> bool:
    """Return whether the product divided by an element is the product of the others."""
    return bool(np.all(getattr(x, "_array", x)))


def products_of_others(x: Value) -> Value:
    """For every element, multiply all other ones along the last dimension.

    Right where an element is 0, as ``product / x`` is not. Multiply neighbours in pairs; what
    the others of a pair give, times the neighbour, is the answer for an element: as many steps
    as the length can be halved.
    """
    count = x.shape[-1]
    if count < 2:
        return x**0
    pairs = count // 2
    left, right = x[..., 0 : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2]
    both = left * right
    if count % 2:
        both = cat(both, x[..., -1:], dim=x.ndim - 1)
    others = products_of_others(both)
    of_pairs = others[..., :pairs]
    mixed = stack(of_pairs * right, of_pairs * left, dim=x.ndim)
    result = reshape(mixed, shape=(*x.shape[:-1], 2 * pairs))
    return cat(result, others[..., pairs:], dim=x.ndim - 1) if count % 2 else result


@op("x.max()", tex=r"\max_i x_i", node="MaxBackward1")
def max_all(x: Value) -> Value:
    """Return the largest element; equal ones share the gradient evenly."""
    return _maximum(x, None)


@op("x.min()", tex=r"\min_i x_i", node="MinBackward1")
def min_all(x: Value) -> Value:
    """Return the smallest element; equal ones share the gradient evenly."""
    return _minimum(x, None)


for _extreme in (max_all, min_all):

    @_extreme.vjp("x", tex=r"\bar z\,[x_i = z] / \#\{j : x_j = z\}")
    def _(g: Value, out: Value, x: Value) -> Value:
        winners = (x == out) | ((x != x) & (out != out))  # nan is the largest and the smallest
        return shared_by(g, winners)


@op("x.amax(dim)", tex=r"\max_{dim} x", layout="rows")
def amax(x: Value, *, dim: Ints, keepdim: bool = False) -> Value:
    """Return the largest elements along dimensions; equal ones share the gradient evenly."""
    return _maximum(x, dim, keepdims=keepdim)


@op("x.amin(dim)", tex=r"\min_{dim} x", layout="rows")
def amin(x: Value, *, dim: Ints, keepdim: bool = False) -> Value:
    """Return the smallest elements along dimensions; equal ones share the gradient evenly."""
    return _minimum(x, dim, keepdims=keepdim)


for _extreme in (amax, amin):

    @_extreme.vjp("x", tex=r"\bar z\,[x_i = z] / \#\{j : x_j = z\}")
    def _(g: Value, out: Value, x: Value, dim: Ints, keepdim: bool) -> Value:
        sizes = tuple(1 if i in dim else n for i, n in enumerate(x.shape))
        winners = x == reshape(out, shape=sizes)
        return share(g if keepdim else reshape(g, shape=sizes), winners, dim=dim)


def _shared(x: Value, winners: Value, *, dim: Ints) -> Value:
    counts = _add(winners._array, dim, dtype=x._array.dtype, keepdims=True)
    return x / wrap(counts) * winners


@op(
    "x / count(winners) * winners",
    tex=r"x\,w / \textstyle\sum w",
    dtypes="any",
    made_of=_shared,
)
@vjp("x", lambda g, winners, dim: share(g, winners, dim=dim), tex=r"\bar z\,w / \textstyle\sum w")
def share(x: Value, winners: Value, *, dim: Ints) -> Value:
    """Divide x evenly among the winners along dimensions; the others get 0."""
    return x / _add(winners, dim, dtype=x.dtype, keepdims=True) * winners


@op("x.max(dim)", tex=r"\max_{dim} x", node="MaxBackward0", by_products=("indices",))
def max_dim(x: Value, *, dim: int, keepdim: bool = False) -> Any:
    """Return the largest elements along a dimension and where they are (the first, at a tie)."""
    return _pick(x, np.argmax, dim, keepdim)


@op("x.min(dim)", tex=r"\min_{dim} x", node="MinBackward0", by_products=("indices",))
def min_dim(x: Value, *, dim: int, keepdim: bool = False) -> Any:
    """Return the smallest elements along a dimension and where they are (the first, at a tie)."""
    return _pick(x, np.argmin, dim, keepdim)


def _pick(x: Value, choose: Callable[..., Value], dim: int, keepdim: bool) -> tuple[Value, Value]:
    if x.ndim == 0:
        return x.copy(), np.int64(0)
    indices = choose(x, dim, keepdims=True)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim)[()], indices.squeeze(dim)[()])


for _extreme in (max_dim, min_dim):

    @_extreme.vjp("x", tex=r"\bar z\,[i = \arg z]")
    def _(g: Value, indices: Value, x_shape: Ints, dim: int, keepdim: bool) -> Value:
        if not x_shape:
            return masked(g, np.True_)  # not g itself, which may be the argument of ``backward``
        if not keepdim:
            g, indices = unsqueeze(g, dim=dim), unsqueeze(indices, dim=dim)
        if not isinstance(g, ARRAYS):
            return scatter(zeros(g, x_shape), indices, g, dim=dim)
        return masked(g, mark(indices, dim=dim, size=x_shape[dim]))


@op("mark(x, dim, size)", layout="rows")
def mark(x: Value, *, dim: int, size: int) -> Value:
    """Tell of each position along a dimension of this size whether the index in ``x`` names it."""
    shape = [size if i == dim else 1 for i in range(x.ndim)]
    marks = x == np.arange(size).reshape(shape)
    if np.count_nonzero(marks) != x.size:
        check_bounds(x, dim, size)
    return marks


@op("x.argmax(dim)", tex=r"\arg\max x", layout="rows")
def argmax(x: Value, *, dim: int | None = None, keepdim: bool = False) -> Value:
    """Return where the largest element is (the first, at a tie)."""
    return np.argmax(x, dim if x.ndim else None, keepdims=keepdim)


@op("x.argmin(dim)", tex=r"\arg\min x", layout="rows")
def argmin(x: Value, *, dim: int | None = None, keepdim: bool = False) -> Value:
    """Return where the smallest element is (the first, at a tie)."""
    return np.argmin(x, dim if x.ndim else None, keepdims=keepdim)


@op("x.all(dim)", layout="rows")
def all_elements(x: Value, *, dim: Any = None, keepdim: bool = False) -> Value:
    """Tell whether no element is zero or false."""
    return _answer(x, np.all(x, dim, keepdims=keepdim))


@op("x.any(dim)", layout="rows")
def any_element(x: Value, *, dim: Any = None, keepdim: bool = False) -> Value:
    """Tell whether some element is not zero or false."""
    return _answer(x, np.any(x, dim, keepdims=keepdim))


def _answer(x: Value, answers: Value) -> Value:
    return answers.astype(x.dtype) if x.dtype == np.uint8 else answers  # PyTorch's old masks
