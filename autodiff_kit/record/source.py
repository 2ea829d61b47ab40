"""From a running instruction to the learner's source: which characters, which name, which loops.

After reading this file you know how ``2 * x`` lights up: Python knows the columns of every
instruction (``co_positions``); the syntax tree of the same text says what name the result is given,
what the operands are called, and which loops are around. Read next: ``scopes.py``.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import sysconfig
from dis import opmap
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

__all__ = ["Loop", "Place", "Sources", "Span", "is_foreign", "read_source", "span_within"]

Where = list[int]  # source, line, column, end line, end column; columns count characters
Span = tuple[int, int, int, int]  # line, column, end line, end column; columns count bytes

_FOREIGN = tuple(
    os.path.join(folder, "")
    for folder in (os.path.dirname(os.path.dirname(__file__)), sysconfig.get_path("stdlib"))
)
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_FOR_ITER, _GET_ITER, _CACHE = opmap["FOR_ITER"], opmap["GET_ITER"], 0
_UNPACK = (opmap["UNPACK_SEQUENCE"], opmap["UNPACK_EX"])
# Functions that run code of others several times while Python stays at one instruction.
_CALL_BACK = (
    *("all", "any", "dict", "filter", "list", "map", "max", "min"),
    *("reduce", "set", "sorted", "sum", "tuple", "zip"),
)


_COLLECT = ("dict", "filter", "list", "map", "set", "sorted", "tuple", "zip")


def cell_name(filename: str) -> str:
    """Return what a notebook calls the cell of this file name, ``"cell [3]"``; else ``""``."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    label = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(filename)
    return f"cell {label[1].removeprefix('In ').removeprefix('In')}" if label else ""


def is_foreign(filename: str) -> bool:
    """Return whether a file is not the learner's: the kit's own, Python's, or a package's."""
    # All that is compiled from a string, as by dataclasses, has one name; since Python 3.13 there
    # may be lines of that name, those of `python -c`.
    starts = (*_FOREIGN, "<frozen ", "<string>")
    return filename.startswith(starts) or any(part in filename for part in _PACKAGES)


