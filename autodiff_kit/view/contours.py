"""Lines of equal height on a surface given at the points of a grid.

After reading you can say how a table of numbers becomes a map: which heights have a line, and why
all lines are closed. ContourPy, which matplotlib draws with, finds them. Read next: ``charts.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from contourpy import contour_generator
from numpy.typing import NDArray

__all__ = ["levels", "rings"]

Point = tuple[float, float]
Ring = list[Point]


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
    finite = values[np.isfinite(values)]
    if not finite.size:
        return []
    low, middle, high = (float(v) for v in np.quantile(finite, (0.0, 0.5, 1.0)))
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
    [[(0.5, 1.0), (1.0, 0.5), (1.5, 1.0), (1.0, 1.5)]]
    """
    # A rim of low points at the same places closes every line at the border.
    xs, ys = [xs[0], *xs, xs[-1]], [ys[0], *ys, ys[-1]]
    deep = level - 1 - abs(level)
    heights = np.full((len(ys), len(xs)), deep)
    heights[1:-1, 1:-1] = np.where(np.isfinite(values), values, deep)
    lines = contour_generator(xs, ys, heights, line_type="Separate").lines(level)
    return [[(float(x), float(y)) for x, y in np.asarray(line)[:-1]] for line in lines]
