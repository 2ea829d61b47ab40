"""Draw the graph of a small example, the learner's beside the right one.

After reading this file you can give a check a picture: two graphs with a word under each node,
and a broken, thick frame around the first node where they differ. It is SVG text in the Stepper's
colours, light or dark as the page is. Read next: ``array_pictures.py``, which draws arrays.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence

from autodiff_kit.view.looks import scoped

__all__ = ["Drawing", "beside", "edge_graph", "graph", "without_right"]

Drawing = tuple[str, int, int]  # SVG elements, their width and their height

_RIGHT = '<div class="adk-right">', "</div>"  # around what is right
WIDE, HIGH, GAP_X, GAP_Y, MARGIN = 108, 46, 28, 34, 44
_RULES = """
text { fill: @ink; font: 13px @sans; text-anchor: middle }
.adk-heading { fill: @quiet }
.adk-label { fill: @quiet; text-anchor: start }
.adk-value { font: 13px @mono }
.adk-grad { fill: @backward; font: 13px @mono }
.adk-edge { fill: none; stroke: @edge-line; stroke-width: 1.5px }
.adk-head { fill: @edge-line }
rect { fill: @op-fill; stroke: @op-line; stroke-width: 1.5px }
.adk-leaf { fill: @leaf-fill; stroke: @leaf-line }
.adk-cell { fill: @backward-soft; stroke: @backward-line; stroke-width: 1px }
.adk-wrong { fill: @bad-soft; stroke: @bad-line; stroke-width: 3px; stroke-dasharray: 6 3 }
.adk-wrong-sign { fill: @bad; font-weight: 700 }
"""


def graph(
    labels: Sequence[str],
    inputs: Sequence[Sequence[int]],
    notes: Sequence[str] = (),
    marked: int = -1,
) -> Drawing:
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
) -> Drawing:
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
                f'<path d="M{x1 + side:.0f} {start} C{curve} {x2 + side:.0f} {end}" '
                'class="adk-edge" marker-end="url(#adk-arrow)"/>'
            )
    for number, (middle, top) in enumerate(places):
        is_leaf, is_marked = not rows[number], number == marked
        kind = "adk-wrong" if is_marked else "adk-leaf" if is_leaf else "adk-op"
        parts.append(
            f'<rect x="{middle - WIDE / 2:.0f}" y="{top}" width="{WIDE}" height="{HIGH}" '
            f'rx="{HIGH // 2 if is_leaf else 6}" class="{kind}"/>'
        )
        if is_marked:
            right = f'x="{middle + WIDE / 2 + 12:.0f}" y="{top + HIGH // 2 + 5}"'
            parts.append(f'<text {right} class="adk-wrong-sign">\N{MULTIPLICATION X}</text>')
        note = notes[number] if notes else ""
        lines = [
            (labels[number], top + (19 if note else 28), "adk-value"),
            (note, top + 37, "adk-grad"),
        ]
        parts += [
            f'<text x="{middle:.0f}" y="{line}" class="{looks}">{html.escape(text)}</text>'
            for text, line, looks in lines
            if text
        ]
    return "".join(parts), width, height


def beside(yours: Drawing, right: Drawing, words: str) -> str:
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
    style, scope = scoped(_RULES, "adk-f")
    return (
        f'<div role="img" aria-label="{html.escape(words)}" style="display:flex;flex-wrap:wrap">'
        f"<style>{style}</style>{_drawing(*yours, 'yours', scope)}"
        f"{_RIGHT[0]}{_drawing(*right, 'right', scope)}{_RIGHT[1]}</div>"
    )


def without_right(picture: str) -> str:
    """Return a picture that :func:`beside` made with the learner's graph alone."""
    begin, end = map(re.escape, _RIGHT)
    alone = re.sub(f"{begin}.*?{end}", "", picture, flags=re.DOTALL)
    return re.sub('(?:, right is| beside the right) [^"]*(?=")', "", alone, count=1)


def _drawing(parts: str, width: int, height: int, heading: str, scope: str) -> str:
    size = f'width="{width}" height="{height + 22}" viewBox="0 0 {width} {height + 22}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" aria-hidden="true" {size} '
        'style="max-width:100%;height:auto">'
        '<defs><marker id="adk-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" class="adk-head"/></marker>'
        "</defs>"
        f'<text x="{width / 2:.0f}" y="14" class="adk-heading">{heading}</text>'
        f'<g transform="translate(0 22)">{parts}</g></svg>'
    )


def _rows(inputs: Sequence[Sequence[int]]) -> list[int]:
    rows: list[int] = []
    for used in inputs:
        rows.append(1 + max((rows[i] for i in used), default=-1))
    return rows
