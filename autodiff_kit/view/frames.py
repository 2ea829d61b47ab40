"""The steps of a recording, told one idea at a time.

After reading you can say which events become a step and in which words. Forward, each leaf,
operation and branch is a step. Backward, a step is one of: backward starts, a node has its whole
gradient, one rule sends one contribution, broadcasting is undone, two contributions add up, a leaf
accumulates, backward ends. What is released is said in the last step of its node; what happens
inside a folded box is one step. Read next: ``scene.py``, which puts the picture to the steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autodiff_kit.view.fold import Box, Outline
from autodiff_kit.view.formula import (
    SHORT,
    Names,
    bar,
    decided,
    grid,
    parameter,
    rule_forms,
    shape_text,
    short,
    show,
    symbol,
    word,
    worked_out,
)

__all__ = ["Subject", "box_value", "frames", "memory", "sentence", "tell"]

Frame = dict[str, Any]
Event = Mapping[str, Any]
Value = Mapping[str, Any]

# What a step is about, for conditions: kind, node, its value, its gradient, what a rule sends.
Subject = tuple[str, int, Value, Value | None, Value | None]

IN_A_BOX = 26  # characters a gradient may take in a box
NAMED = 3  # more names than this are counted instead
WAITING = " waiting"  # what has come to a leaf but is not in its .grad yet
_BACKWARD = {"visit", "contribution", "accumulate", "release"}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "later")


def frames(recording: Mapping[str, Any], drawn: Outline, names: Names) -> list[Frame]:
    """Tell a recording step by step.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``ops``, ``events``, ``sources``, ``scopes``, ``error``.
    drawn : Outline
        The boxes; events inside a folded one are told together.
    names : Names
        What the nodes are called.

    Returns
    -------
    list of dict
        With ``phase``, ``kind``, ``node`` and ``edge`` (ids in the drawing, or None), ``where``,
        ``caption``, and ``set``: by box, the fields that change with this step.
    """
    return tell(recording, drawn, names)[0]


def tell(
    recording: Mapping[str, Any], drawn: Outline, names: Names
) -> tuple[list[Frame], list[list[Subject]], list[int]]:
    """Return the steps, as ``frames`` does, what each is about, and the events they come with.

    A fold is about many nodes. Another drawing of the same recording has other steps, but the
    same events.
    """
    teller = _Teller(recording, drawn, names)
    return teller.tell(), teller.subjects, teller.moments


def sentence(text: str) -> str:
    """End a sentence with a period, unless the point of a number already ends it.

    Examples
    --------
    >>> sentence("x.grad is 8."), sentence("x.grad is 8.5")
    ('x.grad is 8.', 'x.grad is 8.5.')
    """
    return text if text.endswith((".", "!", "?")) else text + "."


def memory(size: int) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> memory(8), memory(1), memory(1536)
    ('8 bytes', '1 byte', '1.5 kB')
    """
    if size < 1000:
        return f"{size} byte{'s' * (size != 1)}"
    units = ("kB", "MB", "GB", "TB")
    power = 0
    amount = size / 1024
    while amount >= 1000 and power < len(units) - 1:
        amount /= 1024
        power += 1
    return f"{amount:.1f} {units[power]}"


