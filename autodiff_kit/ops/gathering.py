"""Taking elements out by tensors of numbers or truth values, and putting them back.

After reading this file you know three pairs, each the other's rule: ``gather`` and
``scatter_add``, ``index_select`` and ``index_add``, ``masked_select`` and ``masked_scatter``. What
one takes out forward, the other adds up where it came from. Read next: ``sorting.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import c_type, number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.checks import Ints, unless_misfit
from autodiff_kit.ops.elementwise import masked, to_copy, zero_filled
from autodiff_kit.ops.indexing import index_backward
from autodiff_kit.ops.layouts import scalar_if_0d, zeros
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.ops.table import op, vjp

__all__ = [
    "check_bounds",
    "gather",
    "index_add",
    "index_select",
    "masked_fill",
    "masked_fill_tensor",
]
__all__ += [
    "masked_scatter",
    "masked_select",
    "pack_padded_sequence",
    "places_along",
    "scatter",
    "scatter_add",
    "scatter_value",
]


# -- places along a dimension: index has as many dimensions as x ----------------------------------


def places_along(
    name: str, x: Value, index: Value, dim: int, source: Any = None, number: Any = 0
) -> tuple[Value, ...]:
    """Return index arrays for x: of each element of ``index`` its own place, but it along dim.

    What is to be written there, ``source`` or ``number``, must fit.
    """
    if index.size and index.dtype not in ("int64", "int32"):
        raise error("indexing.places_dtype", name="gather" if name == "gather" else "scatter")
    if source is not None and x.dtype != source.dtype:
        raise error("indexing.scatter_dtypes")
    count, indices = max(x.ndim, 1), np.atleast_1d(index)
    if not index.size:
        return tuple(np.zeros((count, *indices.shape), int))
    if count != indices.ndim:
        raise error("indexing.places_ranks", name="input" if name == "gather" else "self")
    own, shape = np.atleast_1d(x).shape, indices.shape
    too_large = [d for d in range(count) if d != dim and shape[d] > own[d]]
    index_sizes, sizes = [*index.shape], [*x.shape]
    if name == "gather" and too_large:
        at = too_large[0]
        raise error("indexing.gather_size", at=at, index=index_sizes, own=sizes, dim=dim)
    if source is None:
        if too_large:
            raise error("indexing.scatter_size", index=index_sizes, own=sizes, dim=dim)
    elif not _fits_source(source, shape, not too_large):
        others = [*source.shape]
        raise error("indexing.scatter_sizes", index=index_sizes, own=sizes, dim=dim, source=others)
    if 0 <= indices.flat[0] < own[dim]:
        number_in(number, x.dtype)  # converted, in PyTorch, where it is first written
    check_bounds(index, dim, own[dim])
    grid = list(np.ogrid[tuple(slice(n) for n in shape)])
    grid[dim] = indices
    return tuple(grid)


def _beyond(index: Value, size: int) -> Value:
    """Return the indices that are not among 0 to ``size - 1``."""
    index = np.atleast_1d(index)
    return index[(index < 0) | (index >= size)]


def check_bounds(index: Value, dim: int, size: int) -> None:
    """Raise if indices are not among 0 to ``size - 1``."""
    wrong = _beyond(index, size)
    if wrong.size:
        raise error("indexing.place_out_of_bounds", index=wrong[0], dim=dim, size=size)


def _fits_source(source: Value, shape: Ints, fits: bool) -> bool:
    """Return whether a source has enough elements for indices that fit, or not, so far."""
    sizes = source.shape if source.ndim else (1,) * len(shape)
    for d, n in enumerate(shape):
        if fits and d == len(sizes):
            low, high = -d, d - 1
            raise error("shapes.dim_out_of_range", low=low, high=high, dim=d, shape=[*sizes])
        fits = fits and n <= sizes[d]
    if max(source.ndim, 1) != len(shape):
        raise error("indexing.places_ranks", name="src")
    return fits


def _part(source: Value, index: Value) -> Value:
    """Return as much of ``source`` as there are indices."""
    return np.atleast_1d(source)[tuple(slice(n) for n in np.atleast_1d(index).shape)]


def _with_ndim_of(x: Value, out: Value) -> Value:
    """Return what was computed of a number as an array as a number again, others as they are."""
    return out if x.ndim else out[0]


@op("x[indices]", tex=r"x_I", layout="rows")
def pack_padded_sequence(x: Value, *, indices: tuple[Any, ...]) -> Value:
    """Take elements by arrays of times and places: those of sequences without their padding."""
    return x[indices]


@pack_padded_sequence.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, indices: tuple[Any, ...]) -> Value:
    return index_backward(g, shape=x_shape, indices=indices)


@op("x.gather(dim, index)", tex=r"x_I", dtypes="any", saved_as={"y": "index"}, layout="rows")
def gather(x: Value, index: Value, *, dim: int) -> Value:
    """Take for each place the element that ``index`` names along a dimension."""
    places = places_along("gather", x, index, dim)
    return _with_ndim_of(index, np.atleast_1d(x)[places])


@gather.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, index: Value, x: Value, dim: int) -> Value:
    return scatter_add(zeros(g, x.shape), index, g, dim=dim)


@op(
    "x.scatter_add(dim, index, source)",
    tex="x + y_I",
    dtypes="any",
    layout="rows",
)
@vjp("x", lambda g: g, tex=r"\bar z")
def scatter_add(x: Value, index: Value, source: Value, *, dim: int) -> Value:
    """Add elements to those that ``index`` names along a dimension, as often as it does."""
    places, out = places_along("scatter_add", x, index, dim, source), np.array(x, ndmin=1)
    if index.size:
        np.add.at(out, places, _part(source, index))
    return _with_ndim_of(x, out)


@op(
    "x.scatter(dim, index, source)",
    tex=r"x_{I \leftarrow y}",
    dtypes="any",
    layout="rows",
)
def scatter(x: Value, index: Value, source: Value, *, dim: int) -> Value:
    """Overwrite the elements that ``index`` names along a dimension."""
    return _scattered(x, index, source, dim)


@op("x.scatter(dim, index, value)", node="ScatterBackward1", dtypes="any", layout="rows")
def scatter_value(x: Value, index: Value, *, dim: int, value: float) -> Value:
    """Write one number over the elements that ``index`` names along a dimension."""
    return _scattered(x, index, None, dim, value)


def _scattered(x: Value, index: Value, source: Value, dim: int, value: float = 0) -> Value:
    places, out = places_along("scatter", x, index, dim, source, value), np.array(x, ndmin=1)
    if index.size:
        out[places] = number_in(value, x.dtype) if source is None else _part(source, index)
    return _with_ndim_of(x, out)


for _scattering in (scatter, scatter_value):

    @_scattering.vjp("x", tex=r"\bar z_{I \leftarrow 0}")
    def _(g: Value, index: Value, dim: int) -> Value:
        return scatter_value(g, index, dim=dim, value=0)


for _scattering in (scatter, scatter_add):

    @_scattering.vjp("source", tex=r"\bar z_I")
    def _(g: Value, index: Value, source_shape: Ints, dim: int) -> Value:
        return gather(g, index, dim=dim)


# -- whole entries along a dimension: index is a vector -------------------------------------------


def _check_vector(x: Value, index: Value, dim: int) -> None:
    if index.ndim > 1:
        raise error("indexing.select_index_ndim")
    if not x.ndim and index.size != 1:
        raise error("indexing.select_from_0d", count=index.size)
    if index.dtype not in ("int64", "int32"):
        raise error("indexing.select_index_dtype")
    size = x.shape[dim] if x.ndim else 1
    if x.ndim > 1 and index.size and not size:
        raise error("indexing.select_from_nothing")
    wrong = _beyond(index, size)
    if wrong.size:
        is_data = x.ndim > 1 and (dim == 1 or not x.size)  # PyTorch has a faster way here
        key = "indexing.selected_out_of_data" if is_data else "indexing.selected_out_of_range"
        raise error(key, last=size - 1, index=wrong[0], size=size)


@op("x.index_select(dim, index)", tex=r"x_I", dtypes="any", saved_as={"y": "index"}, layout="rows")
def index_select(x: Value, index: Value, *, dim: int) -> Value:
    """Take the entries along a dimension that a vector of numbers names."""
    _check_vector(x, index, dim)
    return np.take(x, np.atleast_1d(index), dim) if x.ndim else x.copy()


@index_select.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, index: Value, x_shape: Ints, dim: int) -> Value:
    return index_add(zeros(g, x_shape), index, g, dim=dim)


def _check_added(x: Value, index: Value, source: Value, dim: int, alpha: float) -> None:
    if index.ndim > 1:
        kind, shape = tensor_type(index.dtype), list(index.shape)
        raise error("indexing.added_index_ndim", ndim=index.ndim, kind=kind, shape=shape)
    if index.dtype not in ("int64", "int32"):
        raise error("indexing.added_index_dtype", kind=tensor_type(index.dtype))
    if x.dtype != source.dtype:
        kinds = tensor_type(x.dtype), tensor_type(source.dtype)
        raise error("indexing.added_dtypes", own=kinds[0], source=kinds[1])
    if dim and dim >= source.ndim:
        raise error("indexing.added_dim", dim=dim, ndim=source.ndim)
    if index.size != (source.shape[dim] if source.ndim else 1):
        if not source.ndim:
            raise error("shapes.size_of_0d", dim=0)
        raise error("indexing.added_count", count=index.size, size=source.shape[dim], dim=dim)
    own, other = ([*array.shape] for array in (x, source))
    if x.ndim != source.ndim or own[:dim] + own[dim + 1 :] != other[:dim] + other[dim + 1 :]:
        raise error("indexing.added_shapes", own=own, source=other)
    size = x.shape[dim] if x.ndim else 1
    # PyTorch has a faster way here, with other words.
    if x.ndim > 1 and dim in (0, x.ndim - 1) and alpha == 1 and index.dtype == "int64":
        check_bounds(index if x.size else np.atleast_1d(index)[:0], dim, size)
    elif (x.size or x.ndim < 2) and _beyond(index, size).size:
        raise error("indexing.selected_out_of_range", last=size - 1)


@op("x.index_add(dim, index, source)", tex=r"x + \alpha y_I", dtypes="any", layout="rows")
@vjp("x", lambda g: g, tex=r"\bar z")
def index_add(x: Value, index: Value, source: Value, *, dim: int, alpha: float = 1) -> Value:
    """Add entries to those that a vector of numbers names along a dimension."""
    _check_added(x, index, source, dim, alpha)
    out = np.array(x, ndmin=1)
    if not out.size:
        return out
    source = np.reshape(source * x.dtype.type(alpha), source.shape or (1,))
    places: Any = (slice(None),) * dim + (np.atleast_1d(index),)
    np.add.at(out, places, source)
    return _with_ndim_of(x, out)


@index_add.vjp("source", tex=r"\alpha \bar z_I")
def _(g: Value, index: Value, source: Value, dim: int, alpha: float) -> Value:
    part = index_select(g, index, dim=dim)
    return part if alpha == 1 else part * alpha


# -- masks: they broadcast with x ----------------------------------------------------------------


def _misfit(name: str) -> Any:
    return lambda x, mask, *_, **__: broadcast_message(name, (mask.shape, x.shape))


_fill_misfit, _select_misfit = _misfit("masked_fill"), _misfit("masked_select")


def _filled(x: Value, mask: Value, value: Value) -> Value:
    if mask.dtype != bool:
        raise unless_misfit(error("indexing.fill_mask", kind=c_type(mask.dtype)), mask, x)
    number = value.item() if isinstance(value, np.ndarray | np.generic) else value
    return scalar_if_0d(np.where(mask, number_in(number, x.dtype), x))


@op(
    "where(mask, value, x)",
    tex=r"[m]\,a + [\lnot m]\,x",
    dtypes="any",
    on_error=_fill_misfit,
    layout="rows",
)
@vjp("x", lambda g, mask: zero_filled(g, ~mask), tex=r"\bar z \odot [\lnot m]")
def masked_fill(x: Value, mask: Value, *, value: float) -> Value:
    """Write a number over the elements where the mask is true."""
    return _filled(x, mask, value)


@op(
    "where(mask, value, x)",
    tex=r"[m]\,y + [\lnot m]\,x",
    node="MaskedFillBackward1",
    dtypes="any",
    on_error=_fill_misfit,
    layout="rows",
)
@vjp("x", lambda g, mask: zero_filled(g, ~mask), tex=r"\bar z \odot [\lnot m]")
def masked_fill_tensor(x: Value, mask: Value, value: Value) -> Value:
    """Write the number that a 0-d tensor holds over the elements where the mask is true."""
    return _filled(x, mask, value)


@masked_fill_tensor.vjp("value", tex=r"\textstyle\sum \bar z \odot [m]")
def _(g: Value, mask: Value, value_dtype: Any) -> Value:
    g = masked(g, mask)
    return to_copy(g, dtype=value_dtype) if value_dtype is not None else g


@op("x[mask]", tex=r"x_m", dtypes="any", on_error=_select_misfit, layout="rows")
def masked_select(x: Value, mask: Value) -> Value:
    """Take the elements where the mask is true, in the order of reading."""
    if mask.dtype != bool:
        raise error("indexing.select_mask")
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


@masked_select.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x: Value, mask: Value) -> Value:
    return masked_scatter(g, mask, shape=np.broadcast_shapes(x.shape, mask.shape))


@op("zeros with x at [mask]", tex=r"x \text{ put back}", dtypes="any", layout="rows")
@vjp("x", lambda g, mask: masked_select(g, mask), tex=r"\bar z_m")
def masked_scatter(x: Value, mask: Value, *, shape: Ints) -> Value:
    """Put selected elements back into zeros, where the mask is true."""
    out = np.zeros(shape, x.dtype)
    out[np.broadcast_to(mask, shape)] = x
    return scalar_if_0d(out)
