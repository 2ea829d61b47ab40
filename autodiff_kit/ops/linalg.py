"""Matrix products, one op per combination of ranks, as PyTorch has them.

After reading this file you know where the transposes in a matrix product's gradient come from.
Read next: ``shape.py``.

Source of the rules: Giles, Collected matrix derivative results (2008), section 2.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.errors import teach
from autodiff_kit.ops.shape import reshape, transpose, unsqueeze
from autodiff_kit.ops.table import op
from autodiff_kit.tensor import Tensor

__all__ = ["bmm", "dot", "matmul", "mm", "mv"]


def _mm_message(x: Value, y: Value) -> str:
    a, b = ("x".join(map(str, array.shape)) for array in (x, y))
    return teach(
        f"mat1 and mat2 shapes cannot be multiplied ({a} and {b})",
        "The columns of the left matrix must be as many as the rows of the right one.",
    )


@op("x @ y", tex=r"x\,y", dtypes="equal", on_error=_mm_message, saved_as={"y": "mat2"})
def mm(x: Value, y: Value) -> Value:
    """Multiply two matrices: (n, k) with (k, m) to (n, m)."""
    return x.dot(y) if type(x) is np.ndarray else x @ y  # .dot costs half of @ on small arrays


@mm.vjp("x", tex=r"\bar z\,y^\top")
def _(g: Value, y: Value) -> Value:
    return mm(g, y.T)


@mm.vjp("y", tex=r"x^\top \bar z")
def _(g: Value, x: Value) -> Value:
    return mm(x.T, g)


def _mv_message(x: Value, y: Value) -> str:
    return teach(
        f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), "
        f"vec ({y.shape[0]})",
        "The columns of the matrix must be as many as the elements of the vector.",
    )


@op("x @ y", tex=r"x\,y", dtypes="equal", on_error=_mv_message, saved_as={"y": "vec"})
def mv(x: Value, y: Value) -> Value:
    """Multiply a matrix and a vector: (n, k) with (k,) to (n,)."""
    return x.dot(y) if type(x) is np.ndarray else x @ y


@mv.vjp("x", tex=r"\bar z\,y^\top")
def _(g: Value, y: Value) -> Value:
    return unsqueeze(g, dim=1) * y


@mv.vjp("y", tex=r"x^\top \bar z")
def _(g: Value, x: Value) -> Value:
    return mv(x.T, g)


def _dot_message(x: Value, y: Value) -> str:
    n, m = x.shape[0], y.shape[0]
    return teach(
        f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number "
        f"of elements, but got {n} and {m} elements respectively",
        "A dot product pairs the elements of two vectors of one length.",
    )


@op("x @ y", tex=r"x^\top y", dtypes="equal", on_error=_dot_message, saved_as={"y": "tensor"})
def dot(x: Value, y: Value) -> Value:
    """Multiply two vectors and sum: (k,) with (k,) to ()."""
    return x.dot(y)


@dot.vjp("x", tex=r"\bar z\,y")
def _(g: Value, y: Value) -> Value:
    return g * y


@dot.vjp("y", tex=r"\bar z\,x")
def _(g: Value, x: Value) -> Value:
    return g * x


def _bmm_message(x: Value, y: Value) -> str:
    return teach(
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"[{x.shape[0]}, {x.shape[2]}] but got: [{y.shape[0]}, {y.shape[1]}].",
        "bmm multiplies matrices pairwise: (b, n, k) with (b, k, m) to (b, n, m).",
    )


@op("x @ y", tex=r"x\,y", dtypes="equal", on_error=_bmm_message, saved_as={"y": "mat2"})
def bmm(x: Value, y: Value) -> Value:
    """Multiply matrices pairwise: (b, n, k) with (b, k, m) to (b, n, m)."""
    if isinstance(x, np.ndarray) and x.shape[0] != y.shape[0]:
        raise ValueError  # NumPy would broadcast a batch of one; PyTorch does not
    return x @ y


@bmm.vjp("x", tex=r"\bar z\,y^\top")
def _(g: Value, y: Value) -> Value:
    return bmm(g, transpose(y, dim0=1, dim1=2))


@bmm.vjp("y", tex=r"x^\top \bar z")
def _(g: Value, x: Value) -> Value:
    return bmm(transpose(x, dim0=1, dim1=2), g)


def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Multiply by the rules of ``@``, as PyTorch's ``matmul`` does.

    Vectors and matrices go to ``dot``, ``mv`` and ``mm``; with more dimensions the leading ones
    are a batch and broadcast.

    Raises
    ------
    RuntimeError
        If the shapes do not fit, or one operand is 0-d.
    """
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            return mm(x, y)  # raises: a number is not a matrix
        return x @ y
    ranks = x._array.ndim, y._array.ndim
    if 0 in ranks:
        raise RuntimeError(
            teach(
                "both arguments to matmul need to be at least 1D, but they are "
                f"{ranks[0]}D and {ranks[1]}D",
                "Use * to multiply by a single number.",
            )
        )
    if ranks == (2, 2):
        return mm(x, y)
    if ranks == (1, 1):
        return dot(x, y)
    if ranks == (2, 1):
        return mv(x, y)
    if ranks == (1, 2):
        return mm(unsqueeze(x, dim=0), y).squeeze(0)
    if y.ndim <= 2:  # fold the batch into the rows: one large product is faster than many
        flat = reshape(x, shape=(-1, x.shape[-1]))
        if y.ndim == 1:
            return reshape(mv(flat, y), shape=x.shape[:-1])
        return reshape(mm(flat, y), shape=(*x.shape[:-1], y.shape[-1]))
    if x.ndim == 1:
        return matmul(unsqueeze(x, dim=0), y).squeeze(-2)
    batch = _batch(x, y)
    a, b = (t.expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in (x, y))
    return reshape(bmm(a, b), shape=(*batch, x.shape[-2], y.shape[-1]))


def _batch(x: Tensor, y: Tensor) -> Any:
    try:
        return np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        pairs = zip(x.shape[-3::-1], y.shape[-3::-1], strict=False)
        back, (a, b) = next((i, p) for i, p in enumerate(pairs) if p[0] != p[1] and 1 not in p)
        dim = max(x.ndim, y.ndim) - 3 - back
        raise RuntimeError(
            teach(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {dim}",
                "The leading dimensions of a batched product must be equal or 1.",
            )
        ) from None