def _list(parts: Iterable[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def box_value(value: Value) -> str:
    """Return a value as it stands in a box: all of it, or its shape alone."""
    return short(value, IN_A_BOX - 6) or shape_text(value["shape"])


def _equation(name: str, value: Value) -> str:
    """Return ``w = 2.``, or ``w, a (2, 3) tensor``."""
    text = short(value)
    if text is None:
        return f"{name}, {_a(value)}"
    return f"{name} = {text}"


def _a(value: Value) -> str:
    """Return ``3.5`` or ``a (2, 3) tensor``."""
    return short(value) or f"a {show(value)}"


def _sum(before: Value, added: Value, total: Value, limit: int = 3 * SHORT) -> str | None:
    """Return ``2. + 3. = 5.``, or None if that would be too long."""
    first, second, third = short(before), short(added), short(total)
    if first is None or second is None or third is None:
        return None
    second = f"({second})" if second.startswith("-") else second
    text = f"{first} + {second} = {third}"
    return text if len(text) <= limit else None


class _Teller:
    """Goes through the events once, remembering what waits where."""

    def __init__(self, recording: Mapping[str, Any], drawn: Outline, names: Names) -> None:
        self.nodes: Sequence[Mapping[str, Any]] = recording["nodes"]
        self.ops: Mapping[str, Mapping[str, Any]] = recording["ops"]
        self.events: Sequence[Event] = recording["events"]
        self.scopes = {scope["id"]: scope for scope in recording["scopes"]}
        self.lines = [str(source["text"]).splitlines() for source in recording["sources"]]
        self.error: Mapping[str, Any] | None = recording["error"]
        self.note: str = recording.get("note") or ""  # why the recording is not complete
        self.drawn = drawn
        self.names = names
        self.frames: list[Frame] = []
        self.subjects: list[list[Subject]] = []
        self.moments: list[int] = []
        self.inner: list[Subject] = []  # what has happened in a fold that is still to be told
        self.phase = "forward"
        self.at = 0  # the event being told
        self.telling: int | None = None  # the node whose rules are being told
        self.told_rounds: set[int] = set()
        self.values: dict[int, Value] = {}  # tensors that were changed in place
        self.operands: dict[int, dict[int, Value]] = {}  # op -> its inputs that were changed before
        self.pass_where: Any = None  # the line that called backward
        self.roots: dict[int, Value] = {}
        self.waiting: dict[int, Value] = {}  # node -> its gradient so far
        self.whole: dict[int, list[Any]] = {}  # gradients as the inspector has them
        self.sent: Counter[tuple[int, str, int]] = Counter()
        self.arrivals: Counter[int] = Counter()  # node -> contributions so far
        self.touched: dict[str, int] = {}  # boxes that show this pass -> a node of theirs
        self.grads: dict[int, Value] = {}  # leaf -> its .grad
        self.accumulated: list[int] = []
        self.open: Box | None = None  # the fold whose operations are running
        self.ran = False  # all of them have
        self.passes = 0  # backward passes in it
        self.pending: dict[int, dict[str, Any]] = {}  # what changes outside it
        # A fold is told when its last operation has run; a fold of leaves with its first one.
        made = {
            box.id: [n for n in box.nodes if self.nodes[n]["kind"] == "op"]
            for box in drawn.boxes
            if box.kind == "fold"
        }
        first = {box.id: box.nodes[0] for box in drawn.boxes}
        self.closing = {box: ops[-1] if ops else first[box] for box, ops in made.items()}

    def tell(self) -> list[Frame]:
        """Return the steps."""
        tellers: dict[str, Callable[[Event], None]] = {
            "leaf": self.leaf,
            "op": self.op,
            "branch": self.branch,
            "modified": self.modified,
            "backward": self.backward,
            "visit": self.visit,
            "contribution": self.contribution,
            "accumulate": self.accumulate,
            "release": self.release,
            "finish": self.finish,
            "error": self.stopped,
        }
        while self.at < len(self.events):
            event = self.events[self.at]
            box = self.drawn.box_of[event["node"]] if "node" in event else None
            if self.open is not None and not self.leaves(event, box):
                self.inside(event, box)
            elif box is None or box.kind != "fold":
                tellers[event["kind"]](event)
            elif event["kind"] in _BACKWARD:
                self.through(box)
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

    def add(
        self,
        kind: str,
        node: int | None,
        caption: str,
        *,
        where: Any = None,
        edge: str | None = None,
        changes: Mapping[int, Mapping[str, Any]] | None = None,
        g: Value | None = None,
        sent: Value | None = None,
    ) -> Frame:
        """Add a step; ``changes`` are the fields that change, by node.

        ``g`` and ``sent`` are what it says of the node's gradient and of a contribution.
        """
        self.moments.append(self.at)
        if kind == "fold":
            self.subjects.append(self.inner)
            self.inner = []
        else:
            self.subjects.append([] if node is None else [(kind, node, self.value(node), g, sent)])
        fields: dict[str, dict[str, Any]] = {}
        for changed, values in (changes or {}).items():
            box = self.drawn.box_of[changed].id
            fields.setdefault(box, {}).update(values)
            if self.phase == "backward":
                self.touched[box] = changed
        frame: Frame = {
            "phase": self.phase,
            "kind": kind,
            "node": None if node is None else self.drawn.box_of[node].id,
            "edge": edge,
            "where": where,
            "caption": sentence(caption),
            "set": fields,
        }
        self.frames.append(frame)
        return frame

    def value(self, node: int) -> Value:
        """Return the value a tensor has at this step."""
        changed = self.values.get(node)
        found: Value = self.nodes[node]["value"] if changed is None else changed
        return found

    def hide(self, event: Event) -> None:
        """Note what happens inside a fold, which is told as one step."""
        kind, node = event["kind"], event.get("node")
        if node is not None and kind in ("leaf", "op", "modified", "visit", "accumulate"):
            g = event.get("grad", event.get("g"))
            self.inner.append((kind, node, self.value(node), g, None))
        elif kind == "contribution":
            sent = event["before"] or event["after"]
            self.inner.append((kind, event["node"], self.value(event["node"]), None, sent))

    # -- forward ------------------------------------------------------------------------------

    def leaf(self, event: Event) -> None:
        record = self.nodes[event["node"]]
        if record["grad_fn"]:  # not a leaf of the graph, only of what was watched
            name = f"{self.names.name(event['node'])} ({record['grad_fn']})"
            caption = f"{name} was made where the recording could not see it"
            self.add("leaf", event["node"], caption, where=record["where"])
            return
        name = _equation(self.names.name(event["node"]), record["value"])
        comma = "," if short(record["value"]) is None else ""
        made = "you made it" if record["name"] or record["text"] else "no op here made it"
        if record.get("part"):
            made = f"a {record['part']}"
        if record["requires_grad"]:
            wants = f"{made}, and it wants a gradient."
        else:
            wants = f"{made}. It wants no gradient, so none will come back to it."
        caption = f"{self._round(event['node'])}{name}{comma} is a leaf: {wants}"
        self.add("leaf", event["node"], caption, where=record["where"])

    def op(self, event: Event) -> None:
        node = event["node"]
        record = self.nodes[node]
        sources = [i["node"] for i in record["inputs"] if "node" in i]
        if any(source in self.values for source in sources):
            self.operands[node] = {source: self.value(source) for source in sources}
        made = _a(record["value"])
        caption = f"{self._round(node)}{self.names.title(node)}: {word(record['op'])} makes {made}"
        if record["recorded"]:
            caption += self._remembers(node)
        else:
            caption = f"{sentence(caption)} {self._not_recorded(node)}"
        self.add("op", node, caption, where=record["where"])

    def _round(self, node: int) -> str:
        """Return "Iteration 2. " for the first step in a new round of a loop."""
        scope = self.scopes.get(self.nodes[node]["scope"])
        if scope is None or scope["kind"] != "iteration" or scope["id"] in self.told_rounds:
            return ""
        self.told_rounds.add(scope["id"])
        return f"Iteration {scope['index'] + 1}. "

    def _remembers(self, node: int) -> str:
        record = self.nodes[node]
        if not record["saved"]:
            return ", and remembers nothing: its rules read only the gradient."
        readers: dict[str, dict[str, None]] = {}
        for saved in record["saved"]:
            operands = self.names.operands(node)
            rules = readers.setdefault(self._saved(node, saved["name"]), {})
            rules.update(dict.fromkeys(operands.get(arg, arg) for arg in saved["for"]))
        parts = [
            f"{what} (the rule for {_list(rules)} reads it)"
            if len(rules) == 1
            else f"{what} (the rules for {_list(rules)} read it)"
            for what, rules in readers.items()
        ]
        return f" and remembers {_list(parts)} for the backward pass."

    def _saved(self, node: int, name: str) -> str:
        """Return what one saved thing is: ``w = 2.``, ``its own result``, ``the number 2``."""
        if name == "out":
            return "its own result"
        for source in self.nodes[node]["inputs"]:
            if source["arg"] == name and "node" in source:
                value = self._operand(node, source["node"])
                return _equation(self.names.name(source["node"]), value)
            if source["arg"] == name:
                return f"the number {parameter(source['value'])}"
        return name

    def _operand(self, node: int, source: int) -> Value:
        """Return the value an input had when the op ran; it may have changed in place since."""
        before = self.operands.get(node, {}).get(source)
        found: Value = self.nodes[source]["value"] if before is None else before
        return found

    def _not_recorded(self, node: int) -> str:
        record = self.nodes[node]
        wanted = any(
            self.nodes[i["node"]]["requires_grad"] for i in record["inputs"] if "node" in i
        )
        if wanted and not self.ops[record["op"]]["rules"]:
            why = f"{word(record['op'])} has no gradient"
        else:
            why = "no_grad switches gradients off" if wanted else "no input wants a gradient"
        return f"Nothing is recorded here: {why}."

    def branch(self, event: Event) -> None:
        node, taken = event["node"], event["taken"]
        seen = _equation(self.names.name(node), self.value(node))
        answer = str(taken).lower()
        match self._keyword(event["where"]):
            case "while":
                went = "goes round again" if taken else "ends here"
                caption = f"while looked at {seen} and {went} ({answer})."
            case "if" | "elif" as keyword:
                went = "went this way" if taken else "did not go in here"
                caption = f"{keyword} looked at {seen} and {went} ({answer})."
            case _:
                caption = f"Python asked whether {seen} is true, and the answer is {answer}."
        where = event["where"] or self.nodes[node]["where"]
        self.add("branch", node, caption, where=where)

    def _keyword(self, where: Any) -> str:
        lines = [] if where is None else self.lines[where[0]]
        line = lines[where[1] - 1] if where is not None and 0 < where[1] <= len(lines) else ""
        words = line.replace("(", " ").split()
        return words[0] if words else ""

    def modified(self, event: Event) -> None:
        node, value = event["node"], event["value"]
        before, after = short(self.value(node)), short(value)
        self.values[node] = value
        last = self.events[self.at - 1] if self.at else {}
        if last.get("kind") == "op" and last.get("node") == node:  # one thing: `w -= 1`
            self.frames[-1]["caption"] += f" {event['how']} puts it in place of what was there."
            self.frames[-1]["set"][self.drawn.box_of[node].id] = {"value": box_value(value)}
            return
        caption = f"{event['how']} changes {self.names.name(node)} in place"
        if before and after and before != after:
            caption += f": {before} becomes {after}"
        changes = {node: {"value": box_value(value)}}
        self.add("modified", node, caption, where=event["where"], changes=changes)

    # -- backward -----------------------------------------------------------------------------

    def backward(self, event: Event) -> None:
        self.phase, self.pass_where = "backward", event["where"]
        self.roots = dict(zip(event["roots"], event["seed"], strict=True))
        self.waiting = dict(self.roots)
        self.sent.clear()
        self.arrivals.clear()
        self.accumulated = []
        for later in self.events[self.at + 1 :]:
            if later["kind"] in ("finish", "backward"):
                break
            if later["kind"] == "accumulate" and later["before"] is None:
                self.grads.pop(later["node"], None)  # was reset, which no event tells
        changes: dict[int, dict[str, Any]] = {}
        for node in self.touched.values():  # what the pass before has left in the boxes
            changes[node] = {"g": None, "rule": None, "visited": False}
            if node in self.grads:
                changes[node] |= self._shown(node, "grad", self.grads[node])
        self.touched = {}
        for root, seed in self.roots.items():
            changes[root] = changes.get(root, {}) | self._shown(root, "g", seed)
        starts = _list(
            f"{self.names.name(root)} with gradient {show(seed)}"
            for root, seed in self.roots.items()
        )
        caption = f"Backward starts at {starts}"
        first = next(iter(self.roots), None)
        g = None if first is None else self.roots[first]
        self.add("backward", first, caption, where=self.pass_where, changes=changes, g=g)

    def _shown(
        self, node: int, field: str, value: Value, text: str | None = None
    ) -> dict[str, Any]:
        """Return the fields that show a gradient: short for the box, whole for the inspector."""
        fits = text is not None and len(text) <= IN_A_BOX
        fields: dict[str, Any] = {field: text if fits else box_value(value)}
        if value["shape"] and self.drawn.box_of[node].kind != "fold":
            if self.whole.get(node) != value["data"]:  # else it is still there
                fields["gradient"] = grid(value)
            self.whole[node] = value["data"]
        return fields

    def _arrived(self, node: int, text: str | None = None) -> dict[str, Any]:
        """Return the fields for what waits at a node; a leaf may hold a .grad from before."""
        value = self.waiting[node]
        record = self.nodes[node]
        inner = record["kind"] == "op" or record["grad_fn"]
        if inner or self.drawn.box_of[node].kind == "fold":
            return self._shown(node, "g", value, text)
        if node in self.grads:
            text = f"{box_value(self.grads[node])}, {box_value(value)}"
            return self._shown(node, "grad", value, text + WAITING)
        return self._shown(node, "g", value, text or box_value(value) + WAITING)

    def visit(self, event: Event) -> None:
        node, g = event["node"], event["g"]
        self.telling = node
        waited = self.waiting.get(node)
        self.waiting[node] = g
        following = self.events[self.at + 1] if self.at + 1 < len(self.events) else {}
        if following.get("kind") == "accumulate" and following.get("node") == node:
            return  # told there
        name = self.names.name(node)
        if waited is not None and waited["data"] != g["data"]:
            caption = f"A hook changes the gradient of {name}: {show(waited)} becomes {show(g)}"
        elif node in self.roots and self.frames[-1]["kind"] == "backward":
            self.frames[-1]["set"][self.drawn.box_of[node].id]["visited"] = True
            return  # just told
        else:
            count = self.arrivals[node]
            several = "both" if count == 2 else f"all {count}"
            all_in = f" with {several} contributions" if count > 1 else ""
            caption = f"Next comes {name}: its gradient is complete{all_in}, {_a(g)}"
        changes = {node: {**self._shown(node, "g", g), "visited": True}}
        self.add("visit", node, caption, where=self.nodes[node]["where"], changes=changes, g=g)

    def contribution(self, event: Event) -> None:
        node, to = event["node"], event["to"]
        after, total = event["after"], event["total"]
        sent = event["before"] or after
        spread = sent["shape"] != after["shape"]
        self.arrivals[to] += 1
        waited = self.waiting.get(to)
        forms, given = self._rule(node, event["arg"], to, sent)
        changes: dict[int, dict[str, Any]] = {node: {"rule": forms}}
        edge = self._edge(node, event["arg"], to)
        about = {"where": self.nodes[node]["where"], "edge": edge}
        if total is None:
            self.waiting[to] = after
        if total is None and not spread:
            changes[to] = self._arrived(to)
        self.add("contribution", node, given, changes=changes, sent=sent, **about)
        name = self._called(to)
        if spread:
            caption = (
                f"{name} was broadcast from {shape_text(after['shape'])} to "
                f"{shape_text(sent['shape'])}, so what its copies send back is summed over "
                f"{_dimensions(sent['shape'], after['shape'])}: {_a(after)}"
            )
            changes = {} if total is not None else {to: self._arrived(to)}
            self.add("unbroadcast", to, caption, changes=changes, sent=after, **about)
        if total is not None:
            self.waiting[to] = total
            added = None if waited is None else _sum(waited, after, total)
            caption = f"{name} is used more than once, so what comes back adds up"
            caption += f": {added}" if added else f" to {_a(total)}"
            changes = {to: self._arrived(to, added)}
            self.add("add", to, caption, changes=changes, **about)

    def _edge(self, node: int, arg: str, to: int) -> str | None:
        """Return the arrow that a contribution goes back along."""
        key = (node, arg, to)
        inputs = enumerate(self.nodes[node]["inputs"])
        places = [p for p, i in inputs if i["arg"] == arg and i.get("node") == to]
        self.sent[key] += 1
        if not places:
            return None
        edge = self.drawn.edge_at.get((node, places[(self.sent[key] - 1) % len(places)]))
        return edge.id if edge else None

    def _rule(self, node: int, arg: str, to: int, result: Value) -> tuple[list[str] | None, str]:
        """Return the rule in its three forms, and the sentence that says what it does here."""
        record = self.nodes[node]
        target = self._called(to)
        if record["op"] is None:
            return None, f"{record['grad_fn']} sends {target} {_a(result)}"
        places = [i for i, source in enumerate(record["inputs"]) if source.get("node") == to]
        if len(places) > 1:
            place = next(i for i in places if record["inputs"][i]["arg"] == arg)
            owner = f"{target}, its {_ORDINALS[min(place, len(_ORDINALS) - 1)]} input,"
        else:
            owner = target
        what = f"The rule of {word(record['op'])} for {owner}"
        rule = self.ops[record["op"]]["rules"].get(arg.split("[")[0])
        if rule is None:
            return None, f"{what} gives {_a(result)}"
        names, numbers = self._reads(node, rule["reads"])
        given = symbol(result)
        parameters = sorted((k, parameter(v)) for k, v in record["params"].items())
        text = decided(rule["text"], tuple(parameters))
        forms = rule_forms(
            text, arg, names=names, numbers=numbers, target=self.names.name(to), result=given
        )
        if text == "g":
            return forms, f"{what} hands the gradient on as it is: {_a(result)}"
        if short(result) is None:  # no numbers to be seen, so say it with names
            formula = forms[1].partition(" = ")[2]
            return forms, f"{what} gives {formula}, {_a(result)}"
        return forms, f"{what} gives {worked_out(text, numbers, given)}"

    def _reads(self, node: int, reads: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return what stands for the names that a rule reads: names, and numbers."""
        record = self.nodes[node]
        names = {"g": bar(self.names.name(node))}
        numbers = {"g": symbol(self.waiting[node])}
        sources = {source["arg"]: source for source in record["inputs"]}
        for read in reads:
            source = sources.get(read.removesuffix("_shape"))
            if read == "out":
                names[read] = self.names.name(node)
                numbers[read] = symbol(record["value"])
            elif source is not None and "node" in source:
                name, value = self.names.name(source["node"]), self._operand(node, source["node"])
                if read.endswith("_shape"):
                    names[read] = f"{name}.shape" if name.isidentifier() else f"({name}).shape"
                    numbers[read] = shape_text(value["shape"])
                else:
                    names[read], numbers[read] = name, symbol(value)
            elif source is not None:
                names[read] = numbers[read] = parameter(source["value"])
            elif read in record["params"]:
                names[read] = numbers[read] = parameter(record["params"][read])
        return names, numbers

    def accumulate(self, event: Event) -> None:
        node, before, grad = event["node"], event["before"], event["grad"]
        name = f"{self.names.name(node)}.grad"
        text = None
        if before is None:
            caption = f"{name}: nothing before, now {_a(grad)}"
        else:
            text = _sum(before, event["g"], grad)
            caption = f"{name} holds {_a(before)} from before, and gradients add up"
            caption += f": {text}" if text else f" to {_a(grad)}"
        self.grads[node] = grad
        self.accumulated.append(node)
        changes = {node: {**self._shown(node, "grad", grad, text), "visited": True}}
        where = self.nodes[node]["where"]
        self.add("accumulate", node, caption, where=where, changes=changes, g=grad)

    def release(self, event: Event) -> None:
        node = event["node"]
        record = self.nodes[node]
        if not record["saved"] or not event["bytes"]:
            return  # only numbers: nothing to speak of
        things = {
            s["name"]: "its own result" if s["name"] == "out" else self._argument(node, s["name"])
            for s in record["saved"]
        }
        what = _list(dict.fromkeys(things.values()))
        caption = (
            f"{_capital(word(record['op']))} lets go of {what}: {memory(event['bytes'])} freed."
        )
        if self.telling != node or not self.frames:
            where = record["where"]
            self.add("release", node, caption, where=where, changes={node: {"released": True}})
            return
        frame = self.frames[-1]  # one idea less: said with the last thing the node did
        frame["caption"] += f" {caption}"
        frame["set"].setdefault(self.drawn.box_of[node].id, {})["released"] = True

    def _argument(self, node: int, arg: str) -> str:
        return self.names.operands(node).get(arg, arg)

    def finish(self, event: Event) -> None:
        named = [n for n in self.accumulated if self.drawn.box_of[n].kind != "fold"]
        if not self.accumulated:
            caption = "Backward is done."
        elif len(self.accumulated) > NAMED or len(named) < len(self.accumulated):
            caption = f"Backward is done: {len(self.accumulated):,} leaves have their gradient."
        else:
            gained = (f"{self.names.name(n)}.grad is {_a(self.grads[n])}" for n in self.accumulated)
            caption = f"Backward is done: {_list(gained)}"
        self.add("finish", None, caption, where=self.pass_where)
        self.phase = "forward"

    def stopped(self, event: Event) -> None:
        error = self.error or {"type": "Error", "message": "", "where": None}
        message = str(error["message"]).split("\n")[0]
        caption = f"The code stopped here with {error['type']}: {message}"
        self.add("error", None, caption, where=error["where"])

    # -- folded boxes ---------------------------------------------------------------------------

    def enter(self, box: Box, event: Event) -> None:
        """Meet a fold: its first operation, a leaf in it, or something that happens to it later."""
        kind, node = event["kind"], event["node"]
        if kind == "modified":
            self.values[node] = event["value"]
        self.hide(event)
        if kind == "op" and (node != self.closing[box.id] or box.count):
            self.open, self.ran = box, node == self.closing[box.id]
            self.passes, self.pending = 0, {}
        elif kind in ("op", "leaf") and node == self.closing[box.id]:
            self.passes, self.pending = 0, {}
            self.folded(box)

    def leaves(self, event: Event, box: Box | None) -> bool:
        """Tell the open fold if this event is the first after it.

        Rounds of a loop end with the first op or leaf of the next round, so that a backward pass
        and a change in place that end a round belong to it; other folds end with their last op.
        """
        assert self.open is not None
        next_round = event["kind"] in ("op", "leaf") and box is not self.open
        done = self.ran and (next_round or not self.open.count)
        if not done and event["kind"] != "error":
            return False
        self.at -= 1
        self.folded(self.open)
        self.at += 1
        self.open = None
        return True

    def inside(self, event: Event, box: Box | None) -> None:
        """Take note of what happens while a fold runs; it is told when its last op has run.

        That may be whole backward passes and changes in place, as in a loop that trains.
        """
        kind, node = event["kind"], event.get("node")
        shown = box is not None and box.kind != "fold"
        if kind == "leaf" and shown:
            self.leaf(event)
            return
        if kind == "backward":
            self.passes += 1
        elif kind == "modified" and node is not None:
            self.values[node] = event["value"]
            if shown:
                self.pending.setdefault(node, {})["value"] = box_value(event["value"])
        elif kind == "accumulate" and node is not None:
            self.grads[node] = event["grad"]
            if shown:
                fields = self._shown(node, "grad", event["grad"])
                self.pending.setdefault(node, {}).update(fields, visited=True)
        elif kind == "op" and self.open is not None:
            self.ran = node == self.closing[self.open.id]
        self.hide(event)

    def folded(self, box: Box) -> None:
        """Tell a fold in one step."""
        node = self.closing[box.id]
        count = sum(self.nodes[n]["kind"] == "op" for n in box.nodes)
        caption = f"{_capital(box.heading)}: "
        if count:
            name = self.nodes[node]["name"]
            ends = _equation(name, self.value(node)) if name else _a(self.value(node))
            caption += f"{count:,} op{'s' * (count > 1)}"
            if self.passes:
                caption += f" and {self.passes:,} backward pass{'es' * (self.passes > 1)}"
            caption += f", drawn as one box. The last op makes {ends}"
        else:
            caption += "drawn as one box."
        self.add("fold", node, caption, where=box.where, changes=self.pending)

    def _called(self, node: int) -> str:
        """Return a node's name; that of the box for one without a name in a folded box."""
        box = self.drawn.box_of[node]
        folded = box.kind == "fold" and not self.nodes[node]["name"]
        return box.heading if folded else self.names.name(node)

    def through(self, box: Box) -> None:
        """Tell in one step what backward does inside a fold until it comes out again."""
        visits = freed = 0
        reached: dict[int, str | None] = {}  # node outside -> arrow to it
        start = self.events[self.at]["node"]
        while self.at < len(self.events):
            event = self.events[self.at]
            if event["kind"] not in _BACKWARD or self.drawn.box_of[event["node"]] is not box:
                break
            self.hide(event)
            if event["kind"] == "visit" and self.nodes[event["node"]]["kind"] == "op":
                visits += 1
            elif event["kind"] == "contribution":
                to = event["to"]
                self.arrivals[to] += 1
                self.waiting[to] = event["total"] or event["after"]
                if self.drawn.box_of[to] is not box:
                    reached[to] = self._edge(event["node"], event["arg"], to)
            elif event["kind"] == "accumulate":
                self.grads[event["node"]] = event["grad"]
                self.accumulated.append(event["node"])
            elif event["kind"] == "release":
                freed += event["bytes"]
            self.at += 1
        self.at -= 1
        if visits:
            caption = f"Backward runs through {box.heading}: {visits:,} ops, newest first."
        else:
            caption = f"{_capital(box.heading)}: their gradients are accumulated."
        told = [f"{self._called(n)} {show(self.waiting[n])}" for n in reached]
        if len(told) > NAMED:
            caption += f" {len(told):,} boxes outside it get their share."
        elif told:
            caption += " " + sentence(f"Gradients so far: {', '.join(told)}")
        if freed:
            caption += f" It frees {memory(freed)}."
        changes: dict[int, dict[str, Any]] = {n: self._arrived(n) for n in reached}
        changes[start] = {"visited": True, **({"released": True} if freed else {})}
        edge = next(iter(reached.values())) if len(reached) == 1 else None
        self.add("fold", start, caption, where=box.where, edge=edge, changes=changes)
        self.telling = None


def _dimensions(wide: Sequence[int], narrow: Sequence[int]) -> str:
    """Return "dimension 0" or "dimensions 0 and 2": those over which broadcasting has copied."""
    added = len(wide) - len(narrow)
    dims = [*range(added), *(d + added for d, n in enumerate(narrow) if n == 1 != wide[d + added])]
    return f"dimension{'s' * (len(dims) != 1)} {_list(map(str, dims))}"
