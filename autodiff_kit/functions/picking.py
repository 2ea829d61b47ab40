"""Taking elements out and putting them in: ``take``, ``nonzero``, ``unique``, ``searchsorted`` ...

After reading this file you know which of them copy, and which have an in-place twin such as
``index_fill_``. Read next: ``ranking.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import where
from autodiff_kit.functions.declared import Operand, Tensors, function, overloaded
from autodiff_kit.operands import check_operand
from autodiff_kit.ops import counting, selecting
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.sizes import as_dims, converted
from autodiff_kit.tensor import Tensor

__all__ = ["argwhere", "bincount", "bucketize", "count_nonzero", "index_copy", "index_fill"]
__all__ += ["index_put", "masked_scatter", "nonzero", "scatter_add", "scatter_reduce"]
__all__ += ["searchsorted", "take", "take_along_dim", "unique", "unique_consecutive"]


# -- out ------------------------------------------------------------------------------------------


@function
def take(input: Tensor, index: Tensor) -> Tensor:
    """Take elements by their numbers, counted row by row, in the shape of ``index``."""
    return selecting.take(input, index)


@function
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Take elements along a dimension, as ``gather``, but other dimensions broadcast."""
    if dim is not None and input.ndim != indices.ndim:
        raise error("functions.take_along_dim_ndim", own=input.ndim, index=indices.ndim)
    if indices._array.dtype != "int64":
        kind = tensor_type(indices._array.dtype)
        raise error("functions.take_along_dim_dtype", dtype=kind)
    if dim is None:
        flat, places = input.view(-1), indices.view(-1)
        if (places._array < 0).any():
            places = _from_the_start(places, len(flat))
        return flat.gather(0, places)
    dim = input._dim(dim)
    if not input.ndim:
        raise error("shapes.size_of_0d", dim=dim)
    own, other = _without(input.shape, dim), _without(indices.shape, dim)
    try:
        shape = np.broadcast_shapes(own, other)
    except ValueError:
        raise RuntimeError(broadcast_message("add", (own, other))) from None
    sizes = [[*shape[:dim], t.shape[dim], *shape[dim + 1 :]] for t in (input, indices)]
    return input.expand(sizes[0]).gather(dim, indices.remainder(input.shape[dim]).expand(sizes[1]))


def _from_the_start(indices: Tensor, size: int) -> Tensor:
    """Return indices of which none is negative."""
    return where(indices < 0, indices + size, indices)


def _without(shape: Any, dim: int) -> tuple[int, ...]:
    return (*shape[:dim], 1, *shape[dim + 1 :])


# -- in -------------------------------------------------------------------------------------------


@overloaded(
    "(Tensor input, int dim, Tensor index, Tensor value)",
    "(Tensor input, int dim, Tensor index, Number value)",
)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
    """Write one number over the entries along a dimension that a vector of numbers names."""
    check_operand("index_fill", "index", 3, index, numbers=False)
    if isinstance(value, Tensor) and value.ndim:
        raise error("indexing.index_fill_value", ndim=value.ndim)
    if index._array.dtype != "int64":
        raise error("indexing.filled_index_dtype")
    dim = input._dim(dim)
    if isinstance(value, Tensor):
        return selecting.index_fill_tensor(input, index, value, dim=dim)
    return selecting.index_fill(input, index, dim=dim, value=value)


@function
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write other entries over those along a dimension that a vector of numbers names."""
    return selecting.index_copy(input, index, source, dim=input._dim(dim))


@function
def index_put(input: Tensor, indices: Tensors, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write values at indices, one tensor per dimension: ``input[indices] = values``, as a copy."""
    if not isinstance(indices, tuple | list):
        raise TypeError  # the words come from ``signatures.py``
    if len(indices) > input.ndim:
        raise error("indexing.too_many_put", ndim=input.ndim, count=len(indices))
    _check_masks(input, indices)
    numbers = np.arange(input.numel()).reshape(input.shape)
    key = tuple(indices)
    positions, gather = ops.sliced(numbers, tuple(map(_zero_if_0d, key)), assigned=True)
    places, shape = ops.gathered(positions.shape, gather) if gather else ((), positions.shape)
    sizes = zip(values.shape[::-1], shape[::-1], strict=False)
    if values.ndim > len(shape) or any(n not in (1, m) for n, m in sizes):
        raise error("inplace.assigned_shape", value=list(values.shape), selection=list(shape))
    is_mask = len(indices) == 1 and indices[0]._array.dtype == bool
    if is_mask and values.numel() == 1 and not accumulate:
        number_in(values.item(), input._array.dtype)  # of any type, as masked_fill; it must fit
        values = converted(values, input.dtype)
    if input.dtype != values.dtype:
        kinds = tensor_type(input._array.dtype), tensor_type(values._array.dtype)
        raise error("inplace.assigned_dtype", own=kinds[0], kind=kinds[1])
    positions, gather = ops.sliced(numbers, key, assigned=True)
    if gather:
        ops.check_numbers(places, positions.shape)
        positions = ops.named_by(positions[places], gather.values())
    write = selecting.index_put_add if accumulate else ops.index_put
    return write(input, values, positions=positions)


