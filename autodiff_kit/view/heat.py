"""Small matrices and vectors as pictures: numbers on a tint, or squares.

After reading you can say how the sign and the size of an element can be seen without colours. Read
next: ``svg.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

from autodiff_kit.record.events import Value
from autodiff_kit.view.svg_text import text_width
from autodiff_kit.view.values import number

__all__ = ["heat"]

CELLS = 64  # more are not drawn
WITH_NUMBERS = 16  # so many fit with their numbers
SQUARE = 14  # px of a cell without a number
UP, DOWN = "#c2570c", "#2f6fb3"  # orange and blue: told apart with any kind of colour blindness


def heat(value: Value) -> str | None:
    """Draw a small matrix or vector, the colour turning at 0; None for anything else.

    Up to 16 cells show their numbers on a tint. Without numbers the size of a square tells the
    magnitude, and negative ones are hollow: nothing is said by colour alone.

    Parameters
    ----------
    value : dict
        A VALUE of a recording; of 1 or 2 dimensions and at most 64 elements, or there is no map.

    Returns
    -------
    str or None
    """
    shape = value["shape"]
    count = prod(shape)
    if len(shape) not in (1, 2) or not 1 < count <= CELLS or len(value["data"]) != count:
        return None
    columns = shape[-1]
    numbers = [float(v) for v in value["data"]]
    largest = max((abs(v) for v in numbers if abs(v) < float("inf")), default=0.0) or 1.0
    if count <= WITH_NUMBERS:
        return _tinted(value, numbers, columns, largest)
    return _squares(numbers, columns, largest)


def _tinted(value: Value, numbers: Sequence[float], columns: int, largest: float) -> str:
    floats = str(value["dtype"]).startswith("float")
    texts = [number(v if floats or v != v else int(v)) for v in numbers]
    width = round(max(map(text_width, texts))) + 10
    height = 20
    parts = []
    for i, (v, text) in enumerate(zip(numbers, texts, strict=True)):
        x, y = i % columns * width, i // columns * height
        if v == v:
            tint = min(abs(v) / largest, 1.0) * 0.38
            colour = UP if v > 0 else DOWN
            cell = f"M{x} {y}h{width}v{height}h-{width}z"
            parts.append(f'<path fill="{colour}" fill-opacity="{tint:.2f}" d="{cell}"/>')
        parts.append(f'<text x="{x + width - 5}" y="{y + 14}">{text}</text>')
    rows = len(numbers) // columns
    return (
        f'<svg width="{width * columns}" height="{height * rows}" '
        f'viewBox="0 0 {width * columns} {height * rows}" font-size="12" text-anchor="end" '
        f'font-family="monospace" fill="currentColor">{"".join(parts)}</svg>'
    )


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
        at = f"{x + (SQUARE - side) // 2} {y + (SQUARE - side) // 2}"
        if v > 0:
            full.append(f"M{at}h{side}v{side}h-{side}z")
        elif side:
            inner = side - 2
            hollow.append(
                f"M{at}h{side}v{side}h-{side}z"
                + (f"m1 1v{inner}h{inner}v-{inner}z" if inner > 0 else "")
            )
    rows = len(numbers) // columns
    width, height = columns * SQUARE, rows * SQUARE
    frame = f'<path fill="currentColor" fill-opacity=".07" d="M0 0h{width}v{height}h-{width}z"/>'
    marks = (
        f'<path fill="{UP}" d="{"".join(full)}"/>' * bool(full)
        + f'<path fill="{DOWN}" d="{"".join(hollow)}"/>' * bool(hollow)
        + f'<path fill="none" stroke="currentColor" d="{"".join(crosses)}"/>' * bool(crosses)
    )
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f"<svg {size}>{frame}{marks}</svg>"
