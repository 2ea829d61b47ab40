"""What is drawn of a recording: one box per node, or, when there are too many, folded boxes.

After reading you can say which boxes and arrows a picture has. A small graph is drawn whole; of a
larger one, parts are folded (``fold.py``, ``fitting.py``), and a leaf goes into the fold that alone
uses it. Read next: ``frames.py``, where a folded box is one step.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autodiff_kit.record.events import NodeRecord, RecordingData
from autodiff_kit.view.derived import after_makers, made_between
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.fitting import AIM, WHOLE, folded, open_at_first
from autodiff_kit.view.flow import Flow
from autodiff_kit.view.fold import Parts
from autodiff_kit.view.labels import word
from autodiff_kit.view.names import Names
from autodiff_kit.view.part import Key, Part
from autodiff_kit.view.values import TIMES
from autodiff_kit.view.words import capital
from autodiff_kit.view.written import Written

__all__ = ["LIMIT", "Box", "Edge", "Outline", "outline", "outputs_of", "stays_outside"]

LIMIT = 300  # boxes that a picture can have
LONGEST = 24  # characters of names as a title
PARAMETERS = "parameters of "
FEWEST_SHARED = 3  # parameters that the same folds use are drawn as one box


@dataclass(frozen=True)
class Box:
    """One box of the drawing.

    Attributes
    ----------
    id : str
        The node's number, ``"3"``; ``"fold0"`` for a folded box.
    kind : str
        ``"leaf"``, ``"op"`` or ``"fold"``.
    nodes : sequence of int
        What it stands for, in order of creation.
    part : Part or None
        Of a fold of operations: what it folds.
    title, of : str
        Of a fold: ``"iterations 2 to 499"`` and ``"for i in range(500)"``.
    count : str
        Of a fold: how many times, as shown beside the title.
    where : list or None
        Of a fold: the source it stands for.
    ops : sequence of int
        The operations that it stands for, in order.
    result : int or None
        The node whose value and gradient it shows; of a fold the operation from which a backward
        pass started, else the last one.
    """

    id: str
    kind: str
    nodes: Sequence[int]
    part: Part | None = field(default=None, compare=False)
    title: str = ""
    of: str = ""
    count: str = ""
    where: list[Any] | None = None
    ops: Sequence[int] = field(default=(), compare=False)
    result: int | None = None

    @property
    def key(self) -> list[int] | None:
        """Return by what a fold of operations can be opened: its first and last operation."""
        return [self.ops[0], self.ops[-1]] if len(self.ops) > 1 and self.kind == "fold" else None

    @cached_property
    def leaves(self) -> list[int]:
        """Return the leaves that it stands for."""
        return sorted(set(self.nodes).difference(self.ops))

    @property
    def has_rounds(self) -> bool:
        """Return whether it stands for rounds of a loop: what ends them belongs to it."""
        return self.part is not None and self.part.kind == "rounds"

    @property
    def is_repeated(self) -> bool:
        """Return whether it stands for one round of a loop, or more."""
        return self.part is not None and self.part.kind in ("iteration", "rounds")

    @property
    def heading(self) -> str:
        """Return ``"iterations 2 to 499 of for i in range(500)"``, or ``"net.0 (Linear)"``."""
        title = f"{self.title}, {self.count}" if self.count.startswith("call") else self.title
        if not self.of or self.of == self.title:
            return title
        if self.part is not None and self.part.kind in ("module", "equal", "modules"):
            if self.title.startswith("calls "):
                return f"{title} of {self.of}"
            return f"{title} ({self.of})"
        return title if self.count.startswith("call") else f"{title} of {self.of}"

    @property
    def owner(self) -> str:
        """Return the module that all its parameters are of; "" if there is none."""
        if self.part is None:
            return self.title.removeprefix(PARAMETERS) if self.title.startswith(PARAMETERS) else ""
        return self.heading if self.part.kind in ("module", "equal", "modules") else ""

    @property
    def opening(self) -> str:
        """Return the heading as a sentence begins with it; what the learner wrote stays so."""
        words = self.part is None or self.part.kind in ("iteration", "rounds", "operations")
        return capital(self.heading) if words else self.heading


@dataclass(slots=True)
class Edge:
    """An arrow between two boxes; ``ghost`` where no gradient can come back along it.

    From one round of a training loop to the next ``code`` is what has changed a parameter, and
    ``effect`` says which: ``"changes w"``.
    """

    id: str
    source: str
    target: str
    arg: str
    ghost: bool
    code: str = ""
    effect: str = ""


@dataclass(slots=True)
class Outline:
    """Boxes in an order in which every arrow leads from an earlier to a later one."""

    boxes: list[Box]
    box_of: list[Box]  # by node
    edges: list[Edge] = field(default_factory=list)
    edge_at: dict[tuple[int, int], Edge] = field(default_factory=dict)  # (node, place of input)
    parts: Parts | None = None  # None: nothing can be folded
    opened: list[Key] = field(default_factory=list)  # the parts that are drawn open
    # Of each training loop, the boxes of its rounds in the order of time.
    rounds: list[list[list[str]]] = field(default_factory=list)
    detail: Detail = Detail.PICTURES

    def body(self, box: Box, nodes: Sequence[NodeRecord]) -> str:
        """Return what a fold hides: so many times each op, so many leaves."""
        ops = Counter(word(str(nodes[n]["op"])) for n in box.ops)
        leaves = len(box.leaves)
        parts = [f"{n:,} {TIMES} {name}" for name, n in ops.most_common(6)]
        if len(ops) > 6:
            parts.append(f"{len(ops) - 6} more kinds")
        if leaves:
            parts.append(f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}")
        return ", ".join(parts)


def outline(
    recording: RecordingData,
    fold: Sequence[int] | bool | None = None,
    opened: Sequence[Sequence[int]] = (),
    closed: Sequence[Sequence[int]] = (),
    first: Sequence[Key] | None = None,
    parts: Parts | None = None,
    *,
    together: bool = False,
    names: Names | None = None,
) -> Outline:
    """Decide on the boxes and arrows of a recording.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``scopes``, ``sources``.
    fold : None, bool or sequence of int
        None and True fold what is too large to be read at once; False folds nothing as long as
        there are no more than 300 nodes; a sequence names scopes to fold in any case.
    opened : sequence of (first, last) operation
        Folds to open, by ``Box.key``; with too many open, those close that were opened first.
    closed : sequence of (first, last) operation
        Parts to fold that would be open.
    first : sequence of (first, last) operation, optional
        What is open at first; without it, as much as seems to fit.
    parts : Parts, optional
        Those of the recording, if they are known.
    together : bool
        Draw leaves as one box that the same folds use; parameters of modules are so in any case.
    names : Names, optional
        Those of the recording, if they are known: they have looked at its source.

    Returns
    -------
    Outline

    Raises
    ------
    ValueError
        If ``fold`` names a scope that the recording does not have.
    """
    nodes = recording["nodes"]
    parts = parts or Parts(recording)
    own = [parts.of_scope(s) for s in fold] if isinstance(fold, Sequence) else []
    if (fold is False and len(nodes) <= LIMIT) or not parts.ops:
        keys = list[Key]()
        result = _roomy(nodes, [], parts, together)
    else:
        shut = [key for part in own if part is not parts.root for key in (parts.key(part),)]
        shut += [(first, last) for first, last in closed]
        wider = [(first, last) for first, last in opened]
        first = open_at_first(recording, parts)[-1].opened if first is None else first
        first_open = [key for key in first if key not in wider]
        last = wider[-1:]
        around = [key for key in wider if _is_in(last[0], [key])]  # this stays open longest
        closing = [*(key for key in wider if key not in around), *around]

        def without(count: int) -> tuple[list[Key], Outline]:
            closed_keys = closing[:count]
            keys = [*first_open, *(key for key in wider if key not in closed_keys)]
            keys = [key for key in keys if not _is_in(key, shut)]
            return keys, _roomy(nodes, folded(parts, set(keys)), parts, together)

        def is_few(count: int) -> bool:
            return len(without(count)[1].boxes) <= LIMIT

        keys, result = without(0)
        if len(result.boxes) > LIMIT:
            keys, result = without(bisect_left(range(len(closing)), True, key=is_few))
    if len(result.boxes) > LIMIT:
        result = _with_leaves_folded(recording, result)
    result.parts, result.opened = parts, keys
    result.detail = Detail.PICTURES if len(nodes) <= WHOLE else Detail.PLAIN
    written, flow = (names.written, names.flow) if names else (Written(recording), Flow(recording))
    _connect(nodes, result, written, flow)
    return result


def _is_in(key: Key, others: Sequence[Key]) -> bool:
    """Return whether a part is one of those, or inside of one."""
    return any(first <= key[0] and key[1] <= last for first, last in others)


def _roomy(
    nodes: Sequence[NodeRecord], runs: Sequence[Part], parts: Parts, together: bool
) -> Outline:
    """Make the boxes; leaves that have a name stay outside of folds, if there is room for all."""
    result = _boxes(nodes, runs, parts, True, together)
    if len(result.boxes) > LIMIT:
        result = _boxes(nodes, runs, parts, False, together)
    return result


def _boxes(
    nodes: Sequence[NodeRecord],
    runs: Sequence[Part],
    parts: Parts,
    keep_named: bool,
    together: bool,
) -> Outline:
    """Make the boxes; a leaf that only one fold uses goes into that fold.

    Unless there is room for it and the learner will look for its ``.grad``; of a module's
    parameters the box tells it.
    """
    ops = [n["id"] for n in parts.ops]
    fold_of: dict[int, int] = {}
    members: list[list[int]] = []
    for number, run in enumerate(runs):
        members.append(ops[run.first : run.last + 1])
        fold_of.update(dict.fromkeys(members[-1], number))
    users: dict[int, set[int | None]] = {
        leaf: {fold_of.get(ops[rank]) for rank in ranks} for leaf, ranks in parts.uses.items()
    }
    for leaf, fold in made_between(nodes, users, fold_of).items():
        members[fold].append(leaf)
        fold_of[leaf] = fold
    for leaf, folds in users.items():
        only = next(iter(folds)) if len(folds) == 1 else None
        if leaf in fold_of:
            continue
        if keep_named and only is not None and stays_outside(nodes[leaf], runs[only], parts):
            continue
        if only is not None:
            members[only].append(leaf)
            fold_of[leaf] = only
    box_of: dict[int, Box] = {}
    for number, run in enumerate(runs):
        inside, own = tuple(sorted(members[number])), ops[run.first : run.last + 1]
        box_of[ops[run.last]] = Box(
            f"fold{number}", "fold", inside, run, run.title, run.of, run.count, run.where, own,
            parts.root_among(own),
        )  # fmt: skip
    alike: dict[frozenset[int | None], list[int]] = {}
    for leaf, folds in users.items():
        several = len(folds) > 1 or (together and leaf not in fold_of)
        if several and None not in folds and _is_shared(nodes[leaf], together):
            alike.setdefault(frozenset(folds), []).append(leaf)
    for leaves in map(sorted, alike.values()):
        if len(leaves) >= FEWEST_SHARED:
            box = _shared(nodes, leaves, len(runs) + len(box_of))
            box_of[leaves[0]] = box
            fold_of.update(dict.fromkeys(leaves, -1))
    outputs = outputs_of(nodes)
    for n, record in enumerate(nodes):
        if n in fold_of:
            continue
        group = outputs.get(n, [n])
        whole = not any(part in fold_of for part in group)  # one box for one node of PyTorch's
        if not (whole and record.get("part_of") is not None):
            outs = tuple(group) if whole else (n,)
            is_op = record["kind"] == "op"
            box_of[n] = Box(str(n), record["kind"], outs, ops=outs if is_op else (), result=n)
    # A fold stands where its last operation was: all its inputs are older, all its users younger.
    order = after_makers(nodes, {n: at for at, box in box_of.items() for n in box.nodes})
    boxes = [box_of[place] for place in sorted(box_of, key=order)]
    at = {n: box for box in boxes for n in box.nodes}
    return Outline(boxes, [at[n] for n in range(len(nodes))])


def stays_outside(leaf: NodeRecord, part: Part, parts: Parts) -> bool:
    """Return whether a leaf is to be seen that only one folded part uses."""
    first, last = parts.key(part)
    is_made_there = any(first <= i.get("node", -1) <= last for i in leaf.get("inputs", ()))
    if not leaf["name"] or leaf.get("part") or is_made_there:
        return False
    return leaf["requires_grad"] or not (part.is_group or parts.is_in(leaf["scope"], part))


def _is_shared(leaf: NodeRecord, together: bool) -> bool:
    """Return whether a leaf is a parameter, and may be drawn as one box with others."""
    is_part = leaf.get("part", "").startswith("parameter")
    return leaf["requires_grad"] and (is_part or together)


def _shared(nodes: Sequence[NodeRecord], leaves: Sequence[int], number: int) -> Box:
    """Fold parameters that the same folds use: each call of one model, say."""
    paths = [str(nodes[leaf]["name"]).split(".") for leaf in leaves]
    common = [names[0] for names in zip(*paths, strict=False) if len(set(names)) == 1]
    title = f"{PARAMETERS}{'.'.join(common)}" if common else "parameters"
    written = ", ".join(".".join(path) for path in paths)
    title = title if common or len(written) > LONGEST else written
    count = f"{TIMES} {len(leaves):,}"
    return Box(f"fold{number}", "fold", tuple(leaves), None, title, "", count)


def outputs_of(nodes: Sequence[NodeRecord]) -> dict[int, list[int]]:
    """Return, for the outputs of nodes that have several, all outputs of the same node."""
    groups: dict[int, list[int]] = {}
    for node in nodes:
        first = node.get("part_of")
        if first is not None:
            groups.setdefault(first, [first]).append(node["id"])
    return {n: group for group in groups.values() for n in group}


def _with_leaves_folded(recording: RecordingData, whole: Outline) -> Outline:
    """Fold leaves that the same boxes use, and, if there are still too many, any leaves."""
    nodes = recording["nodes"]
    users: dict[int, set[str]] = {}
    for node in nodes:
        for source in node.get("inputs", ()):
            if "node" in source:
                users.setdefault(source["node"], set()).add(whole.box_of[node["id"]].id)
    leaves = [b.nodes[0] for b in whole.boxes if b.kind == "leaf"]
    groups: dict[tuple[str, ...], list[int]] = {}
    for leaf in leaves:
        groups.setdefault(tuple(sorted(users.get(leaf, ()))), []).append(leaf)
    room = LIMIT - (len(whole.boxes) - len(leaves))
    together: list[list[int]] = []
    left = len(leaves)
    for group in sorted(groups.values(), key=lambda g: (-len(g), g)):
        if left > min(room, AIM) and len(group) > 1:
            together.append(group)
            left -= len(group) - 1
    if left > room:
        step = -(-len(leaves) // room)
        together = [leaves[i : i + step] for i in range(0, len(leaves), step)]
    names = Names(recording)
    hidden = {leaf for group in together for leaf in group if len(group) > 1}
    boxes = [b for b in whole.boxes if b.kind != "leaf" or b.nodes[0] not in hidden]
    for group in together:
        if len(group) > 1:
            number = sum(b.kind == "fold" for b in boxes)
            title = f"{len(group):,} leaves"
            of = f"{names.name(group[0])} to {names.name(group[-1])}"
            count = f"{TIMES} {len(group):,}"
            boxes.append(Box(f"fold{number}", "fold", tuple(group), None, title, of, count))
    # Leaves have no inputs, so a fold of leaves may stand where its first one was.
    is_leaves = {b.id for b in boxes if all(nodes[n]["kind"] == "leaf" for n in b.nodes)}
    boxes.sort(key=lambda b: b.nodes[0] if b.id in is_leaves else max(b.nodes))
    at = {n: box for box in boxes for n in box.nodes}
    return Outline(boxes, [at[n] for n in range(len(nodes))])


def _connect(nodes: Sequence[NodeRecord], whole: Outline, written: Written, flow: Flow) -> None:
    """Draw an arrow per argument, in the order of the source; from or to a fold, one per box."""
    between: dict[tuple[str, str], Edge] = {}
    lines: set[str] = set()
    for box in whole.boxes:
        lines.add(box.id)
        origin = nodes[box.nodes[0]].get("from")
        if box.kind == "leaf" and origin is not None and whole.box_of[origin].id in lines:
            maker = whole.box_of[origin].id  # the same values: no gradient goes back there
            whole.edges.append(Edge(str(len(whole.edges)), maker, box.id, "", ghost=True))
        for n in box.nodes:
            inputs = nodes[n].get("inputs", ())
            places = range(len(inputs)) if box.kind == "fold" else written.order(n)
            for place in places:
                at = inputs[place].get("node")
                if at is None or (start := whole.box_of[at]) is box:
                    continue
                source = inputs[place]
                pair = (start.id, box.id)
                folded = start.kind == "fold" or box.kind == "fold"
                ghost = not flow.is_open(n, source["node"])
                ghost = ghost or nodes[n]["kind"] == "leaf"  # made so by requires_grad_()
                together = folded or (len(box.nodes) > 1 and len(start.nodes) == 1)
                edge = between.get(pair) if together else None
                if edge is not None:
                    edge.ghost &= ghost
                else:
                    arg = "" if folded else str(source["arg"])
                    edge = Edge(str(len(whole.edges)), *pair, arg, ghost)
                    whole.edges.append(edge)
                    between[pair] = edge
                whole.edge_at[n, place] = edge
