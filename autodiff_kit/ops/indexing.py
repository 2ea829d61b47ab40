"""Indexing: one number, a slice, or tensors of numbers and truth values.

After reading this file you know that taking elements out forward is putting gradients back
backward - and adding them up where an element was taken more than once. Read next:
``gathering.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autodiff_kit.core.base import INFERENCE, TensorBase
from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import number_in, tensor_type
from autodiff_kit.errors import error, warn_of_list_key, warn_of_old_mask
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import to_copy, zeros_like
from autodiff_kit.ops.layouts import arranged, scalar_if_0d, zeros
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.ops.saving import is_recorded
from autodiff_kit.ops.shape import alias, reshape, slice_dim, unsqueeze
from autodiff_kit.ops.table import op, vjp

__all__ = [
    "as_key",
    "check_numbers",
    "copy_from",
    "fill",
    "fill_with",
    "gathered",
    "getitem",
    "index",
]
__all__ += [
    "index_backward",
    "index_put",
    "named_by",
    "pick",
    "plain",
    "put",
    "select",
    "select_backward",
]
__all__ += ["sliced", "zero"]


@op("x[index]", tex=r"x_i", view=True)
def select(x: Value, *, dim: int, index: int) -> Value:
    """Take the entries with one index along one dimension, which disappears."""
    return x[(slice(None),) * dim + (index, ...)]


@select.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, dim: int, index: int) -> Value:
    return select_backward(g, shape=x_shape, dim=dim, index=index)


@op("zeros with x at [index]", tex=r"x \text{ put back}")
@vjp("x", lambda g, dim, index: select(g, dim=dim, index=index), tex=r"\bar z_i")
def select_backward(x: Value, *, shape: Ints, dim: int, index: int) -> Value:
    """Put selected entries back into zeros of the shape they were taken from."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * dim + (index,)] = x
    return out


class Indices(tuple[Any, ...]):
    """Index arrays and slices for NumPy; ``sources`` are the arrays of the tensors in the key.

    A mask becomes numbers; but when it is the mask that changes, backward must not go on.
    """

    sources: tuple[Any, ...]

    def __new__(cls, indices: Iterable[Any], sources: Iterable[Any]) -> Indices:
        """Make them a tuple."""
        instance = super().__new__(cls, indices)
        instance.sources = tuple(sources)
        return instance


class Positions(np.ndarray[Any, Any]):
    """Positions that index tensors have named; ``sources`` are the arrays of these."""

    sources: tuple[Any, ...]


def named_by(positions: Any, sources: Iterable[Any]) -> Positions:
    """Return positions for a node: backward must not go on when one of the sources has changed."""
    result = np.asarray(positions).view(Positions)
    result.sources = tuple(sources)
    return result


@op("x[indices]", tex=r"x_I", node="IndexBackward0", frees=True, layout="own")
def index(x: Value, *, indices: tuple[Any, ...]) -> Value:
    """Take elements by integer or bool arrays: a copy, not a view."""
    out = x[indices]
    if out.ndim < 2:
        return out
    is_plain = all(isinstance(k, slice) or k.flags.c_contiguous for k in (x, *indices))
    return np.ascontiguousarray(out) if is_plain else arranged(out, _as_read(x, indices))


def _as_read(x: Value, indices: tuple[Any, ...]) -> list[Value]:
    """Return x and the index arrays with the steps in memory from one result to the next."""
    indexed = [dim for dim, k in enumerate(indices) if not isinstance(k, slice)]
    arrays = np.broadcast_arrays(*(indices[dim] for dim in indexed))
    rest = [
        pair for dim, pair in enumerate(zip(x.shape, x.strides, strict=True)) if dim not in indexed
    ]
    is_block = indexed == [*range(indexed[0], indexed[0] + len(indexed))]
    start = indexed[0] if is_block else 0  # else what is indexed comes first
    rest[start:start] = [(n, 0) for n in arrays[0].shape]
    sizes, steps = zip(*rest, strict=True)
    behind = (None,) * (len(rest) - start - arrays[0].ndim)
    return [as_strided(x, sizes, steps), *(k[(None,) * start + (..., *behind)] for k in arrays)]


@index.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, indices: tuple[Any, ...]) -> Value:
    return index_backward(g, shape=x_shape, indices=indices)


