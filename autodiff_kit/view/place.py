"""Give each box its x, so that chains are vertical and buses are straight.

After reading you can say why a bus has no bends, and why a box stands above another one. Read
next: ``route.py``, which draws the arrows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf

from autodiff_kit.view.enclosures import PADDING
from autodiff_kit.view.parts import connected
from autodiff_kit.view.rank import Edge, Web

__all__ = ["place", "settle"]

# Distances in pixels.
BOX_GAP = 24.0  # between two boxes of a row
LINE_GAP = 18.0  # between a passing line and its neighbours

# How long to search, so that 1000 nodes take a fraction of a second.
EFFORT = 10_000  # at most so many items times turns, for each of two starts
TURNS = 6
CROWD = 50  # from so many neighbours on, a group is placed roughly
PUSHED = 50  # a strand pushes about so many items, no more
NEAR = 0.01  # pixels: less is nothing

# How much an arrow wants to be vertical; others: 1.
BUS_PULL = 4.0  # between two waypoints
CHAIN_PULL = 2.0  # along the longest way on which a result was computed
LEAF_PULL = 1.2  # from a shared leaf to its bus
EXIT_PULL = 0.4  # from a bus to a box
FIRM = 1e9  # a straight bus does not give way in its row

Line = tuple[list[int], list[float]]  # a row, and how far apart its neighbours must be
Pulls = list[list[tuple[int, float]]]  # per item: who wants it near, and how much
Weighted = list[tuple[float, float]]  # places and their weights
Beside = dict[int, tuple[int, float]]  # by item: its neighbour on one side, and how far apart


def place(
    web: Web, rows: list[list[int]], widths: list[float], inside: Sequence[frozenset[int]]
) -> list[float]:
    """Return the x of each item's middle, in whole pixels.

    Wanted is a small sum of pull times sideways way over all links; Gansner solves that exactly,
    this hill climb in a fraction of the time. Buses are made straight first and stay so. Then
    whole strands and single rows move in turns, each to its best place between what stands
    still. Of two starts, from the top down and back up again or not, the better wins.

    Parameters
    ----------
    web : Web
    rows : list of list of int
        The items of each row from left to right.
    widths : list of float, by item
        In pixels; 0 for a waypoint.
    inside : sequence of frozenset of int, by item
        The frames around it: where one ends between two items there is more room.
    """

    def distance(a: int, b: int) -> float:
        between = (widths[a] + widths[b]) / 2
        apart = BOX_GAP if widths[a] and widths[b] else LINE_GAP
        return between + apart + PADDING * len(inside[a] ^ inside[b])

    lines = [(row, [distance(a, b) for a, b in pairwise(row)]) for row in rows]
    left: Beside = {}
    right: Beside = {}
    for row, gaps in lines:
        for (a, b), gap in zip(pairwise(row), gaps, strict=True):
            left[b], right[a] = (a, gap), (b, gap)
    links = [(u, v) for v, ends in enumerate(web.above) for u in ends]
    above = [_pulls(web, widths, v) for v in range(len(widths))]
    below: Pulls = [[] for _ in widths]
    for v, ends in enumerate(above):
        for u, pull in ends:
            below[u].append((v, pull))
    both = [a + b for a, b in zip(above, below, strict=True)]
    buses = _buses(web, rows)
    firm = both.copy()
    for bus in buses:
        for v in bus:
            firm[v] = [(v, FIRM)]
    down, up = (lines, above), (lines[::-1], below)
    best, least = [0.0], inf
    for start in ([down], [down, up]):
        x = [0.0] * len(widths)
        for order, near in start:
            _shift(order, near, x)
        _straighten(buses, lines, x)
        for turn in range(max(1, min(TURNS, EFFORT // len(x)))):
            moved = _slide((left, right), links, both, x)
            if not _shift(lines[:: 1 - turn % 2 * 2], firm, x) and not moved:
                break
        way = sum([pull * abs(x[v] - x[u]) for v, ends in enumerate(above) for u, pull in ends])
        if way < least:
            best, least = x, way
    return [float(round(at)) for at in best]


def _pulls(web: Web, widths: list[float], v: int) -> list[tuple[int, float]]:
    """Say how much each link to ``v`` from above wants to be vertical."""
    above = web.above[v]
    if not widths[v]:
        source = LEAF_PULL if web.depth[v] == 0 else 1.0
        return [(u, source if widths[u] else BUS_PULL) for u in above]
    in_chain = [bool(widths[u]) and web.depth[u] == web.depth[v] - 1 for u in above]
    pull = CHAIN_PULL / max(1, sum(in_chain))
    return [
        (u, pull if chain else 1.0 if widths[u] else EXIT_PULL)
        for u, chain in zip(above, in_chain, strict=True)
    ]


def _buses(web: Web, rows: list[list[int]]) -> list[list[int]]:
    """Return the waypoints that will share one x: those of one box.

    Where two buses cross, the shorter one is cut in two, for they cannot both be straight.
    """
    position = {v: i for row in rows for i, v in enumerate(row)}
    links: list[list[tuple[int, int, int]]] = [[] for _ in rows]  # by row: length, from, to
    for rail in web.rail:
        for a, b in pairwise(rail[1:]):
            links[web.row[a]].append((-len(rail), a, b))
    cut: set[int] = set()
    for here in links:
        spans: list[tuple[int, int]] = []
        for _, a, b in sorted(here):
            start, end = position[a], position[b]
            if any((start < s) != (end < e) for s, e in spans):
                cut.add(b)
            else:
                spans.append((start, end))
    buses: list[list[int]] = []
    for rail in web.rail:
        for v in rail[1:]:
            if v == rail[1] or v in cut:
                buses.append([])
            buses[-1].append(v)
    return buses


def _straighten(buses: list[list[int]], lines: Iterable[Line], x: list[float]) -> None:
    """Give each bus one x, and move the nodes that are then too near.

    Pushing everybody to the right makes room, and so does pushing everybody to the left; half
    way between the two there is room, too, and least was moved.
    """
    block = list(range(len(x)))  # a bus moves as one: all of it is called by its first item
    for bus in buses:
        at = _median([(x[v], 1.0) for v in bus])[0]
        for v in bus:
            block[v], x[v] = bus[0], at
    after: dict[int, dict[int, float]] = {v: {} for v in block}
    waits = dict.fromkeys(after, 0)
    for row, gaps in lines:
        for (a, b), gap in zip(pairwise(row), gaps, strict=True):
            a, b = block[a], block[b]
            waits[b] += b not in after[a]
            after[a][b] = max(gap, after[a].get(b, 0.0))
    ready = [v for v, count in waits.items() if not count]
    for v in ready:  # grows: from left to right
        for b in after[v]:
            waits[b] -= 1
            if not waits[b]:
                ready.append(b)
    right, left = x.copy(), x.copy()
    for a in ready:
        for b, gap in after[a].items():
            right[b] = max(right[b], right[a] + gap)
    for a in reversed(ready):
        for b, gap in after[a].items():
            left[a] = min(left[a], left[b] - gap)
    for v, first in enumerate(block):
        x[v] = (right[first] + left[first]) / 2


def _shift(lines: Iterable[Line], near: Pulls, x: list[float]) -> bool:
    """Move each row in turn as near as possible to what pulls at its items; say if any moved."""
    moved = False
    for row, gaps in lines:
        wishes = []
        for item in row:
            ends = near[item]
            if len(ends) == 1:
                ((u, pull),) = ends
                wishes.append((x[u], pull))
            elif ends:
                low, high = _median([(x[u], pull) for u, pull in ends])
                weight = sum([pull for _, pull in ends])
                wishes.append((min(max(x[item], low), high), weight))
            else:
                wishes.append((x[item], 0.01))
        for item, at in zip(row, settle(wishes, gaps), strict=True):
            if abs(at - x[item]) > NEAR:
                x[item], moved = at, True
    return moved


def _slide(sides: Sequence[Beside], links: Sequence[Edge], near: Pulls, x: list[float]) -> bool:
    """Move strands, items in one vertical line, as a whole; say if any moved.

    Alone, none of the items would go. A strand pushes aside what stands in its way, and moves as
    long as there is more pull ahead of all that moves than behind.
    """
    strands = connected(len(x), [(u, v) for u, v in links if x[u] == x[v]])
    strand_of = {v: strand for strand in strands for v in strand}
    moved = False
    for way, beside in zip((-1.0, 1.0), sides, strict=True):
        for strand in strands:
            while _balance(strand, (), near, x, way)[0] > 0:
                group, room = _pushed(strand, strand_of, beside, x, way)
                balance, step = _balance(group, set(group), near, x, way)
                if balance <= 0:
                    break
                for v in group:
                    x[v] += min(step, room) * way
                moved = True
    return moved


def _pushed(
    strand: list[int],
    strand_of: Mapping[int, list[int]],
    beside: Beside,
    x: list[float],
    way: float,
) -> tuple[list[int], float]:
    """Return a strand with all that it pushes, nothing if that is too much, and their free way."""
    group, members, room = strand.copy(), set(strand), inf
    for v in group:  # grows
        other, gap = beside.get(v, (v, 0.0))
        if other in members:
            continue
        free = (x[other] - x[v]) * way - gap
        if free > NEAR:
            room = min(room, free)
        elif len(group) + len(strand_of[other]) > len(strand) + PUSHED:
            return [], 0.0
        else:
            group += strand_of[other]
            members.update(strand_of[other])
    return group, room


def _balance(
    group: list[int], members: Collection[int], near: Pulls, x: list[float], way: float
) -> tuple[float, float]:
    """Say how much more pull is ahead of a group than behind it, and how far that is so."""
    balance, step = 0.0, inf
    for v in group:
        for u, pull in near[v]:
            ahead = (x[u] - x[v]) * way
            if ahead > NEAR and u not in members:
                balance += pull
                step = min(step, ahead)
            elif ahead < 0 or (members and u not in members):
                balance -= pull
    return balance, step


def _median(wishes: Weighted) -> tuple[float, float]:
    """Return the range of points with half of the weight on each side."""
    if len(wishes) == 1:
        return wishes[0][0], wishes[0][0]
    wishes.sort()
    passed = list(accumulate([weight for _, weight in wishes]))
    half = passed[-1] / 2
    low = bisect_left(passed, half)
    return wishes[low][0], wishes[low + (passed[low] == half)][0]


def settle(wishes: Weighted, gaps: list[float]) -> list[float]:
    """Return places near those wished for, in the same order and at least ``gaps`` apart.

    Pool adjacent violators (Ayer and others, 1955): a node that comes too near joins the group to
    the left, and a group stands at the centre of its members' wishes. With medians instead of
    means, most lines become exactly vertical. A crowd goes on as if it were one member: hundreds
    of neighbours would take long to sort anew for each that joins.
    """
    places = [wish for wish, _ in wishes]
    if all(b - a >= gap for (a, b), gap in zip(pairwise(places), gaps, strict=True)):
        return places
    offsets = list(accumulate(gaps, initial=0.0))[: len(wishes)]
    groups: list[tuple[float, int, Weighted]] = []
    for (wish, weight), offset in zip(wishes, offsets, strict=True):
        at, count, members = wish - offset, 1, [(wish - offset, weight)]
        while groups and groups[-1][0] > at:
            _, more, others = groups.pop()
            count += more
            members += others
            low, high = _median(members)
            at = (low + high) / 2
        if len(members) > CROWD:
            members = [(at, sum([weight for _, weight in members]))]
        groups.append((at, count, members))
    places = [at for at, count, _ in groups for _ in range(count)]
    return [at + offset for at, offset in zip(places, offsets, strict=True)]
