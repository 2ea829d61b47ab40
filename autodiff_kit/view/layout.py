"""Place the boxes and arrows of a computation graph so that it can be read at a glance.

After reading you can say why a box stands where it stands. The picture is layered: every
arrow points down, from what was computed first to what was computed from it. Four questions
are answered one after the other, each by a few small functions:

- ``_rank``:  in which row does a box stand?
- ``_order``: who is left of whom, so that few arrows cross?
- ``_place``: at which x exactly, so that chains are vertical?
- ``_route``: where do the arrows run, so that none goes through a foreign box?

An arrow that passes rows on its way has a *waypoint* in each of them. All arrows of one box
share their waypoints: a weight used by a hundred steps is one line with a hundred exits
(a *bus*), not a fan of a hundred lines.

The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of
Hierarchical System Structures" (1981), with choices of Gansner, Koutsofios, North and Vo,
"A Technique for Drawing Directed Graphs" (1993). Nothing is random and nothing reads a clock:
the same graph is always drawn the same way.

Next: ``scene.py``, which says what is written in the boxes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

__all__ = ["Layout", "crossings", "layout"]

Point = tuple[float, float]
Size = tuple[float, float]
Edge = tuple[int, int]

# Distances in pixels.
BOX_GAP = 24.0  # between two boxes of a row
LINE_GAP = 18.0  # between a passing line and its neighbours
ROW_GAP = 32.0  # between two rows ...
SLANT = 0.1  # ... plus this part of the longest sideways run between them ...
MOST_SLANT = 60.0  # ... but no more than this
PART_GAP = 48.0  # between parts of the graph that are not connected
MARGIN = 12.0  # around the picture
PORT_INSET = 14.0  # arrow heads keep off the corners of a box
PORT_GAP = 28.0  # between two arrow heads on one box, if it is wide enough

# How long to search, so that 1000 nodes take a fraction of a second.
EFFORT = 10_000  # at most so many items times turns, for each of two starts
ORDER_TURNS = 24
SWAP_TURNS = 3
PLACE_TURNS = 4
CROWD = 50  # from so many neighbours on, a group is placed roughly

# How much an arrow wants to be vertical; others: 1.
BUS_PULL = 4.0  # between two waypoints
CHAIN_PULL = 1.5  # along the longest way on which a result was computed
LEAF_PULL = 1.2  # from a shared leaf to its bus


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands, in pixels; y grows downwards.

    ``positions`` are the top left corners of the boxes. ``routes`` has one polyline per edge,
    from the bottom of its source to the top of its target.
    """

    positions: list[Point]
    routes: list[list[Point]]
    width: float
    height: float


