"""Convolutions: layers that slide the same small kernels over images or sequences.

After reading this file you know what the sizes and options of a convolution are, and that the
transposed one undoes the change of size. Read next: ``functional_images.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.weighted import Shape, Weighted
from autodiff_kit.tensor import Tensor

__all__ = ["Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d"]


class _ConvNd(Weighted):
    """What the convolutions have in common: their numbers, one for each dimension of the input."""

    in_channels: int
    out_channels: int
    kernel_size: Shape
    groups: int
    _rank: int
    _is_transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        each = kernel_size, stride, dilation, output_padding
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation, self.output_padding = map(self._each, each)
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.padding_mode = padding_mode
        if groups <= 0:
            raise error("nn.conv_groups")
        for name, channels in (("in", in_channels), ("out", out_channels)):
            if channels % groups:
                raise error("nn.conv_channels", name=name)
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise error("nn.conv_padding", padding=padding)
        if padding == "same" and set(self.stride) != {1}:
            raise error("nn.conv_same")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise error("nn.padding_mode", mode=padding_mode)
        if self._is_transposed and padding_mode != "zeros":
            raise error("nn.padding_mode_transposed", name=type(self).__name__)
        self._make_parameters(device, dtype, bias=bias)

    def _each(self, value: Any) -> Shape:
        return (value,) * self._rank if isinstance(value, int) else tuple(value)

    def _shapes(self) -> dict[str, Shape]:
        channels = self.out_channels, self.in_channels
        first, second = channels[::-1] if self._is_transposed else channels
        shape = first, second // self.groups, *self.kernel_size
        return {"weight": shape, "bias": (self.out_channels,)}

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the default."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        usual = {"padding": 0, "dilation": 1, "output_padding": 0}
        for name, number in usual.items():
            value = getattr(self, name)
            if value != (number,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        text += "" if self.bias is not None else ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"

    def _output_padding(self, input: Tensor, output_size: Any) -> Shape:
        """Return the own ``output_padding``, or what it has to be for a size of the output."""
        if output_size is None:
            return self.output_padding
        before = 2 if input.ndim == self._rank + 2 else 1
        sizes = output_size
        if len(sizes) == before + self._rank:
            sizes = sizes[before:]
        if len(sizes) != self._rank:
            raise error(
                "nn.output_size_count",
                rank=self._rank,
                dims=input.ndim,
                all=before + self._rank,
                count=len(sizes),
            )
        padding: Any = self.padding  # a word only of those that are not transposed
        numbers = self.stride, padding, self.dilation, self.kernel_size
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(input.shape[before:], *numbers, strict=True)
        ]
        most = [size + s - 1 for size, s in zip(least, self.stride, strict=True)]
        if any(not a <= size <= b for size, a, b in zip(sizes, least, most, strict=True)):
            own = input.shape[2:]
            raise error("nn.output_size", size=sizes, least=least, most=most, input=own)
        return tuple(size - a for size, a in zip(sizes, least, strict=True))

    def _bordered(self, input: Tensor) -> tuple[Tensor, Any]:
        """Return the input, padded if that is not by zeros, and the padding that is left to do."""
        if self.padding_mode == "zeros" or self.padding == "valid":
            return input, self.padding
        widths: list[int] = []
        for kernel, step, width in zip(
            self.kernel_size,
            self.dilation,
            self._each(0 if self.padding == "same" else self.padding),
            strict=True,
        ):
            total = step * (kernel - 1) if self.padding == "same" else 2 * width
            widths[:0] = total // 2, total - total // 2
        return F.pad(input, widths, mode=self.padding_mode), 0


class Conv1d(_ConvNd):
    """Slide kernels along sequences: input of shape ((n,) in_channels, length); see ``Conv2d``."""

    _rank = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = kernel_size, stride, padding, dilation, 0, groups
        super().__init__(in_channels, out_channels, *numbers, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Slide the kernels along the input."""
        input, padding = self._bordered(input)
        options = self.stride, padding, self.dilation, self.groups
        return F.conv1d(input, self.weight, self.bias, *options)


class Conv2d(_ConvNd):
    """Slide kernels over images: input of shape ((n,) in_channels, height, width).

    ``kernel_size``, ``stride``, ``padding`` (pixels around the image, or "same" or "valid") and
    ``dilation`` are ints or pairs; ``groups`` is the number of parts into which the channels are
    split, so weight has shape (out_channels, in_channels / groups, *kernel_size). ValueError if
    they cannot be. ``padding_mode``: what to pad with, as in ``functional.pad``.
    """

    _rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = kernel_size, stride, padding, dilation, 0, groups
        super().__init__(in_channels, out_channels, *numbers, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Slide the kernels over the input."""
        input, padding = self._bordered(input)
        options = self.stride, padding, self.dilation, self.groups
        return F.conv2d(input, self.weight, self.bias, *options)


class ConvTranspose1d(_ConvNd):
    """Spread sequences out; see ``ConvTranspose2d``."""

    _rank, _is_transposed = 1, True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = kernel_size, stride, padding, dilation, output_padding, groups
        super().__init__(in_channels, out_channels, *numbers, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Spread the input out: to ``output_size``, if ``output_padding`` can make it so large."""
        padding: Any = self.padding
        more = self._output_padding(input, output_size)
        options = self.stride, padding, more, self.groups, self.dilation
        return F.conv_transpose1d(input, self.weight, self.bias, *options)


class ConvTranspose2d(_ConvNd):
    """Spread every element of an image out over a window; windows that overlap add up.

    With the numbers of a ``Conv2d`` it gives images of the size that the ``Conv2d`` took;
    ``output_padding`` adds rows and columns where a stride leaves the size open. Weight has shape
    (in_channels, out_channels / groups, *kernel_size).
    """

    _rank, _is_transposed = 2, True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = kernel_size, stride, padding, dilation, output_padding, groups
        super().__init__(in_channels, out_channels, *numbers, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Spread the input out: to ``output_size``, if ``output_padding`` can make it so large."""
        padding: Any = self.padding
        more = self._output_padding(input, output_size)
        options = self.stride, padding, more, self.groups, self.dilation
        return F.conv_transpose2d(input, self.weight, self.bias, *options)
