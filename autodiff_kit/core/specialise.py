"""Fix arguments of a plain function and leave out what can then not happen.

``specialise(f, observer=None)`` answers as ``functools.partial(f, observer=None)`` does, but
sooner: ``if observer is not None:`` is gone from it, and functions that ``f`` defines inside stand
where they are called. So a semantics is written once, as a text to be read, and its fast forms are
derived.

Lines keep their numbers: tracebacks, breakpoints and ``inspect.getsource`` show the plain text.
``text_of`` shows what is left of it. This file is about Python, not about gradients.
"""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from autodiff_kit.free_form import Keywords, Namespace

__all__ = ["specialise", "text_of"]

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
OPPOSITES = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
LITERALS = (type(None), bool, int, float, str)
PURE = (ast.Name, ast.Attribute, ast.Subscript, ast.Compare, ast.UnaryOp)

_Node = TypeVar("_Node", bound=ast.AST)


def specialise(function: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """Return ``function`` with some of its keyword-only arguments fixed, and what is idle left out.

    Parameters
    ----------
    function : callable
        Plain Python, defined in a file. A function inside of it that is called as a statement, or
        whose result is assigned, is put in place of the calls: it may end in one ``return`` of a
        value, and before that has only ``return`` without a value at the end of an ``if``.
    **fixed
        Literals: None, bool, int, float or str.

    Returns
    -------
    callable - where there is no source, ``functools.partial``: it does the same.
    """
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except OSError:  # only the compiled file is there
        return partial(function, **fixed)
    tree = ast.parse(source).body[0]
    if not isinstance(tree, ast.FunctionDef) or tree.name != function.__name__:
        return partial(function, **fixed)  # the source of another "<string>", since Python 3.13
    ast.increment_lineno(tree, function.__code__.co_firstlineno - tree.lineno)
    _Folding(fixed).fold(tree)
    module = ast.fix_missing_locations(ast.Module([tree], []))
    namespace: Namespace = {}
    exec(compile(module, function.__code__.co_filename, "exec"), function.__globals__, namespace)
    result: Callable[..., Any] = namespace[tree.name]
    result.__doc__ = function.__doc__
    result.text = ast.unparse(tree)  # type: ignore[attr-defined]
    return result


def text_of(function: Callable[..., Any]) -> str:
    """Return the text that runs: of a form made by ``specialise``, or of a plain function."""
    text: str | None = getattr(function, "text", None)
    return inspect.getsource(getattr(function, "func", function)) if text is None else text


class _Folding(ast.NodeTransformer):
    """Replace what is known by its value, drop branches that are never taken, put calls in."""

    def __init__(self, fixed: Keywords) -> None:
        self.known = dict(fixed)  # names whose value is known from here on
        self.inner: dict[str, ast.FunctionDef] = {}
        self.bound_once: set[str] = set()
        self.names_in_use: set[str] = set()  # names that an inner function's own may not have

    def fold(self, tree: ast.FunctionDef) -> None:
        self.inner = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
        tree.body = [s for s in tree.body if not isinstance(s, ast.FunctionDef)]
        tree.returns, tree.decorator_list = None, []
        for argument in _all(tree.args, ast.arg):
            argument.annotation = None  # evaluated where this is compiled, and not used
        arguments = {argument.arg for argument in _all(tree.args, ast.arg)}
        stored = _stored(tree)
        self.names_in_use = arguments.union(stored)
        self.bound_once = {name for name in stored if stored.count(name) == 1} - arguments
        pairs = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
        others = [(a, default) for a, default in pairs if a.arg not in self.known]
        tree.args.kwonlyargs = [a for a, _ in others]
        tree.args.kw_defaults = [default for _, default in others]
        tree.body = self.statements(tree.body)

    def statements(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            statements += result if isinstance(result, list) else [result]
        return [s for s in statements if not isinstance(s, ast.Pass) and not _is_docstring(s)]

    def visit(self, node: ast.AST) -> Any:
        node = super().visit(node)
        value = self.value_of(node)
        return ast.copy_location(ast.Constant(value), node) if isinstance(value, LITERALS) else node

    def value_of(self, node: Any) -> Any:
        """Return what an expression of known names is worth, else an ellipsis."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self.known.get(node.id, ...)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = self.value_of(node.left), self.value_of(node.comparators[0])
            compare = COMPARISONS.get(type(node.ops[0]))
            if compare and ... not in sides:
                return compare(*sides)
        return ...

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        decisive = isinstance(node.op, ast.Or)  # an operand of this truth ends it
        operands: list[ast.expr] = []
        for operand in map(self.visit, node.values):
            if not isinstance(operand, ast.Constant):
                operands.append(operand)
            elif bool(operand.value) is decisive:
                while operands and isinstance(operands[-1], PURE):
                    operands.pop()  # whatever it is, it decides nothing
                operands.append(operand)
                break
        if not operands:
            return ast.copy_location(ast.Constant(not decisive), node)
        node.values = operands
        return node if len(operands) > 1 else operands[0]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.copy_location(ast.Constant(not node.operand.value), node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            branch: ast.expr = self.visit(node.body if node.test.value else node.orelse)
            return branch
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            return self.statements(node.body if node.test.value else node.orelse)
        node.body, node.orelse = self.statements(node.body), self.statements(node.orelse)
        if not node.body and not node.orelse:
            return []
        if not node.body:
            node.test = _opposite(node.test)
            node.body, node.orelse = node.orelse, []
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        node.test, node.body = self.visit(node.test), self.statements(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.iter, node.body = self.visit(node.iter), self.statements(node.body)
        return node

    def visit_Try(self, node: ast.Try) -> ast.stmt | list[ast.stmt]:
        node.body = self.statements(node.body)
        for handler in node.handlers:
            handler.body = self.statements(handler.body)
        node.finalbody = self.statements(node.finalbody)
        reraises = all(ast.unparse(s) == "raise" for h in node.handlers for s in h.body)
        return node.body if reraises and not node.finalbody else node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        called = self.inner_called(node.value)
        if called is not None:
            return self.put_in(called, node.value, node)
        node.value = self.visit(node.value)
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
            if not {n.id for n in _loaded(node.value)} & set(_stored(target)):
                return [ast.copy_location(ast.Assign([t], v), node) for t, v in pairs]
        if (
            isinstance(target, ast.Name)
            and target.id in self.bound_once
            and isinstance(node.value, ast.Constant)
        ):
            self.known[target.id] = node.value.value
            return []
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt]:
        if node.value is None:
            return []
        plain = ast.copy_location(ast.Assign([node.target], node.value), node)
        return self.visit_Assign(plain)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        called = self.inner_called(node.value)
        return self.generic_visit(node) if called is None else self.put_in(called, node.value, node)

    def inner_called(self, value: ast.expr) -> ast.FunctionDef | None:
        name = value.func.id if _calls_a_name(value) else ""  # type: ignore[attr-defined]
        return self.inner.get(name)

    def put_in(self, function: ast.FunctionDef, call: Any, place: ast.stmt) -> list[ast.stmt]:
        """Return the body of an inner function, with the arguments of a call put in."""
        function = _copied(function)
        stored, loaded = _stored(function), [n.id for n in _loaded(function)]
        parameters = {argument.arg for argument in function.args.args}
        once = {name for name in stored if stored.count(name) == 1} - parameters
        own = {name: ast.Name(self.fresh(f"{function.name}_{name}", name)) for name in stored}
        first: list[ast.stmt] = []
        for parameter, argument in zip(function.args.args, call.args, strict=True):
            name, value = parameter.arg, self.visit(argument)
            is_simple = isinstance(value, ast.Name | ast.Constant)
            is_read_once = isinstance(value, PURE) and loaded.count(name) < 2
            if name not in stored and (is_simple or is_read_once):
                own[name] = value
                continue
            own.setdefault(name, ast.Name(self.fresh(f"{function.name}_{name}", name)))
            target = ast.Name(own[name].id, ast.Store())
            first.append(ast.copy_location(ast.Assign([target], value), place))
        body = _without_returns([_Renaming(own).visit(s) for s in function.body])
        if isinstance(place, ast.Assign) and body and isinstance(body[-1], ast.Return):
            value = body.pop().value or ast.Constant(None)  # type: ignore[attr-defined]
            body.append(ast.copy_location(ast.Assign(place.targets, value), place))
        outside = self.names_in_use, self.bound_once, self.known
        self.names_in_use = self.names_in_use.union(
            n.id for n in own.values() if isinstance(n, ast.Name)
        )
        self.bound_once = self.bound_once.union(own[name].id for name in once)
        self.known = dict(self.known)
        statements = self.statements(body)
        self.names_in_use, self.bound_once, self.known = outside
        return first + statements

    def fresh(self, longer: str, name: str) -> str:
        return longer if name in self.names_in_use else name


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Namespace) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        new: ast.expr = _copied(self.names[node.id])
        if isinstance(new, ast.Name):
            new.ctx = node.ctx
        return ast.copy_location(new, node)


def _opposite(test: ast.expr) -> ast.expr:
    """Return the expression that holds where ``test`` does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        opposite = OPPOSITES.get(type(test.ops[0]))
        if opposite is not None:
            new = ast.Compare(test.left, [opposite()], test.comparators)
            return ast.copy_location(new, test)
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _without_returns(body: list[ast.stmt]) -> list[ast.stmt]:
    """Write ``if a: return`` and what follows as ``if a: ... else: ...``."""
    for i, statement in enumerate(body):
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return):
            statement.body = statement.body[:-1] or [ast.Pass()]
            statement.orelse = [*statement.orelse, *_without_returns(body[i + 1 :])]
            return body[: i + 1]
    return body


def _copied(tree: _Node) -> _Node:
    """Return a deep copy; ``copy.deepcopy`` takes four times as long."""
    if not tree._fields:  # Load(), Is() and such
        return tree
    new = type(tree).__new__(type(tree))
    for name, value in vars(tree).items():
        if isinstance(value, list):
            value = [_copied(v) if isinstance(v, ast.AST) else v for v in value]
        setattr(new, name, _copied(value) if isinstance(value, ast.AST) else value)
    return new


def _all(tree: ast.AST, kind: type[_Node]) -> list[_Node]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def _loaded(tree: ast.AST) -> list[ast.Name]:
    return [name for name in _all(tree, ast.Name) if isinstance(name.ctx, ast.Load)]


def _stored(tree: ast.AST) -> list[str]:
    return [name.id for name in _all(tree, ast.Name) if isinstance(name.ctx, ast.Store)]


def _calls_a_name(value: ast.AST) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name)


def _is_docstring(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
