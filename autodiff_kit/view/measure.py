"""How large a drawing is: exactly, once its steps are told, and nearly, before.

After reading you can say why a run of many operations is told only once although several ways to
open it are tried: all that stands in its boxes is known but for the gradients, and a gradient is
about as long as the value. Read next: ``scene.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.ledger import events_of
from autodiff_kit.view.box_texts import box_text
from autodiff_kit.view.chips import ROOM, Chip
from autodiff_kit.view.cuts import cut_size, cuts
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.layout import Layout, Size, layout, least_height
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import Outline
from autodiff_kit.view.parameters import parameters_of
from autodiff_kit.view.stop import Stop
from autodiff_kit.view.svg import box_size
from autodiff_kit.view.training import link_size
from autodiff_kit.view.words import box_value, on_arrow

__all__ = ["lay_out", "near_size"]

NUMBER = "-0.00000"  # as long as most


def lay_out(
    outline: Outline,
    sizes: Sequence[Size],
    marks: Sequence[Size | None],
    groups: Sequence[Sequence[str]],
    stop: Stop | None = None,
) -> Layout:
    """Place the boxes of an outline; ``marks`` are the rooms to keep free on its arrows.

    ``groups`` are boxes to draw a frame around; the layout has None for those that are empty.
    ``stop`` is one box more, of an error.
    """
    place, edges, labels = _ends_and_labels(outline, marks)
    rounds = [[[place[box] for box in own] for own in loop] for loop in outline.rounds]
    framed = [[place[box] for box in group] for group in groups if group]
    more = [(place[box], len(sizes)) for box in stop.sources] if stop else []
    every_size = [*sizes, stop.size] if stop else sizes
    drawing = layout(
        every_size,
        [*edges, *more],
        [*labels, *(None for _ in more)],
        rounds,
        framed,
        is_dense=outline.detail == Detail.DENSE,
    )
    frames = iter(drawing.frames)
    drawing = replace(drawing, frames=[next(frames) if group else None for group in groups])
    if stop is None:
        return drawing
    *positions, corner = drawing.positions
    routes = drawing.routes
    return replace(
        drawing,
        positions=positions,
        routes=routes[: len(edges)],
        labels=drawing.labels[: len(edges)],
        stop=corner,
        stop_lines=routes[len(edges) :],
    )


def _ends_and_labels(
    outline: Outline, marks: Sequence[Size | None]
) -> tuple[dict[str, int], list[tuple[int, int]], list[Size | None]]:
    """Return the number of each box, the two boxes of each arrow, and the rooms on arrows."""
    place = {box.id: i for i, box in enumerate(outline.boxes)}
    edges = [(place[edge.source], place[edge.target]) for edge in outline.edges]
    labels = [
        link_size(edge) if edge.code else mark
        for edge, mark in zip(outline.edges, marks, strict=True)
    ]
    return place, edges, labels


def near_size(
    outline: Outline,
    recording: RecordingData,
    names: Names,
    groups: Sequence[Sequence[str]],
    most: float = inf,
) -> Size:
    """Return about how wide and high it will be; what is higher than ``most`` is not laid out."""
    nodes = recording["nodes"]
    has_pass = any(events_of(recording["events"], "backward"))
    sizes: list[Size] = []
    for box in outline.boxes:
        text = box_text(recording, box, names, detail=outline.detail)
        last = nodes[box.nodes[-1]]
        has_gradient = has_pass and not text["ghost"]
        is_number = not last["value"]["shape"] or parameters_of(box, nodes)  # of those, the norm
        grad = NUMBER if is_number else box_value(last["value"])
        later: Any = {"grads": [grad], "maps": text["cells"]} if has_gradient else {}
        sizes.append(box_size({**text, **later}))
    folds = {box.id for box in outline.boxes if box.kind == "fold"}
    marks: list[Size | None] = []
    own_cuts = cuts(recording, outline)
    for edge in outline.edges:
        is_marked = has_pass and not edge.ghost and len(outline.boxes) <= ROOM
        if is_marked and edge.source not in folds and edge.target not in folds:
            value = nodes[outline.box_of[int(edge.source)].nodes[0]]["value"]
            slopes = [] if value["shape"] else [NUMBER]
            chip = Chip(slopes, [on_arrow(value)], [], True, [], [], outline.detail == Detail.DENSE)
            marks.append(chip.size)
        else:
            words = own_cuts.get(edge.id)
            marks.append(cut_size(words) if words else None)
    _, edges, labels = _ends_and_labels(outline, marks)
    height = least_height(sizes, edges, labels, is_dense=outline.detail == Detail.DENSE)
    if height > most:
        return 0.0, height
    drawing = lay_out(outline, sizes, marks, groups)
    return drawing.width, drawing.height
