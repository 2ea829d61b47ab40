"""Sequences of different length, three ways: their cells, their costs, and their gradients.

After reading this file you can read the picture: a full cell is a step of some sequence, a dashed
one is padding, and a crossed one is padding that gets into the loss. Read next: ``plots.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from autodiff_kit.view.plots import (
    Area,
    Curve,
    Drawing,
    Group,
    Key,
    Mark,
    Plot,
    Pointer,
    Sample,
    Words,
)
from autodiff_kit.view.scales import Pair, Scale, text_width

__all__ = ["Gradient", "Way", "batching_plot", "words_of"]

WIDTH = 496.0  # still legible where a notebook is narrow
GAP, EDGE = 14.0, 16.0
ROW = 19.0  # px, of figures
FIGURES = 7  # below each way, at most; room for all of them is kept, whatever the mask is
NEAR = 1e-4  # relative: what differs more is another gradient, what differs less is rounding
ENTRIES = 20  # of the gradients, so many are drawn


@dataclass(frozen=True)
class Gradient:
    """The gradient of one parameter, entry by entry."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Way:
    """One way of going through the sequences, and what it costs.

    Attributes
    ----------
    name : str
        In words; what stands before a comma is the heading.
    rows : list of str
        One character for each cell, one row for each sequence: ``#`` a step, ``.`` padding, ``x``
        padding that gets into the loss, ``-`` a step that is left out of it.
    together : bool
        Whether a step computes a whole column.
    operations, bytes_saved : int
        Operations that ran; bytes saved for backward, at most.
    loss : float
    gradients : list of Gradient
    """

    name: str
    rows: list[str]
    together: bool
    operations: int
    bytes_saved: int
    loss: float
    gradients: list[Gradient] = field(default_factory=list)

    @property
    def cells(self) -> int:
        """How many cells are computed, padding included."""
        return sum(len(row) for row in self.rows)

    @property
    def padding(self) -> int:
        """How many of them are padding."""
        return sum(row.count(".") + row.count("x") for row in self.rows)

    def agrees(self, other: Way) -> bool:
        """Say whether both have the same loss and the same gradients, but for rounding."""
        return self.has_loss_of(other) and not self.differing(other)

    def has_loss_of(self, other: Way) -> bool:
        """Say whether both have the same loss, but for rounding."""
        return _is_near(self.loss, other.loss, abs(other.loss))

    def differing(self, other: Way) -> list[str]:
        """Return the names of the parameters whose gradients differ by more than rounding."""
        sizes = [abs(v) for gradient in other.gradients for v in gradient.values]
        scale = max(filter(math.isfinite, sizes), default=0.0)
        return [
            mine.name
            for mine, others in zip(self.gradients, other.gradients, strict=True)
            if any(
                not _is_near(a, b, scale) for a, b in zip(mine.values, others.values, strict=True)
            )
        ]


def batching_plot(ways: Sequence[Way], picked: int | None = None) -> Drawing:
    """Describe the ways side by side, and below each its figures and how its gradients compare.

    Parameters
    ----------
    ways : sequence of Way
        The first is what the others are compared with.
    picked : int, optional
        The sequence that is shown elsewhere.

    Returns
    -------
    Drawing - the rows of the first way can be picked: they are ``"row-0"`` and so on.
    """
    wide = (WIDTH - 2 * EDGE - (len(ways) - 1) * GAP) / len(ways)
    most = max(len(row) for way in ways for row in way.rows)
    count = len(ways[0].rows)
    cell = min(26.0, wide / most, 240.0 / count)
    top = 50.0
    floor = top + count * cell + 22
    parts: list[Plot | Mark] = []
    for number, way in enumerate(ways):
        left = EDGE + number * (wide + GAP)
        parts.append(_words(left, 24, way.name.split(",")[0], is_bold=True))
        parts += _cells(way, left, top, cell, picked if number == 0 else None, number == 0)
        for line, words in enumerate(_figures(way, ways[0])):
            parts.append(_words(left, floor + line * ROW, words))
    below = floor + FIGURES * ROW + 26
    parts.append(_words(EDGE, below, "The same gradients? Entry by entry:", is_bold=True))
    parts += _compared(ways, below + 16)
    height = below + 250
    samples = [Sample("curve", ways[0].name), Sample("point", "padded")]
    samples += [
        Sample("cursor", "shrinking"),
        Sample("level", "padding", is_area=True, dash=(3.1,)),
    ]
    parts.append(Key(samples, EDGE, height - 12))
    return Drawing(parts, WIDTH, height, "Sequences of different length", words_of(ways))


def words_of(ways: Sequence[Way]) -> str:
    """Say in words what the ways cost, and which gradients differ."""
    first = ways[0]
    sentences = []
    for way in ways:
        padding = f", {way.padding} of them padding" if way.padding else ", no padding"
        sentences.append(
            f"{way.name}: {way.operations:,} operations, {_cells_of(way)}{padding}, "
            f"{way.bytes_saved:,} bytes saved for backward."
        )
    for way in ways[1:]:
        names = way.differing(first)
        loss = f"a loss of {way.loss:.4f} instead of {first.loss:.4f}"
        if way.has_loss_of(first):
            loss = f"the same loss as {first.name}"
        if names:
            sentences.append(f"{way.name}: WRONG gradient of {', '.join(names)}, and {loss}.")
        elif way.agrees(first):
            sentences.append(f"{way.name}: the same loss and the same gradients as {first.name}.")
        else:
            sentences.append(f"{way.name}: the same gradients as {first.name}, and {loss}.")
    return "\n".join(sentences)


