"""In which order the learner wrote the operands of an op: ``w * x``, ``2 * x``, ``F.linear(x, w)``.

After reading you can say why ``F.linear(x, w, b)`` is drawn with x on the left, although the op
below it takes b first: each input is looked for in the source of the op, and the parts of that
stand in the order in which they were written. Read next: ``scene.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from autodiff_kit.record.events import (
    Input,
    NodeRecord,
    RecordingData,
    Saved,
    ScopeRecord,
    SourceRecord,
)
from autodiff_kit.record.source_tree import on_one_line, parse
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.subscripts import ITEMS, variable_of

__all__ = ["COMMUTE", "Written", "augmented"]

COMMUTE = {"add", "mul", "eq", "ne", "maximum", "minimum", "dot"}

Span = tuple[int, ...]  # line, column, end line, end column; columns count characters


class Written:
    """Looks into the source of a recording.

    Parameters
    ----------
    recording : dict
        With ``nodes`` and ``sources``.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._nodes: Sequence[NodeRecord] = recording["nodes"]
        self._sources: Sequence[SourceRecord] = recording.get("sources", ())
        self._scopes: dict[int | None, ScopeRecord] = {
            s["id"]: s for s in recording.get("scopes", ())
        }

    def order(self, node: int) -> list[int]:
        """Return the places of a node's inputs as they were written, from left to right.

        As the op has them, if one of those that are tensors is not found in the source.
        """
        inputs = self._nodes[node].get("inputs", ())
        places = list(range(len(inputs)))
        if self._is_sum(node) and "value" in inputs[-1]:
            return places[::-1]  # Python's sum(xs) begins with 0 + xs[0]
        if len(inputs) < 2 or (parts := self.parts(node)) is None:
            return places
        at = [self._part_of(source["node"], node, parts) if "node" in source else None
              for source in inputs]  # fmt: skip
        free = [part for part in range(len(parts)) if part not in at]
        for place, source in enumerate(inputs):
            if "value" in source and len(free) == sum("value" in s for s in inputs):
                at[place] = free[sum("value" in s for s in inputs[:place])]
        if any(at[place] is None for place in places if "node" in inputs[place]):
            return places
        placed = [place for place in places if at[place] is not None]
        placed.sort(key=lambda place: at[place] or 0)
        return placed + [place for place in places if at[place] is None]

    def inputs(self, node: int) -> list[Input]:
        """Return the inputs of a node in this order."""
        inputs = self._nodes[node]["inputs"]
        return [inputs[place] for place in self.order(node)]

    def saved(self, node: int) -> list[Saved]:
        """Return what a node saves: its inputs in this order, then all else."""
        rank = {source["arg"]: k for k, source in enumerate(self.inputs(node))}
        return sorted(self._nodes[node]["saved"], key=lambda one: rank.get(one["name"], len(rank)))

    def item(self, node: int) -> str:
        """Return which item of what its source returns a node is: ``"[1][0]"``.

        That is of ``y, (h, c) = lstm(x)``, whose names the items have; "" if there are none.
        """
        where, name = self._nodes[node]["where"], self._nodes[node]["name"]
        if where is None or not name or self._expression(node) is None:
            return ""
        items = self._source(where[0]).items.get(tuple(where[1:]), {})
        return items.get(name) or items.get(variable_of(self._nodes[node]), "")

    def number(self, node: int) -> tuple[str, Any] | None:
        """Return what is written for the number of an op, and the number: ``("i", 2)``.

        None if there is none, or several, or where the number itself is written.
        """
        record, parts = self._nodes[node], self.parts(node)
        values = [source["value"] for source in record["inputs"] if "value" in source]
        if not isinstance(self._expression(node), ast.BinOp | ast.Compare | ast.AugAssign):
            return None  # of `sum(xs)` no 0 is written
        values = values or [*record["params"].values()]  # of `x ** n`
        if parts is None or len(values) != 1 or not isinstance(values[0], int | float):
            return None
        sources = [source["node"] for source in record["inputs"] if "node" in source]
        own_parts = {self._part_of(source, node, parts) for source in sources}
        variables = {source.get("variable") for source in record["inputs"]}
        free = [
            part
            for k, part in enumerate(parts)
            if k not in own_parts and ast.unparse(part) not in variables
        ]
        if any(isinstance(part, ast.Constant) for part in free):
            return None  # that is the number; another part is a tensor that is known by no name
        if len(free) > 1:  # of `ts[0] * scale` the tensor is called `a`
            words = [part for part in free if isinstance(part, ast.Name)]
            free = [part for part in words if part.id not in self._tensors]
        if len(free) != 1:
            return None
        names = [part for part in ast.walk(free[0]) if isinstance(part, ast.Name)]
        return (ast.unparse(free[0]), values[0]) if names else None

    @cached_property
    def _tensors(self) -> set[str]:
        """Return what the code calls tensors."""
        names = {str(node.get("variable") or node["name"]) for node in self._nodes}
        return names | {i["variable"] for n in self._nodes for i in n["inputs"] if "variable" in i}

    def ended(self, node: int) -> str:
        """Return the statement at whose end a node assigns an item, ``x[0] += 1``; or ""."""
        where = self._nodes[node]["where"]
        if where is None or self._nodes[node]["op"] not in ITEMS or not self._sources:
            return ""
        return self._source(where[0]).ended.get(tuple(where[1:]), "")

    def is_operator(self, node: int) -> bool:
        """Return whether the source of a node is an operator between two operands."""
        return isinstance(self._expression(node), ast.BinOp | ast.Compare)

    def _is_sum(self, node: int) -> bool:
        match self._expression(node):
            case ast.Call(func=ast.Name("sum")):
                return self._nodes[node]["op"] == "add"
        return False

    def _expression(self, node: int) -> ast.AST | None:
        """Return the syntax tree of a node's source."""
        where = self._nodes[node]["where"]
        if where is None or not self._nodes[node]["text"] or not self._sources:
            return None
        return self._source(where[0]).expressions.get(tuple(where[1:]))

    def parts(self, node: int) -> list[ast.expr] | None:
        """Return the operands in the source of a node, from left to right."""
        match self._expression(node):
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.Compare(left=left, comparators=[right]):
                return [left, right]
            case ast.AugAssign(target=target, value=value):
                return [target, value]
            case ast.Call(func=func, args=args, keywords=keywords):
                owner = [func.value] if isinstance(func, ast.Attribute) else []
                return [*owner, *_flat(args), *_flat([k.value for k in keywords])]
        return None

    def _part_of(self, source: int, node: int, parts: Sequence[ast.expr]) -> int | None:
        """Return which of these parts a node stands for, or is computed in."""
        where = self._nodes[node]["where"]
        waiting, visited = [source], set()
        while waiting:
            n = waiting.pop()
            record = self._nodes[n]
            inner = record["where"]
            for k, part in enumerate(parts):
                text = ast.unparse(part)
                if record["name"] and text in (record["name"], variable_of(record)):
                    return k
                if inner and where and inner[0] == where[0] and self._holds(where[0], part, inner):
                    return k
            is_in = inner == where and self._frame(n) == self._frame(node)  # a part of one call
            if n not in visited and (is_in or not record["text"]):
                visited.add(n)
                waiting += [i["node"] for i in reversed(record["inputs"]) if "node" in i]
        return None

    def _frame(self, node: int) -> int:
        """Return in which call or round a node was made; modules are a part of it."""
        number: int | None = self._nodes[node]["scope"]
        scope = self._scopes.get(number)
        while scope is not None and scope["kind"] == "module":
            scope = self._scopes.get(scope["parent"])
        return -1 if scope is None else scope["id"]

    def _holds(self, source: int, part: ast.expr, where: Sequence[int]) -> bool:
        line, column, end, end_column = _span(self._source(source).lines, part)
        return (line, column) <= tuple(where[1:3]) and tuple(where[3:]) <= (end, end_column)

    def _source(self, number: int) -> _Source:
        return _read(str(self._sources[number]["text"]))


