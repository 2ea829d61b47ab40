"""Gradients as pictures: the slope of a curve, and the way down a surface.

After reading you can hold any function of one or two numbers against its gradient: drag the point,
change the optimizer and the step size. All values, slopes and second derivatives are the kit's own
autograd's; the curves are drawn by ``view/charts.py``. Read next: ``training.py``, gradients of
whole networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets
import numpy as np

import autodiff_kit as ak
from autodiff_kit.autograd import enable_grad, grad
from autodiff_kit.autograd.observer import installed
from autodiff_kit.creation import tensor
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.charts import Plot, Scale, drawing, label, legend, seen_range
from autodiff_kit.view.contours import levels, rings
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.running import Refused, _Clock, _Stopped, name_of, the_tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Descent", "Plotted", "Slope", "bounded"]

Function = Callable[..., Any]
Pair = tuple[float, float]

WIDTH = 500.0  # px; so much fits beside the file browser in a window of 900 px
LEFT, RIGHT = 56.0, 488.0  # px, of all plots
POINTS = 161  # of a curve
FIELD = (12, 8)  # arrows
SECONDS = 10.0  # one picture may take so long


def bounded(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with gradients on, unseen by any recorder, and not for longer than this.

    Raises
    ------
    Refused
        If the time is up; the message says where to look.
    Exception
        Whatever the function raises.
    """
    try:
        with installed(None), enable_grad(), _Clock(seconds):
            return function(*args)
    except _Stopped as stop:
        raise Refused(f"{name_of(function)} was stopped: {stop}") from None


class Plotted(Lab):
    """A lab whose picture can be had from matplotlib, too, for a page or a slide."""

    def __init__(self, controls: dict[str, ipywidgets.Widget], *, title: str = "") -> None:
        super().__init__(controls, title=title)
        # The first picture took longer than any later one: all that is not moved is known now.
        for control in self.controls.values():
            if control.has_trait("continuous_update"):
                control.continuous_update = True
        self.hear(self.canvas, "point", lambda change: self.dragged(*change["new"]))

    def dragged(self, *point: float) -> None:
        """Follow the point of the canvas: ``x, y``, or nothing if there is none."""

    def show(self, svg: str, caption: str, point: Sequence[float] = ()) -> None:
        """Set picture, words and point in one message to the browser."""
        with self.canvas.hold_sync():
            self.canvas.svg, self.canvas.caption = svg, caption
            self.canvas.point = [float(v) for v in point]

    def figure(self) -> Figure:
        """Return the picture as it is now as a matplotlib Figure of its own, without pyplot.

        Raises
        ------
        RuntimeError
            If there is no picture, because of what stands in the lab.
        """
        from matplotlib.figure import Figure

        if not self.canvas.svg:
            raise RuntimeError(f"There is no picture yet.\n{self.message}")
        figure = Figure(figsize=(7, 5), layout="constrained")
        self.paint(figure)
        return figure

    def paint(self, figure: Figure) -> None:
        """Draw the picture into an empty figure."""
        raise NotImplementedError

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file; its ending says the kind: ``.png``, ``.svg``, ``.pdf``.

        Raises
        ------
        ValueError
            If matplotlib does not know the ending; the message names those it knows.
        """
        target = Path(path)
        dated = target.suffix != ".svg"
        self.figure().savefig(target, dpi=160, metadata=None if dated else {"Date": None})
        return target


def _ends(what: str, ends: Sequence[float]) -> Pair:
    """Check the two ends of an axis."""
    low, high = (float(end) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{what} goes from a smaller to a larger number, and not {low} to {high}.")
    return low, high


def _callable(function: Any, lab: str, example: str) -> Function:
    if callable(function):
        return function  # type: ignore[no-any-return]
    raise TypeError(
        f"{lab} shows a function, and this is a {type(function).__name__}.\n"
        f"-> Give the function itself, not what it returns: {example}"
    )


def _number(function: Function, *inputs: Tensor) -> Tensor:
    """Call the learner's function, which must give one number."""
    out = the_tensor(function(*inputs), function)
    if out.numel() != 1:
        raise Refused(
            f"{name_of(function)} gave back a tensor of shape {list(out.shape)}, and a plot "
            "needs one number for each point.\n-> End it with .sum() or .mean(), if that is meant."
        )
    return out.reshape(())


def _leaf(value: float) -> Tensor:
    return tensor(float(value), requires_grad=True)


