"""Which open parts are around each box: the breadcrumb, what can be folded again, and frames.

After reading you can say what stands above the graph while a box deep in a model is looked at: the
parts that had to be opened to see it, the largest first. Each of them has a frame around its boxes.
Read next: ``enclosures.py``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from autodiff_kit.record.events import NodeRecord
from autodiff_kit.view.outline import Box, Outline, stays_outside
from autodiff_kit.view.part import Part
from autodiff_kit.view.payload import OpenPart

__all__ = ["OpenParts", "open_parts"]


class OpenParts(NamedTuple):
    """The parts that are drawn open, each after the one around it."""

    parts: list[OpenPart]
    inside: dict[str, int]  # by box, the place of the innermost part around it
    groups: list[list[str]]  # by part, the boxes that its frame is drawn around; none, no frame


def open_parts(outline: Outline, nodes: Sequence[NodeRecord]) -> OpenParts:
    """Return the parts that are drawn open, and which boxes are in them.

    A leaf is in a part that alone uses it if it would go into the fold of that part.
    """
    whole, opened = outline.parts, set(outline.opened)
    parts: list[OpenPart] = []
    inside: dict[str, int] = {}
    if whole is None or not opened:
        return OpenParts(parts, inside, [])
    places: dict[tuple[int, int], int] = {}
    folds: list[Part] = []  # what each of the open parts would be folded to
    ids = [node["id"] for node in whole.ops]
    for box in outline.boxes:
        if _is_of_leaves(box):
            continue
        rank = box.part.first if box.part else bisect_left(ids, box.nodes[0])
        outer: int | None = None
        for part in whole.around(rank):
            key = whole.key(part)
            if part is box.part or key not in opened:
                break
            if key not in places:
                places[key] = len(parts)
                parts.append({"title": part.title, "key": list(key), "in": outer})
                folds.append(part)
            outer = places[key]
        if outer is not None:
            inside[box.id] = outer
    users: dict[str, list[list[int]]] = {}
    for edge in outline.edges:
        users.setdefault(edge.source, []).append(_around(parts, inside.get(edge.target)))
    for box in outline.boxes:
        paths = users.get(box.id, [])
        if not (_is_of_leaves(box) and paths):
            continue
        for k in reversed(paths[0]):
            is_alone = all(k in path for path in paths)
            if is_alone and not stays_outside(nodes[box.nodes[0]], folds[k], whole):
                inside[box.id] = k
                break
    return OpenParts(parts, inside, _groups(parts, folds, inside))


def _groups(
    parts: Sequence[OpenPart], folds: Sequence[Part], inside: dict[str, int]
) -> list[list[str]]:
    groups: list[list[str]] = [[] for _ in parts]
    for box, innermost in inside.items():
        for k in _around(parts, innermost):
            groups[k].append(box)
    return [
        group if len(group) > 1 and part.kind != "operations" else []
        for part, group in zip(folds, groups, strict=True)
    ]


def _is_of_leaves(box: Box) -> bool:
    return box.kind == "leaf" or (box.kind == "fold" and box.part is None)


def _around(parts: Sequence[OpenPart], innermost: int | None) -> list[int]:
    """Return the places of a part and of those around it, the largest first."""
    path: list[int] = []
    while innermost is not None:
        path.insert(0, innermost)
        innermost = parts[innermost]["in"]
    return path
