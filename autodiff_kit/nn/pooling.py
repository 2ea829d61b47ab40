"""Pooling: layers that make images or sequences smaller, or larger.

After reading this file you know that they have no parameters. Read next:
``functional_pooling.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.tensor import Tensor

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool2d"]
__all__ += ["MaxPool1d", "MaxPool2d", "MaxUnpool1d", "MaxUnpool2d", "Upsample"]
__all__ += ["UpsamplingBilinear2d", "UpsamplingNearest2d"]


class _MaxPoolNd(Module):
    _repr_names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _options(self) -> tuple[Any, ...]:
        numbers = self.kernel_size, self.stride, self.padding, self.dilation
        return *numbers, self.ceil_mode, self.return_indices


class MaxPool1d(_MaxPoolNd):
    """Take the largest element of every window of a sequence."""

    def forward(self, input: Tensor) -> Any:
        """Apply ``max_pool1d``."""
        return F.max_pool1d(input, *self._options())


class MaxPool2d(_MaxPoolNd):
    """Take the largest element of every window of an image."""

    def forward(self, input: Tensor) -> Any:
        """Apply ``max_pool2d``."""
        return F.max_pool2d(input, *self._options())


class _MaxUnpoolNd(Module):
    _repr_names = ("kernel_size", "stride", "padding")
    _rank = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = (
            tuple(value) if isinstance(value, tuple | list) else (value,) * self._rank
            for value in (kernel_size, kernel_size if stride is None else stride, padding)
        )


class MaxUnpool1d(_MaxUnpoolNd):
    """Put the largest elements that ``MaxPool1d`` took back to their places."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Apply ``max_unpool1d``."""
        numbers = self.kernel_size, self.stride, self.padding
        return F.max_unpool1d(input, indices, *numbers, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Put the largest elements that ``MaxPool2d`` took back to their places."""

    _rank = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Apply ``max_unpool2d``."""
        numbers = self.kernel_size, self.stride, self.padding
        return F.max_unpool2d(input, indices, *numbers, output_size)


class AvgPool1d(Module):
    """Average every window of a sequence."""

    _repr_names = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = (
            value if isinstance(value, tuple | list) else (value,)
            for value in (kernel_size, kernel_size if stride is None else stride, padding)
        )
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``avg_pool1d``."""
        numbers = self.kernel_size, self.stride, self.padding
        return F.avg_pool1d(input, *numbers, self.ceil_mode, self.count_include_pad)


class AvgPool2d(Module):
    """Average every window of an image."""

    _repr_names = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``avg_pool2d``."""
        options = self.ceil_mode, self.count_include_pad, self.divisor_override
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, *options)


class AdaptiveAvgPool1d(Module):
    """Average a sequence over as many windows as wanted."""

    _repr_names = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``adaptive_avg_pool1d``."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(Module):
    """Average an image over as many windows as wanted, for images of any size."""

    _repr_names = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``adaptive_avg_pool2d``."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveMaxPool2d(Module):
    """Take the largest elements of as many windows as wanted."""

    _repr_names = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        """Apply ``adaptive_max_pool2d``."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class Upsample(Module):
    """Change the size of images: see ``interpolate``."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        if isinstance(scale_factor, tuple):
            scale_factor = tuple(map(float, scale_factor))
        elif scale_factor:
            scale_factor = float(scale_factor)
        self.size, self.scale_factor = size, scale_factor
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``interpolate``."""
        options = self.mode, self.align_corners, self.recompute_scale_factor
        return F.interpolate(input, self.size, self.scale_factor, *options)

    def extra_repr(self) -> str:
        """Return the new size, or the factor."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Repeat pixels, to enlarge images."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Mix neighboring pixels, to enlarge images; corners stay corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