def _slopes(out: Tensor, *inputs: Tensor) -> tuple[Tensor | None, ...]:
    """Return the gradients, recorded themselves; None where the graph knows no way."""
    if not out.requires_grad:
        return (None,) * len(inputs)
    return grad(out, inputs, create_graph=True, allow_unused=True)


class Touch(NamedTuple):
    """A function at one point; slope and bend (second derivative) are None without a graph."""

    x: float
    y: float
    slope: float | None
    bend: float | None


def _touch(function: Function, at: float, twice: bool = True) -> Touch:
    x = _leaf(at)
    out = _number(function, x)
    (slope,) = _slopes(out, x)
    if slope is None:
        return Touch(at, float(out.item()), None, None)
    # The slope of a straight line is a constant: its graph leads nowhere, and it bends by 0.
    (bend,) = _slopes(slope, x) if twice else (None,)
    second = 0.0 if bend is None else float(bend.item())
    return Touch(at, float(out.item()), float(slope.item()), second)


class _Tried(NamedTuple):
    """What came of calling a function at many points."""

    found: list[Any]  # None where it raised
    failed: int
    error: Exception | None


def _everywhere(one: Callable[..., Any], points: Sequence[tuple[float, ...]]) -> _Tried:
    """Call at each point; what raises at some points only is a gap there."""
    found: list[Any] = []
    first: Exception | None = None
    for point in points:
        try:
            found.append(one(*point))
        except Exception as error:
            found.append(None)
            first = first or error
    failed = sum(value is None for value in found)
    if first is not None and failed == len(found):
        raise first
    return _Tried(found, failed, first)


def _gaps(values: Sequence[float], tried: _Tried, places: str) -> str:
    """Say where there is nothing to draw, and why."""
    words = ""
    if tried.failed:
        reason = " ".join(f"{type(tried.error).__name__}: {tried.error}".split())[:120]
        words += f" No value at {tried.failed} of {len(tried.found)} {places}: {reason}"
    odd = sum(not math.isfinite(v) for v in values) - tried.failed
    if odd > 0:
        words += f" At {odd} of {len(values)} {places} the value is nan or inf: a gap."
    return words


def _within(scale: Scale, values: Sequence[float]) -> str:
    """Say what is left out of sight, if anything is."""
    known = [v for v in values if math.isfinite(v)]
    if known and (min(known) < scale.low or max(known) > scale.high):
        ends = f"from {label(min(known))} to {label(max(known))}"
        return f" Values go on outside of the picture, {ends}."
    return ""


# -- one variable -------------------------------------------------------------------------------


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
        self.function = _callable(function, "Slope", "Slope(f) or Slope(torch.sin)")
        low, high = _ends("x", (low, high))
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
            bounded(SECONDS, self._sweep)
        at = bounded(SECONDS, _touch, self.function, float(self.controls["x"].value))
        self._at = at
        words = f"{self._words(at)}{self._note}"
        self.show(self._picture(at, words), words, (at.x, at.y if math.isfinite(at.y) else 0.0))

    def _sweep(self) -> None:
        low, high = self._across.low, self._across.high
        xs = [low + (high - low) * i / (POINTS - 1) for i in range(POINTS)]
        tried = _everywhere(lambda x: _touch(self.function, x, twice=False), [(x,) for x in xs])
        empty = (math.nan, math.nan, math.nan)
        curve = [Touch(x, *((t and t[1:]) or empty)) for x, t in zip(xs, tried.found, strict=True)]
        ys = [t.y for t in curve]
        slopes = [math.nan if t.slope is None else t.slope for t in curve]
        self._ys, self._slopes = ys, slopes
        self._up = Scale(*seen_range(ys), 248.0, 44.0)
        self._slope_up = Scale(*seen_range(slopes, 0.0), 390.0, 294.0)
        self._note = _gaps(ys, tried, "points") + _within(self._up, ys)
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


# -- two variables ------------------------------------------------------------------------------

# What the lab calls them -> the class in optim, and its options besides the step size.
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SGD": ("SGD", {}),
    "SGD, momentum 0.9": ("SGD", {"momentum": 0.9}),
    "RMSprop": ("RMSprop", {}),
    "Adagrad": ("Adagrad", {}),
    "Adam": ("Adam", {}),
    "AdamW": ("AdamW", {}),
}
# A slider that stops at round numbers.
RATES = [float(f"{digit}e{power}") for power in range(-4, 1) for digit in (1, 1.5, 2, 3, 4, 5, 7)]
RATES.append(10.0)