class Loop:
    """A ``for`` or ``while`` statement, or a ``for`` of a comprehension.

    Attributes
    ----------
    name : str
        Its head, for example ``for i in range(3)``.
    key : tuple
        What tells it from the other loops of its source.
    targets : tuple of str
        The names that it assigns.
    frame : str
        For a comprehension, the name of its own frame, such as ``"<genexpr>"``.
    where : list
        Where its head stands.
    whole : tuple
        What the statement or the comprehension takes in the source.
    """

    __slots__ = (
        *("body", "depth", "frame", "head", "hole", "key"),
        *("name", "span", "steps", "targets", "where", "whole"),
    )

    def __init__(self, node: Any, part: Any, source: _Source, depth: int = 0) -> None:
        self.frame = _COMPREHENSIONS.get(type(node), "")
        self.span = self.whole = _span(node)  # what runs in every round is in here ...
        self.depth, self.key = depth, (*self.whole, depth)
        self.hole: Span = (0, 0, 0, 0)  # ... and not in here: it runs before the first one
        self.steps: tuple[Span, ...] = ()  # where Python says that it takes the next item
        self.targets: tuple[str, ...] = ()
        if isinstance(node, ast.While):
            self.head = _span(node.test)
            self.name = f"while {ast.unparse(node.test)}"
        else:
            self.head = _span(part.iter)
            self.name = f"for {ast.unparse(part.target)} in {ast.unparse(part.iter)}"
            start = part.target if part is node else node.generators[0].target
            self.hole = (*_span(start)[:2], *self.head[2:])
            self.steps = (self.span, self.head)
            self.targets = tuple(n.id for n in ast.walk(part.target) if isinstance(n, ast.Name))
        if self.frame:
            self.where = source.where(self.span)
            self.body: Span = self.span
        else:
            self.where = source.where((*self.span[:2], *self.head[2:]))
            self.span = (*self.span[:2], *_span(node.body[-1])[2:])  # its else runs once
            self.body = (*_span(node.body[0])[:2], *self.span[2:])

    def surrounds(self, span: Span) -> bool:
        """Return whether what stands at ``span`` runs in every round."""
        return _within(span, self.span) and span != self.span and not _within(span, self.hole)

    def is_inside(self, other: Loop) -> bool:
        """Return whether it runs in every round of another loop."""
        if self.whole == other.whole:  # two for of one comprehension
            return self.depth > other.depth
        return other.surrounds(self.whole)


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
    parts : tuple of str
        What the parts of the result are assigned to, as in ``a, b = f()``; "" for one without.
    loops : tuple of Loop
        The loops around it within its frame, outermost first.
    begins_round : bool
        Whether it takes the next item for the innermost of them.
    tests : tuple of Loop
        Those of them whose test it is a part of, as Python asks it before a round.
    calls_back : bool
        Whether it may do the same thing several times before it is over, as ``sum(x)`` does.
    returned : bool
        Whether the function of it returns the result.
    scope, number : int
        The recorder's note to itself: where this place last gave its name, and to which node.
    drafts : dict
        Likewise: what the entries of the ops that run here have in common.
    """

    __slots__ = (
        "begins_round",
        "calls_back",
        "drafts",
        "loops",
        "name",
        "number",
        "operands",
        "parts",
        "returned",
        "scope",
        "tests",
        "text",
        "where",
    )

    def __init__(self) -> None:
        self.where: Where | None = None
        self.text = ""
        self.name: str | None = None
        self.operands: tuple[str, ...] = ()
        self.parts: tuple[str, ...] = ()
        self.loops: tuple[Loop, ...] = ()
        self.tests: tuple[Loop, ...] = ()
        self.begins_round = self.calls_back = self.returned = False
        self.scope = self.number = -1
        self.drafts: dict[Any, Any] = {}


class _Source:
    """One cell or file with what its syntax tree tells."""

    def __init__(self, index: int, lines: tuple[str, ...]) -> None:
        self.index, self.lines = index, lines
        self.names: dict[Span, str] = {}
        self.operands: dict[Span, tuple[str, ...]] = {}
        self.parts: dict[Span, tuple[str, ...]] = {}
        self.whole: dict[Span, Span] = {}  # what Python gives as `.exp()` is `x\n.exp()`
        self.calls_back: set[Span] = set()
        self.returned: set[Span] = set()
        self.nests: dict[tuple[Loop, ...], tuple[Loop, ...]] = {}  # equal ones are one object
        self.regions: list[Loop | Span] = []  # loops, and bodies of functions; outer before inner
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            return  # such as a file with a magic in it; lines are still known
        waiting: list[Any] = [tree]
        while waiting:
            node = waiting.pop()
            self._look(node)
            waiting += ast.iter_child_nodes(node)

    def _look(self, node: Any) -> None:
        if isinstance(node, ast.Assign):
            self._bind(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            if _is_name(node.target):
                self.names[_span(node)] = ast.unparse(node.target)
            self._operate(node, node.target, node.value)
        elif isinstance(node, ast.BinOp):
            # `2 * x` runs as x.__rmul__(2)
            reverse = isinstance(node.left, ast.Constant)
            self._operate(node, *((node.right,) if reverse else (node.left, node.right)))
        elif isinstance(node, ast.UnaryOp):
            self._operate(node, node.operand)
        elif isinstance(node, ast.Call):
            of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            self._operate(node, *of, *node.args)
            name = "reduce" if getattr(node.func, "attr", "") == "reduce" else node.func
            if getattr(name, "id", name) in _CALL_BACK:
                self.calls_back.add(_span(node))
            self._shorten(node.func, node)
        elif isinstance(node, ast.Compare):
            self._operate(node, node.left, *node.comparators)
        elif isinstance(node, ast.Subscript):
            self._operate(node, node.value)
        elif isinstance(node, ast.Attribute):
            self._operate(node, node.value)
            self._shorten(node, node)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self.regions.append(Loop(node, node, self))
        elif type(node) in _COMPREHENSIONS:
            self.regions += [Loop(node, p, self, i) for i, p in enumerate(node.generators)]
        elif isinstance(node, ast.Return):
            self._return(node.value)
        elif isinstance(node, _FUNCTIONS):
            if isinstance(node, ast.Lambda):
                self._return(node.body)
            body = node.body if isinstance(node.body, list) else [node.body]
            self.regions.append((*_span(body[0])[:2], *_span(body[-1])[2:]))

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for part, item in zip(target.elts, value.elts, strict=False):
                if isinstance(part, ast.Starred) or isinstance(item, ast.Starred):
                    break
                self._bind(part, item)
        elif isinstance(value, ast.IfExp):
            self._bind(target, value.body)
            self._bind(target, value.orelse)
        elif isinstance(target, ast.Tuple | ast.List):
            if not any(isinstance(part, ast.Starred) for part in target.elts):
                names = [ast.unparse(part) if _is_name(part) else "" for part in target.elts]
                self.parts[_span(value)] = tuple("" if n == "_" else n for n in names)
        elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            self._bind_name(target, value)
            if _is_name(target) and type(at := value.slice.value) is int and 0 <= at < 9:
                name = ast.unparse(target)
                self.parts[_span(value.value)] = ("",) * at + ("" if name == "_" else name,)
        else:
            self._bind_name(target, value)

    def _bind_name(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") in _COLLECT:
            return  # `steps = list(accumulate(xs))`: no tensor is called so
        if _is_name(target) and getattr(target, "id", "") != "_" and not _varies(target):
            self.names[_span(value)] = ast.unparse(target)

    def _return(self, value: ast.expr | None) -> None:
        if isinstance(value, ast.IfExp):
            self._return(value.body)
            self._return(value.orelse)
        elif value is not None:
            self.returned.add(_span(value))

    def _operate(self, node: ast.AST, *operands: ast.expr) -> None:
        texts = tuple(ast.unparse(part) if _is_name(part) else "" for part in operands)
        if any(texts):
            self.operands[_span(node)] = texts

    def _shorten(self, attribute: ast.expr, node: ast.expr) -> None:
        if isinstance(attribute, ast.Attribute) and attribute.end_lineno != node.lineno:
            line, column = attribute.end_lineno or 0, attribute.end_col_offset or 0
            start = (line, column - len(attribute.attr))
            self.whole[(*start, *_span(node)[2:])] = _span(node)

    def loops(self, span: Span, code: CodeType, steps: bool) -> tuple[tuple[Loop, ...], bool]:
        """Return the loops around ``span`` in the frame of ``code``; whether a round begins."""
        found: list[Loop] = []
        begins = False
        for region in self.regions:
            if not isinstance(region, Loop):
                if _within(span, region):
                    found.clear()
            elif steps and span in region.steps:
                found.append(region)
                begins = True
            elif region.surrounds(span):
                found.append(region)
        own = [loop.span for loop in found if loop.frame == code.co_name]
        if own:  # a comprehension has a frame of its own: loops around it are not in there
            found = [loop for loop in found if _within(loop.span, own[-1])]
        nest = tuple(found)
        return self.nests.setdefault(nest, nest), begins

    def loops_at(self, span: Span) -> list[Loop]:
        """Return the loops of one statement or comprehension, outer before inner."""
        return [x for x in self.regions if isinstance(x, Loop) and x.whole == span]

    def loops_of(self, code: CodeType) -> list[Loop]:
        """Return the loops that may run in the frame of some code, outer before inner."""
        loops = [region for region in self.regions if isinstance(region, Loop)]
        if not loops:
            return []
        spans = [
            (line, column, end, end_column)
            for line, end, column, end_column in code.co_positions()
            if line is not None and end is not None
            if column is not None and end_column is not None
        ]
        return [x for x in loops if any(span in x.steps or x.surrounds(span) for span in spans)]

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
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))

    def text(self, where: Where) -> str:
        """Return the characters at ``where``, on one line and without comments."""
        _, line, column, end_line, end_column = where
        lines = list(self.lines[line - 1 : end_line])
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        if len(lines) > 1 and "#" in "".join(lines):
            try:
                tree = ast.parse(f"({''.join(lines)}\n)", mode="eval")
                return ast.unparse(tree)
            except SyntaxError:
                pass
        text = " ".join(" ".join(lines).split())
        return _magic(text) if text.startswith("get_ipython().run_") else text


@lru_cache(maxsize=32)
def _source(index: int, lines: tuple[str, ...]) -> _Source:
    """Read a source; at once if it was read for another recording, as a file often is."""
    return _Source(index, lines)


class _Code:
    """A code object, kept alive so that its id stays its own, and what is known of it."""

    def __init__(self, code: CodeType) -> None:
        self.code, self.opcodes = code, code.co_code
        self.positions = list(code.co_positions())
        self.places: dict[int, Place] = {}


class _Files(dict[str, bool]):
    def __missing__(self, filename: str) -> bool:
        found = self[filename] = not is_foreign(filename) and bool(_lines(filename))
        return found


class Sources:
    """All sources of a recording, and what is known of their instructions, cached.

    Attributes
    ----------
    is_learners : dict from str to bool
        Whether a file is the learner's and can be shown; it knows every file.
    nowhere : Place
        Where things happen that happen in none of them.
    """

    def __init__(self) -> None:
        self.is_learners = _Files()
        self.nowhere = Place()
        self._sources: dict[str, _Source] = {}
        # By id, because the hash of a code object would look at all of its constants.
        self._codes: dict[int, _Code] = {}

    def places(self, code: CodeType) -> dict[int, Place]:
        """Return what is known so far of the instructions of some code."""
        if id(code) not in self._codes:
            self._codes[id(code)] = _Code(code)
        return self._codes[id(code)].places

    def place(self, frame: FrameType) -> Place:
        """Return what is known of the instruction at which ``frame`` is."""
        found = self.places(frame.f_code).get(frame.f_lasti)
        return found or self.at(frame.f_code, frame.f_lasti, frame.f_lineno)

    def at(self, code: CodeType, instruction: int, line: int | None) -> Place:
        """Return what is known of one instruction of some code."""
        places = self.places(code)
        about = self._codes[id(code)]
        start = instruction
        while start > 0 and about.opcodes[start] == _CACHE:
            start -= 2
        position = about.positions[instruction // 2]
        place = places[instruction] = self._find(
            code, instruction, position, line, about.opcodes[start]
        )
        return place

    def plain(self) -> list[dict[str, Any]]:
        """Return the sources as plain data."""
        cells = 0
        found = []
        for filename, source in self._sources.items():
            name = os.path.basename(filename)
            if filename.startswith("<") or "ipykernel" in filename:
                cells += 1  # a cell: its file name has a number that changes from run to run
                name = cell_name(filename) or f"cell {cells}"
            found.append({"name": name, "text": "".join(source.lines), "first_line": 1})
        return found

    def _find(
        self, code: CodeType, at: int, position: Any, line_number: int | None, opcode: int
    ) -> Place:
        line, end_line, column, end_column = position
        source = self._source(code.co_filename)
        place = Place()
        line = line or line_number
        if line is None or not 0 < line <= len(source.lines):
            return place
        if end_line is None or column is None or end_column is None:  # python -X no_debug_ranges
            content = source.lines[line - 1].rstrip("\n").encode()
            span = (line, len(content) - len(content.lstrip()), line, len(content))
        else:
            span = (line, column, end_line, end_column)
            span = source.whole.get(span, span)
        if opcode == _GET_ITER:  # takes all items of a tensor at once, before the first round
            span = next((loop.head for loop in source.loops_at(span)), span)
        place.loops, place.begins_round = source.loops(span, code, opcode == _FOR_ITER)
        if place.begins_round:
            loop = place.loops[-1]
            place.where = source.where(loop.head)
            place.name = loop.targets[0] if len(loop.targets) == 1 else None
            return place
        tests = [x for x in place.loops if not x.steps and _within(span, x.head)]
        place.tests = tuple(x for x in tests if at < self._first_of_body(code, x))
        place.name = source.names.get(span)
        place.operands = source.operands.get(span, ())
        place.parts = source.parts.get(span, ())
        place.calls_back = span in source.calls_back
        place.returned = span in source.returned
        place.where = source.where(span)
        place.text = "" if opcode in _UNPACK else source.text(place.where)  # `a, b = x`
        return place

    def _first_of_body(self, code: CodeType, loop: Loop) -> int:
        """Return the first instruction of a loop's body."""
        positions = enumerate(self._codes[id(code)].positions)
        inside = (
            i
            for i, (line, end, column, end_column) in positions
            if None not in (line, end, column, end_column)
            and _within((line, column, end, end_column), loop.body)  # type: ignore[arg-type]
        )
        return 2 * next(inside, 0)

    def _source(self, filename: str) -> _Source:
        source = self._sources.get(filename)
        if source is None:
            source = _source(len(self._sources), tuple(_lines(filename)))
            self._sources[filename] = source
        return source


