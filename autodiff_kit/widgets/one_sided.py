"""Slopes of a curve by one-sided differences: what autograd's slope is held against.

After reading you know how a kink, a jump, a vertical tangent and the end of a domain are told
apart: the curve is asked a little to the left and to the right, in float64, at distances that
shrink by powers of ten. Autograd differentiates the operations that ran at one point; only the
neighbours say how the curve itself goes on. Read next: ``slope.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["NEAR", "Curve", "Side", "agree", "bends_of", "is_kink", "sides_of"]

NEAR = 0.02  # part of the width of the picture within which a curve is looked at as a whole
# By precision of the result: distances, as parts of the width of the picture, and the last one of
# them, which tells a jump from a steep place.
_STEPS = {True: ((1e-5, 1e-6, 1e-7), 1e-11), False: ((1e-2, 3e-3, 1e-3), 1e-4)}
_BEND_STEP = {True: 1e-4, False: 2e-2}
_ROUNDING = {True: 2.0**-52, False: 2.0**-23}


class Curve(NamedTuple):
    """A function of one number, as it is asked for plain values.

    Attributes
    ----------
    value : callable
        From a float to a float; nan where there is none.
    width : float
        Of the picture: what is near and what is far.
    scale : float
        A slope that is neither small nor large around the point.
    is_double : bool
        Whether values have the precision of float64, and not of float32.
    """

    value: Callable[[float], float]
    width: float
    scale: float
    is_double: bool

    def noise(self, *values: float) -> float:
        """Return how much of these values may be rounding."""
        return 8 * _ROUNDING[self.is_double] * max(map(abs, values), default=0.0)


class Side(NamedTuple):
    """How a curve goes on at one side of a point.

    Attributes
    ----------
    kind : str
        ``"slope"``; ``"steep"``: infinitely, up or down as the sign of ``slope`` says; ``"jump"``;
        ``"none"``: no value there; ``"unclear"``: the differences do not settle.
    slope : float
    error : float
        How far off the slope may be.
    limit : float
        The value just beside the point.
    """

    kind: str
    slope: float = math.nan
    error: float = 0.0
    limit: float = math.nan


def sides_of(curve: Curve, x: float) -> tuple[Side, Side]:
    """Return how a curve goes on to the left and to the right of a point where it has a value.

    Examples
    --------
    >>> kink = Curve(lambda x: x if x > 0 else -3 * x, 2.0, 3.0, True)
    >>> [(side.kind, round(side.slope, 6)) for side in sides_of(kink, 0.0)]
    [('slope', -3.0), ('slope', 1.0)]
    """
    return _side(curve, x, -1.0), _side(curve, x, 1.0)


def _side(curve: Curve, x: float, way: float) -> Side:
    parts, least = _STEPS[curve.is_double]
    resolution = float(np.spacing(np.float64(x) if curve.is_double else np.float32(x)))
    steps = [max(part * curve.width, 64 * abs(resolution)) for part in parts]
    last = max(least * curve.width, 4 * abs(resolution))
    here = curve.value(x)
    values = [curve.value(x + way * step) for step in (*steps, last)]
    if not all(map(math.isfinite, values)):
        return Side("none") if not math.isfinite(values[-1]) else Side("unclear")
    rises = [value - here for value in values]
    noise = curve.noise(here, *values)
    beyond = abs(rises[-1]) > 100 * noise
    if beyond and abs(rises[-1]) > 0.5 * abs(rises[0]):
        # What the curve still rises from there to the point itself is left out.
        way_back = (values[-1] - values[2]) * last / (steps[2] - last) if steps[2] > last else 0.0
        return Side("jump", limit=values[-1] + way_back)
    quotients = [way * rise / step for rise, step in zip(rises, steps, strict=False)]
    if abs(rises[2]) > 10 * noise and abs(quotients[2]) > 3 * abs(quotients[0]):
        return Side("steep", math.copysign(math.inf, quotients[2]), limit=here)
    # What is left of the curve's bend goes away where two distances are combined.
    far, near = (
        quotients[i + 1]
        + (quotients[i + 1] - quotients[i]) * steps[i + 1] / (steps[i] - steps[i + 1])
        for i in (0, 1)
    )
    rounding = 4 * noise / steps[2]
    room = (1e-6 if curve.is_double else 0.1) * curve.scale
    if abs(near - far) > 2e-2 * max(abs(near), abs(far)) + rounding + room:
        return Side("unclear")
    return Side("slope", near, abs(near - far) + rounding, here)


def is_kink(curve: Curve, left: Side, right: Side) -> bool:
    """Return whether the slopes of the two sides differ by more than can be error."""
    if left.kind != "slope" or right.kind != "slope":
        return False
    off = left.error + right.error
    if not curve.is_double:
        off += 2e-2 * max(abs(left.slope), abs(right.slope))
    return abs(left.slope - right.slope) > 10 * off + 1e-5 * curve.scale


def agree(curve: Curve, slope: float, side: Side) -> bool:
    """Return whether a slope is that of a side, up to rounding."""
    if side.kind == "steep":
        return slope == side.slope
    if side.kind != "slope" or not math.isfinite(slope):
        return False
    room = 2e-3 * max(abs(slope), abs(side.slope)) + 2 * side.error + 1e-5 * curve.scale
    return abs(slope - side.slope) <= room


def bends_of(curve: Curve, x: float) -> tuple[float, float, float]:
    """Return the second derivative to the left and to the right, and how far off they may be."""
    step = _BEND_STEP[curve.is_double] * curve.width
    here = curve.value(x)
    bends = []
    most, off = abs(here), 0.0
    for way in (-1.0, 1.0):
        differences = []
        for h in (step, step / 2):
            near, far = curve.value(x + way * h), curve.value(x + 2 * way * h)
            most = max(most, abs(near), abs(far))
            differences.append((far - 2 * near + here) / (h * h))
        bends.append(2 * differences[1] - differences[0])
        off = max(off, abs(differences[1] - differences[0]))
    rounding = 16 * curve.noise(most) / (step * step)
    return bends[0], bends[1], rounding + off + 1e-3 * curve.scale / curve.width
