"""Looking up an image between its pixels: what a spatial transformer does.

After reading this file you know why a network can learn where to look: the value between four
pixels is a weighted mean of them, and its weights change smoothly with the place. Read next:
``resampling.py``.

Source: Jaderberg et al., Spatial transformer networks (2015).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.gathering import gather, scatter_add
from autodiff_kit.ops.indexing import select
from autodiff_kit.ops.layouts import zeros
from autodiff_kit.ops.linalg import matmul
from autodiff_kit.ops.reduction import sum_dim
from autodiff_kit.ops.shape import expand, reshape, stack, transpose
from autodiff_kit.ops.table import op

__all__ = ["Lookup", "affine_grid_generator", "grid_sampler_2d"]


class Lookup(NamedTuple):
    """How places beyond the image are looked up, and what -1 and 1 stand for.

    Attributes
    ----------
    mode : "bilinear" or "nearest"
    border : "zeros", "border" or "reflection"
    align_corners : bool
        Whether -1 and 1 are the centers of the outermost pixels, or the edges of the image.
    """

    mode: str
    border: str
    align_corners: bool


class _Places(NamedTuple):
    """Places on an image along one dimension: in pixels, before the next one, and the slope."""

    first: Any  # the pixel before
    share: Any  # of the pixel after, from 0 to 1
    slope: Any  # of the place in pixels by the coordinate


def _pixels(x: Any, size: int, how: Lookup) -> _Places:
    """Turn coordinates from -1 to 1 into places, as PyTorch does."""
    reach = size - 1 if how.align_corners else size
    shift = 0.0 if how.align_corners else 1.0
    place = ((x + 1) * reach - shift) / 2
    slope = np.full(np.shape(x), reach / 2, x.dtype)
    if how.border == "reflection":
        low = 0.0 if how.align_corners else -0.5
        away = place - low
        turns = np.floor(np.abs(away) / reach) if reach else np.zeros_like(away)
        rest = np.abs(away) - turns * reach
        is_odd = turns % 2 == 1
        place = np.where(is_odd, reach - rest, rest) + low
        slope = slope * np.where(away < 0, -1, 1) * np.where(is_odd, -1, 1)
    if how.border != "zeros":
        slope = slope * ((place > 0) & (place < size - 1))
        place = np.clip(place, 0, size - 1)
    if how.mode == "nearest":
        return _Places(np.rint(place).astype(int), np.zeros_like(place), np.zeros_like(slope))
    first = np.floor(place)
    return _Places(first.astype(int), (place - first).astype(x.dtype), slope.astype(x.dtype))


class _Corners:
    """The pixels around each place, and their weights as values that can be differentiated."""

    def __init__(self, grid: Value, shape: Ints, how: Lookup) -> None:
        *_, self.height, self.width = shape
        self.shape, self.grid = shape, grid
        array: Any = grid if isinstance(grid, ARRAYS) else grid._array
        self._x, self._y = (_pixels(array[..., i], shape[3 - i], how) for i in (0, 1))

    def _share(self, places: _Places, axis: int) -> Value:
        """Return the share of the pixel after; its value is known, its slope needs the grid."""
        if isinstance(self.grid, ARRAYS):
            return places.share
        own = select(self.grid, dim=3, index=axis)
        return wrap(places.share) + (own - wrap(own._array)) * wrap(places.slope)

    def shares(self) -> tuple[Value, Value]:
        """Return the shares of the pixels to the right, and below."""
        return self._share(self._x, 0), self._share(self._y, 1)

    def slopes(self) -> tuple[Value, Value]:
        """Return how fast the shares change with the coordinates."""
        slopes = self._x.slope, self._y.slope
        return slopes if isinstance(self.grid, ARRAYS) else (wrap(slopes[0]), wrap(slopes[1]))

    def at(self, right: int, below: int, like: Value) -> tuple[Value, Value]:
        """Return the numbers of the pixels of one corner, (n, c, places), and which there are."""
        x, y = self._x.first + right, self._y.first + below
        is_there = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        number = np.where(is_there, y * self.width + x, 0).reshape(len(x), 1, -1)
        numbers = np.repeat(number, self.shape[1], 1)
        mask = is_there.reshape(len(x), 1, -1).astype(
            like.dtype if _is_array(like) else like._array.dtype
        )
        return (numbers, mask) if _is_array(like) else (wrap(numbers), wrap(mask))

    def pixels(self, x: Value, right: int, below: int) -> Value:
        """Return the pixels of one corner, (n, c, places); zeros beyond the image."""
        numbers, mask = self.at(right, below, x)
        flat = reshape(x, shape=(*self.shape[:2], self.height * self.width))
        return gather(flat, numbers, dim=2) * mask


def _is_array(value: Value) -> bool:
    return isinstance(value, ARRAYS)


def _flat(x: Value) -> Value:
    """Return (n, rows, columns) as (n, 1, places)."""
    return reshape(x, shape=(x.shape[0], 1, x.shape[1] * x.shape[2]))


_CORNERS = ((0, 0), (1, 0), (0, 1), (1, 1))


def _weight(corners: _Corners, right: int, below: int) -> Value:
    x, y = map(_flat, corners.shares())
    return (x if right else 1 - x) * (y if below else 1 - y)


@op(
    "grid_sampler(x, grid)",
    tex=r"\textstyle\sum w(y)\,x",
    node="GridSampler2DBackward0",
    layout="rows",
)
def grid_sampler_2d(x: Value, grid: Value, *, how: Lookup) -> Value:
    """Mix for each place of the grid the four pixels around it."""
    corners = _Corners(grid, x.shape, how)
    out = sum(_weight(corners, *at) * corners.pixels(x, *at) for at in _CORNERS)
    return np.reshape(out, (*x.shape[:2], *grid.shape[1:3])).astype(x.dtype)


@grid_sampler_2d.vjp("x", tex=r"\textstyle\sum w(y)\,\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, grid: Value, how: Lookup) -> Value:
    corners = _Corners(grid, x_shape, how)
    n, channels, height, width = x_shape
    flat = reshape(g, shape=(n, channels, g.shape[2] * g.shape[3]))
    total = zeros(g, (n, channels, height * width))
    for at in _CORNERS:
        numbers, mask = corners.at(*at, g)
        total = scatter_add(total, numbers, flat * (_weight(corners, *at) * mask), dim=2)
    return reshape(total, shape=x_shape)


@grid_sampler_2d.vjp("grid", tex=r"\bar z \odot \textstyle\sum w'(y)\,x")
def _(g: Value, x: Value, grid: Value, how: Lookup) -> Value:
    corners = _Corners(grid, x.shape, how)
    flat = reshape(g, shape=(*x.shape[:2], g.shape[2] * g.shape[3]))
    pixels = {at: corners.pixels(x, *at) for at in _CORNERS}
    right, below = map(_flat, corners.shares())
    along_x = (pixels[1, 0] - pixels[0, 0]) * (1 - below) + (pixels[1, 1] - pixels[0, 1]) * below
    along_y = (pixels[0, 1] - pixels[0, 0]) * (1 - right) + (pixels[1, 1] - pixels[1, 0]) * right
    shape = grid.shape[:3]
    parts = [
        reshape(sum_dim(flat * along, dim=(1,)), shape=shape) * slope
        for along, slope in zip((along_x, along_y), corners.slopes(), strict=True)
    ]
    return stack(*parts, dim=3)


@op("base @ x.T", tex=r"B\,x^\top", layout="rows")
def affine_grid_generator(x: Value, *, base: Any) -> Value:
    """Return where matrices (n, 2, 3) move the places ``base``, shape (rows, columns, 3)."""
    return np.asarray(np.einsum("ijk,nlk->nijl", base, x), x.dtype)


@affine_grid_generator.vjp("x", tex=r"\bar z^\top B")
def _(g: Value, base: Any) -> Value:
    n, rows, columns, _ = g.shape
    flat = transpose(reshape(g, shape=(n, rows * columns, 2)), dim0=1, dim1=2)
    places = base.reshape(1, rows * columns, 3).astype((g if _is_array(g) else g._array).dtype)
    return matmul(
        flat, expand(places if _is_array(g) else wrap(places), shape=(n, *places.shape[1:]))
    )
