"""Distances of vectors, as layers.

After reading this file you know that they have no parameters. Read next:
``functional_distances.py``.
"""

from __future__ import annotations

from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.tensor import Tensor

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Apply ``cosine_similarity``."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The ``p``-norm of the difference of vectors."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Apply ``pairwise_distance``."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
