"""Indexing: one number, a slice, or tensors of numbers and truth values.

After reading this file you know that taking elements out forward is putting gradients back
backward - and adding them up where an element was taken more than once. Read next:
``losses.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.errors import teach
from autodiff_kit.ops.shape import slice_dim, unsqueeze
from autodiff_kit.ops.table import op
from autodiff_kit.tensor import Tensor

__all__ = ["getitem", "index", "index_backward", "put", "raw_index", "select", "select_backward"]


@op("x[index]", tex=r"x_i", view=True)
def select(x: Value, *, dim: int, index: int) -> Value:
    """Take the entries with one index along one dimension, which disappears."""
    return x[(slice(None),) * dim + (index, ...)]


@select.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: tuple[int, ...], dim: int, index: int) -> Value:
    return select_backward(g, shape=x_shape, dim=dim, index=index)


@op("zeros with x at [index]", tex=r"x \text{ put back}")
def select_backward(x: Value, *, shape: tuple[int, ...], dim: int, index: int) -> Value:
    """Put selected entries back into zeros of the shape they were taken from."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * dim + (index,)] = x
    return out


@select_backward.vjp("x", tex=r"\bar z_i")
def _(g: Value, dim: int, index: int) -> Value:
    return select(g, dim=dim, index=index)


@op("x[indices]", tex=r"x_I", node="IndexBackward0")
def index(x: Value, *, indices: tuple[Any, ...]) -> Value:
    """Take elements by integer or bool arrays: a copy, not a view."""
    return x[indices]


@index.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: tuple[int, ...], indices: tuple[Any, ...]) -> Value:
    return index_backward(g, shape=x_shape, indices=indices)


@op("zeros with x added at [indices]", tex=r"\textstyle\sum x \text{ put back}")
def index_backward(x: Value, *, shape: tuple[int, ...], indices: tuple[Any, ...]) -> Value:
    """Add elements into zeros at indices; what was taken twice is added twice."""
    out = np.zeros(shape, x.dtype)
    np.add.at(out, indices, x)
    return out


@index_backward.vjp("x", tex=r"\bar z_I")
def _(g: Value, indices: tuple[Any, ...]) -> Value:
    return index(g, indices=indices)


@op("x with x[key] = y", tex=r"x_{I \leftarrow y}", node="CopySlices", dtypes="any")
def put(x: Value, y: Value, *, key: tuple[Any, ...]) -> Value:
    """Overwrite elements: what ``x[key] = y``, ``copy_`` and ``fill_`` compute."""
    out = np.array(x)
    out[key] = y
    return out if x.ndim else out[()]


@put.vjp("x", tex=r"\bar z_{I \leftarrow 0}")
def _(g: Value, key: tuple[Any, ...]) -> Value:
    return put(g, 0, key=key)  # what was overwritten has no influence any more


@put.vjp("y", tex=r"\bar z_I")
def _(g: Value, key: tuple[Any, ...]) -> Value:
    return raw_take(g, key=key)


@op("x[key]", tex=r"x_I", node="IndexBackward0")
def raw_take(x: Value, *, key: tuple[Any, ...]) -> Value:
    """Take a copy of the elements under any NumPy index."""
    return np.array(x[key])[()]


@raw_take.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: tuple[int, ...], key: tuple[Any, ...]) -> Value:
    return index_backward(g, shape=x_shape, indices=key)


def getitem(x: Tensor, key: Any) -> Tensor:
    """Carry out ``x[key]`` as PyTorch does: one op per number, slice or None, then one gather.

    Raises
    ------
    IndexError
        For too many indices, an index out of bounds, or a key of the wrong kind.
    """
    keys = _expand_ellipsis(x, key if isinstance(key, tuple) else (key,))
    dim, gather = 0, []
    for k in keys:
        if k is None:
            x = unsqueeze(x, dim=dim)
            dim += 1
        elif isinstance(k, slice):
            start, stop, step = k.indices(x.shape[dim])
            if step < 0:
                raise ValueError(
                    teach("step must be greater than zero", "Use x.flip(dim) to reverse.")
                )
            if k != slice(None):
                x = slice_dim(x, dim=dim, start=start, end=max(start, stop), step=step)
            dim += 1
        elif isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            x = select(x, dim=dim, index=_checked(int(k), dim, x.shape[dim]))
        else:
            array = _index_array(k)
            gather.append((dim, array))
            dim += array.ndim if array.dtype == bool else 1
    if gather:
        indices: list[Any] = [slice(None)] * x.ndim
        for at, array in gather:
            indices[at] = array
        try:
            return index(x, indices=tuple(indices))  # type: ignore[no-any-return]
        except IndexError as error:
            raise IndexError(teach(str(error), f"The tensor has shape {x.shape}.")) from None
    if x is not None and all(isinstance(k, slice) and k == slice(None) for k in keys):
        return x.alias()
    return x


def raw_index(x: Tensor, key: Any) -> Any:
    """Return ``key`` for indexing ``x``'s array: tensors become arrays, bounds are checked."""
    keys = _expand_ellipsis(x, key if isinstance(key, tuple) else (key,))
    dim, raw = 0, []
    for k in keys:
        if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            _checked(int(k), dim, x.shape[dim])
        elif k is not None and not isinstance(k, slice):
            k = _index_array(k)
        raw.append(k)
        dim += 0 if k is None else k.ndim if isinstance(k, np.ndarray) and k.dtype == bool else 1
    return tuple(raw)


def _expand_ellipsis(x: Tensor, keys: tuple[Any, ...]) -> list[Any]:
    def dims(k: Any) -> int:
        if k is None or k is Ellipsis:
            return 0
        return k.ndim if isinstance(k, Tensor) and k._array.dtype == bool else 1

    used = sum(map(dims, keys))
    if used > x.ndim:
        if x.ndim == 0:
            raise IndexError(
                teach(
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                    "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
                    "A 0-d tensor holds one number and has nothing to index.",
                )
            )
        raise IndexError(
            teach(
                f"too many indices for tensor of dimension {x.ndim}",
                f"The tensor has shape {x.shape}; give at most {x.ndim} indices.",
            )
        )
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), len(keys))
    return [*keys[:at], *[slice(None)] * (x.ndim - used), *keys[at + 1 :]]


def _checked(k: int, dim: int, size: int) -> int:
    if not -size <= k < size:
        raise IndexError(
            teach(
                f"index {k} is out of bounds for dimension {dim} with size {size}",
                f"Valid indices are {-size} to {size - 1}.",
            )
        )
    return k % size


def _index_array(k: Any) -> Any:
    array = k._array if isinstance(k, Tensor) else np.asarray(k)
    array = np.asarray(array)
    if array.dtype.kind not in "iub":
        raise IndexError(
            teach(
                "tensors used as indices must be long, int, byte or bool tensors",
                "Convert the index with .long(), or build it by a comparison such as x > 0.",
            )
        )
    return array
