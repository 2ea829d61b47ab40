"""A step of a recording, and all that must be remembered from one step to the next.

After reading you know what a frame holds - words, a place, the fields of boxes that change - and
what is known while the events are told: values that have changed, gradients that wait, what is in
every ``.grad``. Read next: ``steps_changes.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autodiff_kit.record.events import (
    ErrorRecord,
    Event,
    Input,
    Modified,
    NodeRecord,
    OpRecord,
    RecordingData,
    ScopeRecord,
    Value,
    Where,
)
from autodiff_kit.record.ledger import CONTRIBUTION, PASS, note_reader
from autodiff_kit.view.chips import parts_of
from autodiff_kit.view.contents import Contents
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.heat import cells
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import Outline
from autodiff_kit.view.parameters import norm, parameters_of
from autodiff_kit.view.payload import Fields, Frame
from autodiff_kit.view.subscripts import variable_of
from autodiff_kit.view.words import capital, sentence

__all__ = ["FORWARD", "UPDATE", "Event", "Frame", "Steps", "Subject", "Value"]


FORWARD, UPDATE = "forward", "update"

# What a step is about, for conditions: kind, node, its value, its gradient, what a rule sends.
Subject = tuple[str, int, Value, Value | None, Value | None]


class Steps:
    """The steps so far, and what they have left behind."""

    def __init__(self, recording: RecordingData, outline: Outline, names: Names) -> None:
        self.recording = recording
        self.nodes: Sequence[NodeRecord] = recording["nodes"]
        self.ops: Mapping[str, OpRecord] = recording["ops"]
        self.events: Sequence[Event] = recording["events"]
        self._note: Callable[[int], Any] = note_reader(self.events)
        self.scopes: dict[int | None, ScopeRecord] = {
            scope["id"]: scope for scope in recording["scopes"]
        }
        self.lines = [str(source["text"]).splitlines() for source in recording["sources"]]
        self.error: ErrorRecord | None = recording["error"]
        self.note: str = recording.get("note") or ""  # why the recording is not complete
        self.outline = outline
        # The outputs of nodes that have several and are drawn as one box.
        self.groups = {
            n: box.nodes
            for box in outline.boxes
            if box.kind == "op" and len(box.nodes) > 1
            for n in box.nodes
        }
        self.in_parts = parts_of(outline, recording)  # boxes whose gradient is shown part by part
        self.uses = Counter(edge.source for edge in outline.edges if not edge.ghost)  # by box
        self.names = names
        names.tell_apart(n for box in outline.boxes if box.kind != "fold" for n in box.nodes)
        self.frames: list[Frame] = []
        self.subjects: list[list[Subject]] = []
        self.moments: list[int] = []
        self.is_searched = False  # whether the subjects are asked for
        self.inner: list[Subject] = []  # what has happened in a fold that is still to be told
        self.phase = FORWARD
        self.aliases: set[tuple[int, str, str]] = (
            set()
        )  # scope, variable, name: those that were told
        self.numbers: dict[str, str] = {}  # what is written for a number -> the one told last
        self.updates: set[int] = set()  # what was made of gradients that the code has read
        self.at = 0  # the event being told
        self.telling: int | None = None  # the node whose rules are being told
        self.depth = 0  # passes that have begun and not ended: a hook may begin another one
        self.rounds: set[int] = set()  # of loops, those that have begun; and calls
        self.calls = names.calls
        self.values = Contents(self._drawn_in)  # of tensors that were changed in place
        self.replaced: dict[int, Value] = {}  # what was in memory that an assignment replaced
        self.operands: dict[int, dict[int, Value]] = {}  # op -> its inputs that were changed before
        self.running: tuple[int, Where | None] = -1, None  # the next place that runs, and its event
        self.pass_where: Any = None  # the line that called backward
        self.roots: dict[int, Value] = {}
        self.waiting: dict[int, Value] = {}  # node -> its gradient so far
        self.whole: dict[int, Value] = {}  # gradients as the inspector has them
        self.parts: dict[int, list[str | list[str]]] = {}  # node -> what they are the sums of
        self.sent: Counter[tuple[int, str, int]] = Counter()
        # Node -> by arrow, what has come along it, and as it is written: what adds up in its box.
        self.parts_by_arrow: dict[int, dict[str, tuple[Value, str]]] = {}
        self.arrivals: Counter[int] = Counter()  # node -> contributions so far
        self.touched: dict[str, int] = {}  # boxes that show this pass -> a node of theirs
        self.passed: dict[str, str] = {}  # arrow that a gradient came back along -> where it leads
        self.grads: dict[int, Value] = {}  # leaf -> its .grad
        # Parameters in folds -> the box; and boxes where the gradient of one has changed since.
        self.owners = {n: box.id for box in outline.boxes for n in parameters_of(box, self.nodes)}
        self.changed: dict[str, None] = {}
        self.gradients: dict[int, int] = {}  # leaf -> the node of its .grad, if the code reads it
        self.accumulated: list[int] = []
        self.cleared: list[int] = []  # those whose .grad the latest step has cleared
        self.names_now: dict[int, str] = {}  # of what was called else: after ``a, b = b, a``
        self.frozen: set[int] = set()  # leaves that require no gradient any more
        self.required: list[int] = []  # those whose requires_grad the latest step has set
        self.opening = ""  # how that step begins: "Iteration 2. "

    def add(
        self,
        kind: str,
        node: int | None,
        caption: str,
        *,
        where: Any = None,
        edge: str | None = None,
        changes: Mapping[int, Fields] | None = None,
        g: Value | None = None,
        sent: Value | None = None,
        along: Mapping[str, Fields] | None = None,
        phase: str | None = None,
    ) -> Frame:
        """Add a step; ``changes`` are the fields that change, by node; ``along`` those by arrow.

        ``g`` and ``sent`` are what it says of the node's gradient and of a contribution.
        """
        self.moments.append(self.at)
        if kind == "fold":
            self.subjects.append(self.inner)
            self.inner = []
        else:
            self.subjects.append([] if node is None else [(kind, node, self.value(node), g, sent)])
        fields = self._norms()
        for changed, values in (changes or {}).items():
            box = self.outline.box_of[changed].id
            fields.setdefault(box, {}).update(values)
            if self.phase == "backward":
                self.touched[box] = changed
        frame: Frame = {
            "phase": phase or self.phase,
            "kind": kind,
            "node": None if node is None else self.outline.box_of[node].id,
            "edge": edge,
            "where": where or self._running(),
            "caption": sentence(caption),
            "set": fields,
        }
        if along:
            frame["along"] = dict(along)
        self.frames.append(frame)
        return frame

    def _running(self) -> Where | None:
        """Return the place that runs, for a step without an expression of its own; None if none."""
        if self.phase == "backward":
            place: Where | None = self.pass_where
            return place
        if self.at > self.running[0]:
            self.running = len(self.events), None
            for at in range(self.at, len(self.events)):
                event: Any = self.events[at]
                entry = self.nodes[event["node"]] if event["kind"] in ("leaf", "op") else event
                if entry.get("where") is not None:
                    self.running = at, entry["where"]
                    break
        return self.running[1]

    def brief(self, at: int) -> tuple[str, int, str, int]:
        """Return of an event its kind and node, and where and to which node a contribution goes.

        Of thousands that a fold hides no more is read; -1 stands for no node.
        """
        note = self._note(at)
        if type(note) is tuple:
            is_sent = note[0] == CONTRIBUTION
            return PASS[note[0]], note[1], note[2] if is_sent else "", note[3] if is_sent else -1
        event: Any = self.events[at] if type(note) is int else note
        return event["kind"], event.get("node", -1), event.get("arg", ""), event.get("to", -1)

    def picture(self, value: Value, *, on_arrow: bool = False) -> str | None:
        """Draw a small matrix or vector for a box, or an arrow, where there is room for it."""
        least = Detail.SUMS if on_arrow else Detail.PICTURES
        return cells(value) if self.outline.detail >= least else None

    def keep(self, node: int, grad: Value | None) -> None:
        """Note what is in a .grad now."""
        if grad is None:
            self.grads.pop(node, None)
        else:
            self.grads[node] = grad
        if node in self.owners:
            self.changed[self.owners[node]] = None

    def _norms(self) -> dict[str, Fields]:
        """Return the size of the gradients that folds hide, where it has changed."""
        changed, self.changed = self.changed, {}
        sizes: dict[str, Fields] = {}
        for box in changed:
            own = [self.grads[n] for n, at in self.owners.items() if at == box and n in self.grads]
            size = norm(own) if own else None
            sizes[box] = {"grad": size, "g": None}
            if size is not None:
                sizes[box]["gradient"] = f"{size}, the norm of its parameters' gradients"
        return sizes

    def round(self, number: int) -> str:
        """Return "Iteration 2. " for the first step in a new round of a loop; else "".

        Of a loop in another one, "Iteration 2 (in iteration 1 of for i in r). ". What a round calls
        belongs to it; of several calls of one function, each is told as well: "Call 2 of f. ".
        """
        rounds: list[ScopeRecord] = []
        scope, call, is_inside = self.scopes.get(number), "", False
        is_first = True
        while scope is not None:
            if scope["kind"] == "iteration":
                rounds.append(scope)
            elif scope["id"] in self.calls and is_first:
                is_first = False
                if scope["id"] not in self.rounds:
                    self.rounds.add(scope["id"])
                    call = f"{capital(self.calls[scope['id']])}. "
                    is_inside = any(r["id"] not in self.rounds for r in rounds)
            scope = self.scopes.get(scope["parent"])
        new = [r for r in rounds if r["id"] not in self.rounds]
        if not new:
            return call
        self.rounds.update(r["id"] for r in new)
        outer = rounds[rounds.index(new[0]) + 1 :]
        inside = [f"in iteration {r['index'] + 1} of {r['name']}" for r in outer]
        around = f" ({', '.join(inside)})" if inside else ""
        text = f"Iteration {new[0]['index'] + 1}{around}. "
        return call + text if is_inside else text + call

    def value(self, node: int) -> Value:
        """Return the value a tensor has at this step."""
        changed = self.values.get(node)
        value: Value = self.nodes[node]["value"] if changed is None else changed
        return value

    def operand(self, node: int, source: int) -> Value:
        """Return the value an input had when the op ran; it may have changed in place since."""
        before = self.operands.get(node, {}).get(source)
        value: Value = self.nodes[source]["value"] if before is None else before
        return value

    def saved_value(self, node: int, name: str, source: int) -> Value:
        """Return the value that a rule reads: of what the op saved, what is in that memory now.

        What changes it through ``.data`` goes unnoticed, as in ``w.data.mul_(2)`` before backward.

        Parameters
        ----------
        node : int
            The op.
        name : str
            What its rule calls it: an argument, or ``"out"``.
        source : int
            The node of the argument, or the op itself.
        """
        saved = {entry["name"]: entry.get("by") for entry in self.nodes[node]["saved"]}
        if name not in saved or saved[name] == "hook":  # not there, or a copy
            return self.operand(node, source)
        if name == "out" and saved[name] == "checkpoint":  # computed once more
            return self.operand(node, source)
        if name == "out" and source in self.replaced:
            return self.replaced[source]
        return self.value(source)

    def change(self, event: Modified) -> None:
        """Note what is in a tensor now."""
        node = event["node"]
        if event["how"].endswith(".data"):  # an assignment: the memory of before stays as it is
            self.replaced.setdefault(node, self.value(node))
        self.values.change(event)

    def _drawn_in(self, node: int) -> str | None:
        """Return the box in which a node's value is drawn; None if a fold hides it."""
        box = self.outline.box_of[node]
        return None if box.kind == "fold" else box.id

    def call_of(self, number: int) -> int:
        """Return the scope of the call that a scope is in, not that of a round in it."""
        scope = self.scopes.get(number)
        while scope is not None and scope["kind"] != "call" and scope["parent"] is not None:
            scope = self.scopes.get(scope["parent"])
        return number if scope is None else scope["id"]

    def note_name(self, record: NodeRecord, source: Input, variable: str) -> None:
        """Note what the code calls an operand now, if it is the name that another one had."""
        node = source.get("node")
        if node is None or self.call_of(record["scope"]) != self.call_of(self.nodes[node]["scope"]):
            return
        is_own = variable in ("", self.names.name(node), variable_of(self.nodes[node]))
        if is_own or not self.names.is_another(variable, record["id"]):
            self.names_now.pop(node, None)
        else:
            self.names_now[node] = variable

    def hide(self, event: Event) -> None:
        """Note what happens inside a fold, which is told as one step."""
        if not self.is_searched:
            return
        if event["kind"] == "contribution":
            sent = event["before"] or event["after"]
            self.inner.append((event["kind"], event["node"], self.value(event["node"]), None, sent))
        elif "node" in event and event["kind"] != "branch" and event["kind"] != "release":
            g = event["grad"] if event["kind"] in ("accumulate", "grad") else None
            g = event["g"] if event["kind"] == "visit" else g
            self.inner.append((event["kind"], event["node"], self.value(event["node"]), g, None))

    def _called(self, node: int) -> str:
        """Return a node's name, and which of several it is.

        That of the box for one without a name in a folded box.
        """
        box = self.outline.box_of[node]
        folded = box.kind == "fold" and not self.nodes[node]["name"]
        return box.heading if folded else self.names.called(node)
