"""Draw the arrows so that none goes through a foreign box.

After reading you can say how places in rows become a drawing: rows get a height, boxes their
corners, arrows their lines and heads. Read next: ``svg.py``, which writes it down.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autodiff_kit.view.enclosures import Rect
from autodiff_kit.view.place import settle
from autodiff_kit.view.rank import Edge, Web

__all__ = ["DENSE_GAPS", "GAPS", "Gaps", "Layout", "Point", "Size", "route"]

Point = tuple[float, float]
Size = tuple[float, float]
Gaps = tuple[float, float, float]

# Distances in pixels.
SLANT = 0.1  # this part of the longest sideways run between two rows is added between them
GAPS = 32.0, 11.0, 60.0  # between two rows; above and below one of labels; most for the slant
DENSE_GAPS = 24.0, 10.0, 10.0
PORT_INSET = 14.0  # arrow heads keep off the corners of a box
PORT_GAP = 28.0  # between two arrow heads on one box, if it is wide enough


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands, in pixels; y grows downwards.

    ``positions`` are the top left corners of the boxes. ``routes`` has one polyline per edge,
    from the bottom of its source to the top of its target. ``labels`` are the middles of the room
    that is kept free on edges; ``frames`` stand around groups of boxes, None where a stranger is in
    the way. ``stop`` is the corner of the box for an error, ``stop_lines`` lead to it.
    """

    positions: list[Point]
    routes: list[list[Point]]
    width: float
    height: float
    labels: Sequence[Point | None] = ()
    frames: Sequence[Rect | None] = ()
    stop: Point | None = None
    stop_lines: Sequence[Sequence[Point]] = ()


def route(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    web: Web,
    rows: list[list[int]],
    x: list[float],
    labels: Collection[int] = (),
    room: tuple[Mapping[int, float], Mapping[int, float]] = ({}, {}),
    gaps: Gaps = GAPS,
) -> Layout:
    """Set the rows below each other and draw each edge along its waypoints.

    ``labels`` are nodes that stand on an edge: it runs through their middle. A line runs straight
    down through a row and sideways only between rows, where no boxes are. ``room`` is what is kept
    free above and below rows, for frames.
    """
    left = min([*x, *(x[v] - w / 2 for v, (w, _) in enumerate(nodes))])
    x = [place - left for place in x]
    width = max([*x, *(x[v] + w / 2 for v, (w, _) in enumerate(nodes))])
    tops, bottoms = _bands(nodes, web, rows, x, labels, room, gaps)
    positions = []
    leaving: list[list[int]] = [[] for _ in nodes]
    arriving: list[list[int]] = [[] for _ in nodes]
    for v, (w, h) in enumerate(nodes):
        r = web.row[v]
        positions.append((x[v] - w / 2, tops[r] + (bottoms[r] - tops[r] - h) / 2))
    for e, (source, target) in enumerate(edges):
        leaving[source].append(e)
        arriving[target].append(e)
    heads = [0.0] * len(edges)
    for target, numbers in enumerate(arriving):
        lines = sorted(zip([x[u] for u in web.above[target]], numbers, strict=True))
        width_of_heads = 0.0 if target in labels else nodes[target][0]
        places = _heads(x[target], width_of_heads, [at for at, _ in lines])
        for (_, e), place in zip(lines, places, strict=True):
            heads[e] = place
    routes: list[list[Point]] = [[] for _ in edges]
    for source, numbers in enumerate(leaving):
        trunk = [(x[source], positions[source][1] + nodes[source][1])]
        _extend(trunk, (x[source], bottoms[web.row[source]]))
        passed = 1
        for e in sorted(numbers, key=lambda e: web.row[edges[e][1]]):
            target = edges[e][1]
            row = web.row[target]
            for item in web.rail[source][passed : row - web.row[source]]:
                r = web.row[item]
                _extend(trunk, (x[item], tops[r]), (x[item], bottoms[r]))
            passed = row - web.row[source]
            routes[e] = trunk.copy()
            _extend(routes[e], (heads[e], tops[row]), (heads[e], positions[target][1]))
    return Layout(positions, routes, width, bottoms[-1])


def _bands(
    nodes: Sequence[Size],
    web: Web,
    rows: list[list[int]],
    x: list[float],
    labels: Collection[int],
    room: tuple[Mapping[int, float], Mapping[int, float]],
    gaps: Gaps,
) -> tuple[list[float], list[float]]:
    """Return the top and the bottom of each row; long sideways lines get more room below."""
    tops, bottoms = [], []
    top = 0.0
    of_labels = [any(v in labels for v in row) for row in rows] + [False]
    for r, row in enumerate(rows):
        top += room[0].get(r, 0.0)
        tops.append(top)
        bottoms.append(top + max([nodes[v][1] for v in row if v < len(nodes)], default=0.0))
        run = max([abs(x[v] - x[t]) for v in row for t in web.below[v]], default=0.0)
        gap = gaps[of_labels[r] or of_labels[r + 1]]
        top = bottoms[-1] + gap + round(min(SLANT * run, gaps[2])) + room[1].get(r, 0.0)
    return tops, bottoms


def _heads(middle: float, width: float, lines: list[float]) -> list[float]:
    """Spread arrow heads over the top of a box, each below its line if there is room.

    They stand in the order in which the lines come from above, so that these do not cross.
    """
    last = len(lines) - 1
    room = max(0.0, width - 2 * PORT_INSET)
    steps = max(last, min(2, len(set(lines))))  # 2: a line in the middle can stay there
    gap = min(PORT_GAP, room / max(1, steps))
    low, high = middle - room / 2, middle + room / 2 - gap * last
    wishes = [(min(max(at, low + i * gap), high + i * gap), 1.0) for i, at in enumerate(lines)]
    return settle(wishes, [gap] * last)


def _extend(line: list[Point], *points: Point) -> None:
    """Add points to a line, without those that repeat or lie between others on a vertical."""
    for point in points:
        if point == line[-1]:
            continue
        if len(line) > 1 and line[-2][0] == line[-1][0] == point[0]:
            line.pop()
        line.append(point)
