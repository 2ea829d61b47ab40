"""More products: ``inner``, ``tensordot``, ``kron``, ``cross``, ``cdist``, ``addmv`` and others.

After reading this file you know how a sum over any dimensions of two tensors becomes one product of
matrices. Read next: ``types.py``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from autodiff_kit import linalg, ops
from autodiff_kit.core.versions import on_own_counter, share
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.functions.basic import where
from autodiff_kit.functions.declared import Number, function
from autodiff_kit.operands import check_operand
from autodiff_kit.ops import products
from autodiff_kit.sizes import can_view
from autodiff_kit.tensor import Tensor

__all__ = ["addbmm", "addmv", "addr", "baddbmm", "cdist", "cross", "det", "ger", "inner"]
__all__ += ["inverse", "kron", "logdet", "matrix_exp", "matrix_power", "pinverse", "slogdet"]
__all__ += ["tensordot", "vdot"]


@function
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Multiply two vectors and sum."""
    if input.ndim != 1 or other.ndim != 1:
        raise error("linalg.dot_ranks", x=input.ndim, y=other.ndim)
    return products.vdot(input, other)


@function
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply every element of a vector with every one of another: ``outer``."""
    return input.outer(vec2)


@function
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Multiply and sum over the last dimension of both tensors."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise error("functions.inner", own=[*input.shape], other=[*other.shape])
    return tensordot(input, other, dims=([-1], [-1]))


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Multiply and sum over some dimensions of both: the last and first ``dims``, or two lists."""
    check_operand("tensordot", "self", 1, a, numbers=False)
    check_operand("tensordot", "other", 2, b, numbers=False)
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise error("functions.tensordot_count", count=dims)
        if dims > min(a.ndim, b.ndim):
            raise error("functions.tensordot_range", count=dims)
        first: list[int] = list(range(a.ndim - dims, a.ndim))
        second: list[int] = list(range(dims))
        axes = [*range(-dims, 0)], second
    else:
        axes = tuple([d] if isinstance(d, int) else [*d] for d in dims)  # type: ignore[assignment]
        if len(axes[0]) != len(axes[1]):
            raise error("functions.tensordot_lists")
        if a.dtype is not b.dtype:
            raise error("functions.tensordot_dtypes")
        first = [a._dim(d) for d in axes[0]]
        second = [b._dim(d) for d in axes[1]]
    for i, (d, e) in enumerate(zip(first, second, strict=True)):
        if a.shape[d] == 1 != b.shape[e]:
            b = b.sum(e, keepdim=True)
        elif b.shape[e] == 1 != a.shape[d]:
            a = a.sum(d, keepdim=True)
        elif a.shape[d] != b.shape[e]:
            n, m = a.shape[d], b.shape[e]
            raise error("functions.tensordot_sizes", n=n, m=m, d=axes[0][i], e=axes[1][i])
    free = [d for d in range(a.ndim) if d not in first]
    right = [d for d in range(b.ndim) if d not in second]
    rows = math.prod(a.shape[d] for d in free)
    columns = math.prod(b.shape[d] for d in right)
    summed = math.prod(a.shape[d] for d in first)
    shape = [*(a.shape[d] for d in free), *(b.shape[d] for d in right)]
    one, other = a.permute([*free, *first]), b.permute([*second, *right])
    if rows == columns == 1:
        if one.is_contiguous() and other.is_contiguous():
            return one.reshape(summed).dot(other.reshape(summed)).view(shape)
        return (one.squeeze() * other.squeeze()).sum(dtype=one.dtype).view(shape)
    return one.reshape(rows, summed).mm(other.reshape(summed, columns)).view(shape)


@function
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Replace every element of ``input`` by its product with all of ``other``."""
    count = max(input.ndim, other.ndim)
    mine = (1,) * (count - input.ndim) + input.shape
    theirs = (1,) * (count - other.ndim) + other.shape
    a = ops.unsafe_view(input, shape=tuple(n for m in mine for n in (m, 1)))
    b = ops.unsafe_view(other, shape=tuple(n for m in theirs for n in (1, m)))
    for part, tensor in ((a, input), (b, other)):
        part._array = on_own_counter(share(part))  # PyTorch does not see that they share memory
        part._changes = tensor._changes
    product = ops.mul(a, b)
    sizes = tuple(n * m for n, m in zip(mine, theirs, strict=True))
    if not can_view(product._array, sizes):
        raise error("shapes.view_of_scattered")
    return ops.unsafe_view(product, shape=sizes)


@function
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the vectors at right angles to two others, along a dimension of size 3."""
    if input.ndim != other.ndim:
        raise error("functions.cross_ndim")
    if dim is None:
        words = "Using torch.cross without specifying the dim arg is deprecated."
        warnings.warn(words, UserWarning, stacklevel=3)
        threes = [d for d, n in enumerate(input.shape) if n == 3 == other.shape[d]]
        if not threes:
            raise error("functions.cross_dim")
        dim = threes[0]
    dim = input._dim(dim)
    sizes = input.shape[dim], other.shape[dim]
    if sizes != (3, 3):
        raise error("functions.cross_size", dim=dim, x=sizes[0], y=sizes[1])
    return products.linalg_cross(input, other, dim=dim)


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Return the distances between the points of two sets: (*, n, k), (*, m, k) to (*, n, m)."""
    check_operand("cdist", "x1", 1, x1, numbers=False)
    check_operand("cdist", "x2", 2, x2, numbers=False)
    for name, points in (("X1", x1), ("X2", x2)):
        if points._array.dtype.kind != "f":
            kind = tensor_type(points._array.dtype)
            raise error("functions.cdist_dtype", name=name, kind=kind)
        if points.ndim < 2:
            raise error("functions.cdist_ndim", name=name, ndim=points.ndim)
    if x1.shape[-1] != x2.shape[-1]:
        raise error("functions.cdist_columns", x=x1.shape[-1], y=x2.shape[-1])
    if p < 0:
        raise error("functions.cdist_p")
    return products.cdist(x1, x2, p=p)


@function
def inverse(input: Tensor) -> Tensor:
    """Return the inverse of square matrices: ``linalg.inv``."""
    return linalg.inv(input)


@function
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverse of matrices: ``linalg.pinv``."""
    return linalg.pinv(input, rcond)


