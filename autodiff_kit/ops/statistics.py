"""Variance, standard deviation and norms: how far elements are from their mean, or from 0.

After reading this file you know what PyTorch answers where the formula of school divides by 0: a
norm and a standard deviation of 0 have the gradient 0. Read next: ``shape.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import abs, isnan, sgn, zero_filled
from autodiff_kit.ops.reduction import keep, mean_all, mean_dim, share
from autodiff_kit.ops.table import op

__all__ = ["linalg_vector_norm", "std", "var"]

_add: Callable[..., Value] = np.add.reduce


def _freedom(shape: Ints, dim: Ints, correction: float) -> float:
    return math.prod([shape[i] for i in dim]) - correction


def _variance(x: Value, dim: Ints, correction: float, keepdim: bool) -> Value:
    wide = x.astype("float64")  # squares of what float32 can hold
    count = np.float64(_freedom(x.shape, dim, 0))
    squares = (wide - _add(wide, dim, keepdims=True) / count) ** 2
    return _add(squares, dim, keepdims=keepdim) / max(0 * count, count - correction)


@op("x.var(dim)", tex=r"\tfrac{1}{n-c} \textstyle\sum_i (x_i - \bar x)^2", layout="rows")
def var(x: Value, *, dim: Ints, correction: float = 1, keepdim: bool = False) -> Value:
    """Average the squared distances from the mean; ``correction`` counts for fewer elements."""
    return _variance(x, dim, correction, keepdim).astype(x.dtype)


@var.vjp("x", tex=r"\bar z \odot \tfrac{2}{n-c} (x - \bar x)")
def _(g: Value, x: Value, dim: Ints, correction: float, keepdim: bool) -> Value:
    return _of_variance(g, x, dim, correction, keepdim)


def _of_variance(g: Value, x: Value, dim: Ints, correction: float, keepdim: bool) -> Value:
    free = _freedom(x.shape, dim, correction)
    if not x.shape and free <= 0:
        own = getattr(x, "_array", x)
        return g * (math.nan if own == own else math.inf)  # to PyTorch, no function of x
    if not keepdim and len(dim) == x.ndim:  # of all elements: one number for each
        mean = mean_all(x)
    else:
        g, mean = keep(g, x.shape, dim, keepdim), mean_dim(x, dim=dim, keepdim=True)
    return g * (2 / free if free else math.inf) * (x - mean)


@op("x.std(dim)", tex=r"\sqrt{\tfrac{1}{n-c} \textstyle\sum_i (x_i - \bar x)^2}", layout="rows")
def std(x: Value, *, dim: Ints, correction: float = 1, keepdim: bool = False) -> Value:
    """Return the root of the variance."""
    return np.sqrt(_variance(x, dim, correction, keepdim)).astype(x.dtype)


@std.vjp("x", tex=r"\bar z \odot (x - \bar x) / ((n-c) z)")
def _(g: Value, out: Value, x: Value, dim: Ints, correction: float, keepdim: bool) -> Value:
    g = zero_filled(g / (out * 2), out != 0)
    return _of_variance(g, x, dim, correction, keepdim)


@op("x.norm(ord, dim)", tex=r"(\textstyle\sum_i |x_i|^p)^{1/p}", layout="rows")
def linalg_vector_norm(x: Value, *, ord: float, dim: Ints, keepdim: bool = False) -> Value:
    """Return the length of x along dimensions; the largest element for p = inf.

    Source: school mathematics; ord = 0 counts the elements that are not 0.
    """
    size = np.abs(x)
    if ord == 0:
        return np.sum(x != 0, dim, dtype=x.dtype, keepdims=keepdim)
    if ord in (math.inf, -math.inf):
        return (np.max if ord > 0 else np.min)(size, dim, keepdims=keepdim)
    if ord == 1 or math.prod(x.shape[d] for d in dim) == 1:  # one element: no power overflows
        return np.sum(size, dim, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(np.sum(x * x, dim, keepdims=keepdim))
    return np.sum(size**ord, dim, keepdims=keepdim) ** x.dtype.type(1 / ord)


@linalg_vector_norm.vjp("x", tex=r"\bar z \odot \operatorname{sign}(x) (|x| / z)^{p-1}")
def _(g: Value, out: Value, x: Value, ord: float, dim: Ints, keepdim: bool) -> Value:
    if ord == 0:
        return None  # a count has no slope: as in PyTorch, there is no gradient at all
    if out.shape:  # else the one number broadcasts
        g, out = keep(g, x.shape, dim, keepdim), keep(out, x.shape, dim, keepdim)
    if ord == 1:
        return sgn(x) * g
    if ord == 2:
        return g * zero_filled(x / out, out != 0)
    if ord in (math.inf, -math.inf):
        return sgn(x) * share(g, (abs(x) == out) | isnan(x), dim=dim)
    if ord < 1:
        return sgn(x) * zero_filled(abs(x) ** (ord - 1), x != 0) * g * out ** (1 - ord)
    towards = sgn(x) * abs(x) ** (ord - 1) if ord < 2 else x * abs(x) ** (ord - 2)
    return towards * zero_filled(g / out ** (ord - 1), out != 0)
