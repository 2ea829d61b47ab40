"""What a run is made of: parts that one box can stand for, and what is in each of them.

After reading you can say which operations are folded together: those that the learner wrote as
one. A module is a part, called by its path, a call, a loop and each of its rounds; in a loop, the
rounds between the first and the last are one part, and so are equal modules in a row. Where
nothing of the kind is left, a part is operations in a row. Read next: ``fitting.py``, which says
what is open at first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from autodiff_kit.record.events import NodeRecord, RecordingData, ScopeRecord
from autodiff_kit.record.ledger import events_of
from autodiff_kit.view.part import Key, Part
from autodiff_kit.view.pieces import with_expressions, with_pieces
from autodiff_kit.view.values import TIMES

__all__ = ["FEWEST_ROUNDS", "Parts"]

FEWEST_ROUNDS = 4  # loops with fewer are not worth a fold: first, last and one between
FEWEST_EQUAL = 3  # equal modules or calls in a row
MOST = 30  # a part that is made of more than so many is opened into
PIECES = 5  # so many, which fit one below the other
EXPRESSION = 28  # characters of a call that may be its title


class Parts:
    """The parts of a recording, each found when it is asked for.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``scopes``, ``sources``.

    Attributes
    ----------
    ops : list of dict
        The operations; a rank is a place in it.
    root : Part
        The whole run.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._recording = recording
        self.ops: Sequence[NodeRecord] = [n for n in recording["nodes"] if n["kind"] == "op"]
        self.scopes: dict[int, ScopeRecord] = {s["id"]: s for s in recording["scopes"]}
        self._first: dict[int, int] = {}  # scope -> rank of its first operation
        self._last: dict[int, int] = {}
        self._size: dict[int, int] = dict.fromkeys(self.scopes, 0)
        self._calls: dict[str, int] = {}  # calls of each function and module, by its name
        self._inside: dict[Part, list[Part | int]] = {}
        for rank, node in enumerate(self.ops):
            scope = node["scope"]
            self._first.setdefault(scope, rank)
            self._last[scope] = rank
            self._size[scope] += 1
        for scope in sorted(self.scopes, reverse=True):  # numbered after the one around it
            record = self.scopes[scope]
            parent = record["parent"]
            if scope not in self._first:
                continue
            if record["kind"] in ("call", "module"):
                self._calls[record["name"]] = self._calls.get(record["name"], 0) + 1
            if parent is not None:
                self._size[parent] += self._size[scope]
                first, last = self._first[scope], self._last[scope]
                self._first[parent] = min(self._first.get(parent, first), first)
                self._last[parent] = max(self._last.get(parent, last), last)
        root = next(iter(sorted(self.scopes)), 0)
        self.root = Part(0, len(self.ops) - 1, "root", "the whole run", scope=root)

    @cached_property
    def _roots(self) -> list[int]:
        """Return the operations from which backward passes started, in order."""
        passes = events_of(self._recording["events"], "backward")
        return sorted({root for event in passes for root in event["roots"]})

    def root_among(self, ops: Sequence[int]) -> int:
        """Return the last of these operations from which a pass started, else the last one."""
        place = bisect_right(self._roots, ops[-1]) - 1
        root = self._roots[place] if place >= 0 else -1
        at = bisect_right(ops, root) - 1
        return root if at >= 0 and ops[at] == root else ops[-1]

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """Return by rank which operation reads which: ``(earlier, later)``."""
        return self._reads[0]

    @cached_property
    def uses(self) -> dict[int, list[int]]:
        """Return for each leaf the ranks of the operations that read it."""
        return self._reads[1]

    @cached_property
    def _reads(self) -> tuple[list[tuple[int, int]], dict[int, list[int]]]:
        links: list[tuple[int, int]] = []
        uses: dict[int, list[int]] = {}
        rank_of = self._rank_of.get
        for rank, node in enumerate(self.ops):
            for source in node["inputs"]:
                if "node" in source:
                    number = source["node"]
                    earlier = rank_of(number)
                    if earlier is None:
                        uses.setdefault(number, []).append(rank)
                    else:
                        links.append((earlier, rank))
        return links, uses

    @cached_property
    def _rank_of(self) -> dict[int, int]:
        return {node["id"]: rank for rank, node in enumerate(self.ops)}

    @cached_property
    def rounds_in_time(self) -> list[tuple[int, int]]:
        """Return by rank the last operation before each backward pass in a loop, and the next."""
        links: list[tuple[int, int]] = []
        last, waiting = -1, -1
        for event in events_of(self._recording["events"], "op", "backward"):
            if event["kind"] == "op":
                last = self._rank_of[event["node"]]
                if waiting >= 0:
                    links.append((waiting, last))
                    waiting = -1
            else:
                at: int | None = event.get("scope")
                while at is not None and self.scopes[at]["kind"] != "iteration":
                    at = self.scopes[at]["parent"]
                if at is not None:
                    waiting = last
        return links

    def inside(self, part: Part) -> list[Part | int]:
        """Return what a part is made of, in order of time: parts, and single operations."""
        members = self._inside.get(part)
        if members is None:
            members = list(part.members) or self._children(part)
            while len(members) == 1 and isinstance(only := members[0], Part):
                members = list(only.members) or self._children(
                    only
                )  # opened with what is around it
            if not part.members:
                members = with_expressions(members, self.ops)
                members = with_pieces(members, self.ops, self._recording["nodes"])
                members = self._grouped(members)
            members = self._inside[part] = self._in_pieces(members, part)
        return members

    @cached_property
    def can_fold(self) -> bool:
        """Return whether there is something to fold that the learner wrote as one part."""
        inside = self.inside(self.root) if self.ops else []
        return any(isinstance(p, Part) and p.size > 1 and p.kind != "operations" for p in inside)

    def key(self, part: Part) -> Key:
        """Return by what a part is known to those who know no ranks."""
        return self.ops[part.first]["id"], self.ops[part.last]["id"]

    def is_in(self, scope: int, part: Part) -> bool:
        """Return whether a scope is that of a part, or inside of it."""
        at: int | None = scope
        while at is not None and at != part.scope:
            at = self.scopes[at]["parent"]
        return at is not None

    def is_layer(self, part: Part) -> bool:
        """Return whether a part is a module that calls no other one, such as Linear."""
        return part.kind == "module" and all(isinstance(p, int) for p in self.inside(part))

    def pattern(self, part: Part) -> int:
        """Return a number that parts of the same operations have in common."""
        return hash(tuple(self.ops[rank]["op"] for rank in range(part.first, part.last + 1)))

    def around(self, rank: int) -> list[Part]:
        """Return the parts in which an operation is, the largest first, without the whole run."""
        path: list[Part] = []
        part = self.root
        while True:
            inside = self.inside(part)
            firsts = [p.first if isinstance(p, Part) else p for p in inside]
            at = inside[bisect_right(firsts, rank) - 1]
            if isinstance(at, int) or at.size == 1:
                return path
            path.append(at)
            part = at

    def of_scope(self, scope: int) -> Part:
        """Return the part that folds a scope: of a loop, the rounds after the first.

        Raises
        ------
        ValueError
            If the recording has no such scope; the message says which it has.
        """
        if scope not in self.scopes:
            known = ", ".join(f"{s['id']} ({s['name']})" for s in self.scopes.values())
            raise ValueError(
                f"fold names scope {scope!r}, and this recording has none of that number. "
                f"Its scopes are: {known[:400]}"
            )
        if not self._is_whole(scope):
            return self.root
        part = self._part(scope)
        if part.kind == "loop":
            groups = [p for p in self.inside(part) if isinstance(p, Part) and p.is_group]
            return groups[0] if groups else part
        return part

    # -- what a part is made of ------------------------------------------------------------------

    def _is_whole(self, scope: int) -> bool:
        """Tell whether nothing foreign happened in between (as it does with generators).

        The test that ends a loop is no part of its own: its operations stand in the loop.
        """
        if self.scopes[scope]["kind"] == "test":
            return False
        size = self._size[scope]
        return size > 0 and self._last[scope] - self._first[scope] + 1 == size

    def _children(self, part: Part) -> list[Part | int]:
        """Return the outermost scopes in a part that are a stretch of their own, and the rest."""
        children: list[Part | int] = []
        outermost: dict[int, int] = {}  # scope of an operation -> such a scope around it, or -1
        rank = part.first
        while rank <= part.last:
            own = self.ops[rank]["scope"]
            if own not in outermost:
                at: int | None = own
                outermost[own] = -1
                while at is not None and at != part.scope:
                    if self._is_whole(at):
                        outermost[own] = at
                    at = self.scopes[at]["parent"]
            scope = outermost[own]
            if scope < 0:
                children.append(rank)
                rank += 1
            else:
                children.append(self._part(scope))
                rank = self._last[scope] + 1
        return children

    def _part(self, scope: int) -> Part:
        record = self.scopes[scope]
        title, of, count = str(record["name"]), "", ""
        if record["kind"] == "iteration":
            of = str(self.scopes[record["parent"] or 0]["name"])
            title = f"iteration {record['index'] + 1}"
        elif record["kind"] == "loop":
            rounds = {c.scope for c in self._children_of_loop(scope)}
            count = f"{TIMES} {len(rounds):,}"
        elif self._calls.get(record["name"], 0) > 1:
            count = f"call {record['index'] + 1}"
        if record["kind"] == "module":
            of = record.get("of", "")
        elif record["kind"] == "call":
            of, title = title, self._expression(record) or title
        first, last, where = self._first[scope], self._last[scope], record["where"]
        return Part(first, last, record["kind"], title, of, count, where, scope)

    def _children_of_loop(self, scope: int) -> list[Part]:
        loop = Part(self._first[scope], self._last[scope], "loop", "", scope=scope)
        return [child for child in self._children(loop) if isinstance(child, Part)]

    def _expression(self, record: ScopeRecord) -> str:
        """Return a call as the learner wrote it, ``step(h, 2)``; "" if that says too much."""
        where, name = record["where"], record["name"].rpartition(".")[2]
        if where is None or where[1] != where[3]:
            return ""
        lines = str(self._recording["sources"][where[0]]["text"]).splitlines()
        text = lines[where[1] - 1][where[2] : where[4]] if where[1] <= len(lines) else ""
        is_call = text.startswith((f"{name}(", f"self.{name}(")) and text.endswith(")")
        return text if is_call and len(text) <= EXPRESSION else ""

    def _grouped(self, children: list[Part | int]) -> list[Part | int]:
        """Put together the rounds between the first and the last, and equal parts in a row."""
        rounds = [c for c in children if isinstance(c, Part) and c.kind == "iteration"]
        loops = {self.scopes[r.scope]["parent"] for r in rounds}
        rest = children[len(rounds) :]  # of the test that ended the loop
        if len(loops) == 1 and rounds == children[: len(rounds)] and self._is_test(rest):
            if len(rounds) < FEWEST_ROUNDS:
                return children
            return [rounds[0], self._rounds(rounds[1:-1]), rounds[-1], *rest]
        result: list[Part | int] = []
        start = 0
        marks = [self._mark(child) for child in children]
        for end in range(1, len(children) + 1):
            if end < len(children) and marks[end] == marks[start] and marks[start] is not None:
                continue
            alike = [c for c in children[start:end] if isinstance(c, Part)]
            if len(alike) >= FEWEST_EQUAL:
                result.append(self._equal(alike))
            else:
                result += children[start:end]
            start = end
        if len(result) == 1 and len(children) >= FEWEST_ROUNDS and isinstance(result[0], Part):
            middle = [c for c in children[1:-1] if isinstance(c, Part)]
            return [children[0], self._equal(middle), children[-1]]
        return result if len(result) > 1 else children

    def _is_test(self, children: Sequence[Part | int]) -> bool:
        """Return whether all of this is done by a test that no round has followed."""
        for child in children:
            rank = child.first if isinstance(child, Part) else child
            at: int | None = self.ops[rank]["scope"]
            while at is not None and self.scopes[at]["kind"] != "test":
                at = self.scopes[at]["parent"]
            if at is None:
                return False
        return True

    def _mark(self, child: Part | int) -> tuple[Any, ...] | None:
        """Return what equal modules, or calls of one function, have in common."""
        if isinstance(child, int) or child.kind not in ("module", "call"):
            return None
        around = re.sub(r"\d+\]?$", "", child.title) if child.kind == "module" else ""
        return child.kind, child.of, around, self.pattern(child)

    def _equal(self, parts: Sequence[Part]) -> Part:
        first, last = parts[0], parts[-1]
        count = f"{TIMES} {len(parts):,}"
        if first.kind == "module" and first.title == last.title:  # one module, called again
            numbers = [self.scopes[p.scope]["index"] + 1 for p in (first, last)]
            title, of = first.title, f"{first.of}, calls {numbers[0]:,} to {numbers[1]:,}"
        elif first.kind == "module":
            title, of = f"{first.title} … {_tail(last.title)}", first.of
        else:
            numbers = [self.scopes[p.scope]["index"] + 1 for p in (first, last)]
            title, of = f"calls {numbers[0]:,} to {numbers[1]:,}", first.of
        return self._group(parts, "equal", title, of, count)

    def _rounds(self, rounds: Sequence[Part]) -> Part:
        """Fold some rounds of a loop."""
        from_, to = (self.scopes[r.scope]["index"] + 1 for r in (rounds[0], rounds[-1]))
        title, count = f"iterations {from_:,} to {to:,}", f"{TIMES} {len(rounds):,}"
        return self._group(rounds, "rounds", title, rounds[0].of, count)

    def _group(
        self, parts: Sequence[Part | int], kind: str, title: str, of: str = "", count: str = ""
    ) -> Part:
        first, last = parts[0], parts[-1]
        start = first.first if isinstance(first, Part) else first
        end = last.last if isinstance(last, Part) else last
        loop = self.scopes[parts[0].scope]["parent"] if kind == "rounds" else None  # type: ignore[union-attr]
        where = self.ops[start]["where"] if loop is None else self.scopes[loop]["where"]
        return Part(start, end, kind, title, of, count, where, -1, tuple(parts))

    def _in_pieces(self, children: list[Part | int], part: Part) -> list[Part | int]:
        """Put together what comes next to each other, where there is too much of it."""
        if len(children) <= MOST:
            return children
        step = -(-len(children) // PIECES)
        pieces: list[Part | int] = []
        for i in range(0, len(children), step):
            members = children[i : i + step]
            alike = [c for c in members if isinstance(c, Part)]
            if len(members) == 1:
                pieces += members
            elif part.kind == "rounds" and len(alike) == len(members):
                pieces.append(self._rounds(alike))
            elif part.kind == "equal" and len(alike) == len(members):
                pieces.append(self._equal(alike))
            else:
                first, last = members[0], members[-1]
                start = first.first if isinstance(first, Part) else first
                end = last.last if isinstance(last, Part) else last
                kind, title = "operations", f"operations {start + 1:,} to {end + 1:,}"
                if len(alike) == len(members) and {c.kind for c in alike} == {"module"}:
                    kind, title = "modules", f"{alike[0].title} … {_tail(alike[-1].title)}"
                pieces.append(self._group(members, kind, title))
        return pieces


def _tail(path: str) -> str:
    """Return the last name of a path, and the one before where that is a number."""
    parts = path.split(".")
    return ".".join(parts[-2:]) if len(parts) > 1 and parts[-1].isdigit() else parts[-1]
