"""The functions of ``nn.functional`` that look images up elsewhere, or take them apart.

After reading this file you know how a spatial transformer turns an image: ``affine_grid`` says
where to look, ``grid_sample`` looks there. Read next: ``../ops/sampling.py`` and
``../ops/patches.py``, where they are computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.dtypes import c_type
from autodiff_kit.errors import error
from autodiff_kit.operands import check_operand
from autodiff_kit.ops.windows import Grid
from autodiff_kit.tensor import Tensor

__all__ = ["affine_grid", "fold", "grid_sample", "pixel_shuffle", "pixel_unshuffle", "unfold"]

Numbers = int | Sequence[int]


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details.",
            UserWarning,
            stacklevel=3,
        )
    return bool(align_corners)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return where matrices move the pixels of an image of some size, for ``grid_sample``.

    Parameters
    ----------
    theta : Tensor, shape (n, 2, 3)
    size : four ints: n, c, height, width
    align_corners : bool, optional
        Whether -1 and 1 are the centers of the outermost pixels, or the edges of the image.

    Returns
    -------
    Tensor, shape (n, height, width, 2): x and y, from -1 to 1 within the image

    Raises
    ------
    ValueError
        If shapes do not fit, or theta is not floating-point.
    """
    aligned = _aligned(align_corners)
    if not theta.is_floating_point():
        raise error("functional.affine_type", dtype=theta.dtype)
    if len(size) != 4:
        raise error("functional.affine_size", size=size)
    if theta.ndim != 3 or theta.shape[-2:] != (2, 3):
        raise error("functional.affine_shape", size=size, shape=theta.shape)
    if min(size) <= 0:
        raise error("functional.affine_empty", size=size)
    height, width = size[-2:]
    dtype = theta._array.dtype
    x, y = (_coordinates(count, aligned, dtype) for count in (width, height))
    base = np.stack([*np.meshgrid(x, y), np.ones((height, width), dtype)], -1)
    return ops.affine_grid_generator(theta, base=base)


def _coordinates(count: int, aligned: bool, dtype: Any) -> Any:
    if count <= 1:
        return np.zeros(count, dtype)
    line = np.linspace(-1, 1, count, dtype=dtype)
    return line if aligned else line * dtype.type((count - 1) / count)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Look images up at the places of a grid.

    Parameters
    ----------
    input : Tensor, shape (n, c, h, w)
    grid : Tensor, shape (n, height, width, 2)
        x and y, from -1 to 1 within the image.
    mode : "bilinear" or "nearest"
        Mix the four pixels around a place, or take the nearest.
    padding_mode : "zeros", "border" or "reflection"
        What is beyond the image.
    align_corners : bool, optional
        Whether -1 and 1 are the centers of the outermost pixels, or the edges of the image.

    Returns
    -------
    Tensor, shape (n, c, height, width)

    Raises
    ------
    ValueError, RuntimeError
        If there is no such mode, or shapes or dtypes do not fit.
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise error("functional.sample_mode", mode=mode)
    if padding_mode not in ("zeros", "border", "reflection"):
        raise error("functional.sample_padding", mode=padding_mode)
    if mode == "bicubic" or input.ndim != 4:
        raise error("functional.sample_kind")
    own, places = [*input.shape], [*grid.shape]
    aligned = _aligned(align_corners)
    check_operand("grid_sampler", "input", 1, input, numbers=False)
    check_operand("grid_sampler", "grid", 2, grid, numbers=False)
    if len(input) != len(grid):
        raise error("functional.sample_batch", input=own, grid=places)
    if grid.ndim != 4:
        raise error("functional.sample_ranks", input=own, grid=places)
    if grid.shape[-1] != 2:
        raise error("functional.sample_pairs", grid=places)
    if input.dtype is not grid.dtype:
        kinds = [c_type(tensor._array.dtype).capitalize() for tensor in (input, grid)]
        raise error("functional.sample_types", input=kinds[0], grid=kinds[1])
    from autodiff_kit.ops.sampling import Lookup

    return ops.grid_sampler_2d(input, grid, how=Lookup(mode, padding_mode, aligned))


# -- patches --------------------------------------------------------------------------------------


