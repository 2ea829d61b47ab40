"""Which open parts are around each box: the breadcrumb, and what can be folded again.

After reading you can say what stands above the graph while a box deep in a model is looked at: the
parts that had to be opened to see it, the largest first. Read next: ``scene.py``.
"""

from __future__ import annotations

from bisect import bisect_left

from autodiff_kit.view.outline import Outline
from autodiff_kit.view.payload import OpenPart

__all__ = ["open_parts"]


def open_parts(outline: Outline) -> tuple[list[OpenPart], dict[str, int]]:
    """Return the parts that are drawn open, and by box the place of the innermost around it.

    A leaf is in the part that alone uses it.
    """
    parts, opened = outline.parts, set(outline.opened)
    found: list[OpenPart] = []
    places: dict[tuple[int, int], int] = {}
    inside: dict[str, int] = {}
    if parts is None or not opened:
        return found, inside
    ids = [node["id"] for node in parts.ops]
    for box in outline.boxes:
        if box.kind == "leaf" or (box.kind == "fold" and box.part is None):
            continue
        rank = box.part.first if box.part else bisect_left(ids, box.nodes[0])
        outer: int | None = None
        for part in parts.around(rank):
            key = parts.key(part)
            if part is box.part or key not in opened:
                break
            if key not in places:
                places[key] = len(found)
                found.append({"title": part.title, "key": list(key), "in": outer})
            outer = places[key]
        if outer is not None:
            inside[box.id] = outer
    users: dict[str, set[int | None]] = {}
    for edge in outline.edges:
        users.setdefault(edge.source, set()).add(inside.get(edge.target))
    for box in outline.boxes:
        if box.id not in inside and box.kind == "leaf" and len(users.get(box.id, ())) == 1:
            (only,) = users[box.id]
            if only is not None:
                inside[box.id] = only
    return found, inside
