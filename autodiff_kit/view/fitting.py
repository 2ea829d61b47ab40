"""What of a large graph is open at first: as much as can be read without moving the picture.

After reading you can say why a run of a thousand operations begins as a dozen boxes: parts are
opened from the outside in, those inside of one part all together, as long as the rows and columns
of boxes still fit. Groups of rounds and of equal modules are opened last. Read next:
``outline.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.fold import Parts
from autodiff_kit.view.part import Key, Part

__all__ = ["BARE", "HEIGHT", "WHOLE", "WIDER", "WIDTH", "Stage", "fits", "folded"]
__all__ += ["open_at_first", "smaller"]

WHOLE = 40  # a graph of so many nodes is open as it is
MOST = 40  # boxes
AIM = 120  # operations that belong to no part are folded only where there are more of them
# Pixels that can be read at 70 % in a window 900 wide and 900 high; a wider one shows them larger.
WIDTH, HEIGHT = 725.0, 770.0
DENSER = 0.75  # of the height, where lines are as close as they can be
BARE = 2  # parts and operations; what one more opens may fit in a wider window alone ...
WIDER = 1.4  # ... by so much
ROW, MARKS = 112, 30  # about what a row of boxes takes, and slopes and contributions above it
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


@dataclass(frozen=True, slots=True)
class Stage:
    """Parts that are open, by their keys, and about how large the picture is then."""

    opened: list[Key]
    width: float
    height: float


def fits(size: tuple[float, float], part: float = 1.0) -> bool:
    """Return whether so much of a drawing's size can be read without moving it."""
    return size[0] * part <= WIDTH and size[1] * part <= HEIGHT


def smaller(stages: list[Stage], width: float, height: float) -> list[Stage]:
    """Return the stages that remain where the last one was drawn, and found too large.

    As much larger as the drawing was than expected, others would be too.
    """
    *others, last = stages
    wider, higher = width / last.width, height / last.height
    small = [s for s in others if s.width * wider <= WIDTH and s.height * higher <= HEIGHT]
    return small or others[:1]


def open_at_first(
    recording: RecordingData, parts: Parts, *, together: bool = False, dense: bool = False
) -> list[Stage]:
    """Return what to open at first, from little to as much as seems to fit.

    The whole run is always open. How large a picture really is, only its drawing says. ``dense``
    is for a drawing with as little as possible in it.
    """
    room = _Room(parts, together, dense)
    small = len(recording["nodes"]) <= WHOLE
    opened: list[Key] = []
    stages = [Stage([], *room.size(folded(parts, ())))]
    waiting = _batches(parts, parts.root, 0)
    while waiting:
        depth, pattern = min(waiting)
        members = waiting.pop((depth, pattern))
        wider = [*opened, *(parts.key(part) for part in members)]
        runs = folded(parts, set(wider))
        is_loose = members[0].kind == "operations" and len(parts.ops) <= AIM
        fits = small or is_loose or room.holds(runs)
        if not fits and len(members) > 1 and not parts.is_layer(members[0]):
            # The first of them stands for all; layers are alike enough.
            members = members[:1]
            wider = [*opened, parts.key(members[0])]
            runs = folded(parts, set(wider))
            fits = room.holds(runs)
        if fits:
            opened = wider
            stages.append(Stage(opened, *room.size(runs)))
            for part in members:
                for batch, inner in _batches(parts, part, depth + 1).items():
                    waiting.setdefault(batch, []).extend(inner)
    return stages


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

    def __init__(self, parts: Parts, together: bool, dense: bool) -> None:
        self._together = together
        self._denser = DENSER if dense else 1.0
        self._count = len(parts.ops)
        self._uses = parts.uses
        ends = [*parts.links, *parts.rounds_in_time]
        self._starts, self._ends = [a for a, _ in ends], [b for _, b in ends]

    def boxes(self, runs: Sequence[Part]) -> int:
        """Return how many boxes there are with these folds, but for leaves."""
        return self._count - sum(part.size - 1 for part in runs)

    def holds(self, runs: Sequence[Part]) -> bool:
        """Return whether there is room with these folds."""
        if self.boxes(runs) > MOST:
            return False
        width, height = self.size(runs)
        return width <= WIDTH and height * self._denser <= HEIGHT

    def size(self, runs: Sequence[Part]) -> tuple[float, float]:
        """Return about how wide and high the picture is."""
        count = self.boxes(runs)
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
        box_at = box_of.__getitem__
        links = set(zip(map(box_at, self._starts), map(box_at, self._ends), strict=True))
        row = [1] * count  # above the first one there may be leaves
        for a, b in sorted(links):  # a box comes after those that it reads
            if a != b:
                row[b] = max(row[b], row[a] + 1)
        width = [0] * (max(row, default=0) + 1)
        has_marks = [False] * len(width)
        for at, fold in zip(row, is_fold, strict=True):
            width[at] += FOLD if fold else OP
            has_marks[at] |= not fold
        rows_of: dict[frozenset[int], int] = {}  # of boxes that share leaves
        for ranks in self._uses.values():
            users = frozenset(map(box_at, ranks))
            if len(users) > 1 or not is_fold[min(users)]:
                if not (self._together and users in rows_of):
                    width[row[min(users)] - 1] += LEAF
                rows_of[users] = row[min(users)] - 1
        height = sum(ROW + MARKS * marks for w, marks in zip(width, has_marks, strict=True) if w)
        return float(max(width, default=0) or FOLD), float(height or ROW)