def _pair(value: Numbers) -> tuple[int, ...]:
    return (value, value) if isinstance(value, int) else tuple(value)


def _grid(kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers) -> Grid:
    grid = Grid(_pair(kernel_size), _pair(stride), _pair(padding), _pair(dilation))
    lengths = {"kernel_size": grid.kernel, "stride": grid.stride, "dilation": grid.dilation}
    for name, values in lengths.items():
        if len(values) != 2:
            raise error("functional.unfold_numbers", name=name, count=len(values))
    for name, what, values in (
        ("kernel", "kernel size", grid.kernel),
        ("dilation", "dilation", grid.dilation),
        ("pad", "padding", grid.padding),
        ("stride", "stride", grid.stride),
    ):
        values_text = f"{name}_height: {values[0]} {name}_width: {values[1]}"
        if name == "pad" and min(values) < 0:
            raise error("functional.unfold_negative", got=values_text)
        if name != "pad" and min(values) <= 0:
            raise error("functional.windows_positive", what=what, got=values_text)
    return grid


def unfold(
    input: Tensor,
    kernel_size: Numbers,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    stride: Numbers = 1,
) -> Tensor:
    """Make a column of each window on an image: (n, c, h, w) to (n, c * window, windows).

    Without n, the result is without it, too.
    """
    grid = _grid(kernel_size, stride, padding, dilation)
    if input.ndim == 3:
        return ops.squeeze_dim(ops.im2col(ops.unsqueeze(input, dim=0), grid=grid), dim=0)
    if input.ndim != 4:
        raise error("functional.unfold_rank", shape=[*input.shape])
    counts, size = grid.counts(input.shape[2:]), tuple(input.shape[2:])
    if min(counts) < 1:
        counts = tuple(max(count, 0) for count in counts)
        raise error(
            "functional.unfold_windows", size=size, kernel=grid.kernel, dilation=grid.dilation,
            padding=grid.padding, counts=counts,
        )  # fmt: skip
    return ops.im2col(input, grid=grid)


def fold(
    input: Tensor,
    output_size: Numbers,
    kernel_size: Numbers,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    stride: Numbers = 1,
) -> Tensor:
    """Put windows back on an image, (n, c * window, windows) to (n, c, h, w); overlaps add up.

    RuntimeError if the shapes do not fit.
    """
    grid = _grid(kernel_size, stride, padding, dilation)
    size = _pair(output_size)
    if input.ndim == 2:
        one = ops.unsqueeze(input, dim=0)
        return ops.squeeze_dim(ops.col2im(one, size=size, grid=grid), dim=0)
    if input.ndim != 3:
        raise error("functional.fold_rank", shape=[*input.shape])
    window, counts = int(np.prod(grid.kernel)), grid.counts(size)
    if input.shape[1] % window:
        raise error("functional.fold_channels", kernel=grid.kernel, channels=input.shape[1])
    if input.shape[2] != np.prod(counts):
        raise error(
            "functional.fold_windows", size=size, kernel=grid.kernel, dilation=grid.dilation,
            padding=grid.padding, stride=grid.stride, product=" * ".join(map(str, counts)),
            expected=int(np.prod(counts)), own=input.shape[2],
        )  # fmt: skip
    return ops.col2im(input, size=size, grid=grid)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Turn channels into pixels: (*, c * factor**2, h, w) to (*, c, h * factor, w * factor)."""
    if input.ndim < 3:
        raise error("functional.pixels_rank", name="pixel_shuffle", count=input.ndim)
    if input.shape[-3] % upscale_factor**2:
        count = upscale_factor**2
        raise error("functional.pixel_channels", channels=input.shape[-3], count=count)
    return ops.pixel_shuffle(input, factor=upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Turn pixels into channels: the opposite of ``pixel_shuffle``."""
    if input.ndim < 3:
        raise error("functional.pixels_rank", name="pixel_unshuffle", count=input.ndim)
    for dim, name in ((-2, "height"), (-1, "width")):
        size = input.shape[dim]
        if size % downscale_factor:
            factor = downscale_factor
            raise error("functional.pixel_size", name=name, dim=dim, size=size, factor=factor)
    return ops.pixel_unshuffle(input, factor=downscale_factor)
