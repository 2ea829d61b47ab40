"""What the syntax tree of a source says: what a result is called, and which loops are around it.

After reading this file you know how the characters of an expression lead to the name that its
result is given, to its operands and to the loops that it runs in. Read next: ``source.py``.
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import lru_cache
from sys import intern
from types import CodeType
from typing import Any

from autodiff_kit.record.events import Where
from autodiff_kit.record.source_files import is_foreign, read_lines

__all__ = [
    "Loop",
    "Source",
    "Span",
    "is_within",
    "on_one_line",
    "parse",
    "read_source",
    "source_of",
]

_CHAIN = re.compile(r"(?<=[\w)\]]) \.(?=[^\W\d])")  # of calls, each on a line of its own
_MAGIC_LINE = re.compile(r"^([ \t]*)(?:[\w, ]*= *)?[%!].*$", re.MULTILINE)
Span = tuple[int, int, int, int]  # line, column, end line, end column; columns count bytes

_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda

# Functions that run code of others several times while Python stays at one instruction.
_CALL_BACK = (
    *("all", "any", "dict", "filter", "list", "map", "max", "min"),
    *("reduce", "set", "sorted", "sum", "tuple", "zip"),
)

_COLLECT = ("dict", "filter", "list", "map", "set", "sorted", "tuple", "zip")


class Loop:
    """A ``for`` or ``while`` statement, or a ``for`` of a comprehension.

    Attributes
    ----------
    name : str
        Its head, for example ``for i in range(3)``.
    key : str
        What tells it from the other loops of its source; of a string the hash is worked out once.
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

    def __init__(self, node: Any, part: Any, source: Source, depth: int = 0) -> None:
        self.frame = _COMPREHENSIONS.get(type(node), "")
        self.span = self.whole = span_of(node)  # what runs in every round is in here ...
        self.depth, self.key = depth, intern(" ".join(map(str, (*self.whole, depth))))
        self.hole: Span = (0, 0, 0, 0)  # ... and not in here: it runs before the first one
        self.steps: tuple[Span, ...] = ()  # where Python says that it takes the next item
        self.targets: tuple[str, ...] = ()
        if isinstance(node, ast.While):
            self.head = span_of(node.test)
            self.name = f"while {ast.unparse(node.test)}"
        else:
            self.head = span_of(part.iter)
            self.name = f"for {ast.unparse(part.target)} in {ast.unparse(part.iter)}"
            start = part.target if part is node else node.generators[0].target
            self.hole = (*span_of(start)[:2], *self.head[2:])
            self.steps = (self.span, self.head)
            self.targets = tuple(n.id for n in ast.walk(part.target) if isinstance(n, ast.Name))
        if self.frame:
            self.where = source.where(self.span)
            self.body: Span = self.span
        else:
            self.where = source.where((*self.span[:2], *self.head[2:]))
            self.span = (*self.span[:2], *span_of(node.body[-1])[2:])  # its else runs once
            self.body = (*span_of(node.body[0])[:2], *self.span[2:])

    def surrounds(self, span: Span) -> bool:
        """Return whether what stands at ``span`` runs in every round."""
        return is_within(span, self.span) and span != self.span and not is_within(span, self.hole)

    def is_inside(self, other: Loop) -> bool:
        """Return whether it runs in every round of another loop."""
        if self.whole == other.whole:  # two for of one comprehension
            return self.depth > other.depth
        return other.surrounds(self.whole)