def layout(nodes: Sequence[Size], edges: Sequence[Edge]) -> Layout:
    """Lay a graph out in rows, top to bottom.

    Parameters
    ----------
    nodes : sequence of (width, height), in pixels
    edges : sequence of (source, target), node numbers with source < target
        Edges of one target come in the order of its arguments. The same pair may occur twice
        (``x * x``).

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
    parts = _connected(len(nodes), edges)
    part_of = {v: number for number, part in enumerate(parts) for v in part}
    place_of = {v: k for part in parts for k, v in enumerate(part)}
    edges_of: list[list[int]] = [[] for _ in parts]
    for e, (source, _) in enumerate(edges):
        edges_of[part_of[source]].append(e)
    drawings = [
        _draw(
            [nodes[v] for v in part], [(place_of[edges[e][0]], place_of[edges[e][1]]) for e in own]
        )
        for part, own in zip(parts, edges_of, strict=True)
    ]
    corners, width, height = _shelve([(d.width, d.height) for d in drawings])
    positions: list[Point] = [(0.0, 0.0)] * len(nodes)
    routes: list[list[Point]] = [[] for _ in edges]
    for part, own, drawing, (left, top) in zip(parts, edges_of, drawings, corners, strict=True):
        for v, (x, y) in zip(part, drawing.positions, strict=True):
            positions[v] = (x + left, y + top)
        for e, route in zip(own, drawing.routes, strict=True):
            routes[e] = [(x + left, y + top) for x, y in route]
    return Layout(positions, routes, width, height)


def crossings(drawing: Layout, edges: Sequence[Edge]) -> int:
    """Count the places where lines of two different sources cross; a shared bus is one line."""
    lines = {
        (start, end, source)
        for (source, _), route in zip(edges, drawing.routes, strict=True)
        for start, end in pairwise(route)
    }
    found: set[tuple[int, int, int, int]] = set()
    passing: list[tuple[Point, Point, int]] = []
    for start, end, source in sorted(lines, key=lambda line: (line[0][1], line)):
        passing = [line for line in passing if line[1][1] > start[1]]
        for other_start, other_end, other in passing:
            point = _meet(start, end, other_start, other_end)
            if point and other != source:
                pair = min(source, other), max(source, other)
                found.add((*pair, round(point[0]), round(point[1])))
        passing.append((start, end, source))
    return len(found)


def _meet(a: Point, b: Point, c: Point, d: Point) -> Point | None:
    """Return the point inside both segments a-b and c-d, if they cross."""
    (ux, uy), (vx, vy) = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    area = ux * vy - uy * vx
    if not area:
        return None
    s = ((c[0] - a[0]) * vy - (c[1] - a[1]) * vx) / area
    t = ((c[0] - a[0]) * uy - (c[1] - a[1]) * ux) / area
    return (a[0] + s * ux, a[1] + s * uy) if 0 < s < 1 and 0 < t < 1 else None


# Parts: pieces of the graph that no arrow connects are drawn one by one.


def _connected(count: int, links: Iterable[Edge]) -> list[list[int]]:
    """Return the members of each connected part, by rising number (union and find)."""
    leader = list(range(count))

    def find(v: int) -> int:
        while leader[v] != v:
            leader[v] = v = leader[leader[v]]
        return v

    for a, b in links:
        a, b = find(a), find(b)
        leader[max(a, b)] = min(a, b)
    parts: dict[int, list[int]] = {}
    for v in range(count):
        parts.setdefault(find(v), []).append(v)
    return list(parts.values())


def _shelve(sizes: Sequence[Size]) -> tuple[list[Point], float, float]:
    """Set the parts side by side in reading order, and wrap when a line becomes too long."""
    area = sum((w + PART_GAP) * (h + PART_GAP) for w, h in sizes)
    limit = max([w for w, _ in sizes] + [1.5 * area**0.5])
    corners: list[Point] = []
    x = y = right = bottom = MARGIN
    for w, h in sizes:
        if x > MARGIN and x + w > MARGIN + limit:
            x, y = MARGIN, bottom + PART_GAP
        corners.append((x, y))
        right, bottom = max(right, x + w), max(bottom, y + h)
        x += w + PART_GAP
    return corners, right + MARGIN, bottom + MARGIN


def _draw(nodes: Sequence[Size], edges: Sequence[Edge]) -> Layout:
    """Lay out one connected part, its top left corner at (0, 0)."""
    if not edges:
        return Layout([(0.0, 0.0)], [], *nodes[0])
    web = _thread(*_rank(len(nodes), edges), edges)
    widths = [w for w, _ in nodes] + [0.0] * (len(web.row) - len(nodes))
    rows = _order(web)
    return _route(nodes, edges, web, rows, _place(web, rows, widths))


# Rank: in which row does a box stand?


def _rank(count: int, edges: Sequence[Edge]) -> tuple[list[int], list[int]]:
    """Return the row of each node, and its depth (edges on the longest way from a leaf).

    The depth alone would be a valid row, but it leaves every input at the top, far from its
    use. So, last node first, each one sinks to just above its first consumer, unless that
    makes more lines longer than shorter: it shortens the node's own line and lengthens those
    of its inputs, except inputs that sink along and inputs whose bus runs down there anyway.
    A leaf has no inputs and always sinks. Who combines two shared values is bound to them,
    and with it what is computed from it alone: that must not tear off.
    """
    inputs: list[list[int]] = [[] for _ in range(count)]
    consumers: list[list[int]] = [[] for _ in range(count)]
    for source, target in dict.fromkeys(edges):
        inputs[target].append(source)
        consumers[source].append(target)
    shared = [len(consumers[v]) > 1 for v in range(count)]
    depth, held = [0] * count, [False] * count
    for v in range(count):
        depth[v] = 1 + max((depth[u] for u in inputs[v]), default=-1)
        held[v] = any(
            held[u] or sum(shared[t] for t in inputs[u]) > 1 for u in inputs[v] if not shared[u]
        )
    row = depth.copy()
    end = [max((depth[c] for c in consumers[v]), default=0) for v in range(count)]
    for v in reversed(range(count)):
        goal = min((row[c] for c in consumers[v]), default=0) - 1
        longer = sum(shared[u] and end[u] < goal for u in inputs[v])
        if goal > row[v] and longer <= 1 and not held[v]:
            row[v] = goal
            for u in inputs[v]:
                end[u] = max(end[u], goal)
    top = min(row)
    return [r - top for r in row], depth


@dataclass(frozen=True, slots=True)
class _Web:
    """The graph with waypoints: each link joins two neighbouring rows.

    Items are numbered: first the nodes, then the waypoints. ``above`` keeps the order of the
    arguments; parallel edges occur twice.
    """

    row: list[int]
    depth: list[int]  # a waypoint has that of its source
    rail: list[list[int]]  # per node: itself, then its waypoints downwards
    above: list[list[int]]
    below: list[list[int]]


def _thread(row: list[int], depth: list[int], edges: Sequence[Edge]) -> _Web:
    """Give each node one chain of waypoints, down to just above its last consumer."""
    count = len(row)
    end = row.copy()
    for source, target in edges:
        end[source] = max(end[source], row[target])
    web = _Web(
        row.copy(),
        depth.copy(),
        [[v] for v in range(count)],
        [[] for _ in range(count)],
        [[] for _ in range(count)],
    )
    for v in range(count):
        for r in range(row[v] + 1, end[v]):
            web.below[web.rail[v][-1]].append(len(web.row))
            web.above.append([web.rail[v][-1]])
            web.below.append([])
            web.rail[v].append(len(web.row))
            web.depth.append(depth[v])
            web.row.append(r)
    for source, target in edges:
        item = web.rail[source][row[target] - 1 - row[source]]
        web.below[item].append(target)
        web.above[target].append(item)
    return web


# Order: who is left of whom, so that few arrows cross?


def _order(web: _Web) -> list[list[int]]:
    """Return the items of each row from left to right, with few crossings.

    Two starts (walks up from the results and down from the leaves; both draw a tree without
    crossings) are improved by turns of two old tricks: sweeps that sort each row by the mean
    position of its neighbours (Sugiyama), and swaps of neighbours (Gansner). Both may make
    things worse for a while, so the best rows on the way are kept. Every other turn is bold:
    it also swaps and reverses what is equally good, which leads out of dead ends.
    """
    position = [0] * len(web.row)
    turns = max(2, min(ORDER_TURNS, EFFORT // len(web.row)))
    best: list[list[int]] = []
    fewest = -1
    for toward, away in ((web.above, web.below), (web.below, web.above)):
        rows = _walk(web, toward, away)
        for row in rows:
            _number(row, position)
        idle = 0
        for turn in range(turns):
            bold = turn % 2 == 1
            _swap(web, rows, position, (lambda *_: True) if bold else None)
            found = _count(web, rows, position)
            idle += 1
            if not best or found < fewest:
                best, fewest, idle = [row.copy() for row in rows], found, 0
            if fewest == 0 or idle > turns // 3:
                break
            _sweep(web, rows, position, turn % 2 == 0, bold)
    _mind_arguments(web, best, position)
    return best


def _number(row: list[int], position: list[int]) -> None:
    for i, item in enumerate(row):
        position[item] = i


def _walk(web: _Web, toward: list[list[int]], away: list[list[int]]) -> list[list[int]]:
    """Fill the rows in the order of a depth-first walk."""
    rows: list[list[int]] = [[] for _ in range(max(web.row) + 1)]
    seen = [False] * len(web.row)
    stack = [item for item in reversed(range(len(web.row))) if not away[item]]
    while stack:
        item = stack.pop()
        if not seen[item]:
            seen[item] = True
            rows[web.row[item]].append(item)
            stack.extend(reversed(toward[item]))
    return rows


def _count(web: _Web, rows: list[list[int]], position: list[int]) -> int:
    """Count the crossings between all neighbouring rows: inversions, by insertion."""
    total = 0
    for row in rows:
        ends: list[int] = []
        for item in row:
            new = [position[v] for v in web.below[item]]
            total += sum([len(ends) - bisect_right(ends, p) for p in new])
            for p in new:
                insort(ends, p)
    return total


def _sweep(web: _Web, rows: list[list[int]], position: list[int], down: bool, bold: bool) -> None:
    """Sort each row by the mean position of its neighbours in the row before.

    A leaf has no neighbours above. In a sweep down it goes with its siblings, the other
    arguments of its consumers, or else with whoever is left of it; kept where it was, it would
    be in everybody's way.
    """
    near, far = (web.above, web.below) if down else (web.below, web.above)
    for row in rows if down else reversed(rows):
        mean = {v: sum([position[u] for u in near[v]]) / len(near[v]) for v in row if near[v]}
        goal = mean.copy()
        company: dict[int, list[float]] = {}  # per consumer: where its other arguments are
        left = -1.0
        for item in row:
            if item not in mean:
                for t in far[item]:
                    if t not in company:
                        others = [mean[s] for s in near[t] if s in mean]
                        company[t] = [sum(others) / len(others)] if others else []
                siblings = [at for t in far[item] for at in company[t]]
                goal[item] = sum(siblings) / len(siblings) if siblings else left
            left = goal[item]
        if bold:
            row.reverse()
        row.sort(key=goal.__getitem__)
        _number(row, position)


def _swap(
    web: _Web,
    rows: list[list[int]],
    position: list[int],
    on_tie: Callable[[int, int], bool] | None,
) -> None:
    """Swap neighbours in a row while that removes crossings; ``on_tie`` decides if it does not."""
    for turn in range(SWAP_TURNS):
        better = False
        for row in rows if turn % 2 == 0 else reversed(rows):
            ups = [sorted([position[u] for u in web.above[v]]) for v in row]
            downs = [sorted([position[u] for u in web.below[v]]) for v in row]
            for i in range(len(row) - 1):
                gain = _gain(ups[i], ups[i + 1]) + _gain(downs[i], downs[i + 1])
                if gain > 0 or (gain == 0 and on_tie and on_tie(row[i], row[i + 1])):
                    row[i], row[i + 1] = row[i + 1], row[i]
                    ups[i], ups[i + 1] = ups[i + 1], ups[i]
                    downs[i], downs[i + 1] = downs[i + 1], downs[i]
                    better = better or gain > 0
            _number(row, position)
        if not better:
            return


def _gain(left: list[int], right: list[int]) -> int:
    """Count the crossings that vanish when two items with these sorted ends change places."""
    if len(left) == len(right) == 1:
        return (left[0] > right[0]) - (left[0] < right[0])
    return sum([bisect_left(right, p) + bisect_right(right, p) - len(right) for p in left])


def _mind_arguments(web: _Web, rows: list[list[int]], position: list[int]) -> None:
    """Put left operands left where that costs no crossing: mirror all, or swap neighbours."""
    for row in rows:
        _number(row, position)
    steps = [position[b] - position[a] for above in web.above for a, b in pairwise(above)]
    if sum((step > 0) - (step < 0) for step in steps) < 0:
        for row in rows:
            row.reverse()
            _number(row, position)

    def swapped(left: int, right: int) -> bool:
        return any(
            web.above[t].index(left) > web.above[t].index(right)
            for t in web.below[left]
            if t in web.below[right]
        )

    _swap(web, rows, position, swapped)


# Place: at which x exactly, so that chains are vertical?

Line = tuple[list[int], list[float]]  # a row, and how far apart its neighbours must be
Pulls = list[list[tuple[int, float]]]  # per item: who wants it near, and how much
Weighted = list[tuple[float, float]]  # places and their weights
Centre = Callable[[Weighted], tuple[float, float]]  # the best places for a group: from, to


def _place(web: _Web, rows: list[list[int]], widths: list[float]) -> list[float]:
    """Return the x of each item's middle, in whole pixels.

    Wanted is a small sum of pull times sideways way over all links. (Gansner solves that
    exactly; this hill climb ends about a tenth above in a fraction of the time.) Rows and
    straight strands move in turns, each to its best place between what stands still. Of two
    starts the better wins: an even one from means, which suits trees, and one from the top
    straight down, which suits long loops.
    """
    lines = [(row, [_gap(widths[a], widths[b]) for a, b in pairwise(row)]) for row in rows]
    above = [_pulls(web, widths, v) for v in range(len(widths))]
    below: Pulls = [[] for _ in widths]
    for v, ends in enumerate(above):
        for u, pull in ends:
            below[u].append((v, pull))
    both = [a + b for a, b in zip(above, below, strict=True)]
    even = [(lines, above), (lines[::-1], below), *[(lines, both)] * 4]
    best, least = [0.0], inf
    for centre, plan in ((_mean, even), (_median, [(lines, above)])):
        x = [0.0] * len(widths)
        for order, near in plan:
            _shift(order, near, centre, x)
        for turn in range(max(1, min(PLACE_TURNS, EFFORT // len(x)))):
            _slide(lines, both, x)
            _shift(lines[:: 1 - turn % 2 * 2], both, _median, x)
        way = sum([pull * abs(x[v] - x[u]) for v, ends in enumerate(above) for u, pull in ends])
        if way < least:
            best, least = x, way
    return [float(round(place)) for place in best]


def _gap(left: float, right: float) -> float:
    return (left + right) / 2 + (BOX_GAP if left and right else LINE_GAP)


def _pulls(web: _Web, widths: list[float], v: int) -> list[tuple[int, float]]:
    """Say how much each link to ``v`` from above wants to be vertical."""
    above = web.above[v]
    if not widths[v]:
        source = LEAF_PULL if web.depth[v] == 0 else 1.0
        return [(u, source if widths[u] else BUS_PULL) for u in above]
    in_chain = [web.depth[u] == web.depth[v] - 1 for u in above]
    pull = CHAIN_PULL / max(1, sum(in_chain))
    return [(u, pull if chain else 1.0) for u, chain in zip(above, in_chain, strict=True)]


def _shift(lines: Iterable[Line], near: Pulls, centre: Centre, x: list[float]) -> None:
    """Move each row in turn as near as possible to what pulls at its items."""
    for row, gaps in lines:
        wishes = []
        for item in row:
            ends = [(x[u], pull) for u, pull in near[item]] or [(x[item], 0.01)]
            low, high = centre(ends)
            wishes.append((min(max(x[item], low), high), sum([pull for _, pull in ends])))
        for item, place in zip(row, _settle(wishes, gaps, centre), strict=True):
            x[item] = place


def _slide(lines: Iterable[Line], near: Pulls, x: list[float]) -> None:
    """Move each strand, items in one vertical line, as a whole: alone, none of them would go."""
    left: dict[int, tuple[int, float]] = {}
    right: dict[int, tuple[int, float]] = {}
    for row, gaps in lines:
        for (a, b), gap in zip(pairwise(row), gaps, strict=True):
            left[b], right[a] = (a, gap), (b, gap)
    straight = [(u, v) for v, ends in enumerate(near) for u, _ in ends if x[u] == x[v]]
    for strand in _connected(len(x), straight):
        place = x[strand[0]]
        ways = [(x[u] - place, pull) for v in strand for u, pull in near[v] if x[u] != place]
        if not ways:
            continue
        low, high = _median(ways)
        way = min(max(0.0, low), high)
        for v in strand:
            if v in left:
                way = max(way, x[left[v][0]] + left[v][1] - x[v])
            if v in right:
                way = min(way, x[right[v][0]] - right[v][1] - x[v])
        for v in strand:
            x[v] += way


def _mean(wishes: Weighted) -> tuple[float, float]:
    mean = sum([at * weight for at, weight in wishes]) / sum([weight for _, weight in wishes])
    return mean, mean


def _median(wishes: Weighted) -> tuple[float, float]:
    """Return the range of points with half of the weight on each side."""
    if len(wishes) == 1:
        return wishes[0][0], wishes[0][0]
    wishes.sort()
    passed = list(accumulate([weight for _, weight in wishes]))
    half = passed[-1] / 2
    low = bisect_left(passed, half)
    return wishes[low][0], wishes[low + (passed[low] == half)][0]


def _settle(wishes: Weighted, gaps: list[float], centre: Centre) -> list[float]:
    """Return places near those wished for, in the same order and at least ``gaps`` apart.

    Pool adjacent violators (Ayer and others, 1955): whoever comes too near joins the group to
    the left, and a group stands at the centre of its members' wishes. With medians instead of
    means, most lines become exactly vertical. A crowd goes on as if it were one member: hundreds
    of neighbours would take long to sort anew for each that joins.
    """
    offsets = list(accumulate(gaps, initial=0.0))[: len(wishes)]
    groups: list[tuple[float, int, Weighted]] = []
    for (wish, weight), offset in zip(wishes, offsets, strict=True):
        place, count, members = wish - offset, 1, [(wish - offset, weight)]
        while groups and groups[-1][0] > place:
            _, more, others = groups.pop()
            count += more
            members += others
            low, high = centre(members)
            place = (low + high) / 2
        if len(members) > CROWD:
            members = [(place, sum([weight for _, weight in members]))]
        groups.append((place, count, members))
    places = [place for place, count, _ in groups for _ in range(count)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


# Route: where do the arrows run?


def _route(
    nodes: Sequence[Size],
    edges: Sequence[Edge],
    web: _Web,
    rows: list[list[int]],
    x: list[float],
) -> Layout:
    """Set the rows below each other and draw each edge along its waypoints.

    A line runs straight down through a row and sideways only between rows, where no boxes are.
    """
    left = min([*x, *(x[v] - w / 2 for v, (w, _) in enumerate(nodes))])
    x = [place - left for place in x]
    width = max([*x, *(x[v] + w / 2 for v, (w, _) in enumerate(nodes))])
    tops, bottoms = _bands(nodes, web, rows, x)
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
        places = _heads(x[target], nodes[target][0], [at for at, _ in lines])
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
    nodes: Sequence[Size], web: _Web, rows: list[list[int]], x: list[float]
) -> tuple[list[float], list[float]]:
    """Return the top and the bottom of each row; long sideways lines get more room below."""
    tops, bottoms = [], []
    top = 0.0
    for row in rows:
        tops.append(top)
        bottoms.append(top + max([nodes[v][1] for v in row if v < len(nodes)], default=0.0))
        run = max([abs(x[v] - x[t]) for v in row for t in web.below[v]], default=0.0)
        top = bottoms[-1] + ROW_GAP + round(min(SLANT * run, MOST_SLANT))
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
    return _settle(wishes, [gap] * last, _median)


def _extend(line: list[Point], *points: Point) -> None:
    """Add points to a line, without those that repeat or lie between others on a vertical."""
    for point in points:
        if point == line[-1]:
            continue
        if len(line) > 1 and line[-2][0] == line[-1][0] == point[0]:
            line.pop()
        line.append(point)
