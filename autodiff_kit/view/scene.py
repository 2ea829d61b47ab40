"""From a recording to a picture that can be stepped through: ``build(recording)``.

After reading you can say what is computed once (boxes, their texts, the layout, all steps) and
what depends on the step (a few fields and classes). A ``Picture`` is plain data in and plain data
out; the browser, the still, the text and the HTML page all show the same one. Read next:
``outline.py`` for the boxes, ``frames.py`` for the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.recording import Recording
from autodiff_kit.view import svg
from autodiff_kit.view.box_texts import box_texts
from autodiff_kit.view.browser import browser_payload
from autodiff_kit.view.chips import chips, parts_of, slots
from autodiff_kit.view.conditions import find_steps, subject_of
from autodiff_kit.view.crumbs import open_parts
from autodiff_kit.view.cuts import cut_size, cuts
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.fitting import BARE, HEIGHT, WHOLE, WIDER, fits, open_at_first, smaller
from autodiff_kit.view.fold import FEWEST_ROUNDS, Parts
from autodiff_kit.view.frames import subjects_of, tell
from autodiff_kit.view.layout import Layout, Size
from autodiff_kit.view.measure import lay_out, near_size
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import Box, Outline, outline
from autodiff_kit.view.part import Key
from autodiff_kit.view.payload import (
    NOTHING,
    BoxText,
    Fields,
    Frame,
    Payload,
    SourceLines,
    State,
)
from autodiff_kit.view.roles import role_labels
from autodiff_kit.view.stop import stop_of
from autodiff_kit.view.titles import title_of
from autodiff_kit.view.training import connect_rounds, links_between_rounds

__all__ = ["Picture", "build"]

# What is open at first, whether shared leaves are one box, and how much stands in the drawing.
First = tuple[Sequence[Key], bool, Detail]
TRIED = 100  # of up to so many nodes, each way to open it is tried; of more, those likely to fit
ABOUT = 0.85  # of a size that is known only nearly, as much is true at least
KEYS = ("sources", "ops", "scopes", "error")


def build(
    recording: Any,
    *,
    fold: Sequence[int] | bool | None = None,
    opened: Sequence[Sequence[int]] = (),
    closed: Sequence[Sequence[int]] = (),
) -> Picture:
    """Lay out the graph of a recording and tell its steps.

    Parameters
    ----------
    recording : Recording or dict
        What was recorded; an object is asked for attributes named like the keys.
    fold : sequence of int, bool or None
        None folds what is too large to be read at once. False draws every node of a graph of up
        to 300. A sequence names scopes (loops, iterations, calls) to fold in any case.
    opened : sequence of (first, last) operation
        Folds to draw open, in the order in which they were opened; ``Picture.opened`` adds one.
    closed : sequence of (first, last) operation
        Parts to fold that would be open; ``Picture.closed`` adds one.

    Returns
    -------
    Picture

    Raises
    ------
    ValueError
        If ``fold`` names a scope that is not in the recording.
    RecordingError
        If the ``with`` block of the recording has not ended.
    """
    if not isinstance(recording, Mapping):
        if isinstance(recording, Recording):
            recording.check_ended()
        note = getattr(recording, "note", None)
        parts = {key: getattr(recording, key) for key in KEYS}
        if isinstance(recording, Recording):
            nodes, events = recording.noted()
        else:
            nodes, events = recording.nodes, recording.events
        recording = {**parts, "nodes": nodes, "events": events, "note": note}
    return Picture(recording, fold, opened, closed)


class Picture:
    """A graph, laid out once, and its steps; made by ``build``.

    Attributes
    ----------
    title : str
        What is computed, ``"Computation graph of loss"``.
    outline : Outline
        Boxes and arrows.
    texts : list of dict
        What stands in each box: ``name``, ``symbol``, ``lines``, and ``grads``, ``values`` over
        all steps.
    sizes : list of (width, height)
        Of each box, in pixels.
    titles : dict from str to str
        By box, ``"h1 = h * w"``.
    frames : list of dict
        The steps, see ``frames.py``.
    note : str
        Why the recording is not complete, told with the last step; "" if it is.
    layout : Layout
        Where everything stands; it does not depend on the step.
    since : dict from str to int
        By box, the step at which it appears.
    opened_parts : OpenParts
        The parts that are drawn open, and the boxes in them.
    sources : list of dict
        ``name``, ``lines``, ``first_line``.
    open_folds, closed_parts : list of [first, last]
        Folds that were opened, and parts that were folded.
    cuts : dict from str to str
        By arrow, why no gradient comes back along it, if that cuts a leaf off.
    stop : Stop or None
        What says in the picture that an error has ended the run.
    moments : list of int
        By step, how much of the recording has happened; in all its pictures alike.
    """

    def __init__(
        self,
        recording: RecordingData,
        fold: Sequence[int] | bool | None,
        opened: Sequence[Sequence[int]] = (),
        closed: Sequence[Sequence[int]] = (),
        first: First | None = None,
    ) -> None:
        self._recording = recording
        self._fold, self.open_folds = fold, [list(key) for key in opened]
        self.closed_parts = [list(key) for key in closed]
        self._names = Names(recording)
        self._links = links_between_rounds(recording)
        self.note: str = recording.get("note") or ""
        self.title = title_of(recording)
        self._detail_of_steps: Detail | None = None
        parts = Parts(recording)
        if first is None:
            self._draw_what_fits(parts)
        else:
            self._choose(first, parts)
            self._draw()
        self.edge_labels = self._edge_labels()
        self.sources: list[SourceLines] = [
            {
                "name": source["name"],
                "lines": str(source["text"]).splitlines(),
                "first_line": source.get("first_line", 1),
            }
            for source in recording["sources"]
        ]

    def _draw_what_fits(self, parts: Parts) -> None:
        """Open as much as fits, drawing shared leaves as one box only if nothing fits without."""
        alone = open_at_first(self._recording, parts, together=False)
        shared = None
        turns = [False, True]
        if len(alone) == 1 and self.size > WHOLE:
            shared = open_at_first(self._recording, parts, together=True)
            if len(shared) > 1:  # leaves side by side would leave no room to open anything
                turns = [True]
        for together in turns:
            others = together and (shared or open_at_first(self._recording, parts, together=True))
            stages = others or alone
            while True:
                self._choose((stages[-1].opened, together, Detail.PICTURES), parts)
                if len(stages) == 1 and self._is_bare() and self._open_more(parts):
                    return
                size = self._draw_with_room(is_last=together and len(stages) == 1)
                if size is None:
                    self._open_one(parts)
                    return
                if len(stages) == 1:
                    break
                stages = smaller(stages, *size) if self.size > TRIED else stages[:-1]

    def _is_bare(self) -> bool:
        """Return whether so little is open that there is nothing to be stepped through."""
        return sum(box.part is not None or box.kind == "op" for box in self.outline.boxes) <= BARE

    def _open_more(self, parts: Parts) -> bool:
        """Draw one part more open, if that fits a wider window at least, as dense as it can be."""
        first = self._open_first, self._together, Detail.PICTURES
        for stage in open_at_first(self._recording, parts, together=True, dense=True)[1:2]:
            self._choose((stage.opened, True, Detail.DENSE), parts)
            if self._draw_with_room(is_last=False, room=WIDER) is None:
                return True
        self._choose(first, parts)
        return False

    def _draw_with_room(self, *, is_last: bool, room: float = 1.0) -> Size | None:
        """Draw with as much in it as fits; return how large it is if nothing does.

        What stays although it does not fit is drawn with as little as possible: the last that can
        be tried, and a few nodes.
        """
        details = [detail for detail in reversed(Detail) if detail <= self.outline.detail]
        size, is_drawn = (0.0, 0.0), False
        for detail in details if self.size <= WHOLE or self._fold is not None else details[:2]:
            self.outline.detail = detail
            part = (ABOUT if self.size <= WHOLE else 1.0) / room
            highest = HEIGHT / part if self.size <= TRIED else inf  # of more, sizes are compared
            groups = self.opened_parts.groups
            size = near_size(self.outline, self._recording, self._names, groups, highest)
            if is_drawn := fits(size, part):
                self._draw()
                size = self.layout.width, self.layout.height
                if fits(size, 1 / room):
                    return None
        stays = is_last or self._may_be_large()
        if stays and not is_drawn:
            self._draw()
            stays = is_last or self._may_be_large()
        return None if stays else size

    def _open_one(self, parts: Parts) -> None:
        """Open the first part of a small run if none is open, or all is folded: it has steps."""
        opened = [*self._open_first]
        while self.size <= WHOLE:
            keys = [parts.key(box.part) for box in self.outline.boxes if box.part]
            keys = [key for key in keys if key not in opened]  # else it is to stay folded
            ops = sum(box.kind == "op" for box in self.outline.boxes)
            if not keys or (opened and ops):
                return
            opened.append(keys[0])
            self._choose((opened, self._together, Detail.SUMS), parts)
            self._draw_with_room(is_last=True)

    def _choose(self, first: First, parts: Parts) -> None:
        """Decide on the boxes with these parts open at first, shared leaves together or not."""
        recording, (keys, together, detail) = self._recording, first
        self._open_first, self._together = keys, together
        self.outline: Outline = outline(
            recording,
            self._fold,
            self.open_folds,
            self.closed_parts,
            keys,
            parts,
            together=together,
            names=self._names,
        )
        self.outline.detail = min(self.outline.detail, detail)
        self._detail_of_steps = None
        connect_rounds(recording, self.outline, self._links)
        self.opened_parts = open_parts(self.outline, recording["nodes"])

    def _first(self) -> First:
        return self._open_first, self._together, self.outline.detail

    def _draw(self) -> None:
        """Tell the steps, and lay the picture out with room for all that they show."""
        recording = self._recording
        # Where lines alone get closer, the steps are those that have just been told.
        detail = max(self.outline.detail, Detail.PLAIN)
        if detail != self._detail_of_steps:
            self.frames, self.moments = self._told()
            self._detail_of_steps = detail
        self.titles = {box.id: self._box_title(box) for box in self.outline.boxes}
        self.since = self._since()
        self.chips = chips(self.frames, self.outline)
        self.slots = slots(parts_of(self.outline, recording), self.chips)
        self.texts = self._texts()
        self.sizes = [svg.box_size(words) for words in self.texts]
        marks = [self.chips.get(edge.id) for edge in self.outline.edges]
        rooms = [mark.size if mark and mark.is_kept else None for mark in marks]
        self.cuts = cuts(recording, self.outline)
        for k, edge in enumerate(self.outline.edges):
            if edge.id in self.cuts:
                rooms[k] = cut_size(self.cuts[edge.id])
        explanation = self.frames[-1].get("explanation") if self.frames else None
        inputs = [(edge.source, edge.target) for edge in self.outline.edges]
        self.stop = stop_of(explanation, recording, inputs) if explanation else None
        self.layout: Layout = lay_out(
            self.outline, self.sizes, rooms, self.opened_parts.groups, self.stop
        )

    def _may_be_large(self) -> bool:
        """Tell whether all is drawn even where it does not fit: few nodes, rounds and no layers."""
        rounds = max(map(len, self.outline.rounds), default=0)
        has_modules = any(scope["kind"] == "module" for scope in self._recording["scopes"])
        is_small = self.size <= WHOLE and rounds < FEWEST_ROUNDS and not has_modules
        return is_small or self._fold is not None

    @property
    def size(self) -> int:
        """How many nodes the recording has: what it costs to draw it in another way."""
        return len(self._recording["nodes"])

    def __repr__(self) -> str:
        """Name the picture and its size; the same words for the same recording."""
        return f"Picture({self.title!r}, {len(self.outline.boxes)} boxes, {len(self.frames)} steps)"

    def state(self, step: int) -> State:
        """Return everything that one step shows; a pure function of the step.

        Parameters
        ----------
        step : int
            From 0; negative ones count from the end.

        Returns
        -------
        State

        Raises
        ------
        IndexError
            If there is no such step; the message says how many there are.
        """
        count = len(self.frames)
        if not -max(count, 1) <= step < max(count, 1):
            raise IndexError(
                f"step {step} is not in this recording: it has {count} steps, "
                f"so use 0 to {count - 1}, or -1 for the last one"
            )
        step %= max(count, 1)
        frame = self.frames[step] if count else NOTHING
        nodes: dict[str, Fields] = {
            box.id: {"hidden": step < self.since[box.id], "active": box.id == frame["node"]}
            for box in self.outline.boxes
        }
        edges: dict[str, Fields] = {
            edge.id: {"hidden": step < self.since[edge.target], "active": edge.id == frame["edge"]}
            for edge in self.outline.edges
        }
        for before in self.frames[: step + 1]:
            for name, fields in before["set"].items():
                nodes[name].update(fields)
            for name, fields in before.get("along", {}).items():
                edges[name].update(fields)
        return {
            "step": step,
            "phase": frame["phase"],
            "kind": frame["kind"],
            "caption": frame["caption"],
            "where": frame["where"],
            "node": frame["node"],
            "edge": frame["edge"],
            "explanation": frame.get("explanation"),
            "nodes": nodes,
            "edges": edges,
        }

    def opened(self, key: Sequence[int] | None) -> Picture:
        """Return the picture with one more fold open; with all of them closed if ``key`` is None.

        Parameters
        ----------
        key : (first, last) operation or None
            As the payload has it under ``opens``.
        """
        if key is None:
            return Picture(self._recording, self._fold, first=self._first())
        others = [part for part in self.closed_parts if not _is_in(key, part)]
        wider = [*self.open_folds, key]
        return Picture(self._recording, self._fold, wider, others, self._first())

    def closed(self, key: Sequence[int]) -> Picture:
        """Return the picture with a part folded that is open, and all that is in it.

        Parameters
        ----------
        key : (first, last) operation
            As the payload has it under ``parts``.
        """
        others = [part for part in self.open_folds if not _is_in(part, key)]
        parts = [*self.closed_parts, key]
        return Picture(self._recording, self._fold, others, parts, self._first())

    def same_moment(self, step: int, other: Picture) -> int:
        """Return the step of ``other``, of the same recording, in which this step is.

        The last one up to which as much has happened, or the first up to which more has: a fold
        tells of many at once.
        """
        at = self.moments[step] if self.moments else 0
        before = sum(moment <= at for moment in other.moments) - 1
        is_there = before >= 0 and other.moments[before] == at
        return max(0, before if is_there else min(before + 1, len(other.moments) - 1))

    def find(self, condition: str) -> list[tuple[int, str]]:
        """Return the steps at which a condition such as ``abs(grad) > 1e3`` holds.

        Parameters
        ----------
        condition : str
            As ``conditions.py`` understands it.

        Returns
        -------
        list of (step, name) - by which node it holds there; steps count from 0.

        Raises
        ------
        ConditionError
            If it cannot be understood; the message is for the person who typed it.
        """
        nodes, name = self._recording["nodes"], self._names.name
        steps = subjects_of(self._recording, self.outline, self._names)
        facts = [
            [subject_of(nodes[n], name(n), kind, x, g, sent) for kind, n, x, g, sent in subjects]
            for subjects in steps
        ]
        return find_steps(condition, facts)

    def payload(self) -> Payload:
        """Return what the browser needs to draw and to step, as plain data.

        Returns
        -------
        Payload
        """
        return browser_payload(self, self._recording, self._names)

    # -- made once ----------------------------------------------------------------------------

    def _told(self) -> tuple[list[Frame], list[int]]:
        """Return the steps, and by step how much of the recording has happened."""
        return tell(self._recording, self.outline, self._names)

    def _texts(self) -> list[BoxText]:
        return box_texts(self._recording, self.outline, self._names, self.frames, self.slots)

    def _edge_labels(self) -> dict[str, str]:
        return role_labels(self._recording, self.outline)

    def _box_title(self, box: Box) -> str:
        if box.kind == "fold":
            return box.heading
        return self._names.titles(box.nodes) + self._names.additions.get(box.nodes[0], "")

    def _since(self) -> dict[str, int]:
        """Return the step at which each box appears: the first that makes it."""
        since = {frame["node"]: k for k, frame in reversed([*enumerate(self.frames)])}
        return {box.id: since.get(box.id, 0) for box in self.outline.boxes}


def _is_in(key: Sequence[int], other: Sequence[int]) -> bool:
    return other[0] <= key[0] and key[1] <= other[1]
