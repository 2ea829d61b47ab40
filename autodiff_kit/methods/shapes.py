"""The methods that arrange the elements of a tensor anew: reshape, permute, split and the like.

After reading this file you know which of them give a view, and how dimensions are counted from the
end. Nothing is computed here. Read next: ``ops/shape.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import wrap
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import dtype
from autodiff_kit.errors import error, warn_of_transpose
from autodiff_kit.from_data import as_int
from autodiff_kit.methods.makers import Own
from autodiff_kit.sizes import EVERY, as_dims, can_view, complete, is_no_dim, sizes_given

__all__ = ["Shapes"]


class Shapes:
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _array: Any
    _node: Any

    def reshape(self: Own, *args: Any, shape: Any = None) -> Own:
        """Return the same elements in another shape: a view where possible, else a copy."""
        sizes = complete(self, sizes_given("reshape", "shape", args, shape))
        if not can_view(self._array, sizes):
            return ops.unsafe_view(ops.contiguous(self), shape=sizes)
        if self.is_contiguous():
            return ops.reshape(self, shape=sizes)
        is_refused = int(np.prod(sizes)) != self.numel()  # the sizes before the history
        return ops.reshape_alias(wrap(self._array) if is_refused else self, shape=sizes)

    def view(self: Own, *args: Any, size: Any = None) -> Own:
        """Return the same memory in another shape; RuntimeError if it does not lie for that."""
        if args and isinstance(args[0], dtype):
            raise error("shapes.view_of_bytes", dtype=args[0])
        sizes = complete(self, sizes_given("view", "size", args, size))
        if not can_view(self._array, sizes):
            raise error("shapes.view_of_scattered")
        return ops.reshape(self, shape=sizes)

    def flatten(self: Own, start_dim: int = 0, end_dim: int = -1) -> Own:
        """Join dimensions ``start_dim`` to ``end_dim`` into one."""
        start, end = self._dim(start_dim), self._dim(end_dim)
        if start > end:
            raise error("shapes.flatten_backwards", start=start_dim, end=end_dim)
        if self.ndim and start == end:
            return self
        sizes = (int(np.prod(self.shape[start : end + 1])),)
        return self.reshape(*self.shape[:start], *sizes, *self.shape[end + 1 :])

    def permute(self: Own, *args: Any, dims: Any = None) -> Own:
        """Reorder the dimensions."""
        axes = sizes_given("permute", "dims", args, dims)
        if len(axes) != self.ndim:
            raise error("shapes.permute_count", ndim=self.ndim, count=len(axes))
        order = tuple(self._dim(d) for d in axes)
        if len(set(order)) != len(order):
            raise error("shapes.permute_twice")
        return ops.permute(self, dims=order)

    @property
    def T(self: Own) -> Own:
        """The tensor with its dimensions reversed; meant for matrices."""
        if self.ndim != 2:
            warn_of_transpose(self.ndim, stacklevel=3)
        if local.mode.inside:
            return ops.t(self)
        return ops.permute(self, dims=tuple(range(self.ndim))[::-1])

    def t(self: Own) -> Own:
        """Transpose a matrix."""
        if self.ndim > 2:
            raise error("shapes.t_of_many", name="t", ndim=self.ndim)
        return ops.t(self)

    @property
    def mT(self: Own) -> Own:
        """The tensor with its last two dimensions swapped: of each matrix the transposed one."""
        return self._transpose_matrices("mT")

    @property
    def mH(self: Own) -> Own:
        """The same as ``mT``: the kit has no complex numbers."""
        return self._transpose_matrices("mH")

    def _transpose_matrices(self: Any, name: str) -> Any:
        if self.ndim == 1:
            raise error("functions.matrices", name=name, ndim=self.ndim)
        last = self.ndim - 1
        return self if not self.ndim else ops.transpose(self, dim0=last - 1, dim1=last)

    @property
    def H(self: Own) -> Own:
        """The transposed matrix: the kit has no complex numbers."""
        if self.ndim not in (0, 2):
            batches = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
            raise error("functions.matrix", ndim=self.ndim, batches=batches)
        return self if not self.ndim else ops.transpose(self, dim0=0, dim1=1)

    def transpose(self: Own, dim0: int, dim1: int) -> Own:
        """Swap two dimensions."""
        return ops.transpose(self, dim0=self._dim(dim0), dim1=self._dim(dim1))

    def squeeze(self: Own, *args: Any, dim: Any = None) -> Own:
        """Remove dimensions of size 1: all, or those that are named."""
        dim = args[0] if len(args) == 1 else args or dim
        if dim is None:
            return ops.squeeze(self)
        if isinstance(dim, tuple | list):
            return ops.squeeze_dims(self, dims=self._dims(dim) if dim else ())
        if args:
            (dim,) = as_dims(dim)
        return ops.squeeze_dim(self, dim=self._dim(dim))

    def unsqueeze(self: Own, dim: int) -> Own:
        """Insert a dimension of size 1."""
        return ops.unsqueeze(self, dim=self._dim(dim, extra=1))

    def expand(self: Own, *args: Any, size: Any = None) -> Own:
        """Repeat dimensions of size 1 without copying; -1 keeps a size."""
        shape = ops.check_expand(self, sizes_given("expand", "size", args, size))
        return ops.expand(self, shape=shape)

    def repeat(self: Own, *args: Any, repeats: Any = None) -> Own:
        """Copy along the dimensions; more numbers than dimensions add some in front."""
        counts = sizes_given("repeat", "repeats", args, repeats)
        if len(counts) < self.ndim:
            raise error("shapes.repeat_count", ndim=self.ndim)
        if min(counts, default=0) < 0:
            own = (1,) * (len(counts) - self.ndim) + self._array.shape
            shape = [n * m for n, m in zip(counts, own, strict=True)]
            first = next((n for n in shape if n < 0), None)
            if first is not None:
                raise error("shapes.negative_size", size=first, shape=shape)
        return ops.repeat(self, repeats=counts)

    def flip(self: Own, *args: Any, dims: Any = None) -> Own:
        """Reverse the order along dimensions."""
        order = sizes_given("flip", "dims", args, dims)
        return ops.flip(self, dims=self._dims(order) if order else ())

    def narrow(self: Own, dim: int, start: int, length: int) -> Own:
        """Take ``length`` entries from ``start`` along a dimension."""
        if self.ndim == 0:
            raise error("indexing.narrow_of_0d")
        length = as_int(length)
        if length < 0:
            raise error("indexing.narrow_length")
        dim, start = self._dim(dim), as_int(start)
        size = self.shape[dim]
        if not -size <= start <= size:
            raise error("indexing.narrow_start", low=-size, size=size, start=start, dim=dim)
        start += size if start < 0 else 0
        if not 0 <= length <= size - start:
            raise error("indexing.narrow_end", start=start, length=length, size=size)
        return ops.slice_dim(self, dim=dim, start=start, end=start + length, step=1)

    def unbind(self: Own, dim: int = 0) -> tuple[Own, ...]:
        """Return the entries along a dimension, which disappears."""
        dim = self._dim(dim)
        if not self.ndim:
            raise error("shapes.size_of_0d", dim=dim)
        return ops.unbind(self, dim=dim)

    def split(self: Own, split_size: Any, dim: int = 0) -> tuple[Own, ...]:
        """Cut into parts of one size (the last may be smaller), or of the sizes in a list."""
        if not self.ndim:
            raise error("shapes.split_of_0d", name="split")
        if hasattr(split_size, "__index__"):
            split_size = as_int(split_size)
            if split_size < 0:
                raise error("shapes.split_negative", size=split_size)
        along = self._dim(dim)
        sizes = ops.check_split(self._array.shape[along], split_size, dim)
        parts: Any
        if isinstance(sizes, tuple):
            parts = ops.split_with_sizes(self, split_sizes=sizes, dim=along)
        else:
            parts = ops.split(self, split_size=sizes, dim=along)
        return parts

    def chunk(self: Own, chunks: int, dim: int = 0) -> tuple[Own, ...]:
        """Cut into so many parts of one size; the last may be smaller, or there may be fewer."""
        if not self.ndim:
            raise error("shapes.split_of_0d", name="chunk")
        chunks = as_int(chunks)
        if chunks <= 0:
            raise error("shapes.chunk_count", chunks=chunks)
        length = self._array.shape[self._dim(dim)]
        size = -(-length // chunks)
        return self.split(size if size else [0] * chunks, dim)

    # -- checking arguments --------------------------------------------------------------------

    def _dim(self: Any, dim: Any, extra: Any = 0) -> Any:
        count = self._array.ndim + extra
        low, high = -max(count, 1), max(count, 1) - 1
        if type(dim) is not int:
            dim = as_int(dim)
        if not low <= dim <= high:
            raise error("shapes.dim_out_of_range", low=low, high=high, dim=dim, shape=self.shape)
        return dim % max(count, 1)

    def _dims(self: Any, dim: Any) -> Any:
        if dim is None or dim is EVERY or is_no_dim(dim):
            return tuple(range(self._array.ndim))
        dims = tuple(self._dim(d) for d in ((dim,) if type(dim) is int else as_dims(dim)))
        for d in dims:
            if dims.count(d) > 1:
                raise error("shapes.dim_twice", dim=d)
        return dims if self._array.ndim else ()

    check_calls(vars())
