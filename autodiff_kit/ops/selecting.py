"""More ways to take elements out and to put them back, along a dimension or anywhere.

After reading this file you know the rule of each putting: what was overwritten gets no gradient any
more, what was put in its place gets it all. Read next: ``ordering.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import masked, to_copy, where, zero_filled
from autodiff_kit.ops.gathering import (
    gather,
    index_select,
    masked_select,
    places_along,
    scatter_add,
    scatter_value,
)
from autodiff_kit.ops.indexing import index_backward, pick
from autodiff_kit.ops.layouts import scalar_if_0d, zeros
from autodiff_kit.ops.reduction import sum_all
from autodiff_kit.ops.shape import reshape, slice_backward
from autodiff_kit.ops.table import op, vjp

__all__ = ["index_copy", "index_fill", "index_fill_tensor", "index_put_add", "masked_scatter_from"]
__all__ += ["scatter_reduce", "take"]


@op("take(x, index)", tex=r"x_I", dtypes="any", saved_as={"y": "index"}, layout="rows")
def take(x: Value, index: Value) -> Value:
    """Take elements by their numbers, counted row by row."""
    if index.dtype != "int64":
        raise error("indexing.take_dtype", kind=tensor_type(index.dtype))
    if index.size and not x.size:
        raise error("indexing.take_of_nothing")
    if index.size and not -x.size <= index.min() <= index.max() < x.size:
        wrong = index[(index < -x.size) | (index >= x.size)] if index.ndim else index
        raise error("indexing.take_range", index=np.ravel(wrong)[0], size=x.size)
    return np.take(x, index)


@take.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, index: Value, x_shape: Ints) -> Value:
    numbers = getattr(index, "_array", index)
    return reshape(
        index_backward(g, shape=(math.prod(x_shape),), indices=(numbers,)), shape=x_shape
    )


# -- whole entries along a dimension: index is a vector -------------------------------------------


def _entries(x: Value, index: Value, dim: int) -> Any:
    """Return the index of the entries along a dimension that a vector of numbers names."""
    size = x.shape[dim] if x.ndim else 1
    if index.ndim > 1:
        raise error("indexing.filled_index_ndim")
    if index.size and not -size <= index.min() <= index.max() < size:
        wrong = index[(index < -size) | (index >= size)] if index.ndim else index
        raise error(
            "indexing.out_of_bounds", index=np.ravel(wrong)[0], dim=dim, size=size, last=size - 1
        )
    return (slice(None),) * dim + (np.atleast_1d(index),)


def _filled(x: Value, index: Value, dim: int, value: Any) -> Value:
    out = np.array(x, ndmin=1)
    out[_entries(x, index, dim)] = value
    return scalar_if_0d(out.reshape(x.shape))


def _checked_empty(x: Value, index: Value, dim: int) -> Value:
    """Return a copy of what has no elements; PyTorch looks at an index only to write there."""
    sizes = [*x.shape[:dim], index.size, *x.shape[dim + 1 :]]
    strides = [math.prod(max(n, 1) for n in x.shape[i + 1 :]) for i in range(x.ndim)]
    strides[dim] = 0
    if math.prod(sizes):
        last = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        raise error(
            "indexing.fill_of_nothing",
            sizes=sizes,
            strides=strides,
            itemsize=x.itemsize,
            bytes=(last + 1) * x.itemsize,
        )
    return x.copy()


@op("x.index_fill(dim, index, value)", tex=r"x_{I \leftarrow a}", dtypes="any", layout="rows")
def index_fill(x: Value, index: Value, *, dim: int, value: float) -> Value:
    """Write one number over the entries along a dimension that a vector of numbers names."""
    if index.ndim > 1:  # before the number
        raise error("indexing.filled_index_ndim")
    number = number_in(value, x.dtype)
    return _filled(x, index, dim, number) if x.size else _checked_empty(x, index, dim)


@op(
    "x.index_fill(dim, index, value)",
    tex=r"x_{I \leftarrow y}",
    node="IndexFillBackward1",
    dtypes="any",
    layout="rows",
)
def index_fill_tensor(x: Value, index: Value, value: Value, *, dim: int) -> Value:
    """Write the number of a 0-d tensor over the entries along a dimension."""
    return _filled(x, index, dim, value) if x.size else _checked_empty(x, index, dim)


@index_fill_tensor.vjp("value", tex=r"\textstyle\sum \bar z_I")
def _(g: Value, index: Value, value_dtype: Any, dim: int) -> Value:
    rest = g - index_fill(g, index, dim=dim, value=0)
    return to_copy(sum_all(rest), dtype=value_dtype)


def _check_copied(x: Value, index: Value, source: Value, dim: int) -> None:
    if index.ndim > 1:
        raise error("indexing.copied_index_ndim", ndim=index.ndim)
    if not source.ndim and index.size != 1:
        raise error("indexing.copied_number", count=index.size)
    if x.ndim and source.ndim not in (0, x.ndim):
        raise error("indexing.copied_ranks", source=source.ndim, own=x.ndim)
    if index.dtype != "int64":
        raise error("indexing.copied_index", kind=tensor_type(index.dtype))
    if x.dtype != source.dtype:
        kinds = tensor_type(x.dtype), tensor_type(source.dtype)
        raise error("indexing.copied_dtypes", own=kinds[0], source=kinds[1])
    shapes = [tuple(n for d, n in enumerate(array.shape) if d != dim) for array in (x, source)]
    if shapes[0] != shapes[1]:
        own, other = (" ".join(map(str, shape)) for shape in shapes)
        raise error("indexing.copied_shapes", own=own, source=other, dim=dim)
    if source.ndim and index.size != source.shape[dim]:
        raise error("indexing.copied_count", count=index.size, size=source.shape[dim])


@op("x.index_copy(dim, index, source)", tex=r"x_{I \leftarrow y}", dtypes="any", layout="rows")
def index_copy(x: Value, index: Value, source: Value, *, dim: int) -> Value:
    """Write other entries over those along a dimension that a vector of numbers names."""
    _check_copied(x, index, source, dim)
    size = x.shape[dim] if x.ndim else 1
    outside = np.ravel(index)[(np.ravel(index) < 0) | (np.ravel(index) >= size)]
    if index.dtype.kind == "i" and outside.size:
        raise error("indexing.copied_range", index=outside[0], dim=dim, size=size)
    return _filled(x, index, dim, source)


@index_copy.vjp("source", tex=r"\bar z_I")
def _(g: Value, index: Value, source_shape: Ints, dim: int) -> Value:
    return reshape(index_select(g, index, dim=dim), shape=source_shape)


for _writing in (index_fill, index_fill_tensor, index_copy):

    @_writing.vjp("x", tex=r"\bar z_{I \leftarrow 0}")
    def _(g: Value, index: Value, dim: int) -> Value:
        return index_fill(g, index, dim=dim, value=0)


# -- anywhere -------------------------------------------------------------------------------------


@op(
    "x with source where mask",
    tex=r"[m]\,y + [\lnot m]\,x",
    node="MaskedScatterBackward0",
    dtypes="any",
    layout="rows",
)
@vjp("x", lambda g, mask: zero_filled(g, ~mask), tex=r"\bar z \odot [\lnot m]")
def masked_scatter_from(x: Value, mask: Value, source: Value) -> Value:
    """Write the elements of ``source``, one after the other, where the mask is true."""
    if x.dtype != source.dtype:
        kinds = tensor_type(x.dtype), tensor_type(source.dtype)
        raise error("indexing.masked_scatter_dtypes", own=kinds[0], source=kinds[1])
    if mask.dtype != bool:
        raise error("indexing.masked_scatter_mask", kind=tensor_type(mask.dtype))
    x, mask = np.broadcast_arrays(x, mask)
    count, out = int(mask.sum()), x.copy()
    if count > source.size:
        raise error("indexing.masked_scatter_count")
    out[mask] = source.reshape(-1)[:count]
    return out


@masked_scatter_from.vjp("source", tex=r"\bar z_m")
def _(g: Value, mask: Value, source_shape: Ints) -> Value:
    selected, size = masked_select(g, mask), math.prod(source_shape)
    whole = slice_backward(selected, shape=(size,), dim=0, start=0, end=selected.shape[0], step=1)
    return reshape(whole, shape=source_shape)


@op(
    "x with y added at [positions]",
    tex=r"x + y_I",
    node="IndexPutBackward0",
    dtypes="any",
    frees=True,
)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, positions: pick(g, positions=positions), tex=r"\bar z_I")
def index_put_add(x: Value, y: Value, *, positions: Any) -> Value:
    """Add elements at indices: ``index_put`` that accumulates."""
    out = np.array(x, order="C")
    np.add.at(out.reshape(-1), positions, np.broadcast_to(y, positions.shape))
    return scalar_if_0d(out)


# -- scatter_reduce: all that meets at a place becomes one number ----------------------------------

_START = {"sum": 0, "mean": 0, "prod": 1, "amax": -math.inf, "amin": math.inf}


@op("x.scatter_reduce(dim, index, source, reduce)", dtypes="any", layout="rows")
def scatter_reduce(
    x: Value, index: Value, source: Value, *, dim: int, reduce: str, include_self: bool = True
) -> Value:
    """Reduce what ``index`` sends to one place, and what is there: sum, prod, mean, amax, amin."""
    if x.dtype != source.dtype:
        if index.size and index.dtype not in ("int64", "int32"):
            raise error("indexing.places_dtype", name="scatter")
        raise error("indexing.scatter_dtypes")
    places, out = places_along("scatter", x, index, dim, source), np.array(x, ndmin=1)
    if reduce == "mean" and out.dtype.kind == "b":
        kernel = "scatter_gather_tensor_cpu_reduce_mean" if index.size else "div_floor_cpu"
        raise error("dtypes.bool_kernel", kernel=kernel)
    if not index.size:
        return scalar_if_0d(out.reshape(x.shape))
    part = np.atleast_1d(source)[tuple(slice(n) for n in np.atleast_1d(index).shape)]
    if not include_self:
        start = _START[reduce]
        if out.dtype.kind == "b":
            start = start > 0
        elif out.dtype.kind != "f" and math.isinf(start):
            start = np.iinfo(out.dtype).min if start < 0 else np.iinfo(out.dtype).max
        out[places] = start
    combine: Any = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}.get(reduce, np.add)
    combine.at(out, places, part)
    if reduce == "mean":
        counts = np.full(out.shape, int(include_self))
        np.add.at(counts, places, 1)
        counts = np.maximum(counts, 1)
        out = out / counts.astype(out.dtype) if out.dtype.kind == "f" else out // counts
    return scalar_if_0d(out.reshape(x.shape).astype(x.dtype))


def _shares(g: Value, x: Value, index: Value, source: Value, out: Value, **how: Any) -> Any:
    """Return what flows back to x and to the source, whose shape has to be that of ``index``."""
    dim, reduce, include_self = how["dim"], how["reduce"], how["include_self"]
    zero = zeros(g, x.shape)
    if reduce == "sum":
        own, others = g, gather(g, index, dim=dim)
    elif reduce == "mean":
        ones = zeros(g, index.shape) + 1
        counts = scatter_add(zero + int(include_self), index, ones, dim=dim)
        own = g / where(counts == 0, 1.0, counts)
        others = gather(own, index, dim=dim)
    elif reduce == "prod":
        own, others = _shares_of_product(g, x, index, source, out, dim, include_self)
    else:
        is_it, are_it = x == out, source == gather(out, index, dim=dim)
        marks = masked(zeros(g, index.shape) + 1, are_it)
        winners = scatter_add(masked(zero + 1, is_it), index, marks, dim=dim)
        each = g / winners  # none may win, where values have changed since or are nan
        own, others = each * is_it, gather(each, index, dim=dim) * are_it
    if not include_self:
        own = scatter_value(own, index, dim=dim, value=0)
    return own, others


def _shares_of_product(
    g: Value, x: Value, index: Value, part: Value, out: Value, dim: int, include_self: bool
) -> Any:
    """Return the same for a product: others are divided out, but a 0 is left out instead."""
    how: Any = {"dim": dim, "reduce": "prod", "include_self": include_self}
    ones_at_zero = where(x == 0, 1.0, x)
    own = g * scatter_reduce(ones_at_zero, index, part, **how) / ones_at_zero
    is_zero = part == 0
    marks = masked(part * 0 + 1, is_zero)
    count = gather(scatter_add(zeros(g, x.shape), index, marks, dim=dim), index, dim=dim)
    is_only = is_zero & (count == 1)
    without = scatter_reduce(x, index, where(is_only, 1.0, part), **how)
    divided = gather(g * out, index, dim=dim) / where(is_zero, 1.0, part)
    return own, where(is_only, gather(g * without, index, dim=dim), divided)


@scatter_reduce.vjp("x", tex=r"\partial z / \partial x \cdot \bar z")
def _(
    g: Value,
    x: Value,
    index: Value,
    source: Value,
    out: Value,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Value:
    own, _ = _shares(g, x, index, source, out, dim=dim, reduce=reduce, include_self=include_self)
    return own


@scatter_reduce.vjp("source", tex=r"\partial z / \partial y \cdot \bar z")
def _(
    g: Value,
    x: Value,
    index: Value,
    source: Value,
    out: Value,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Value:
    _, part = _shares(g, x, index, source, out, dim=dim, reduce=reduce, include_self=include_self)
    return part