@op(
    "zeros with x added at [indices]",
    tex=r"\textstyle\sum x \text{ put back}",
    node="IndexPutImplBackward0",
)
@vjp("x", lambda g, indices: index(g, indices=indices), tex=r"\bar z_I")
def index_backward(x: Value, *, shape: Ints, indices: tuple[Any, ...]) -> Value:
    """Add elements into zeros at indices; what was taken twice is added twice."""
    out = np.zeros(shape, x.dtype)
    np.add.at(out, indices, x)
    return out


# -- what changes in place compute (inplace.py) ---------------------------------------------------
# Positions count the elements row by row: any view of a tensor is an array of positions in it.


@op("x[positions]", tex=r"x_I", node="AsStridedBackward0")
def pick(x: Value, *, positions: Any, is_operand: bool = False) -> Value:
    """Take the elements at positions: what a view holds after its base was changed in place.

    ``is_operand``: what is taken is changed in place, and PyTorch has no node for the view then.
    """
    return x.reshape(-1)[positions]


@pick.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, positions: Any, is_operand: bool) -> Value:
    if not (positions.size or is_operand):
        return zeros(g, x_shape)  # without a history, as PyTorch's
    count = int(np.prod(x_shape))
    flat = index_backward(g, shape=(count,), indices=(plain(positions),))
    return reshape(flat, shape=x_shape)


def _overwritten(x: Value, y: Value, positions: Any) -> Value:
    out = np.array(x, order="C")  # in the order in which the positions count
    out.reshape(-1)[positions] = np.asarray(y).astype(out.dtype)
    return scalar_if_0d(out)


@op(
    "x with x[positions] = y",
    tex=r"x_{I \leftarrow y}",
    node="torch::autograd::CopySlices",
    dtypes="any",
    frees=True,
)
def put(x: Value, y: Value, *, positions: Any, repeats: bool = False) -> Value:
    """Overwrite elements of a view, which ``repeats`` some or not: what ``x[0] = y`` does to x."""
    return _overwritten(x, y, positions)


@op(
    "x with x[positions] = y",
    tex=r"x_{I \leftarrow y}",
    node="IndexPutBackward0",
    dtypes="any",
    frees=True,
)
def index_put(x: Value, y: Value, *, positions: Any, repeats: bool = False) -> Value:
    """Overwrite elements at indices: what ``x[[0, 2]] = y`` and ``x[mask] = y`` do to x."""
    return _overwritten(x, y, positions)


for _putting in (put, index_put):

    @_putting.vjp("x", tex=r"\bar z_{I \leftarrow 0}")
    def _(g: Value, positions: Any, repeats: bool) -> Value:
        if repeats:  # PyTorch writes zeros to the gradient, seen as the view
            raise error("inplace.repeated_elements")
        # What was overwritten has no influence any more.
        return put(g, 0, positions=plain(positions))

    @_putting.vjp("y", tex=r"\bar z_I")
    def _(g: Value, positions: Any, y_dtype: Any) -> Value:
        return _of_written(pick(g, positions=plain(positions)), y_dtype)


def plain(positions: Any) -> Any:
    """Return positions as an array, also under create_graph: a tensor of one would be a number."""
    return getattr(positions, "_array", positions)


def _of_written(g: Value, dtype: Any) -> Value:
    """Return the gradient of a value of this dtype that was written to elements of another one."""
    array: Any = getattr(g, "_array", g)
    own = array.dtype
    if own.kind != "f":
        raise error("autograd.whole_history", kind=tensor_type(own))
    return g if own == dtype else to_copy(g, dtype=dtype)


def _copy_misfit(x: Value, y: Value) -> str:
    try:
        whole = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return broadcast_message("copy_", (x.shape, y.shape))
    return str(error("inplace.shape", old=[*x.shape], new=[*whole]))


@op("y", tex=r"y", node="torch::autograd::CopyBackwards", dtypes="any", on_error=_copy_misfit)
@vjp("y", lambda g, y_dtype: _of_written(g, y_dtype), tex=r"\bar z")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def copy_from(x: Value, y: Value) -> Value:
    """Return y in the shape and dtype of x: what ``x.copy_(y)`` computes."""
    if y.ndim > x.ndim:
        raise ValueError  # NumPy would leave out dimensions of one entry
    out = np.empty(x.shape, x.dtype)
    np.copyto(out, y, "unsafe")
    return scalar_if_0d(out)


