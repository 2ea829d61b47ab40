"""What a page can open although no Python answers it: parts of the graph, each drawn beforehand.

After reading you can say what a click on a folded box of an HTML page shows, and why some boxes
cannot be opened there: the outermost parts come first, as many as the room allows. On a page one
part is open at a time, with those around it. Read next: ``page.py``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from autodiff_kit.view.payload import OpenPart, Payload, deflate
from autodiff_kit.view.scene import Picture

__all__ = ["FOLDED", "OpenedPart", "unfolded"]

FOLDED = "-"  # before the key of a part that is open at first: the picture in which it is not

# What a page may cost: in nodes drawn, and so in seconds to write it.
WORK = 30_000


class OpenedPart(NamedTuple):
    """The picture in which a part is open."""

    outer: str  # the part that it was opened in; "" for the picture that the page begins with
    payload: Payload  # with no sources: all pictures share those of the first


def unfolded(picture: Picture, room: int) -> tuple[Payload, dict[str, OpenedPart]]:
    """Draw a picture, and the pictures in which one more part of it is open.

    Parameters
    ----------
    picture : Picture
    room : int
        Bytes that the pictures with an open part may take, packed.

    Returns
    -------
    payload, parts
        What the page begins with, and by key, ``"3,14"``, what it can open; as ``"-3,14"`` what
        it can fold of what is open at first. No box offers to be opened, and no part to be folded,
        where there is no picture for it.
    """
    parts_by_key: dict[str, OpenedPart] = {}
    first = picture.payload()
    for part in first["parts"]:
        content = _alone(picture.closed(part["key"]))
        size = _packed(content)
        if size <= room:
            room -= size
            parts_by_key[FOLDED + _name(part["key"])] = OpenedPart("", content)
    waiting: deque[tuple[str, Picture, Payload]] = deque([("", picture, first)])
    work = WORK
    while waiting:
        outer, picture_there, payload = waiting.popleft()
        for box in payload["nodes"].values():
            key = _name(box.get("opens"))
            if not key or key in parts_by_key or work < 0:
                continue
            wider = picture_there.opened(box["opens"])
            work -= wider.size
            inner = _alone(wider)
            size = _packed(inner)
            if size > room:
                continue
            room -= size
            parts_by_key[key] = OpenedPart(outer, inner)
            waiting.append((key, wider, inner))
    first = _limited({**first, "moments": picture.moments}, parts_by_key)
    return first, {
        key: OpenedPart(o, _limited(p, parts_by_key)) for key, (o, p) in parts_by_key.items()
    }


def _alone(picture: Picture) -> Payload:
    return {**picture.payload(), "sources": [], "moments": picture.moments}


def _packed(payload: Payload) -> int:
    return math.ceil(len(deflate(payload)) * 4 / 3)


def _limited(payload: Payload, parts_by_key: dict[str, OpenedPart]) -> Payload:
    """Return the payload without the offers for which there is no picture."""
    nodes = {name: box.copy() for name, box in payload["nodes"].items()}
    keys = {
        key.removeprefix(FOLDED) for key in parts_by_key
    }  # what was open at first opens to that
    for box in nodes.values():
        if _name(box.get("opens")) not in keys:
            box.pop("opens", None)
    parts: list[OpenPart] = [
        {**part, "stays": _name(part["key"]) not in keys} for part in payload["parts"]
    ]
    return {**payload, "nodes": nodes, "parts": parts}


def _name(key: Sequence[int] | None) -> str:
    return ",".join(map(str, key or ()))
