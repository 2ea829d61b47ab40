"""Matrix products, one op per combination of ranks, as PyTorch has them.

After reading this file you know where the transposes in a matrix product's gradient come from.
Read next: ``shape.py``.

Source of the rules: Giles, Collected matrix derivative results (2008), section 2.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.dtypes import c_type, tensor_type
from autodiff_kit.errors import teach
from autodiff_kit.ops import checks
from autodiff_kit.ops.shape import drop_dim, transpose, unsafe_view, unsqueeze
from autodiff_kit.ops.table import op
from autodiff_kit.tensor import Tensor

__all__ = ["bmm", "dot", "matmul", "mm", "mv"]


def _fit(x: Value, y: Value) -> bool:
    """Return whether the shapes allow a product; what is wrong with them is said first."""
    return bool(x.shape[-1] == y.shape[-2 if y.ndim > 1 else 0])


def _check_types(name: str, kernel: str) -> checks.Check:
    """Make a check for the product ``name`` that refuses bools, and operands of two dtypes."""
    refuse = checks.refuse_bool(NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'"))

    def check(x: Value, y: Value) -> None:
        if not _fit(x, y):
            return
        if x.dtype != y.dtype:
            advice = f"{name} does not convert its operands: use x.to(y.dtype) or .double()."
            raise RuntimeError(teach(_two_types(name, x.dtype, y.dtype), advice))
        if name == "dot" or (x.size and y.size):
            refuse(x, y)

    return check


def _two_types(name: str, a: Any, b: Any) -> str:
    first, second = tensor_type(a), tensor_type(b)
    if name == "mm":
        return f"expected m1 and m2 to have the same dtype, but got: {c_type(a)} != {c_type(b)}"
    if name == "mv":
        kinds = f"{second}, {first}, and {second}"
        return f"addmv input tensors must have the same dtype, but got {kinds}"
    if name == "dot":
        kinds = f"{first} and {second}"
        return f"dot : expected both vectors to have same dtype, but found {kinds}"
    return f"expected scalar type {first} but found {second}"


def _mm_message(x: Value, y: Value) -> str:
    a, b = ("x".join(map(str, array.shape)) for array in (x, y))
    return teach(
        f"mat1 and mat2 shapes cannot be multiplied ({a} and {b})",
        "The columns of the left matrix must be as many as the rows of the right one.",
    )


@op(
    "x @ y",
    tex=r"x\,y",
    dtypes="any",
    on_error=_mm_message,
    saved_as={"y": "mat2"},
    whole=_check_types("mm", "addmm_impl_cpu_"),
)
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


@op(
    "x @ y",
    tex=r"x\,y",
    dtypes="any",
    on_error=_mv_message,
    saved_as={"y": "vec"},
    whole=_check_types("mv", "addmv_impl_cpu"),
)
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


@op(
    "x @ y",
    tex=r"x^\top y",
    dtypes="any",
    on_error=_dot_message,
    saved_as={"y": "tensor"},
    whole=_check_types("dot", "dot"),
)
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


@op(
    "x @ y",
    tex=r"x\,y",
    dtypes="any",
    on_error=_bmm_message,
    saved_as={"y": "mat2"},
    whole=_check_types("bmm", "bmm"),
)
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
    for operand, other in ((y, x), (x, y)):
        if not isinstance(operand, Tensor):
            if not isinstance(other, Tensor):
                return x @ y  # a rule at work on arrays
            kinds = [type(x).__name__, type(y).__name__]
            raise TypeError(
                teach(
                    "unsupported operand type(s) for @: {!r} and {!r}".format(*kinds),
                    "Both sides of @ are tensors; use * to multiply by a single number.",
                )
            )
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
        return _tensor(mm(x, y))
    if ranks == (1, 1):
        return _tensor(dot(x, y))
    if ranks == (2, 1):
        return _tensor(mv(x, y))
    if ranks == (1, 2):
        return _tensor(drop_dim(mm(unsqueeze(x, dim=0), y), dim=0))
    if y.ndim <= 2:  # fold the batch into the rows: one large product is faster than many
        flat = x.reshape(-1, x.shape[-1])
        product = mv(flat, y) if y.ndim == 1 else mm(flat, y)
        return _tensor(unsafe_view(product, shape=(*x.shape[:-1], *y.shape[1:])))
    if x.ndim == 1:
        return _tensor(drop_dim(matmul(unsqueeze(x, dim=0), y), dim=y.ndim - 2))
    batch = _batch(x, y)
    a, b = (t.expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in (x, y))
    return _tensor(unsafe_view(bmm(a, b), shape=(*batch, x.shape[-2], y.shape[-1])))


def _tensor(x: Any) -> Tensor:
    return x  # type: ignore[no-any-return]


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
