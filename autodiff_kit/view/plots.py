"""Plots as data: axes, and the curves, arrows, bars and words between them; nothing is drawn here.

After reading you can describe a plot of your own: a ``Scale`` for each axis, a ``Plot`` between
them, its marks, and a ``Drawing`` of one or several plots. It is described once and drawn twice:
as SVG for the screen (``charts.py``) and by matplotlib for a page or a slide
(``widgets/figures.py``). Read next: ``charts.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from autodiff_kit.view.scales import MINUS, RAISED, Pair, Scale, text_width

__all__ = [
    "PIXELS",
    "Area",
    "Arrows",
    "Bars",
    "Curve",
    "Dots",
    "Drawing",
    "Group",
    "Handle",
    "Key",
    "Mark",
    "Plot",
    "Pointer",
    "Sample",
    "Words",
    "spread",
]

# A drawing is measured in pixels, to the right and down; marks beside the plots are on this scale.
PIXELS = Scale(0.0, 1024.0, 0.0, 1024.0)

# -- marks: what `look` may be, says charts.py ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through points; nan, inf and leaps from edge to edge are gaps in it."""

    xs: Sequence[float]
    ys: Sequence[float]
    look: str = "curve"

    def pieces(self, y: Scale) -> list[list[Pair]]:
        """Return the points between the gaps, as they are seen on a scale."""
        pieces: list[list[Pair]] = []
        before = math.nan
        for at, value in zip(self.xs, self.ys, strict=True):
            if not (abs(at) < math.inf and abs(value) < math.inf):
                before = math.nan
                continue
            low, high = y.low, y.high
            lower, upper = min(value, before), max(value, before)
            leaps = lower < low - (high - low) and upper > high + (high - low)
            if before != before or leaps:
                pieces.append([])
            pieces[-1].append((at, value))
            before = value
        return pieces


@dataclass(frozen=True, eq=False)
class Area:
    """Closed lines of (x, y), filled; a line inside another one cuts a hole.

    Attributes
    ----------
    opacity : float
        Of what fills it.
    dash : (float, ...)
        Pixels of line and gap in its outline; as the look has it by default.
    is_smooth : bool
        Points that hardly bend a line may be left out.
    """

    loops: Sequence[Sequence[Pair]]
    look: str = "band"
    opacity: float = 1.0
    dash: tuple[float, ...] = ()
    is_smooth: bool = False


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows in the middle of which (x, y) lies, by pixels (right, up): their heads keep shape."""

    arrows: Sequence[tuple[Pair, Pair]]
    look: str = "arrow"


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars from the lower edge of the plot; names are read out by screen readers."""

    edges: Sequence[Pair]
    heights: Sequence[float]
    names: Sequence[str] = ()
    look: str = "bar"


@dataclass(frozen=True, eq=False)
class Dots:
    """Small filled circles."""

    points: Sequence[Pair]
    look: str = "dot"
    radius: float = 3.0

    def finite(self) -> list[Pair]:
        """Return the points that can be drawn."""
        return [(x, y) for x, y in self.points if abs(x) < math.inf and abs(y) < math.inf]


@dataclass(frozen=True, eq=False)
class Pointer:
    """A small triangle that points down at a point, or to the right."""

    x: float
    y: float
    is_sideways: bool = False

    def outline(self) -> list[Pair]:
        """Return its corners in pixels to the right of the point and below it."""
        if self.is_sideways:
            return [(0.0, 0.0), (-7.0, -4.0), (-7.0, 4.0)]
        return [(0.0, 0.0), (-5.0, -8.0), (5.0, -8.0)]


@dataclass(frozen=True, eq=False)
class Words:
    """Words beside a point, `right` and `up` by pixels; never cut off.

    `anchor` says what lies there: ``"start"``, ``"middle"`` or ``"end"`` of the line of words.
    """

    x: float
    y: float
    text: str
    anchor: str = "start"
    right: float = 0.0
    up: float = 0.0
    look: str = "note"
    is_bold: bool = False


@dataclass(frozen=True, eq=False)
class Handle:
    """A point that can be dragged on a ``Canvas``, sideways only if along ``"x"``.

    It moves by `step` along x at each press of a key, or by the scale's own.
    """

    x: float
    y: float
    name: str
    along: str = ""
    step: float = 0.0


@dataclass(frozen=True, eq=False)
class Group:
    """Marks that can be picked together; `label` says what they are."""

    marks: Sequence[Mark]
    id: str
    label: str


@dataclass(frozen=True)
class Sample:
    """One entry of a key: a look, or ``"point"``, ``"arrow"``, ``"pointer"``, and its words.

    A line has the look, or the outline of an area.
    """

    look: str
    text: str
    is_area: bool = False
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Key:
    """A line of samples with their words, from left to right; y is the line that words stand on."""

    samples: Sequence[Sample]
    x: float
    y: float

    def places(self) -> list[float]:
        """Return where each sample begins, in pixels."""
        places, at = [], self.x
        for sample in self.samples:
            places.append(at)
            at += 28 + text_width(sample.text) + 18
        return places


Mark: TypeAlias = Curve | Area | Arrows | Bars | Dots | Pointer | Words | Handle | Group | Key
_NEVER_CUT_OFF = (Words, Handle, Pointer)

