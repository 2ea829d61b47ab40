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

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise, product

from autodiff_kit.view.enclosures import bands, by_first_use, frames, stacks
from autodiff_kit.view.order import order
from autodiff_kit.view.parts import connected, shelve
from autodiff_kit.view.place import place
from autodiff_kit.view.rank import Edge, rank
from autodiff_kit.view.route import DENSE_GAPS, GAPS, Gaps, Layout, Point, Size, route

__all__ = ["Layout", "Point", "Size", "crossings", "layout", "least_height"]

EDGE = 6.0  # px between a frame and the edge of the picture


def layout(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    labels: Sequence[Size | None] = (),
    rounds: Sequence[Sequence[Sequence[int]]] = (),
    groups: Sequence[Sequence[int]] = (),
    *,
    is_dense: bool = False,
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
    groups : sequence of node numbers
        Nodes to draw a frame around; the frame around another one comes before it.
    is_dense : bool
        Keep less room between rows.

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
    labels = labels or [None] * len(edges)
    gaps = DENSE_GAPS if is_dense else GAPS
    drawing = _with_labels(nodes, edges, labels, rounds, groups, gaps)
    apart: list[int] = []
    while strangers := [k for k, at in enumerate(drawing.frames) if not at and k not in apart]:
        apart += strangers
        drawing = _stacked(nodes, edges, labels, rounds, groups, gaps, apart)
    return drawing


def least_height(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    labels: Sequence[Size | None],
    *,
    is_dense: bool = False,
) -> float:
    """Return what the layout is at least as high as: the longest way down, with the least gaps.

    It takes a small part of the time that the layout takes.

    Examples
    --------
    >>> least_height([(60, 40), (60, 40)], [(0, 1)], [None])
    91.0
    """
    _, gap, _ = DENSE_GAPS if is_dense else GAPS
    bottoms = [height for _, height in nodes]
    edges_in_order = sorted(zip(edges, labels, strict=True), key=lambda item: item[0][1])
    for (source, target), label in edges_in_order:
        between = gap if label is None else gap + label[1] + gap
        bottoms[target] = max(bottoms[target], bottoms[source] + between + nodes[target][1])
    return max(bottoms, default=0.0)


def _stacked(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    labels: Sequence[Size | None],
    rounds: Sequence[Sequence[Sequence[int]]],
    groups: Sequence[Sequence[int]],
    gaps: Gaps,
    apart: Sequence[int],
) -> Layout:
    """Lay out a graph in which nothing stands beside some of the frames, in the frame around."""
    sequence = by_first_use(len(nodes), edges, groups)
    place_of = {v: k for k, v in enumerate(sequence)}
    own = [sorted(place_of[v] for v in group) for group in groups]
    in_time = [[sorted(place_of[v] for v in block) for block in loop] for loop in rounds]
    drawing = _with_labels(
        [nodes[v] for v in sequence],
        [(place_of[a], place_of[b]) for a, b in edges],
        labels,
        in_time,
        own,
        gaps,
        apart,
    )
    return replace(drawing, positions=[drawing.positions[place_of[v]] for v in range(len(nodes))])


def _layout(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    on_edges: Collection[int],
    below: Sequence[Edge],
    groups: Sequence[Sequence[int]],
    gaps: Gaps,
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
            [[place_of[v] for v in group if part_of[v] == number] for group in groups],
            gaps,
        )
        for number, (part, own, order_of_time) in enumerate(
            zip(parts, edges_of, below_of, strict=True)
        )
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
    groups: Sequence[Sequence[int]],
    gaps: Gaps,
    apart: Collection[int] = (),
) -> Layout:
    """Lay out a graph in which a label is a box that its edge runs through."""
    between = {e for loop in rounds for e in _between(loop, edges)}
    into: list[list[int]] = [[] for _ in nodes]
    for e, (source, target) in enumerate(edges):
        # Between two rounds a label stands above all that is in the second one.
        firsts = (min(own) for loop in rounds for own in loop if target in own)
        into[min([target, *(v for v in firsts if v > source)])].append(e)
    items: list[Size] = []
    node_at: list[int] = []
    label_at: dict[int, int] = {}
    for v, size in enumerate(nodes):
        for e in sorted(into[v], key=lambda e: e not in between):
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

    def with_labels(group: Collection[int]) -> list[int]:
        """Return the items of nodes: what a line brings stands with what it leads to."""
        leading = (
            item
            for e, item in label_at.items()
            if edges[e][1] in group and (e not in between or edges[e][0] in group)
        )
        return [*(node_at[v] for v in group), *leading]

    members = [with_labels(group) for group in groups]
    in_time: list[list[list[int]]] = []
    for loop in rounds:
        ends_of = _between(loop, edges)
        in_time.append([with_labels(loop[0])])
        for k, own in enumerate(loop[1:]):
            next_to = [
                label_at[e] for e, at in ends_of.items() if at == (k, k + 1) and e in label_at
            ]
            in_time[-1] += [next_to, with_labels(own)]
    below = _one_below_other([*in_time, *stacks(members, apart, len(items))], pieces)
    drawing = _layout(items, pieces, set(label_at.values()), below, members, gaps)
    drawing = _with_frames(drawing, items, members)
    routes = [[point for p in own for point in drawing.routes[p]] for own in pieces_of]
    middles: list[Point | None] = [None] * len(edges)
    for e, item in label_at.items():
        (x, y), (width, height) = drawing.positions[item], items[item]
        middles[e] = (x + width / 2, y + height / 2)
    positions = [drawing.positions[item] for item in node_at]
    return replace(drawing, positions=positions, routes=routes, labels=middles)


