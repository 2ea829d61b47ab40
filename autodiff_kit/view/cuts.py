"""The mark on an arrow along which no gradient can come back, and the word that says why.

After reading you can say where a path back to a leaf ends: at ``detach()``, at an operation under
``no_grad``, at integers, at what has no derivative. Where nothing differentiable follows, nothing
is cut off, and there is no mark. Read next: ``svg.py``.
"""

from __future__ import annotations

import re

from autodiff_kit.record.events import NodeRecord, RecordingData
from autodiff_kit.view.chips import ROOM
from autodiff_kit.view.layout import Point, Size
from autodiff_kit.view.outline import Box, Outline
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.svg_text import escaped, pixels
from autodiff_kit.view.text import switched_off

__all__ = ["cut_size", "cut_svg", "cuts"]

BAR, HEIGHT = 40, 30  # px: the width of the bar across the arrow; with the words below it
CHARACTER = 7.2  # px, of a 13 px proportional font, generous
STOPS = "gradient stops"
_TAKEN = re.compile(r"\.(detach_?\(\)|data)")


def cuts(recording: RecordingData, outline: Outline) -> dict[str, str]:
    """Return the words of each mark, by arrow: ``"gradient stops: detach()"``."""
    if len(outline.boxes) > ROOM:
        return {}
    nodes = recording["nodes"]
    boxes = {box.id: box for box in outline.boxes}
    recorded = {box.id for box in outline.boxes if any(nodes[n]["recorded"] for n in box.nodes)}
    plain = [edge for edge in outline.edges if not edge.code]
    leading: set[str] = set()  # boxes of which what is recorded is computed, but unrecorded ones
    for edge in reversed(plain):  # an arrow leads from an earlier box to a later one
        if edge.ghost and (edge.target in recorded or edge.target in leading):
            leading.add(edge.source)
    words: dict[str, str] = {}
    for edge in plain:
        target = boxes[edge.target]
        is_new_leaf = target.kind == "leaf" and target.id in recorded
        if not edge.ghost or edge.source not in recorded:
            continue
        if is_new_leaf or (target.id not in recorded and target.id in leading):
            reason = _reason(recording, target)
            words[edge.id] = f"{STOPS}: {reason}" if reason else STOPS
    return words


def _reason(recording: RecordingData, box: Box) -> str:
    """Return why a box is not recorded, in a word or two; "" if no single thing is to blame."""
    if box.kind == "fold":
        modes = {switched_off(recording, n) for n in box.ops}
        return modes.pop() if len(modes) == 1 else ""
    record: NodeRecord = recording["nodes"][box.nodes[0]]
    if record["op"] == "detach" or record["kind"] == "leaf":
        match = _TAKEN.search(record["text"])
        return match[1].replace("data", ".data") if match else "detach()"
    if mode := switched_off(recording, box.nodes[0]):
        return mode
    if record["value"]["dtype"].startswith(("int", "uint")):
        return "integers"
    return "" if recording["ops"][str(record["op"])]["rules"] else "no derivative"


def cut_size(words: str) -> Size:
    """Return the room on an arrow for its mark, in pixels."""
    return float(round(max(BAR, len(words) * CHARACTER))), float(HEIGHT)


def cut_svg(edge: str, words: str, middle: Point, fields: Fields | None) -> str:
    """Return a bar across an arrow, and below it why nothing comes back past it."""
    if fields is not None and fields["hidden"]:
        return ""
    width, height = cut_size(words)
    x, top = middle[0], middle[1] - height / 2
    return (
        f'<g class="adk-cut" data-edge-label="{edge}"><rect class="adk-chip-paper" '
        f'x="{pixels(x - width / 2)}" y="{pixels(top)}" width="{width:g}" height="{height:g}"/>'
        f'<path d="M{pixels(x - BAR / 2)} {pixels(top + 5)}h{BAR}"/>'
        f'<text x="{pixels(x)}" y="{pixels(top + 23)}" text-anchor="middle">'
        f"{escaped(words)}</text></g>"
    )
