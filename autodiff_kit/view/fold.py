"""What is drawn of a recording: one box per node, or, when there are too many, folded boxes.

After reading you can say which box hides an operation and why. A graph of up to 300 nodes is drawn
whole. A larger one is folded, by what the learner wrote as long as that is enough: the rounds of a
loop between its first and its last, then calls and inner loops, then chains; and by mere position
when nothing else helps. Read next: ``frames.py``, where a folded box is one step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autodiff_kit.view.labels import word
from autodiff_kit.view.names import Names
from autodiff_kit.view.values import TIMES
from autodiff_kit.view.written import Written

__all__ = ["LIMIT", "Box", "Edge", "Outline", "outline", "outputs_of"]

LIMIT = 300  # a graph of so many nodes is drawn whole
AIM = 120  # a larger one is folded until so few operations are left
FEWEST_ROUNDS = 4  # loops with fewer are not worth a fold: first, last and one between
SHORTEST_CHAIN = 4
OPENED = 60  # a fold of so many operations is opened all at once, a larger one into
PARTS = 8  # so many folds


@dataclass(frozen=True, slots=True)
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
    title, of : str
        Of a fold: ``"iterations 2 to 499"`` and ``"for i in range(500)"``.
    count : str
        Of a fold: how many times, as shown beside the title.
    where : list or None
        Of a fold: the source it stands for.
    """

    id: str
    kind: str
    nodes: Sequence[int]
    title: str = ""
    of: str = ""
    count: str = ""
    where: list[Any] | None = None

    def key(self, nodes: Sequence[Mapping[str, Any]]) -> list[int] | None:
        """Return by what a fold of operations can be opened: its first and last operation."""
        made = [n for n in self.nodes if nodes[n]["kind"] == "op"] if self.kind == "fold" else []
        return [made[0], made[-1]] if len(made) > 1 else None

    @property
    def heading(self) -> str:
        """Return ``"iterations 2 to 499 of for i in range(500)"``."""
        return f"{self.title} of {self.of}" if self.of else self.title


@dataclass(slots=True)
class Edge:
    """An arrow between two boxes; ``ghost`` where no gradient can come back along it."""

    id: str
    source: str
    target: str
    arg: str
    ghost: bool


