"""Matrix products, one op per combination of ranks, as PyTorch has them.

After reading this file you know where the transposes in a matrix product's gradient come from.
Read next: ``einsum.py``.

Source of the rules: Giles, Collected matrix derivative results (2008), section 2.2.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from autodiff_kit.core.base import TensorBase
from autodiff_kit.core.op import OpFunction, Value
from autodiff_kit.core.versions import note_change, share
from autodiff_kit.dtypes import c_type, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.shape import (
    drop_dim,
    squeeze_dim,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
)
from autodiff_kit.ops.table import op, vjp

__all__ = ["bmm", "dot", "matmul", "mm", "mm_like", "mv", "product"]


def product(x: Value, y: Value) -> Value:
    """Multiply matrices or vectors.

    ``.dot`` costs half of ``@`` on small arrays, but makes 0 of 0 * nan if the 0 is all of one.
    """
    if type(x) is ndarray and (x.size != 1 or x.item()) and (y.size != 1 or y.item()):
        return x.dot(y)
    return x @ y


def _fit(x: Value, y: Value) -> bool:
    """Return whether the shapes allow a product; else that is said first, but for ``dot``."""
    return bool(x.shape[-1] == y.shape[-2 if y.ndim > 1 else 0])


def _product(
    name: str, tex: str, second: str, kernel: str
) -> Callable[[Callable[..., Any]], OpFunction]:
    """Declare a product whose operands must have one dtype, and not be bools.

    ``second`` and ``kernel`` are PyTorch's names of y and of what refuses bools.
    """

    def check(x: Value, y: Value) -> None:
        differ = x.dtype != y.dtype
        if not _fit(x, y) and not (name == "dot" and differ):
            return
        is_computed = name == "dot" or bool(x.size and y.size)
        of_bools = is_computed and x.dtype == bool
        if differ and (is_computed and not of_bools if name == "bmm" else True):
            type_name = c_type if name == "mm" else tensor_type
            raise error(f"linalg.{name}_dtypes", x=type_name(x.dtype), y=type_name(y.dtype))
        if of_bools:
            is_large = name == "bmm" and math.prod(x.shape[1:]) * y.shape[2] >= 400
            raise error("dtypes.bool_kernel", kernel="addmm_impl_cpu_" if is_large else kernel)

    def misfit(x: Value, y: Value) -> str:
        return str(error(f"linalg.{name}_shapes", x=x.shape, y=y.shape))

    dtypes = "y" if name == "bmm" else "any"  # of nothing, these may differ
    options: Any = {"dtypes": dtypes, "layout": "own", "saved_as": {"y": second}}
    return op("x @ y", tex=tex, on_error=misfit, type_check=check, **options)


@_product("mm", tex=r"x\,y", second="mat2", kernel="addmm_impl_cpu_")
@vjp("x", lambda g, y, x_strides: mm_like(g, y.T, x_strides), tex=r"\bar z\,y^\top")
@vjp("y", lambda g, x, y_strides: mm_like(x.T, g, y_strides), tex=r"x^\top \bar z")
def mm(x: Value, y: Value) -> Value:
    """Multiply two matrices: (n, k) with (k, m) to (n, m)."""
    return product(x, y)


def mm_like(x: Value, y: Value, strides: tuple[int, int]) -> Value:
    """Multiply matrices; the product lies in memory like the matrix whose gradient it is.

    So the gradient of a transposed weight, transposed back, lies row by row: ``view`` takes it.
    """
    times = product if type(x) is ndarray else mm
    if strides[0] <= strides[1]:  # perhaps column by column; nearly always row by row
        rows = x.shape[0]
        if strides[1] == strides[0] * rows and (rows > 1 or y.shape[1] > 1):
            return times(y.T, x.T).T  # x y = (y' x')'
    return times(x, y)


@_product("mv", tex=r"x\,y", second="vec", kernel="addmv_impl_cpu")
@vjp("x", lambda g, y: unsqueeze(g, dim=1) * y, tex=r"\bar z\,y^\top")
@vjp("y", lambda g, x: mv(x.T, g), tex=r"x^\top \bar z")
def mv(x: Value, y: Value) -> Value:
    """Multiply a matrix and a vector: (n, k) with (k,) to (n,)."""
    return product(x, y)


@_product("dot", tex=r"x^\top y", second="tensor", kernel="dot")
@vjp("x", lambda g, y: g * y, tex=r"\bar z\,y")
@vjp("y", lambda g, x: g * x, tex=r"\bar z\,x")
def dot(x: Value, y: Value) -> Value:
    """Multiply two vectors and sum: (k,) with (k,) to ()."""
    return product(x, y)


@_product("bmm", tex=r"x\,y", second="mat2", kernel="bmm")
@vjp("x", lambda g, y: bmm(g, transpose(y, dim0=1, dim1=2)), tex=r"\bar z\,y^\top")
@vjp("y", lambda g, x: bmm(transpose(x, dim0=1, dim1=2), g), tex=r"x^\top \bar z")
def bmm(x: Value, y: Value) -> Value:
    """Multiply matrices pairwise: (b, n, k) with (b, k, m) to (b, n, m)."""
    if isinstance(x, np.ndarray) and x.shape[0] != y.shape[0]:
        raise ValueError  # NumPy would broadcast a batch of one; PyTorch does not
    return x @ y


def matmul(x: TensorBase, y: TensorBase) -> Any:
    """Multiply by the rules of ``@``, as PyTorch's ``matmul`` does.

    Vectors and matrices go to ``dot``, ``mv`` and ``mm``; with more dimensions the leading ones
    are a batch and broadcast. RuntimeError if the shapes do not fit, or one operand is 0-d.
    """
    try:
        if x._array.ndim == y._array.ndim == 2:  # by far the commonest
            return mm(x, y)
    except AttributeError:
        pass
    for operand, other in ((y, x), (x, y)):
        if not isinstance(operand, TensorBase):
            if not isinstance(other, TensorBase):
                return x @ y  # a rule at work on arrays
            if operand is y and isinstance(y, np.ndarray):
                return NotImplemented  # NumPy's turn
            raise error("linalg.operands", left=type(x).__name__, right=type(y).__name__)
    ranks = x._array.ndim, y._array.ndim
    if 0 in ranks:
        raise error("linalg.matmul_of_0d", x=ranks[0], y=ranks[1])
    if ranks == (1, 1):
        return dot(x, y)
    if ranks == (2, 1):
        return mv(x, y)
    if ranks == (1, 2):
        return _squeezed(mm(unsqueeze(x, dim=0), y), 0)
    return _folded(x, y) if _folds(x, y) else _batched(x, y)


def _folds(x: TensorBase, y: TensorBase) -> bool:
    """Return whether the batch of one factor goes into its rows: one product instead of many.

    Source: PyTorch's ``should_fold``, which avoids copies, and a gradient for every entry of the
    batch that would be added up afterwards.
    """
    wide, narrow = (x, y) if x.ndim >= y.ndim else (transpose(y, dim0=-2, dim1=-1), x)
    if wide.ndim < 3 or narrow.ndim > 2:
        return False
    if narrow.requires_grad:
        return True
    steps, sizes = wide.stride(), wide.shape
    joined = all(steps[d] == steps[d + 1] * sizes[d + 1] for d in range(wide.ndim - 2))
    return x.ndim != 2 and (joined or not wide.numel())


def _folded(x: TensorBase, y: TensorBase) -> Any:
    is_left = x.ndim > y.ndim  # else the product of the transposes is transposed: x y = (y' x')'
    wide, narrow = (
        (x, y) if is_left else (transpose(y, dim0=-2, dim1=-1), x if x.ndim < 2 else t(x))
    )
    flat = wide.reshape(math.prod(wide.shape[:-1]), wide.shape[-1])
    product = (mv if narrow.ndim == 1 else mm)(flat, narrow)
    out: TensorBase = unsafe_view(product, shape=(*wide.shape[:-1], *narrow.shape[1:]))
    return out if is_left or x.ndim < 2 else transpose(out, dim0=-2, dim1=-1).contiguous()


def _batched(x: TensorBase, y: TensorBase) -> Any:
    if x.ndim == y.ndim == 3 and len(x) != len(y):  # one of them is broadcast: it can be folded
        if len(x) == 1 and x.requires_grad:
            return matmul(squeeze_dim(x, dim=0), y)
        if len(y) == 1 and y.requires_grad:
            return matmul(x, squeeze_dim(y, dim=0))
    batch = _batch(x, y)
    own = (x.shape if x.ndim > 1 else (1, *x.shape))[-2:]
    a, b = (
        factor.expand(*batch, *shape).reshape(math.prod(batch), *shape)
        for factor, shape in ((x, own), (y, y.shape[-2:]))
    )
    product = squeeze_dim(bmm(a, unsqueeze(b, dim=2)), dim=2) if y.ndim == 1 else bmm(a, b)
    return unsafe_view(product, shape=(*batch, *x.shape[-2:-1], *y.shape[-1:] * (y.ndim > 1)))


def _squeezed(product: TensorBase, dim: int) -> Any:
    """Drop the dimension that was added to a vector; PyTorch does so in place."""
    out = drop_dim(product, dim=dim)
    note_change(share(out))
    return out


def _batch(x: TensorBase, y: TensorBase) -> Any:
    try:
        return np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        pairs = zip(x.shape[-3::-1], y.shape[-3::-1], strict=False)
        back, (a, b) = next((i, p) for i, p in enumerate(pairs) if p[0] != p[1] and 1 not in p)
        dim = max(x.ndim, y.ndim) - 3 - back
        raise error("linalg.batch_sizes", a=a, b=b, dim=dim) from None
