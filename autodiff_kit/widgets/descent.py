"""Gradient descent on a surface: choose an optimizer and a learning rate, and drag the start.

After reading you know how a map of a function of two numbers, the arrows of its gradient and the
path of the kit's own optimizer come together. Read next: ``training.py``, gradients of whole
networks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import autodiff_kit as ak
from autodiff_kit.view.contours import levels, rings
from autodiff_kit.view.plots import Area, Arrows, Drawing, Handle, Key, Plot, Sample, Words
from autodiff_kit.view.scales import Scale, label, seen_range
from autodiff_kit.widgets.at_points import (
    SECONDS,
    Function,
    Pair,
    bounded,
    curve_along,
    everywhere,
    gradient_at,
    leaf_at,
    one_number,
)
from autodiff_kit.widgets.controls import Choice, SelectionSlider, Slider
from autodiff_kit.widgets.curve_words import goes_on
from autodiff_kit.widgets.distrust import Examined, contents, examined
from autodiff_kit.widgets.gradients import (
    LEFT,
    RIGHT,
    WIDTH,
    Further,
    LivePlot,
    check_takes,
    defaults_of,
    ends_of,
    function_of,
    gaps,
)
from autodiff_kit.widgets.one_sided import Curve, agree, sides_of
from autodiff_kit.widgets.running import name_of
from autodiff_kit.widgets.stationary import words_of_place

__all__ = ["OPTIMIZERS", "Descent", "descend"]

_HELP = {
    "optimizer": "What makes the steps; its other settings are PyTorch's defaults, or stand behind "
    "its name.",
    "lr": "The learning rate of the optimizer.",
    "steps": "How many steps the path has. You can also drag its start in the plot.",
}
FIELD = (12, 8)  # arrows

# What the lab calls them -> the class in optim, and its options besides lr.
OPTIMIZERS: dict[str, tuple[str, dict[str, float | bool]]] = {
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
    """The path of an optimizer: points, the value at each, and why it ended early, if it did."""

    points: list[Pair]
    values: list[float]
    reason: str


def descend(function: Function, start: Pair, optimizer: str, lr: float, steps: int) -> Path2d:
    """Return the places to which an optimizer steps from a start."""
    inputs = [leaf_at(value) for value in start]
    kind, options = OPTIMIZERS[optimizer]
    way = getattr(ak.optim, kind)(inputs, lr=lr, **options)
    points, values, reason = [], [], ""
    for step in range(steps + 1):
        points.append((float(inputs[0].item()), float(inputs[1].item())))
        out = one_number(function, *inputs)  # which may change them
        values.append(float(out.item()))
        if not math.isfinite(values[-1] + sum(points[-1])):
            reason = f"at step {step} the value is {values[-1]:g}"
            break
        if not out.requires_grad:
            reason = "the value has no grad_fn: no path in the graph leads back from it"
            break
        if step < steps:
            way.zero_grad()
            out.backward()
            way.step()
    return Path2d(points, values, reason)


def _gradient(function: Function, point: Pair) -> list[float | None]:
    """Return autograd's slopes along x and along y."""
    _, _, slopes = gradient_at(function, *point)
    return [None if slope is None else float(slope.item()) for slope in slopes]


def _pair(point: Pair) -> str:
    return f"({label(point[0])}, {label(point[1])})"


