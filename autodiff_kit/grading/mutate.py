"""Change a right solution in small ways, to find unforeseen wrong answers.

After reading this file you can list the changes that are tried: an operator swapped for its
partner, a comparison turned, ``+=`` made ``=``, a method call such as ``.sum(...)`` dropped, a
number moved by one, a condition negated, a statement left out. Read next: ``verify.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
_CHANGED = (
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.Constant,
    ast.If,
    ast.IfExp,
    ast.UnaryOp,
    ast.AugAssign,
    ast.Call,
)
_LEFT_OUT = (ast.Assign, ast.AugAssign, ast.Expr)
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
    tree = _parsed(code)
    code = ast.unparse(tree)
    seen = {code}
    for index, node in enumerate(ast.walk(_parsed(code))):
        for way, kinds in ((_change, _CHANGED), (_leave_out, _LEFT_OUT)):
            if not isinstance(node, kinds):
                continue
            changed = _parsed(code)
            if way(changed, list(ast.walk(changed))[index]):
                text = ast.unparse(ast.fix_missing_locations(changed))
                if text not in seen:
                    seen.add(text)
                    yield _describe(code, text), text


def _parsed(code: str) -> ast.Module:
    tree = ast.parse(code)
    for node in ast.walk(tree):  # `strict=True` in zip is a safeguard: no answer depends on it
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg != "strict"]
    return tree


def _change(tree: ast.Module, node: ast.AST) -> bool:
    """Change one node in place; answer whether there was something to change."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _PARTNERS:
        node.op = _PARTNERS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _PARTNERS:
        node.ops[0] = _PARTNERS[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        node.value = node.value + 1
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else node.op
        if isinstance(node.op, ast.Not):
            return _replace(tree, node, node.operand)
    elif isinstance(node, ast.AugAssign):
        return _replace(tree, node, ast.Assign([node.target], node.value))
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _DROPPED
    ):
        module = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
        return _replace(tree, node, node.args[0] if module and node.args else node.func.value)
    else:
        return False
    return True


def _leave_out(tree: ast.Module, node: ast.AST) -> bool:
    """Drop the first statement of a block, where something else is left or can stand for it."""
    if isinstance(node, _LEFT_OUT):
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return False  # a docstring
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            return False  # the name would be missing: every run would stop
        return _replace(tree, node, ast.Pass())
    return False


def _replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> bool:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and any(item is old for item in value):
                value[:] = [new if item is old else item for item in value]
                return True
    return False


def _describe(before: str, after: str) -> str:
    """Return "function: line before -> line after"."""
    old, new = before.splitlines(), after.splitlines()
    number = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    heads = [line.split()[1] for line in old[: number + 1] if line.split()[:1] in _HEADS]
    where = heads[-1].partition("(")[0].rstrip(":") if heads else "module"
    return f"{where}: {old[number].strip()} -> {new[number].strip()}"
