"""The functions of ``torch.linalg`` about eigenvalues, ranks, least squares and exponentials.

After reading this file you know that a small singular value counts as zero up to a limit, which
``rtol`` gives as a share of the largest one. Read next: ``ops/eigen.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.creation import zeros
from autodiff_kit.dtypes import int64, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.functions.declared import Number, function_of
from autodiff_kit.matrices import check_matrix, check_square
from autodiff_kit.ops import eigen
from autodiff_kit.tensor import Tensor

__all__ = ["eigh", "eigvalsh", "lstsq", "matrix_exp", "matrix_rank", "pinv"]

_linalg = function_of("linalg")


class _Eigen(NamedTuple):
    """What ``eigh`` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor

    def __repr__(self) -> str:
        names = "torch.return_types.linalg_eigh(\neigenvalues={!r},\neigenvectors={!r})"
        return names.format(*self)


@_linalg
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Return (eigenvalues, eigenvectors) of symmetric matrices: ``A @ V = V @ diag(L)``.

    The smallest eigenvalue is the first, and eigenvectors are columns. Of ``A`` only the lower
    triangle is read, or with ``UPLO`` "U" the upper one.
    """
    check_matrix("eigh", A)
    if A.shape[-1] == A.shape[-2] and A._array.dtype.kind != "f":
        raise error(
            "functional.whole_numbers", kernel="linalg_eigh_cpu", kind=tensor_type(A._array.dtype)
        )
    check_square("eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise error("linalg.triangle", UPLO=UPLO)
    return _Eigen(*eigen.linalg_eigh(A, triangle=UPLO.upper()))


@_linalg
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, the smallest first; see ``eigh``."""
    values: Tensor = eigh(A, UPLO).eigenvalues
    return values


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Return both as arrays, with PyTorch's defaults: ``atol`` does without the other."""
    atol, rtol = (
        t if t is None else np.asarray(t.detach() if isinstance(t, Tensor) else t, float)
        for t in (atol, rtol)
    )
    least = np.zeros(()) if atol is None else atol
    if rtol is None:
        eps = np.finfo(A._array.dtype).eps * max(A.shape[-2:])
        rtol = np.where(least > 0, 0.0, eps)
    return least, rtol


@_linalg
def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Return the pseudoinverse: of all X with the smallest ``|A @ X - 1|``, the smallest.

    Singular values up to ``atol``, or up to ``rtol`` times the largest, count as zero. That A is
    symmetric, as ``hermitian`` says, lets it read only the lower triangle.
    """
    if A.ndim < 2:
        kind = f"{tensor_type(A._array.dtype)}{{{list(A.shape)}}}"
        raise error("linalg.pinv_of_no_matrix", kind=kind)
    for name, tolerance in (("atol", atol), ("rtol", rtol)):
        if isinstance(tolerance, Tensor) and tolerance.requires_grad:
            raise error("functional.not_differentiable", function="linalg_pinv", argument=name)
    atol, rtol = _tolerances(A, atol, rcond if rtol is None else rtol)
    return eigen.linalg_pinv(A, atol=atol, rtol=rtol, hermitian=hermitian)


@_linalg
def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """Return how many singular values count as larger than zero; see ``pinv``."""
    if A.ndim < 2:
        raise error("linalg.rank_of_no_matrix")
    atol, rtol = _tolerances(A, tol if atol is None else atol, 0.0 if tol is not None else rtol)
    array = A._array
    values = np.linalg.eigvalsh(array) if hermitian else np.linalg.svd(array, compute_uv=False)
    counts = (np.abs(values) > eigen.limit_of(values, atol, rtol)).sum(-1)
    out: Tensor = wrap(np.asarray(counts, "int64")[()])
    return out


class _Solution(NamedTuple):
    """What ``lstsq`` returns."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

    def __repr__(self) -> str:
        names = "solution={!r},\nresiduals={!r},\nrank={!r},\nsingular_values={!r}"
        return f"torch.return_types.linalg_lstsq(\n{names})".format(*self)


@_linalg
def lstsq(A: Tensor, B: Tensor, rcond: Number = None, *, driver: str | None = None) -> Any:
    """Return (solution, residuals, rank, singular_values): X with the smallest ``|A @ X - B|``.

    B has columns, or is one vector for each matrix. PyTorch's ``driver`` says what else it
    returns: "gelsd" and "gelss" residuals and singular values, "gels" residuals, and "gelsy",
    which is the default, neither of them; "gels" has no rank.
    """
    if A.ndim < 2:
        raise error("linalg.lstsq_of_no_matrix")
    drivers = "gels", "gelsy", "gelsd", "gelss"
    name = "gelsy" if driver is None else driver
    if name not in drivers:
        raise error("linalg.lstsq_driver")
    is_vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if A.shape[-2] != B.shape[-1 if is_vector else -2]:
        raise error("linalg.lstsq_sizes", dim=-1 if is_vector else -2)
    cutoff = np.finfo(A._array.dtype).eps * max(A.shape[-2:]) if rcond is None else float(rcond)
    solution = eigen.linalg_lstsq(A, B, cutoff=cutoff, is_vector=is_vector)
    values = np.linalg.svd(A._array, compute_uv=False)
    ranks = (values > cutoff * values.max(-1, keepdims=True)).sum(-1)
    residuals, none = zeros(0, dtype=A.dtype), zeros(0, dtype=A.dtype)
    rows, size = A.shape[-2:]
    if name != "gelsy" and rows > size and np.all(ranks == size):
        both = (t.unsqueeze(-1) if is_vector else t for t in (solution, B))
        residuals = (A @ next(both) - next(both)).square().sum(-2)
    return _Solution(
        solution,
        residuals,
        zeros(0, dtype=int64) if name == "gels" else wrap(np.asarray(ranks, "int64")[()]),
        wrap(values) if name in ("gelsd", "gelss") else none,
    )


@_linalg
def matrix_exp(A: Tensor) -> Tensor:
    """Return the sum of ``A^k / k!``, with ``@`` for the powers, of square matrices."""
    check_square("matrix_exp", A)
    return eigen.linalg_matrix_exp(A)