class Descent(LivePlot):
    """Go down a surface: choose an optimizer and its learning rate, and drag the start.

    The map shows the surface (more blue is higher) and minus its gradient as arrows; the
    path is that of the kit's own optimizer; below, the value at each step. The function runs at
    some 1,450 points for the map, once for each step of a path, and some 80 times around its two
    ends, where autograd's gradient is held against the surface.

    Parameters
    ----------
    function : callable
        Takes two tensors of one number each, gives one number.
    x, y : (float, float)
        From where to where the map goes.
    start : (float, float), optional
        By default what the function's own arguments begin with, as in ``def f(x=1.0, y=2.0)``, or
        a point near the upper left corner.
    optimizer : str
        One of ``"SGD"``, ``"SGD, momentum 0.9"``, ``"RMSprop"``, ``"Adagrad"``, ``"Adam"``,
        ``"AdamW"``.
    lr : float
        Learning rate, 0.0001 to 10; the slider stops at 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1 ...
    steps : int
        1 to 300.
    detail : int
        The map is computed at so many points from left to right, 5 to 81, and at four fifths as
        many from bottom to top: choose fewer for a function that takes long.
    names : (str, str), optional
        What stands at the axes; by default, what the function calls its arguments.
    **arguments
        What further arguments of the function begin with: each has a control. By default it is
        what the function says, as in ``def f(x, y, a=2.0)``, or 1.0.

    Raises
    ------
    TypeError, ValueError
        If this is no function, or the map, the optimizer or a number cannot be. What the function
        itself does wrong is said in the lab.

    Examples
    --------
    >>> lab = Descent(lambda x, y: x * x + 4 * y * y, start=(2.0, 1.0), lr=0.1, steps=20)
    >>> lab
    Descent(SGD, lr = 0.1: after 20 steps from (2, 1) the value has gone from 8 to ...)
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
        names: tuple[str, str] | None = None,
        title: str = "",
        **arguments: Any,
    ) -> None:
        function = function_of(function, "Descent", "Descent(f) with def f(x, y): ...")
        self._further = Further(function, ["x", "y"], arguments)
        self.function = self._further.function
        self._names = names or self._further.names
        xs, ys = ends_of(self._names[0], x), ends_of(self._names[1], y)
        if optimizer not in OPTIMIZERS:
            optimizers = ", ".join(repr(name) for name in OPTIMIZERS)
            raise ValueError(
                f"There is no optimizer {optimizer!r} here.\n-> Choose one of {optimizers}."
            )
        if not 1e-4 <= lr <= 10:
            raise ValueError(f"lr is the learning rate, from 0.0001 to 10, and not {lr}.")
        if not 1 <= steps <= 300:
            raise ValueError(f"steps is a number from 1 to 300, and not {steps}.")
        if not 5 <= detail <= 81:
            raise ValueError(f"detail is a number from 5 to 81, and not {detail}.")
        self._detail = detail, max(5, round(detail * 0.8))
        high = 280.0 * min(max((ys[1] - ys[0]) / (xs[1] - xs[0]) * 1.6, 0.8), 1.3)
        self._across = Scale(*xs, LEFT, RIGHT)
        self._up = Scale(*ys, 46.0 + high, 46.0)
        self._map: Plot | None = None
        self._path: Path2d | None = None
        self._runs: Examined[float] | None = None
        first = (xs[0] + 0.15 * (xs[1] - xs[0]), ys[0] + 0.85 * (ys[1] - ys[0]))
        own = defaults_of(self.function, 2)
        point = start or tuple(f if d is None else d for f, d in zip(first, own, strict=True))
        self._start = (min(max(point[0], xs[0]), xs[1]), min(max(point[1], ys[0]), ys[1]))
        controls = {
            "optimizer": Choice(list(OPTIMIZERS), optimizer, help=_HELP["optimizer"]),
            "lr": SelectionSlider(
                [(f"{rate:g}", rate) for rate in sorted({*RATES, float(lr)})],
                float(lr),
                help=_HELP["lr"],
            ),
            "steps": Slider(steps, 1, 300, help=_HELP["steps"]),
        }
        super().__init__(controls, further=self._further, title=title)

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
        if self._drawn_with != (further := contents(self._further.values)):
            if not self._further.values:
                check_takes(self.function, *self._names)
            self._drawn_with = None
            bounded(SECONDS, self._survey, of=self.function)
            self._drawn_with = further
        optimizer, lr, steps = (self.controls[name].value for name in ("optimizer", "lr", "steps"))
        path = bounded(
            SECONDS, descend, self.function, self._start, optimizer, lr, steps, of=self.function
        )
        self._path = path
        words = bounded(SECONDS, self._words, path, of=self.function) + self._note
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
            return float(one_number(self.function, leaf_at(x), leaf_at(y)).item())

        def downhill(x: float, y: float) -> Pair:
            value, _, slopes = gradient_at(self.function, x, y)
            if not math.isfinite(value.item()):  # a rule may give a number there all the same
                return math.nan, math.nan
            right, up = (0.0 if slope is None else -float(slope.item()) for slope in slopes)
            return right, up

        try:
            self._runs = examined(
                self.function,
                lambda: height(*self._start),
                lambda value: value,
                changed_arguments=lambda _: self._further.changed_at(*self._start),
            )
        except Exception:  # there is no value at the start; at others there may be
            self._runs = None
        xs, ys = grid(*self._detail, 0.0)
        outcomes = everywhere(height, [(x, y) for y in ys for x in xs])
        flat = [math.nan if v is None else v for v in outcomes.values]
        heights = np.array(flat, dtype=float).reshape(len(ys), len(xs))
        self._note = gaps(flat, outcomes, "points of the map")
        finite = heights[np.isfinite(heights)]
        self._levels = levels(heights)
        if self._levels:
            self._note = f" On the map the value goes from {label(finite.min())} to " + (
                f"{label(finite.max())}; more blue is higher.{self._note}"
            )
        elif finite.size:
            self._note = f" The surface is flat: {label(finite.min())} everywhere.{self._note}"
        self._grid = xs, ys, heights
        at = grid(*FIELD, 0.04)
        places = [(x, y) for y in at[1] for x in at[0]]
        self._field = list(zip(places, everywhere(downhill, places).values, strict=True))
        plot = Plot(self._across, self._up)
        for level in self._levels:
            plot.add(Area(rings(xs, ys, heights, level), is_smooth=True))
        plot.add(Arrows(self._arrows()))
        self._map = plot

    def _arrows(self) -> list[tuple[Pair, Pair]]:
        """Return the arrows in pixels; the root of their length, so that small ones are seen."""
        wide = (RIGHT - LEFT) / (self._across.high - self._across.low)
        tall = (self._up.start - self._up.end) / (self._up.high - self._up.low)
        field = [(place, g) for place, g in self._field if g and math.isfinite(sum(g))]
        pixels = [(place, (g[0] * wide, g[1] * tall)) for place, g in field]
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
        if not math.isfinite(values[0]) or math.isnan(values[-1]):
            return False
        worse = values[-1] > values[0]
        return worse and (self._leaves(path) is not None or "the value is" in path.reason)

    def _words(self, path: Path2d) -> str:
        optimizer, lr, steps = (self.controls[name].value for name in ("optimizer", "lr", "steps"))
        start, after = _pair(path.points[0]), f"after {steps} step{'s' * (steps != 1)}"
        further = self._further.words
        begin = f"{optimizer}, lr = {label(lr)}: " + f"with {further}, " * bool(further)
        if self._runs and self._runs.doubt:
            begin = f"{self._runs.doubt} {begin}"
        values = path.values
        if not math.isfinite(values[0]):
            return f"{begin}no path begins at {start}, where the value is {values[0]:g}."
        if self._runs and self._runs.differs:
            return f"{begin}map and path show one run at each point, and no surface."
        step_outside = self._leaves(path)
        against = self._against(path.points[0])
        if self._diverges(path):
            where = (
                f" It leaves the map at step {step_outside}." if step_outside is not None else ""
            )
            ends = path.reason or f"{after} the value is {label(values[-1])}"
            advice = against or " Try a smaller lr."
            return f"{begin}the path from {start} diverges: {ends}.{where}{advice}"
        if path.reason and len(path.points) == 1:
            return f"{begin}the path ends where it begins, at {start}: {path.reason}.{against}"
        if path.reason:
            return f"{begin}the path from {start} breaks off: {path.reason}.{against}"
        end = path.points[-1]
        outside = " That is outside of the map." if step_outside is not None else ""
        remark = against or (self._remark(end) if step_outside is None else "")
        if len(set(path.points)) == 1:
            remark += " The path stays where it begins."
        return (
            f"{begin}{after} from {start} the value has gone from {label(values[0])} "
            f"to {label(values[-1])}, at {_pair(end)}.{outside}{remark}"
        )

    def _curves(self, point: Pair) -> list[Curve]:
        """Return the surface along x and along y through a point."""
        widths = [scale.high - scale.low for scale in (self._across, self._up)]
        return [curve_along(self.function, point, axis, widths[axis]) for axis in (0, 1)]

    def _against(self, point: Pair) -> str:
        """Say where autograd's gradient is not the slope of the surface; ``""`` if it is."""
        for name, curve, at, slope in zip(
            self._names, self._curves(point), point, _gradient(self.function, point), strict=True
        ):
            if not math.isfinite(curve.value(at)):
                continue
            left, right = sides_of(curve, at)
            if "none" in (left.kind, right.kind) or "unclear" in (left.kind, right.kind):
                continue
            if slope is None and left.slope == right.slope == 0:
                continue
            if slope is not None and agree(curve, slope, left) and agree(curve, slope, right):
                continue
            gives = "no slope" if slope is None else f"the slope {label(slope)}"
            goes = goes_on(curve, left, right, f"the surface along {name}")
            if name == self._names[1]:
                goes = goes.replace("on the left", "below").replace("on the right", "above")
            return f" At {_pair(point)} autograd gives {gives} along {name}. {goes}"
        return ""

    def _remark(self, point: Pair) -> str:
        """Say what is known of a place where the gradient is small; ``""`` where it is not."""
        gradient = _gradient(self.function, point)
        lengths = sorted(math.hypot(*g) for _, g in self._field if g and math.isfinite(sum(g)))
        usual = lengths[len(lengths) // 2] if lengths else 0.0
        size = math.hypot(*(slope or 0.0 for slope in gradient))
        if size > 1e-3 * usual:
            return ""
        return words_of_place(self.function, point, size, self._curves(point))

    def _picture(self, path: Path2d, words: str) -> Drawing:
        x_name, y_name = self._names
        plot = Plot(self._across, self._up, x_label=x_name, y_label=y_name, under=self._map)
        xs, ys = [p[0] for p in path.points], [p[1] for p in path.points]
        for look in ("path-under", "path"):
            plot.curve(xs, ys, look)
        plot.dots(path.points[1:], radius=2.4)
        if self._diverges(path):
            corner = self._across.high - 0.02 * (self._across.high - self._across.low)
            words_of_end = "\N{MULTIPLICATION X} diverges"
            plot.add(Words(corner, self._up.high, words_of_end, anchor="end", up=-18))
        plot.add(Handle(*path.points[0], "Start of the path"))
        top = self._up.start + 62
        lower = self._values_plot(path, top)
        arrows = f"minus the gradient of {name_of(self.function)}"
        samples = [Sample("point", "start"), Sample("path", "path"), Sample("arrow", arrows)]
        title = f"Descent on {name_of(self.function)}"
        return Drawing([plot, lower, Key(samples, LEFT, 26.0)], WIDTH, top + 148, title, words)

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
        across = Scale(0.0, float(count), LEFT, RIGHT, whole=True)
        plot = Plot(across, up, x_label="step", y_label="value")
        plot.curve(range(len(path.values)), path.values, "path")
        plot.dots([(float(k), v) for k, v in enumerate(path.values)], radius=2.0)
        return plot
