"""The functions of ``nn.functional`` that slide kernels over images, and that widen borders.

After reading this file you know which strides, paddings and groups fit together. Read next:
``../ops/windows.py``, then ``../ops/convolution.py``, where they are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_kit import ops
from autodiff_kit.creation import zeros
from autodiff_kit.dtypes import full_name, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.operands import check_number, check_operand
from autodiff_kit.ops.windows import Grid
from autodiff_kit.tensor import Tensor

__all__ = ["conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "pad"]

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
    _check_bias_type(input, bias)
    kernel = weight._array.shape[2:]
    numbers = {"stride": stride, "padding": padding, "dilation": dilation}
    if isinstance(padding, str):
        del numbers["padding"]
    each = _numbers(rank, input, weight, groups, numbers)
    steps, inner = each["stride"], each["dilation"]
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
        each["padding"] = tuple(n // 2 for n in total)
    grid = Grid(kernel, steps, each["padding"], inner)
    _check_convolution(input, weight, bias, grid, groups)
    return ops.convolution(input, weight, 0 if bias is None else bias, grid=grid, groups=groups)


def _numbers(
    rank: int, input: Tensor, weight: Tensor, groups: int, numbers: Keywords
) -> dict[str, tuple[int, ...]]:
    """Return the numbers of a convolution, one per dimension each; RuntimeError if they cannot be.

    Their ranks and signs are checked in PyTorch's order.
    """
    if weight.ndim < 3:
        raise error("functional.conv_weight_rank")
    each, count = {}, weight.ndim - 2
    for name, value in numbers.items():
        own = (value,) * rank if isinstance(value, int) else tuple(value)
        each[name] = own * count if len(own) == 1 else own
        if len(each[name]) != count:
            raise error("functional.conv_numbers", name=name, count=count, got=[*own])
    if groups <= 0:
        raise error("functional.conv_positive", sign="non-positive", name="groups")
    for name, least in (("padding", 0), ("output_padding", 0), ("stride", 1)):
        if min(each.get(name, (least,))) < least:
            sign = "non-positive" if least else "negative"
            raise error("functional.conv_positive", sign=sign, name=name)
    if min(each["dilation"]) < 0:
        raise error("functional.conv_dilation", got="")
    if weight.ndim != rank + 2:
        sizes, shape = [*weight.shape], [*input.shape]
        raise error("functional.conv_ranks", a=weight.ndim, weight=sizes, b=input.ndim, shape=shape)
    return each


def _check_groups(weight: Tensor, groups: int) -> None:
    kernels = list(weight._array.shape)
    if kernels[0] < groups:
        need, size = "at least", str(kernels)
        raise error("functional.conv_groups", groups=groups, need=need, size=size)
    if kernels[0] % groups:
        need, size = "divisible by", f"[{kernels}]"
        raise error("functional.conv_groups", groups=groups, need=need, size=size)


def _check_convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, grid: Grid, groups: int
) -> None:
    _check_groups(weight, groups)
    shape, kernels = list(input._array.shape), list(weight._array.shape)
    expected = kernels[1] * groups
    if shape[1] != expected:
        raise error(
            "functional.conv_channels",
            groups=groups, weight=kernels, shape=shape, expected=expected, got=shape[1],
        )  # fmt: skip
    _check_bias_shape("", kernels, bias, kernels[0])
    padded = [n + 2 * p for n, p in zip(shape[2:], grid.padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(grid.kernel, grid.dilation, strict=True)]
    if any(n < r for n, r in zip(padded, reach, strict=True)):
        a, b = (" x ".join(map(str, sizes)) for sizes in (padded, reach))
        raise error("functional.conv_kernel", padded=a, kernel=b)
    if 0 in grid.dilation:
        sizes = [*(1,) * (2 - len(grid.dilation)), *grid.dilation]
        raise error("functional.conv_dilation", got=f", but got {sizes}")
    _check_types(input, weight)


def _check_bias_type(input: Tensor, bias: Tensor | None) -> None:
    if bias is not None and bias._array.dtype != input._array.dtype:
        kinds = (str(x.dtype).removeprefix("torch.") for x in (input, bias))
        own, other = (_IN_C.get(kind, kind) for kind in kinds)
        raise error("functional.conv_bias_type", input=own, bias=other)


# What C++ calls a dtype.
_IN_C = {"float32": "float", "float64": "double", "float16": "c10::Half", "int64": "long int"}
_IN_C |= {"int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char"}
_IN_C |= {"bfloat16": "c10::BFloat16"}


def _check_bias_shape(kind: str, weight: list[int], bias: Tensor | None, count: int) -> None:
    if bias is not None and bias._array.shape != (count,):
        shape = [*bias.shape]
        raise error("functional.conv_bias", kind=kind, weight=weight, count=count, shape=shape)


def _check_types(input: Tensor, weight: Tensor) -> None:
    kinds = [tensor_type(tensor._array.dtype) for tensor in (input, weight)]
    if kinds[0] != kinds[1]:
        if input._array.dtype != "float32":
            raise error("functional.conv_whole", expected=kinds[0], actual=kinds[1])
        raise error("functional.conv_type", input=kinds[0], weight=kinds[1])


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *args: Any, **options: Any
) -> Tensor:
    """Spread sequences out: ``conv_transpose2d``, and its options, with one dimension less."""
    return _transposed("conv_transpose1d", 1, input, weight, bias, *args, **options)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Tensor:
    """Spread every element out over a window: what the gradient of ``conv2d`` does.

    Parameters
    ----------
    input : Tensor, shape (n, c, height, width) or (c, height, width)
    weight : Tensor, shape (c, out / groups, kernel height, kernel width)
    output_padding : int or pair
        So many rows and columns more: with a stride, several sizes have the same convolution.

    For the others, the result and the errors see ``conv2d``.
    """
    options = stride, padding, output_padding, groups, dilation
    return _transposed("conv_transpose2d", 2, input, weight, bias, *options)


def _transposed(
    name: str,
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Tensor:
    check_operand(name, "input", 1, input, numbers=False)
    check_operand(name, "weight", 2, weight, numbers=False)
    if input.ndim == rank + 1:
        one = ops.unsqueeze(input, dim=0)
        options = stride, padding, output_padding, groups, dilation
        return ops.squeeze_dim(_transposed(name, rank, one, weight, bias, *options), dim=0)
    if input.ndim != rank + 2:
        shape = list(input.shape)
        raise error("functional.conv_rank", name=name, a=rank + 1, b=rank + 2, shape=shape)
    numbers = {"stride": stride, "padding": padding, "output_padding": output_padding}
    each = _numbers(rank, input, weight, groups, numbers | {"dilation": dilation})
    extra = each.pop("output_padding")
    kernel = weight._array.shape[2:]
    grid = Grid(kernel, each["stride"], each["padding"], each["dilation"])
    _check_groups(weight, groups)
    kernels, channels = list(weight._array.shape), input.shape[1]
    if channels != kernels[0]:
        raise error(
            "functional.conv_transposed_channels",
            groups=groups,
            weight=kernels,
            shape=list(input.shape),
            expected=kernels[0],
            got=channels,
        )
    _check_bias_shape("transposed=1, ", kernels, bias, kernels[1] * groups)
    _check_transposed(grid, extra)
    rows = zip(*grid[:4], extra, input.shape[2:], strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + e + 1 for k, s, p, d, e, n in rows)
    if min(size) < 1:
        before, after = (" x ".join(map(str, sizes)) for sizes in (input.shape[2:], size))
        raise error("functional.conv_transposed_size", before=before, after=after)
    _check_types(input, weight)
    whole = (len(input), kernels[1] * groups, *size)
    shift = 0 if bias is None else bias
    return ops.conv_transpose(input, weight, shift, shape=whole, grid=grid, groups=groups)


def _check_transposed(grid: Grid, extra: tuple[int, ...]) -> None:
    """Refuse a dilation of 0, and output padding that other options could take the place of."""
    names = "output_padding", "stride", "dilation"
    each = dict(zip(names, (extra, grid.stride, grid.dilation), strict=True))
    for name in names if len(extra) == 1 else ():  # PyTorch takes sequences as images of height 1
        each[name] = (int(name != "output_padding"), *each[name])
    texts = {n: [f"{n}_height: {h}", f"{n}_width: {w}"] for n, (h, w) in each.items()}
    if 0 in grid.dilation:
        raise error("functional.conv_dilation", got=f", but got {', '.join(texts['dilation'])}")
    if any(e >= s and e >= d for e, s, d in zip(*each.values(), strict=True)):
        values_text = " ".join(text for pair in texts.values() for text in pair)
        raise error("functional.conv_output_padding", got=values_text)


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Add elements before and after the last dimensions: by default of one value, 0.

    ``pad`` says how many before and after: of the last dimension first, then of the one before it,
    and so on; negative numbers cut off. Other modes than ``"constant"`` take elements of the input:
    ``"reflect"`` mirrors it at its edge, ``"replicate"`` repeats the edge, and ``"circular"``
    begins again at the other end.
    """
    if not isinstance(pad, tuple | list):
        raise error("functional.pad_kind", kind=full_name(pad))
    if value is not None:
        check_number("pad", "value", 4, value)
    if len(pad) % 2:
        raise error("functional.pad_length")
    if len(pad) > 2 * input.ndim:
        raise error("functional.pad_dims", count=len(pad), rank=input.ndim)
    if mode == "constant":
        sides = zip(input.shape[::-1], pad[::2], pad[1::2], strict=False)
        if any(size + min(before, 0) + min(after, 0) < 0 for size, before, after in sides):
            raise error("functional.pad_cut")
        return ops.constant_pad_nd(input, pad=tuple(pad), value=0.0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise error("functional.pad_mode", mode=mode)
    if value:
        raise error("functional.pad_value", mode=mode)
    rank = len(pad) // 2
    if rank not in (1, 2, 3) or input.ndim - rank not in (1, 2):
        raise error("functional.pad_rank", count=len(pad), rank=input.ndim)
    if mode == "circular":
        return _padded_in_circles(input, pad)
    for i in range(rank):
        before, after = pad[2 * i : 2 * i + 2]
        dim = input.ndim - 1 - i
        if mode == "reflect" and max(before, after) >= input.shape[dim]:
            number, shape = 2 * rank + 2, [*input.shape]
            raise error(
                "functional.pad_reflect",
                dim=dim,
                shape=shape,
                number=number,
                before=before,
                after=after,
            )
        if input.shape[dim] + before + after < 1:
            size = input.shape[dim]
            raise error("functional.pad_empty", size=size, left=size + before + after)
    from autodiff_kit.ops.padding import BORDERS

    return BORDERS[mode, rank](input, pad=tuple(pad))


def _padded_in_circles(input: Tensor, pad: Sequence[int]) -> Tensor:
    """Write the input into the middle, then copy the border from the other end, as PyTorch does."""
    widths = [(input.ndim - 1 - i, *pad[2 * i : 2 * i + 2]) for i in range(len(pad) // 2)]
    shape, inner = [*input.shape], input
    for dim, before, after in widths:
        if max(before, after) > shape[dim]:
            raise error("functional.pad_wraps")
        shape[dim] += before + after
        if shape[dim] < 0:
            raise error("functional.pad_circular")
    out: Tensor = zeros(shape, dtype=input.dtype)
    middle = out
    for dim, before, after in widths:
        middle = middle.narrow(dim, max(before, 0), shape[dim] - max(before, 0) - max(after, 0))
        size = inner.shape[dim]
        inner = inner.narrow(dim, max(-before, 0), size - max(-before, 0) - max(-after, 0))
    middle.copy_(inner)
    for dim, before, after in reversed(widths):
        end = shape[dim] - max(after, 0)
        if before > 0:
            out.narrow(dim, 0, before).copy_(out.narrow(dim, end - before, before))
        if after > 0:
            out.narrow(dim, end, after).copy_(out.narrow(dim, max(before, 0), after))
    return out