@op("y", tex=r"y", node="FillBackward3", dtypes="any")
@vjp("y", lambda g, y_dtype: _of_written(g, y_dtype), tex=r"\bar z")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def fill_with(x: Value, y: Value) -> Value:
    """Return the one number of y in the shape and dtype of x: what ``x.fill_(y)`` computes."""
    return scalar_if_0d(np.full_like(x, y))


@op("value", tex=r"a", node="FillBackward2")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def fill(x: Value, *, value: float) -> Value:
    """Return one number in the shape of x: what ``x.fill_`` computes."""
    return scalar_if_0d(np.full_like(x, number_in(value, x.dtype)))


@op("0", tex=r"0")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def zero(x: Value) -> Value:
    """Return zeros in the shape of x: what ``x.zero_()`` computes."""
    return scalar_if_0d(np.zeros_like(x))


# -- reading an index as PyTorch does -------------------------------------------------------------


def getitem(x: Value, key: Any) -> Value:
    """Carry out ``x[key]``: one op per number, slice or None, then one gather.

    IndexError for too many indices, an index out of bounds, or a key of the wrong kind.
    """
    key = as_key(key, stacklevel=4)
    part, gather = sliced(x, key)
    if gather:
        indices, _ = gathered(part.shape, gather)
        if any(k.dtype != bool for k in gather.values()):
            check_numbers(indices, part.shape)
        tensors_in_key = [k for k in (key if isinstance(key, tuple) else (key,)) if _is_tensor(k)]
        if any(k._changes is INFERENCE for k in tensors_in_key) and is_recorded(part):
            raise error("autograd.inference_saved")
        return index(part, indices=Indices(indices, (k._array for k in tensors_in_key)))
    return alias(part) if part is x else part


def sliced(x: Value, key: Any, assigned: bool = False) -> tuple[Value, dict[int, Any]]:
    """Carry out the numbers, slices and None of ``x[key]``.

    Returns
    -------
    tuple of the view that they leave of x, and the index array for each dimension that has one. The
    view is x itself where they name all of it: ``x[:9]`` of 9 entries, too, if it is ``assigned``.
    """
    keys = _keys(key)
    _check_count(x, keys, key)
    dim = 0
    gather: dict[int, Any] = {}
    seen_ellipsis = False
    for i, k in enumerate(keys):
        if k is Ellipsis:
            # It stands for the dimensions that no other key names; a second one for none.
            dim += 0 if seen_ellipsis else x.ndim - dim - _consumed(keys[i + 1 :])
            seen_ellipsis = True
        elif k is None:
            x = unsqueeze(x, dim=dim)
            dim += 1
        elif isinstance(k, bool):
            x = unsqueeze(x, dim=dim)
            gather[dim] = np.zeros(int(k), int)
            dim += 1
        elif isinstance(k, slice):
            start, stop, step = k.indices(x.shape[dim])
            if step < 0:
                raise error("indexing.negative_step")
            if not _takes_all(k, x.shape[dim]) or (isinstance(key, slice) and not assigned):
                x = slice_dim(x, dim=dim, start=start, end=max(start, stop), step=step)
            dim += 1
        elif isinstance(k, int):
            x = select(x, dim=dim, index=_checked(k, i, x.shape[dim]))
        else:
            gather[dim] = k
            dim += k.ndim if k.dtype == bool else 1
    return x, gather


def gathered(shape: Ints, gather: dict[int, Any]) -> tuple[tuple[Any, ...], Ints]:
    """Return what NumPy is to index an array of this shape with, and the shape of the result.

    For each dimension that is a slice or an index array: a mask becomes the places where it is
    true. Checks are made in PyTorch's order: types, masks, shapes; ``check_numbers`` comes last.
    """
    arrays: dict[int, Any] = {}
    for k in gather.values():
        if k.dtype.kind not in "iub":
            raise error("indexing.key_dtype")
    for dim, k in gather.items():
        arrays |= enumerate(_places(k, dim, shape), dim) if k.dtype == bool else {dim: k}
    shapes = [k.shape for k in arrays.values()]
    try:
        count = shapes[0] if len({*shapes}) == 1 else np.broadcast_shapes(*shapes)
    except ValueError:
        text = ", ".join(str(list(own)) for own in shapes)
        raise error("indexing.index_shapes", shapes=text) from None
    others = tuple(n for dim, n in enumerate(shape) if dim not in arrays)
    if 0 not in count:
        if any(shape[dim] == 0 for dim in arrays):
            raise error("indexing.into_nothing", shape=list(shape))
        if 0 in others:  # nothing is read: the numbers may be out of bounds
            arrays = {dim: k % shape[dim] for dim, k in arrays.items()}
    first, end = min(arrays), max(arrays) + 1
    indices = tuple(arrays.get(dim, slice(None)) for dim in range(end))
    first = first if end - first == len(arrays) else 0  # arrays side by side stay where they are
    return indices, others[:first] + count + others[first:]


