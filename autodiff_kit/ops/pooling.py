"""Pooling and padding: images made smaller, and their borders wider.

After reading this file you know where the gradient of a maximum over windows goes - to the first
of the largest elements - and that overlapping windows add up. Read next: ``../nn/functional.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import flat_in
from autodiff_kit.ops.indexing import index_backward
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.shape import reshape
from autodiff_kit.ops.table import op
from autodiff_kit.ops.windows import Grid, pad_array

__all__ = ["adaptive_max_pool2d", "avg_pool2d", "avg_pool2d_backward", "constant_pad_nd"]
__all__ += ["max_pool2d"]

_maximum: Callable[..., Value] = np.maximum.reduce


@op(
    "max_pool2d(x)",
    tex=r"\max_{\text{window}} x",
    node="MaxPool2DWithIndicesBackward0",
    by_products=("positions",),
    saved_as={"positions": "result1"},
)
def max_pool2d(x: Value, *, grid: Grid) -> Any:
    """Return the largest element of every window (the first, at a tie), and where it stands."""
    height, width = size = x.shape[-2:]
    count = grid.counts(size)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    image = pad_array(x, grid.border(size), lowest)
    up, left = (
        np.arange(n) * s - p for n, s, p in zip(count, grid.stride, grid.padding, strict=True)
    )
    has_nan = bool(np.isnan(_maximum(x, None, initial=lowest)))
    out = np.empty((*x.shape[:-2], *count), x.dtype)
    positions = np.empty(out.shape, np.int64)
    for place, where in grid.places(count):
        row = np.clip(up + place[0] * grid.dilation[0], 0, height - 1)
        column = np.clip(left + place[1] * grid.dilation[1], 0, width - 1)
        candidate = image[where]
        better = candidate > out if any(place) else True  # the first one wins over nothing
        if has_nan:
            better |= candidate != candidate  # nan wins
        np.copyto(out, candidate, where=better)
        np.copyto(positions, row[:, None] * width + column, where=better)
    firsts = np.arange(0, x.size, max(1, height * width)).reshape(*x.shape[:-2], 1, 1)
    return out, positions + firsts  # in the whole tensor, counted row by row


@op(
    "adaptive_max_pool2d(x)",
    tex=r"\max_{\text{window}} x",
    node="AdaptiveMaxPool2DBackward0",
    by_products=("positions",),
    saved_as={"positions": "result1"},
)
def adaptive_max_pool2d(x: Value, *, bounds: tuple[list[tuple[int, int]], ...]) -> Any:
    """Return the largest element of windows with these bounds, and where it stands."""
    height, width = x.shape[-2:]
    count = tuple(map(len, bounds))
    positions = np.empty((*x.shape[:-2], *count), np.int64)
    for i, (top, bottom) in enumerate(bounds[0]):
        for j, (left, right) in enumerate(bounds[1]):
            window = x[..., top:bottom, left:right].reshape(*x.shape[:-2], -1)
            row, column = np.divmod(np.argmax(window, -1), right - left)
            positions[..., i, j] = (top + row) * width + left + column
    firsts = np.arange(0, x.size, max(1, height * width)).reshape(*x.shape[:-2], 1, 1)
    positions += firsts
    return np.ravel(x)[positions], positions


for _pool in (max_pool2d, adaptive_max_pool2d):

    @_pool.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
    def _(g: Value, x: Value, positions: Value) -> Value:
        places = getattr(positions, "_array", positions)
        flat = index_backward(g, shape=(math.prod(x.shape),), indices=(places,))
        return flat_in(reshape(flat, shape=x.shape), x)


@op("avg_pool2d(x)", tex=r"\tfrac1k \textstyle\sum_{\text{window}} x", node="AvgPool2DBackward0")
def avg_pool2d(x: Value, *, grid: Grid, divisor: Any) -> Value:
    """Add every window up and divide: by a number, or by one for each window, as an array."""
    size = x.shape[-2:]
    count = grid.counts(size)
    image = pad_array(x, grid.border(size))
    out = np.zeros((*x.shape[:-2], *count), x.dtype)
    for _, where in grid.places(count):
        out += image[where]
    return (out / divisor).astype(x.dtype, copy=False)


@avg_pool2d.vjp("x", tex=r"\tfrac1k \textstyle\sum \bar z \text{ put back}")
def _(g: Value, x: Value, grid: Grid, divisor: Any) -> Value:
    return flat_in(avg_pool2d_backward(g, shape=x.shape, grid=grid, divisor=divisor), x)


@op("zeros with x / k added at the windows", tex=r"\tfrac1k \textstyle\sum x \text{ put back}")
def avg_pool2d_backward(x: Value, *, shape: Ints, grid: Grid, divisor: Any) -> Value:
    """Give every element its part of the windows that it was in."""
    border = grid.border(shape[-2:])
    image = pad_array(np.zeros(shape, x.dtype), border)
    part = (x / divisor).astype(x.dtype, copy=False)
    for _, where in grid.places(x.shape[-2:]):
        image[where] += part
    return pad_array(image, tuple(-n for n in border))


@avg_pool2d_backward.vjp("x", tex=r"\tfrac1k \textstyle\sum_{\text{window}} \bar z")
def _(g: Value, grid: Grid, divisor: Any) -> Value:
    return avg_pool2d(g, grid=grid, divisor=divisor)


@op("pad(x, pad, value)", tex=r"[a, x, a]")
def constant_pad_nd(x: Value, *, pad: Ints, value: float) -> Value:
    """Put a border of one number around the last dimensions; negative widths cut off."""
    return pad_array(x, pad, value) if any(pad) else scalar_if_0d(np.array(x))


@constant_pad_nd.vjp("x", tex=r"\bar z \text{ without the border}")
def _(g: Value, pad: Ints) -> Value:
    return constant_pad_nd(g, pad=tuple(-n for n in pad), value=0.0)
