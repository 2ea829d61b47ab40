"""Layers that widen the borders of sequences and images, and that take images apart.

After reading this file you know that such a layer is a function with its options. Read next:
``functional_images.py`` and ``functional_sampling.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.tensor import Tensor

__all__ = ["CircularPad1d", "CircularPad2d", "ConstantPad1d", "ConstantPad2d", "Fold"]
__all__ += ["PixelShuffle", "PixelUnshuffle", "ReflectionPad1d", "ReflectionPad2d"]
__all__ += ["ReplicationPad1d", "ReplicationPad2d", "Unfold", "ZeroPad1d", "ZeroPad2d"]

Numbers = int | Sequence[int]


class _Border(Module):
    """Adds elements before and after the last dimensions; ``padding`` is one number for all."""

    _rank: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: Numbers) -> None:
        super().__init__()
        self.padding: Any = (padding,) * 2 * self._rank if isinstance(padding, int) else padding

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``pad``."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """Return the widths."""
        return f"{self.padding}"


class ConstantPad1d(_Border):
    """Add elements of one value at both ends of sequences."""

    _rank, _repr_names = 1, ("padding", "value")

    def __init__(self, padding: Numbers, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``pad``."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the widths and the value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """Add elements of one value around images."""

    _rank = 2


class ZeroPad1d(_Border):
    """Add zeros at both ends of sequences."""

    _rank, _mode = 1, "constant"


class ZeroPad2d(ZeroPad1d):
    """Add zeros around images."""

    _rank = 2


class ReflectionPad1d(_Border):
    """Mirror sequences at their ends."""

    _rank, _mode = 1, "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """Mirror images at their edges."""

    _rank = 2


class ReplicationPad1d(_Border):
    """Repeat the ends of sequences."""

    _rank, _mode = 1, "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """Repeat the edges of images."""

    _rank = 2


class CircularPad1d(_Border):
    """Let sequences begin again at the other end."""

    _rank, _mode = 1, "circular"


class CircularPad2d(CircularPad1d):
    """Let images begin again at the other edge."""

    _rank = 2


# -- patches --------------------------------------------------------------------------------------


class Unfold(Module):
    """Make a column of each window on an image: (n, c, h, w) to (n, c * window, windows)."""

    _repr_names: tuple[str, ...] = ("kernel_size", "dilation", "padding", "stride")

    def __init__(
        self,
        kernel_size: Numbers,
        dilation: Numbers = 1,
        padding: Numbers = 0,
        stride: Numbers = 1,
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``unfold``."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    """Put windows back on an image of size ``output_size``; where they overlap, they add up."""

    _repr_names = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self,
        output_size: Numbers,
        kernel_size: Numbers,
        dilation: Numbers = 1,
        padding: Numbers = 0,
        stride: Numbers = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.dilation = output_size, kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``fold``."""
        options = self.dilation, self.padding, self.stride
        return F.fold(input, self.output_size, self.kernel_size, *options)


class PixelShuffle(Module):
    """Turn channels into pixels: (*, c * factor**2, h, w) to (*, c, h * factor, w * factor).

    Source: Shi et al., Real-time single image and video super-resolution (2016).
    """

    _repr_names = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``pixel_shuffle``."""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """Turn pixels into channels: the opposite of ``PixelShuffle``."""

    _repr_names = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``pixel_unshuffle``."""
        return F.pixel_unshuffle(input, self.downscale_factor)
