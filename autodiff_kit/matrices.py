"""What the functions of ``torch.linalg`` refuse: what is no matrix, not square, or no floats.

Read next: ``linalg.py``.
"""

from __future__ import annotations

from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.tensor import Tensor

__all__ = ["check_float", "check_matrix", "check_sizes", "check_square"]


def check_matrix(name: str, A: Tensor) -> None:
    """Refuse a tensor with fewer than two dimensions."""
    if A.ndim < 2:
        raise error("linalg.no_matrix", name=name)


def check_float(name: str, A: Tensor) -> None:
    """Refuse a tensor of integers or bools."""
    if A._array.dtype.kind != "f":
        kind = tensor_type(A._array.dtype)
        raise error("linalg.whole_numbers", name=f"linalg.{name}", kind=kind)


def check_sizes(name: str, A: Tensor) -> None:
    """Refuse matrices that are not square."""
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise error("linalg.not_square", name=name, rows=rows, columns=columns)


def check_square(name: str, A: Tensor) -> None:
    """Refuse all but square matrices of floats."""
    check_matrix(name, A)
    check_sizes(name, A)
    check_float(name, A)
