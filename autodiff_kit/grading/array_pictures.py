"""Draw the arrays of a small example: what a rule got, and the first number that is not right.

After reading this file you can give the check of a backward rule a picture of its contributions.
Read next: ``feedback.py``, which shows it.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.grading.checks import as_array, same, show
from autodiff_kit.grading.pictures import Drawing, beside

__all__ = ["first_difference", "grids"]

_MOST = 24  # numbers of an array that is drawn
_GAP, _LINE, _LETTER, _MARGIN = 6, 30, 8, 12
_Place = tuple[int, ...]
Named = tuple[str, Any, _Place | None]  # what an array is, the array, and where it is wrong


def first_difference(*names: str, given: str = "g") -> Callable[[Any, Any, Any], str]:
    """Return a picture for a check whose answers are contributions (``Check.picture``).

    Parameters
    ----------
    *names : str
        The inputs that contributions go to, in the order of the answer.
    given : str
        The name, in the example, of the gradient that the rule gets; it is drawn first.

    Returns
    -------
    callable (data, value, expected) -> str

    Raises
    ------
    ValueError
        By the callable: for an answer that is no array for each name, or too large to be drawn.
    """

    def draw(data: Any, value: Any, expected: Any) -> str:
        yours, right = (_each(answer, names) for answer in (value, expected))
        rows: list[Named] = [(given, np.asarray(data[given]), None)]
        others: list[Named] = [*rows]
        words = ""
        for name, mine, best in zip(names, yours, right, strict=True):
            what = f"contribution to {name}"
            place = None if words else _first_wrong(mine, best)
            if place is not None and mine.shape != best.shape:
                words = f"Your {what} has the shape {mine.shape}, right is a shape of {best.shape}"
                what += f" \N{MULTIPLICATION X} its shape is {mine.shape}"
            elif place is not None:
                at = f" at {[*place]}" if place else ""
                numbers = f"{show(mine[place])}, right is {show(best[place])}"
                words = f"Your {what}: the first number that is not right{at} is {numbers}"
            rows.append((what, mine, place))
            others.append((f"contribution to {name}", best, None))
        return beside(grids(rows), grids(others), words)

    return draw


def grids(rows: list[Named]) -> Drawing:
    """Draw arrays below each other, each with a line that says what it is.

    Parameters
    ----------
    rows : list of (str, array, place)
        Of an array, the number at `place` is marked; all of it, if the place is ``()``.

    Returns
    -------
    Drawing
    """
    parts: list[str] = []
    width, top = 0, 0
    for what, array, place in rows:
        label = html.escape(what)
        parts.append(f'<text x="{_MARGIN}" y="{top + 16}" class="adk-label">{label}</text>')
        width = max(width, 2 * _MARGIN + _LETTER * len(what))
        top += 24
        texts = {index: show(number) for index, number in np.ndenumerate(array)}
        wide = max(44, *(12 + _LETTER * len(text) for text in texts.values())) if texts else 44
        for index, text in texts.items():
            # Matrices of a batch stand beside each other, and the numbers of a vector in a row.
            batch, row, column = (0, 0, 0, *index)[-3:]
            columns = batch * (array.shape[-1] + 0.5) + column if index else 0
            left, y = _MARGIN + columns * (wide + _GAP), top + row * (_LINE + _GAP)
            is_wrong = place is not None and index[: len(place)] == place
            kind = "adk-wrong" if is_wrong else "adk-cell"
            parts.append(
                f'<rect x="{left:.0f}" y="{y}" width="{wide}" height="{_LINE}" rx="5" '
                f'class="{kind}"/><text x="{left + wide / 2:.0f}" y="{y + 20}" class="adk-grad">'
                f"{html.escape(text)}</text>"
            )
            width = max(width, round(left + wide) + _MARGIN)
        lines = array.shape[-2] if array.ndim > 1 else 1
        top += lines * (_LINE + _GAP) + 8
    return "".join(parts), width, top


def _each(answer: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the contributions of an answer as arrays."""
    parts = [answer] if len(names) == 1 else [*answer]
    arrays = [as_array(part) if isinstance(part, list | tuple) else part for part in parts]
    arrays = [np.asarray(part) for part in arrays]
    if any(a.dtype.kind not in "iuf" or a.ndim > 3 or a.size > _MOST for a in arrays):
        raise ValueError("These are no arrays that can be drawn.")
    return arrays


def _first_wrong(mine: Any, best: Any) -> _Place | None:
    """Return the index of the first number that is wrong; ``()`` for a whole array."""
    if mine.shape != best.shape:
        return ()
    pairs = zip(np.ndenumerate(mine), best.flat, strict=True)
    return next((index for (index, number), right in pairs if not same(number, right)), None)
