"""Triangles and diagonals: ``tril``, ``diag``, ``trace``, ``block_diag`` and their indices.

After reading this file you know what ``diagonal`` counts: 0 is the main diagonal, positive numbers
lie above it. Read next: ``picking.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.errors import error
from autodiff_kit.from_data import made
from autodiff_kit.functions.declared import Dtype, Number, function, method
from autodiff_kit.ops import diagonals
from autodiff_kit.tensor import Tensor

__all__ = [
    "block_diag",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "fill_diagonal_",
    "trace",
    "tril",
]
__all__ += ["tril_indices", "triu", "triu_indices"]


@function
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Set to 0 what lies above a diagonal of matrices."""
    if input.ndim < 2:
        raise error("functions.triangle", name="tril")
    return diagonals.tril(input, diagonal=diagonal)


@function
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Set to 0 what lies below a diagonal of matrices."""
    if input.ndim < 2:
        raise error("functions.triangle", name="triu")
    return diagonals.triu(input, diagonal=diagonal)


def _plane(input: Tensor, dim1: int, dim2: int, extra: int = 0) -> tuple[int, int]:
    first, second = (input._dim(d, extra=extra) for d in (dim1, dim2))
    if first == second:
        raise error("functions.diagonal_dims", first=dim1, second=dim2)
    return first, second


@function
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Look at a diagonal of two dimensions, which becomes the last dimension: a view."""
    first, second = _plane(input, dim1, dim2)
    return diagonals.diagonal(input, offset=offset, dim1=first, dim2=second)


@function
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Copy a diagonal of a matrix, or put a vector on the diagonal of a matrix of zeros."""
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndim != 2:
        raise error("functions.diag_ndim", ndim=input.ndim)
    return diagonals.diagonal_copy(input, offset=diagonal, dim1=0, dim2=1)


@function
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Put the last dimension on the diagonal of matrices of zeros."""
    first, second = _plane(input, dim1, dim2, extra=1)
    return diagonals.diag_embed(input, offset=offset, dim1=first, dim2=second)


@function
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Put all elements on the diagonal of a matrix of zeros."""
    return diag(input.reshape(-1), offset)


@method
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Set the elements of the main diagonal in place; with ``wrap`` a tall matrix has several."""
    if self.ndim < 2:
        raise error("functions.fill_diagonal")
    if isinstance(fill_value, Tensor) and (fill_value.ndim or fill_value.requires_grad):
        raise TypeError("fill_diagonal_")  # the words come from ``signatures.py``
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise error("functions.fill_diagonal_sizes")
    places = self
    while places.ndim > 1:
        places = diagonal(places)
    places.fill_(fill_value)
    rows, columns = self.shape[:2]
    if wrap and rows > columns + 1:
        fill_diagonal_(self[columns + 1 :], fill_value, wrap=True)
    return self


@function
def trace(input: Tensor) -> Tensor:
    """Add up the main diagonal of a matrix."""
    if input._array.dtype == bool:
        raise error("dtypes.bool_kernel", kernel="trace")
    if input.ndim != 2:
        raise error("functions.trace", ndim=input.ndim)
    return diagonals.trace(input)


def block_diag(*tensors: Tensor) -> Tensor:
    """Put matrices one after the other on the diagonal of a matrix of zeros."""
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise error("arguments.list_element", position=i, kind=type(tensor).__name__)
        if tensor.ndim > 2:
            raise error("functions.block_diag", position=i, ndim=tensor.ndim)
    if not tensors:
        return made(np.zeros((1, 0), dtypes.get_default_dtype().numpy))
    return diagonals.block_diag(*tensors)


def _indices(name: str, numbers: Any, row: int, col: int, dtype: Dtype | None) -> Tensor:
    for what, count in (("row", row), ("col", col)):
        if count < 0:
            raise error("functions.negative_count", what=what, count=count)
    kind = np.dtype("int64") if dtype is None else dtypes.as_dtype(dtype, name).numpy
    return made(np.array(numbers, kind).reshape(2, -1))


@function
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
) -> Tensor:
    """Return the rows and columns of the lower triangle of a matrix: shape (2, n)."""
    dtypes.check_device(device)
    return _indices("tril_indices", np.tril_indices(row, offset, col), row, col, dtype)


@function
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
) -> Tensor:
    """Return the rows and columns of the upper triangle of a matrix: shape (2, n)."""
    dtypes.check_device(device)
    return _indices("triu_indices", np.triu_indices(row, offset, col), row, col, dtype)
