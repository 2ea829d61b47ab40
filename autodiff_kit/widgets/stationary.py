"""Where a surface is stationary: what can be known of the place at which a path ends.

After reading you know why a small gradient names no place. A stationary point is one that Newton's
step finds; its kind is that of the Hessian there, if the surface around it agrees; where neither
can be had, only what was seen is said. Read next: ``descent.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.creation import tensor
from autodiff_kit.view.scales import label
from autodiff_kit.widgets.at_points import Function, Pair, one_number, slopes_of
from autodiff_kit.widgets.one_sided import NEAR, Curve

__all__ = ["words_of_place"]

BESIDE = 1e-3  # part of the map's width: a stationary point is not farther from the path's end
STEPS = 4  # of Newton's method
FLAT = 1e-6  # a curvature that is so much smaller than the other may be rounding
RADII = (1.0, 0.25, 0.0625)  # parts of what is near
DIRECTIONS = [2 * math.pi * k / 16 for k in range(16)]


class _Derivatives(NamedTuple):
    gradient: Any  # by (x, y) as parts of the map's widths, so that both count alike
    hessian: Any


class _Surface:
    """A function of two numbers, in units of the map's widths."""

    def __init__(self, function: Function, curves: Sequence[Curve]) -> None:
        self._function, self._curve = function, curves[0]
        self._dtype: Any = dtypes.float64 if curves[0].is_double else dtypes.float32
        self.widths = np.array([curve.width for curve in curves])

    def value(self, point: Any) -> float:
        try:
            inputs = [tensor(float(v), dtype=self._dtype) for v in point * self.widths]
            return float(one_number(self._function, *inputs).item())
        except Exception:
            return math.nan

    def noise(self, value: float) -> float:
        return self._curve.noise(value)

    def derivatives(self, point: Any) -> _Derivatives | None:
        """Return autograd's gradient and Hessian; None where there are none."""
        try:
            inputs = [
                tensor(float(v), dtype=self._dtype, requires_grad=True) for v in point * self.widths
            ]
            gradient, hessian = np.zeros(2), np.zeros((2, 2))
            for i, slope in enumerate(slopes_of(one_number(self._function, *inputs), *inputs)):
                if slope is None:
                    continue
                gradient[i] = slope.item()
                bends = slopes_of(slope, *inputs)
                hessian[i] = [0.0 if bend is None else bend.item() for bend in bends]
        except Exception:  # such as a Function that cannot be differentiated twice
            return None
        if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
            return None
        scaled = hessian * np.outer(self.widths, self.widths)
        return _Derivatives(gradient * self.widths, (scaled + scaled.T) / 2)


def words_of_place(function: Function, point: Pair, size: float, curves: Sequence[Curve]) -> str:
    """Say what kind of place a point with a small gradient is, as far as that can be known.

    Parameters
    ----------
    function : callable
        Of two numbers.
    point : (float, float)
    size : float
        The length of the gradient there.
    curves : sequence of Curve
        The surface along x and along y through the point.
    """
    surface = _Surface(function, curves)
    begin = np.array(point) / surface.widths
    gradient = f" The gradient is {'0' if size == 0 else 'almost 0'} there."
    if size == 0:
        if kind := _kind_of(surface, begin) or _seen_around(surface, begin):
            return f"{gradient} {kind}"
        return gradient
    at = _stationary(surface, begin)
    kind = "" if at is None else _kind_of(surface, at)
    if at is None or not kind:
        return f" The gradient is small there, and not 0: its length is {label(size)}."
    near = [0.0 if abs(v) < 1e-9 else float(v * w) for v, w in zip(at, surface.widths, strict=True)]
    if kind.startswith("It is the floor"):
        return f"{gradient} {kind}"
    beside = kind.replace("It is", "Beside it is", 1)
    kind, _, rest = beside.partition(":")
    place = f"{kind.rstrip('.')}, at ({label(near[0])}, {label(near[1])})"
    return f"{gradient} {place}:{rest}" if rest else f"{gradient} {place}."


