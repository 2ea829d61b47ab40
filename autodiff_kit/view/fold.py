"""Which operations of a large graph are hidden in one box.

After reading you can say which box hides an operation and why. A graph that is too large is folded,
by what the learner wrote as long as that is enough: the rounds of a loop between its first and its
last, then calls and inner loops, then chains; and by mere position when nothing else helps. Read
next: ``outline.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from autodiff_kit.record.events import Input, NodeRecord, RecordingData, ScopeRecord
from autodiff_kit.view.values import TIMES

__all__ = ["AIM", "Folder", "Run"]

AIM = 120  # a larger one is folded until so few operations are left
FEWEST_ROUNDS = 4  # loops with fewer are not worth a fold: first, last and one between
SHORTEST_CHAIN = 4
OPENED = 60  # a fold of so many operations is opened all at once, a larger one into
PARTS = 8  # so many folds


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of operations (by rank among the operations, both ends included) to be folded."""

    first: int
    last: int
    title: str
    of: str = ""
    count: str = ""
    where: list[Any] | None = None


class Folder:
    """Finds stretches of operations that belong together."""

    def __init__(self, recording: RecordingData) -> None:
        self.nodes: Sequence[NodeRecord] = recording["nodes"]
        self.ops = [n for n in self.nodes if n["kind"] == "op"]
        self.scopes: dict[int, ScopeRecord] = {s["id"]: s for s in recording["scopes"]}
        self.depth: dict[int, int] = {}
        self.inner: dict[int, list[int]] = {}  # scope -> scopes in it, in order of time
        self.first: dict[int, int] = {}  # scope -> rank of its first operation
        self.last: dict[int, int] = {}
        self.size: dict[int, int] = dict.fromkeys(self.scopes, 0)
        for scope in sorted(self.scopes):  # a scope is numbered after the one around it
            parent = self.scopes[scope]["parent"]
            self.depth[scope] = 0 if parent is None else self.depth[parent] + 1
            if parent is not None:
                self.inner.setdefault(parent, []).append(scope)
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

    def chosen(self, scopes: Iterable[int]) -> list[Run]:
        """Return the stretches for the scopes that the caller named."""
        runs: list[Run] = []
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

    def fitting(self, runs: list[Run]) -> list[Run]:
        """Add stretches until few enough boxes are left; the mildest means first."""
        runs = self._fold_loops(runs)
        if self._boxes(runs) > AIM:
            runs = self._fold_below(runs)
        if self._boxes(runs) > AIM:
            runs = self._fold_chains(runs)
        if self._boxes(runs) > AIM:
            runs = self._fold_parts(runs)
        return runs

    def open(self, runs: list[Run], opened: Sequence[Sequence[int]]) -> list[Run]:
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

    def _inside(self, fold: Run) -> list[Run]:
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

    def _grouped(self, rounds: Sequence[int]) -> Run:
        """Fold some rounds of a loop."""
        from_, to = (self.scopes[s]["index"] + 1 for s in (rounds[0], rounds[-1]))
        loop = self.scopes[self.scopes[rounds[0]]["parent"] or 0]
        title, count = f"iterations {from_:,} to {to:,}", f"{TIMES} {len(rounds):,}"
        first, last = self.first[rounds[0]], self.last[rounds[-1]]
        return Run(first, last, title, str(loop["name"]), count, loop["where"])

    def _part(self, first: int, last: int) -> Run:
        title = f"operations {first + 1:,} to {last + 1:,}"
        return Run(first, last, title, where=self.ops[first]["where"])

    def _boxes(self, runs: Iterable[Run]) -> int:
        return len(self.ops) - sum(run.last - run.first for run in runs)

    def _scope(self, scope: int) -> Run:
        record = self.scopes[scope]
        name, of = str(record["name"]), ""
        if record["kind"] == "call":
            name, of = f"call {record['index'] + 1}", name
        elif record["kind"] == "iteration":
            of = str(self.scopes[record["parent"] or 0]["name"])
            name = f"iteration {record['index'] + 1}"
        return Run(self.first[scope], self.last[scope], name, of, where=record["where"])

    def _rounds(self, scope: int) -> Run | None:
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
        return Run(
            first, last, title, str(record["name"]), f"{TIMES} {len(middle):,}", record["where"]
        )

    def _fold_loops(self, runs: list[Run]) -> list[Run]:
        """Fold loops from the outside in; of one depth, the longest first."""
        loops = [s for s in self.scopes if self._whole(s) and self.scopes[s]["kind"] == "loop"]
        for loop in sorted(loops, key=lambda s: (self.depth[s], -self.size[s], s)):
            if self._boxes(runs) <= AIM:
                break
            run = self._rounds(loop)
            if run and not any(r.first <= run.first and run.last <= r.last for r in runs):
                runs = [r for r in runs if not run.first <= r.first <= run.last] + [run]
        return sorted(runs, key=lambda run: run.first)

    def _fold_below(self, runs: list[Run]) -> list[Run]:
        """Fold every call and loop below a depth: the deepest at which the picture fits."""
        folded = self._taken(runs)
        direct: Counter[int] = Counter()  # depth -> operations at it that are not folded yet
        scopes: Counter[int] = Counter()  # depth -> scopes with such operations
        visited: set[int] = set()
        for rank, node in enumerate(self.ops):
            if rank in folded:
                continue
            direct[self.depth[node["scope"]]] += 1
            scope: int | None = node["scope"]
            while scope is not None and scope not in visited:
                visited.add(scope)
                scopes[self.depth[scope]] += 1
                scope = self.scopes[scope]["parent"]
        deepest = max(direct, default=0)
        fits = [
            d
            for d in range(deepest + 1)
            if sum(direct[k] for k in range(d + 1)) + scopes[d + 1] + len(runs) <= AIM
        ]
        depth = max(fits, default=0) + 1
        folds = [
            self._scope(s)
            for s in sorted(visited)
            if self.depth[s] == depth and self._whole(s) and self.size[s] > 1
        ]
        others = [r for r in runs if not any(f.first <= r.first <= f.last for f in folds)]
        inside = [
            f for f in folds if not any(r.first <= f.first and f.last <= r.last for r in others)
        ]
        return sorted(others + inside, key=lambda run: run.first)

    def _fold_chains(self, runs: list[Run]) -> list[Run]:
        """Fold operations in a row of which each needs only the one before."""
        folded = self._taken(runs)
        uses: Counter[int] = Counter()
        for node in self.ops:
            uses.update({i["node"] for i in node["inputs"] if "node" in i})
        result = list(runs)
        start = 0
        for rank in range(1, len(self.ops) + 1):
            if rank < len(self.ops) and rank not in folded and rank - 1 not in folded:
                node, before = self.ops[rank], self.ops[rank - 1]
                sources = [i["node"] for i in node["inputs"] if self._is_op(i)]
                linked = set(sources) == {before["id"]} and uses[before["id"]] == 1
                if linked and node["scope"] == before["scope"]:
                    continue
            if rank - start >= SHORTEST_CHAIN:
                title = f"chain of {rank - start:,} operations"
                where = self.ops[rank - 1]["where"]
                result.append(Run(start, rank - 1, title, where=where))
            start = rank
        return sorted(result, key=lambda run: run.first)

    def _is_op(self, source: Input) -> bool:
        return "node" in source and self.nodes[source["node"]]["kind"] == "op"

    def _fold_parts(self, runs: list[Run]) -> list[Run]:
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
        result = []
        for i in range(0, len(ends), step):
            first, last = ends[i][0], ends[min(i + step, len(ends)) - 1][1]
            if (first, last) in whole:
                result.append(whole[first, last])
            elif first < last:
                result.append(self._part(first, last))
        return result

    @staticmethod
    def _taken(runs: Iterable[Run]) -> set[int]:
        return {rank for run in runs for rank in range(run.first, run.last + 1)}