def _is_near(one: float, other: float, scale: float) -> bool:
    """Return whether two numbers are the same up to rounding; nan is nan, and inf is inf."""
    is_nan = math.isnan(one) and math.isnan(other)
    return one == other or is_nan or abs(one - other) <= NEAR * (scale + 1e-12)


def _cells_of(way: Way) -> str:
    return f"{way.cells:,} cell{'s' * (way.cells != 1)}"


def _figures(way: Way, first: Way) -> list[str]:
    same = "" if way is first else " (the same)" if way.agrees(first) else " (WRONG)"
    return [
        f"{way.operations:,} operations",
        _cells_of(way),
        f"{way.padding} of them padding" if way.padding else "no padding",
        f"{way.bytes_saved:,} bytes saved",
        f"loss {way.loss:.4f}{same}",
        *(part.strip() for part in way.name.split(",")[1:]),
    ]


def _cells(
    way: Way, left: float, top: float, cell: float, picked: int | None, can_be_picked: bool
) -> list[Mark]:
    marks: list[Mark] = []
    side = cell - 3
    for number, row in enumerate(way.rows):
        y = top + number * cell
        places = [(left + column * cell, mark) for column, mark in enumerate(row)]
        inside: list[Mark] = []
        full = [_square(x, y, side) for x, mark in places if mark in "#-"]
        padding = [_square(x, y, side) for x, mark in places if mark not in "#-"]
        if full:
            inside.append(Area(full, "bar"))
        if padding:  # a dash ends at each corner of a square
            inside.append(Area(padding, "level", dash=(side / 7,)))
        for x, mark in places:
            if mark in "x-":
                ends = [x + 0.2 * side, x + 0.8 * side]
                rows = [y + 0.2 * side, y + 0.8 * side]
                inside += [Curve(ends, rows, "path"), Curve(ends, rows[::-1], "path")]
        if number == picked:
            inside.append(Pointer(left - 4, y + side / 2, is_sideways=True))
        if can_be_picked:
            steps = f"{len(row)} step{'s' * (len(row) != 1)}"
            right, lower = left + len(row) * cell, y + cell
            whole = [(left, y), (right, y), (right, lower), (left, lower)]
            label = f"Sequence {number + 1}, {steps}: show its graph"
            inside = [Group([Area([whole], "reach"), *inside], f"row-{number}", label)]
        marks += inside
    if way.together and way.rows:
        right, y = left + max(map(len, way.rows)) * cell - 3, top - 9
        marks.append(Curve([left, right - 7], [y, y], "arrow"))
        marks.append(Pointer(right, y, is_sideways=True))
    return marks


def _square(x: float, y: float, side: float) -> list[Pair]:
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]


def _compared(ways: Sequence[Way], top: float) -> list[Plot | Mark]:
    """Draw the gradients: a line for the first way, a dot for each of the others."""
    first = ways[0]
    entries = [(g.name, i, v) for g in first.gradients for i, v in enumerate(g.values)]
    step = max(1, -(-len(entries) // ENTRIES))
    indices = range(0, len(entries), step)
    flat = [[v for g in way.gradients for v in g.values] for way in ways]
    finite = [v for values in flat for v in values if abs(v) < 1e30] or [0.0]
    low, high = min(0.0, *finite), max(0.0, *finite)
    room = 0.08 * (high - low) or 1.0
    y = Scale(low - room, high + room, top + 168, top + 4)
    left = EDGE + 44
    x = Scale(-0.7, max(len(indices), 1) - 0.3, left, WIDTH - EDGE)
    frame = Plot(x, y, x_ticks=())  # what stands along it has names
    for place, number in enumerate(indices):
        frame.curve([place, place], [0.0, flat[0][number]])
        frame.curve([place - 0.12, place + 0.12], [flat[0][number]] * 2)
        for other, values in enumerate(flat[1:], 1):
            at = place + 0.2 * other
            if other == 1:
                frame.dots([(at, values[number])], "grip", 4)
            else:
                frame.curve([at - 0.08, at + 0.08], [values[number]] * 2, "cursor")
    frame.curve([x.low, x.high], [0.0, 0.0], "middle")
    parts: list[Plot | Mark] = [frame]
    start = 0
    for gradient in first.gradients:
        places = [p for p, n in enumerate(indices) if start <= n < start + len(gradient.values)]
        start += len(gradient.values)
        if places:
            middle = x((places[0] + places[-1]) / 2)
            if x(places[-1]) - x(places[0]) + 30 > text_width(gradient.name):
                parts.append(_words(middle, top + 186, gradient.name, anchor="middle"))
    return parts


def _words(x: float, y: float, text: str, *, anchor: str = "start", is_bold: bool = False) -> Words:
    return Words(x, y, text, anchor, look="ink", is_bold=is_bold)
