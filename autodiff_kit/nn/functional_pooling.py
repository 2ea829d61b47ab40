"""The functions of ``nn.functional`` that make images smaller or larger: pooling, interpolation.

After reading this file you know which windows a pooling looks at. Sequences are images of height 1.
Read next: ``../ops/pooling.py`` and ``../ops/resampling.py``, where they are computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.errors import error
from autodiff_kit.operands import check_operand
from autodiff_kit.ops.windows import Grid
from autodiff_kit.outside import only_default
from autodiff_kit.tensor import Tensor

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d", "avg_pool1d"]
__all__ += ["avg_pool2d", "interpolate", "max_pool1d", "max_pool2d", "max_unpool1d", "max_unpool2d"]

Numbers = int | Sequence[int]

# -- windows of one size ---------------------------------------------------------------------------


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
        As for ``conv2d``; the stride is the kernel's size if left out. Padding never wins.
    ceil_mode : bool
        Whether windows at the end may reach over the border.
    return_indices : bool
        Return where the elements stand, too: counted row by row in each image.

    RuntimeError if no window fits into the image.
    """
    k, s, p, d = _numbers("max_pool2d", 2, kernel_size, stride, padding=padding, dilation=dilation)
    return _max_pool(input, Grid(k, s, p, d, ceil_mode), return_indices)


def _max_pool(input: Tensor, grid: Grid, return_indices: bool) -> Any:
    _check_windows("max_pool2d", input, grid)
    out, positions = ops.max_pool2d(input, grid=grid)
    if not return_indices:
        return out
    return out, wrap(positions % math.prod(input.shape[-2:]))


def max_pool1d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """``max_pool2d`` for sequences: input of shape ((n,) c, length)."""
    check_operand("max_pool1d", "input", 1, input, numbers=False)
    if input.ndim not in (2, 3):
        raise error("functional.max_pool1d_rank", shape=list(input.shape))
    grid = _flat(_numbers("max_pool1d", 1, kernel_size, stride, padding=padding, dilation=dilation))
    grid = grid._replace(reaches_over=ceil_mode)
    names = "kernel_size", "stride", "padding", "dilation"
    for name, (_, value) in zip(names, grid[:4], strict=True):
        if value < (name != "padding"):
            need = "non-negative" if name == "padding" else "greater than zero"
            raise error("functional.max_pool1d_number", name=name, need=need, value=value)
    if grid.padding[1] > grid.kernel[1] // 2:
        raise error("functional.max_pool1d_padding", pad=grid.padding[1], kernel=grid.kernel[1])
    count = grid.counts((1, input.shape[-1]))[1]
    if count < 1:
        raise error("functional.max_pool1d_size", count=count)
    out = _max_pool(input.unsqueeze(-2), grid, return_indices)
    return tuple(part.squeeze(-2) for part in out) if return_indices else out.squeeze(-2)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put what ``max_pool2d`` took back to its place; all else is zero.

    Parameters
    ----------
    input : Tensor, shape (n, c, height, width) or (c, height, width)
    indices : Tensor of int64, of the same shape
        What ``max_pool2d`` returned with ``return_indices=True``.
    kernel_size, stride, padding : int or pair
        As they were given there: they say how large the image was.
    output_size : sequence of int, optional
        Its size, where several sizes give the same number of windows.

    ValueError for a size that cannot be meant; RuntimeError for an index outside of the image.
    """
    return _max_unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """``max_unpool2d`` for sequences: input of shape ((n,) c, length)."""
    return _max_unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


def _max_unpool(
    name: str,
    rank: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None,
    padding: Numbers,
    output_size: Sequence[int] | None,
) -> Tensor:
    kernel, step, pad = _numbers(name, rank, kernel_size, stride, padding=padding)
    shape = input.shape[:-rank], input.shape[-rank:]
    triples = list(zip(shape[1], kernel, step, pad, strict=True))
    size = tuple((n - 1) * s + k - 2 * p for n, k, s, p in triples)
    if output_size is not None:
        chosen = tuple(output_size)[-rank:]
        for i, (n, usual, s) in enumerate(zip(chosen, size, step, strict=True)):
            if not usual - s < n < usual + s:
                low, high = usual - s, usual + s
                raise error("functional.unpool_size", size=chosen, dim=i, low=low, high=high)
        size = chosen
    if indices.shape != input.shape:
        raise error("functional.unpool_indices", shape=list(input.shape), own=list(indices.shape))
    count = math.prod(size)
    places = indices.flatten(-rank) if rank > 1 else indices
    for place in places._array[(places._array < 0) | (places._array >= count)].flat:
        raise error("functional.unpool_index", place=place, size="x".join(map(str, size)))
    image = input.new_zeros((*shape[0], count))
    values = input.flatten(-rank) if rank > 1 else input
    return image.scatter(-1, places, values).reshape((*shape[0], *size))


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

    The zeros of the padding count as elements, unless ``count_include_pad`` is false;
    ``divisor_override`` is what to divide by instead of the number of elements.
    """
    k, s, p = _numbers("avg_pool2d", 2, kernel_size, stride, padding=padding)
    grid = Grid(k, s, p, (1, 1), ceil_mode)
    _check_windows("avg_pool2d", input, grid)
    if divisor_override is not None:
        if divisor_override == 0:
            raise error("functional.pool_divisor")
        return ops.avg_pool2d(input, grid=grid, divisor=divisor_override)
    return ops.avg_pool2d(input, grid=grid, divisor=_sizes(input, grid, count_include_pad))


