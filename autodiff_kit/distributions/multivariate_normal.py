"""The normal distribution of vectors.

After reading this file you know how a triangular matrix correlates independent noise. Read next:
``multinomial.py``.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from autodiff_kit.creation import empty, eye
from autodiff_kit.distributions.distribution import Distribution, Sizes
from autodiff_kit.distributions.supports import LOWER_CHOLESKY, POSITIVE_DEFINITE, VECTOR
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.linalg import cholesky, solve_triangular
from autodiff_kit.tensor import Tensor

__all__ = ["MultivariateNormal", "half_log_det", "squared_distance"]


def squared_distance(scale_tril: Tensor, x: Tensor) -> Tensor:
    """Return the squared length of ``L**-1 @ x``: Mahalanobis' distance, with L L' covariances."""
    solved = solve_triangular(scale_tril, x.unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))


def half_log_det(scale_tril: Tensor) -> Tensor:
    """Return half of the logarithm of the determinant of the covariances."""
    half: Tensor = scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return half


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, with mean ``loc``, shape (*, n).

    One of three matrices, shape (*, n, n), says its covariances: themselves, their inverse, or a
    lower triangular L for which they are ``L @ L.mT``; with that, a draw is ``loc + L @ noise``.
    ValueError if none or several are there.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {  # noqa: RUF012
        "loc": VECTOR,
        "covariance_matrix": POSITIVE_DEFINITE,
        "precision_matrix": POSITIVE_DEFINITE,
        "scale_tril": LOWER_CHOLESKY,
    }
    support = VECTOR
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise error("distributions.loc_rank")
        matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix}
        matrices["scale_tril"] = scale_tril
        present = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(present) != 1:
            raise error("distributions.one_matrix")
        ((name, matrix),) = present
        if matrix.ndim < 2:
            words = name + " matrix" * (name == "scale_tril")
            raise error("distributions.matrix_rank", name=words)
        shape = find("broadcast_shapes")(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand((*shape, -1))
        setattr(self, name, matrix.expand((*shape, -1, -1)))
        super().__init__(shape, loc.shape[-1:], validate_args)
        if scale_tril is not None:
            self._scale = scale_tril
        elif covariance_matrix is not None:
            self._scale = cholesky(covariance_matrix)
        else:
            self._scale = _scale_of_precision(matrix)

    def _extra_dims(self, name: str) -> int:
        return 1 if name == "loc" else 2

    def _square(self, matrix: Tensor) -> Tensor:
        expanded: Tensor = matrix.expand((*self._batch_shape, *self._event_shape, -1))
        return expanded

    @cached_property
    def scale_tril(self) -> Tensor:
        """The lower triangular matrix L."""
        return self._square(self._scale)

    @cached_property
    def covariance_matrix(self) -> Tensor:
        """The covariances, ``L @ L.mT``."""
        return self._square(self._scale @ self._scale.mT)

    @cached_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        inverse = solve_triangular(self._scale, _identity(self._scale), upper=False)
        return self._square(inverse.mT @ inverse)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    mode = mean

    @property
    def variance(self) -> Tensor:
        """The variance of each number."""
        variance: Tensor = self._scale.pow(2).sum(-1).expand((*self._batch_shape, -1))
        return variance

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        noise = empty(self._shape(sample_shape), dtype=self.loc.dtype).normal_()
        return self.loc + (self._scale @ noise.unsqueeze(-1)).squeeze(-1)

    def _log_prob(self, value: Any) -> Tensor:
        distance = squared_distance(self._scale, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det(
            self._scale
        )

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        entropy = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + half_log_det(
            self._scale
        )
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def _identity(matrix: Tensor) -> Tensor:
    return eye(matrix.shape[-1], dtype=matrix.dtype)


def _scale_of_precision(precision: Tensor) -> Tensor:
    """Return the triangular matrix of the inverse, without inverting the matrix itself."""
    factor = cholesky(precision.flip((-2, -1)))
    turned = factor.flip((-2, -1)).transpose(-2, -1)
    return solve_triangular(turned, _identity(precision), upper=False)
