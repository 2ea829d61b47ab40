"""The functions of ``nn.functional`` that slide windows over images: convolution and pooling.

After reading this file you know which strides, paddings and groups fit together. Read next:
``../ops/windows.py``, then ``../ops/convolution.py``, where they are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.dtypes import c_type, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.methods import check_operand
from autodiff_kit.ops.windows import Grid
from autodiff_kit.tensor import Tensor, wrap

__all__ = ["avg_pool2d", "conv1d", "conv2d", "max_pool2d", "pad"]

Numbers = int | Sequence[int]


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels along sequences: ``conv2d`` with one dimension less."""
    return _convolution("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels over images: multiply every window with every kernel and add up.

    Parameters
    ----------
    input : Tensor, shape (n, c, height, width) or (c, height, width)
    weight : Tensor, shape (out, c / groups, kernel height, kernel width)
    bias : Tensor, shape (out,), optional
    stride, dilation : int or pair
        The steps from window to window, and from element to element inside of a window.
    padding : int, pair, "same" or "valid"
        Zeros around the image; "same" adds as many as keep its size, "valid" none.
    groups : int
        Input and output channels are divided into so many groups that do not see each other.

    Returns
    -------
    Tensor, shape (n, out, rows, columns), or without n

    Raises
    ------
    RuntimeError
        If shapes, dtypes or numbers do not fit.
    """
    return _convolution("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def _convolution(
    name: str,
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Numbers,
    padding: Numbers | str,
    dilation: Numbers,
    groups: int,
) -> Tensor:
    check_operand(name, "input", 1, input, numbers=False)
    check_operand(name, "weight", 2, weight, numbers=False)
    if input.ndim not in (rank + 1, rank + 2):
        raise error(
            "functional.conv_rank", name=name, a=rank + 1, b=rank + 2, shape=list(input.shape)
        )
    if input.ndim == rank + 1:
        one = ops.unsqueeze(input, dim=0)
        out = _convolution(name, rank, one, weight, bias, stride, padding, dilation, groups)
        return ops.squeeze_dim(out, dim=0)
    kernel = weight._array.shape[2:]
    steps = _per_dim("stride", stride, len(kernel), rank)
    inner = _per_dim("dilation", dilation, len(kernel), rank)
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise error("functional.padding_string", padding=padding)
        total = [d * (k - 1) for k, d in zip(kernel, inner, strict=True)]
        if padding == "valid":
            total = [0] * len(kernel)
        elif set(steps) != {1}:
            raise error("functional.same_strided")
        if any(n % 2 for n in total):  # one more after than before
            extra = tuple(p for n in reversed(total) for p in (0, n % 2))
            input = ops.constant_pad_nd(input, pad=extra, value=0.0)
        padding = [n // 2 for n in total]
    grid = Grid(kernel, steps, _per_dim("padding", padding, len(kernel), rank), inner)
    _check_convolution(input, weight, bias, grid, groups)
    return ops.convolution(input, weight, 0 if bias is None else bias, grid=grid, groups=groups)


def _per_dim(name: str, value: Any, rank: int, wanted: int) -> tuple[int, ...]:
    numbers = (value,) * wanted if isinstance(value, int) else tuple(value)
    if len(numbers) == 1:
        numbers *= rank
    if len(numbers) != rank:
        raise error("functional.conv_numbers", name=name, rank=rank, got=list(numbers))
    return numbers


def _check_convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, grid: Grid, groups: int
) -> None:
    shape, kernels = list(input._array.shape), list(weight._array.shape)
    for word, what, wrong in (
        ("non-positive", "groups", groups < 1),
        ("negative", "padding", min(grid.padding) < 0),
        ("non-positive", "stride", min(grid.stride) < 1),
        ("non-positive", "dilation", min(grid.dilation) < 1),
    ):
        if wrong:
            raise error("functional.conv_positive", word=word, what=what)
    if kernels[0] < groups or kernels[0] % groups:
        need = "divisible by" if kernels[0] >= groups else "at least"
        size = f"[{kernels}]" if kernels[0] >= groups else kernels
        raise error("functional.conv_groups", groups=groups, need=need, size=size)
    if shape[1] != kernels[1] * groups:
        wanted = kernels[1] * groups
        raise error(
            "functional.conv_channels",
            groups=groups, weight=kernels, shape=shape, wanted=wanted, got=shape[1],
        )  # fmt: skip
    if bias is not None and bias.shape != (kernels[0],):
        raise error("functional.conv_bias", weight=kernels, count=kernels[0], got=list(bias.shape))
    padded = [n + 2 * p for n, p in zip(shape[2:], grid.padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(grid.kernel, grid.dilation, strict=True)]
    if any(n < r for n, r in zip(padded, reach, strict=True)):
        a, b = (" x ".join(map(str, sizes)) for sizes in (padded, reach))
        raise error("functional.conv_kernel", padded=a, kernel=b)
    kind, own = input._array.dtype, weight._array.dtype
    if kind != own:
        if kind.kind != "f":
            raise error("functional.conv_whole", wanted=tensor_type(kind), found=tensor_type(own))
        raise error("functional.conv_type", input=tensor_type(kind), weight=tensor_type(own))
    if bias is not None and bias._array.dtype != kind:
        raise error("functional.conv_bias_type", input=c_type(kind), bias=c_type(bias._array.dtype))


def _pooling(
    name: str, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> Grid:
    check_operand(name, "input", 1, input, numbers=False)
    pairs = []
    given = {"kernel_size": kernel_size, "stride": stride, "padding": padding}
    for what, value in {**given, "dilation": dilation}.items():
        value = kernel_size if value is None or value == () else value
        pair = (value,) * 2 if isinstance(value, int) else tuple(value) * (3 - len(value))
        if len(pair) != 2:
            raise error("functional.pool_pair", name=name, what=what)
        pairs.append(pair)
    grid = Grid._make((*pairs, bool(ceil)))
    if 0 in grid.stride:
        raise error("functional.pool_stride")
    for what, words, (height, width) in (
        ("kernel size", "k{}: {}", grid.kernel),
        ("dilation", "dilation{}: {}", grid.dilation),
    ):
        if min(height, width) < 1:
            got = f"{words.format('H', height)} {words.format('W', width)}"
            raise error("functional.pool_positive", what=what, got=got)
    for k, p, d in zip(grid.kernel, grid.padding, grid.dilation, strict=True):
        if not 0 <= p <= (d * (k - 1) + 1) // 2:
            raise error("functional.pool_padding", pad=p, kernel=k, dilation=d)
    shape = input._array.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise error("functional.pool_rank", shape=list(shape))
    count = grid.counts(shape[-2:])
    if min(count) < 1:
        planes = shape[-3]
        before, after = ("x".join(map(str, (planes, *size))) for size in (shape[-2:], count))
        raise error("functional.pool_size", before=before, after=after)
    return grid


def max_pool2d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of every window; the first one gets the gradient.

    Parameters
    ----------
    input : Tensor, shape (n, c, height, width) or (c, height, width)
    kernel_size, stride, padding, dilation : int or pair
        As for ``conv2d``; the stride is the kernel's size if left out; padding never wins.
    ceil_mode : bool
        Whether the last windows may reach over the border.
    return_indices : bool
        Return also where in its image each element stands, counted row by row.
    """
    grid = _pooling("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)
    out, positions = ops.max_pool2d(input, grid=grid)
    area = input.size(-2) * input.size(-1)
    return (out, wrap(positions % area)) if return_indices else out


def avg_pool2d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Average every window; see ``max_pool2d``.

    Parameters
    ----------
    count_include_pad : bool
        Whether the zeros of the padding count as elements.
    divisor_override : int, optional
        Divide the sums by this instead.
    """
    grid = _pooling("avg_pool2d", input, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override == 0:
        raise error("functional.pool_divisor")
    divisors = divisor_override or grid.areas(input._array.shape[-2:], count_include_pad)
    return ops.avg_pool2d(input, grid=grid, divisors=divisors)


_MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Add elements before and after the last dimensions.

    Parameters
    ----------
    input : Tensor
    pad : sequence of int
        How many before and after: of the last dimension first, then of the one before it, ...
        Negative numbers cut off.
    mode : {"constant", "reflect", "replicate", "circular"}
        Add ``value``, the image mirrored at its border, its last element again and again, or what
        comes at its other end. (PyTorch has nodes of their own for the last three; here, indexing.)
    value : float, optional
        0 if left out.
    """
    check_operand("pad", "input", 1, input, numbers=False)
    if not isinstance(pad, Sequence):
        raise error("functional.pad_type", kind=type(pad).__name__)
    if len(pad) % 2:
        raise error("functional.pad_length")
    if len(pad) > 2 * input.ndim:
        raise error("functional.pad_dims", count=len(pad), rank=input.ndim)
    shape = input._array.shape
    sides = list(zip(range(len(shape) - 1, -1, -1), pad[::2], pad[1::2], strict=False))
    if any(shape[dim] + before + after < 0 for dim, before, after in sides):
        raise error("functional.pad_negative")
    if mode == "constant":
        return ops.constant_pad_nd(input, pad=tuple(pad), value=0.0 if value is None else value)
    if mode not in _MODES:
        raise error("functional.pad_mode", mode=mode)
    if value is not None:
        raise error("functional.pad_value", mode=mode)
    if len(sides) not in (len(shape) - 1, len(shape) - 2):
        raise error("functional.pad_support", count=len(pad), rank=len(shape))
    for dim, before, after in sides:
        if mode == "circular" and max(before, after) > shape[dim]:
            raise error("functional.pad_circular")
        if mode == "reflect" and max(before, after) >= shape[dim]:
            arg, both = 2 + 2 * (len(shape) - dim), (before, after)
            raise error(
                "functional.pad_reflect", arg=arg, both=both, dim=dim, shape=list(input.shape)
            )
        added = max(0, before), max(0, after)
        order = np.pad(np.arange(shape[dim]), added, _MODES[mode])
        order = order[max(0, -before) : len(order) - max(0, -after)]
        input = ops.index(input, indices=(slice(None),) * dim + (order,))
    return input