@function
def matrix_exp(input: Tensor) -> Tensor:
    """Return the exponential of square matrices: ``linalg.matrix_exp``."""
    return linalg.matrix_exp(input)


@function
def det(input: Tensor) -> Tensor:
    """Return the determinant of square matrices: ``linalg.det``."""
    return linalg.det(input)


@function
def slogdet(input: Tensor) -> Any:
    """Return the sign of determinants, and the logarithm of their size: ``linalg.slogdet``."""
    return linalg.slogdet(input)


@function
def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of determinants; nan where they are negative."""
    sign, logarithm = linalg.slogdet(input)
    return where(sign == -1.0, math.nan, logarithm)


@function
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Multiply a matrix by itself: n factors."""
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        rows, columns = (1, 1, *input.shape)[-2:]
        raise error("functions.matrix_power", rows=rows, columns=columns)
    if n < 0:
        from autodiff_kit.linalg import inv

        return inv(input) if n == -1 else matrix_power(inv(input), -n)
    if n == 0:
        from autodiff_kit.creation import eye

        return input.clone().copy_(eye(input.shape[-1], dtype=input.dtype))
    if n == 1:
        return input.clone()
    if n == 3:
        return (input @ input) @ input  # the order of PyTorch, here and below
    half = input
    out: Tensor | None = None
    while n:
        if n & 1:
            out = half if out is None else out @ half
        n >>= 1
        if n:
            half = half @ half
    assert out is not None
    return out


# -- added to something ---------------------------------------------------------------------------


def _in(tensor: Tensor, **numbers: Number) -> Keywords:
    """Return numbers as those that whole tensors are multiplied with."""
    kind = tensor._array.dtype
    return numbers if kind.kind == "f" else {n: kind.type(v) for n, v in numbers.items()}


def _check(name: str, *tensors: Tensor) -> None:
    kinds = [tensor_type(t._array.dtype) for t in tensors]
    if len(set(kinds)) > 1:
        *first, last = kinds
        raise error("functions.added_dtypes", name=name, kinds=f"{', '.join(first)}, and {last}")


@function
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input + alpha * mat @ vec``."""
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise error("functions.addmv_ranks", mat=mat.ndim, vec=vec.ndim, own=input.ndim)
    if mat.shape[1] != len(vec) or (input.ndim and len(input) not in (1, len(mat))):
        shape = "x".join(map(str, mat.shape))
        raise error("functions.addmv", own=input.numel(), mat=shape, vec=len(vec))
    _check("addmv", input, mat, vec)
    return products.addmv(input, mat, vec, **_in(input, beta=beta, alpha=alpha))


@function
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input + alpha * outer(vec1, vec2)``."""
    for argument, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise error("functions.addr", argument=argument, ndim=vector.ndim)
    ops.check_expand(input, (len(vec1), len(vec2)))
    return products.addr(input, vec1, vec2, **_in(input, beta=beta, alpha=alpha))


def _check_batches(input: Tensor, batch1: Tensor, batch2: Tensor, is_summed: bool) -> None:
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if batch.ndim != 3:
            raise error("functions.batch_ndim", name=name)
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise error("linalg.bmm_shapes", x=batch1.shape, y=batch2.shape)
    sizes = (batch1.shape[0],) * (not is_summed) + (batch1.shape[1], batch2.shape[2])
    ops.check_expand(input, sizes)


@function
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input + alpha * batch1 @ batch2``, for batches of matrices."""
    _check_batches(input, batch1, batch2, is_summed=False)
    return products.baddbmm(input, batch1, batch2, **_in(input, beta=beta, alpha=alpha))


@function
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input`` plus ``alpha`` times the sum of the products of a batch."""
    _check_batches(input, batch1, batch2, is_summed=True)
    return products.addbmm(input, batch1, batch2, **_in(input, beta=beta, alpha=alpha))
