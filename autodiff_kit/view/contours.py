"""Lines of equal height on a surface given at the points of a grid (marching squares).

After reading you can say how a table of numbers becomes a map: in each cell of four neighbours, a
line separates the corners above a level from those below, and the pieces join up to closed rings.
Read next: ``charts.py``, which draws them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["levels", "rings"]

Point = tuple[float, float]
Ring = list[Point]
Edge = tuple[int, int, int]  # row, column, and 0: to the right of that point, 1: down from it

# Corners above the level, as bits (1: upper left, 2: upper right, 4: lower right, 8: lower left),
# and the sides that the lines join, such that what is above lies at the right hand.
# Sides: 0 top, 1 right, 2 bottom, 3 left. Two opposite corners: see `_sides`.
_LINES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 3),), 2: ((1, 0),), 3: ((1, 3),), 4: ((2, 1),), 6: ((2, 0),), 7: ((2, 3),),
    8: ((3, 2),), 9: ((0, 2),), 11: ((1, 2),), 12: ((3, 1),), 13: ((0, 1),), 14: ((3, 0),),
}  # fmt: skip


def levels(values: NDArray[np.float64], count: int = 12) -> list[float]:
    """Return heights for the lines, from low to high: closer together where most values are.

    Equal distances would leave a steep valley, such as that of a loss, without any line.

    Parameters
    ----------
    values : array
        Heights; what is no finite number is passed over.
    count : int
        So many, or none if the surface is flat.

    Returns
    -------
    list of float

    Examples
    --------
    >>> levels(np.array([0.0, 1.0, 2.0]), 3)
    [0.5, 1.0, 1.5]
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return []
    low, middle, high = (float(v) for v in np.quantile(known, (0.0, 0.5, 1.0)))
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        return []
    part = min(max((middle - low) / (high - low), 1e-9), 0.9)
    power = max(1.0, math.log(part) / math.log(0.5))
    return [low + (high - low) * (k / (count + 1)) ** power for k in range(1, count + 1)]


def rings(
    xs: Sequence[float], ys: Sequence[float], values: NDArray[np.float64], level: float
) -> list[Ring]:
    """Return the closed lines around all places that are at least as high as a level.

    Parameters
    ----------
    xs, ys : sequence of float, lengths m and n
        Where the points of the grid are, each rising.
    values : array, shape (n, m)
        The height at each point; what is no finite number counts as below.
    level : float

    Returns
    -------
    list of list of (x, y) - in a fixed order.

    Examples
    --------
    >>> rings([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]]), 1.0)
    [[(1.5, 1.0), (1.0, 1.5), (0.5, 1.0), (1.0, 0.5)]]
    """
    # A rim of low points at the same places closes every line at the border.
    xs, ys = [xs[0], *xs, xs[-1]], [ys[0], *ys, ys[-1]]
    deep = level - 1 - abs(level)
    heights = np.full((len(ys), len(xs)), deep)
    heights[1:-1, 1:-1] = np.where(np.isfinite(values), values, deep)
    above = heights >= level
    kinds = above[:-1, :-1] + 2 * above[:-1, 1:] + 4 * above[1:, 1:] + 8 * above[1:, :-1]
    after: dict[Edge, Edge] = {}
    for row, column in np.argwhere((kinds > 0) & (kinds < 15)).tolist():
        sides = ((row, column, 0), (row, column + 1, 1), (row + 1, column, 0), (row, column, 1))
        kind = int(kinds[row, column])
        lines = _LINES.get(kind) or _opposite(kind, heights[row : row + 2, column : column + 2])
        for start, end in lines:
            after[sides[start]] = sides[end]
    found = []
    while after:
        edge, there = after.popitem()
        ring = [_crossing(xs, ys, heights, level, edge)]
        while there != edge:
            ring.append(_crossing(xs, ys, heights, level, there))
            there = after.pop(there)
        found.append(ring)
    return found


def _opposite(kind: int, cell: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """Two opposite corners are above: whether they hang together, the middle decides."""
    together = cell.mean() >= (cell.max() + cell.min()) / 2
    if kind == 5:
        return ((0, 1), (2, 3)) if together else ((0, 3), (2, 1))
    return ((3, 0), (1, 2)) if together else ((1, 0), (3, 2))


def _crossing(
    xs: Sequence[float], ys: Sequence[float], heights: NDArray[np.float64], level: float, edge: Edge
) -> Point:
    row, column, down = edge
    a = heights[row, column]
    b = heights[row + down, column + 1 - down]
    part = float((level - a) / (b - a))
    x0, x1 = xs[column], xs[column + 1 - down]
    y0, y1 = ys[row], ys[row + down]
    return x0 + part * (x1 - x0), y0 + part * (y1 - y0)
