"""Frames around the boxes of open parts: where they stand, and what keeps strangers out of them.

After reading you can say which boxes a frame is drawn around, and how a graph is laid out so that
no other box stands within it: between the boxes of two parts there is more room, and where that is
not enough, all that ran before a part stands above its frame, and all that ran later below it.
Read next: ``rank.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from autodiff_kit.view.rank import Edge

__all__ = ["PADDING", "TITLE", "Rect", "bands", "by_first_use", "frames", "stacks"]

PADDING = 12.0  # px between a frame and what is in it ...
TITLE = 30.0  # ... and above it, where the name stands

Rect = tuple[float, float, float, float]  # left, top, right, bottom
Groups = Sequence[Collection[int]]  # the members of each frame; those around others come first


def frames(groups: Groups, rects: Sequence[Rect]) -> list[Rect | None]:
    """Return the frame around each group; None where a stranger stands in it.

    Parameters
    ----------
    groups : sequence of collections of int
        Frames in each other: the outer one comes first and has all members of the inner one.
    rects : sequence of (left, top, right, bottom)
        Of all boxes.
    """
    members = [set(group) for group in groups]
    result: list[Rect] = []
    for k in reversed(range(len(groups))):
        inner = [
            result[len(groups) - 1 - j]
            for j in range(k + 1, len(groups))
            if members[j] < members[k]
        ]
        own = [rects[v] for v in members[k]]
        left, top, right, bottom = zip(*own, *inner, strict=True)
        result.append(
            (min(left) - PADDING, min(top) - TITLE, max(right) + PADDING, max(bottom) + PADDING)
        )
    result.reverse()
    clean: list[Rect | None] = list(result)
    for k, rect in enumerate(result):
        strangers = (other for v, other in enumerate(rects) if v not in members[k])
        if any(_overlap(rect, other) for other in strangers):
            clean[k] = None
    for j, k in combinations(range(len(result)), 2):
        if not members[k] <= members[j] and _overlap(result[j], result[k]):
            clean[j] = clean[k] = None
    return clean


def _overlap(one: Rect, other: Rect) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def bands(groups: Groups, row: Sequence[int]) -> tuple[dict[int, float], dict[int, float]]:
    """Return by row the room for frames above those that begin there, and below those that end."""
    members = [set(group) for group in groups]
    above: dict[int, float] = {}
    below: dict[int, float] = {}
    depths: list[tuple[float, float]] = [(0.0, 0.0)] * len(groups)
    ends = [(min(row[v] for v in own), max(row[v] for v in own)) for own in members]
    for k in reversed(range(len(groups))):
        inner = [j for j in range(k + 1, len(groups)) if members[j] < members[k]]
        top = TITLE + max((depths[j][0] for j in inner if ends[j][0] == ends[k][0]), default=0.0)
        foot = PADDING + max((depths[j][1] for j in inner if ends[j][1] == ends[k][1]), default=0.0)
        depths[k] = top, foot
        above[ends[k][0]] = max(top, above.get(ends[k][0], 0.0))
        below[ends[k][1]] = max(foot, below.get(ends[k][1], 0.0))
    return above, below


def by_first_use(count: int, edges: Sequence[Edge], groups: Groups) -> list[int]:
    """Return all nodes, each one without inputs just before its first use.

    Before the whole frame, if that use is in one and it is not. So what is used only after a part
    can stand below its frame, though it was made before.
    """
    members = [set(group) for group in groups]
    has_inputs = {target for _, target in edges}
    goal = list(range(count))
    for v in set(range(count)) - has_inputs:
        first = min((target for source, target in edges if source == v), default=v)
        around = (own for own in members if first in own and v not in own)
        goal[v] = min([first, *(min(own & has_inputs) for own in around)])
    return sorted(range(count), key=lambda v: (goal[v], v in has_inputs, v))


def stacks(groups: Groups, apart: Collection[int], count: int) -> list[list[list[int]]]:
    """Return what stands above, in and below some frames: all that is in the frame around."""
    result: list[list[list[int]]] = []
    for k in apart:
        own = set(groups[k])
        outer = [set(g) for j, g in enumerate(groups) if j < k and own < set(g)]
        room = min(outer, key=len, default=set(range(count)))
        earlier = sorted(v for v in room - own if v < min(own))
        inside = sorted(own)
        later = sorted(v for v in room - own if v > min(own))
        result.append([group for group in (earlier, inside, later) if group])
    return result
