"""``torch.linalg``: norms, inverses, determinants and linear systems.

After reading this file you know what is here, all for real numbers: the eigenvalues of matrices
that are not symmetric are NumPy's. Read next: ``ops/solving.py``.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.creation import eye
from autodiff_kit.dtypes import Size, full_name
from autodiff_kit.errors import LinAlgError, error
from autodiff_kit.free_form import Keywords
from autodiff_kit.functions.basic import where
from autodiff_kit.functions.declared import Dtype, Ints, Number, Tensors, function_of
from autodiff_kit.late import late
from autodiff_kit.matrices import check_float, check_matrix, check_sizes, check_square
from autodiff_kit.operands import check_bool
from autodiff_kit.ops import singular, solving
from autodiff_kit.outside import absent
from autodiff_kit.sizes import check_norm, computed_in, norm_dims
from autodiff_kit.spectra import eigh, eigvalsh, lstsq, matrix_exp, matrix_rank, pinv
from autodiff_kit.tensor import Tensor

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
]
__all__ += [
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "vecdot",
]
__all__ += ["vector_norm"]


_linalg = function_of("linalg")
_OPTIONS = "bool keepdim = False, *, torch.dtype dtype = None"

# -- norms ----------------------------------------------------------------------------------------


@_linalg
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: Ints = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """Return the length of vectors along dimensions; of all elements, as one vector, without."""
    check_norm("vector_norm", input, dtype)
    options: Keywords = {"ord": ord, "dim": norm_dims(input, ord, dim), "keepdim": keepdim}
    length: Tensor = computed_in(dtype, ops.linalg_vector_norm, input, **options)
    return length


@function_of(
    "linalg",
    f"(Tensor input, Number ord, tuple of ints dim = {{-2,-1}}, {_OPTIONS})",
    f"(Tensor input, str ord = fro, tuple of ints dim = {{-2,-1}}, {_OPTIONS})",
)
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return a norm of matrices: "fro", 1 or -1 (of columns), inf or -inf (of rows).

    2 and -2 are the largest and the smallest singular value, "nuc" is the sum of all.
    """
    if not _is_order(ord):
        raise error("linalg.norm_order", ord=ord)
    check_matrix("matrix_norm", A)
    check_norm("matrix_norm", A, dtype)
    if len(dim) != 2:
        raise error("linalg.norm_of_dims", dims=" ".join(map(str, dim)))
    rows, columns = (A._dim(d) for d in dim)
    if rows == columns:
        raise error("linalg.norm_of_one_dim", dim=rows)
    A = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord == "nuc" or abs(ord) == 2:
        return _norm_by_singular_values(A, ord, rows, columns, keepdim)
    sum_dim, max_dim = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, sum_dim, keepdim)
    place = max_dim if keepdim or max_dim < sum_dim else max_dim - 1
    return sums.amax(place, keepdim) if ord > 0 else sums.amin(place, keepdim)


def _is_order(ord: Any) -> bool:
    """Tell whether there is such a norm of matrices."""
    return ord in ("fro", "nuc") if isinstance(ord, str) else abs(ord) in (1, 2, math.inf)


