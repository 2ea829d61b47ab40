"""Triangles and diagonals of matrices: what a mask of causal attention is made with.

After reading this file you know that each of them chooses elements, and that the gradient goes back
to the chosen ones. Read next: ``moving.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.shape import expand, reshape, slice_dim
from autodiff_kit.ops.table import op, vjp

__all__ = ["block_diag", "diag_embed", "diagonal", "diagonal_backward", "diagonal_copy", "trace"]
__all__ += ["tril", "triu"]


@op("tril(x, diagonal)", tex=r"[j - i \le k]\,x", layout="rows")
@vjp("x", lambda g, diagonal: tril(g, diagonal=diagonal), tex=r"[j - i \le k]\,\bar z")
def tril(x: Value, *, diagonal: int) -> Value:
    """Set to 0 what lies above a diagonal of matrices; the main diagonal is number 0."""
    return np.tril(x, diagonal)


@op("triu(x, diagonal)", tex=r"[j - i \ge k]\,x", layout="rows")
@vjp("x", lambda g, diagonal: triu(g, diagonal=diagonal), tex=r"[j - i \ge k]\,\bar z")
def triu(x: Value, *, diagonal: int) -> Value:
    """Set to 0 what lies below a diagonal of matrices; the main diagonal is number 0."""
    return np.triu(x, diagonal)


@op("diagonal(x, offset, dim1, dim2)", tex=r"x_{i,i+k}", view=True)
def diagonal(x: Value, *, offset: int, dim1: int, dim2: int) -> Value:
    """Look at a diagonal, which becomes the last dimension."""
    out = np.diagonal(x, offset, dim1, dim2)
    out.flags.writeable = x.flags.writeable  # NumPy makes it read-only, PyTorch does not
    return out


@op("diagonal(x, offset, 0, 1)", tex=r"x_{i,i+k}", node="DiagonalBackward0_copy", layout="rows")
def diagonal_copy(x: Value, *, offset: int, dim1: int, dim2: int) -> Value:
    """Copy a diagonal: what ``diag`` does with a matrix."""
    return np.diagonal(x, offset, dim1, dim2).copy()


for _looking in (diagonal, diagonal_copy):

    @_looking.vjp("x", tex=r"\bar z \text{ put back}")
    def _(g: Value, x_shape: Ints, offset: int, dim1: int, dim2: int) -> Value:
        return diagonal_backward(g, shape=x_shape, offset=offset, dim1=dim1, dim2=dim2)


@op("zeros with x on a diagonal", tex=r"x \text{ put back}", layout="rows")
def diagonal_backward(x: Value, *, shape: Ints, offset: int, dim1: int, dim2: int) -> Value:
    """Put a diagonal back into zeros of the shape it was taken from."""
    out = np.zeros(shape, x.dtype)
    place = np.diagonal(out, offset, dim1, dim2)
    place.flags.writeable = True
    place[...] = x
    return out


@diagonal_backward.vjp("x", tex=r"\bar z_{i,i+k}")
def _(g: Value, offset: int, dim1: int, dim2: int) -> Value:
    return diagonal(g, offset=offset, dim1=dim1, dim2=dim2)


@op("diag_embed(x, offset, dim1, dim2)", tex=r"\operatorname{diag} x", layout="rows")
def diag_embed(x: Value, *, offset: int, dim1: int, dim2: int) -> Value:
    """Put the last dimension on a diagonal of matrices of zeros."""
    size = x.shape[-1] + abs(offset)
    first, second = sorted((dim1, dim2))
    shape = [*x.shape[:-1]]
    shape.insert(first, size)
    shape.insert(second, size)
    out = np.zeros(shape, x.dtype)
    place = np.diagonal(out, offset, dim1, dim2)
    place.flags.writeable = True
    place[...] = x
    return out


@diag_embed.vjp("x", tex=r"\bar z_{i,i+k}")
def _(g: Value, offset: int, dim1: int, dim2: int) -> Value:
    return diagonal(g, offset=offset, dim1=dim1, dim2=dim2)


@op("trace(x)", tex=r"\textstyle\sum_i x_{ii}")
def trace(x: Value) -> Value:
    """Add up the main diagonal of a matrix."""
    return np.trace(x, dtype=None if x.dtype.kind == "f" else np.dtype("int64"))


@trace.vjp("x", tex=r"\bar z\,I")
def _(g: Value, x_shape: Ints) -> Value:
    ones = expand(reshape(g, shape=(1,)), shape=(min(x_shape),))
    return diagonal_backward(ones, shape=x_shape, offset=0, dim1=0, dim2=1)


def _as_matrix(x: Value) -> Any:
    return np.reshape(x, (1,) * (2 - x.ndim) + x.shape)


@op("block_diag(tensors)", tex=r"\operatorname{diag}(x_0, x_1, \dots)", layout="rows")
def block_diag(*tensors: Value) -> Value:
    """Put matrices one after the other on the diagonal of a matrix of zeros."""
    blocks = [_as_matrix(x) for x in tensors]
    height, width = (sum(block.shape[d] for block in blocks) for d in (0, 1))
    out = np.zeros((height, width), np.result_type(*blocks))
    row = column = 0
    for block in blocks:
        out[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return out


@block_diag.vjp("tensors", tex=r"\bar z_{[k]}")
def _(g: Value, index: int, tensors_shape: tuple[Ints, ...]) -> Value:
    shapes = [(1,) * (2 - len(shape)) + tuple(shape) for shape in tensors_shape]
    for dim in (0, 1):
        start = sum(shape[dim] for shape in shapes[:index])
        g = slice_dim(g, dim=dim, start=start, end=start + shapes[index][dim], step=1)
    return reshape(g, shape=tensors_shape[index])