def _places(mask: Any, dim: int, shape: Ints) -> tuple[Any, ...]:
    """Return index arrays for dimension ``dim`` on: the places where a mask is True."""
    for i, size in enumerate(mask.shape):
        if size != shape[dim + i]:
            own, at = list(shape), dim + i
            raise error("indexing.mask_shape", mask=list(mask.shape), position=i, shape=own, dim=at)
    return np.nonzero(mask)


def check_numbers(indices: tuple[Any, ...], shape: Ints) -> None:
    """Refuse numbers that are out of bounds: the first, as the elements are read."""
    arrays = {dim: k for dim, k in enumerate(indices) if not isinstance(k, slice)}
    if all(not k.size or -shape[d] <= k.min() <= k.max() < shape[d] for d, k in arrays.items()):
        return
    for numbers in zip(*(k.flat for k in np.broadcast_arrays(*arrays.values())), strict=True):
        for i, (dim, number) in enumerate(zip(arrays, numbers, strict=True)):
            _checked(int(number), i, shape[dim])  # PyTorch counts the indices, not the dimensions


def as_key(key: Any, stacklevel: int) -> Any:
    """Return a short list with lists, tensors or slices in it as a tuple, with a warning.

    Source: an old rule of NumPy's, which PyTorch keeps.
    """
    if isinstance(key, list) and len(key) < 32:
        kinds = (TensorBase, np.ndarray, Sequence, slice, type(None), type(Ellipsis))
        if any(isinstance(k, kinds) for k in key):
            warn_of_list_key(stacklevel + 1)
            return tuple(key)
    return key


def _keys(key: Any) -> list[Any]:
    return [_known(k) for k in (key if isinstance(key, tuple) else (key,))]


def _known(k: Any) -> Any:
    """Bring one key into the form of a number, bool, slice, None, ... or array."""
    if k is None or k is Ellipsis or isinstance(k, slice | bool | int):
        return k
    if isinstance(k, np.bool_ | np.integer):
        return k.item()
    if isinstance(k, str):
        raise error("indexing.string_key", kind=type(k).__name__)
    if not isinstance(k, TensorBase | np.ndarray | Sequence):
        raise error("indexing.wrong_key", kind=type(k).__name__)
    array = np.asarray(k._array if isinstance(k, TensorBase) else k)
    if array.dtype.kind == "f" and not isinstance(k, TensorBase):
        array = array.astype(int)
    if array.dtype == np.uint8:
        warn_of_old_mask(stacklevel=5)
        array = array.astype(bool)
    return array.item() if array.ndim == 0 and array.dtype.kind in "iub" else array


def _is_tensor(k: Any) -> bool:
    return isinstance(k, TensorBase) and k.ndim > 0


def _consumed(keys: list[Any]) -> int:
    """Count the dimensions of x that keys name."""
    count = 0
    for k in keys:
        if isinstance(k, np.ndarray) and k.dtype == bool:
            count += k.ndim
        elif k is not None and k is not Ellipsis and not isinstance(k, bool):
            count += 1
    return count


def _check_count(x: Value, keys: list[Any], key: Any) -> None:
    if _consumed(keys) <= x.ndim:
        return
    if x.ndim:
        raise error("indexing.too_many", ndim=x.ndim, shape=list(x.shape))
    if isinstance(key, slice):
        raise error("indexing.slice_of_0d")
    if not isinstance(key, int | np.integer):
        raise error("indexing.too_many_for_0d")
    if key == 0:
        raise error("indexing.item_of_0d")
    raise error("indexing.number_of_0d", index=key)


def _checked(k: int, dim: int, size: int) -> int:
    if not size:
        raise error("indexing.out_of_none", index=k, dim=dim)
    if not -size <= k < size:
        raise error("indexing.out_of_bounds", index=k, dim=dim, size=size, last=size - 1)
    return k % size


def _takes_all(k: slice, size: int) -> bool:
    """Return whether a slice names all entries by its form: ``:`` does, ``-1:`` never."""
    return k.start in (None, 0) and (k.stop is None or k.stop >= size) and k.step in (None, 1)
