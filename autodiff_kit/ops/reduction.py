"""Reductions: sums, means, products and extremes, of all elements or along dimensions.

After reading this file you know why a sum's gradient is a copy for every element, and who gets
the gradient when two elements share the maximum. Read next: ``shape.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.ops.elementwise import where
from autodiff_kit.ops.shape import expand, reshape, unsqueeze
from autodiff_kit.ops.table import ARRAYS, op

__all__ = [
    "all_elements",
    "amax",
    "amin",
    "any_element",
    "argmax",
    "argmin",
    "max_all",
    "max_dim",
    "mean_all",
    "mean_dim",
    "min_all",
    "min_dim",
    "prod_all",
    "sum_all",
    "sum_dim",
]


def spread(g: Value, shape: tuple[int, ...]) -> Value:
    """Give every element its copy of a reduced gradient; arrays are filled, not viewed."""
    if isinstance(g, ARRAYS):
        out = np.empty(shape, g.dtype)  # half the time of np.broadcast_to on small arrays
        out[...] = g
        return out
    return expand(g, shape=shape)


def keep(g: Value, shape: tuple[int, ...], dim: tuple[int, ...], keepdim: bool) -> Value:
    """Put the reduced dimensions back as dimensions of size 1."""
    if keepdim:
        return g
    return reshape(g, shape=tuple(1 if i in dim else n for i, n in enumerate(shape)))


def _sum_type(x: Value) -> Any:
    return None if x.dtype.kind == "f" else np.dtype("int64")  # sums of ints and bools are int64


@op("x.sum()", tex=r"\textstyle\sum_i x_i", node="SumBackward0")
def sum_all(x: Value) -> Value:
    """Add up all elements."""
    return np.add.reduce(x, None, dtype=_sum_type(x))


@sum_all.vjp("x", tex=r"\bar z\,\mathbf 1")
def _(g: Value, x_shape: tuple[int, ...]) -> Value:
    return spread(g, x_shape)


@op("x.sum(dim)", tex=r"\textstyle\sum_{dim} x", node="SumBackward1")
def sum_dim(x: Value, *, dim: tuple[int, ...], keepdim: bool = False) -> Value:
    """Add up along dimensions."""
    return np.add.reduce(x, dim, dtype=_sum_type(x), keepdims=keepdim)


@sum_dim.vjp("x", tex=r"\bar z\,\mathbf 1")
def _(g: Value, x_shape: tuple[int, ...], dim: tuple[int, ...], keepdim: bool) -> Value:
    return spread(keep(g, x_shape, dim, keepdim), x_shape)


@op("x.mean()", tex=r"\tfrac1n \textstyle\sum_i x_i", node="MeanBackward0")
def mean_all(x: Value) -> Value:
    """Average all elements; nan if there are none."""
    return np.add.reduce(x, None) / x.dtype.type(x.size)


@mean_all.vjp("x", tex=r"\bar z\,\mathbf 1 / n")
def _(g: Value, x_shape: tuple[int, ...]) -> Value:
    return spread(g / max(1, int(np.prod(x_shape))), x_shape)


@op("x.mean(dim)", tex=r"\tfrac1n \textstyle\sum_{dim} x", node="MeanBackward1")
def mean_dim(x: Value, *, dim: tuple[int, ...], keepdim: bool = False) -> Value:
    """Average along dimensions."""
    count = x.dtype.type(_count(x.shape, dim))
    return np.add.reduce(x, dim, keepdims=keepdim) / count


@mean_dim.vjp("x", tex=r"\bar z\,\mathbf 1 / n")
def _(g: Value, x_shape: tuple[int, ...], dim: tuple[int, ...], keepdim: bool) -> Value:
    return spread(keep(g, x_shape, dim, keepdim) / max(1, _count(x_shape, dim)), x_shape)


def _count(shape: tuple[int, ...], dim: tuple[int, ...]) -> int:
    return int(np.prod([shape[i] for i in dim])) if shape else 1


@op("x.prod()", tex=r"\textstyle\prod_i x_i", node="ProdBackward0")
def prod_all(x: Value) -> Value:
    """Multiply all elements."""
    return np.multiply.reduce(x, None, dtype=_sum_type(x))


@prod_all.vjp("x", tex=r"\bar z \textstyle\prod_{j \ne i} x_j")
def _(g: Value, x: Value, x_shape: tuple[int, ...]) -> Value:
    # The product of the others, from both ends, is right where an element is 0; z / x is not.
    flat = reshape(x, shape=(-1,))
    count = flat.shape[0]
    before: list[Value] = [flat[:1] * 0 + 1]
    after: list[Value] = [flat[:1] * 0 + 1]
    for i in range(count - 1):
        before.append(before[-1] * flat[i : i + 1])
        after.append(after[-1] * flat[count - 1 - i : count - i])
    from autodiff_kit.ops.shape import cat

    others = cat(*before, dim=0) * cat(*after[::-1], dim=0)
    return reshape(others, shape=x_shape) * g


@op("x.max()", tex=r"\max_i x_i", node="MaxBackward1")
def max_all(x: Value) -> Value:
    """Return the largest element; equal ones share the gradient evenly."""
    return np.maximum.reduce(x, None)


@op("x.min()", tex=r"\min_i x_i", node="MinBackward1")
def min_all(x: Value) -> Value:
    """Return the smallest element; equal ones share the gradient evenly."""
    return np.minimum.reduce(x, None)


for _extreme in (max_all, min_all):

    @_extreme.vjp("x", tex=r"\bar z\,[x_i = z] / \#\{j : x_j = z\}")
    def _(g: Value, out: Value, x: Value) -> Value:
        winners = x == out
        return where(winners, spread(g / winners.sum(), x.shape), x * 0)


@op("x.amax(dim)", tex=r"\max_{dim} x")
def amax(x: Value, *, dim: tuple[int, ...], keepdim: bool = False) -> Value:
    """Return the largest elements along dimensions; equal ones share the gradient evenly."""
    return np.maximum.reduce(x, dim, keepdims=keepdim)


@op("x.amin(dim)", tex=r"\min_{dim} x")
def amin(x: Value, *, dim: tuple[int, ...], keepdim: bool = False) -> Value:
    """Return the smallest elements along dimensions; equal ones share the gradient evenly."""
    return np.minimum.reduce(x, dim, keepdims=keepdim)


for _extreme in (amax, amin):

    @_extreme.vjp("x", tex=r"\bar z\,[x_i = z] / \#\{j : x_j = z\}")
    def _(g: Value, out: Value, x: Value, dim: tuple[int, ...], keepdim: bool) -> Value:
        shape = x.shape
        winners = x == keep(out, shape, dim, keepdim)
        count = sum_dim(winners, dim=dim, keepdim=True)
        return where(winners, spread(keep(g, shape, dim, keepdim) / count, shape), x * 0)


@op("x.max(dim)", tex=r"\max_{dim} x", node="MaxBackward0", by_products=("indices",))
def max_dim(x: Value, *, dim: int, keepdim: bool = False) -> Any:
    """Return the largest elements along a dimension and where they are (the first, at a tie)."""
    indices = np.argmax(x, dim, keepdims=True)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim)[()], indices.squeeze(dim)[()])


@op("x.min(dim)", tex=r"\min_{dim} x", node="MinBackward0", by_products=("indices",))
def min_dim(x: Value, *, dim: int, keepdim: bool = False) -> Any:
    """Return the smallest elements along a dimension and where they are (the first, at a tie)."""
    indices = np.argmin(x, dim, keepdims=True)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim)[()], indices.squeeze(dim)[()])


for _extreme in (max_dim, min_dim):

    @_extreme.vjp("x", tex=r"\bar z\,[i = \arg z]")
    def _(g: Value, indices: Any, x_shape: tuple[int, ...], dim: int, keepdim: bool) -> Value:
        if not keepdim:
            g, indices = unsqueeze(g, dim=dim), np.expand_dims(indices, dim)
        positions = np.arange(x_shape[dim]).reshape(
            [-1 if i == dim else 1 for i in range(len(x_shape))]
        )
        hit = positions == indices
        if isinstance(g, np.ndarray):
            return where(hit, g, g * 0)
        from autodiff_kit.tensor import wrap

        return where(wrap(hit), g, g * 0)


@op("x.argmax(dim)", tex=r"\arg\max x")
def argmax(x: Value, *, dim: int | None = None, keepdim: bool = False) -> Value:
    """Return where the largest element is (the first, at a tie)."""
    return np.argmax(x, dim, keepdims=keepdim)


@op("x.argmin(dim)", tex=r"\arg\min x")
def argmin(x: Value, *, dim: int | None = None, keepdim: bool = False) -> Value:
    """Return where the smallest element is (the first, at a tie)."""
    return np.argmin(x, dim, keepdims=keepdim)


@op("x.all(dim)")
def all_elements(x: Value, *, dim: Any = None, keepdim: bool = False) -> Value:
    """Tell whether no element is zero or false."""
    return np.all(x, dim, keepdims=keepdim)


@op("x.any(dim)")
def any_element(x: Value, *, dim: Any = None, keepdim: bool = False) -> Value:
    """Tell whether some element is not zero or false."""
    return np.any(x, dim, keepdims=keepdim)
