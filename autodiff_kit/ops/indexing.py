"""Indexing: one number, a slice, or tensors of numbers and truth values.

After reading this file you know that taking elements out forward is putting gradients back
backward - and adding them up where an element was taken more than once. Read next:
``gathering.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.dtypes import number_in
from autodiff_kit.errors import error
from autodiff_kit.ops.apply import tensors
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import to_copy, zeros_like
from autodiff_kit.ops.shape import alias, reshape, slice_dim, unsqueeze
from autodiff_kit.ops.table import op, vjp

__all__ = ["copy_from", "fill", "fill_with", "getitem", "index", "index_backward", "index_put"]
__all__ += ["is_basic", "is_plain_gather", "pick", "put", "select", "select_backward", "zero"]


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
    """Index arrays and slices for NumPy; ``given`` are the arrays of the tensors in the key.

    A mask becomes numbers; but when it is the mask that changes, backward must not go on.
    """

    given: tuple[Any, ...]

    def __new__(cls, indices: Iterable[Any], given: Iterable[Any]) -> Indices:
        """Make them a tuple."""
        made = super().__new__(cls, indices)
        made.given = tuple(given)
        return made


@op("x[indices]", tex=r"x_I", node="IndexBackward0", frees=True)
def index(x: Value, *, indices: tuple[Any, ...]) -> Value:
    """Take elements by integer or bool arrays: a copy, not a view."""
    return x[indices]


@index.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, indices: tuple[Any, ...]) -> Value:
    return index_backward(g, shape=x_shape, indices=indices)


@op("zeros with x added at [indices]", tex=r"\textstyle\sum x \text{ put back}")
@vjp("x", lambda g, indices: index(g, indices=indices), tex=r"\bar z_I")
def index_backward(x: Value, *, shape: Ints, indices: tuple[Any, ...]) -> Value:
    """Add elements into zeros at indices; what was taken twice is added twice."""
    out = np.zeros(shape, x.dtype)
    np.add.at(out, indices, x)
    return out


# -- what changes in place compute (inplace.py) ---------------------------------------------------
# Positions count the elements row by row: any view of a tensor is an array of positions in it.


@op("x[positions]", tex=r"x_I", node="AsStridedBackward0")
def pick(x: Value, *, positions: Any) -> Value:
    """Take the elements at positions: what a view holds after its base was changed in place."""
    return x.reshape(-1)[positions]


@pick.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, positions: Any) -> Value:
    count = int(np.prod(x_shape))
    flat = index_backward(g, shape=(count,), indices=(positions,))
    return reshape(flat, shape=x_shape)


def _overwritten(x: Value, y: Value, positions: Any) -> Value:
    out = np.array(x, order="C")  # in the order in which the positions count
    out.reshape(-1)[positions] = y
    return out if x.ndim else out[()]


@op(
    "x with x[positions] = y",
    tex=r"x_{I \leftarrow y}",
    node="torch::autograd::CopySlices",
    dtypes="any",
    frees=True,
)
def put(x: Value, y: Value, *, positions: Any) -> Value:
    """Overwrite the elements of a view: what ``x[0] = y`` does to x."""
    return _overwritten(x, y, positions)


@op(
    "x with x[positions] = y",
    tex=r"x_{I \leftarrow y}",
    node="IndexPutBackward0",
    dtypes="any",
    frees=True,
)
def index_put(x: Value, y: Value, *, positions: Any) -> Value:
    """Overwrite elements at indices: what ``x[[0, 2]] = y`` and ``x[mask] = y`` do to x."""
    return _overwritten(x, y, positions)


for _putting in (put, index_put):

    @_putting.vjp("x", tex=r"\bar z_{I \leftarrow 0}")
    def _(g: Value, positions: Any) -> Value:
        return put(g, 0, positions=positions)  # what was overwritten has no influence any more

    @_putting.vjp("y", tex=r"\bar z_I")
    def _(g: Value, positions: Any) -> Value:
        return pick(g, positions=positions)


@op("y", tex=r"y", node="torch::autograd::CopyBackwards", dtypes="any")
@vjp("y", lambda g, y_dtype: to_copy(g, dtype=y_dtype), tex=r"\bar z")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def copy_from(x: Value, y: Value) -> Value:
    """Return y in the shape and dtype of x: what ``x.copy_(y)`` computes."""
    out = np.empty(x.shape, x.dtype)
    out[...] = y
    return out if x.ndim else out[()]


@op("y", tex=r"y", node="FillBackward3", dtypes="any")
@vjp("y", lambda g, y_dtype: to_copy(g, dtype=y_dtype), tex=r"\bar z")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def fill_with(x: Value, y: Value) -> Value:
    """Return the one number of y in the shape and dtype of x: what ``x.fill_(y)`` computes."""
    return np.full_like(x, y)[()]


@op("value", tex=r"a", node="FillBackward2")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def fill(x: Value, *, value: float) -> Value:
    """Return one number in the shape of x: what ``x.fill_`` computes."""
    return np.full_like(x, number_in(value, x.dtype))[()]


@op("0", tex=r"0")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def zero(x: Value) -> Value:
    """Return zeros in the shape of x: what ``x.zero_()`` computes."""
    return np.zeros_like(x)[()]


# -- reading an index as PyTorch does -------------------------------------------------------------


def getitem(x: Value, key: Any) -> Value:
    """Carry out ``x[key]``: one op per number, slice or None, then one gather.

    IndexError for too many indices, an index out of bounds, or a key of the wrong kind.
    """
    keys = [_known(k) for k in (key if isinstance(key, tuple) else (key,))]
    _check_count(x, keys, key)
    before = x
    dim = 0
    gather: dict[int, Any] = {}  # dimension -> the index array for it
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
            if (start, stop, step) != (0, x.shape[dim], 1) or not isinstance(key, tuple):
                x = slice_dim(x, dim=dim, start=start, end=max(start, stop), step=step)
            dim += 1
        elif isinstance(k, int):
            x = select(x, dim=dim, index=_checked(k, i, x.shape[dim]))
        else:
            for array in _index_arrays(k, dim, x.shape, len(gather)):
                gather[dim] = array
                dim += 1
    if gather:
        given = (k._array for k in (key if isinstance(key, tuple) else (key,)) if _is_tensor(k))
        return index(x, indices=Indices(_together(gather, dim), given))
    return alias(x) if x is before else x


def is_basic(key: Any) -> bool:
    """Return whether ``x[key]`` is a view: made of numbers, slices, None and ... only."""
    keys = key if isinstance(key, tuple) else (key,)
    basic = (int, slice, type(None), type(Ellipsis))
    return all(isinstance(k, basic) and not isinstance(k, bool) for k in map(_known, keys))


def is_plain_gather(key: Any) -> bool:
    """Return whether ``x[key]`` gathers from x itself: it has no numbers and no partial slices."""
    keys = map(_known, key if isinstance(key, tuple) else (key,))
    return all(isinstance(k, np.ndarray) or k in (Ellipsis, slice(None)) for k in keys)


def _known(k: Any) -> Any:
    """Bring one key into the form of a number, bool, slice, None, ... or array."""
    if k is None or k is Ellipsis or isinstance(k, slice | bool | int):
        return k
    if isinstance(k, np.bool_ | np.integer):
        return k.item()
    if isinstance(k, float):
        raise error("indexing.float_key")
    if isinstance(k, str):
        raise error("indexing.string_key", kind=type(k).__name__)
    array = np.asarray(k._array if isinstance(k, tensors.Tensor) else k)
    if array.dtype.kind not in "iub":
        if array.size:
            raise error("indexing.key_dtype")
        array = array.astype(int)
    if array.dtype == np.uint8:
        array = array.astype(bool)  # PyTorch's old masks
    return array.item() if array.ndim == 0 else array


def _is_tensor(k: Any) -> bool:
    return isinstance(k, tensors.Tensor) and k.ndim > 0


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


def _index_arrays(k: Any, dim: int, shape: Ints, before: int) -> tuple[Any, ...]:
    """Return index arrays for dimension ``dim`` on: a mask becomes the places where it is True."""
    if k.dtype != bool:
        if k.size and shape[dim] == 0:
            raise error("indexing.into_nothing", shape=list(shape))
        for extreme in (k.min(), k.max()) if k.size else ():
            _checked(int(extreme), before, shape[dim])  # PyTorch counts the indices, not the dims
        return (k,)
    for i, size in enumerate(k.shape):
        if size != shape[dim + i]:
            mask, own, at = list(k.shape), list(shape), dim + i
            raise error("indexing.mask_shape", mask=mask, position=i, shape=own, dim=at)
    return np.nonzero(k)


def _together(gather: dict[int, Any], dims: int) -> tuple[Any, ...]:
    try:
        np.broadcast_shapes(*(array.shape for array in gather.values()))
    except ValueError:
        shapes = ", ".join(str(list(array.shape)) for array in gather.values())
        raise error("indexing.index_shapes", shapes=shapes) from None
    return tuple(gather.get(dim, slice(None)) for dim in range(dims))