class Source:
    """One cell or file with what its syntax tree tells.

    Attributes
    ----------
    lines : tuple of str
        What Python runs.
    visible : tuple of str
        What the learner wrote: ``%time y = f(x)``, of which IPython makes a call.
    """

    def __init__(self, index: int, lines: tuple[str, ...]) -> None:
        self.index, self.lines, self.visible = index, lines, lines
        self._magics: dict[int, tuple[int, int, int]] = {}  # by line: start, end, end in `visible`
        self._whole: Span | None = None  # of what Python runs as one line
        self.names: dict[Span, str] = {}
        self.operands: dict[Span, tuple[str, ...]] = {}
        self.parts: dict[Span, tuple[str, ...]] = {}
        self.whole: dict[Span, Span] = {}  # what Python gives as `.exp()` is `x\n.exp()`
        self.calls_back: set[Span] = set()
        self.collects: set[Span] = set()
        self.returned: set[Span] = set()
        self.nests: dict[tuple[Loop, ...], tuple[Loop, ...]] = {}  # equal ones are one object
        self.regions: list[Loop | Span] = []  # loops, and bodies of functions; outer before inner
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            return  # such as a file with a magic in it; lines are still known
        self._show_magics(tree)
        waiting: list[Any] = [tree]
        while waiting:
            node = waiting.pop()
            self._look(node)
            waiting += ast.iter_child_nodes(node)

    def _show_magics(self, tree: ast.Module) -> None:
        """Undo what IPython does to lines such as ``%time y = f(x)`` and ``!pip list``."""
        lines = [*self.lines]
        for node in ast.walk(tree) if "get_ipython()" in "".join(self.lines) else ():
            call: Any = node.value if isinstance(node, ast.Expr | ast.Assign) else None
            text = "" if call is None else _magic(ast.unparse(call))
            if text.startswith("%%"):  # a whole cell, which Python runs as one line
                lines = text.splitlines(keepends=True)
                self._whole = (1, 0, len(lines), len(lines[-1].rstrip("\n")))
            elif text and call.lineno == call.end_lineno:
                start, end, row = call.col_offset, call.end_col_offset, call.lineno - 1
                line = lines[row].encode()
                self._magics[call.lineno] = start, end, start + len(text.encode())
                lines[row] = (line[:start] + text.encode() + line[end:]).decode()
        self.visible = tuple(lines)

    def _look(self, node: Any) -> None:
        if isinstance(node, ast.Assign):
            self._bind(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            if _is_name(node.target):
                self.names[span_of(node)] = self._name(node.target)
            self._operate(node, node.target, node.value)
        elif isinstance(node, ast.BinOp):
            # `2 * x` runs as x.__rmul__(2)
            reverse = isinstance(node.left, ast.Constant)
            self._operate(node, *((node.right,) if reverse else (node.left, node.right)))
        elif isinstance(node, ast.UnaryOp):
            self._operate(node, node.operand)
        elif isinstance(node, ast.Call):
            of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            self._operate(node, *of, *node.args, *(k.value for k in node.keywords))
            name = "reduce" if getattr(node.func, "attr", "") == "reduce" else node.func
            if getattr(name, "id", name) in _CALL_BACK:
                self.calls_back.add(span_of(node))
            if getattr(name, "id", "") in _COLLECT:
                self.collects.add(span_of(node))
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
            self.regions.append((*span_of(body[0])[:2], *span_of(body[-1])[2:]))

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for part, item in zip(target.elts, value.elts, strict=False):
                if isinstance(part, ast.Starred) or isinstance(item, ast.Starred):
                    break
                self._bind(part, item)
        elif isinstance(value, ast.IfExp):
            self._bind(target, value.body)
            self._bind(target, value.orelse)
        elif isinstance(value, ast.Tuple | ast.List | ast.Dict):
            if _is_name(target) and not _varies(target):
                self._bind_items(self._name(target), value)
        elif isinstance(target, ast.Tuple | ast.List):
            if not any(isinstance(part, ast.Starred) for part in target.elts):
                names = [self._name(part) if _is_name(part) else "" for part in target.elts]
                self.parts[span_of(value)] = tuple("" if n == "_" else n for n in names)
        elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            self._bind_name(target, value)
            if _is_name(target) and type(at := value.slice.value) is int and 0 <= at < 9:
                name = self._name(target)
                self.parts[span_of(value.value)] = ("",) * at + ("" if name == "_" else name,)
        else:
            self._bind_name(target, value)

    def _bind_items(self, owner: str, value: ast.expr) -> None:
        """Call the items of a list, tuple or dictionary by their places: ``ws[0]``, ``p["w"]``."""
        if isinstance(value, ast.Dict):
            for key, item in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant):
                    self._bind_items(f"{owner}[{self.text(self.where(span_of(key)))}]", item)
        elif isinstance(value, ast.List | ast.Tuple):
            for at, item in enumerate(value.elts):
                if isinstance(item, ast.Starred):
                    break
                self._bind_items(f"{owner}[{at}]", item)
        else:
            self.names[span_of(value)] = owner

    def _bind_name(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") in _COLLECT:
            return  # `steps = list(accumulate(xs))`: no tensor is called so
        if _is_name(target) and getattr(target, "id", "") != "_" and not _varies(target):
            self.names[span_of(value)] = self._name(target)

    def _name(self, node: ast.expr) -> str:
        """Return a name as it is written: ``w["a"]`` with these quotation marks."""
        text = ast.unparse(node)
        return self.text(self.where(span_of(node))) if "'" in text else text

    def _return(self, value: ast.expr | None) -> None:
        if isinstance(value, ast.IfExp):
            self._return(value.body)
            self._return(value.orelse)
        elif value is not None:
            self.returned.add(span_of(value))

    def _operate(self, node: ast.AST, *operands: ast.expr) -> None:
        texts = tuple(self._name(part) if _is_name(part) else "" for part in operands)
        if any(texts):
            self.operands[span_of(node)] = texts

    def _shorten(self, attribute: ast.expr, node: ast.expr) -> None:
        if isinstance(attribute, ast.Attribute) and attribute.end_lineno != node.lineno:
            line, column = attribute.end_lineno or 0, attribute.end_col_offset or 0
            start = (line, column - len(attribute.attr))
            self.whole[(*start, *span_of(node)[2:])] = span_of(node)

    def loops(self, span: Span, code: CodeType, steps: bool) -> tuple[tuple[Loop, ...], bool]:
        """Return the loops around ``span`` in the frame of ``code``; whether a round begins."""
        loops: list[Loop] = []
        begins = False
        for region in self.regions:
            if not isinstance(region, Loop):
                if is_within(span, region):
                    loops.clear()
            elif steps and span in region.steps:
                loops.append(region)
                begins = True
            elif region.surrounds(span):
                loops.append(region)
        own = [loop.span for loop in loops if loop.frame == code.co_name]
        if own:  # a comprehension has a frame of its own: loops around it are not in there
            loops = [loop for loop in loops if is_within(loop.span, own[-1])]
        nest = tuple(loops)
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
        """Turn byte columns into characters of what is shown."""
        if self._whole is not None:
            return [self.index, *self._whole]
        line, column, end_line, end_column = span
        return [
            self.index,
            line,
            self._characters(line, column),
            end_line,
            self._characters(end_line, end_column),
        ]

    def _characters(self, line: int, column: int) -> int:
        text = self.visible[line - 1] if 0 < line <= len(self.visible) else ""
        if line in self._magics:
            start, end, end_shown = self._magics[line]
            if column > start:
                column = min(column, end_shown) if column < end else column - end + end_shown
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))

    def text(self, where: Where) -> str:
        """Return the characters at ``where``, on one line and without comments."""
        _, line, column, end_line, end_column = where
        lines = list(self.visible[line - 1 : end_line])
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        if len(lines) > 1 and "#" in "".join(lines):
            with suppress(SyntaxError):
                return ast.unparse(ast.parse(f"({''.join(lines)}\n)", mode="eval"))
        text = on_one_line("".join(lines))
        return text if len(lines) == 1 else _CHAIN.sub(".", text)


