"""Dropout: layers that set random elements to 0, in training only.

After reading this file you know why a model has ``train()`` and ``eval()``. Read next:
``functional.py``.
"""

from __future__ import annotations

from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.tensor import Tensor

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d"]


class _Dropping(Module):
    _repr_names = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise error("functional.dropout_probability", p=p)
        self.p, self.inplace = p, inplace


class Dropout(_Dropping):
    """In training, set elements to 0 with probability p and divide the others by ``1 - p``."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements; not in evaluation."""
        return F.dropout(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropping):
    """``Dropout`` for networks of ``SELU``: mean 0 and variance 1 are kept."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements; not in evaluation."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropping):
    """``Dropout`` of whole channels of sequences: input of shape ((n,) c, length)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop channels; not in evaluation."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropping):
    """``Dropout`` of whole channels of images: input of shape ((n,) c, height, width)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop channels; not in evaluation."""
        return F.dropout2d(input, self.p, self.training, self.inplace)