class Path2d(NamedTuple):
    """Where an optimizer went: points, the value at each, and why it ended early, if it did."""

    points: list[Pair]
    values: list[float]
    reason: str


def _descend(function: Function, start: Pair, optimizer: str, lr: float, steps: int) -> Path2d:
    inputs = [_leaf(value) for value in start]
    kind, options = OPTIMIZERS[optimizer]
    way = getattr(ak.optim, kind)(inputs, lr=lr, **options)
    points, values, reason = [], [], ""
    for step in range(steps + 1):
        out = _number(function, *inputs)
        points.append((float(inputs[0].item()), float(inputs[1].item())))
        values.append(float(out.item()))
        if not math.isfinite(values[-1] + sum(points[-1])):
            reason = f"at step {step} the value is {values[-1]:g}"
            break
        if not out.requires_grad:
            reason = "the value has no grad_fn: the graph knows no way back to x and y"
            break
        if step < steps:
            way.zero_grad()
            out.backward()
            way.step()
    return Path2d(points, values, reason)


class Descent(Plotted):
    """Go down a surface: choose an optimizer and its step size, and drag the start.

    The map shows the surface (more blue is higher) and minus its gradient as arrows; the
    path is that of the kit's own optimizer; below, the value at each step.

    Parameters
    ----------
    function : callable
        Takes two tensors of one number each, gives one number.
    x, y : (float, float)
        From where to where the map goes.
    start : (float, float), optional
        A point near the upper left corner by default.
    optimizer : str
        One of ``"SGD"``, ``"SGD, momentum 0.9"``, ``"RMSprop"``, ``"Adagrad"``, ``"Adam"``,
        ``"AdamW"``.
    lr : float
        Step size, 0.0001 to 10; the slider stops at 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1 ...
    steps : int
        1 to 300.
    detail : int
        The map is computed at so many points from left to right, 5 to 81, and at four fifths as
        many from bottom to top: choose fewer for a function that takes long.
    names : (str, str)
        What stands at the axes.

    Raises
    ------
    TypeError, ValueError
        If this is no function, or the map, the optimizer or a number cannot be. What the function
        itself does wrong is said in the lab.

    Examples
    --------
    >>> lab = Descent(lambda x, y: x * x + 4 * y * y, start=(2.0, 1.0), lr=0.1, steps=20)
    >>> lab
    Descent(SGD, step size 0.1: after 20 steps from (2, 1) the value has gone from 8 to ...)
    >>> lab.controls["lr"].value = 0.3
    """

    def __init__(
        self,
        function: Function,
        x: Pair = (-3.0, 3.0),
        y: Pair = (-2.0, 2.0),
        *,
        start: Pair | None = None,
        optimizer: str = "SGD",
        lr: float = 0.1,
        steps: int = 40,
        detail: int = 41,
        names: tuple[str, str] = ("x", "y"),
        title: str = "",
    ) -> None:
        self.function = _callable(function, "Descent", "Descent(f) with def f(x, y): ...")
        xs, ys = _ends("x", x), _ends("y", y)
        if optimizer not in OPTIMIZERS:
            known = ", ".join(repr(name) for name in OPTIMIZERS)
            raise ValueError(
                f"There is no optimizer {optimizer!r} here.\n-> Choose one of {known}."
            )
        if not 1e-4 <= lr <= 10:
            raise ValueError(f"lr is the step size, from 0.0001 to 10, and not {lr}.")
        if not 1 <= steps <= 300:
            raise ValueError(f"steps is a number from 1 to 300, and not {steps}.")
        if not 5 <= detail <= 81:
            raise ValueError(f"detail is a number from 5 to 81, and not {detail}.")
        self._detail = detail, max(5, round(detail * 0.8))
        high = 280.0 * min(max((ys[1] - ys[0]) / (xs[1] - xs[0]) * 1.6, 0.8), 1.3)
        self._across = Scale(*xs, LEFT, RIGHT)
        self._up = Scale(*ys, 46.0 + high, 46.0)
        self._names = names
        self._map: list[str] | None = None
        self._path: Path2d | None = None
        first = (xs[0] + 0.15 * (xs[1] - xs[0]), ys[0] + 0.85 * (ys[1] - ys[0]))
        given = first if start is None else start
        self._start = (min(max(given[0], xs[0]), xs[1]), min(max(given[1], ys[0]), ys[1]))
        controls = {
            "optimizer": ipywidgets.Dropdown(
                options=list(OPTIMIZERS), value=optimizer, description="optimizer"
            ),
            "lr": ipywidgets.SelectionSlider(
                options=[(f"{rate:g}", rate) for rate in sorted({*RATES, float(lr)})],
                value=float(lr),
                description="step size",
            ),
            "steps": ipywidgets.IntSlider(steps, min=1, max=300, description="steps"),
        }
        super().__init__(controls, title=title)

    @property
    def start(self) -> Pair:
        """Where the path begins; can be set, and dragged."""
        return self._start

    @start.setter
    def start(self, point: Pair) -> None:
        self._start = (float(point[0]), float(point[1]))
        self.refresh()

    def dragged(self, *point: float) -> None:
        """Begin where the point was dragged to."""
        if point and tuple(point) != self._start:
            self.start = (point[0], point[1])

    def draw(self) -> None:
        """Compute the map once, and the path each time."""
        if self._map is None:
            bounded(SECONDS, self._survey)
        optimizer, lr, steps = (self.controls[name].value for name in ("optimizer", "lr", "steps"))
        path = bounded(SECONDS, _descend, self.function, self._start, optimizer, lr, steps)
        self._path = path
        words = self._words(path) + self._note
        self.show(self._picture(path, words), words, self._start)

    def _survey(self) -> None:
        """Compute heights and gradients at the points of two grids."""

        def grid(columns: int, rows: int, room: float) -> tuple[list[float], list[float]]:
            places = []
            for scale, count in ((self._across, columns), (self._up, rows)):
                wide = scale.high - scale.low
                inner = [room + (1 - 2 * room) * i / (count - 1) for i in range(count)]
                places.append([scale.low + wide * part for part in inner])
            return places[0], places[1]

        def height(x: float, y: float) -> float:
            return float(_number(self.function, tensor(x), tensor(y)).item())

        def downhill(x: float, y: float) -> Pair:
            inputs = _leaf(x), _leaf(y)
            slopes = _slopes(_number(self.function, *inputs), *inputs)
            right, up = (0.0 if slope is None else -float(slope.item()) for slope in slopes)
            return right, up

        xs, ys = grid(*self._detail, 0.0)
        tried = _everywhere(height, [(x, y) for y in ys for x in xs])
        flat = [math.nan if v is None else v for v in tried.found]
        heights = np.array(flat, dtype=float).reshape(len(ys), len(xs))
        self._note = _gaps(flat, tried, "points of the map")
        known = heights[np.isfinite(heights)]
        if known.size:
            self._note = f" On the map the value goes from {label(known.min())} to " + (
                f"{label(known.max())}; more blue is higher.{self._note}"
            )
        self._levels = levels(heights)
        if not self._levels and known.size:
            self._note = f" The surface is flat: {label(known.min())} everywhere.{self._note}"
        self._grid = xs, ys, heights
        at = grid(*FIELD, 0.04)
        places = [(x, y) for y in at[1] for x in at[0]]
        self._field = list(zip(places, _everywhere(downhill, places).found, strict=True))
        plot = Plot(self._across, self._up)
        for level in self._levels:
            plot.area(rings(xs, ys, heights, level))
        plot.arrows(self._arrows())
        self._map = plot.marks

    def _arrows(self) -> list[tuple[Pair, Pair]]:
        """Return the arrows in pixels; the root of their length, so that small ones are seen."""
        wide = (RIGHT - LEFT) / (self._across.high - self._across.low)
        tall = (self._up.start - self._up.end) / (self._up.high - self._up.low)
        found = [(place, g) for place, g in self._field if g and math.isfinite(sum(g))]
        pixels = [(place, (g[0] * wide, g[1] * tall)) for place, g in found]
        most = max((math.hypot(*g) for _, g in pixels), default=0.0)
        arrows = []
        for place, (right, up) in pixels:
            length = math.hypot(right, up)
            if 0.0 < length < math.inf and most < math.inf:
                size = 30.0 * math.sqrt(length / most) / length
                arrows.append((place, (right * size, up * size)))
            elif length == 0.0:
                arrows.append((place, (0.0, 0.0)))
        return arrows

    def _holds(self, point: Pair) -> bool:
        return self._across.holds(point[0]) and self._up.holds(point[1])

    def _leaves(self, path: Path2d) -> int | None:
        """Return the step at which the path left the map for good; None if it ends inside."""
        outside = next((k for k, p in enumerate(reversed(path.points)) if self._holds(p)), None)
        last = len(path.points) - 1
        return None if outside == 0 else 0 if outside is None else last - outside + 1

    def _diverges(self, path: Path2d) -> bool:
        values = path.values
        worse = values[-1] > values[0] or not math.isfinite(values[-1])
        return worse and (self._leaves(path) is not None or "the value is" in path.reason)

    def _words(self, path: Path2d) -> str:
        optimizer, lr, steps = (self.controls[name].value for name in ("optimizer", "lr", "steps"))
        start = f"({label(path.points[0][0])}, {label(path.points[0][1])})"
        begin = f"{optimizer}, step size {label(lr)}: "
        values = path.values
        if self._diverges(path):
            gone = self._leaves(path)
            where = f" It leaves the map at step {gone}." if gone is not None else ""
            ends = path.reason or f"after {steps} steps the value is {label(values[-1])}"
            return f"{begin}the path from {start} diverges: {ends}.{where} Try smaller steps."
        if path.reason:
            return f"{begin}the path ends where it begins, at {start}: {path.reason}."
        end = f"({label(path.points[-1][0])}, {label(path.points[-1][1])})"
        outside = " That is outside of the map." if self._leaves(path) is not None else ""
        return (
            f"{begin}after {steps} steps from {start} the value has gone from {label(values[0])} "
            f"to {label(values[-1])}, at {end}.{outside}"
        )

    def _picture(self, path: Path2d, words: str) -> str:
        x_name, y_name = self._names
        under = self._map or ()
        plot = Plot(self._across, self._up, x_label=x_name, y_label=y_name, under=under)
        xs, ys = [p[0] for p in path.points], [p[1] for p in path.points]
        for look in ("path-under", "path"):
            plot.curve(xs, ys, look)
        plot.dots(path.points[1:], radius=2.4)
        if self._diverges(path):
            corner = self._across.high - 0.02 * (self._across.high - self._across.low)
            plot.words(corner, self._up.high, "\N{MULTIPLICATION X} diverges", anchor="end", up=-18)
        plot.handle(*path.points[0], "Start of the path")
        top = self._up.start + 62
        lower = self._values_plot(path, top)
        key = legend(
            [
                ("point", "start"),
                ("path", "path"),
                ("arrow", f"minus the gradient of {name_of(self.function)}"),
            ],
            LEFT,
            26.0,
        )
        parts: list[Plot | str] = [plot, lower, key]
        title = f"Descent on {name_of(self.function)}"
        return drawing(parts, WIDTH, top + 148, title=title, words=words)

    def _values_plot(self, path: Path2d, top: float) -> Plot:
        """Draw the value at each step, by powers of ten where it goes through several."""
        values = [v for v in path.values if math.isfinite(v)]
        log = bool(values) and min(values) > 0 and max(values) > 100 * min(values)
        if log:
            powers = [math.log10(min(values)), math.log10(max(values))]
            low, high = math.floor(powers[0]), math.ceil(powers[1])
            up = Scale(10.0 ** max(low, -300), 10.0 ** min(max(high, low + 1), 300), 0, 0, True)
        else:
            up = Scale(*seen_range(values), 0, 0)
        up = Scale(up.low, up.high, top + 100, top + 8, up.log)
        count = max(len(path.values) - 1, 1)
        across = Scale(0.0, float(count), LEFT, RIGHT)
        plot = Plot(across, up, x_label="step", y_label="value")
        plot.curve(range(len(path.values)), path.values, "path")
        plot.dots([(float(k), v) for k, v in enumerate(path.values)], radius=2.0)
        return plot

    def paint(self, figure: Figure) -> None:
        """Draw the map with the path, and the values below."""
        from matplotlib.colors import BoundaryNorm

        assert self._path is not None
        above, below = figure.subplots(2, 1, height_ratios=(3, 1))
        xs, ys, heights = self._grid
        if self._levels:
            ends = [np.nanmin(heights), *self._levels, np.nanmax(heights)]
            even = BoundaryNorm(ends, 256)
            colours = above.contourf(xs, ys, heights, ends, cmap="Blues", norm=even)
            figure.colorbar(colours, ax=above)
        above.plot(*zip(*self._path.points, strict=True), "o-", color="tab:orange", markersize=3)
        above.set_xlim(self._across.low, self._across.high)
        above.set_ylim(self._up.low, self._up.high)
        above.set(xlabel=self._names[0], ylabel=self._names[1])
        below.plot(self._path.values, "o-", color="tab:orange", markersize=3)
        below.set(xlabel="step", ylabel="value")
