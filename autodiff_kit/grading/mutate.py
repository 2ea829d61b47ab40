"""Change a right solution in small ways, to find unforeseen wrong answers.

After reading this file you can list the changes that are tried: an operator swapped for its
partner, a comparison turned, ``+=`` made ``=``, a method call such as ``.sum(...)`` dropped, a
number moved by one, a condition negated, a statement left out. Read next: ``verify.py``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

__all__ = ["changes"]

_PARTNERS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_HEADS = (["def"], ["class"])
_DROPPED = {"sum", "swapaxes", "transpose", "reshape", "copy", "mean"}


def changes(code: str) -> Iterator[tuple[str, str]]:
    """Yield (description, changed code) for each small change of `code`.

    Descriptions are made of the function's name and the code itself, not of line numbers, so that
    they stay true when something else changes.

    Parameters
    ----------
    code : str
        Source that compiles.

    Yields
    ------
    tuple of str
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):  # `strict=True` in zip is a safeguard: no answer depends on it
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg != "strict"]
    # Of each change, only the statement that it is in is written anew.
    texts = [_text(statement) for statement in tree.body]
    before = "\n".join(texts)
    sources = {before}
    for index, statement in enumerate(tree.body):
        around = ast.Module([statement], [])
        for slot, place, node in list(_slots(around)):
            for other in (*_changed(node), *_left_out(node)):
                slot[place] = ast.copy_location(other, node)
                text = _text(around)
                slot[place] = node
                after = "\n".join([*texts[:index], text, *texts[index + 1 :]])
                if after not in sources:
                    sources.add(after)
                    yield _describe(before, after), after


def _text(tree: ast.AST) -> str:
    return ast.unparse(tree).strip("\n")


def _slots(tree: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Yield each node below a tree, with what holds it and the index or name it has there."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                yield from ((value, i, x) for i, x in enumerate(value) if isinstance(x, ast.AST))
            elif isinstance(value, ast.AST):
                yield vars(parent), name, value


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in the place of a node after a small change, if there is any."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _PARTNERS:
            yield _with(node, op=_PARTNERS[type(op)]())
        case ast.Compare(ops=[op, *rest]) if type(op) in _PARTNERS:
            yield _with(node, ops=[_PARTNERS[type(op)](), *rest])
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.UnaryOp(op=ast.USub()):
            yield _with(node, op=ast.UAdd())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.AugAssign(target=target, value=value):
            yield ast.Assign([target], value)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in _DROPPED:
            module = isinstance(value, ast.Name) and value.id == "np"
            yield args[0] if module and args else value


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands for a statement that is left out, if it can be."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            pass  # a docstring
        case ast.Assign(targets=[ast.Name(), *_]):
            pass  # the name would be missing: every run would stop
        case ast.Assign() | ast.AugAssign() | ast.Expr():
            yield ast.Pass()


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    other = copy.copy(node)
    vars(other).update(fields)
    return other


def _describe(before: str, after: str) -> str:
    """Return "function: line before -> line after"."""
    old, new = before.splitlines(), after.splitlines()
    number = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    heads = [line.split()[1] for line in old[: number + 1] if line.split()[:1] in _HEADS]
    where = heads[-1].partition("(")[0].rstrip(":") if heads else "module"
    return f"{where}: {old[number].strip()} -> {new[number].strip()}"
