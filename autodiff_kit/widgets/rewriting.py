"""A learner's function with other lines: one under ``no_grad``, another one detached.

After reading you know how a switch gets into the learner's code: the function's own source is
parsed, a statement of the syntax tree is wrapped, and the tree is compiled under the old file name
and with the old places, so that everything can still be shown where it was written. The learner's
function, its module and its variables stay as they are. Read next: ``grad_mode.py``.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
from collections.abc import Callable, Mapping
from hashlib import sha256
from types import CellType, CodeType, FunctionType
from typing import Any, cast

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.free_form import Namespace
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.running import name_of, with_article

__all__ = ["SWITCHES", "Lines"]

SWITCHES = ("as written", "no_grad", "detach", "requires_grad_()")
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return
_CLOSED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Lines:
    r"""The lines of a function, or of a cell, and what can be switched in them.

    Parameters
    ----------
    source : function or str
        A function written with ``def``; or the text of a cell. A cell returns the value of its last
        line, or what that line assigns.
    names : sequence of str
        For a cell: what it takes from outside.

    Attributes
    ----------
    function : callable
        As written.
    texts : list of str
        All lines.
    first : int
        The number of the first one.
    statements : list of int
        The lines that can be switched: where a statement begins that computes something.

    Raises
    ------
    TypeError
        If there is no source to rewrite; the message says why.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> lines = Lines("y = x * x\ny + 1", ["x"])
    >>> lines.statements
    [1, 2]
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> lines.rewritten({1: "detach"})(x)
    tensor(10.)
    """

    def __init__(self, source: Callable[..., Any] | str, names: tuple[str, ...] = ()) -> None:
        self._tree: ast.FunctionDef
        if isinstance(source, str):
            self._read_cell(source, names)
        else:
            self._read_function(source)
        self.statements: list[int] = []
        self._collect(self._tree.body)

    def _read_cell(self, text: str, names: tuple[str, ...]) -> None:
        try:
            body = ast.parse(text).body
        except SyntaxError as error:
            raise TypeError(f"this cell is not Python: {error.msg} (line {error.lineno})") from None
        if not body:
            raise TypeError(
                "this cell is empty.\n-> Write at least one line that computes something."
            )
        last = body[-1]
        result: ast.expr | None = None
        if isinstance(last, ast.Expr):
            body[-1] = ast.copy_location(ast.Return(last.value), last)
        elif isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign):
            target = last.targets[0] if isinstance(last, ast.Assign) else last.target
            result = ast.copy_location(_as_load(target), last)
            body.append(ast.copy_location(ast.Return(result), last))
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        self._tree = ast.FunctionDef("cell", arguments, body, [], None, lineno=1, col_offset=0)
        self.texts, self.first = text.splitlines(), 1
        self._file = f"<cell {sha256(text.encode()).hexdigest()[:12]}>"
        # Tracebacks and the recorder find the text there; so does IPython with its cells.
        linecache.cache[self._file] = (len(text), None, text.splitlines(True), self._file)
        self._of: FunctionType | None = None
        self.function: Callable[..., Any] = self.rewritten({})

    def _read_function(self, function: Any) -> None:
        name = name_of(function)
        if hasattr(function, "__wrapped__"):
            inner = inspect.unwrap(function)
            if isinstance(inner, FunctionType) and is_foreign(inner.__code__.co_filename):
                raise TypeError(
                    f"GradMode rewrites the lines of a function of yours, and {name} comes from a "
                    f"package.\n-> Write one around it: def f(x=2.0): return torch.{name}(x)"
                )
            raise TypeError(
                f"{name} has a decorator, and its lines cannot be rewritten below one.\n"
                "-> Give the function without the decorator."
            )
        if not isinstance(function, FunctionType):
            raise TypeError(
                "GradMode rewrites the lines of a function, and this is "
                f"{with_article(type(function).__name__)}.\n-> Write `def f(x): ...`, and give f, "
                "without calling it; or give the text of a cell."
            )
        try:
            lines, first = inspect.getsourcelines(function)
            tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        except (OSError, SyntaxError, IndexError):
            tree, lines, first = ast.Pass(), [], 1
        if isinstance(tree, ast.AsyncFunctionDef):
            raise TypeError(
                f"{name} is written with `async def`: a call only prepares it, and none of its "
                "lines runs.\n-> Write `def` instead of `async def`, without `await`."
            )
        if not isinstance(tree, ast.FunctionDef):
            raise TypeError(
                f"the source of {name} cannot be read line by line.\n"
                "-> Write it with `def` in a cell or a file, and not as a lambda."
            )
        indent = len(lines[0]) - len(lines[0].lstrip())
        for node in ast.walk(tree):
            if hasattr(node, "col_offset"):
                node.col_offset += indent
                node.end_col_offset += indent  # type: ignore[attr-defined]
        self._tree = ast.increment_lineno(tree, max(first, 1) - 1)
        self._tree.decorator_list = []
        self.texts, self.first = [line.rstrip() for line in lines], max(first, 1)
        self._file = function.__code__.co_filename
        self._of = function
        self.function = function

    def _collect(self, body: list[ast.stmt]) -> None:
        for number, statement in enumerate(body):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if isinstance(statement, _SIMPLE) and not (is_text and number == 0):
                if getattr(statement, "value", None) is not None:
                    self.statements.append(statement.lineno)
            elif not isinstance(statement, _CLOSED):
                for inner in _bodies(statement):
                    self._collect(inner)
        self.statements = sorted(set(self.statements))

    def rewritten(self, switches: Mapping[int, str]) -> Callable[..., Any]:
        """Return the function with some of its lines switched.

        Parameters
        ----------
        switches : dict from int to str
            By line: one of ``SWITCHES``.
        """
        tree = copy.deepcopy(self._tree)
        tree.body = _switched(tree.body, switches)
        free = () if self._of is None else self._of.__code__.co_freevars
        names = [ast.arg(name) for name in (*free, *_HELP)]
        outer = ast.FunctionDef(
            "outer", ast.arguments([], names, None, [], [], None, []), [tree], [], None
        )
        module = ast.fix_missing_locations(ast.Module([outer], []))
        code = _code_in(_code_in(compile(module, self._file, "exec", dont_inherit=True)))
        cells: dict[str, CellType] = {name: CellType(value) for name, value in _HELP.items()}
        space: Namespace = {"__name__": "cell", "__builtins__": __builtins__}
        defaults = None
        if self._of is not None:
            cells |= dict(zip(free, self._of.__closure__ or (), strict=True))
            space, defaults = self._of.__globals__, self._of.__defaults__
        own = cells.setdefault(self._tree.name, CellType())  # what a recursive function calls
        closure = tuple(cells[name] for name in code.co_freevars)
        function = FunctionType(code, space, self._tree.name, defaults, closure)
        if self._tree.name not in free:
            own.cell_contents = function
        if self._of is not None:
            function.__kwdefaults__ = self._of.__kwdefaults__
            function.__annotations__ = self._of.__annotations__
        return function


def _switched(body: list[ast.stmt], switches: Mapping[int, str]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        how = switches.get(statement.lineno, SWITCHES[0])
        if isinstance(statement, _SIMPLE):
            result += _with(statement, how) if how != SWITCHES[0] else [statement]
            continue
        if not isinstance(statement, _CLOSED):
            for inner in _bodies(statement):
                inner[:] = _switched(inner, switches)
        result.append(statement)
    return result


def _with(statement: ast.stmt, how: str) -> list[ast.stmt]:
    """Return what stands in the place of a statement, at the same place in the source."""
    if how == "no_grad":
        item = ast.withitem(ast.Call(ast.Name(".no_grad", ast.Load()), [], []), None)
        for node in ast.walk(item):
            if isinstance(node, ast.expr):
                ast.copy_location(node, statement)
        return [ast.copy_location(ast.With([item], [statement]), statement)]
    help_by = f".{how}"
    if isinstance(statement, ast.AugAssign):
        again = ast.Assign([copy.deepcopy(statement.target)], _call(help_by, _as_load(statement)))
        return [statement, ast.copy_location(again, statement)]
    value = getattr(statement, "value", None)
    if value is not None:
        statement.value = _call(help_by, value)  # type: ignore[attr-defined]
    return [statement]


def _call(name: str, value: ast.expr) -> ast.expr:
    function = ast.copy_location(ast.Name(name, ast.Load()), value)
    return ast.copy_location(ast.Call(function, [value], []), value)


def _as_load(of: ast.AST) -> ast.expr:
    """Return the target of an assignment as something that can be read."""
    target: Any = copy.deepcopy(getattr(of, "target", of))
    for node in ast.walk(target):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            node.ctx = ast.Load()  # type: ignore[attr-defined]
    return cast(ast.expr, target)


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    parts: list[Any] = [getattr(statement, part, None) for part in ("body", "orelse", "finalbody")]
    parts += [handler.body for handler in getattr(statement, "handlers", ())]
    parts += [case.body for case in getattr(statement, "cases", ())]
    return [part for part in parts if part]


def _code_in(code: CodeType) -> CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _detached(value: Any) -> Any:
    return _of_each(value, lambda tensor: tensor.detach())


def _requiring_grad(value: Any) -> Any:
    return _of_each(value, lambda tensor: tensor.requires_grad_())


def _of_each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Change a tensor, or those in a tuple or list; whatever else there is stays."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(_of_each(item, change) for item in value)
    return value


# Names that no learner can write, and so cannot have taken.
_HELP: Namespace = {
    ".no_grad": no_grad,
    ".detach": _detached,
    ".requires_grad_()": _requiring_grad,
}
