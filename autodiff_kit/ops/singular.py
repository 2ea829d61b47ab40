"""Singular values: how far matrices stretch, and along which directions.

After reading this file you know why a norm of a matrix can have a gradient, and where it has none:
the directions of two equal singular values are not determined. Read next: ``eigen.py``.

Source of the rule: Townsend, Differentiating the singular value decomposition (2016).
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops.diagonals import diag_embed
from autodiff_kit.ops.linalg import matmul
from autodiff_kit.ops.shape import slice_dim, transpose, unsqueeze
from autodiff_kit.ops.table import op

__all__ = ["linalg_svd"]


def _t(x: Value) -> Value:
    """Transpose matrices."""
    return transpose(x, dim0=len(x.shape) - 2, dim1=len(x.shape) - 1)


@op(
    "svd(x)",
    tex=r"U, S, V^\top \text{ with } U S V^\top = x",
    several=True,
    by_products=("u", "s", "vh"),
    saved_as={"u": "U", "s": "S", "vh": "Vh"},
)
def linalg_svd(x: Value, *, full_matrices: bool) -> tuple[Value, Value, Value]:
    """Return U, S and Vh with ``U @ diag(S) @ Vh = x``; LAPACK chooses the signs."""
    if not np.isfinite(x).all():
        raise error("linalg.svd_of_non_finite")
    u, s, vh = np.linalg.svd(x, full_matrices)
    u = np.swapaxes(np.ascontiguousarray(np.swapaxes(u, -1, -2)), -1, -2)  # column by column
    vh = np.swapaxes(np.ascontiguousarray(np.swapaxes(vh, -1, -2)), -1, -2)
    return u.astype(x.dtype), s.astype(x.dtype), vh.astype(x.dtype)


@linalg_svd.vjp("x", tex=r"U\,(\ldots + \operatorname{diag}\bar S)\,V^\top")
def _(g: Any, s: Value, u: Value, vh: Value, full_matrices: bool) -> Value:
    rows, columns, size, rank = u.shape[-2], vh.shape[-1], s.shape[-1], len(u.shape)
    grad_u, grad_s, grad_vh = (g.get(i) for i in range(3))
    if full_matrices:
        u, grad_u = (_first(part, rank - 1, size) for part in (u, grad_u))
        vh, grad_vh = (_first(part, rank - 2, size) for part in (vh, grad_vh))
    across, down = unsqueeze(s, dim=rank - 2), unsqueeze(s, dim=rank - 1)
    inner: Any = (
        None if grad_s is None else diag_embed(grad_s, offset=0, dim1=rank - 2, dim2=rank - 1)
    )
    turned: Any = None
    if grad_u is not None:
        product = matmul(_t(u), grad_u)
        turned = (product - _t(product)) * across
    if grad_vh is not None:
        product = matmul(vh, _t(grad_vh))
        of_v = down * (product - _t(product))
        turned = of_v if turned is None else turned + of_v
    if turned is not None:
        turned = turned / (across * across - down * down + _ones_on_diagonal(s))
        inner = turned if inner is None else inner + turned
    if rows > size and grad_u is not None:
        rest = grad_u / across
        back = matmul(u, inner) + rest - matmul(u, matmul(_t(u), rest))
        return matmul(back, vh)
    if columns > size and grad_vh is not None:
        rest = grad_vh / down
        back = matmul(inner, vh) + rest - matmul(matmul(rest, _t(vh)), vh)
        return matmul(u, back)
    return matmul(matmul(u, inner), vh)


def _first(x: Any, dim: int, size: int) -> Any:
    """Return the first vectors, those of singular values; None for None."""
    return None if x is None else slice_dim(x, dim=dim, start=0, end=size, step=1)


def _ones_on_diagonal(s: Value) -> Value:
    """Return what keeps the differences of squares from 0 where they are not looked at."""
    is_array = isinstance(s, ARRAYS)
    ones = np.eye(s.shape[-1], dtype=s.dtype if is_array else s._array.dtype)
    return ones if is_array else wrap(ones)
