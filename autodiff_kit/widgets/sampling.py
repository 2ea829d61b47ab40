"""Where a curve is asked for its values: at more points where its tangents leave the line drawn.

After reading you know why a picture of sin(50 x) has peaks of one height: autograd gives the
tangent at each point, and where it does not lead to the next one, there is more between them.
Read next: ``one_sided.py``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from typing import NamedTuple

from autodiff_kit.view.scales import seen_range

__all__ = ["Touch", "refined"]

LEVELS = 3  # so often an interval is divided
PART = 0.382  # the golden section: halves would meet every oscillation of a regular grid in step
SEEN, FAR = 0.02, 0.1  # parts of the picture's height: what can be seen, and what is a wrong line


class Touch(NamedTuple):
    """A function at one point; slope and bend (second derivative) are None without a graph."""

    x: float
    y: float
    slope: float | None
    bend: float | None


def refined(
    touch: Callable[[float], Touch], curve: Sequence[Touch], seconds: float
) -> tuple[list[Touch], bool]:
    """Add points to a curve where its tangents do not lead from one to the next.

    Parameters
    ----------
    touch : callable
        The function at a place; where it raises, the curve has a gap.
    curve : sequence of Touch
        From left to right.
    seconds : float
        No intervals are divided again after this time.

    Returns
    -------
    (list of Touch, bool) - the curve, and whether it still changes faster than its points show.

    Examples
    --------
    >>> def sine(x):
    ...     return Touch(x, math.sin(20 * x), 20 * math.cos(20 * x), None)
    >>> curve, is_too_fast = refined(sine, [sine(0.3 * i) for i in range(11)], 1.0)
    >>> len(curve) > 60, is_too_fast
    (True, True)
    """
    points = list(curve)
    # Of each interval: the first one that it is a part of, and whether its last division has shown
    # values off the line. (Tangents alone may be wrong, as behind a detach.)
    parts = [(i, False) for i in range(len(points) - 1)]
    end = perf_counter() + seconds
    for _ in range(LEVELS):
        view = seen_range([t.y for t in points])
        height = view[1] - view[0]
        pairs = [*zip(pairwise(points), parts, strict=True)]
        if perf_counter() > end or not any(_leaves(a, b, view) > SEEN for (a, b), _ in pairs):
            break
        points, parts = points[:1], []
        for (a, b), (first, _) in pairs:
            if _leaves(a, b, view) > SEEN:
                middle = _tried(touch, a.x + PART * (b.x - a.x))
                is_off = abs(middle.y - a.y - PART * (b.y - a.y)) > SEEN * height
                points.append(middle)
                parts.append((first, is_off))
            else:
                is_off = False
            points.append(b)
            parts.append((first, is_off))
    view = seen_range([t.y for t in points])
    wrong = Counter(
        first
        for (a, b), (first, is_off) in zip(pairwise(points), parts, strict=True)
        if is_off and _leaves(a, b, view) > FAR
    )
    return points, any(count > 1 for count in wrong.values())  # one alone is a jump


def _leaves(a: Touch, b: Touch, view: tuple[float, float]) -> float:
    """Return how far the tangents of two neighbours miss the other one, by the picture's height."""
    if a.slope is None or b.slope is None or not all(view[0] <= t.y <= view[1] for t in (a, b)):
        return 0.0
    rise, width = b.y - a.y, b.x - a.x
    off = max(abs(a.slope * width - rise), abs(b.slope * width - rise))
    return off / (view[1] - view[0]) if math.isfinite(off) else 0.0


def _tried(touch: Callable[[float], Touch], x: float) -> Touch:
    try:
        return touch(x)
    except Exception:
        return Touch(x, math.nan, math.nan, math.nan)
