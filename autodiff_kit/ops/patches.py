"""Images cut into patches and put together again: pure rearrangement, and sums where they overlap.

After reading this file you know two pairs, each the other's rule: ``im2col`` and ``col2im``, and
``pixel_shuffle`` and ``pixel_unshuffle``. Read next: ``convolution.py``, which multiplies such
patches with kernels.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.table import op, vjp
from autodiff_kit.ops.windows import Grid, pad_array

__all__ = ["col2im", "im2col", "pixel_shuffle", "pixel_unshuffle"]


@op("im2col(x)", tex=r"x_{[i : i + n]}", node="Im2ColBackward0", layout="rows")
@vjp(
    "x",
    lambda g, x_shape, grid: col2im(g, size=x_shape[2:], grid=grid),
    tex=r"\textstyle\sum \bar z",
)
def im2col(x: Value, *, grid: Grid) -> Value:
    """Make a column of each window on an image: (n, c, *size) to (n, c * window, windows)."""
    counts = grid.counts(x.shape[2:])
    padded = pad_array(x, grid.border(x.shape[2:]))
    windows = [padded[where] for _, where in grid.places(counts)]
    count = int(np.prod(counts))
    return np.stack(windows, 2).reshape(len(x), x.shape[1] * len(windows), count)


@op("col2im(x)", tex=r"\textstyle\sum x_{[i : i + n]}", node="Col2ImBackward0", layout="rows")
@vjp("x", lambda g, grid: im2col(g, grid=grid), tex=r"\bar z_{[i : i + n]}")
def col2im(x: Value, *, size: Ints, grid: Grid) -> Value:
    """Put windows back where they lay on an image of some size, and add up where they overlap."""
    counts = grid.counts(size)
    window = int(np.prod(grid.kernel))
    columns = x.reshape(len(x), x.shape[1] // window, window, *counts)
    border = grid.border(size)
    sides = [n + border[-2 * i - 2] + border[-2 * i - 1] for i, n in enumerate(size)]
    out = np.zeros((*columns.shape[:2], *sides), x.dtype)
    for number, (_, where) in enumerate(grid.places(counts)):
        out[where] += columns[:, :, number]
    return pad_array(out, tuple(-n for n in border))


@op("pixel_shuffle(x)", tex=r"x^\pi", layout="rows")
@vjp("x", lambda g, factor: pixel_unshuffle(g, factor=factor), tex=r"\bar z^{\pi^{-1}}")
def pixel_shuffle(x: Value, *, factor: int) -> Value:
    """Make blocks of pixels of channels: (*, c * factor**2, h, w) to (*, c, h * factor, ...)."""
    *batch, channels, height, width = x.shape
    blocks = x.reshape(*batch, channels // factor**2, factor, factor, height, width)
    pixels = np.moveaxis(blocks, (-4, -3), (-3, -1))
    return pixels.reshape(*batch, channels // factor**2, height * factor, width * factor)


@op("pixel_unshuffle(x)", tex=r"x^\pi", layout="rows")
@vjp("x", lambda g, factor: pixel_shuffle(g, factor=factor), tex=r"\bar z^{\pi^{-1}}")
def pixel_unshuffle(x: Value, *, factor: int) -> Value:
    """Make channels of blocks of pixels: (*, c, h * factor, ...) to (*, c * factor**2, h, w)."""
    *batch, channels, height, width = x.shape
    blocks = x.reshape(*batch, channels, height // factor, factor, width // factor, factor)
    pixels: Any = np.moveaxis(blocks, (-3, -1), (-4, -3))
    return pixels.reshape(*batch, channels * factor**2, height // factor, width // factor)
