"""Other shapes and orders of the same elements: ``view_as``, ``movedim``, ``tile``, ``roll`` ...

After reading this file you know that most of these are a transposition or a reshape under a name
that says what it is for. Read next: ``joining.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from autodiff_kit import inplace, ops
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import Size
from autodiff_kit.errors import error
from autodiff_kit.functions.declared import Ints, alias, function, method, overloaded
from autodiff_kit.ops import counting, moving, shape
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.sizes import as_dims, sizes_given
from autodiff_kit.tensor import Tensor

__all__ = ["adjoint", "as_strided", "broadcast_shapes", "broadcast_tensors", "broadcast_to"]
__all__ += ["expand_as", "fliplr", "flipud", "moveaxis", "movedim", "narrow_copy", "ravel"]
__all__ += ["repeat_interleave", "reshape_as", "roll", "rot90", "select", "sum_to_size"]
__all__ += ["squeeze_", "swapaxes", "swapaxes_", "swapdims", "t_", "tile", "transpose_"]
__all__ += ["unflatten", "unfold", "unravel_index", "unsqueeze_", "view_as"]


# -- views ----------------------------------------------------------------------------------------


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the same memory in the shape of another tensor."""
    return self.view(other.shape)


@method
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the same elements in the shape of another tensor."""
    return self.reshape(other.shape)


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Repeat dimensions of size 1, without copying, up to the shape of another tensor."""
    return self.expand(other.shape)


@overloaded("(Tensor input, only tuple of ints size)")
def broadcast_to(input: Tensor, *sizes: Ints, size: Ints | None = None) -> Tensor:
    """Repeat dimensions of size 1, without copying, up to a shape."""
    return input.expand(sizes_given("broadcast_to", "size", sizes, size))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Expand tensors to the one shape that they broadcast to."""
    try:
        shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except ValueError:
        shapes = tuple(tensor._array.shape for tensor in tensors)
        raise RuntimeError(broadcast_message("broadcast_tensors", shapes)) from None
    return tuple(t if t.shape == shape else t.expand(shape) for t in tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of some shapes broadcast to."""
    sizes = [as_dims(shape) for shape in shapes]
    out: tuple[int, ...] = ()
    for i, size in enumerate(sizes):
        try:
            out = np.broadcast_shapes(out, size)
        except ValueError:
            back = next(k for k in range(1, 99) if size[-k] != 1 != out[-k] != size[-k])
            length = size[-back]
            raise error(
                "functions.broadcast_shapes",
                length=length,
                back=-back,
                index=i,
                shape=size,
                other=[*out],
            ) from None
    return Size(out)


@function
def ravel(input: Tensor) -> Tensor:
    """Return all elements in one dimension: a view where possible."""
    return input.contiguous().view(-1)


@function
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Take the entries with one index along a dimension, which disappears."""
    if not input.ndim:
        raise error("functions.select_of_0d")
    dim = input._dim(dim)
    size = input.shape[dim]
    if not -size <= index < size:
        raise error("functions.select_index", index=index, shape=[*input.shape], dim=dim)
    return ops.select(input, dim=dim, index=int(index) % size)


@overloaded(
    "(Tensor input, int source, int destination)",
    "(Tensor input, only tuple of ints source, only tuple of ints destination)",
)
def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Move dimensions to other places; the rest keep their order."""
    if isinstance(source, int) != isinstance(destination, int):
        raise TypeError  # the words come from ``signatures.py``
    old, new = ([input._dim(d) for d in as_dims(dims)] for dims in (source, destination))
    for name, dims, entered in (("source", old, source), ("destination", new, destination)):
        if len(set(dims)) < len(dims):
            raise error("functions.movedim_twice", name=name, dims=[*as_dims(entered)])
    if len(old) != len(new):
        raise error("functions.movedim_count", source=len(old), destination=len(new))
    if not input.ndim:
        return ops.alias(input)
    places = dict(zip(new, old, strict=True))
    rest = iter([d for d in range(input.ndim) if d not in old])
    return input.permute([places[d] if d in places else next(rest) for d in range(input.ndim)])


moveaxis = alias("moveaxis", movedim)


@function
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Swap two dimensions: ``transpose``."""
    return input.transpose(axis0, axis1)


@function
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap two dimensions: ``transpose``."""
    return input.transpose(dim0, dim1)


@function
def adjoint(input: Tensor) -> Tensor:
    """Transpose the last two dimensions: ``mH``."""
    return input.mH


