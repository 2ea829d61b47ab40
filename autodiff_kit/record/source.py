"""Where in the learner's code something happens: exact sub-expressions, names, loops.

After reading this file you know how one instruction of a running frame is traced back to the
characters ``x * w`` that it came from. Python 3.11 keeps line and columns of every instruction
(``co_positions``); the syntax tree of the same text says what name the result is given, what the
operands are called, and which loops are around. Read next: ``recorder.py``.
"""

from __future__ import annotations

import ast
import linecache
import os
from types import CodeType, FrameType
from typing import Any

__all__ = ["Loop", "Place", "Sources"]

Where = list[int]  # source, line, column, end line, end column; columns count characters
Span = tuple[int, int, int, int]  # line, column, end line, end column; columns count bytes


class Loop:
    """A ``for`` or ``while`` statement.

    Attributes
    ----------
    name : str
        Its head, for example ``for i in range(3)``.
    targets : tuple of str
        The names it assigns.
    """

    __slots__ = ("name", "span", "targets", "where")

    def __init__(self, name: str, targets: tuple[str, ...], span: Span, where: Where) -> None:
        self.name, self.targets, self.span, self.where = name, targets, span, where


class Place:
    """What is known of one instruction.

    Attributes
    ----------
    where : list or None
        [source, line, column, end line, end column].
    text : str
        The characters there.
    name : str or None
        What the result is assigned to.
    operands : tuple of str
        The operands' text, as far as they are names: ``x``, ``self.w``, ``params[0]``.
    loops : tuple of Loop
        The loops around it within its function, outermost first.
    """

    __slots__ = ("loops", "name", "operands", "text", "where")

    def __init__(self) -> None:
        self.where: Where | None = None
        self.text = ""
        self.name: str | None = None
        self.operands: tuple[str, ...] = ()
        self.loops: tuple[Loop, ...] = ()