@dataclass(slots=True)
class Outline:
    """Boxes in an order in which every arrow leads from an earlier to a later one."""

    boxes: list[Box]
    box_of: list[Box]  # by node
    edges: list[Edge] = field(default_factory=list)
    edge_at: dict[tuple[int, int], Edge] = field(default_factory=dict)  # (node, place of input)

    def body(self, box: Box, nodes: Sequence[Mapping[str, Any]]) -> str:
        """Return what a fold hides: so many times each op, so many leaves."""
        ops = Counter(word(nodes[n]["op"]) for n in box.nodes if nodes[n]["kind"] == "op")
        leaves = sum(nodes[n]["kind"] == "leaf" for n in box.nodes)
        parts = [f"{n:,} {TIMES} {name}" for name, n in ops.most_common(6)]
        if len(ops) > 6:
            parts.append(f"{len(ops) - 6} more kinds")
        if leaves:
            parts.append(f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of operations (by rank among the operations, both ends included) to be folded."""

    first: int
    last: int
    title: str
    of: str = ""
    count: str = ""
    where: list[Any] | None = None


def outline(
    recording: Mapping[str, Any],
    fold: Sequence[int] | bool | None = None,
    opened: Sequence[Sequence[int]] = (),
) -> Outline:
    """Decide on the boxes and arrows of a recording.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``scopes``.
    fold : None, bool or sequence of int
        None and True fold what is too large; False folds nothing as long as there are no more than
        300 nodes; a sequence names scopes to fold in any case.
    opened : sequence of (first, last) operation
        Folds to open, by ``Box.key``; with too many open, those close that were opened first.

    Returns
    -------
    Outline

    Raises
    ------
    ValueError
        If ``fold`` names a scope that the recording does not have.
    """
    nodes = recording["nodes"]
    runs: list[_Run] = []
    if fold is not None and not isinstance(fold, bool):
        runs = _Folder(recording).chosen(fold)
    if len(nodes) > LIMIT:
        runs = _Folder(recording).fitting(runs)
    if opened and runs:
        folder = _Folder(recording)
        while opened:
            wider = folder.open(runs, opened)
            if len(_boxes(nodes, wider, keep_named=False).boxes) <= LIMIT:
                runs = wider
                break
            first, last = opened[-1]  # what is around it stays open
            others = [key for key in opened if not (key[0] <= first and last <= key[1])]
            close = (others or opened)[0]
            opened = [key for key in opened if key != close]
    found = _boxes(nodes, runs, keep_named=True)
    if len(found.boxes) > LIMIT:
        found = _boxes(nodes, runs, keep_named=False)
    if len(found.boxes) > LIMIT:
        found = _with_leaves_folded(nodes, found)
    _connect(nodes, found, Written(recording))
    return found


class _Folder:
    """Finds stretches of operations that belong together."""

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self.nodes: Sequence[Mapping[str, Any]] = recording["nodes"]
        self.ops = [n for n in self.nodes if n["kind"] == "op"]
        self.scopes = {s["id"]: s for s in recording["scopes"]}
        self.depth: dict[int, int] = {}
        self.inner: dict[int, list[int]] = {}  # scope -> scopes in it, in order of time
        self.first: dict[int, int] = {}  # scope -> rank of its first operation
        self.last: dict[int, int] = {}
        self.size: dict[int, int] = dict.fromkeys(self.scopes, 0)
        self.calls: dict[int, int] = {}  # call -> the how manyth of its name
        named: Counter[str] = Counter()
        for scope in sorted(self.scopes):  # a scope is numbered after the one around it
            parent = self.scopes[scope]["parent"]
            self.depth[scope] = 0 if parent is None else self.depth[parent] + 1
            if parent is not None:
                self.inner.setdefault(parent, []).append(scope)
            name = str(self.scopes[scope]["name"])
            named[name] += self.scopes[scope]["kind"] == "call"
            self.calls[scope] = named[name]
        for rank, node in enumerate(self.ops):
            scope = node["scope"]
            self.first.setdefault(scope, rank)
            self.last[scope] = rank
            self.size[scope] += 1
        for scope in sorted(self.scopes, reverse=True):
            parent = self.scopes[scope]["parent"]
            if parent is None or scope not in self.first:
                continue
            self.size[parent] += self.size[scope]
            self.first[parent] = min(self.first.get(parent, len(self.ops)), self.first[scope])
            self.last[parent] = max(self.last.get(parent, -1), self.last[scope])

    def _whole(self, scope: int) -> bool:
        """Tell whether nothing foreign happened in between (as it does with generators)."""
        size = self.size[scope]
        return size > 0 and self.last[scope] - self.first[scope] + 1 == size

    def chosen(self, scopes: Iterable[int]) -> list[_Run]:
        """Return the stretches for the scopes that the caller named."""
        runs: list[_Run] = []
        for scope in scopes:
            if scope not in self.scopes:
                known = ", ".join(f"{s['id']} ({s['name']})" for s in self.scopes.values())
                raise ValueError(
                    f"fold names scope {scope!r}, and this recording has none of that number. "
                    f"Its scopes are: {known[:400]}"
                )
            if self._whole(scope):
                run = self._rounds(scope) or self._scope(scope)
                runs = [r for r in runs if not run.first <= r.first <= run.last]
                if not any(r.first <= run.first <= r.last for r in runs):
                    runs.append(run)
        return sorted(runs, key=lambda run: run.first)

    def fitting(self, runs: list[_Run]) -> list[_Run]:
        """Add stretches until few enough boxes are left; the mildest means first."""
        runs = self._fold_loops(runs)
        if self._boxes(runs) > AIM:
            runs = self._fold_below(runs)
        if self._boxes(runs) > AIM:
            runs = self._fold_chains(runs)
        if self._boxes(runs) > AIM:
            runs = self._fold_parts(runs)
        return runs

    def open(self, runs: list[_Run], opened: Sequence[Sequence[int]]) -> list[_Run]:
        """Put what is in them in the place of folds."""
        for first, last in opened:
            runs = [
                part
                for run in runs
                for part in (
                    self._inside(run)
                    if [self.ops[run.first]["id"], self.ops[run.last]["id"]] == [first, last]
                    else [run]
                )
            ]
        return runs

    def _inside(self, fold: _Run) -> list[_Run]:
        """Return what a fold is made of: nothing folded, rounds and calls, or parts."""
        size = fold.last - fold.first + 1
        if size <= OPENED:
            return []
        parts: list[int] = []  # scopes in it, and in no other one in it
        for scope in sorted(self.first, key=lambda s: (self.first[s], self.depth[s])):
            first, last = self.first[scope], self.last[scope]
            within = fold.first <= first and last <= fold.last and last - first + 1 < size
            if within and self._whole(scope) and not (parts and first <= self.last[parts[-1]]):
                parts.append(scope)
        hidden = sum(self.size[s] for s in parts)
        if parts and size - hidden + len(parts) <= OPENED:
            return [self._scope(s) for s in parts if self.size[s] > 1]
        rounds = {self.scopes[s]["parent"] for s in parts if self.scopes[s]["kind"] == "iteration"}
        if len(rounds) == 1 and hidden == size:
            step = -(-len(parts) // PARTS)
            groups = [parts[i : i + step] for i in range(0, len(parts), step)]
            return [self._grouped(g) if len(g) > 1 else self._scope(g[0]) for g in groups]
        step = -(-size // PARTS)
        return [
            self._part(first, min(first + step - 1, fold.last))
            for first in range(fold.first, fold.last + 1, step)
            if first < fold.last
        ]

    def _grouped(self, rounds: Sequence[int]) -> _Run:
        """Fold some rounds of a loop."""
        from_, to = (self.scopes[s]["index"] + 1 for s in (rounds[0], rounds[-1]))
        loop = self.scopes[self.scopes[rounds[0]]["parent"]]
        title, count = f"iterations {from_:,} to {to:,}", f"{TIMES} {len(rounds):,}"
        first, last = self.first[rounds[0]], self.last[rounds[-1]]
        return _Run(first, last, title, str(loop["name"]), count, loop["where"])

    def _part(self, first: int, last: int) -> _Run:
        title = f"operations {first + 1:,} to {last + 1:,}"
        return _Run(first, last, title, where=self.ops[first]["where"])

    def _boxes(self, runs: Iterable[_Run]) -> int:
        return len(self.ops) - sum(run.last - run.first for run in runs)

    def _scope(self, scope: int) -> _Run:
        record = self.scopes[scope]
        name, of = str(record["name"]), ""
        if record["kind"] == "call":
            name, of = f"call {self.calls[scope]}", name
        elif record["kind"] == "iteration":
            of = str(self.scopes[record["parent"]]["name"])
            name = f"iteration {record['index'] + 1}"
        return _Run(self.first[scope], self.last[scope], name, of, where=record["where"])

    def _rounds(self, scope: int) -> _Run | None:
        """Return the rounds of a loop without the first and the last one."""
        if self.scopes[scope]["kind"] != "loop":
            return None
        rounds = [s for s in self.inner.get(scope, ()) if self.size[s]]
        if len(rounds) < FEWEST_ROUNDS:
            return None
        middle = rounds[1:-1]
        first, last = self.first[middle[0]], self.first[rounds[-1]] - 1
        from_, to = (self.scopes[s]["index"] + 1 for s in (middle[0], middle[-1]))
        record = self.scopes[scope]
        title = f"iterations {from_:,} to {to:,}"
        return _Run(
            first, last, title, str(record["name"]), f"{TIMES} {len(middle):,}", record["where"]
        )

    def _fold_loops(self, runs: list[_Run]) -> list[_Run]:
        """Fold loops from the outside in; of one depth, the longest first."""
        loops = [s for s in self.scopes if self._whole(s) and self.scopes[s]["kind"] == "loop"]
        for loop in sorted(loops, key=lambda s: (self.depth[s], -self.size[s], s)):
            if self._boxes(runs) <= AIM:
                break
            run = self._rounds(loop)
            if run and not any(r.first <= run.first and run.last <= r.last for r in runs):
                runs = [r for r in runs if not run.first <= r.first <= run.last] + [run]
        return sorted(runs, key=lambda run: run.first)

    def _fold_below(self, runs: list[_Run]) -> list[_Run]:
        """Fold every call and loop below a depth: the deepest at which the picture fits."""
        folded = self._taken(runs)
        direct: Counter[int] = Counter()  # depth -> operations at it that are not folded yet
        scopes: Counter[int] = Counter()  # depth -> scopes with such operations
        seen: set[int] = set()
        for rank, node in enumerate(self.ops):
            if rank in folded:
                continue
            scope = node["scope"]
            direct[self.depth[scope]] += 1
            while scope is not None and scope not in seen:
                seen.add(scope)
                scopes[self.depth[scope]] += 1
                scope = self.scopes[scope]["parent"]
        deepest = max(direct, default=0)
        fits = [
            d
            for d in range(deepest + 1)
            if sum(direct[k] for k in range(d + 1)) + scopes[d + 1] + len(runs) <= AIM
        ]
        depth = max(fits, default=0) + 1
        found = [
            self._scope(s)
            for s in sorted(seen)
            if self.depth[s] == depth and self._whole(s) and self.size[s] > 1
        ]
        kept = [r for r in runs if not any(f.first <= r.first <= f.last for f in found)]
        inside = [
            f for f in found if not any(r.first <= f.first and f.last <= r.last for r in kept)
        ]
        return sorted(kept + inside, key=lambda run: run.first)

    def _fold_chains(self, runs: list[_Run]) -> list[_Run]:
        """Fold operations in a row of which each needs only the one before."""
        folded = self._taken(runs)
        uses: Counter[int] = Counter()
        for node in self.ops:
            uses.update({i["node"] for i in node["inputs"] if "node" in i})
        found = list(runs)
        start = 0
        for rank in range(1, len(self.ops) + 1):
            if rank < len(self.ops) and rank not in folded and rank - 1 not in folded:
                node, before = self.ops[rank], self.ops[rank - 1]
                made = [i["node"] for i in node["inputs"] if self._is_op(i)]
                linked = set(made) == {before["id"]} and uses[before["id"]] == 1
                if linked and node["scope"] == before["scope"]:
                    continue
            if rank - start >= SHORTEST_CHAIN:
                title = f"chain of {rank - start:,} operations"
                where = self.ops[rank - 1]["where"]
                found.append(_Run(start, rank - 1, title, where=where))
            start = rank
        return sorted(found, key=lambda run: run.first)

    def _is_op(self, source: Mapping[str, Any]) -> bool:
        return "node" in source and self.nodes[source["node"]]["kind"] == "op"

    def _fold_parts(self, runs: list[_Run]) -> list[_Run]:
        """Fold what comes next to each other, in parts of equal size."""
        ends: list[tuple[int, int]] = []
        starts = {run.first: run.last for run in runs}
        rank = 0
        while rank < len(self.ops):
            last = starts.get(rank, rank)
            ends.append((rank, last))
            rank = last + 1
        step = -(-len(ends) // AIM)
        whole = {(run.first, run.last): run for run in runs}
        found = []
        for i in range(0, len(ends), step):
            first, last = ends[i][0], ends[min(i + step, len(ends)) - 1][1]
            if (first, last) in whole:
                found.append(whole[first, last])
            elif first < last:
                found.append(self._part(first, last))
        return found

    @staticmethod
    def _taken(runs: Iterable[_Run]) -> set[int]:
        return {rank for run in runs for rank in range(run.first, run.last + 1)}


def _boxes(
    nodes: Sequence[Mapping[str, Any]], runs: Sequence[_Run], *, keep_named: bool
) -> Outline:
    """Make the boxes; a leaf that only one fold uses goes into that fold.

    Unless there is room for it and the learner will look for its ``.grad``.
    """
    ops = [n["id"] for n in nodes if n["kind"] == "op"]
    fold_of: dict[int, int] = {}
    members: list[list[int]] = []
    for number, run in enumerate(runs):
        members.append(ops[run.first : run.last + 1])
        fold_of.update(dict.fromkeys(members[-1], number))
    users: dict[int, set[int | None]] = {}
    for node in ops:
        for source in nodes[node]["inputs"]:
            if "node" in source and nodes[source["node"]]["kind"] == "leaf":
                users.setdefault(source["node"], set()).add(fold_of.get(node))
    for leaf, folds in users.items():
        only = next(iter(folds)) if len(folds) == 1 else None
        if keep_named and nodes[leaf]["name"] and nodes[leaf]["requires_grad"]:
            continue
        if only is not None:
            members[only].append(leaf)
            fold_of[leaf] = only
    made: dict[int, Box] = {}
    for number, run in enumerate(runs):
        inside = tuple(sorted(members[number]))
        made[ops[run.last]] = Box(
            f"fold{number}", "fold", inside, run.title, run.of, run.count, run.where
        )
    outputs = outputs_of(nodes)
    for node in nodes:
        group = outputs.get(node["id"], (node["id"],))
        whole = not any(n in fold_of for n in group)  # one box for one node of PyTorch's
        if node["id"] not in fold_of and not (whole and node.get("part_of") is not None):
            made[node["id"]] = Box(
                str(node["id"]), node["kind"], tuple(group) if whole else (node["id"],)
            )
    # A fold stands where its last operation was: all its inputs are older, all its users younger.
    boxes = [made[place] for place in sorted(made)]
    at = {n: box for box in boxes for n in box.nodes}
    return Outline(boxes, [at[n] for n in range(len(nodes))])


def outputs_of(nodes: Sequence[Mapping[str, Any]]) -> dict[int, list[int]]:
    """Return, for the outputs of nodes that have several, all outputs of the same node."""
    groups: dict[int, list[int]] = {}
    for node in nodes:
        first = node.get("part_of")
        if first is not None:
            groups.setdefault(first, [first]).append(node["id"])
    return {n: group for group in groups.values() for n in group}


def _with_leaves_folded(nodes: Sequence[Mapping[str, Any]], found: Outline) -> Outline:
    """Fold leaves that the same boxes use, and, if there are still too many, any leaves."""
    users: dict[int, set[str]] = {}
    for node in nodes:
        for source in node.get("inputs", ()):
            if "node" in source:
                users.setdefault(source["node"], set()).add(found.box_of[node["id"]].id)
    leaves = [b.nodes[0] for b in found.boxes if b.kind == "leaf"]
    groups: dict[tuple[str, ...], list[int]] = {}
    for leaf in leaves:
        groups.setdefault(tuple(sorted(users.get(leaf, ()))), []).append(leaf)
    room = LIMIT - (len(found.boxes) - len(leaves))
    together: list[list[int]] = []
    left = len(leaves)
    for group in sorted(groups.values(), key=lambda g: (-len(g), g)):
        if left > min(room, AIM) and len(group) > 1:
            together.append(group)
            left -= len(group) - 1
    if left > room:
        step = -(-len(leaves) // room)
        together = [leaves[i : i + step] for i in range(0, len(leaves), step)]
    names = Names({"nodes": nodes, "ops": {}})
    hidden = {leaf for group in together for leaf in group if len(group) > 1}
    boxes = [b for b in found.boxes if b.kind != "leaf" or b.nodes[0] not in hidden]
    for group in together:
        if len(group) > 1:
            number = sum(b.kind == "fold" for b in boxes)
            title = f"{len(group):,} leaves"
            of = f"{names.name(group[0])} to {names.name(group[-1])}"
            count = f"{TIMES} {len(group):,}"
            boxes.append(Box(f"fold{number}", "fold", tuple(group), title, of, count))
    # Leaves have no inputs, so a fold of leaves may stand where its first one was.
    is_leaves = {b.id for b in boxes if all(nodes[n]["kind"] == "leaf" for n in b.nodes)}
    boxes.sort(key=lambda b: b.nodes[0] if b.id in is_leaves else max(b.nodes))
    at = {n: box for box in boxes for n in box.nodes}
    return Outline(boxes, [at[n] for n in range(len(nodes))])


def _connect(nodes: Sequence[Mapping[str, Any]], found: Outline, written: Written) -> None:
    """Draw an arrow per argument, in the order of the source; from or to a fold, one per box."""
    between: dict[tuple[str, str], Edge] = {}
    drawn: set[str] = set()
    for box in found.boxes:
        drawn.add(box.id)
        made = nodes[box.nodes[0]].get("from")
        if box.kind == "leaf" and made is not None and found.box_of[made].id in drawn:
            start = found.box_of[made].id  # the same values: no gradient goes back there
            found.edges.append(Edge(str(len(found.edges)), start, box.id, "", ghost=True))
        for n in box.nodes:
            inputs = nodes[n].get("inputs", ())
            for place in range(len(inputs)) if box.kind == "fold" else written.order(n):
                source = inputs[place]
                if "node" not in source or (start := found.box_of[source["node"]]) is box:
                    continue
                pair = (start.id, box.id)
                folded = start.kind == "fold" or box.kind == "fold"
                ghost = not (nodes[n]["recorded"] and nodes[source["node"]]["recorded"])
                together = folded or (len(box.nodes) > 1 and len(start.nodes) == 1)
                edge = between.get(pair) if together else None
                if edge is not None:
                    edge.ghost &= ghost
                else:
                    arg = "" if folded else str(source["arg"])
                    edge = Edge(str(len(found.edges)), *pair, arg, ghost)
                    found.edges.append(edge)
                    between[pair] = edge
                found.edge_at[n, place] = edge
