"""Elements by their rank: medians, the k-th smallest, the commonest; and pairs of results.

After reading this file you know that the gradient goes to the element that was chosen. Read next:
``counting.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops import checks
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.choosing import commonest, kth, replace_ties
from autodiff_kit.ops.elementwise import isnan, masked
from autodiff_kit.ops.gathering import scatter
from autodiff_kit.ops.layouts import scalar_if_0d, zeros
from autodiff_kit.ops.reduction import amax, amin, keep, mean_dim, shared_by, spread
from autodiff_kit.ops.shape import unsqueeze
from autodiff_kit.ops.statistics import linalg_vector_norm, std, var
from autodiff_kit.ops.table import op

__all__ = ["aminmax", "dist", "kthvalue", "median_all", "median_dim", "mode", "nanmedian_all"]
__all__ += ["nanmedian_dim", "nansum", "std_mean", "var_mean"]

_no_bool = checks.refuse("median_out", "b")


def _no_bool_elements(x: Any) -> None:
    if x.size:
        checks.refuse("median_cpu", "b")(x)


def _middle(x: Value, ignores_nan: bool) -> Value:
    """Return the lower of the middle elements; nan if there is one that is not ignored."""
    flat = np.sort(x, None)  # nan is the largest
    valid = int((~np.isnan(flat)).sum()) if flat.dtype.kind == "f" else flat.size
    if not flat.size or (valid < flat.size and not ignores_nan) or not valid:
        return scalar_if_0d(np.asarray(np.nan).astype(x.dtype))
    return flat[(valid - 1) // 2]


@op(
    "x.median()",
    tex=r"\operatorname{median} x",
    node="MedianBackward0",
    type_check=_no_bool_elements,
)
def median_all(x: Value) -> Value:
    """Return the element in the middle, the lower one of two; equal ones share the gradient."""
    return _middle(x, ignores_nan=False)


@op(
    "x.nanmedian()",
    tex=r"\operatorname{median} x",
    node="NanmedianBackward0",
    type_check=_no_bool_elements,
)
def nanmedian_all(x: Value) -> Value:
    """Return the element in the middle of those that are not nan."""
    return _middle(x, ignores_nan=True)


for _median in (median_all, nanmedian_all):

    @_median.vjp("x", tex=r"\bar z\,[x_i = z] / \#\{j : x_j = z\}")
    def _(g: Value, out: Value, x: Value) -> Value:
        winners = (x == out) | (isnan(x) & isnan(out))
        return shared_by(g, winners)


def _ranked(x: Value, dim: int, keepdim: bool, rank: Any) -> tuple[Value, Value]:
    """Return the elements of one rank, or of ranks, along a dimension, and where they are."""
    if not x.ndim:
        return x.copy(), np.int64(0)
    order = np.argsort(x, dim, kind="stable")
    if not np.ndim(rank):
        rank = np.full([1 if i == dim else n for i, n in enumerate(x.shape)], rank)
    places = np.take_along_axis(order, rank, dim)
    values = np.take_along_axis(x, places, dim)
    return (values, places) if keepdim else (values.squeeze(dim)[()], places.squeeze(dim)[()])


@op("x.kthvalue(k, dim)", tex=r"x_{(k)}", by_products=("indices",), layout="rows")
def kthvalue(x: Value, *, k: int, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the k-th smallest elements along a dimension, counted from 1, and where they are."""
    if not 1 <= k <= (x.shape[dim] if x.ndim else 1):
        raise error("reductions.kthvalue_range", dim=dim)
    if x.ndim and x.dtype == bool:
        raise error("dtypes.bool_kernel", kernel="kthvalue_cpu")
    if not x.ndim:
        return x.copy(), np.int64(0)
    _, places = _ranked(x, dim, True, k - 1)
    replace_ties(x, places, dim, partial(kth, k=k - 1))
    values = np.take_along_axis(x, places, dim)
    return (values, places) if keepdim else (values.squeeze(dim)[()], places.squeeze(dim)[()])