# -- a plot ---------------------------------------------------------------------------------------


class Plot:
    """Marks between two axes; what lies outside of the axes is cut off.

    Parameters
    ----------
    x, y : Scale
        ``y.start`` is the lower edge.
    x_label, y_label : str
        Words at the axes; those of y stand at the left edge of the drawing, or above the axis where
        its numbers reach so far.
    x_ticks, y_ticks : sequence of (float, str), optional
        What stands at the lower axis and at the left one; round numbers by default.
    under : Plot, optional
        Between the same axes: its marks come first, and it gets no more of them. What does not
        change is written only once so.

    Attributes
    ----------
    marks : list of Mark
        What is cut off at the axes.
    over : list of Mark
        What is not, and lies over the others.
    """

    def __init__(
        self,
        x: Scale,
        y: Scale,
        *,
        x_label: str = "",
        y_label: str = "",
        x_ticks: Sequence[tuple[float, str]] | None = None,
        y_ticks: Sequence[tuple[float, str]] | None = None,
        under: Plot | None = None,
    ) -> None:
        self.x, self.y = x, y
        self.x_label, self.y_label = x_label, y_label
        self.under = under
        self._x_ticks, self._y_ticks = x_ticks, y_ticks
        self.marks: list[Mark] = []
        self.over: list[Mark] = []

    def add(self, *marks: Mark) -> None:
        """Put marks over those that there are."""
        for mark in marks:
            (self.over if isinstance(mark, _NEVER_CUT_OFF) else self.marks).append(mark)

    def curve(self, xs: Sequence[float], ys: Sequence[float], look: str = "curve") -> None:
        """Add a line through points."""
        self.add(Curve(xs, ys, look))

    def dots(self, points: Iterable[Pair], look: str = "dot", radius: float = 3.0) -> None:
        """Add small filled circles."""
        self.add(Dots(list(points), look, radius))

    def level(self, value: float, text: str = "", *, below: bool = False) -> None:
        """Add a dashed line at a height, if it is in sight, with words or without.

        The words stand above it, or below it if so asked for and if the plot goes on there.
        """
        if self.y.holds(value):
            self.curve([self.x.low, self.x.high], [value, value], "level")
            if text:
                y = self.y(value)
                is_under = y + 18 <= self.y.start if below else y - 18 < self.y.end
                self.add(Words(self.x.low, value, text, right=6, up=-14 if is_under else 5))

    @property
    def wide(self) -> float:
        """From the left edge to the right one, in pixels."""
        return self.x.end - self.x.start

    @property
    def high(self) -> float:
        """From the upper edge to the lower one, in pixels."""
        return self.y.start - self.y.end

    def x_ticks(self) -> Sequence[tuple[float, str]]:
        """Return the places along the lower axis, and what stands there."""
        return self.x.ticks(max(2, int(self.wide / 70))) if self._x_ticks is None else self._x_ticks

    def y_ticks(self) -> Sequence[tuple[float, str]]:
        """Return the heights at the left axis, and what stands there."""
        return self.y.ticks(max(2, int(self.high / 26))) if self._y_ticks is None else self._y_ticks

    def has_wide_numbers(self) -> bool:
        """Return whether the numbers at the left axis leave no room for its words beside them."""
        widest = max((_tick_width(text) for _, text in self.y_ticks()), default=0.0)
        return self.x.start - 7 - widest < 18


@dataclass(frozen=True, eq=False)
class Drawing:
    """Plots, and marks around them in pixels.

    Attributes
    ----------
    parts : sequence of Plot or Mark
    width, height : float
        In pixels.
    title, words : str
        What it is and what it shows, for screen readers.
    """

    parts: Sequence[Plot | Mark]
    width: float
    height: float
    title: str
    words: str = ""


def _tick_width(text: str) -> float:
    """Return the width of a number at an axis in pixels, as digits of common fonts have it."""
    return sum({".": 4.0, MINUS: 10.5}.get(c, 5.0 if c in RAISED else 8.0) for c in text)


def spread(places: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Move labels at these pixels apart, no nearer than `room`, and keep them from low to high.

    Examples
    --------
    >>> spread([10.0, 12.0, 50.0], 14.0, 0.0, 100.0)
    [4.0, 18.0, 50.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[float]] = []  # each is [sum of wishes, count]
    for i in order:
        groups.append([places[i], 1.0])
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], room):
            wish, count = groups.pop()
            groups[-1][0] += wish
            groups[-1][1] += count
    apart: list[float] = []
    for wish, count in groups:
        first = wish / count - room * (count - 1) / 2
        apart += [first + room * k for k in range(int(count))]
    for k, _ in enumerate(apart):
        apart[k] = max(apart[k], apart[k - 1] + room if k else low)
    shift = max(0.0, apart[-1] - high) if apart else 0.0
    rows = [0.0] * len(places)
    for k, i in enumerate(order):
        rows[i] = apart[k]
    if shift:
        limit = high
        for i in reversed(order):
            rows[i] = limit = min(rows[i], limit)
            limit -= room
    return rows


def _overlap(above: Sequence[float], below: Sequence[float], room: float) -> bool:
    end = above[0] / above[1] + room * (above[1] - 1) / 2
    return below[0] / below[1] - room * (below[1] - 1) / 2 < end + room - 1e-9