class _Source(NamedTuple):
    lines: list[bytes]
    expressions: dict[Span, ast.AST]
    items: dict[Span, dict[str, str]]  # of what is unpacked
    ended: dict[Span, str]  # by the target, statements such as `x[0] += 1`


@lru_cache(maxsize=16)  # a lab that follows a slider shows the same source in each picture
def _read(text: str) -> _Source:
    """Return the lines of a source, and where its expressions are."""
    lines = [line.encode() for line in text.split("\n")]
    tree = parse(text) or ast.Module([], [])
    kinds = ast.BinOp | ast.Compare | ast.AugAssign | ast.Call
    nodes = list(ast.walk(tree))
    return _Source(
        lines,
        {_span(lines, node): node for node in nodes if isinstance(node, kinds)},
        {
            _span(lines, node.value): dict(_items(node.targets[0], ""))
            for node in nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.targets[0], ast.Tuple | ast.List)
        },
        {
            _span(lines, node.target): ast.unparse(node)
            for node in nodes
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript)
        },
    )


def _span(lines: list[bytes], node: Any) -> Span:
    ends = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    (line, start), (end, stop) = (
        (number, len(lines[number - 1][:at].decode(errors="replace"))) for number, at in ends
    )
    return line, start, end, stop


def _items(target: ast.expr, path: str) -> Iterator[tuple[str, str]]:
    """Yield the names that a tuple is unpacked to, and which item each has: ``("h", "[1][0]")``."""
    if isinstance(target, ast.Tuple | ast.List):
        for i, part in enumerate(target.elts):
            if isinstance(part, ast.Starred):
                return
            yield from _items(part, f"{path}[{i}]")
    else:
        yield ast.unparse(target), path


def _flat(values: Sequence[ast.expr]) -> list[ast.expr]:
    """Return arguments, and instead of a list or tuple its elements."""
    parts: list[ast.expr] = []
    for value in values:
        parts += _flat(value.elts) if isinstance(value, ast.List | ast.Tuple) else [value]
    return parts


def augmented(source: str, text: str) -> str:
    """Return a change in place as it is written; "" for what is no such statement.

    Examples
    --------
    >>> augmented("y += 1", "y2 + 1"), augmented("y + 1", "y2 + 1")
    ('y2 += 1', '')
    """
    sign = _AUGMENTED.match(on_one_line(source))
    target, operator, value = text.partition(f" {sign[1]} ") if sign else ("", "", "")
    return f"{target}{operator[:-1]}= {value}" if value and _is_target(target) else ""


def _is_target(text: str) -> bool:
    return isinstance(getattr(parsed(text), "ctx", None), ast.Load) and text[-1] != "]"


_AUGMENTED = re.compile(r"[\w.]+\s*(\*\*|//|[-+*/%@])=[^=]")
