"""Inverses, determinants and linear systems.

After reading this file you know that the gradient of an inverse needs no inverse of its own: the
result is enough. Read next: ``singular.py``.

Source of the rules: Giles, Collected matrix derivative results (2008), section 2.2.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops.diagonals import tril, triu
from autodiff_kit.ops.elementwise import zeros_like
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.linalg import matmul
from autodiff_kit.ops.shape import cat, expand, slice_dim, transpose, unsqueeze
from autodiff_kit.ops.table import op, vjp

__all__ = ["linalg_cholesky_ex", "linalg_det", "linalg_inv_ex", "linalg_qr", "linalg_slogdet"]
__all__ += ["linalg_solve_ex", "linalg_solve_triangular"]


def _t(x: Value) -> Value:
    """Transpose matrices."""
    return transpose(x, dim0=len(x.shape) - 2, dim1=len(x.shape) - 1)


def _by_columns(x: Any) -> Any:
    """Return matrices that lie in memory column by column, as the solvers of PyTorch leave them."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)


def _singular(x: Any) -> tuple[str, int]:
    """Return which of several matrices cannot be inverted, and at which step of elimination."""
    for number, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        u = matrix.copy()
        for i in range(len(u)):
            pivot = i + np.abs(u[i:, i]).argmax()
            if u[pivot, i] == 0:
                batch = f"(Batch element {number}): " if x.ndim > 2 else ""
                return batch, i + 1
            u[[i, pivot]] = u[[pivot, i]]
            u[i + 1 :] -= np.outer(u[i + 1 :, i] / u[i, i], u[i])
    return "", x.shape[-1]  # its last pivot is zero but for rounding


@op("inv(x)", tex=r"x^{-1}", node="LinalgInvExBackward0", layout="own")
@vjp("x", lambda g, out: -matmul(_t(out), matmul(g, _t(out))), tex=r"-z^\top \bar z\,z^\top")
def linalg_inv_ex(x: Value) -> Value:
    """Return the inverse of matrices."""
    try:
        return _by_columns(np.linalg.inv(x))
    except np.linalg.LinAlgError:
        batch, place = _singular(x)
        raise error("linalg.singular_inverse", batch=batch, place=place) from None


@op("solve(x, y)", tex=r"x^{-1} y", node="LinalgSolveExBackward0", layout="own")
def linalg_solve_ex(x: Value, y: Value, *, is_vector: bool) -> Value:
    """Return what x must be multiplied with to give y: columns, or one vector for each matrix."""
    try:
        out = np.linalg.solve(x, y[..., None] if is_vector else y)
    except np.linalg.LinAlgError:
        raise error("linalg.singular_system", batch=_singular(x)[0]) from None
    return out[..., 0] if is_vector else _by_columns(out)


@linalg_solve_ex.vjp("x", tex=r"-x^{-\top} \bar z\,z^\top")
def _(g: Value, x: Value, out: Value, is_vector: bool) -> Value:
    back = linalg_solve_ex(_t(x), g, is_vector=is_vector)
    if is_vector:
        rank = len(out.shape)
        return -unsqueeze(back, dim=rank) * unsqueeze(out, dim=rank - 1)
    return -matmul(back, _t(out))


@linalg_solve_ex.vjp("y", tex=r"x^{-\top} \bar z")
def _(g: Value, x: Value, out: Value, is_vector: bool) -> Value:
    return linalg_solve_ex(_t(x), g, is_vector=is_vector)  # PyTorch's saves the output, too


@op("solve(triangle(x), y)", tex=r"x^{-1} y", layout="own")
def linalg_solve_triangular(x: Value, y: Value, *, upper: bool) -> Value:
    """Return what the upper or lower triangle of x must be multiplied with to give y."""
    triangle = np.triu(x) if upper else np.tril(x)
    try:
        return _by_columns(np.linalg.solve(triangle, y))
    except np.linalg.LinAlgError:  # a zero on the diagonal
        return np.full(np.broadcast_shapes(x.shape[:-1], y.shape[:-1]) + y.shape[-1:], np.nan)


@linalg_solve_triangular.vjp("x", tex=r"-x^{-\top} \bar z\,z^\top")
def _(g: Value, x: Value, out: Value, upper: bool) -> Value:
    back = linalg_solve_triangular(_t(x), g, upper=not upper)
    return (triu if upper else tril)(-matmul(back, _t(out)), diagonal=0)


@linalg_solve_triangular.vjp("y", tex=r"x^{-\top} \bar z")
def _(g: Value, x: Value, upper: bool) -> Value:
    return linalg_solve_triangular(_t(x), g, upper=not upper)


@op("cholesky(x)", tex=r"L \text{ with } L L^\top = x", layout="own")
def linalg_cholesky_ex(x: Value) -> Value:
    """Return the lower triangular matrix that, times its transpose, is x.

    Source of the rule: Murray, Differentiation of the Cholesky decomposition (2016).
    """
    try:
        return _by_columns(np.linalg.cholesky(x))
    except np.linalg.LinAlgError:
        raise _not_positive(x) from None


