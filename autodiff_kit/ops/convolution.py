"""Convolution, as matrix products: all windows of an image, side by side, are a matrix.

After reading this file you know the gradients of a convolution without juggling indices. The sum
of ``g * convolution(x, weight)`` is linear in each of the three; the three ops here are its
derivatives by ``g``, by ``x`` and by ``weight``, so each has the other two as its rules.
Read next: ``pooling.py``.

Source: Chellapilla, Puri and Simard, High performance convolutional neural networks for document
processing (2006), for the matrix of windows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import flat_in
from autodiff_kit.ops.shape import slice_dim
from autodiff_kit.ops.table import op
from autodiff_kit.ops.windows import Grid

__all__ = ["conv_transpose", "convolution", "convolution_input", "convolution_weight"]


def _columns(
    x: Value, size: Ints, at: tuple[slice, ...], grid: Grid, groups: int, counts: Ints
) -> Iterator[tuple[slice, Any]]:
    """Copy all windows of a few images at a time into columns of a matrix.

    A few, because memory that stays in the processor's cache is several times faster. Yields
    (which images, columns): columns of shape (few, groups, c / groups * elements, windows).

    Parameters
    ----------
    x : array, shape (n, c, *any)
    size, at
        The frame of zeros around each image, and where in it the image goes.
    counts : tuple of int
        How many windows. At stride 1, rows of windows may go on over the right border: the last
        ones of a row are meaningless, but all are one long row, which is faster to copy.
    """
    channels, length = x.shape[1], math.prod(counts)
    elements = channels * math.prod(grid.kernel)
    few = max(1, min(len(x), 2**17 // max(1, elements * length)))
    beyond = grid.dilation[-1] * (grid.kernel[-1] - 1)  # how far the very last row goes on
    memory = np.zeros(few * channels * math.prod(size) + beyond, x.dtype)
    frame = memory[: len(memory) - beyond].reshape(few, channels, *size)
    steps = frame.strides[2:]
    inner = [step * d for step, d in zip(steps, grid.dilation, strict=True)]
    outer = [step * s for step, s in zip(steps, grid.stride, strict=True)]
    shape = (few, channels, *grid.kernel, *counts)
    windows = as_strided(frame, shape, (*frame.strides[:2], *inner, *outer))
    copy = np.empty(shape, x.dtype)
    columns = copy.reshape(few, groups, elements // groups, length)
    for start in range(0, len(x), few):
        which = slice(start, min(start + few, len(x)))
        count = which.stop - start
        frame[(slice(count), slice(None), *at)] = x[which]
        copy[:count] = windows[:count]
        yield which, columns[:count]


def _inside(size: Ints, padding: Ints) -> tuple[Ints, tuple[slice, ...]]:
    """Return the size with a border, and where in it the inside is."""
    pairs = list(zip(size, padding, strict=True))
    return tuple(n + 2 * p for n, p in pairs), tuple(slice(p, p + n) for n, p in pairs)


def _multiply(
    x: Value, matrix: Value, shift: Value, size: Ints, at: tuple[slice, ...], grid: Grid
) -> Value:
    """Multiply every window with the rows of a matrix (groups, out / groups, elements)."""
    groups, channels = len(matrix), matrix.shape[0] * matrix.shape[1]
    counts = grid._replace(padding=(0,) * len(size)).counts(size)
    longer = (*counts[:-1], size[-1]) if set(grid.stride) == {1} else counts
    out = np.empty((len(x), channels, *counts), x.dtype)
    for which, columns in _columns(x, size, at, grid, groups, longer):
        products = (matrix @ columns).reshape(-1, channels, *longer)
        np.add(products[..., : counts[-1]], shift, out=out[which])
    return out


@op("convolution(x, weight) + bias", tex=r"w * x + b", dtypes="any", saved_as={"x": "input"})
def convolution(x: Value, weight: Value, bias: Value, *, grid: Grid, groups: int) -> Value:
    """Multiply every window of an image with the kernels: (n, c, *size) to (n, out, *count)."""
    matrix = weight.reshape(groups, len(weight) // groups, math.prod(weight.shape[1:]))
    shift = bias if isinstance(bias, int) else bias.reshape(-1, *[1] * len(grid.kernel))
    return _multiply(x, matrix, shift, *_inside(x.shape[2:], grid.padding), grid)


# PyTorch computes all three gradients in one function, which reads x and weight for each.


@convolution.vjp("x", tex=r"w^\top * \bar z")
def _(g: Value, x: Value, weight: Value, grid: Grid, groups: int) -> Value:
    return flat_in(convolution_input(g, weight, shape=x.shape, grid=grid, groups=groups), x)


@convolution.vjp("weight", tex=r"\bar z * x")
def _(g: Value, x: Value, weight: Value, grid: Grid, groups: int) -> Value:
    gradient = convolution_weight(g, x, shape=weight.shape, grid=grid, groups=groups)
    return flat_in(gradient, weight)


def _of_bias(g: Value, x: Value, weight: Value) -> Value:
    return flat_in(flat_in(g.sum((0, *range(2, len(g.shape)))), x), weight)


convolution.vjp("bias", tex=r"\textstyle\sum \bar z")(_of_bias)


def _windows(x: Value, weight: Value, shape: Ints, grid: Grid, groups: int) -> Value:
    """Convolve; more windows than ``shape`` fit if ``output_padding`` exceeds the stride."""
    out = convolution(x, weight, 0, grid=grid, groups=groups)
    for dim in range(2, len(shape)):
        if out.shape[dim] > shape[dim]:
            out = slice_dim(out, dim=dim, start=0, end=shape[dim], step=1)
    return out


@op("convolution_input(x, weight)", tex=r"w^\top * x", dtypes="any")
def convolution_input(x: Value, weight: Value, *, shape: Ints, grid: Grid, groups: int) -> Value:
    """Convolve the cotangents, spread out by the stride, with the kernels turned around."""
    reach = [d * (k - 1) for k, d in zip(grid.kernel, grid.dilation, strict=True)]
    extra = tuple(max(0, p - r) for p, r in zip(grid.padding, reach, strict=True))
    full, image = _inside(shape[2:], extra)
    first = [r - p + e for r, p, e in zip(reach, grid.padding, extra, strict=True)]
    at = zip(first, x.shape[2:], grid.stride, strict=True)
    kernel = np.flip(weight, tuple(range(2, weight.ndim)))
    kernel = kernel.reshape(groups, len(weight) // groups, weight.shape[1], -1).swapaxes(1, 2)
    return _multiply(
        x,
        kernel.reshape(groups, weight.shape[1], -1),
        0,
        tuple(n + r for n, r in zip(full, reach, strict=True)),
        tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in at),
        grid._replace(stride=(1,) * len(reach)),
    )[(..., *image)]


@convolution_input.vjp("x", tex=r"w * \bar z")
def _(g: Value, x_shape: Ints, weight: Value, grid: Grid, groups: int) -> Value:
    return _windows(g, weight, x_shape, grid, groups)


@convolution_input.vjp("weight", tex=r"x * \bar z")
def _(g: Value, x: Value, weight_shape: Ints, grid: Grid, groups: int) -> Value:
    return convolution_weight(x, g, shape=weight_shape, grid=grid, groups=groups)


@op("convolution_weight(x, image)", tex=r"x * y", dtypes="any")
def convolution_weight(x: Value, image: Value, *, shape: Ints, grid: Grid, groups: int) -> Value:
    """Add up all windows of an image, each times its cotangent in x."""
    total = np.zeros((groups, shape[0] // groups, math.prod(shape[1:])), x.dtype)
    size, at = _inside(image.shape[2:], grid.padding)
    for which, columns in _columns(image, size, at, grid, groups, x.shape[2:]):
        rows = x[which].reshape(-1, *total.shape[:2], columns.shape[3])
        total += np.add.reduce(rows @ columns.swapaxes(2, 3), 0)
    return total.reshape(shape)


@convolution_weight.vjp("x", tex=r"\bar z * y")
def _(g: Value, x_shape: Ints, image: Value, grid: Grid, groups: int) -> Value:
    return _windows(image, g, x_shape, grid, groups)


@convolution_weight.vjp("image", tex=r"\bar z^\top * x")
def _(g: Value, x: Value, image_shape: Ints, grid: Grid, groups: int) -> Value:
    return convolution_input(x, g, shape=image_shape, grid=grid, groups=groups)


# -- transposed -----------------------------------------------------------------------------------


@op(
    "convolution_input(x, weight) + bias",
    tex=r"w^\top * x + b",
    node="ConvolutionBackward0",
    dtypes="any",
    saved_as={"x": "input"},
)
def conv_transpose(
    x: Value, weight: Value, bias: Value, *, shape: Ints, grid: Grid, groups: int
) -> Value:
    """Spread every element out over a window: (n, c, *count) to ``shape``, (n, out, *size)."""
    shift = bias if isinstance(bias, int) else bias.reshape(-1, *[1] * len(grid.kernel))
    out = convolution_input(x, weight, shape=shape, grid=grid, groups=groups) + shift
    return np.ascontiguousarray(out)


@conv_transpose.vjp("x", tex=r"w * \bar z")
def _(g: Value, x: Value, weight: Value, grid: Grid, groups: int) -> Value:
    return flat_in(_windows(g, weight, x.shape, grid, groups), x)


@conv_transpose.vjp("weight", tex=r"x * \bar z")
def _(g: Value, x: Value, weight: Value, grid: Grid, groups: int) -> Value:
    return flat_in(convolution_weight(x, g, shape=weight.shape, grid=grid, groups=groups), weight)


conv_transpose.vjp("bias", tex=r"\textstyle\sum \bar z")(_of_bias)