def _with_frames(drawing: Layout, sizes: Sequence[Size], groups: Sequence[Sequence[int]]) -> Layout:
    """Draw frames, and move all so far that they are in sight."""
    if not groups:
        return drawing
    rects = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(drawing.positions, sizes, strict=True)]
    around = frames(groups, rects)
    clean = [rect for rect in around if rect]
    dx = max([0.0, *(EDGE - rect[0] for rect in clean)])
    dy = max([0.0, *(EDGE - rect[1] for rect in clean)])
    return Layout(
        [(x + dx, y + dy) for x, y in drawing.positions],
        [[(x + dx, y + dy) for x, y in route] for route in drawing.routes],
        max([drawing.width, *(rect[2] + EDGE for rect in clean)]) + dx,
        max([drawing.height, *(rect[3] + EDGE for rect in clean)]) + dy,
        frames=[r and (r[0] + dx, r[1] + dy, r[2] + dx, r[3] + dy) for r in around],
    )


def _between(loop: Sequence[Sequence[int]], edges: Sequence[Edge]) -> dict[int, tuple[int, int]]:
    """Return the edges that lead from one round of a loop to another, with the two rounds."""
    round_of = {v: k for k, own in enumerate(loop) for v in own}
    ends = [(round_of.get(a, -1), round_of.get(b, -1)) for a, b in edges]
    return {e: (a, b) for e, (a, b) in enumerate(ends) if -1 < a != b > -1}


def _one_below_other(
    stacks: Sequence[Sequence[Sequence[int]]], edges: Sequence[Edge]
) -> list[Edge]:
    """Return what stands below what, so that each group of a stack is below the one before it."""
    below: dict[Edge, None] = {}
    for groups in stacks:
        for upper, lower in pairwise(set(group) for group in groups if group):
            ends = upper - {a for a, b in edges if a in upper and b in upper}
            starts = lower - {b for a, b in edges if a in lower and b in lower}
            below |= dict.fromkeys((a, b) for a, b in product(ends, starts) if a < b)
    return sorted(below)


def _draw(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    labels: set[int],
    below: Sequence[Edge],
    groups: Sequence[Sequence[int]],
    gaps: Gaps,
) -> Layout:
    """Lay out one connected part, its top left corner at (0, 0)."""
    if len(nodes) == 1:
        return Layout([(0.0, 0.0)], [], *nodes[0])
    web = rank(len(nodes), edges, below, labels if gaps == DENSE_GAPS else ())
    widths = [w for w, _ in nodes] + [0.0] * (len(web.row) - len(nodes))
    rows = order(web)
    groups = [group for group in groups if group]
    inside = [frozenset(k for k, g in enumerate(groups) if v in g) for v in range(len(nodes))]
    for v, rail in enumerate(web.rail):
        shared = [inside[target] for source, target in edges if source == v and len(rail) > 1]
        inside += [inside[v].intersection(*shared)] * (len(rail) - 1)
    x = place(web, rows, widths, inside)
    return route(nodes, edges, web, rows, x, labels, bands(groups, web.row), gaps)


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
