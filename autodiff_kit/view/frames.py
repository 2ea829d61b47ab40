"""The steps of a recording, told one idea at a time.

After reading you can say which events become a step. Forward, each leaf, operation and branch is a
step. Backward, a step is one of: backward starts, a node has its whole gradient, one rule sends one
contribution, broadcasting is undone, two contributions add up, a leaf accumulates, backward ends.
What happens inside a folded box is one step. Read next: ``scene.py``, which puts the picture to the
steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from autodiff_kit.record.events import (
    Accumulate,
    Contribution,
    Event,
    Gradient,
    Mark,
    Modified,
    RecordingData,
)
from autodiff_kit.record.ledger import ACCUMULATE, CONTRIBUTION, VISIT
from autodiff_kit.view.explanation import explain, summary
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import Box, Outline
from autodiff_kit.view.payload import Fields, Frame
from autodiff_kit.view.steps import FORWARD, UPDATE, Subject
from autodiff_kit.view.steps_backward import BackwardSteps
from autodiff_kit.view.steps_forward import ForwardSteps
from autodiff_kit.view.steps_grad import NAMED
from autodiff_kit.view.values import added
from autodiff_kit.view.words import (
    a_value,
    box_value,
    equation,
    in_row,
    listed,
    sentence,
    the_value,
)

__all__ = ["Subject", "frames", "tell"]

# What happens in a fold while it runs, and is told of nothing else.
_INSIDE = {"backward", "modified", "grad", "finish"}
_BACKWARD = {"visit", "contribution", "accumulate", "release"}


def frames(recording: RecordingData, outline: Outline, names: Names) -> list[Frame]:
    """Tell a recording step by step.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``ops``, ``events``, ``sources``, ``scopes``, ``error``.
    outline : Outline
        The boxes; events inside a folded one are told together.
    names : Names
        What the nodes are called.

    Returns
    -------
    list of dict
        With ``phase``, ``kind``, ``node`` and ``edge`` (ids in the drawing, or None), ``where``,
        ``caption``, and ``set``: by box, the fields that change with this step.
    """
    return tell(recording, outline, names)[0]


def tell(recording: RecordingData, outline: Outline, names: Names) -> tuple[list[Frame], list[int]]:
    """Return the steps, as ``frames`` does, and the events they come with.

    Another drawing of the same recording has other steps, but the same events.
    """
    teller = _Teller(recording, outline, names)
    return teller.tell(), teller.moments


def subjects_of(recording: RecordingData, outline: Outline, names: Names) -> list[list[Subject]]:
    """Return what each step is about; a fold is about many nodes."""
    teller = _Teller(recording, outline, names, searched=True)
    teller.tell()
    return teller.subjects


class _Teller(ForwardSteps, BackwardSteps):
    """Goes through the events once; what happens in a folded box is told as one step."""

    def __init__(
        self,
        recording: RecordingData,
        outline: Outline,
        names: Names,
        *,
        searched: bool = False,
    ) -> None:
        super().__init__(recording, outline, names)
        self.is_searched = searched
        self.recording = recording
        self.open: Box | None = None  # the fold whose operations are running
        self.ran = False  # all of them have
        self.passes = 0  # backward passes in it
        self.pending: dict[int, Fields] = {}  # what changes outside it
        # And by node, the events that say what is there once all have run:
        self.last_values: dict[int, Modified] = {}
        self.last_arrivals: dict[int, int] = {}
        self.last_grads: dict[int, int] = {}  # values of thousands before are never shown
        # By arrow, the event of its passes that has sent something there last, and of which pass.
        self.sent_out: dict[str, tuple[int, int]] = {}
        self.exits: dict[str, str] = {}  # by box outside of it, the arrow to that
        self.seeds: list[str] = []  # what they have begun with
        self.update: Any = None  # the statement that changes what is in folds
        self.updated: dict[str, set[int]] = {}  # leaves, by box
        self.update_frame: Frame | None = None
        # A fold is told when its last operation has run; a fold of leaves with its first one.
        self.closing = {box.id: box.ops[-1] if box.ops else box.nodes[0] for box in outline.boxes}

    def tell(self) -> list[Frame]:
        """Return the steps."""
        tellers: dict[str, Callable[[Any], None]] = {
            "leaf": self.leaf,
            "op": self.op,
            "branch": self.branch,
            "modified": self.modified,
            "grad": self.gradient,
            "requires_grad": self.requirement,
            "backward": self.backward,
            "visit": self.visit,
            "contribution": self.contribution,
            "accumulate": self.accumulate,
            "release": self.release,
            "finish": self.finish,
            "broken": self.broken,
            "error": self.stopped,
        }
        while self.at < len(self.events):
            if self.open is not None and not self.is_searched:
                self._skim(self.open)
                if self.at == len(self.events):
                    break
            event = self._about(self.events[self.at])
            node = cast(int, event.get("node", -1))
            box = self.outline.box_of[node] if node >= 0 else None
            if box is self.open and event["kind"] == "op" and not (self.ran or self.is_searched):
                self.ran = node == self.closing[box.id] if box else False
            elif self.open is not None and not self.leaves(event, box):
                self.inside(event, box)
            elif box is None or box.kind != "fold":
                tellers[event["kind"]](event)
            elif event["kind"] in _BACKWARD:
                self.through(box, node)
            else:
                self.enter(box, event)
            self.at += 1
        if self.open is not None:
            self.folded(self.open)
        if self.note and self.frames:
            self.frames[-1]["caption"] += f" {self.note}"
        elif self.note:
            self.add("note", None, self.note)
        return self.frames

    def _about(self, event: Event) -> Event:
        """Return an event; one of a change in a storage with a node that is no fold's, if any."""
        if event["kind"] != "modified" or "storage" not in event:
            return event
        known = set(self.values.ranked(event)).difference(event["left"])
        numbers = (n for n in (*known, *event["joined"]) if self._drawn_in(n) is not None)
        return {**event, "node": min(numbers, default=event["node"])}

    def stopped(self, event: Mark) -> None:
        explanation = explain(self.recording, self.outline)
        where = explanation["places"][-1]["where"]
        self.add("error", None, summary(explanation), where=where)["explanation"] = explanation

    # -- folded boxes ---------------------------------------------------------------------------

    def enter(self, box: Box, event: Event) -> None:
        """Meet a fold: its first operation, a leaf in it, or something that happens to it later."""
        if event["kind"] == "modified":
            self.change(event)
            self._tell_update(box, event)
        elif event["kind"] == "grad":
            self.put(event["node"], event["grad"])
            self._tell_update(box, event)
        self.hide(event)
        if event["kind"] != "op" and event["kind"] != "leaf":
            return
        kind, node = event["kind"], event["node"]
        if kind == "op" and (node != self.closing[box.id] or box.has_rounds):
            self.open, self.ran = box, node == self.closing[box.id]
            self._begin()
        elif node == self.closing[box.id]:
            self._begin()
            self.folded(box)

    def _tell_update(self, box: Box, event: Modified | Gradient) -> None:
        """Tell what a statement such as ``opt.step()`` changes inside of folds: in one step."""
        kind, where = event["kind"], event["where"]
        is_parameter = self.nodes[event["node"]]["kind"] == "leaf"
        if where is None or not is_parameter:
            return
        if (kind, where) != self.update or self.frames[-1] is not self.update_frame:
            self.update, self.updated = (kind, where), {}
            phase = UPDATE if self.phase == FORWARD else self.phase
            self.add(kind, event["node"], "", where=where, phase=phase)
            self.update_frame = self.frames[-1]
        self.updated.setdefault(box.id, set()).add(event["node"])
        count = sum(map(len, self.updated.values()))
        boxes = [b for b in self.outline.boxes if b.id in self.updated]
        owners = [owner for b in boxes if (owner := b.owner)]
        inside = listed(owners) if len(boxes) <= NAMED and owners else ""
        if len(boxes) > NAMED:
            inside = f"{len(boxes):,} boxes"
        of = f" of {inside}" if inside else ""
        opening = self.round(event.get("scope", 0))
        plural = "s" * (count > 1)
        if event["kind"] == "modified":
            words = f"{self._how(event)} changes {count:,} parameter{plural}{of} in place"
        else:
            become = "cleared" if event["grad"] is None else "changed"
            words = f"{count:,} gradient{plural}{of} {'are' if plural else 'is'} {become}"
        self.update_frame["caption"] = sentence(opening + words)

    def _begin(self) -> None:
        self.passes, self.pending, self.seeds = 0, {}, []
        self.sent_out, self.exits = {}, {}
        self.last_values, self.last_arrivals, self.last_grads = {}, {}, {}

    def leaves(self, event: Event, box: Box | None) -> bool:
        """Tell the open fold if this event is the first after it.

        Rounds of a loop end with the first op or leaf of the next round, so that a backward pass
        and a change in place that end a round belong to it; other folds end with their last op,
        or, if there was a pass in them, with what the same code then changes in place.
        """
        assert self.open is not None
        next_round = event["kind"] in ("op", "leaf") and box is not self.open
        goes_on = self.open.has_rounds or self._is_part_of(self.open, event)
        done = self.ran and (next_round or not goes_on)
        if not done and event["kind"] != "error":
            return False
        self.at -= 1
        self.folded(self.open)
        self.at += 1
        self.open = None
        return True

    def _is_part_of(self, box: Box, event: Event) -> bool:
        """Return whether a fold with a pass in it ends with this change, as with ``opt.step()``."""
        parts, part = self.outline.parts, box.part
        is_change = event["kind"] in ("modified", "grad") and self.passes > 0
        if not is_change or parts is None or part is None:
            return False
        return parts.is_in(cast(int, event.get("scope", 0)), part)

    def inside(self, event: Event, box: Box | None) -> None:
        """Take note of what happens while a fold runs; it is told when its last op has run.

        That may be whole backward passes and changes in place, as in a loop that trains.
        """
        is_open = box is not None and box.kind != "fold"
        if event["kind"] == "leaf" and is_open:
            self._settle()
            self.leaf(event)
            return
        if event["kind"] == "backward":
            self.passes += 1
            self.seeds += map(box_value, event["seed"])
        elif event["kind"] == "visit":  # a pass that records ends after the last op of its fold
            self.last_arrivals[event["node"]] = self.at
        elif event["kind"] == "contribution":
            self.last_arrivals[event["to"]] = self.at
            self._send_out(event["node"], event["arg"], event["to"])
        elif event["kind"] == "modified":
            self.change(event)
            if is_open:
                nodes = (event["node"], *self.values.ranked(event))
                self.last_values.update(dict.fromkeys(nodes, event))
        elif event["kind"] == "accumulate" or event["kind"] == "grad":
            self._hold(event["node"], is_accumulated=event["kind"] == "accumulate")
        elif event["kind"] == "op" and self.open is not None:
            self.ran = event["node"] == self.closing[self.open.id]
        self.hide(event)

    def _skim(self, box: Box) -> None:
        """Pass over what happens in the open fold and is not told of it: most of a long loop."""
        nodes, box_of, closing = self.nodes, self.outline.box_of, self.closing[box.id]
        while self.at < len(self.events) and (box.has_rounds or not self.ran):
            note = self._note(self.at)
            if type(note) is int:
                is_op = nodes[note]["kind"] == "op"
                if box_of[note] is not box and (self.ran or not is_op):
                    return
                self.ran = self.ran or note == closing
            elif type(note) is not tuple:
                if note["kind"] not in _INSIDE or "storage" in note:
                    return
                self.inside(note, box_of[note["node"]] if "node" in note else None)
            elif note[0] == VISIT:
                self.last_arrivals[note[1]] = self.at
            elif note[0] == CONTRIBUTION:
                self.last_arrivals[note[3]] = self.at
                self._send_out(*note[1:4])
            elif note[0] == ACCUMULATE:
                self._hold(note[1], is_accumulated=True)
            self.at += 1

    def _hold(self, node: int, *, is_accumulated: bool) -> None:
        """Note that this event says what is in a .grad, while a fold runs."""
        self.last_grads[node] = self.at
        if is_accumulated and self._drawn_in(node) is not None:
            self.pending.setdefault(node, {})["visited"] = True

    def _settle(self) -> None:
        """Note what is in each .grad now."""
        for node, at in self.last_grads.items():
            grad = cast(Gradient, self.events[at])["grad"]
            self.put(node, grad)
            if self._drawn_in(node) is not None:
                self.pending.setdefault(node, {}).update(self.held(node, grad))
        self.last_grads = {}

    def _send_out(self, node: int, arg: str, to: int) -> None:
        """Note what a pass inside of the open fold sends to a box outside of it."""
        starts, end = self.outline.box_of[node], self.outline.box_of[to]
        if starts is not self.open or end is starts:
            return
        edge = self.exits.get(end.id) or self._edge(node, arg, to)
        if edge is not None:
            self.exits[end.id] = edge  # a fold has one arrow to each box
            self.sent_out[edge] = self.at, self.passes

    def folded(self, box: Box) -> None:
        """Tell a fold in one step."""
        for node, at in self.last_arrivals.items():
            event: Any = self.events[at]
            before = self.waiting.get(node)
            is_visit = event["kind"] == "visit"
            self.waiting[node] = event["g"] if is_visit else event["total"] or event["after"]
            is_new = before is None or before["data"] != self.waiting[node]["data"]
            if is_new and not self.passes and self.outline.box_of[node].kind != "fold":
                self.parts[node] = []  # all of a pass that began before the box
                self.pending.setdefault(node, {}).update(self._arrived(node))
                part = in_row(self.waiting[node])
                self.pending[node] |= self._why(node, [box.heading, part])
        along: dict[str, Fields] = {}
        for edge, (at, passes) in self.sent_out.items():
            self.passed[edge] = box.id
            event = self.events[at]
            text = f"{passes:,} passes" if passes > 1 else box_value(event["after"])
            along[edge] = {"sent": text, "arrived": text}
        self._settle()
        for changed, change in self.last_values.items():
            value = change["value"]
            fields = the_value(value, self.picture(value))
            self.pending.setdefault(changed, {}).update(fields)
        node = self.closing[box.id] if box.result is None else box.result
        count = len(box.ops)
        caption = f"{box.opening}: "
        if count:
            name = self.nodes[node]["name"]
            ends = equation(name, self.value(node)) if name else a_value(self.value(node))
            caption += f"{count:,} op{'s' * (count > 1)}"
            if self.passes:
                caption += f" and {self.passes:,} backward pass{'es' * (self.passes > 1)}"
            ending = "The last op makes" if node == box.ops[-1] else "It makes"
            if self.passes and node != box.ops[-1]:
                ending = f"The {'last ' * (self.passes > 1)}pass starts at"
            caption += f", drawn as one box. {ending} {ends}"
        else:
            caption += "drawn as one box."
        if self.seeds and box.id not in self.owners.values():  # else its line is theirs
            same = len(set(self.seeds)) == 1
            each = f" in each of {self.passes:,} passes" if self.passes > 1 else ""
            words = f"{self.seeds[0]}{each}" if same else f"of {self.passes:,} backward passes"
            fields = {"g": words, "gradient": words, "visited": True}
            self.pending[node] = self.pending.get(node, {}) | fields
        self.add("fold", node, caption, where=box.where, changes=self.pending, along=along)

    def through(self, box: Box, start: int) -> None:
        """Tell in one step what backward does inside a fold until it comes out again."""
        visits, freed = 0, False
        reached: dict[int, str | None] = {}  # node outside -> arrow to it
        along: dict[str, Fields] = {}
        passed: Counter[str | None] = Counter()  # arrow -> contributions
        sent: dict[int, list[Contribution]] = {}  # node outside -> contributions to it from here
        has_waited = {*self.waiting}
        nodes, box_of = self.nodes, self.outline.box_of
        filled: dict[int, None] = {}  # leaves drawn as one box, of which that is all to be told
        while self.at < len(self.events):
            kind, node, arg, to = self.brief(self.at)
            if kind not in _BACKWARD:
                break
            if box_of[node] is not box:
                if box_of[node].kind != "fold" or box_of[node].ops:
                    break
                if kind == "accumulate":
                    filled[node] = None
            if self.is_searched:
                self.hide(self.events[self.at])
            if kind == "visit":
                visits += nodes[node]["kind"] == "op"
            elif kind == "contribution" and box_of[to] is not box:
                self.arrivals[to] += 1
                edge = reached[to] = self._edge(node, arg, to)
                passed[edge] += 1
                sent.setdefault(to, []).append(event := cast(Contribution, self.events[self.at]))
                if passed[edge] == 1:
                    along |= self.along(edge, node, arg, to, event["after"])
                elif edge is not None:
                    words = f"{passed[edge]} parts"
                    along[edge] |= {"sent": words, "arrived": words}
            elif kind == "accumulate":
                self.keep(node, cast(Accumulate, self.events[self.at])["grad"])
                self.accumulated.append(node)
            elif kind == "release":
                freed = freed or bool(nodes[node]["saved"])
            self.at += 1
        self.at -= 1
        for to, contributions in sent.items():  # only now: to read each of thousands takes long
            self.waiting[to] = contributions[-1]["total"] or contributions[-1]["after"]
        if visits:
            ops = "1 op" if visits == 1 else f"{visits:,} ops, newest first"
            caption = f"Backward runs through {box.heading}: {ops}."
        elif sent:
            caption = f"Backward comes out of {box.heading}."
        else:
            caption = f"{box.opening}: their gradients are accumulated."
        caption += self.received(reached, filled)
        if freed:
            caption += " What it saved is no longer kept."
        changes: dict[int, Fields] = {}
        for to, contributions in sent.items():
            part = self.waiting[to]
            if to in has_waited:
                part = added([one["after"] for one in contributions])
            changes[to] = self._arrived(to)
            changes[to] |= self._why(to, [box.heading, in_row(part)])
        for leaf in filled:
            changes.setdefault(leaf, {})["visited"] = True
        changes[start] = {"visited": True, **({"released": True} if freed else {})}
        only = next(iter(reached.values())) if len(reached) == 1 else None
        where = None if box.is_repeated else box.where  # the head of a loop does not run now
        self.add("fold", start, caption, where=where, edge=only, changes=changes, along=along)
        self.telling = None