@linalg_cholesky_ex.vjp("x", tex=r"\tfrac12 L^{-\top} (P + P^\top) L^{-1}")
def _(g: Value, out: Value) -> Value:
    lower = tril(matmul(_t(out), g), diagonal=0)
    symmetric = (lower + _t(tril(lower, diagonal=-1))) / 2
    left = linalg_solve_triangular(_t(out), symmetric, upper=True)
    return _t(linalg_solve_triangular(_t(out), _t(left), upper=True))


def _not_positive(x: Any) -> Exception:
    for number, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        for order in range(1, len(matrix) + 1):
            try:
                np.linalg.cholesky(matrix[:order, :order])
            except np.linalg.LinAlgError:
                batch = f"(Batch element {number}): " if x.ndim > 2 else ""
                return error("linalg.not_positive", batch=batch, order=order)
    return error("linalg.not_positive", batch="", order=x.shape[-1])


@op(
    "qr(x)",
    tex=r"Q, R \text{ with } Q R = x",
    several=True,
    by_products=("q", "r"),
    saved_as={"q": "Q", "r": "R"},
)
def linalg_qr(x: Value, *, mode: str) -> tuple[Value, Value]:
    """Return orthonormal columns Q and a triangle R with ``Q @ R = x``; LAPACK chooses the signs.

    Source of the rule: Walter and Lehmann, On evaluating higher-order derivatives of the QR
    decomposition (2010).
    """
    factors: Any = np.linalg.qr(x, mode)  # type: ignore[call-overload]
    q, r = (np.empty(0), factors) if mode == "r" else factors
    q, r = q.astype(x.dtype), r.astype(x.dtype)
    return q if mode == "r" else _by_columns(q), _by_columns(r)


@linalg_qr.vjp("x", tex=r"(\bar Q + Q\,\mathrm{sym}(\bar R R^\top - Q^\top \bar Q))\,R^{-\top}")
def _(g: Any, q: Value, r: Value, mode: str) -> Value:
    if mode == "r":
        raise error("linalg.qr_without_q")
    rows, columns = q.shape[-2], r.shape[-1]
    if mode == "complete" and rows > columns:
        raise error("linalg.qr_complete")
    grad_q, grad_r = g.get(0), g.get(1)
    if rows >= columns:
        return _qr_rule(q, r, grad_q, grad_r)
    x2 = matmul(q, _columns(r, rows, columns))  # what stands to the right of a square
    if grad_r is None:
        back = _qr_rule(q, _columns(r, 0, rows), grad_q, None)
        return cat(back, zeros_like(x2), dim=len(q.shape) - 1)
    left, right = (_columns(grad_r, *span) for span in ((0, rows), (rows, columns)))
    through_r2 = matmul(x2, _t(right))
    grad_q = through_r2 if grad_q is None else grad_q + through_r2
    back = _qr_rule(q, _columns(r, 0, rows), grad_q, left)
    return cat(back, matmul(q, right), dim=len(q.shape) - 1)


def _columns(x: Value, start: int, end: int) -> Value:
    return slice_dim(x, dim=len(x.shape) - 1, start=start, end=end, step=1)


def _qr_rule(q: Value, r: Value, grad_q: Any, grad_r: Any) -> Value:
    """Return the gradient of x with at least as many rows as columns."""
    inner = None if grad_r is None else matmul(grad_r, _t(r))
    if grad_q is not None:
        product = matmul(_t(q), grad_q)
        inner = -product if inner is None else inner - product
    upper = triu(inner, diagonal=0)
    back = matmul(q, upper + _t(triu(inner, diagonal=1)))
    back = back if grad_q is None else back + grad_q
    return _t(linalg_solve_triangular(r, _t(back), upper=True))


@op("det(x)", tex=r"\det x")
def linalg_det(x: Value) -> Value:
    """Return the determinant of matrices."""
    return scalar_if_0d(np.linalg.det(x).astype(x.dtype))


@linalg_det.vjp("x", tex=r"\bar z\,z\,x^{-\top}")
def _(g: Value, x: Value, out: Value) -> Value:
    if x.shape[-1] < 2 or 0 in x.shape:
        return expand(_each_matrix(g), shape=x.shape)  # it is the element itself
    return _each_matrix(g * out) * _t(linalg_inv_ex(x))


def _each_matrix(x: Value) -> Value:
    """Give numbers two more dimensions, to multiply matrices with them."""
    rank = len(x.shape)
    return unsqueeze(unsqueeze(x, dim=rank), dim=rank + 1)


@op(
    "slogdet(x)",
    tex=r"\operatorname{sign} \det x, \ln |\det x|",
    several=True,
    by_products=("sign", "logarithm"),
    saved_as={"x": "A"},
)
def linalg_slogdet(x: Value) -> tuple[Value, Value]:
    """Return the signs of determinants, and the logarithm of their size."""
    sign, logarithm = np.linalg.slogdet(x)
    return sign.astype(x.dtype)[()], logarithm.astype(x.dtype)[()]


@linalg_slogdet.vjp("x", tex=r"\bar z\,x^{-\top}")
def _(g: Any, x: Value, sign: Value) -> Value:
    if g.get(1) is None:  # the sign alone: a step function, without any gradient
        return None
    return _each_matrix(g[1]) * _t(linalg_inv_ex(x))
