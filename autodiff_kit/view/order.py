"""Decide who is left of whom in a row, so that few arrows cross.

After reading you can say why two boxes of a row stand in this order and not in the other one.
Nothing reads a clock and lots have one seed: the same graph always gets the same order.

Source: Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System
Structures" (1981), the sweeps; Gansner, Koutsofios, North and Vo, "A Technique for Drawing
Directed Graphs" (1993), the swaps. Read next: ``place.py``, which gives each item its x.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from itertools import pairwise
from random import Random

from autodiff_kit.view.rank import Web

__all__ = ["order"]

# How long to search, so that 1000 nodes take a fraction of a second.
EFFORT = 10_000  # at most so many items times turns, for each of two starts
TURNS = 24
SWAP_TURNS = 3
STARTS, MORE_EFFORT, MORE_TURNS = 10, 1500, 16  # further starts, and items times those starts


def order(web: Web) -> list[list[int]]:
    """Return the items of each row from left to right, with few crossings.

    Two starts (walks up from the results and down from the leaves; both draw a tree without
    crossings) are improved by turns of two old tricks: sweeps that sort each row by the mean
    position of its neighbours (Sugiyama), and swaps of neighbours (Gansner). Both may make
    things worse for a while, so the best rows on the way are kept. Every other turn is bold:
    it also swaps and reverses what is equally good, which leads out of dead ends. While lines
    still cross, the same walks start again with all neighbours in another order: it is drawn by
    lot, but of one seed.
    """
    position = [0] * len(web.row)
    turns = max(2, min(TURNS, EFFORT // len(web.row)))
    lots = Random(0)
    fewest, best = -1, list[list[int]]()
    for start in range(2 + min(STARTS, MORE_EFFORT // len(web.row))):
        near, far = (web.above, web.below) if start % 2 == 0 else (web.below, web.above)
        ends = [item for item in range(len(web.row)) if not far[item]]
        if start < 2:
            rows = _walk(web, near, ends)
        else:
            rows = _walk(web, [_mixed(items, lots) for items in near], _mixed(ends, lots))
        count, rows = _improved(web, rows, position, turns if start < 2 else MORE_TURNS)
        if fewest < 0 or count < fewest:
            fewest, best = count, rows
        if fewest == 0:
            break
    _mind(web, best, position)
    return best


def _mixed(items: list[int], lots: Random) -> list[int]:
    return sorted(items, key=lambda _: lots.random())


def _improved(
    web: Web, rows: list[list[int]], position: list[int], turns: int
) -> tuple[int, list[list[int]]]:
    """Sweep and swap, and return the fewest crossings on the way with the rows that have them."""
    for row in rows:
        _number(row, position)
    fewest, best, idle = -1, rows, 0
    for turn in range(turns):
        bold = turn % 2 == 1
        _swap(web, rows, position, (lambda *_: True) if bold else None)
        count = _count(web, rows, position)
        idle += 1
        if fewest < 0 or count < fewest:
            fewest, best, idle = count, [row.copy() for row in rows], 0
        if fewest == 0 or idle > turns // 4:
            break
        _sweep(web, rows, position, turn % 2 == 0, bold)
    return fewest, best


def _number(row: list[int], position: list[int]) -> None:
    for i, item in enumerate(row):
        position[item] = i


def _walk(web: Web, near: list[list[int]], ends: list[int]) -> list[list[int]]:
    """Fill the rows in the order of a depth-first walk from these items."""
    rows: list[list[int]] = [[] for _ in range(max(web.row) + 1)]
    visited = [False] * len(web.row)
    stack = ends[::-1]
    while stack:
        item = stack.pop()
        if not visited[item]:
            visited[item] = True
            rows[web.row[item]].append(item)
            stack.extend(reversed(near[item]))
    return rows


def _count(web: Web, rows: list[list[int]], position: list[int]) -> int:
    """Count the crossings between all neighbouring rows: inversions, by insertion."""
    total = 0
    for row in rows:
        if len(row) < 2:
            continue
        ends: list[int] = []
        for item in row:
            new = [position[v] for v in web.below[item]]
            total += sum([len(ends) - bisect_right(ends, p) for p in new])
            for p in new:
                insort(ends, p)
    return total


def _sweep(web: Web, rows: list[list[int]], position: list[int], down: bool, bold: bool) -> None:
    """Sort each row by the mean position of its neighbours in the row before.

    A leaf has no neighbours above. In a sweep down it goes with its siblings, the other
    arguments of its consumers, or else with the node left of it; kept where it was, it would
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
    web: Web,
    rows: list[list[int]],
    position: list[int],
    on_tie: Callable[[int, int], bool] | None,
) -> None:
    """Swap neighbours in a row while that removes crossings; ``on_tie`` decides if it does not."""
    changed = set(range(len(rows)))
    for turn in range(SWAP_TURNS):
        before, changed = changed, set()
        better = False
        for r in range(len(rows)) if turn % 2 == 0 else reversed(range(len(rows))):
            row = rows[r]
            near = (r - 1, r, r + 1)
            if len(row) < 2 or not (on_tie or any(k in before or k in changed for k in near)):
                continue  # nothing to gain, as last time
            ups = [sorted([position[u] for u in web.above[v]]) for v in row]
            downs = [sorted([position[u] for u in web.below[v]]) for v in row]
            for i in range(len(row) - 1):
                gain = _gain(ups[i], ups[i + 1]) + _gain(downs[i], downs[i + 1])
                if gain > 0 or (gain == 0 and on_tie and on_tie(row[i], row[i + 1])):
                    row[i], row[i + 1] = row[i + 1], row[i]
                    ups[i], ups[i + 1] = ups[i + 1], ups[i]
                    downs[i], downs[i + 1] = downs[i + 1], downs[i]
                    better = better or gain > 0
                    changed.add(r)
            if r in changed:
                _number(row, position)
        if not better:
            return


def _gain(left: list[int], right: list[int]) -> int:
    """Count the crossings that vanish when two items with these sorted ends change places."""
    if not left or not right:
        return 0
    if left[-1] < right[0]:  # all would cross
        return -len(left) * len(right)
    if right[-1] < left[0]:  # all do cross
        return len(left) * len(right)
    return sum([bisect_left(right, p) + bisect_right(right, p) - len(right) for p in left])


def _mind(web: Web, rows: list[list[int]], position: list[int]) -> None:
    """Mind what costs no crossing: left operands come from the left, and buses stay straight.

    All is mirrored, or neighbours are swapped. Two buses that cross need a bend, a bus and one
    who leaves another bus need none: so the place where they cross goes down to such an exit.
    """
    for row in rows:
        _number(row, position)
    steps = [position[b] - position[a] for above in web.above for a, b in pairwise(above)]
    if sum((step > 0) - (step < 0) for step in steps) < 0:
        for row in rows:
            row.reverse()
            _number(row, position)
    nodes = len(web.rail)

    def swapped(left: int, right: int) -> bool:
        if left >= nodes and right >= nodes:
            (a,), (b,) = web.above[left], web.above[right]
            return a >= nodes and b >= nodes and position[a] > position[b]
        return any(
            web.above[t].index(left) > web.above[t].index(right)
            for t in web.below[left]
            if t in web.below[right]
        )

    _swap(web, rows, position, swapped)
