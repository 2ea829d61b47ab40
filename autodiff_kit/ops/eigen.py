"""Eigenvalues of symmetric matrices, pseudoinverses, least squares, and exponentials of matrices.

After reading this file you know that all of them have gradients, and that those of eigenvectors are
infinite where two eigenvalues are equal. Read next: ``drawing.py``.

Source of the rules: Giles, Collected matrix derivative results (2008), section 3.1, for
eigenvalues; Golub and Pereyra, The differentiation of pseudo-inverses (1973), for the second and
the third.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.op import Value
from autodiff_kit.ops.diagonals import diag_embed
from autodiff_kit.ops.elementwise import zeros_like
from autodiff_kit.ops.linalg import matmul
from autodiff_kit.ops.shape import cat, slice_dim, squeeze_dim, transpose, unsqueeze
from autodiff_kit.ops.table import op, vjp

__all__ = ["limit_of", "linalg_eigh", "linalg_lstsq", "linalg_matrix_exp", "linalg_pinv"]


def _t(x: Value) -> Value:
    """Transpose matrices."""
    return transpose(x, dim0=len(x.shape) - 2, dim1=len(x.shape) - 1)


def _by_columns(x: Any) -> Any:
    """Return matrices that lie in memory column by column, as LAPACK leaves them."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)


@op(
    "eigh(x)",
    tex=r"\lambda, V \text{ with } x = V \operatorname{diag}(\lambda) V^\top",
    several=True,
    by_products=("values", "vectors"),
    saved_as={"values": "eigenvalues", "vectors": "eigenvectors"},
)
def linalg_eigh(x: Value, *, triangle: str) -> tuple[Value, Value]:
    """Return the eigenvalues, the smallest first, and as columns the eigenvectors.

    Only the lower or the upper triangle of the matrices is read; LAPACK chooses the signs.
    """
    values, vectors = np.linalg.eigh(x, "U" if triangle == "U" else "L")
    return values.astype(x.dtype), _by_columns(vectors.astype(x.dtype))


@linalg_eigh.vjp("x", tex=r"V (\operatorname{diag}\bar\lambda + F \odot V^\top \bar V) V^\top")
def _(g: Any, values: Value, vectors: Value, triangle: str) -> Value:
    grad_values, grad_vectors = g.get(0), g.get(1)
    rank = len(vectors.shape)
    inner: Any = None
    if grad_vectors is not None:
        apart = unsqueeze(values, dim=rank - 2) - unsqueeze(values, dim=rank - 1)
        product = matmul(_t(vectors), grad_vectors)
        inner = product * (1 - _identity(values)) / (apart + _identity(values))
    if grad_values is not None:
        diagonal = diag_embed(grad_values, offset=0, dim1=rank - 2, dim2=rank - 1)
        inner = diagonal if inner is None else inner + diagonal
    return matmul(vectors, matmul(inner, _t(vectors)))


def _identity(like: Value) -> Value:
    """Return the unit matrix of the size of the last dimension."""
    is_array = isinstance(like, ARRAYS)
    ones = np.eye(like.shape[-1], dtype=like.dtype if is_array else like._array.dtype)
    return ones if is_array else wrap(ones)


def _through_pinv(g: Value, x: Value, inverse: Value) -> Value:
    """Return the gradient of x, given that of its pseudoinverse."""
    back, across = _t(g), _t(inverse)
    if x.shape[-2] <= x.shape[-1]:
        inner = matmul(back, inverse)
        turned = matmul(inner, across)
        rest = matmul(matmul(across, inverse), back - matmul(inner, x))
        return turned - _t(matmul(inverse, inner)) - matmul(matmul(x, inverse), turned) + rest
    inner = matmul(inverse, back)
    turned = matmul(across, inner)
    rest = matmul(matmul(back - matmul(x, inner), inverse), across)
    return turned - _t(matmul(inner, inverse)) - matmul(matmul(turned, inverse), x) + rest