def _sizes(input: Tensor, grid: Grid, count_include_pad: bool) -> Any:
    """Return how many elements windows have: a number, or an array if not all have as many."""
    each = []
    size = input._array.shape[-2:]
    for k, s, p, n, m in zip(*grid[:3], size, grid.counts(size), strict=True):
        start = np.arange(m) * s - p
        end = np.minimum(start + k, n + p)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        each.append(end - start)
    counts = each[0][:, None] * each[1]
    whole = math.prod(grid.kernel)
    return whole if np.all(counts == whole) else counts.astype(input._array.dtype)


def avg_pool1d(
    input: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """``avg_pool2d`` for sequences: input of shape ((n,) c, length)."""
    _check_sequences("avg_pool1d", input)
    grid = _flat(_numbers("avg_pool1d", 1, kernel_size, stride, padding=padding))
    numbers = grid.kernel, grid.stride, grid.padding
    image = avg_pool2d(input.unsqueeze(-2), *numbers, ceil_mode, count_include_pad)
    return image.squeeze(-2)


def _check_sequences(name: str, input: Tensor) -> None:
    check_operand(name, "input", 1, input, numbers=False)
    if input.ndim not in (2, 3):
        raise error("functional.pool1d_rank", name=name, rank=input.ndim)


def _numbers(
    name: str, rank: int, kernel_size: Numbers, stride: Numbers | None, **more: Numbers
) -> list[tuple[int, ...]]:
    """Return the numbers of a grid, one per dimension each."""
    if stride is None or (not isinstance(stride, int) and not len(stride)):
        stride = kernel_size
    result = []
    for what, value in {"kernel_size": kernel_size, "stride": stride, **more}.items():
        if not isinstance(value, int | tuple | list):
            place = ["kernel_size", "stride", *more].index(what) + 2
            kind = type(value).__name__
            raise error("functional.pool_number", name=name, what=what, place=place, kind=kind)
        each = (value,) * rank if isinstance(value, int) else tuple(value)
        if len(each) == 1:
            each *= rank
        if len(each) != rank:
            key = f"functional.pool{rank}d_numbers"
            need = (
                "either be omitted, a single int" if what == "stride" else "either be a single int"
            )
            raise error(key, name=name, what=what, need=need, count=len(each))
        result.append(each)
    return result


def _flat(numbers: list[tuple[int, ...]]) -> Grid:
    """Return the grid for images of height 1."""
    neutral = ((1,), (1,), (0,), (1,))
    both = [n + own for n, own in zip(neutral, [*numbers, (1,)][:4], strict=True)]
    return Grid(both[0], both[1], both[2], both[3])


def _check_windows(name: str, input: Tensor, grid: Grid) -> None:
    check_operand(name, "input", 1, input, numbers=False)
    if 0 in grid.stride:
        raise error("functional.pool_stride")
    for what, letters, values in (
        ("kernel size", ("kH", "kW"), grid.kernel),
        ("stride", ("dH", "dW"), grid.stride),
        ("dilation", ("dilationH", "dilationW"), grid.dilation),
    ):
        if min(values) <= 0:
            values_text = " ".join(f"{name}: {n}" for name, n in zip(letters, values, strict=True))
            raise error("functional.windows_positive", what=what, got=values_text)
    if min(grid.padding) < 0:
        raise error("functional.pool_negative", pad=min(grid.padding))
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


# -- so many windows -------------------------------------------------------------------------------


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Average over as many windows as ``output_size`` says: an int, or a pair with None for all.

    Input has shape ((n,) c, height, width).
    """
    if not hasattr(input, "size"):
        check_operand("adaptive_avg_pool2d", "input", 1, input, numbers=False)
    size = _output_size("adaptive_avg_pool2d", input, output_size)
    if size == (1, 1):
        return input.mean((-1, -2), keepdim=True)
    rows, columns = (_averages(n, m, input) for n, m in zip(input.shape[-2:], size, strict=True))
    return ops.adaptive_avg_pool2d(input, rows=rows, columns=columns)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """``adaptive_avg_pool2d`` for sequences: input of shape ((n,) c, length)."""
    _check_sequences("adaptive_avg_pool1d", input)
    count = output_size if isinstance(output_size, int) else output_size[0]
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, count)).squeeze(-2)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest elements of as many windows; see ``adaptive_avg_pool2d``."""
    size = _output_size("adaptive_max_pool2d", input, output_size)
    bounds = tuple(_bounds(n, m) for n, m in zip(input.shape[-2:], size, strict=True))
    out, positions = ops.adaptive_max_pool2d(input, bounds=bounds)
    if not return_indices:
        return out
    return out, wrap(positions % math.prod(input.shape[-2:]))


def _output_size(name: str, input: Tensor, output_size: Any) -> tuple[int, int]:
    sizes = output_size if isinstance(output_size, tuple | list) else (output_size, output_size)
    if input.ndim not in (3, 4):
        colon = ":" if "max" in name else ""
        raise error("functional.adaptive_rank", name=name, colon=colon, shape=list(input.shape))
    if len(sizes) != 2:
        raise error("functional.adaptive_size", name=name)
    height, width = (n if m is None else m for n, m in zip(input.shape[-2:], sizes, strict=True))
    if height < 0 or width < 0:
        raise error("functional.adaptive_negative", name=name, height=height, width=width)
    return height, width


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    """Return where windows begin and end that are as equal as can be, and overlap if need be."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _averages(size: int, count: int, like: Tensor) -> Any:
    """Return the matrix that averages ``size`` elements over ``count`` windows."""
    matrix = np.zeros((count, size), like._array.dtype if like.is_floating_point() else "float32")
    for i, (start, end) in enumerate(_bounds(size, count)):
        matrix[i, start:end] = 1 / (end - start)
    return matrix


# -- other sizes -----------------------------------------------------------------------------------


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Change the size of images, shape (n, c, height, width).

    Parameters
    ----------
    size, scale_factor : int or pair, number or pair
        One of them: the new size, or by what to multiply the old one.
    mode : {"nearest", "bilinear", "area"}
        Take the nearest element, mix the four around each place, or average the part of the image
        that becomes one element. PyTorch has more modes.
    align_corners : bool, optional
        For "bilinear": whether the middles of the corner elements stay where they are, else their
        outer corners do.
    recompute_scale_factor : bool, optional
        Whether the places are those for the new size, an integer, rather than for
        ``scale_factor``.
    antialias : bool
        False: PyTorch can also smooth what gets smaller.

    ValueError or NotImplementedError if arguments do not fit together, or are not part of the kit.
    """
    only_default("nn.functional.interpolate", antialias=antialias)
    if mode in _WITHOUT_CORNERS and align_corners is not None:
        raise error("functional.align_corners")
    if input.ndim not in (3, 4, 5) or mode not in {*_WITHOUT_CORNERS, *_BY_CORNERS}:
        raise error("functional.interpolate_mode", rank=input.ndim, mode=mode)
    if _BY_CORNERS.get(mode, input.ndim) != input.ndim:
        rank, expected = input.ndim, _BY_CORNERS[mode]
        raise error("functional.interpolate_rank", mode=mode, rank=rank, expected=expected)
    if mode not in ("nearest", "bilinear", "area"):
        only_default("nn.functional.interpolate", mode=mode)
    if input.ndim != 4:
        raise error("functional.interpolate_images", rank=input.ndim)
    if (size is None) == (scale_factor is None):
        raise error("functional.interpolate_one" if size else "functional.interpolate_none")
    if recompute_scale_factor and size is not None:
        raise error("functional.interpolate_recompute")
    by_size = scale_factor is None or recompute_scale_factor
    sizes = size if scale_factor is None else scale_factor
    both = tuple(sizes) if isinstance(sizes, tuple | list) else (sizes, sizes)
    pairs = list(zip(input.shape[-2:], both, strict=True))
    shape = [n if scale_factor is None else math.floor(old * n) for old, n in pairs]
    if mode == "area":
        return adaptive_avg_pool2d(input, shape)
    matrices = []
    for (old, number), new in zip(pairs, shape, strict=True):
        step = old / new if by_size else 1 / number
        if mode == "nearest":
            matrices.append(_nearest(old, new, step, input))
        else:
            matrices.append(_linear(old, new, step, bool(align_corners), input))
    op = ops.upsample_nearest2d if mode == "nearest" else ops.upsample_bilinear2d
    return op(input, rows=matrices[0], columns=matrices[1])


# The modes, and of those that have ``align_corners`` the rank of what they resize.
_WITHOUT_CORNERS = "nearest", "area", "nearest-exact"
_BY_CORNERS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5, "lanczos": 4}


def _nearest(old: int, new: int, step: float, like: Tensor) -> Any:
    places = np.minimum((np.arange(new) * np.float32(step)).astype(int), old - 1)
    return (places[:, None] == np.arange(old)).astype(like._array.dtype)


def _linear(old: int, new: int, step: float, align_corners: bool, like: Tensor) -> Any:
    kind = like._array.dtype
    if align_corners:
        places = np.arange(new) * kind.type((old - 1) / (new - 1) if new > 1 else 0)
    else:
        places = np.maximum((np.arange(new) + 0.5) * kind.type(step) - 0.5, 0)
    places = np.minimum(places.astype(kind), old - 1)
    first = places.astype(int)
    second = np.minimum(first + 1, old - 1)
    part = (places - first).astype(kind)
    matrix = np.zeros((new, old), kind)
    np.add.at(matrix, (np.arange(new), first), 1 - part)
    np.add.at(matrix, (np.arange(new), second), part)
    return matrix
