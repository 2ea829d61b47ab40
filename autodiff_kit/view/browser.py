"""What a browser gets of a picture: all boxes, arrows and steps, as plain data.

After reading you know where each field of ``payload.py`` comes from. Read next: ``page.py``.
"""

from __future__ import annotations

from typing import Protocol

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view import text
from autodiff_kit.view.drawn import Drawn
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import Box, Outline
from autodiff_kit.view.payload import BoxPayload, Payload
from autodiff_kit.view.svg import base_svg

__all__ = ["browser_payload"]


class _Steppable(Drawn, Protocol):
    """What is read of a ``scene.Picture`` beyond its drawing."""

    since: dict[str, int]
    open_folds: list[list[int]]
    closed_parts: list[list[int]]


def browser_payload(picture: _Steppable, recording: RecordingData, names: Names) -> Payload:
    """Return what the browser needs to draw a picture and to step through it."""
    inputs: dict[str, list[str]] = {box.id: [] for box in picture.outline.boxes}
    consumers: dict[str, list[str]] = {box.id: [] for box in picture.outline.boxes}
    called = {
        box.id: box.heading if box.kind == "fold" else names.called(box.nodes[-1])
        for box in picture.outline.boxes
    }
    uses: dict[str, list[list[str]]] = {box.id: [] for box in picture.outline.boxes}
    for edge in picture.outline.edges:
        if edge.id in picture.chips:
            uses[edge.source].append([edge.id, called[edge.target]])
        if edge.source not in inputs[edge.target]:
            inputs[edge.target].append(edge.source)
            consumers[edge.source].append(edge.target)
    nodes: dict[str, BoxPayload] = {}
    parts, inside, _ = picture.opened_parts
    for box, words in zip(picture.outline.boxes, picture.texts, strict=True):
        record = recording["nodes"][box.nodes[-1]]
        folded = box.kind == "fold"
        nodes[box.id] = {
            "title": picture.titles[box.id],
            "name": words["name"] or picture.titles[box.id],
            "aria": f"{box.heading}, folded" if folded else text.aria(record, names),
            "what": text.what(recording, box, names),
            "uses": uses[box.id],
            "where": box.where if folded else record["where"],
            "facts": _facts(box, picture.outline, recording, names),
            "since": picture.since[box.id],
            "inputs": inputs[box.id],
            "consumers": consumers[box.id],
        }
        if key := box.key:
            nodes[box.id]["opens"] = key
        if box.id in inside:
            nodes[box.id]["in"] = inside[box.id]
    turn = (k for k, frame in enumerate(picture.frames) if frame["phase"] == "backward")
    return {
        "version": 1,
        "title": picture.title,
        "width": picture.layout.width,
        "height": picture.layout.height,
        "svg": base_svg(picture),
        "sources": picture.sources,
        "nodes": nodes,
        "order": [box.id for box in picture.outline.boxes],
        "frames": picture.frames,
        "turn": next(turn, None),
        "opened": len(picture.open_folds) + len(picture.closed_parts),
        "parts": parts,
    }


def _facts(box: Box, drawing: Outline, recording: RecordingData, names: Names) -> list[list[str]]:
    if box.kind == "fold":
        return text.fold_facts(recording, box, drawing, names)
    return text.facts(recording, box.nodes, names)