@op("pinv(x)", tex=r"x^{+}", layout="own")
@vjp("x", lambda g, x, out: _through_pinv(g, x, out), tex=r"\ldots")
def linalg_pinv(x: Value, *, atol: Any, rtol: Any, hermitian: bool) -> Value:
    """Return the pseudoinverse; ``hermitian``: of what the lower triangles say.

    Singular values up to ``atol``, or up to ``rtol`` times the largest, count as zero.
    """
    if hermitian:
        s, u = np.linalg.eigh(x)
        vh = np.swapaxes(u, -1, -2)
    else:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
    is_large = np.abs(s) > limit_of(s, atol, rtol)
    inverses = np.where(is_large, 1 / np.where(is_large, s, 1), 0)
    out = np.swapaxes(vh, -1, -2) @ (inverses[..., None] * np.swapaxes(u, -1, -2))
    return out.astype(x.dtype)


def limit_of(values: Any, atol: Any, rtol: Any) -> Any:
    """Return up to which size singular values or eigenvalues count as zero."""
    largest = np.abs(values).max(-1, keepdims=True, initial=0.0)
    return np.maximum(np.asarray(atol)[..., None], np.asarray(rtol)[..., None] * largest)


@op("lstsq(x, y)", tex=r"x^{+} y", layout="own")
def linalg_lstsq(x: Value, y: Value, *, cutoff: float, is_vector: bool) -> Value:
    """Return z with the smallest ``|x @ z - y|``, and of several the smallest z.

    z has columns, or is one vector for each matrix, as y. Singular values below ``cutoff`` times
    the largest count as zero.
    """
    solution = np.linalg.pinv(x, cutoff) @ (y[..., None] if is_vector else y)
    rows, columns = solution.shape[-2:]
    # PyTorch's lies in memory where y was, which may have more rows.
    out = np.empty((*solution.shape[:-2], columns, max(x.shape[-2:])), x.dtype).swapaxes(-1, -2)
    out[..., :rows, :] = solution
    return out[..., :rows, 0] if is_vector else out[..., :rows, :]


@linalg_lstsq.vjp("x", tex=r"\bar z\,y^\top \text{ through } x^{+}")
def _(g: Value, x: Value, y: Value, out: Value, is_vector: bool) -> Value:
    if is_vector:
        rank = len(x.shape)
        g, y = unsqueeze(g, dim=rank - 1), unsqueeze(y, dim=rank - 1)
    return _through_pinv(matmul(g, _t(y)), x, _pinv(x))


@linalg_lstsq.vjp("y", tex=r"(x^{+})^\top \bar z")
def _(g: Value, x: Value, y: Value, out: Value, is_vector: bool) -> Value:  # saves all, as PyTorch
    if is_vector:
        last = len(x.shape) - 1
        return squeeze_dim(matmul(_t(_pinv(x)), unsqueeze(g, dim=last)), dim=last)
    return matmul(_t(_pinv(x)), g)


def _pinv(x: Value) -> Value:
    """Return the pseudoinverse by the limit that is the default."""
    dtype = x.dtype if isinstance(x, ARRAYS) else x._array.dtype
    rtol = np.finfo(dtype).eps * max(x.shape[-2:])
    return linalg_pinv(x, atol=0.0, rtol=rtol, hermitian=False)


@op("expm(x)", tex=r"e^{x}", layout="own")
@vjp("x", lambda g, x: _through_exp(g, x), tex=r"\int_0^1 e^{t x^\top} \bar z\,e^{(1-t) x^\top} dt")
def linalg_matrix_exp(x: Value) -> Value:
    """Return the sum of ``x^k / k!``, with ``@`` for the powers.

    It is the square of that for ``x / 2``, and of a matrix below 1/2 few terms are enough.
    """
    size = np.abs(x).sum(-1).max(initial=0.0)
    halvings = max(0, math.ceil(math.log2(size)) + 1) if 0 < size < math.inf else 0
    small = x / 2**halvings
    term = out = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for k in range(1, 18):
        term = term @ small / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out.astype(x.dtype)


def _through_exp(g: Value, x: Value) -> Value:
    """Return the upper right block of the exponential of ``[[x.T, g], [0, x.T]]``.

    Source: Mathias, A chain rule for matrix functions and applications (1996).
    """
    turned, last, size = _t(x), len(x.shape) - 1, x.shape[-1]
    above = cat(turned, g, dim=last)
    below = cat(zeros_like(turned), turned, dim=last)
    both = linalg_matrix_exp(cat(above, below, dim=last - 1))
    rows = slice_dim(both, dim=last - 1, start=0, end=size, step=1)
    return slice_dim(rows, dim=last, start=size, end=2 * size, step=1)
