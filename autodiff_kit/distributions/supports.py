"""What values a parameter or a sample may have.

After reading this file you know what ``validate_args`` checks. Read next: ``distribution.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.tensor import Tensor

__all__ = [
    "BOOLEAN",
    "COUNT",
    "LOWER_CHOLESKY",
    "NOT_NEGATIVE",
    "ONE_HOT",
    "POSITIVE",
    "POSITIVE_DEFINITE",
    "POSITIVE_VECTOR",
    "REAL",
    "SIMPLEX",
    "UNIT",
    "VECTOR",
    "Constraint",
    "below",
    "counts_of",
]


class Constraint:
    """What values of a parameter or of a sample must satisfy."""

    def __init__(self, text: str, check: Callable[[Tensor], Tensor]) -> None:
        self._text, self.check = text, check

    def __repr__(self) -> str:
        return self._text


def _of_simplex(value: Tensor) -> Tensor:
    return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


def _is_factor(value: Tensor) -> Tensor:
    is_lower = (value.tril() == value).flatten(-2).all(-1)
    return is_lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _is_positive(value: Tensor) -> Tensor:
    array = value._array
    is_symmetric = np.isclose(array, array.swapaxes(-1, -2), atol=1e-6).all((-2, -1))
    is_positive = (np.linalg.eigvalsh(array) > 0).all(-1)
    out: Tensor = wrap(np.asarray(is_symmetric & is_positive)[()])
    return out


REAL = Constraint("Real()", lambda value: value == value)
VECTOR = Constraint("IndependentConstraint(Real(), 1)", lambda value: (value == value).all(-1))
POSITIVE = Constraint("GreaterThan(lower_bound=0.0)", lambda value: value > 0)
POSITIVE_VECTOR = Constraint(
    "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)", lambda value: (value > 0).all(-1)
)
NOT_NEGATIVE = Constraint("GreaterThanEq(lower_bound=0.0)", lambda value: value >= 0)
UNIT = Constraint(
    "Interval(lower_bound=0.0, upper_bound=1.0)", lambda value: (value >= 0) & (value <= 1)
)
SIMPLEX = Constraint("Simplex()", _of_simplex)
BOOLEAN = Constraint("Boolean()", lambda value: (value == 0) | (value == 1))
ONE_HOT = Constraint(
    "OneHot()", lambda value: ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)
)
LOWER_CHOLESKY = Constraint("LowerCholesky()", _is_factor)
POSITIVE_DEFINITE = Constraint("PositiveDefinite()", _is_positive)
COUNT = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda value: (value % 1 == 0) & (value >= 0)
)


def below(count: int) -> Constraint:
    """Return what the numbers of so many classes must satisfy."""

    def check(value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= 0) & (value <= count - 1)

    return Constraint(f"IntegerInterval(lower_bound=0, upper_bound={count - 1})", check)


def counts_of(total: int) -> Constraint:
    """Return what counts must satisfy: as PyTorch checks it, they may add up to less."""

    def check(value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= total)

    return Constraint("Multinomial()", check)
