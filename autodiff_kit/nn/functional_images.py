"""The functions of ``nn.functional`` that slide windows over images: convolution and pooling.

After reading this file you know which strides, paddings and groups fit together. Read next:
``../ops/windows.py``, then ``../ops/convolution.py``, where they are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_kit import ops
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.methods import check_operand
from autodiff_kit.ops.windows import Grid
from autodiff_kit.tensor import Tensor

__all__ = ["avg_pool2d", "conv1d", "conv2d", "max_pool2d", "pad"]

Numbers = int | Sequence[int]


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *args: Any, **options: Any
) -> Tensor:
    """Slide kernels along sequences: ``conv2d``, and its options, with one dimension less."""
    return _convolution("conv1d", 1, input, weight, bias, *args, **options)


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
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Tensor:
    check_operand(name, "input", 1, input, numbers=False)
    check_operand(name, "weight", 2, weight, numbers=False)
    if input.ndim == rank + 1:
        one = ops.unsqueeze(input, dim=0)
        out = _convolution(name, rank, one, weight, bias, stride, padding, dilation, groups)
        return ops.squeeze_dim(out, dim=0)
    if input.ndim != rank + 2:
        shape = list(input.shape)
        raise error("functional.conv_rank", name=name, a=rank + 1, b=rank + 2, shape=shape)
    kernel = weight._array.shape[2:]
    steps, inner = _per_dim(stride, rank), _per_dim(dilation, rank)
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
    grid = Grid(kernel, steps, _per_dim(padding, rank), inner)
    _check_convolution(input, weight, grid, groups)
    return ops.convolution(input, weight, 0 if bias is None else bias, grid=grid, groups=groups)


def _per_dim(value: Numbers, rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _check_convolution(input: Tensor, weight: Tensor, grid: Grid, groups: int) -> None:
    shape, kernels = list(input._array.shape), list(weight._array.shape)
    if kernels[0] % groups:
        need, size = "divisible by", f"[{kernels}]"
        raise error("functional.conv_groups", groups=groups, need=need, size=size)
    wanted = kernels[1] * groups
    if shape[1] != wanted:
        raise error(
            "functional.conv_channels",
            groups=groups, weight=kernels, shape=shape, wanted=wanted, got=shape[1],
        )  # fmt: skip
    padded = [n + 2 * p for n, p in zip(shape[2:], grid.padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(grid.kernel, grid.dilation, strict=True)]
    if any(n < r for n, r in zip(padded, reach, strict=True)):
        a, b = (" x ".join(map(str, sizes)) for sizes in (padded, reach))
        raise error("functional.conv_kernel", padded=a, kernel=b)
    kinds = [tensor_type(tensor._array.dtype) for tensor in (input, weight)]
    if kinds[0] != kinds[1]:
        if not input.is_floating_point():
            raise error("functional.conv_whole", wanted=kinds[0], found=kinds[1])
        raise error("functional.conv_type", input=kinds[0], weight=kinds[1])


def max_pool2d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
) -> Tensor:
    """Return the largest element of every window; the first one gets the gradient.

    Input has shape (n, c, height, width) or (c, height, width); the numbers are ints or pairs, as
    for ``conv2d``. The stride is the kernel's size if left out; padding never wins. RuntimeError if
    no window fits into the image.
    """
    return ops.max_pool2d(input, grid=_pooling(input, kernel_size, stride, padding, dilation))[0]


def avg_pool2d(
    input: Tensor, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0
) -> Tensor:
    """Average every window; see ``max_pool2d``. The zeros of the padding count as elements."""
    return ops.avg_pool2d(input, grid=_pooling(input, kernel_size, stride, padding, 1))


def _pooling(
    input: Tensor, kernel_size: Numbers, stride: Numbers | None, *numbers: Numbers
) -> Grid:
    check_operand("max_pool2d", "input", 1, input, numbers=False)
    given = (kernel_size, kernel_size if stride is None else stride, *numbers)
    grid = Grid._make(_per_dim(value, 2) for value in given)
    for k, p, d in zip(grid.kernel, grid.padding, grid.dilation, strict=True):
        if not 0 <= p <= (d * (k - 1) + 1) // 2:
            raise error("functional.pool_padding", pad=p, kernel=k, dilation=d)
    shape = input._array.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise error("functional.pool_rank", shape=list(shape))
    count = grid.counts(shape[-2:])
    if min(count) < 1:
        before, after = ("x".join(map(str, (shape[-3], *size))) for size in (shape[-2:], count))
        raise error("functional.pool_size", before=before, after=after)
    return grid


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Add elements of one value, by default 0, before and after the last dimensions.

    ``pad`` says how many before and after: of the last dimension first, then of the one before it,
    and so on; negative numbers cut off. PyTorch's other modes are not part of the kit.
    """
    if len(pad) % 2:
        raise error("functional.pad_length")
    if len(pad) > 2 * input.ndim:
        raise error("functional.pad_dims", count=len(pad), rank=input.ndim)
    if mode != "constant":
        raise error("functional.pad_mode", mode=mode)
    return ops.constant_pad_nd(input, pad=tuple(pad), value=0.0 if value is None else value)
