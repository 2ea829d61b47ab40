"""Place the boxes and arrows of a computation graph so that it can be read at a glance.

After reading you can say in which file a question about the picture is answered. It is layered:
every arrow points down, from what was computed first to what was computed from it. Parts that no
arrow connects are drawn one by one (``parts.py``). For each, four questions are answered, a file
for each:

- ``rank.py``:  in which row does a box stand?
- ``order.py``: who is left of whom, so that few arrows cross?
- ``place.py``: at which x exactly, so that lines are straight?
- ``route.py``: where do the arrows run, so that none goes through a foreign box?

The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of
Hierarchical System Structures" (1981), with choices of Gansner, Koutsofios, North and Vo,
"A Technique for Drawing Directed Graphs" (1993). Nothing reads a clock and lots have one seed:
the same graph is always drawn the same way. Read next: ``rank.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise, product

from autodiff_kit.view.order import order
from autodiff_kit.view.parts import connected, shelve
from autodiff_kit.view.place import place
from autodiff_kit.view.rank import Edge, rank
from autodiff_kit.view.route import Layout, Point, Size, route

__all__ = ["Layout", "Point", "Size", "crossings", "layout"]


def layout(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    labels: Sequence[Size | None] = (),
    rounds: Sequence[Sequence[Sequence[int]]] = (),
) -> Layout:
    """Lay a graph out in rows, top to bottom.

    Parameters
    ----------
    nodes : sequence of (width, height), in pixels
    edges : sequence of (source, target), node numbers with source < target
        Edges of one target come in the order of its arguments. The same pair may occur twice
        (``x * x``).
    labels : sequence of (width, height) or None
        For each edge, the room to keep free on it; empty for none at all.
    rounds : sequence of sequences of node numbers in groups
        Groups of nodes, each of which stands wholly below the one before it.

    Returns
    -------
    Layout

    Raises
    ------
    ValueError
        If an edge does not lead from an earlier node to a later one.

    Examples
    --------
    >>> layout([(60, 40), (60, 40)], [(0, 1)]).positions
    [(12.0, 12.0), (12.0, 84.0)]
    """
    for source, target in edges:
        if not 0 <= source < target < len(nodes):
            raise ValueError(
                f"edge {(source, target)} does not lead from an earlier node to a later one "
                f"of {len(nodes)} nodes. Number the nodes in the order of their creation."
            )
    return _with_labels(nodes, edges, labels or [None] * len(edges), rounds)


def _layout(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    on_edges: Collection[int],
    below: Sequence[Edge],
) -> Layout:
    """Lay out a graph, some of whose nodes are labels that an edge runs through."""
    parts = connected(len(nodes), (*edges, *below))
    part_of = {v: number for number, part in enumerate(parts) for v in part}
    place_of = {v: k for part in parts for k, v in enumerate(part)}
    edges_of: list[list[int]] = [[] for _ in parts]
    for e, (source, _) in enumerate(edges):
        edges_of[part_of[source]].append(e)
    below_of: list[list[Edge]] = [[] for _ in parts]
    for upper, lower in below:
        below_of[part_of[upper]].append((place_of[upper], place_of[lower]))
    drawings = [
        _draw(
            [nodes[v] for v in part],
            [(place_of[edges[e][0]], place_of[edges[e][1]]) for e in own],
            {place_of[v] for v in part if v in on_edges},
            order_of_time,
        )
        for part, own, order_of_time in zip(parts, edges_of, below_of, strict=True)
    ]
    corners, width, height = shelve([(d.width, d.height) for d in drawings])
    positions: list[Point] = [(0.0, 0.0)] * len(nodes)
    routes: list[list[Point]] = [[] for _ in edges]
    for part, own, drawing, (left, top) in zip(parts, edges_of, drawings, corners, strict=True):
        for v, (x, y) in zip(part, drawing.positions, strict=True):
            positions[v] = (x + left, y + top)
        for e, line in zip(own, drawing.routes, strict=True):
            routes[e] = [(x + left, y + top) for x, y in line]
    return Layout(positions, routes, width, height)


def _with_labels(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    labels: Sequence[Size | None],
    rounds: Sequence[Sequence[Sequence[int]]],
) -> Layout:
    """Lay out a graph in which a label is a box that its edge runs through."""
    into: list[list[int]] = [[] for _ in nodes]
    for e, (source, target) in enumerate(edges):
        # Between two rounds a label stands above all that is in the second one.
        firsts = (min(own) for loop in rounds for own in loop if target in own)
        into[min([target, *(v for v in firsts if v > source)])].append(e)
    items: list[Size] = []
    node_at: list[int] = []
    label_at: dict[int, int] = {}
    for v, size in enumerate(nodes):
        for e in into[v]:
            if (label := labels[e]) is not None:
                label_at[e] = len(items)
                items.append(label)
        node_at.append(len(items))
        items.append(size)
    pieces: list[Edge] = []
    pieces_of: list[list[int]] = []
    for e, (source, target) in enumerate(edges):
        ends = [node_at[source], *([label_at[e]] if e in label_at else []), node_at[target]]
        pieces_of.append(list(range(len(pieces), len(pieces) + len(ends) - 1)))
        pieces += pairwise(ends)
    below = _in_time(rounds, edges, node_at, label_at)
    drawing = _layout(items, pieces, set(label_at.values()), below)
    routes = [[point for p in own for point in drawing.routes[p]] for own in pieces_of]
    middles: list[Point | None] = [None] * len(edges)
    for e, item in label_at.items():
        (x, y), (width, height) = drawing.positions[item], items[item]
        middles[e] = (x + width / 2, y + height / 2)
    positions = [drawing.positions[item] for item in node_at]
    return Layout(positions, routes, drawing.width, drawing.height, middles)


def _in_time(
    rounds: Sequence[Sequence[Sequence[int]]],
    edges: Sequence[Edge],
    node_at: Sequence[int],
    label_at: Mapping[int, int],
) -> list[Edge]:
    """Return which items stand below which, so that each round is below the one before it.

    Labels between two rounds are below the first and above the second.
    """
    below: dict[Edge, None] = {}
    for loop in rounds:
        groups = [set(own) for own in loop]
        for upper, lower in pairwise(groups):
            ends = upper - {a for a, b in edges if a in upper and b in upper}
            starts = lower - {b for a, b in edges if a in lower and b in lower}
            uppers, lowers = [node_at[v] for v in ends], [node_at[v] for v in starts]
            between = [
                label_at[e]
                for e, (a, b) in enumerate(edges)
                if e in label_at and a in upper and b in lower
            ]
            for pair in (*product(uppers, between or lowers), *product(between, lowers)):
                below[pair] = None
    return sorted((a, b) for a, b in below if a < b)


def _draw(
    nodes: Sequence[Size], edges: Sequence[Edge], labels: set[int], below: Sequence[Edge]
) -> Layout:
    """Lay out one connected part, its top left corner at (0, 0)."""
    if len(nodes) == 1:
        return Layout([(0.0, 0.0)], [], *nodes[0])
    web = rank(len(nodes), edges, below)
    widths = [w for w, _ in nodes] + [0.0] * (len(web.row) - len(nodes))
    rows = order(web)
    return route(nodes, edges, web, rows, place(web, rows, widths), labels)


def crossings(drawing: Layout, edges: Sequence[Edge]) -> int:
    """Count the places where lines of two different sources cross; a shared bus is one line."""
    lines = {
        (start, end, source)
        for (source, _), line in zip(edges, drawing.routes, strict=True)
        for start, end in pairwise(line)
    }
    pairs: set[tuple[int, int, int, int]] = set()
    passing: list[tuple[Point, Point, int]] = []
    for start, end, source in sorted(lines, key=lambda line: (line[0][1], line)):
        passing = [line for line in passing if line[1][1] > start[1]]
        for other_start, other_end, other in passing:
            point = _meet(start, end, other_start, other_end)
            if point and other != source:
                pair = min(source, other), max(source, other)
                pairs.add((*pair, round(point[0]), round(point[1])))
        passing.append((start, end, source))
    return len(pairs)


def _meet(a: Point, b: Point, c: Point, d: Point) -> Point | None:
    """Return the point inside both segments a-b and c-d, if they cross."""
    (ux, uy), (vx, vy) = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    area = ux * vy - uy * vx
    if not area:
        return None
    s = ((c[0] - a[0]) * vy - (c[1] - a[1]) * vx) / area
    t = ((c[0] - a[0]) * uy - (c[1] - a[1]) * ux) / area
    return (a[0] + s * ux, a[1] + s * uy) if 0 < s < 1 and 0 < t < 1 else None