def _rank_of_middle(x: Value, dim: int, ignores_nan: bool) -> Value:
    if not x.ndim or x.dtype.kind != "f":
        return (max(x.shape[dim] if x.ndim else 1, 1) - 1) // 2
    valid = (~np.isnan(x)).sum(dim, keepdims=True)
    if ignores_nan:
        return np.maximum(valid - 1, 0) // 2
    whole = x.shape[dim]
    return np.where(valid == whole, (whole - 1) // 2, valid)  # the first nan


@op(
    "x.median(dim)",
    tex=r"\operatorname{median} x",
    node="MedianBackward1",
    by_products=("indices",),
    layout="rows",
    type_check=_no_bool,
)
def median_dim(x: Value, *, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the elements in the middle along a dimension, and where they are."""
    return _ranked(x, dim, keepdim, _rank_of_middle(x, dim, ignores_nan=False))


@op(
    "x.nanmedian(dim)",
    tex=r"\operatorname{median} x",
    node="NanmedianBackward1",
    by_products=("indices",),
    layout="rows",
    type_check=_no_bool,
)
def nanmedian_dim(x: Value, *, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the elements in the middle of those that are not nan, and where they are."""
    return _ranked(x, dim, keepdim, _rank_of_middle(x, dim, ignores_nan=True))


@op("x.mode(dim)", tex=r"\operatorname{mode} x", by_products=("indices",), layout="rows")
def mode(x: Value, *, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """Return the commonest elements along a dimension, the smallest of them, and a place of it."""
    if not x.ndim:
        return x.copy(), np.int64(0)
    rows = np.moveaxis(x, dim, -1)
    shape = rows.shape[:-1]
    values, places = np.empty(shape, x.dtype), np.empty(shape, "int64")
    for i in np.ndindex(*shape):
        places[i] = commonest(rows[i].tolist())
        values[i] = rows[i][places[i]]
    if keepdim:
        return np.expand_dims(values, dim), np.expand_dims(places, dim)
    return values[()], places[()]


for _choosing in (kthvalue, median_dim, nanmedian_dim, mode):

    @_choosing.vjp("x", tex=r"\bar z\,[i = \arg z]")
    def _(g: Value, indices: Value, x_shape: Ints, dim: int, keepdim: bool) -> Value:
        if not x_shape:
            return masked(g, np.True_)  # not g itself, which may be the argument of ``backward``
        if not keepdim:
            g, indices = unsqueeze(g, dim=dim), unsqueeze(indices, dim=dim)
        return scatter(zeros(g, x_shape), indices, g, dim=dim)


@op("x.nansum(dim)", tex=r"\textstyle\sum_{x_i \ne \mathrm{nan}} x_i", layout="rows")
def nansum(x: Value, *, dim: Ints, keepdim: bool = False) -> Value:
    """Add up along dimensions; nan counts as 0."""
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype("int64")
    return np.nansum(x, dim, dtype=dtype, keepdims=keepdim)


@nansum.vjp("x", tex=r"\bar z\,[x \ne \mathrm{nan}]")
def _(g: Value, x: Value, dim: Ints, keepdim: bool) -> Value:
    return masked(spread(keep(g, x.shape, dim, keepdim), x.shape), ~isnan(x))


@op("(x - y).norm(p)", tex=r"\|x - y\|_p", node="DistBackward0")
def dist(x: Value, y: Value, *, p: float) -> Value:
    """Return the length of the difference of two tensors."""
    apart = x - y
    return linalg_vector_norm.op.forward(apart, ord=p, dim=tuple(range(apart.ndim)))


def _towards(g: Value, x: Value, y: Value, out: Value, p: float) -> Value:
    apart = x - y
    slope = linalg_vector_norm.op.rules["x"].function
    return slope(g, out, apart, p, tuple(range(len(apart.shape))), False)


@dist.vjp("x", tex=r"\bar z\,\partial z / \partial (x - y)")
def _(g: Value, x: Value, y: Value, out: Value, p: float) -> Value:
    return _towards(g, x, y, out, p)


@dist.vjp("y", tex=r"-\bar z\,\partial z / \partial (x - y)")
def _(g: Value, x: Value, y: Value, out: Value, p: float) -> Value:
    back = _towards(g, x, y, out, p)
    return back if back is None else -back


# -- two results of one operation -----------------------------------------------------------------


def _of_results(g: Any, rules: Sequence[Callable[[Value], Value]]) -> Value:
    """Add up what the gradients of the results contribute, each by its rule."""
    parts = [rule(g[i]) for i, rule in enumerate(rules) if g.get(i) is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _rows(*results: Value) -> tuple[Value, ...]:
    return tuple(one if one.flags.c_contiguous else one.copy() for one in results)


@op("aminmax(x)", tex=r"\min x, \max x", several=True, by_products=("min", "max"))
def aminmax(x: Value, *, dim: Ints, keepdim: bool = False) -> tuple[Value, ...]:
    """Return the smallest and the largest elements."""
    return _rows(*(one.op.forward(x, dim=dim, keepdim=keepdim) for one in (amin, amax)))


@aminmax.vjp("x", tex=r"\sum_m \bar m\,[x_i = m] / \#\{j : x_j = m\}")
def _(g: Any, x: Value, max: Value, min: Value, dim: Ints, keepdim: bool) -> Value:
    def rule_of(extreme: Value) -> Callable[[Value], Value]:
        return lambda g: amin.op.rules["x"].function(g, extreme, x, dim, keepdim)

    return _of_results(g, [rule_of(min), rule_of(max)])


@op("std_mean(x)", tex=r"\sigma, \bar x", several=True, by_products=("result0", "result1"))
def std_mean(
    x: Value, *, dim: Ints, correction: float = 1, keepdim: bool = False
) -> tuple[Value, ...]:
    """Return the standard deviation and the mean."""
    deviation = std.op.forward(x, dim=dim, correction=correction, keepdim=keepdim)
    return _rows(deviation, mean_dim.op.forward(x, dim=dim, keepdim=keepdim))


@std_mean.vjp("x", tex=r"\bar s \odot (x - \bar x) / ((n-c) s) + \bar m\,\mathbf 1 / n")
def _(g: Any, x: Value, result0: Value, dim: Ints, correction: float, keepdim: bool) -> Value:
    of_deviation, of_mean = (one.op.rules["x"].function for one in (std, mean_dim))
    rules = [
        lambda g: of_deviation(g, result0, x, dim, correction, keepdim),
        lambda g: of_mean(g, x.shape, dim, keepdim),
    ]
    return _of_results(g, rules)


@op("var_mean(x)", tex=r"\sigma^2, \bar x", several=True)
def var_mean(
    x: Value, *, dim: Ints, correction: float = 1, keepdim: bool = False
) -> tuple[Value, ...]:
    """Return the variance and the mean."""
    variance = var.op.forward(x, dim=dim, correction=correction, keepdim=keepdim)
    return _rows(variance, mean_dim.op.forward(x, dim=dim, keepdim=keepdim))


@var_mean.vjp("x", tex=r"\bar v \odot \tfrac{2}{n-c} (x - \bar x) + \bar m\,\mathbf 1 / n")
def _(g: Any, x: Value, dim: Ints, correction: float, keepdim: bool) -> Value:
    of_variance, of_mean = (one.op.rules["x"].function for one in (var, mean_dim))
    rules = [
        lambda g: of_variance(g, x, dim, correction, keepdim),
        lambda g: of_mean(g, x.shape, dim, keepdim),
    ]
    return _of_results(g, rules)
