"""What of a large graph is open at first: as much as can be read without moving the picture.

After reading you can say why a run of a thousand operations begins as a dozen boxes: parts are
opened from the outside in, those inside of one part all together, as long as the rows and columns
of boxes still fit. Groups of rounds and of equal modules are opened last. Read next:
``outline.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.fold import Key, Part, Parts

__all__ = ["folded", "open_at_first"]

WHOLE = 40  # a graph of so many nodes is open as it is
MOST = 40  # boxes
AIM = 120  # operations that belong to no part are folded only where there are more of them
# Pixels: what can be read in a pane of usual size at 70 %, and what boxes take, about.
WIDTH, HEIGHT = 1140, 800
ROW, MARKS = 112, 30  # a row of boxes, and of slopes and contributions above it
FOLD, OP, LEAF = 290, 190, 220  # widths


def folded(parts: Parts, opened: Collection[Key]) -> list[Part]:
    """Return the parts that are drawn as one box while others are open, in order of time."""
    runs: list[Part] = []
    waiting: list[Part | int] = [parts.root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, int) or part.size == 1:
            continue
        if part is parts.root or parts.key(part) in opened:
            waiting += reversed(parts.inside(part))
        else:
            runs.append(part)
    return runs


def open_at_first(recording: RecordingData, parts: Parts) -> list[Key]:
    """Return the parts to open at first, by their keys; the whole run is always open."""
    room = _Room(recording, parts)
    small = len(recording["nodes"]) <= WHOLE
    opened: list[Key] = []
    waiting = _batches(parts, parts.root, 0)
    while waiting:
        depth, pattern = min(waiting)
        members = waiting.pop((depth, pattern))
        wider = [*opened, *(parts.key(part) for part in members)]
        runs = folded(parts, set(wider))
        is_loose = members[0].kind == "operations" and len(parts.ops) <= AIM
        fits = small or is_loose or room.holds(runs)
        if not fits and len(members) > 1:  # the first of them stands for all
            members = members[:1]
            wider = [*opened, parts.key(members[0])]
            fits = room.holds(folded(parts, set(wider)))
        if fits:
            opened = wider
            for part in members:
                for batch, inner in _batches(parts, part, depth + 1).items():
                    waiting.setdefault(batch, []).extend(inner)
    return opened


def _batches(parts: Parts, part: Part, depth: int) -> dict[tuple[int, tuple[Any, ...]], list[Part]]:
    """Return what in a part is opened together, by when: parts alike; groups and layers later."""
    batches: dict[tuple[int, tuple[Any, ...]], list[Part]] = {}
    for one in parts.inside(part):
        if isinstance(one, Part) and one.size > 1:
            later = one.is_group + 2 * parts.is_layer(one)
            alike = one.first if one.is_group else parts.pattern(one)
            batches.setdefault((depth + later, (one.is_group, alike)), []).append(one)
    return batches


class _Room:
    """Tells whether a picture fits, from how many boxes stand above and beside each other."""

    def __init__(self, recording: RecordingData, parts: Parts) -> None:
        self._count = len(parts.ops)
        rank_of = {node["id"]: rank for rank, node in enumerate(parts.ops)}
        self._links: list[tuple[int, int]] = []  # from rank to rank
        self._uses: dict[int, list[int]] = {}  # leaf -> ranks
        for rank, node in enumerate(parts.ops):
            for source in node["inputs"]:
                if "node" in source:
                    start = rank_of.get(source["node"])
                    if start is None:
                        self._uses.setdefault(source["node"], []).append(rank)
                    else:
                        self._links.append((start, rank))

    def boxes(self, runs: Sequence[Part]) -> int:
        """Return how many boxes there are with these folds, but for leaves."""
        return self._count - sum(part.size - 1 for part in runs)

    def holds(self, runs: Sequence[Part]) -> bool:
        """Return whether there is room with these folds."""
        count = self.boxes(runs)
        if count > MOST:
            return False
        box_of: list[int] = []
        is_fold: list[bool] = []
        for part in runs:
            while len(box_of) < part.first:
                box_of.append(len(is_fold))
                is_fold.append(False)
            box_of += [len(is_fold)] * part.size
            is_fold.append(True)
        while len(box_of) < self._count:
            box_of.append(len(is_fold))
            is_fold.append(False)
        links = {(box_of[a], box_of[b]) for a, b in self._links}
        row = [1] * count  # above the first one there may be leaves
        for a, b in sorted(links):  # a box comes after those that it reads
            if a != b:
                row[b] = max(row[b], row[a] + 1)
        width = [0] * (max(row, default=0) + 1)
        has_marks = [False] * len(width)
        for at, fold in zip(row, is_fold, strict=True):
            width[at] += FOLD if fold else OP
            has_marks[at] |= not fold
        for ranks in self._uses.values():
            users = {box_of[rank] for rank in ranks}
            if len(users) > 1 or not is_fold[min(users)]:
                width[row[min(users)] - 1] += LEAF
        height = sum(ROW + MARKS * marks for w, marks in zip(width, has_marks, strict=True) if w)
        return height <= HEIGHT and max(width) <= WIDTH