def _norm_by_singular_values(A: Tensor, ord: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    order = [*(d for d in range(A.ndim) if d not in (rows, columns)), rows, columns]
    values = svdvals(A.permute(order))
    extreme = values.amax if ord == 2 else values.amin
    out: Tensor = values.sum(-1, keepdim) if ord == "nuc" else extreme(-1, keepdim)
    if keepdim:
        out = out.unsqueeze(-1).permute([order.index(d) for d in range(A.ndim)])
    return out


@function_of(
    "linalg",
    f"(Tensor input, Number ord = None, tuple of ints dim = None, {_OPTIONS})",
    f"(Tensor input, str ord, tuple of ints dim = None, {_OPTIONS})",
)
def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return a norm: of all elements, or with ``ord`` or two dims of matrices, else of vectors."""
    is_pair = isinstance(dim, tuple | list) and len(dim) == 2
    if ord is not None and (is_pair or (dim is None and A.ndim == 2)):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


# -- systems --------------------------------------------------------------------------------------


@_linalg
def inv(A: Tensor) -> Tensor:
    """Return the inverse of square matrices."""
    check_square("inv", A)
    return solving.linalg_inv_ex(A)


@_linalg
def solve(A: Tensor, B: Tensor) -> Tensor:
    """Return X with ``A @ X = B``: for columns B, or one vector for each matrix."""
    check_square("solve", A)
    is_vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if A.shape[-1] != B.shape[-1 if is_vector else -2]:
        shapes = ["x".join(map(str, t.shape[-2:])) for t in (A, B)]
        raise error("linalg.solve_sizes", A=shapes[0], B=shapes[1])
    return solving.linalg_solve_ex(A, B, is_vector=is_vector)


@_linalg
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Return X with ``A @ X = B``, or ``X @ A = B``, for the upper or lower triangle of A.

    ``unitriangular`` takes the diagonal for ones.
    """
    check_square("solve_triangular", A)
    if A.shape[-1] != B.shape[-2 if left else -1]:
        shapes = ["x".join(map(str, t.shape[-2:])) for t in (A, B)]
        equation = "AX = B" if left else "XA = B"
        raise error("linalg.triangular_sizes", equation=equation, A=shapes[0], B=shapes[1])
    if unitriangular:
        size, find = A.shape[-1], late("functions").find
        A = A - find("diag_embed")(A.diagonal(dim1=-2, dim2=-1)) + eye(size, dtype=A.dtype)
    if left:
        return solving.linalg_solve_triangular(A, B, upper=upper)
    return solving.linalg_solve_triangular(A.mT, B.mT, upper=not upper).mT


@_linalg
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Return the triangular L with ``L @ L.mT = A``; with ``upper``, its transpose.

    LinAlgError if A is not positive-definite.
    """
    check_square("cholesky", A)
    lower = solving.linalg_cholesky_ex(A)
    return lower.mT if upper else lower


class _Factors(NamedTuple):
    """What ``qr`` returns."""

    Q: Tensor
    R: Tensor

    def __repr__(self) -> str:
        return f"torch.return_types.linalg_qr(\nQ={self.Q!r},\nR={self.R!r})"


@_linalg
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Return (Q, R): orthonormal columns and an upper triangle with ``Q @ R = A``.

    ``mode`` "complete" makes Q square, "r" leaves it out.
    """
    check_matrix("qr", A)
    check_float("qr", A)
    if mode not in ("reduced", "r", "complete"):
        raise error("linalg.qr_mode", mode=mode)
    return _Factors(*solving.linalg_qr(A, mode=mode))


class _SingularValues(NamedTuple):
    """What ``svd`` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor

    def __repr__(self) -> str:
        return f"torch.return_types.linalg_svd(\nU={self.U!r},\nS={self.S!r},\nVh={self.Vh!r})"


@_linalg
def svd(A: Tensor, full_matrices: bool = True) -> Any:
    """Return (U, S, Vh): ``U @ diag(S) @ Vh = A``, with orthonormal columns of U, rows of Vh.

    S has the singular values, the largest first. With ``full_matrices``, U and Vh are square.
    """
    check_matrix("svd", A)
    check_bool("linalg_svd", "full_matrices", full_matrices, " (position 2)")
    check_float("svd", A)
    return _SingularValues(*singular.linalg_svd(A, full_matrices=full_matrices))


@_linalg
def svdvals(A: Tensor) -> Tensor:
    """Return the singular values of matrices, the largest first."""
    values: Tensor = svd(A, full_matrices=False).S
    return values


@function_of("linalg", "(Tensor input, Number p = None)", "(Tensor input, str p)")
def cond(A: Tensor, p: Any = None) -> Tensor:
    """Return how much larger the relative error of a solution can be than that of ``A``.

    For p of None, 2 or -2 from singular values, else by the norms of ``A`` and its inverse: inf
    where there is none.
    """
    if A.ndim < 2:
        raise error("linalg.cond_of_no_matrix")
    if isinstance(p, str):
        check_sizes(f"cond(ord={p})", A)
    if p is not None and not _is_order(p):
        raise error("linalg.cond_order", p=p)
    if not A.numel():
        return A.new_zeros(A.shape[:-2])
    if p not in (None, 2, -2):
        check_sizes(f"cond(ord={p})", A)
        with suppress(LinAlgError):
            inverse = inv(A)
            return matrix_norm(A, p) * matrix_norm(inverse, p)
        matrices = A._array.reshape(-1, *A.shape[-2:])
        has_none = wrap(np.array([*map(_has_no_inverse, matrices)]).reshape(A.shape[:-2]))
        inverse = inv(where(has_none[..., None, None], eye(A.shape[-1], dtype=A.dtype), A))
        return (matrix_norm(A, p) * matrix_norm(inverse, p)).masked_fill(has_none, math.inf)
    values = svdvals(A)
    largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
    return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)


def _has_no_inverse(matrix: Any) -> bool:
    try:
        np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return True
    return False


@_linalg
def det(A: Tensor) -> Tensor:
    """Return the determinant of square matrices."""
    check_square("det", A)
    return solving.linalg_det(A)


class _SignAndLogarithm(NamedTuple):
    """What ``slogdet`` returns."""

    sign: Tensor
    logabsdet: Tensor

    def __repr__(self) -> str:
        names = self.sign, self.logabsdet
        return "torch.return_types.linalg_slogdet(\nsign={!r},\nlogabsdet={!r})".format(*names)


@_linalg
def slogdet(A: Tensor) -> Any:
    """Return (sign, logabsdet): the sign of determinants, and the logarithm of their size."""
    check_square("slogdet", A)
    return _SignAndLogarithm(*solving.linalg_slogdet(A))


# -- products -------------------------------------------------------------------------------------


@_linalg
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply by the rules of ``@``."""
    return input.matmul(other)


@_linalg
def multi_dot(tensors: Tensors) -> Tensor:
    """Multiply several matrices; the first and the last may be vectors."""
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise error("linalg.dot_of_others", place=place, kind=full_name(tensor))
    if len(tensors) < 2:
        raise error("linalg.dot_of_few", count=len(tensors))
    product: Tensor = reduce(matmul, tensors)
    return product.view(Size(product.shape))


@_linalg
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Multiply vectors along a dimension, and sum."""
    return (x * y).sum(dim)


@_linalg
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the vectors at right angles to two others, along a dimension of size 3."""
    return late("functions").find("cross")(input, other, dim)


@_linalg
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Look at a diagonal of matrices."""
    return late("functions").find("diagonal")(A, offset, dim1, dim2)


@_linalg
def matrix_power(A: Tensor, n: int) -> Tensor:
    """Multiply a matrix by itself: n factors."""
    return late("functions").find("matrix_power")(A, n)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
