"""Normalization within each sample: layer, group and root-mean-square normalization.

After reading this file you know that these do the same in training and in evaluation. Read next:
``batchnorm.py``, where that is not so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.weighted import Scaling, Shape
from autodiff_kit.tensor import Tensor

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LayerNorm(Scaling):
    """Shift and scale each sample to mean 0 and variance 1, then by weight and bias.

    ``normalized_shape`` says which are the last dimensions, over which to average; ``eps`` is added
    to the variance; without ``elementwise_affine`` there are no weight and bias.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        has_bias = elementwise_affine and bias
        self._make_parameters(device, dtype, weight=elementwise_affine, bias=has_bias)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": self.normalized_shape, "bias": self.normalized_shape}

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each sample."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        options = f"eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{self.normalized_shape}, {options}, bias={self.bias is not None}"


class RMSNorm(Scaling):
    """Divide each sample by the root of the mean of its squares, then multiply by weight.

    See ``LayerNorm``; ``eps`` is the smallest step of the dtype at 1 if left out.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        self._make_parameters(device, dtype, weight=elementwise_affine)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": self.normalized_shape}

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each sample."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        options = f"eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{self.normalized_shape}, {options}"


class LocalResponseNorm(Module):
    """Divide each element by a power of the mean of the squares of ``size`` channels around it."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``local_response_norm``."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class GroupNorm(Scaling):
    """Shift and scale groups of channels, within each sample, to mean 0 and variance 1.

    Input has shape (n, num_channels, *); ValueError if the channels cannot be divided evenly.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise error("nn.group_channels", channels=num_channels, groups=num_groups)
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        self._make_parameters(device, dtype, weight=affine, bias=affine and bias)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": (self.num_channels,), "bias": (self.num_channels,)}

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each group."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        options = f"eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, {options}"
