"""The slope of a curve: drag the point, and hold any function of one number against its gradient.

After reading you know how value, slope and second derivative are drawn as a curve, its tangent and
a parabola; ``view/charts.py`` draws them. Read next: ``descent.py``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets

from autodiff_kit.view.charts import Plot, Scale, drawing, label, legend, seen_range
from autodiff_kit.widgets.gradients import (
    LEFT,
    RIGHT,
    SECONDS,
    WIDTH,
    Function,
    Plotted,
    bounded,
    check_takes,
    ends_of,
    everywhere,
    function_of,
    gaps,
    leaf_at,
    one_number,
    slopes_of,
    within,
)
from autodiff_kit.widgets.running import name_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Slope"]

POINTS = 161  # of a curve


class Touch(NamedTuple):
    """A function at one point; slope and bend (second derivative) are None without a graph."""

    x: float
    y: float
    slope: float | None
    bend: float | None


def _touch(function: Function, at: float, twice: bool = True) -> Touch:
    x = leaf_at(at)
    out = one_number(function, x)
    (slope,) = slopes_of(out, x)
    if slope is None:
        return Touch(at, float(out.item()), None, None)
    # The slope of a straight line is a constant: its graph leads nowhere, and it bends by 0.
    (bend,) = slopes_of(slope, x) if twice else (None,)
    second = 0.0 if bend is None else float(bend.item())
    return Touch(at, float(out.item()), float(slope.item()), second)


class Slope(Plotted):
    """Touch a curve: its slope, its tangent and its second derivative where you drag the point.

    Parameters
    ----------
    function : callable
        Takes one tensor of one number, gives one.
    low, high : float
        From where to where.
    x : float, optional
        Where the point begins, rounded to whole steps of the slider; a third of the way by default.

    Raises
    ------
    TypeError, ValueError
        If this is no function, or `low` is not below `high`. What the function itself does wrong
        is said in the lab.

    Examples
    --------
    >>> lab = Slope(lambda x: x * x, -2, 2, x=1.5)
    >>> lab
    Slope(At x = 1.5 the value is 2.25 and the slope 3: going right, the curve rises. ...)
    >>> lab.controls["x"].value = -1.0
    """

    def __init__(
        self,
        function: Function,
        low: float = -3.0,
        high: float = 3.0,
        *,
        x: float | None = None,
        title: str = "",
    ) -> None:
        self.function = function_of(function, "Slope", "Slope(f) or Slope(torch.sin)")
        low, high = ends_of("x", (low, high))
        self._across = Scale(low, high, LEFT, RIGHT)
        self._curve: list[Touch] | None = None
        self._at: Touch | None = None
        step = self._across.step
        # Whole steps, as those of the point when it is dragged; 12 digits hide what rounding adds.
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        at = low + (high - low) / 3 if x is None else float(x)
        ends = [float(f"{k * step:.12g}") for k in (first, last, round(at / step))]
        slider = ipywidgets.FloatSlider(
            min(max(ends[2], ends[0]), ends[1]),
            **{"min": ends[0], "max": ends[1], "step": step},
            **{"description": "x", "readout_format": ".4g"},
        )
        boxes = {
            "tangent": ipywidgets.Checkbox(True, description="tangent", indent=False),
            "bend": ipywidgets.Checkbox(True, description="second derivative", indent=False),
        }
        super().__init__({"x": slider, **boxes}, title=title)

    def dragged(self, *point: float) -> None:
        """Follow the point; the slider draws."""
        if point:
            self.controls["x"].value = point[0]

    def draw(self) -> None:
        """Compute the curve once, and the point each time."""
        if self._curve is None:
            check_takes(self.function, "x")
            bounded(SECONDS, self._sweep)
        at = bounded(SECONDS, _touch, self.function, float(self.controls["x"].value))
        self._at = at
        words = f"{self._words(at)}{self._note}"
        self.show(self._picture(at, words), words, (at.x, at.y if math.isfinite(at.y) else 0.0))

    def _sweep(self) -> None:
        low, high = self._across.low, self._across.high
        xs = [low + (high - low) * i / (POINTS - 1) for i in range(POINTS)]
        tried = everywhere(lambda x: _touch(self.function, x, twice=False), [(x,) for x in xs])
        empty = (math.nan, math.nan, math.nan)
        curve = [Touch(x, *((t and t[1:]) or empty)) for x, t in zip(xs, tried.found, strict=True)]
        ys = [t.y for t in curve]
        slopes = [math.nan if t.slope is None else t.slope for t in curve]
        self._ys, self._slopes = ys, slopes
        self._up = Scale(*seen_range(ys), 248.0, 44.0)
        self._slope_up = Scale(*seen_range(slopes, 0.0), 390.0, 294.0)
        self._note = gaps(ys, tried, "points") + within(self._up, ys)
        self._curve = curve

    def _words(self, at: Touch) -> str:
        if not math.isfinite(at.y):
            return f"At x = {label(at.x)} the value is {at.y:g}: there is no slope."
        here = f"At x = {label(at.x)} the value is {label(at.y)}"
        if at.slope is None or at.bend is None:
            return (
                f"{here}, without grad_fn: the graph knows no way from it back to x, so there is "
                "no slope."
            )
        if not math.isfinite(at.slope):
            return f"{here} and the slope is {at.slope:g}."
        way = "rises" if at.slope > 0 else "falls" if at.slope < 0 else "is level"
        bends = "bends up" if at.bend > 0 else "bends down" if at.bend < 0 else "does not bend"
        return (
            f"{here} and the slope {label(at.slope)}: going right, the curve {way}. "
            f"The second derivative is {label(at.bend)}: the curve {bends}."
        )

    def _lines(self, at: Touch) -> dict[str, list[float]]:
        """Return the heights of tangent and parabola at every x; none that cannot be."""
        if at.slope is None or at.bend is None or not math.isfinite(at.y + at.slope):
            return {}
        steps = [t.x - at.x for t in self._curve or ()]
        lines = {}
        if self.controls["tangent"].value:
            lines["tangent"] = [at.y + at.slope * d for d in steps]
        if self.controls["bend"].value and math.isfinite(at.bend):
            lines["parabola"] = [at.y + at.slope * d + at.bend / 2 * d * d for d in steps]
        return lines

    def _picture(self, at: Touch, words: str) -> str:
        xs = [t.x for t in self._curve or ()]
        lines = self._lines(at)
        above = Plot(self._across, self._up, y_label="value")
        below = Plot(self._across, self._slope_up, x_label="x", y_label="slope")
        above.curve(xs, self._ys)
        below.level(0.0, "")
        below.curve(xs, self._slopes)
        for look, ys in lines.items():
            above.curve(xs, ys, look)
        if "parabola" in lines and at.slope is not None and at.bend is not None:
            reach = 0.12 * (self._across.high - self._across.low)
            near = [at.x - reach, at.x + reach]
            below.curve(near, [at.slope - at.bend * reach, at.slope + at.bend * reach], "parabola")
        if at.slope is not None and math.isfinite(at.slope):
            below.dots([(at.x, at.slope)], "grip", 5.0)
        y = at.y if math.isfinite(at.y) else self._up.low
        y = min(max(y, self._up.low), self._up.high)
        above.handle(at.x, y, "x, on the curve", along="x")
        entries = [("curve", f"{name_of(self.function)}")]
        names = {"tangent": "tangent", "parabola": "parabola of the same bend"}
        key = legend(entries + [(look, names[look]) for look in lines], LEFT, 26.0)
        title = f"Slope of {name_of(self.function)}"
        return drawing([above, below, key], WIDTH, 434.0, title=title, words=words)

    def paint(self, figure: Figure) -> None:
        """Draw curve and slope, one above the other."""
        assert self._at is not None
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        xs = [t.x for t in self._curve or ()]
        above.plot(xs, self._ys, label=name_of(self.function))
        looks = {"tangent": "--", "parabola": ":"}
        for name, ys in self._lines(self._at).items():
            above.plot(xs, ys, looks[name], label=name)
        above.plot([self._at.x], [self._at.y], "o")
        above.set_ylim(self._up.low, self._up.high)
        above.legend()
        below.plot(xs, self._slopes)
        if self._at.slope is not None:
            below.plot([self._at.x], [self._at.slope], "o")
        below.set_ylim(self._slope_up.low, self._slope_up.high)
        below.set(xlabel="x", ylabel="slope")