@lru_cache(maxsize=32)
def source_of(index: int, lines: tuple[str, ...]) -> Source:
    """Read a source; at once if it was read for another recording, as a file often is."""
    return Source(index, lines)


def on_one_line(text: str) -> str:
    r"""Return an expression on one line; spaces inside of its strings stay as they are.

    Examples
    --------
    >>> on_one_line("x\n  * 2"), on_one_line('x  * len("a  b")')
    ('x * 2', 'x  * len("a  b")')
    """
    line = " ".join(text.split())
    if line != text and ('"' in text or "'" in text):
        if "\n" not in text:
            return text.strip()
        with suppress(SyntaxError, ValueError):
            return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
    return line


_MAGICS = {"run_line_magic": "%", "run_cell_magic": "%%", "system": "!", "getoutput": "!"}


def _magic(text: str) -> str:
    """Return ``%time y = x * x`` for the call that IPython has made of that; "" for another."""
    if not text.startswith("get_ipython()."):
        return ""
    call: Any = ast.parse(text, mode="eval").body
    sign = _MAGICS.get(getattr(getattr(call, "func", None), "attr", ""), "")
    parts = (
        [str(part.value) for part in call.args if isinstance(part, ast.Constant)] if sign else []
    )
    line, body = " ".join(parts[:2]).rstrip(), "".join(f"\n{part}" for part in parts[2:])
    return sign + line + body


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a source as it is shown, where lines may be IPython's own."""
    with suppress(SyntaxError, ValueError):
        return ast.parse(text)
    with suppress(SyntaxError, ValueError):
        return ast.parse(_MAGIC_LINE.sub(r"\1pass", text))
    return None


def read_source(filename: str) -> Source | None:
    """Return the source of a file or cell of the learner's; None for any other."""
    if is_foreign(filename) or not (lines := read_lines(filename)):
        return None
    return source_of(0, tuple(lines))


def span_of(node: Any) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def is_within(inner: Span, outer: Span) -> bool:
    """Return whether one part of a source is inside of another."""
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
