"""Training loops: their rounds in the order of time, and what leads from one to the next.

After reading you can say when the rounds of a loop stand below each other although no result of
one is an operand of the next: when a round changes a leaf, or adds to its ``.grad``, and a later
round reads that leaf. The arrow between them has no gradient; it says what the learner wrote
there, ``opt.step()``. Read next: ``rank.py``, which keeps the rounds apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from autodiff_kit.record.events import RecordingData, ScopeRecord
from autodiff_kit.record.ledger import events_of
from autodiff_kit.view.layout import Point, Size
from autodiff_kit.view.outline import Box, Edge, Outline
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.svg_text import escaped, pixels, text_width
from autodiff_kit.view.words import listed

__all__ = ["Link", "connect_rounds", "link_size", "link_svg", "links_between_rounds"]

LONGEST = 30  # characters on an arrow
NAMED = 2  # more leaves that a statement changes are counted instead
FONT, HEIGHT, INSET = 13, 24, 9  # px, of what stands there
GRADIENT = "gradient from backward"  # what a leaf is that the code reads as ``w.grad``

Span = tuple[int, int]  # the first and the last round of a box


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """What the learner wrote that has changed leaves, and the operation before it.

    ``is_pass``: it is a backward pass, which changes their ``.grad``.
    """

    node: int
    code: str
    is_pass: bool = False


class Link(NamedTuple):
    """What an op of a later round reads that an earlier round has changed."""

    change: _Change
    reader: int
    loop: int
    leaves: list[int]  # that were changed so


def links_between_rounds(recording: RecordingData) -> tuple[list[Link], list[tuple[_Change, int]]]:
    """Find what leads from one round of a training loop to the next.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``events``, ``scopes``, ``sources``.

    Returns
    -------
    links, gradients
        And of each pass, the leaves that the code has read as a ``.grad`` after it.
    """
    return _Links(recording).find()


def connect_rounds(
    recording: RecordingData,
    whole: Outline,
    links: tuple[list[Link], list[tuple[_Change, int]]] | None = None,
) -> None:
    """Draw what leads from one round of a training loop to the next, and note their order.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``events``, ``scopes``, ``sources``.
    whole : Outline
        Boxes and arrows; gets more arrows, and ``rounds``.
    links : tuple, optional
        What ``links_between_rounds`` has found, which is the same in all drawings.
    """
    _Rounds(recording, whole).connect(*(links or links_between_rounds(recording)))


def link_size(edge: Edge) -> Size:
    """Return the room on an arrow for what the learner wrote and what it does, in pixels."""
    words = f"{edge.code} {edge.effect}".rstrip()
    return float(round(text_width(words, size=FONT) + 2 * INSET)), float(HEIGHT)


def link_svg(edge: Edge, middle: Point, fields: Fields | None) -> str:
    """Return what stands on an arrow from one round to the next; nothing before it is there."""
    if fields is not None and fields["hidden"]:
        return ""
    width, height = link_size(edge)
    x, y = middle
    effect = f" <tspan>{escaped(edge.effect)}</tspan>" * bool(edge.effect)
    return (
        f'<g class="adk-link" data-edge-label="{edge.id}"><rect x="{pixels(x - width / 2)}" '
        f'y="{pixels(y - height / 2)}" width="{width:g}" height="{height:g}" rx="12"/>'
        f'<text x="{pixels(x)}" y="{pixels(y + 4.5)}" text-anchor="middle">'
        f"{escaped(edge.code)}{effect}</text></g>"
    )


class _Links:
    """Goes through the events once."""

    def __init__(self, recording: RecordingData) -> None:
        self._recording = recording
        self._rounds_of = _RoundsOf(recording)
        self._links: list[Link] = []
        self._codes: dict[tuple[object, ...], str] = {}  # a loop runs few lines many times

    def find(self) -> tuple[list[Link], list[tuple[_Change, int]]]:
        """Return the links, and of each pass, the leaves that are a .grad."""
        nodes = self._recording["nodes"]
        changes: dict[int, _Change] = {}  # leaf -> what has changed it, or its .grad, since
        backward = step = _Change(-1, "")
        passes: list[tuple[_Change, int]] = []
        sharing: dict[int, dict[int, None]] = {}  # by storage, the leaves that look into it
        written: Any = None
        last = -1
        kinds = "op", "leaf", "backward", "accumulate", "modified"
        for event in events_of(self._recording["events"], *kinds):
            kind = event["kind"]
            if kind == "op":
                last = event["node"]
                for source in nodes[last]["inputs"] if changes else ():
                    change = changes.get(source.get("node", -1))
                    if change is not None and self._link(change, last, changes):
                        changes = {n: other for n, other in changes.items() if other is not change}
            elif kind == "backward":
                code = self._code(event["where"], "backward")
                backward = _Change(event["roots"][-1], code, is_pass=True)
            elif kind == "accumulate":
                changes[event["node"]] = backward
            elif kind == "modified":
                where, storage = event["where"], event.get("storage")
                own = sharing.setdefault(storage, {}) if storage is not None else {}
                for node in event.get("left", ()):
                    own.pop(node, None)
                joined = event.get("joined", [event["node"]])
                own.update((node, None) for node in joined if nodes[node]["kind"] == "leaf")
                if not own or last < 0:
                    continue
                if where != written or step.node != last:  # one line may change many
                    step, written = _Change(last, self._code(where, event["how"])), where
                changes.update(dict.fromkeys(own, step))
            elif backward.node >= 0 and nodes[event["node"]].get("part") == GRADIENT:
                passes.append((backward, event["node"]))
        return self._links, passes

    def _link(self, change: _Change, reader: int, changes: Mapping[int, _Change]) -> bool:
        """Note a link if the reader is in a later round than the change; say if it is in one."""
        loop = self._rounds_of.loop_between(change.node, reader)
        if loop is None:
            return False
        leaves = sorted(leaf for leaf, other in changes.items() if other is change)
        self._links.append(Link(change, reader, loop, leaves))
        return True

    def _code(self, where: Sequence[int] | None, how: str) -> str:
        """Return what the learner wrote at a place, in one line."""
        if where is None:
            return how
        key = (*where, how)
        if key not in self._codes:
            self._codes[key] = self._read_code(where, how)
        return self._codes[key]

    def _read_code(self, where: Sequence[int], how: str) -> str:
        """Return it from the source."""
        text = str(self._recording["sources"][where[0]]["text"])
        lines = text.splitlines()[where[1] - 1 : where[3]]
        if not lines:
            return how
        lines[-1] = lines[-1][: where[4]]
        lines[0] = lines[0][where[2] :]
        return " ".join(" ".join(lines).split()) or how


class _RoundsOf:
    """Knows in which rounds of which loops a node was made."""

    def __init__(self, recording: RecordingData) -> None:
        self._nodes = recording["nodes"]
        self._scopes: dict[int, ScopeRecord] = {s["id"]: s for s in recording["scopes"]}

    def loop_between(self, first: int, second: int) -> int | None:
        """Return the outermost loop in different rounds of which two operations are."""
        own, other = self.at(first), self.at(second)
        return next((loop for loop in own if other.get(loop, own[loop]) != own[loop]), None)

    def at(self, node: int) -> dict[int, int]:
        """Return in which round of which loop a node was made; the outermost loop first."""
        at: int | None = self._nodes[node]["scope"]
        rounds_around: list[tuple[int, int]] = []
        while at is not None:
            scope = self._scopes[at]
            at = scope["parent"]
            if scope["kind"] == "iteration" and at is not None:
                rounds_around.append((at, scope["index"]))
        return dict(reversed(rounds_around))


class _Rounds:
    def __init__(self, recording: RecordingData, whole: Outline) -> None:
        self._recording, self._whole = recording, whole
        self._rounds_of = _RoundsOf(recording)
        self._loops: dict[int, None] = {}  # those whose rounds an arrow connects
        self._between: dict[tuple[str, str], Edge] = {}

    def connect(self, links: Sequence[Link], passes: Sequence[tuple[_Change, int]]) -> None:
        """Draw the arrows, and note the order of the rounds."""
        box_of = self._whole.box_of
        for change, reader, loop, leaves in links:
            start, end = box_of[change.node], box_of[reader]
            if start is not end:
                self._loops[loop] = None
                self._draw(start, end, change.code, self._effect(change, leaves))
        if not self._loops:
            return
        for loop in self._loops:
            self._whole.rounds.append(self._blocks(loop))
        ordered = {box for rounds in self._whole.rounds for block in rounds for box in block}
        for change, leaf in passes:
            start, end = box_of[change.node], box_of[leaf]
            if end.kind == "leaf" and end.id in ordered and start.id in ordered:
                self._draw(start, end, change.code)

    def _effect(self, change: _Change, leaves: Sequence[int]) -> str:
        """Say which leaves a statement changes, if it does not name them itself."""
        nodes = self._recording["nodes"]
        boxes = {box.id: box for box in (self._whole.box_of[leaf] for leaf in leaves)}
        names = [box.title or str(nodes[box.nodes[0]]["name"] or "") for box in boxes.values()]
        if any(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", change.code) for name in names):
            return ""
        own = listed(names) if len(names) <= NAMED and all(names) else f"{len(leaves)} parameters"
        if change.is_pass:
            is_named = len(names) <= NAMED and all(map(str.isidentifier, names))
            return f"adds to {listed(f'{n}.grad' for n in names)}" if is_named else "adds to .grad"
        return f"changes {own}"

    def _draw(self, start: Box, end: Box, code: str, effect: str = "") -> None:
        edge = self._between.get((start.id, end.id))
        if edge is not None:
            if code not in edge.code:
                edge.code = _short(f"{edge.code.removesuffix(' …')}; {code}")
                edge.effect = ""
            return
        edges = self._whole.edges
        edge = Edge(str(len(edges)), start.id, end.id, "", True, _short(code), effect)
        self._between[start.id, end.id] = edge
        edges.append(edge)

    def _blocks(self, loop: int) -> list[list[str]]:
        """Return the boxes of each round, or of rounds that are folded together, in order."""
        blocks: dict[Span, list[str]] = {}
        span_of: dict[str, Span] = {}
        users: dict[str, set[Span | None]] = {}
        for box in self._whole.boxes:
            ops = box.ops or box.nodes
            first, last = (self._rounds_of.at(n).get(loop) for n in (ops[0], ops[-1]))
            if first is not None and last is not None:
                span_of[box.id] = first, last
        for edge in self._whole.edges:
            users.setdefault(edge.source, set()).add(span_of.get(edge.target))
        for box in self._whole.boxes:
            alone = users.get(box.id, set()) if box.kind == "leaf" else set()
            span = span_of.get(box.id) or (next(iter(alone)) if len(alone) == 1 else None)
            if span is not None:
                blocks.setdefault(span, []).append(box.id)
        return [blocks[span] for span in sorted(blocks)]


def _short(code: str) -> str:
    return code if len(code) <= LONGEST else f"{code[: LONGEST - 2].rstrip('; ')} …"