def _magic(text: str) -> str:
    """Return ``%time y = x * x`` for what IPython has made of that."""
    call: Any = ast.parse(text, mode="eval").body
    parts = [str(part.value) for part in call.args if isinstance(part, ast.Constant)]
    return "%" * (1 + ("cell" in call.func.attr)) + " ".join(parts)


def read_source(filename: str) -> _Source | None:
    """Return the source of a file or cell of the learner's; None for any other."""
    if is_foreign(filename) or not (lines := _lines(filename)):
        return None
    return _source(0, tuple(lines))


def _lines(filename: str) -> list[str]:
    linecache.checkcache(filename)  # a file may have been edited since
    return linecache.getlines(filename)


def _span(node: Any) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def span_within(inner: Span | None, outer: Span) -> bool:
    """Return whether one part of a source is inside of another."""
    return inner is not None and _within(inner, outer)


def _within(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _is_name(node: ast.expr) -> bool:
    """Return whether an expression is a name, or reads like one: ``self.w``, ``params[0]``."""
    if isinstance(node, ast.Attribute):
        return _is_name(node.value)
    if isinstance(node, ast.Subscript):
        return _is_name(node.value) and isinstance(node.slice, ast.Constant | ast.Name)
    return isinstance(node, ast.Name)


def _varies(node: ast.expr) -> bool:
    """Return whether a name stands for others at other times: ``params[i]``."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name)
