"""Small matrices and vectors as pictures: numbers on a tint, or squares; and how rows add up.

After reading you can say how the sign and the size of an element can be seen without colours. A
colour says when a number was computed, as everywhere: the picture has that of the text around it.
Read next: ``svg.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import isfinite, isnan, prod, sqrt
from typing import NamedTuple

from autodiff_kit.record.events import Value
from autodiff_kit.view.svg_text import pixels, text_width
from autodiff_kit.view.values import short, three_digits

__all__ = ["IN_A_LINE", "at", "cells", "map_size", "sum_map", "sum_words"]

CELLS = 64  # more are not drawn
SIDE = 12  # cells beside each other in a box
IN_A_BOX = 9  # cells with numbers in a box
IN_A_SUM = 12  # and on an arrow, where they add up
IN_A_LINE = 20  # characters of a vector that is written out instead
SQUARE = 14  # px of a cell without a number
ROW, INSET = 20, 5  # px: height of a cell with a number, beside the number
FONT = 13  # px
GAP = 8  # px


def cells(value: Value) -> str | None:
    """Draw a value for its box, with the least and the largest element where none are written.

    A vector that fits on a line, and what would be too wide, has no picture.
    """
    shape = value["shape"]
    if not _is_small(value) or max(shape) > SIDE:
        return None
    if len(shape) == 1 and short(value, IN_A_LINE):
        return None
    return _in_box(tuple(shape), value["dtype"], tuple(value["data"]), str(value["data"]))


@lru_cache(maxsize=512)  # the key tells -0.0 from 0.0
def _in_box(shape: tuple[int, ...], dtype: str, data: tuple[float, ...], key: str) -> str:
    numbers = [float(v) for v in data]
    texts = [three_digits(v, dtype) for v in numbers] if len(numbers) <= IN_A_BOX else []
    grid = _cells(numbers, shape[-1], texts)
    if texts:
        return grid.svg
    low, high = (three_digits(v, dtype) for v in _range(numbers))
    lines = [f"max {high}", f"min {low}"] if len(shape) > 1 else [f"{low} to {high}"]
    left, top = grid.width + GAP, max(0.0, (grid.height - ROW * len(lines)) / 2)
    words = "".join(
        f'<text x="{pixels(left)}" y="{pixels(top + 15 + ROW * i)}">{line}</text>'
        for i, line in enumerate(lines)
    )
    width = left + max(text_width(line, size=FONT) for line in lines)
    height = max(grid.height, float(ROW * len(lines)))
    return _svg(width, height, grid.marks + words)


def sum_words(before: Sequence[int], after: Sequence[int]) -> str:
    """Return what adds up where broadcasting is undone: "4 rows", "3 columns", "12 elements".

    Parameters
    ----------
    before, after : shape
        Of the gradient as a rule gives it, and of the input.

    Examples
    --------
    >>> sum_words((4, 3), (3,)), sum_words((4, 3), (4, 1)), sum_words((2, 4, 3), (3,))
    ('4 rows', '3 columns', '8 parts')
    """
    copies = prod(before) // max(1, prod(after))
    if prod(after) == 1:
        what = "element"
    elif len(before) != 2:
        what = "part"
    else:
        what = "column" if len(after) == 2 and after[1] == 1 else "row"
    return f"{copies:,} {what}{'s' * (copies != 1)}"


def sum_map(before: Value, after: Value, *, is_done: bool) -> str | None:
    """Draw how the gradients of copies add up, from below: the copies, then their sum.

    Parameters
    ----------
    before : Value
        What a rule gives, of 1 or 2 dimensions and at most 64 elements, or there is no picture.
    after : Value
        The sum over the dimensions that broadcasting has copied.
    is_done : bool
        Without it the cells of the sum are dashed: they are still to come.
    """
    if not _is_small(before) or max(before["shape"]) > SIDE or not after["data"]:
        return None
    parts, sums = _numbers(before), _numbers(after)
    is_column = len(sums) > 1 and after["shape"][1:] == [1]
    both, columns = [*parts, *sums], before["shape"][-1]
    texts = []
    if len(parts) <= IN_A_SUM:
        texts = [three_digits(v, str(before["dtype"])) for v in both]
    count, width = len(parts), _cell_width(texts)
    scale = _largest(both)
    low = _cells(parts, columns, texts[:count], scale, width)
    across = 1 if is_column or len(sums) == 1 else columns
    high = _cells(sums, across, texts[count:], scale, width)
    if not is_done:
        high = high._replace(marks=_empty(high))
    words = f"sum of {sum_words(before['shape'], after['shape'])}"
    room = text_width(words, size=FONT)
    if is_column:  # the sums stand beside their rows
        arrow = text_width("→", size=FONT) + GAP
        all_of_it = max(low.width + arrow + high.width, room)
        left = (all_of_it - low.width - arrow - high.width) / 2
        place = left + low.width + arrow / 2
        marks = (
            _text(all_of_it / 2, 14, words)
            + at(left, ROW, low.marks)
            + _text(place, ROW + low.height / 2 + 5, "→")
            + at(left + low.width + arrow, ROW, high.marks)
        )
        return _svg(all_of_it, ROW + low.height, marks)
    words = f"↑ {words}"
    all_of_it = max(low.width, high.width, text_width(words, size=FONT))
    marks = (
        at((all_of_it - high.width) / 2, 0, high.marks)
        + _text(all_of_it / 2, high.height + 15, words)
        + at((all_of_it - low.width) / 2, high.height + ROW + 2, low.marks)
    )
    return _svg(all_of_it, high.height + ROW + 2 + low.height, marks)


def map_size(svg: str) -> tuple[float, float]:
    """Return width and height of a picture that was drawn here.

    Examples
    --------
    >>> map_size('<svg width="42" height="56" viewBox="0 0 42 56"></svg>')
    (42.0, 56.0)
    """
    sizes = re.match(r'<svg width="([\d.]+)" height="([\d.]+)"', svg)
    return (float(sizes[1]), float(sizes[2])) if sizes else (0.0, 0.0)


def at(x: float, y: float, marks: str) -> str:
    """Return marks moved to a place."""
    return f'<g transform="translate({pixels(x)},{pixels(y)})">{marks}</g>'


# -- cells --------------------------------------------------------------------------------------


class _Cells(NamedTuple):
    """A drawn map; its marks without the svg around them."""

    width: float
    height: float
    marks: str

    @property
    def svg(self) -> str:
        return _svg(self.width, self.height, self.marks)


def _svg(width: float, height: float, marks: str) -> str:
    w, h = pixels(width), pixels(height)
    return (
        f'<svg width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-size="{FONT}" '
        f'font-family="monospace" fill="currentColor">{marks}</svg>'
    )


def _is_small(value: Value) -> bool:
    shape = value["shape"]
    count = prod(shape)
    return len(shape) in (1, 2) and 1 < count <= CELLS and len(value["data"]) == count


def _numbers(value: Value) -> list[float]:
    return [float(v) for v in value["data"]]


def _range(numbers: Sequence[float]) -> tuple[float, float]:
    ordered = [v for v in numbers if not isnan(v)] or [float("nan")]
    return min(ordered), max(ordered)


def _largest(numbers: Sequence[float]) -> float:
    return max((abs(v) for v in numbers if isfinite(v)), default=0.0) or 1.0


def _cell_width(texts: Sequence[str]) -> float:
    width = max((text_width(text, size=FONT) for text in texts), default=0.0)
    return float(round(width)) + 2 * INSET if texts else float(SQUARE)


def _cells(
    numbers: Sequence[float],
    columns: int,
    texts: Sequence[str],
    largest: float = 0.0,
    width: float = 0.0,
) -> _Cells:
    """Draw a map; ``largest`` and ``width`` of a cell are those of another one beside it."""
    largest = largest or _largest(numbers)
    width = width or _cell_width(texts)
    height = float(ROW if texts else SQUARE)
    if texts:
        marks = _tinted(numbers, columns, texts, largest, width)
    else:
        marks = _squares(numbers, columns, largest)
    return _Cells(columns * width, len(numbers) // columns * height, marks)


def _tinted(
    numbers: Sequence[float], columns: int, texts: Sequence[str], largest: float, width: float
) -> str:
    """Write numbers on a tint where they are positive, and into a frame where they are not."""
    parts = []
    for i, (v, text) in enumerate(zip(numbers, texts, strict=True)):
        x, y = i % columns * width, i // columns * ROW
        part = min(abs(v) / largest, 1.0)
        if v > 0:
            cell = f"M{pixels(x)} {y}h{pixels(width)}v{ROW}h-{pixels(width)}z"
            parts.append(f'<path fill-opacity="{0.06 + part * 0.3:.2f}" d="{cell}"/>')
        elif v < 0:
            cell = f"M{pixels(x + 1)} {y + 1}h{pixels(width - 2)}v{ROW - 2}h-{pixels(width - 2)}z"
            parts.append(
                f'<path fill="none" stroke="currentColor" stroke-opacity="{0.2 + part * 0.6:.2f}" '
                f'd="{cell}"/>'
            )
        parts.append(
            f'<text x="{pixels(x + width - INSET)}" y="{y + 15}" text-anchor="end">{text}</text>'
        )
    return "".join(parts)


def _squares(numbers: Sequence[float], columns: int, largest: float) -> str:
    """Draw squares whose area is the magnitude: full above 0, hollow below, a cross for nan."""
    full, hollow, crosses = [], [], []
    for i, v in enumerate(numbers):
        x, y = i % columns * SQUARE, i // columns * SQUARE
        if v != v:
            crosses.append(f"M{x + 4} {y + 4}l6 6m0-6l-6 6")
            continue
        side = round(sqrt(min(abs(v) / largest, 1.0)) * (SQUARE - 2) / 2) * 2
        if v and not side:
            side = 2
        corner = f"{x + (SQUARE - side) // 2} {y + (SQUARE - side) // 2}"
        if v > 0:
            full.append(f"M{corner}h{side}v{side}h-{side}z")
        elif side:
            inner = side - 3
            hollow.append(
                f"M{corner}h{side}v{side}h-{side}z"
                + (f"m1.5 1.5v{inner}h{inner}v-{inner}z" if inner > 0 else "")
            )
    rows = len(numbers) // columns
    width, height = columns * SQUARE, rows * SQUARE
    return (
        f'<path fill-opacity=".08" d="M0 0h{width}v{height}h-{width}z"/>'
        + f'<path d="{"".join(full)}"/>' * bool(full)
        + f'<path d="{"".join(hollow)}"/>' * bool(hollow)
        + f'<path fill="none" stroke="currentColor" d="{"".join(crosses)}"/>' * bool(crosses)
    )


def _empty(cells: _Cells) -> str:
    """Return the dashed frame of cells that are still to come."""
    return (
        f'<rect x="1" y="1" width="{pixels(cells.width - 2)}" height="{pixels(cells.height - 2)}" '
        'fill="none" stroke="currentColor" stroke-dasharray="4 3"/>'
    )


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{pixels(x)}" y="{pixels(y)}" text-anchor="middle">{words}</text>'