@function
def unflatten(input: Tensor, dim: int, sizes: Ints) -> Tensor:
    """Cut one dimension into several; one size may be -1."""
    dim, parts = input._dim(dim), as_dims(sizes)
    if not parts:
        raise error("functions.unflatten_empty")
    if not input.ndim:
        raise error("functions.unflatten_0d")
    size = input.shape[dim]
    product = math.prod(n for n in parts if n != -1)
    if parts.count(-1) == 1 and product and size % product == 0:
        parts = tuple(size // product if n == -1 else n for n in parts)
    if math.prod(parts) != size or -1 in parts:
        raise error("functions.unflatten", sizes=[*as_dims(sizes)], dim=dim, size=size)
    return input.view(*input.shape[:dim], *parts, *input.shape[dim + 1 :])


@method
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Look at windows of a size along a dimension; they become a new last dimension."""
    dim = self._dim(dimension)
    length = self.shape[dim] if self.ndim else 1
    if size < 0:
        raise error("functions.unfold_negative", size=size)
    if size > length:
        raise error("functions.unfold_size", dim=dim, length=length, size=size)
    if step <= 0:
        raise error("functions.unfold_step", step=step)
    return moving.unfold(self, dim=dim, size=size, step=step)


@function
def as_strided(
    input: Tensor, size: Ints, stride: Ints, storage_offset: int | None = None
) -> Tensor:
    """Look at the storage of a tensor with sizes and strides of one's own."""
    sizes, strides = as_dims(size), as_dims(stride)
    if len(sizes) != len(strides):
        raise error("functions.as_strided_lengths")
    if any(step < 0 for step in strides):
        raise error("functions.as_strided_backwards", strides=[*strides])
    if any(n < 0 for n in sizes) and 0 not in sizes:
        raise error("functions.as_strided_sizes", sizes=[*sizes], strides=[*strides])
    start = input.storage_offset()
    if input.requires_grad and (start or not input.is_contiguous()):
        raise error("functions.as_strided_of_view")
    offset = start if storage_offset is None else storage_offset
    if offset < 0:
        raise error("functions.as_strided_offset", offset=offset)
    return moving.as_strided(input, size=sizes, stride=strides, offset=offset)


@method
def sum_to_size(self: Tensor, *size: int) -> Tensor:
    """Sum over the dimensions along which a shape was broadcast to that of the tensor."""
    sizes = as_dims(size[0]) if len(size) == 1 else size
    if not sizes:
        return self.sum()
    added = self.ndim - len(sizes)
    pairs = zip(sizes, self.shape[max(added, 0) :], strict=False)
    if added < 0 or any(n not in (1, m) for n, m in pairs):
        raise error("functions.sum_to_size", size=[*sizes], shape=[*self.shape])
    broadcast = [i + added for i, n in enumerate(sizes) if n == 1 != self.shape[i + added]]
    dims = [*range(added), *broadcast]
    total = self.sum(dims, keepdim=True) if dims else self
    return total.view(sizes) if added else total


# -- in place: only how the memory is read changes ------------------------------------------------


@method
def squeeze_(self: Tensor, dim: Ints | None = None) -> Tensor:
    """Remove dimensions of size 1 in place: all, or some."""
    inplace.refuse_rearranging(self, "squeeze_")
    if dim is None:
        return inplace.rearrange(self, "squeeze_", moving.squeeze_in_place)
    for d in sorted((self._dim(d) for d in as_dims(dim)), reverse=True):
        if self.shape[d : d + 1] == (1,):
            inplace.rearrange(self, "squeeze_", ops.drop_dim, dim=d)
    return self


@method
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Insert a dimension of size 1 in place."""
    inplace.refuse_rearranging(self, "unsqueeze_")
    place = self._dim(dim, extra=1)
    return inplace.rearrange(self, "unsqueeze_", moving.unsqueeze_in_place, dim=place)


@method
def t_(self: Tensor) -> Tensor:
    """Transpose a matrix in place."""
    return inplace.rearrange(self, "t_", moving.t_in_place)


@method
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap two dimensions in place."""
    inplace.refuse_rearranging(self, "transpose_")
    dims = {"dim0": self._dim(dim0), "dim1": self._dim(dim1)}
    return inplace.rearrange(self, "transpose_", moving.transpose_in_place, **dims)


@method
def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Swap two dimensions in place: ``transpose_``."""
    return self.transpose_(axis0, axis1)


# -- copies ---------------------------------------------------------------------------------------


@function
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Copy ``length`` entries from ``start`` along a dimension."""
    if input.ndim and dim >= input.ndim:
        raise error("functions.narrow_copy_dim")
    input.narrow(dim, start, max(length, 0))  # which looks at all but a length below 0
    dim, start = input._dim(dim), index(start)
    start += input.shape[dim] * (start < 0)
    if length < 0:
        raise error("indexing.narrow_end", start=start, length=length, size=input.shape[dim])
    return shape.narrow_copy(input, dim=dim, start=start, length=length)


@function
def roll(input: Tensor, shifts: Ints, dims: Ints = ()) -> Tensor:
    """Move elements along dimensions; what leaves at the end comes back at the start."""
    by, along = as_dims(shifts), as_dims(dims)
    if len(by) != len(along) and not (len(by) == 1 and not along):
        raise error("functions.roll", shifts=len(by), dims=len(along))
    if along and not input.ndim:
        raise error("shapes.size_of_0d", dim=along[0])
    return moving.roll(input, shifts=by, dims=tuple(input._dim(d) for d in along))


@function
def rot90(input: Tensor, k: int = 1, dims: Ints = (0, 1)) -> Tensor:
    """Turn by 90 degrees, k times, from the first of two dimensions to the second."""
    plane = as_dims(dims)
    if len(plane) != 2:
        raise error("functions.rot90_dims", count=len(plane))
    if input.ndim < 2:
        raise error("functions.rot90_ndim", ndim=input.ndim)
    if plane[0] == plane[1]:
        raise error("functions.rot90_same", first=plane[0], second=plane[1])
    first, second = (input._dim(d) for d in plane)
    return moving.rot90(input, k=k, dims=(first, second))


@function
def fliplr(input: Tensor) -> Tensor:
    """Reverse the order along the second dimension: left becomes right."""
    if input.ndim < 2:
        raise error("functions.flip_ndim", ndim=2)
    return input.flip(1)


@function
def flipud(input: Tensor) -> Tensor:
    """Reverse the order along the first dimension: up becomes down."""
    if not input.ndim:
        raise error("functions.flip_ndim", ndim=1)
    return input.flip(0)


@overloaded("(Tensor input, only tuple of ints dims)")
def tile(input: Tensor, *counts: Ints, dims: Ints | None = None) -> Tensor:
    """Repeat along the dimensions; fewer numbers than dimensions are those of the last ones."""
    counts = sizes_given("tile", "dims", counts, dims)
    return input.repeat((1,) * (input.ndim - len(counts)) + counts)


@overloaded(
    "(Tensor input, Tensor repeats, int dim = None, *, int output_size = None)",
    "(Tensor repeats, *, int output_size = None)",
    "(Tensor input, int repeats, int dim = None, *, int output_size = None)",
)
def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Repeat each entry along a dimension: all as often, or each as often as ``repeats`` says.

    Without ``dim`` the tensor is flattened first. Alone, ``input`` says how often 0, 1, 2 ... are
    to be repeated.
    """
    if repeats is None:
        return _each_as_often(input)
    if dim is None:
        return repeat_interleave(input.flatten(), repeats, 0)
    dim = input._dim(dim)
    if isinstance(repeats, Tensor):
        count = repeats.numel()
        if repeats.ndim > 1:
            raise error("functions.repeats_ndim")
        if not input.ndim:
            raise error("shapes.size_of_0d", dim=dim)
        size = input.shape[dim]
        if count not in (1, size) or (repeats.ndim and count != size and count != 1):
            raise error("functions.repeats_count", dim=dim, count=count, size=size)
        many = repeats.reshape(1).expand(size) if count == 1 else repeats
        return input.index_select(dim, _each_as_often(many))
    if repeats < 0:
        raise error("functions.repeats_negative")
    if not input.ndim:
        raise error("shapes.dim_out_of_range", low=-1, high=0, dim=1, shape=())
    wide = input.unsqueeze(dim + 1)
    wide = wide.expand(*input.shape[: dim + 1], repeats, *input.shape[dim + 1 :])
    return ops.contiguous(wide).flatten(dim, dim + 1)


def _each_as_often(counts: Tensor) -> Tensor:
    array = counts._array
    if array.dtype.kind not in "iu":
        kind = counts.type().removeprefix("torch.").removesuffix("Tensor")
        raise error("functional.whole_numbers", kernel="repeat_interleave_cpu", kind=kind)
    if array.ndim != 1:
        raise error("functions.repeats_ndim")
    if array.size and array.min() < 0:
        raise error("functions.repeats_negative")
    return counting.repeat_interleave(counts)


def unravel_index(indices: Tensor, shape: Ints) -> tuple[Tensor, ...]:
    """Return the places, one tensor per dimension, of elements that are counted row by row."""
    if indices._array.dtype.kind not in "iu":
        raise error("functions.unravel_dtype", dtype=indices.dtype)
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, Sequence):
        raise error("functions.unravel_shape", kind=type(shape))
    for size in sizes:
        if not isinstance(size, int):
            raise error("functions.unravel_size", kind=type(size))
    if any(size < 0 for size in sizes):
        raise error("functions.unravel_negative", shape=tuple(sizes))
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    places = indices.unsqueeze(-1) // wrap(np.array(steps, int)) % wrap(np.array(sizes, int))
    return places.unbind(-1)
