"""The memory timeline as a picture: bands stacked over the steps of a run.

After reading this file you know how to read it: a band is as high as an array has bytes and as
long as some node keeps it. Full bands are new memory; hollow, dashed ones were there before the
run; dotted outlines are what a checkpoint has computed again. Read next: ``plots.py``.
"""

from __future__ import annotations

from itertools import groupby

from autodiff_kit.view.memory import Band, Timeline, bytes_in_words
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

__all__ = ["memory_plot"]

WIDTH = 496.0  # still legible where a notebook is narrow
LEFT, RIGHT, TOP, FLOOR = 62.0, 12.0, 46.0, 284.0
KEY, ROW = 62.0, 20.0  # px from the floor to the first row of the key, and from row to row
COLUMNS = 600  # steps that are drawn one by one
AGAIN = (2.0, 3.0)  # the dashes of what is recomputed
BAND_TITLE, LABEL = "tick note", 15.0  # look of a label in a band, and px that it needs


def memory_plot(timeline: Timeline, step: int | None = None, *, before: bool = False) -> Drawing:
    """Describe the picture of a timeline.

    Parameters
    ----------
    timeline : Timeline
    step : int, optional
        Where to put a mark, besides that of the peak.
    before : bool
        Show what was there before the run, too. It is shown anyway if there is nothing else.

    Returns
    -------
    Drawing - each band can be picked by its ``id``.
    """
    new = [band for band in timeline.bands if not band.before]
    old = [band for band in timeline.bands if band.before and (before or not new)]
    count = len(timeline.bytes_saved)
    tops = [sum(sizes) for sizes in zip(*(band.sizes for band in new + old), strict=True)]
    most = max([*tops, *timeline.total, *timeline.bytes_saved, 1])
    unit, name = (1e6, "MB") if most >= 1e7 else (1e3, "kB") if most >= 1e4 else (1.0, "bytes")
    x = Scale(0.5, count + 0.5, LEFT, WIDTH - RIGHT, whole=True)
    y = Scale(0.0, 1.1 * most / unit, FLOOR, TOP)
    words = name if name == "bytes" else f"{name} (1 {name} = {unit:,.0f} bytes)"
    plot = Plot(x, y, x_label="step", y_label=words)
    every = -(-count // COLUMNS)
    floor = [0] * -(-count // every)
    titles: list[Mark] = []  # over every line
    for number, band in enumerate(new + old):
        sizes = _thinned(band.sizes, every)
        runs = _runs(sizes, floor)
        plot.add(_band(band, runs, every, unit, is_pale=number % 2 == 1))
        titles += _title(band.title, runs, every, unit, x, y)
        floor = [a + b for a, b in zip(floor, sizes, strict=True)]
    phases = _phases(timeline, x, [y(top / unit) for top in tops])
    if timeline.total:
        plot.add(_stairs(_thinned(timeline.total, every), every, unit))
    if step not in (None, timeline.peak):  # that has a mark of its own
        plot.add(Curve([step + 1, step + 1], [y.low, y.high], "cursor"))
    plot.add(*titles)
    peak = timeline.bytes_saved[timeline.peak]
    if peak:
        plot.add(Pointer(timeline.peak + 1, peak / unit))
    rows = _key(timeline, has_new=bool(new), has_old=bool(old))
    keys = [Key(row, LEFT, FLOOR + KEY + number * ROW) for number, row in enumerate(rows)]
    height = FLOOR + KEY + (len(rows) - 1) * ROW + 14
    title = "Memory saved for backward"
    return Drawing([plot, *phases, *keys], WIDTH, height, title, timeline.summary())


def _key(timeline: Timeline, *, has_new: bool, has_old: bool) -> list[list[Sample]]:
    """Return the rows of the key, with the peaks: beside them in the plot there are lines."""
    most, total = timeline.bytes_saved[timeline.peak], max(timeline.total, default=0)
    saved = [Sample("bar", "saved for backward", is_area=True)] * has_new
    saved += [Sample("pointer", f"peak: {bytes_in_words(most)}")] * bool(most)
    is_again = any(band.again and not band.before for band in timeline.bands)
    more = [Sample("bar", "recomputed", is_area=True, dash=AGAIN)] * is_again
    more += [Sample("level", "there before", is_area=True)] * has_old
    line = f"all arrays of the run, gradients included; peak: {bytes_in_words(total)}"
    lines = [Sample("parabola", line)] * bool(timeline.total)
    return [row for row in (saved, more, lines) if row]


def _thinned(sizes: list[int], every: int) -> list[int]:
    """Return the largest of each so many sizes: a screen has no room for more."""
    return [max(sizes[i : i + every]) for i in range(0, len(sizes), every)]


_Run = tuple[int, int, int, int]  # the first column, the one after the last, low and high in bytes


def _runs(sizes: list[int], floor: list[int]) -> list[_Run]:
    """Return a band as rectangles: it lies on the bands below, and is as high as its sizes."""
    runs: list[_Run] = []
    for column, (low, size) in enumerate(zip(floor, sizes, strict=True)):
        if runs and runs[-1][1:] == (column, low, low + size):
            runs[-1] = (runs[-1][0], column + 1, low, low + size)
        elif size:
            runs.append((column, column + 1, low, low + size))
    return runs


def _edge(column: int, every: int) -> float:
    """Return where a column begins, in steps."""
    return 0.5 + column * every


def _band(band: Band, runs: list[_Run], every: int, unit: float, *, is_pale: bool) -> Group:
    loops = []
    for piece in _connected(runs):
        loop: list[Pair] = []
        for a, b, _, high in piece:
            loop += [(_edge(a, every), high / unit), (_edge(b, every), high / unit)]
        for a, b, low, _ in reversed(piece):
            loop += [(_edge(b, every), low / unit), (_edge(a, every), low / unit)]
        loops.append(loop)
    look, opacity = "level" if band.before else "bar", 0.45 if is_pale else 1.0
    area = Area(loops, look, opacity, AGAIN if band.again else ())
    label = f"{band.title}: {bytes_in_words(max(band.sizes))}. {' '.join(band.reasons)}"
    return Group([area], band.id, label)


def _title(title: str, runs: list[_Run], every: int, unit: float, x: Scale, y: Scale) -> list[Mark]:
    """Write the title of a band where it is widest, if there is room."""
    widest, words = text_width(title), list[Mark]()
    for a, b, low, high in runs:
        left, width = _edge(a, every), x(_edge(b, every)) - x(_edge(a, every))
        if y(low / unit) - y(high / unit) >= LABEL and width > widest:
            middle = (low + high) / 2 / unit
            widest, words = width, [Words(left, middle, title, right=5, up=-4.5, look=BAND_TITLE)]
    return words


def _connected(runs: list[_Run]) -> list[list[_Run]]:
    """Put runs together where one begins when the other ends."""
    pieces: list[list[_Run]] = []
    for run in runs:
        if pieces and pieces[-1][-1][1] == run[0]:
            pieces[-1].append(run)
        else:
            pieces.append([run])
    return pieces


def _phases(timeline: Timeline, x: Scale, tops: list[float]) -> list[Mark]:
    """Say where forward ends and backward begins; where there is no room, only by the line.

    The line ends on top of the bands, whose labels it would cross.
    """
    marks: list[Mark] = []
    start = 0
    for phase, steps in groupby(timeline.phases):
        end = start + len(list(steps))
        left, right = x(start + 0.5), x(end + 0.5)
        if start and phase != "end":
            end_of_line = min(tops[start - 1 : start + 1], default=FLOOR)
            marks.append(Curve([left, left], [TOP - 20, end_of_line], "level"))
        if phase != "end" and right - left > text_width(phase) + 8:
            marks.append(Words(left + 5, TOP - 24, phase, look="axis"))
        start = end
    return marks


def _stairs(sizes: list[int], every: int, unit: float) -> Curve:
    """Return a line that is level along each column."""
    xs: list[float] = []
    ys: list[float] = []
    for column, size in enumerate(sizes):
        if ys and ys[-1] == size / unit:
            xs[-1] = _edge(column + 1, every)
        else:
            xs += [_edge(column, every), _edge(column + 1, every)]
            ys += [size / unit] * 2
    return Curve(xs, ys, "parabola")