class _Source:
    """One cell or file with what its syntax tree tells."""

    def __init__(self, index: int, filename: str) -> None:
        self.index = index
        self.lines = linecache.getlines(filename)
        self.names: dict[Span, str] = {}
        self.operands: dict[Span, tuple[str, ...]] = {}
        self.loops: list[Loop] = []
        try:
            tree = ast.parse("".join(self.lines))
        except (SyntaxError, ValueError):
            return  # such as a file with a magic in it; lines are still known
        for node in ast.walk(tree):
            self._look(node)
        self.loops.sort(key=lambda loop: loop.span)

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            self._bind(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            if _is_name(node.target):
                self.names[_span(node)] = ast.unparse(node.target)
            self.operands[_span(node)] = _texts([node.target, node.value])
        elif isinstance(node, ast.BinOp):
            self.operands[_span(node)] = _texts([node.left, node.right])
        elif isinstance(node, ast.UnaryOp):
            self.operands[_span(node)] = _texts([node.operand])
        elif isinstance(node, ast.Call):
            of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            self.operands[_span(node)] = _texts([*of, *node.args])
        elif isinstance(node, ast.For | ast.While):
            head = "while " + ast.unparse(node.test) if isinstance(node, ast.While) else ""
            targets: tuple[str, ...] = ()
            if isinstance(node, ast.For):
                head = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
                names = [n for n in ast.walk(node.target) if isinstance(n, ast.Name)]
                targets = tuple(name.id for name in names)
            first = node.body[0]
            start = (node.lineno, node.col_offset, first.lineno, first.col_offset)
            where = self.where((node.lineno, node.col_offset, *_end(node)))
            head_end = len(self.lines[node.lineno - 1].rstrip("\n"))
            if first.lineno > node.lineno:
                where = [where[0], where[1], where[2], where[1], head_end]
            last = node.body[-1]
            span = (start[0], start[1], last.end_lineno or 0, last.end_col_offset or 0)
            self.loops.append(Loop(head, targets, span, where))

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for part, item in zip(target.elts, value.elts, strict=False):
                self._bind(part, item)
        elif _is_name(target):
            self.names[_span(value)] = ast.unparse(target)

    def where(self, span: Span) -> Where:
        """Turn byte columns into characters."""
        line, column, end_line, end_column = span
        return [
            self.index,
            line,
            self._characters(line, column),
            end_line,
            self._characters(end_line, end_column),
        ]

    def _characters(self, line: int, column: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text.encode()[:column].decode(errors="ignore"))

    def text(self, where: Where) -> str:
        """Return the characters at ``where``, on one line."""
        _, line, column, end_line, end_column = where
        lines = [self.lines[i - 1] for i in range(line, end_line + 1) if i <= len(self.lines)]
        if not lines:
            return ""
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return " ".join(" ".join(lines).split())


class Sources:
    """All sources of a recording, and what is known of their instructions, cached."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source] = {}
        # By id, with the code object kept alive: its hash would look at all of its constants.
        self._codes: dict[int, tuple[CodeType, list[Any], dict[int, Place]]] = {}
        self._names: list[str] = []
        self._cells = 0

    def place(self, frame: FrameType) -> Place:
        """Return what is known of the instruction at which ``frame`` is."""
        known = self._codes.get(id(frame.f_code))
        place = known and known[2].get(frame.f_lasti)
        return place or self.at(frame.f_code, frame.f_lasti, frame.f_lineno)

    def at(self, code: CodeType, instruction: int, line: int | None) -> Place:
        """Return what is known of one instruction of some code."""
        if id(code) not in self._codes:
            self._codes[id(code)] = (code, list(code.co_positions()), {})
        _, positions, places = self._codes[id(code)]
        place = places[instruction] = self._find(code, positions[instruction // 2], line)
        return place

    def plain(self) -> list[dict[str, Any]]:
        """Return the sources as plain data."""
        return [
            {"name": name, "text": "".join(source.lines), "first_line": 1}
            for name, source in zip(self._names, self._sources.values(), strict=True)
        ]

    def _find(self, code: CodeType, position: Any, line_number: int | None) -> Place:
        line, end_line, column, end_column = position
        source = self._source(code.co_filename)
        place = Place()
        line = line or line_number
        if line is None or line > len(source.lines):
            return place
        if end_line is None or column is None or end_column is None:  # python -X no_debug_ranges
            content = source.lines[line - 1].rstrip("\n").encode()
            span = (line, len(content) - len(content.lstrip()), line, len(content))
        else:
            span = (line, column, end_line, end_column)
            place.name = source.names.get(span)
            place.operands = source.operands.get(span, ())
        place.where = source.where(span)
        place.text = source.text(place.where)
        place.loops = tuple(
            loop
            for loop in source.loops
            if loop.span[:2] <= span[:2]
            and span[2:] <= loop.span[2:]
            # only loops of the same function: a def between them starts afresh
            and code.co_firstlineno <= loop.span[0]
        )
        return place

    def _source(self, filename: str) -> _Source:
        source = self._sources.get(filename)
        if source is None:
            source = self._sources[filename] = _Source(len(self._sources), filename)
            if os.path.exists(filename) and "ipykernel" not in filename:
                self._names.append(os.path.basename(filename))
            else:  # a cell: its file name has a number that changes from run to run
                self._cells += 1
                self._names.append(f"cell {self._cells}")
        return source


def _span(node: Any) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _end(node: Any) -> tuple[int, int]:
    return (node.end_lineno, node.end_col_offset)


def _is_name(node: ast.expr) -> bool:
    """Return whether an expression is a name, or reads like one: ``self.w``, ``params[0]``."""
    if isinstance(node, ast.Attribute):
        return _is_name(node.value)
    if isinstance(node, ast.Subscript):
        return _is_name(node.value) and isinstance(node.slice, ast.Constant | ast.Name)
    return isinstance(node, ast.Name)


def _texts(nodes: list[ast.expr]) -> tuple[str, ...]:
    return tuple(ast.unparse(node) if _is_name(node) else "" for node in nodes)
