"""The learner's code in a recording: the text of a place, what is around it, what a name was given.

After reading you know how a place in a recording is read, and which assignments are looked at: only
those of functions that ran. Read next: ``story_facts.py``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from autodiff_kit.record.events import ErrorRecord, Event, NodeRecord, RecordingData
from autodiff_kit.record.source_tree import parse
from autodiff_kit.view.rules import parsed

__all__ = ["Code", "Where", "before_a_dot", "span_of"]

Where = Sequence[int]
LIBRARIES = ("torch", "ak", "autodiff_kit")
OFF = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False")


class Code:
    """The sources of a recording, and what their syntax trees say."""

    def __init__(self, recording: RecordingData) -> None:
        self.recording = recording
        self.nodes: Sequence[NodeRecord] = recording["nodes"]
        self.events: Sequence[Event] = recording["events"]
        self.error = recording["error"] or ErrorRecord(type="", message="", where=None)
        self._trees: dict[int, list[Any]] = {}

    def text(self, where: Where | None) -> str:
        """Return the characters at a place, on one line."""
        if where is None:
            return ""
        source, line, column, end_line, end_column = where
        lines = self.recording["sources"][source]["text"].splitlines()[line - 1 : end_line]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return " ".join(" ".join(lines).split())

    @property
    def statement(self) -> str:
        """The expression of the error; of a call that has no such method, all of it."""
        text, where = self.text(self.error["where"]), self.error["where"]
        for node in self.walk(where[0]) if where is not None else ():
            if isinstance(node, ast.Call) and where is not None:
                place = span_of(where[0], node)
                if tuple(place[:3]) == tuple(where[:3]) and ast.unparse(node.func) == text:
                    return self.text(place)
        return text

    def line(self, where: Where | None) -> str:
        """Return the first line of a place, as the learner wrote it; of several, the statement."""
        if where is None:
            return ""
        for node in self.walk(where[0]):
            if isinstance(node, ast.stmt) and node.lineno == node.end_lineno == where[1]:
                start, end = node.col_offset, node.end_col_offset or 0
                if start <= (where[2] or 0) < end and not hasattr(node, "body"):
                    return self.text(span_of(where[0], node))
        lines = self.recording["sources"][where[0]]["text"].splitlines()
        return str(lines[where[1] - 1]).strip()

    def walk(self, source: int) -> list[Any]:
        """Return all nodes of a source's syntax tree: the same ones each time."""
        if source not in self._trees:
            tree = parse(self.recording["sources"][source]["text"]) or ast.Module([], [])
            self._trees[source] = list(ast.walk(tree))
        return self._trees[source]

    def inside(self, where: Where | None) -> list[ast.Call]:
        """Return the calls that stand inside of a place."""
        if where is None:
            return []
        start, end = tuple(where[1:3]), tuple(where[3:])
        return [
            node
            for node in self.walk(where[0])
            if isinstance(node, ast.Call)
            and start <= (node.lineno, node.col_offset)
            and (node.end_lineno, node.end_col_offset) <= end
        ]

    def switch(self, where: Where | None) -> Where | None:
        """Return the ``with torch.no_grad():`` or the decorator that is around a place."""
        place: Where | None = None
        if where is None:
            return None
        for node in self.walk(where[0]):
            parts: list[ast.expr] = []
            if isinstance(node, ast.With):
                parts = [item.context_expr for item in node.items]
            elif isinstance(node, ast.FunctionDef):
                parts = node.decorator_list
            off = [part for part in parts if OFF.search(ast.unparse(part))]
            if off and off[0].lineno <= where[1] <= node.end_lineno:
                place = span_of(where[0], off[0])
        return place

    @cached_property
    def module(self) -> str:
        """What the learner calls the library: ``torch`` where the sources do not tell."""
        names: Counter[str] = Counter()
        for node in self._everything():
            match node:
                case ast.Import(names=imported):
                    names.update(a.asname or a.name for a in imported if a.name in LIBRARIES)
                case ast.Attribute(value=ast.Name(id=name)) if name in LIBRARIES:
                    names[name] += 1
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="tensor")):
                    names[name] += 1
        return next((name for name, _ in names.most_common(1)), "torch")

    @cached_property
    def variables(self) -> set[str]:
        """The names that stand in the sources: ``h``, ``self.h``."""
        expressions = (n for n in self._everything() if isinstance(n, ast.Name | ast.Attribute))
        return {ast.unparse(n) for n in expressions}

    def _everything(self) -> Iterator[Any]:
        for source in range(len(self.recording["sources"])):
            yield from self.walk(source)

    @cached_property
    def ran(self) -> set[tuple[int, Any]]:
        """The functions in which something was recorded: source, and the function's syntax tree."""
        entries: list[Any] = [*self.nodes, *self.events, *self.recording["scopes"], self.error]
        places = {tuple(e["where"][:2]) for e in entries if e.get("where")}
        return {(source, self.function_at(source, line)) for source, line in places}

    def function_at(self, source: int, line: int) -> Any:
        """Return the innermost function around a line; None outside of all."""
        around = [
            node
            for node in self.walk(source)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body[0].lineno <= line <= (node.end_lineno or 0)
        ]
        return max(around, key=lambda node: node.lineno, default=None)

    def assigned(
        self, name: str, before: Where | None = None, *, or_added: bool = False
    ) -> tuple[int, ast.expr] | None:
        """Return what a name was given last, in a function that ran: its source, its expression.

        ``or_added``: also what was added to it, ``total += x`` or ``losses.append(x)``.
        """
        assignment: tuple[int, ast.expr] | None = None
        for source, function in sorted(self.ran, key=lambda one: one[0]):
            if before is not None and (
                source != before[0] or function is not self.function_at(source, before[1])
            ):
                continue
            for node in self.walk(source):
                value = _assigned_by(node, name, or_added=or_added)
                if value is None:
                    continue
                is_here = self.function_at(source, value.lineno) is function
                is_before = before is None or value.lineno < before[1]
                is_later = (
                    assignment is None
                    or assignment[0] != source
                    or assignment[1].lineno < value.lineno
                )
                if is_here and is_before and is_later:
                    assignment = source, value
        return assignment


def _assigned_by(node: ast.AST, name: str, *, or_added: bool) -> ast.expr | None:
    """Return what a statement gives to a name."""
    match node:
        case ast.Assign(targets=[target, *_], value=value) if ast.unparse(target) == name:
            return value
        case ast.AugAssign(target=target, value=value) if or_added and ast.unparse(target) == name:
            return value
        case ast.Expr(ast.Call(ast.Attribute(of, "append" | "extend"), [value])) if or_added:
            return value if ast.unparse(of) == name else None
    return None


def before_a_dot(code: str) -> str:
    """Return what the learner writes for code before a dot: ``(w * 2)``."""
    is_whole = isinstance(parsed(code), ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return code if is_whole else f"({code})"


def span_of(source: int, node: Any) -> Where:
    """Return the place of a node of a source's syntax tree."""
    return (source, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
