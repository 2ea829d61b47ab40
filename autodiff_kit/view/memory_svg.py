"""The memory timeline as a picture: bands stacked over the steps of a run.

After reading this file you know how to read it: a band is as high as an array has bytes and as
long as some node keeps it. Full bands are new memory; hollow, dashed ones were there before the
run; dotted outlines are what a checkpoint has computed again. Read next: ``charts.py``.
"""

from __future__ import annotations

from html import escape
from itertools import groupby

from autodiff_kit.view.charts import Plot, drawing, legend
from autodiff_kit.view.memory import Band, Timeline, bytes_in_words
from autodiff_kit.view.scales import Scale, text_width

__all__ = ["memory_svg"]

WIDTH = 496.0  # still legible where a notebook is narrow
LEFT, RIGHT, TOP, FLOOR = 62.0, 12.0, 46.0, 284.0
KEY, ROW = 62.0, 20.0  # px from the floor to the first row of the key, and from row to row
COLUMNS = 600  # steps that are drawn one by one
AGAIN = 'stroke-dasharray="2 3"'
LABEL = 15.0  # px that a label in a band needs


def memory_svg(timeline: Timeline, step: int | None = None, *, before: bool = False) -> str:
    """Draw a timeline.

    Parameters
    ----------
    timeline : Timeline
    step : int, optional
        Where to put a mark, besides that of the peak.
    before : bool
        Draw what was there before the run, too. It is drawn anyway if there is nothing else.

    Returns
    -------
    str - SVG; each band has its ``id`` as ``data-id``.
    """
    new = [band for band in timeline.bands if not band.before]
    old = [band for band in timeline.bands if band.before and (before or not new)]
    count = len(timeline.kept)
    tops = [sum(sizes) for sizes in zip(*(band.sizes for band in new + old), strict=True)]
    most = max([*tops, *timeline.total, *timeline.kept, 1])
    unit, name = (1e6, "MB") if most >= 1e7 else (1e3, "kB") if most >= 1e4 else (1.0, "bytes")
    x = Scale(0.5, count + 0.5, LEFT, WIDTH - RIGHT, whole=True)
    y = Scale(0.0, 1.1 * most / unit, FLOOR, TOP)
    held = name if name == "bytes" else f"{name} (1 {name} = {unit:,.0f} bytes)"
    parts: list[Plot | str] = [Plot(x, y, x_label="step", y_label=held)]
    every = -(-count // COLUMNS)
    columns = Scale(0.5, count / every + 0.5, LEFT, WIDTH - RIGHT)
    floor = [0] * -(-count // every)
    labels: list[str] = []  # over every line
    for number, band in enumerate(new + old):
        sizes = _thinned(band.sizes, every)
        drawn, label = _band(band, sizes, number, floor, columns, y, unit)
        parts.append(drawn)
        labels.append(label)
        floor = [a + b for a, b in zip(floor, sizes, strict=True)]
    parts.append('<g pointer-events="none">')  # what lies over the bands is not in the way
    parts += _phases(timeline, x, [y(top / unit) for top in tops])
    if timeline.total:
        parts.append(_line(_thinned(timeline.total, every), columns, y, unit))
    parts += labels
    peak = timeline.kept[timeline.peak]
    if peak:
        mark = f"M{_px(x(timeline.peak + 1))} {_px(y(peak / unit))}l-5 -8h10z"
        parts.append(f'<path class="adk-cursor" d="{mark}"/>')
    if step not in (None, timeline.peak):  # that has a mark of its own
        at = _px(x(step + 1))
        parts.append(f'<path class="adk-cursor" d="M{at} {_px(TOP)}V{_px(FLOOR)}"/>')
    parts.append("</g>")
    rows = _key(timeline, has_new=bool(new), has_old=bool(old))
    for number, row in enumerate(rows):
        text = legend(row, LEFT, FLOOR + KEY + number * ROW)
        parts.append(text.replace('class="adk-bar again"', f'class="adk-bar" {AGAIN}'))
    height = FLOOR + KEY + (len(rows) - 1) * ROW + 14
    words = timeline.summary()
    return drawing(parts, WIDTH, height, title="Memory saved for backward", words=words)


def _key(timeline: Timeline, *, has_new: bool, has_old: bool) -> list[list[tuple[str, str]]]:
    """Return the rows of the key, with the peaks: beside them in the plot there are lines."""
    most, total = timeline.kept[timeline.peak], max(timeline.total, default=0)
    saved = [("bar", "saved for backward")] * has_new
    saved += [("mark", f"peak: {bytes_in_words(most)}")] * bool(most)
    more = [("bar again", "recomputed")] * any(
        band.again and not band.before for band in timeline.bands
    )
    more += [("level", "there before")] * has_old
    line = f"all arrays of the run, gradients included; peak: {bytes_in_words(total)}"
    return [row for row in (saved, more, [("parabola", line)] * bool(timeline.total)) if row]


def _thinned(sizes: list[int], every: int) -> list[int]:
    """Return the largest of each so many sizes: a screen has no room for more."""
    return [max(sizes[i : i + every]) for i in range(0, len(sizes), every)]


def _band(
    band: Band, sizes: list[int], number: int, floor: list[int], x: Scale, y: Scale, unit: float
) -> tuple[str, str]:
    """Draw what lies between the bands below and this one's own height on top of them."""
    runs: list[tuple[int, int, int, int]] = []  # first step, the one after the last, low, high
    for step, (low, size) in enumerate(zip(floor, sizes, strict=True)):
        if runs and runs[-1][1:] == (step, low, low + size):
            runs[-1] = (runs[-1][0], step + 1, low, low + size)
        elif size:
            runs.append((step, step + 1, low, low + size))
    path, label, widest = "", "", 0.0
    for piece in _connected(runs):
        there = [
            f"{_px(x(a + 0.5))} {_px(y(high / unit))}H{_px(x(b + 0.5))}" for a, b, _, high in piece
        ]
        back = [
            f"{_px(x(b + 0.5))} {_px(y(low / unit))}H{_px(x(a + 0.5))}"
            for a, b, low, _ in piece[::-1]
        ]
        path += f"M{'L'.join(there + back)}Z"
    for a, b, low, high in runs:
        width = x(b + 0.5) - x(a + 0.5)
        if y(low / unit) - y(high / unit) >= LABEL and width > max(widest, text_width(band.title)):
            widest = width
            middle = (y(low / unit) + y(high / unit)) / 2 + 4.5
            at = f'x="{_px(x(a + 0.5) + 5)}" y="{_px(middle)}"'
            label = f'<text class="adk-tick adk-note" {at}>{escape(band.title)}</text>'
    look = (
        'class="adk-level adk-box" pointer-events="all"'
        if band.before
        else 'class="adk-bar adk-box"'
    )
    look += ' fill-opacity="0.45"' * (number % 2) + f" {AGAIN}" * band.again
    told = f"{band.title}: {bytes_in_words(max(band.sizes))}. {' '.join(band.reasons)}"
    group = f'<g data-id="{band.id}" aria-label="{escape(told)}"><path {look} d="{path}"/></g>'
    return group, label


def _connected(runs: list[tuple[int, int, int, int]]) -> list[list[tuple[int, int, int, int]]]:
    """Put runs together where one begins when the other ends."""
    pieces: list[list[tuple[int, int, int, int]]] = []
    for run in runs:
        if pieces and pieces[-1][-1][1] == run[0]:
            pieces[-1].append(run)
        else:
            pieces.append([run])
    return pieces


def _phases(timeline: Timeline, x: Scale, tops: list[float]) -> list[str]:
    """Say where forward ends and backward begins; where there is no room, only by the line.

    The line ends on top of the bands, whose labels it would cross.
    """
    parts, start = [], 0
    for phase, steps in groupby(timeline.phases):
        end = start + len(list(steps))
        left, right = x(start + 0.5), x(end + 0.5)
        if start and phase != "end":
            end_of_line = min(tops[start - 1 : start + 1], default=FLOOR)
            line = f"M{_px(left)} {_px(TOP - 20)}V{_px(end_of_line)}"
            parts.append(f'<path class="adk-level" d="{line}"/>')
        if phase != "end" and right - left > text_width(phase) + 8:
            at = f'x="{_px(left + 5)}" y="{_px(TOP - 24)}"'
            parts.append(f'<text class="adk-axis" {at}>{phase}</text>')
        start = end
    return parts


def _line(sizes: list[int], x: Scale, y: Scale, unit: float) -> str:
    path, before = "", -1
    for step, size in enumerate(sizes):
        if size != before:
            at = _px(y(size / unit))
            path += f"V{at}" if path else f"M{_px(x(0.5))} {at}"
            before = size
        path += f"H{_px(x(step + 1.5))}"
    return f'<path class="adk-parabola" d="{path}"/>'


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