def _stationary(surface: _Surface, begin: Any) -> Any:
    """Return the stationary point that Newton's method finds beside a point, or None."""
    at, first = begin, math.inf
    for _ in range(STEPS):
        derivatives = surface.derivatives(at)
        if derivatives is None:
            return None
        length = float(np.linalg.norm(derivatives.gradient))
        # A step that only shortens the gradient, as on x**4, approaches a point it does not know.
        if first < math.inf and length > 1e-2 * first:
            return at if length <= _rounding(surface, derivatives, at) else None
        first = min(first, length)
        curvatures, axes = np.linalg.eigh(derivatives.hessian)
        most = np.abs(curvatures).max()
        if not most:
            return None
        is_clear = np.abs(curvatures) > FLAT * most
        slopes = axes.T @ derivatives.gradient
        if (np.abs(slopes[~is_clear]) > _rounding(surface, derivatives, at)).any():
            return None
        step = axes[:, is_clear] @ (slopes[is_clear] / curvatures[is_clear])
        at = at - step
        if np.linalg.norm(at - begin) > BESIDE:
            return None
        if length == 0.0:
            break
    return at


def _rounding(surface: _Surface, derivatives: _Derivatives, at: Any) -> float:
    """Return how large a gradient may be that is nothing but rounding."""
    size = float(np.abs(derivatives.hessian).max()) * (1.0 + float(np.abs(at).max()))
    return 16 * surface.noise(size + abs(surface.value(at)))


def _kind_of(surface: _Surface, at: Any) -> str:
    """Name a stationary point by its Hessian, where the surface around it agrees."""
    derivatives = surface.derivatives(at)
    if derivatives is None:
        return ""
    curvatures, axes = np.linalg.eigh(derivatives.hessian)
    if (np.abs(derivatives.gradient) > 2 * _rounding(surface, derivatives, at)).any():
        return ""
    most = np.abs(curvatures).max()
    for radius in RADII:
        rises = _rises(surface, at, NEAR * radius)
        along = [_rise(surface, at, NEAR * radius * side * v) for v in axes.T for side in (1, -1)]
        if not np.isfinite([*rises, *along]).all():
            continue
        noise = surface.noise(max(abs(surface.value(at)), *map(abs, rises)))
        model = np.repeat(curvatures, 2) * (NEAR * radius) ** 2 / 2
        around = [
            u @ derivatives.hessian @ u * (NEAR * radius) ** 2 / 2
            for u in (np.array([math.cos(t), math.sin(t)]) for t in DIRECTIONS)
        ]
        if max(map(abs, np.array(rises) - around)) > 0.25 * max(map(abs, model)) + noise:
            continue
        clear = np.abs(curvatures) > FLAT * most
        fits = np.abs(np.array(along) - model) <= 0.25 * np.abs(model) + noise
        if clear.all() and most and fits.all() and (np.abs(model) > 4 * noise).all():
            if curvatures[0] < 0 < curvatures[1]:
                return (
                    "It is a saddle point: from it the surface rises in one direction and falls "
                    "in another."
                )
            return "It is a minimum." if curvatures[0] > 0 else "It is a maximum."
        flat = np.repeat(~clear, 2)
        if clear.sum() == 1 and radius == 1.0 and (np.abs(np.array(along)[flat]) <= noise).all():
            rises_across = curvatures[clear][0] > 0
            return "It is the floor of a valley." if rises_across else "It is the top of a ridge."
    return ""


def _seen_around(surface: _Surface, at: Any) -> str:
    """Say what the values around a point show where the gradient is 0 and the Hessian no help."""
    here = surface.value(at)
    rings = [np.array(_rises(surface, at, NEAR * radius)) for radius in RADII[:2]]
    if not np.isfinite(rings).all():
        return ""
    far, near = rings
    noise = surface.noise(max(abs(here), float(np.abs(far).max())))
    if max(np.abs(far).max(), np.abs(near).max()) <= noise:
        return "It is a plateau: the surface around it is flat."
    # A quarter of the distance: where the gradient is 0, less than a quarter of the rise is left.
    if np.abs(near).max() > 0.2 * np.abs(far).max() + noise:
        return ""
    up, down = ((far > noise) & (near > noise)), ((far < -noise) & (near < -noise))
    if up.any() and down.any():
        return (
            "It is a saddle point: from it the surface rises in one direction and falls in another."
        )
    if up.all() or down.all():
        way = "higher" if up.all() else "lower"
        return f"At all {2 * len(DIRECTIONS)} points tried around it the surface is {way}."
    return ""


def _rise(surface: _Surface, at: Any, step: Any) -> float:
    return surface.value(at + step) - surface.value(at)


def _rises(surface: _Surface, at: Any, radius: float) -> list[float]:
    steps = [radius * np.array([math.cos(turn), math.sin(turn)]) for turn in DIRECTIONS]
    return [_rise(surface, at, step) for step in steps]
