"""Draw the graph of a small example, the learner's beside the right one.

After reading this file you can give a check a picture: two graphs with a word under each node,
and a broken, thick frame around the first node where they differ. Plain SVG text in the colour of
the page it stands on. Read next: ``feedback.py``, which shows it.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["beside", "edge_graph", "graph", "without_right"]

_RIGHT = '<div class="adk-right">', "</div>"  # around what is right
WIDE, HIGH, GAP_X, GAP_Y, MARGIN = 92, 40, 28, 34, 44


def graph(
    labels: Sequence[str],
    inputs: Sequence[Sequence[int]],
    notes: Sequence[str] = (),
    marked: int = -1,
) -> tuple[str, int, int]:
    """Draw one graph: leaves on top, each node below its inputs.

    Parameters
    ----------
    labels : sequence of str
        What stands in each node.
    inputs : sequence of sequences of int
        Numbers of the older nodes that each one uses; twice for two uses.
    notes : sequence of str
        A second line for each node.
    marked : int
        Number of the node to mark, or -1.

    Returns
    -------
    str, int, int - SVG elements, their width and their height.
    """
    edges = Counter((x, user) for user, used in enumerate(inputs) for x in used)
    return edge_graph(labels, edges, _rows(inputs), notes, marked)


def edge_graph(
    labels: Sequence[str],
    edges: Counter[tuple[int, int]],
    rows: Sequence[int],
    notes: Sequence[str] = (),
    marked: int = -1,
) -> tuple[str, int, int]:
    """Draw nodes in given rows with any edges between them; parameters as in :func:`graph`."""
    columns = Counter(rows)
    widest = max(columns.values(), default=1)
    width = widest * (WIDE + GAP_X) - GAP_X + 2 * MARGIN
    height = (max(rows, default=0) + 1) * (HIGH + GAP_Y) - GAP_Y + 16
    counts = Counter[int]()
    places = []
    for row in rows:
        free = width - columns[row] * WIDE - (columns[row] - 1) * GAP_X
        places.append(
            (free / 2 + counts[row] * (WIDE + GAP_X) + WIDE / 2, 8 + row * (HIGH + GAP_Y))
        )
        counts[row] += 1
    parts = []
    for (x, user), number in sorted(edges.items()):
        (x1, y1), (x2, y2) = places[x], places[user]
        down = rows[user] > rows[x]
        start, end = (y1 + HIGH, y2) if down else (y1, y2 + HIGH)
        for i in range(number):
            # A line past other rows goes around their boxes; two uses are two lines.
            past = abs(rows[user] - rows[x]) > 1
            side = 30 * past
            bend = 95 * past + 30 * i - 15 * (number - 1)
            ahead = 10 if down else -10
            curve = f"{x1 + bend:.0f} {start + ahead} {x2 + bend:.0f} {end - ahead}"
            parts.append(
                f'<path d="M{x1 + side:.0f} {start} C{curve} {x2 + side:.0f} {end}" fill="none" '
                'stroke="currentColor" marker-end="url(#adk-arrow)"/>'
            )
    for number, (middle, top) in enumerate(places):
        frame = ' stroke-width="3" stroke-dasharray="6 3"' if number == marked else ""
        note = notes[number] if notes else ""
        parts.append(
            f'<rect x="{middle - WIDE / 2:.0f}" y="{top}" width="{WIDE}" height="{HIGH}" rx="6" '
            f'fill="none" stroke="currentColor"{frame}/>'
        )
        lines = [(labels[number], top + (17 if note else 25)), (note, top + 33)]
        parts += [
            f'<text x="{middle:.0f}" y="{line}" text-anchor="middle">{html.escape(text)}</text>'
            for text, line in lines
            if text
        ]
    return "".join(parts), width, height


def beside(yours: tuple[str, int, int], right: tuple[str, int, int], words: str) -> str:
    """Put two graphs side by side, or below each other where there is no room.

    Parameters
    ----------
    yours, right : as :func:`graph` returns them
    words : str
        What the picture shows, for those who cannot see it.

    Returns
    -------
    str - HTML: a picture of two SVG drawings.
    """
    return (
        f'<div role="img" aria-label="{html.escape(words)}" style="display:flex;flex-wrap:wrap">'
        f"{_drawing(*yours, 'yours')}{_RIGHT[0]}{_drawing(*right, 'right')}{_RIGHT[1]}</div>"
    )


def without_right(picture: str) -> str:
    """Return a picture that :func:`beside` made with the learner's graph alone."""
    begin, end = map(re.escape, _RIGHT)
    alone = re.sub(f"{begin}.*?{end}", "", picture, flags=re.DOTALL)
    return re.sub('(?:, right is| beside the right) [^"]*(?=")', "", alone, count=1)


def _drawing(parts: str, width: int, height: int, heading: str) -> str:
    size = f'width="{width}" height="{height + 22}" viewBox="0 0 {width} {height + 22}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" {size} '
        'style="max-width:100%" font-family="sans-serif" font-size="12" fill="currentColor">'
        '<defs><marker id="adk-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker>'
        "</defs>"
        f'<text x="{width / 2:.0f}" y="14" text-anchor="middle">{heading}</text>'
        f'<g transform="translate(0 22)">{parts}</g></svg>'
    )


def _rows(inputs: Sequence[Sequence[int]]) -> list[int]:
    rows: list[int] = []
    for used in inputs:
        rows.append(1 + max((rows[i] for i in used), default=-1))
    return rows