def _check_masks(input: Tensor, indices: Tensors) -> None:
    """Raise where a mask has not the sizes of the dimensions that it stands for."""
    dim = 0
    for index in indices:
        is_mask = index._array.dtype == bool
        for place, size in enumerate(index.shape if is_mask else ()):
            if dim + place >= input.ndim:
                low, high = -input.ndim, input.ndim - 1
                wrong, shape = dim + place, input.shape
                raise error("shapes.dim_out_of_range", low=low, high=high, dim=wrong, shape=shape)
            if size != input.shape[dim + place]:
                raise error(
                    "indexing.mask_shape",
                    mask=list(index.shape),
                    position=place,
                    shape=list(input.shape),
                    dim=dim + place,
                )
        dim += index.ndim if is_mask else 1


def _zero_if_0d(index: Tensor) -> Any:
    """Return an index by which the shape of a result can be told, before any is out of bounds."""
    return 0 if not index.ndim and index._array.dtype.kind in "iu" else index


@function
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add elements to those that ``index`` names along a dimension, as often as it does."""
    check_operand("scatter_add", "index", 3, index, numbers=False)
    check_operand("scatter_add", "src", 4, src, numbers=False)
    return ops.scatter_add(input, index, src, dim=input._dim(dim))


@function
def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Reduce what ``index`` sends to one place, by sum, prod, mean, amax or amin."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise error("functions.scatter_reduce", reduce=reduce)
    how: Any = {"dim": input._dim(dim), "reduce": reduce, "include_self": include_self}
    return selecting.scatter_reduce(input, index, src, **how)


@function
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write the elements of ``source``, one after the other, where the mask is true."""
    return selecting.masked_scatter_from(input, mask, source)


# -- where ----------------------------------------------------------------------------------------


@function
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0: one row each, or a tensor per dimension.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.nonzero(torch.tensor([0, 3, 0, 4]))
    tensor([[1],
            [3]])
    """
    if as_tuple:
        return counting.nonzero(input.reshape(1) if input.ndim == 0 else input).unbind(1)
    return counting.nonzero(input)


@function
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of the elements that are not 0, one row each."""
    return counting.nonzero(input)


@overloaded("(Tensor input, int dim = None)", "(Tensor input, *, only tuple of ints dim)")
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """Count the elements that are not 0: all, or along dimensions."""
    dims = None if dim is None else as_dims(dim, is_list=True)
    return counting.count_nonzero(input, dim=input._dims(dims))


@function
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each of the numbers 0, 1, 2 ... is there, or add up its weights.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    if minlength < 0:
        raise error("functions.bincount_minlength")
    if weights is not None:
        return counting.bincount_weighted(input, weights, minlength=minlength)
    return counting.bincount(input, minlength=minlength)


_SEARCHED = "*, bool out_int32 = False, bool right = False, str side = None, Tensor sorter = None"


@overloaded(
    f"(Tensor sorted_sequence, Tensor input, {_SEARCHED})",
    f"(Tensor sorted_sequence, Number self, {_SEARCHED})",
)
def searchsorted(
    sorted_sequence: Tensor,
    input: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return where numbers would have to be inserted into sorted rows, to keep them sorted.

    Of equal elements the first is found, or with ``right`` the place behind the last.
    """
    if side not in (None, "left", "right"):
        raise error("functions.searchsorted_side", side=side)
    if side == "left" and right:
        raise error("functions.searchsorted_opposites")
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    values = input if isinstance(input, Tensor) else wrap(np.asarray(input)[()])
    shapes = [sorted_sequence.shape, values.shape]
    if len(shapes[0]) != 1 and shapes[0][:-1] != shapes[1][:-1]:
        own, theirs = map(list, shapes)
        raise error("functions.searchsorted_shapes", own=own, given=theirs)
    kind = np.dtype("int32" if out_int32 else "int64")
    is_right = right or side == "right"
    return counting.searchsorted(sorted_sequence, values, right=is_right, kind=kind)


@overloaded(
    "(Tensor input, Tensor boundaries, *, bool out_int32 = False, bool right = False)",
    "(Number self, Tensor boundaries, *, bool out_int32 = False, bool right = False)",
)
def bucketize(
    input: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return in which of the intervals between boundaries numbers lie."""
    if boundaries.ndim != 1:
        raise error("functions.bucketize", ndim=boundaries.ndim)
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# -- different elements ---------------------------------------------------------------------------


def _results_of_unique(results: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, *rest = results
    extra = zip(rest, (return_inverse, return_counts), strict=True)
    requested = tuple(wrap(array) for array, is_asked in extra if is_asked)
    return (values, *requested) if requested else values


@function
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements, or entries along a dimension, in order.

    With ``return_inverse``, which of them each element is; with ``return_counts``, how many of each
    there are.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        return _results_of_unique(counting.unique(input), return_inverse, return_counts)
    results = counting.unique_dim(input, dim=input._dim(dim))
    return _results_of_unique(results, return_inverse, return_counts)


@function
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the elements, or entries along a dimension, that differ from the one before."""
    along = None if dim is None else input._dim(dim)
    results = counting.unique_consecutive(input, dim=along)
    return _results_of_unique(results, return_inverse, return_counts)
