"""Elements that change places: rolled, turned, looked at in windows or by strides of their own.

After reading this file you know that windows which overlap add their gradients up. Read next:
``selecting.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.core.versions import memory_of
from autodiff_kit.errors import error
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.indexing import index_backward
from autodiff_kit.ops.layouts import empty_like, zeros
from autodiff_kit.ops.shape import reshape, t, transpose
from autodiff_kit.ops.table import op, vjp

__all__ = ["as_strided", "roll", "rot90", "squeeze_in_place", "t_in_place"]
__all__ += ["transpose_in_place", "unfold", "unfold_backward", "unsqueeze_in_place"]


@op("roll(x, shifts, dims)", tex=r"x_{i-k}", layout="rows")
def roll(x: Value, *, shifts: Ints, dims: Ints) -> Value:
    """Move elements along dimensions; what leaves at the end comes back at the start."""
    return np.roll(x, shifts, dims) if dims else np.roll(x, shifts[0])


@roll.vjp("x", tex=r"\bar z_{i+k}")
def _(g: Value, shifts: Ints, dims: Ints) -> Value:
    return roll(g, shifts=tuple(-n for n in shifts), dims=dims)


@op("rot90(x, k, dims)", tex=r"x^{\circlearrowleft}", layout="own")
@vjp("x", lambda g, k, dims: rot90(g, k=-k, dims=dims), tex=r"\bar z^{\circlearrowright}")
def rot90(x: Value, *, k: int, dims: Ints) -> Value:
    """Turn by 90 degrees, k times, in the plane of two dimensions."""
    if k % 2 == 0:
        return np.ascontiguousarray(np.rot90(x, k, (dims[0], dims[1])))
    flipped = empty_like(x)
    flipped[...] = np.flip(x, dims[1] if k % 4 == 1 else dims[0])
    return np.swapaxes(flipped, *dims)


# -- in place: the memory stays, only how it is read changes --------------------------------------


@op("x.squeeze()", tex=r"x", node="SqueezeBackward3", layout="own")
@vjp("x", lambda g, x_shape: reshape(g, shape=x_shape), tex=r"\bar z")
def squeeze_in_place(x: Value) -> Value:
    """Remove all dimensions of size 1."""
    return np.squeeze(x)


@op("x.unsqueeze(dim)", tex=r"x", node="UnsqueezeBackward1", layout="own")
@vjp("x", lambda g, x_shape: reshape(g, shape=x_shape), tex=r"\bar z")
def unsqueeze_in_place(x: Value, *, dim: int) -> Value:
    """Insert a dimension of size 1."""
    return np.expand_dims(x, dim)


@op("x.t()", tex=r"x^\top", node="TBackward1", layout="own")
@vjp("x", lambda g: t(g), tex=r"\bar z^\top")
def t_in_place(x: Value) -> Value:
    """Transpose a matrix."""
    if x.ndim > 2:
        raise error("shapes.t_of_many", name="t_", ndim=x.ndim)
    return x.T


@op("x.transpose(dim0, dim1)", tex=r"x^\top", node="TransposeBackward1", layout="own")
@vjp("x", lambda g, dim0, dim1: transpose(g, dim0=dim0, dim1=dim1), tex=r"\bar z^\top")
def transpose_in_place(x: Value, *, dim0: int, dim1: int) -> Value:
    """Swap two dimensions."""
    return np.swapaxes(x, dim0, dim1) if x.ndim else x


# -- windows --------------------------------------------------------------------------------------


@op("x.unfold(dim, size, step)", tex=r"x_{[i : i + n]}", view=True)
def unfold(x: Value, *, dim: int, size: int, step: int) -> Value:
    """Look at windows along a dimension; they become a new last dimension."""
    if not x.ndim:
        return _strided(x, (size,), (0,))
    count, stride = (x.shape[dim] - size) // step + 1, x.strides[dim]
    shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
    return _strided(x, shape, (*x.strides[:dim], step * stride, *x.strides[dim + 1 :], stride))


def _strided(x: Value, shape: Ints, steps: Ints, start: int | None = None) -> Value:
    """Look at x's storage: not by NumPy's as_strided, which hides whose memory, and version, it is.

    ``start`` is in bytes; by default it is where x starts.
    """
    x = np.asarray(x)
    memory = memory_of(x).ravel("K")
    if start is None:
        start = x.ctypes.data - memory.ctypes.data
    return np.ndarray(shape, x.dtype, memory, 0 if 0 in shape else start, steps)


@unfold.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, dim: int, size: int, step: int) -> Value:
    return unfold_backward(g, shape=x_shape, dim=dim, size=size, step=step)


@op("zeros with x added in windows", tex=r"\textstyle\sum x \text{ put back}", layout="rows")
def unfold_backward(x: Value, *, shape: Ints, dim: int, size: int, step: int) -> Value:
    """Add windows up where they were taken from."""
    if not shape:
        return x.sum(dtype=x.dtype)
    out = np.zeros(shape, x.dtype)
    count = x.shape[dim]
    before = (slice(None),) * dim
    for i in range(size):
        out[(*before, slice(i, i + (count - 1) * step + 1, step))] += x[..., i]
    return out


@unfold_backward.vjp("x", tex=r"\bar z_{[i : i + n]}")
def _(g: Value, dim: int, size: int, step: int) -> Value:
    return unfold(g, dim=dim, size=size, step=step)


@op("x.as_strided(size, stride, offset)", tex=r"x_I", view=True)
def as_strided(x: Value, *, size: Ints, stride: Ints, offset: int) -> Value:
    """Look at the storage of x with sizes and strides of one's own.

    RuntimeError if that would reach beyond the storage.
    """
    memory = memory_of(x).ravel("K")
    width = x.itemsize
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and not 0 <= last < memory.size:
        raise error(
            "shapes.beyond_storage",
            size=[*size],
            stride=[*stride],
            offset=offset,
            needed=(last + 1) * width,
            there=memory.nbytes,
            itemsize=width,
        )
    steps = tuple(step * width for step in stride)
    return _strided(x, size, steps, offset * width)


@as_strided.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, size: Ints, stride: Ints, offset: int) -> Value:
    if 0 in size:
        return zeros(g, x_shape)  # without a history, as PyTorch's
    count = int(np.prod(x_shape))
    places = np.full(size, offset)
    for dim, step in enumerate(stride):
        places += step * np.arange(size[dim]).reshape((-1,) + (1,) * (len(size) - dim - 1))
    return reshape(index_backward(g, shape=(count,), indices=(places,)), shape=x_shape)
