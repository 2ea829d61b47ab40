"""Where numbers were taken out of the graph, and how to stay inside of it.

After reading you know how ``x.detach()``, ``float(x)`` and ``torch.tensor(a)``, where ``a`` was
once ``x.numpy()``, are found in the learner's source. Read next: ``story_cuts.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from autodiff_kit.view.rules import parsed
from autodiff_kit.view.story_code import Where, span_of
from autodiff_kit.view.story_facts import Facts

__all__ = ["Exit", "find_exit", "find_taken", "how_made", "node_taken", "stay"]

Exit = tuple["Where | None", str, str]  # where, by what, out of what
AWAY = ("detach", "data", "item", "tolist", "numpy")  # give the numbers without the graph
NUMBERS = ("float", "int", "list")  # as do these functions
COPIES = ("tensor", "as_tensor", "asarray", "from_numpy", "Tensor", "FloatTensor")


def find_exit(facts: Facts, node: int) -> Exit | None:
    """Return where a leaf was taken out of the graph: the place, by what, and out of what."""
    record = facts.nodes[node]
    part = record.get("part", "")
    if record["kind"] != "leaf" or (part and not part.startswith("tensor made inside ")):
        return None
    written = how_made(facts, node)
    if written is not None and (tree := parsed(written[1])) is not None:
        if exit := find_taken(facts, tree):
            return written[0], *exit
        waiting = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
        names: set[str] = set()
        while waiting:  # `a = x.numpy()` or `a += x.item()`, and then `torch.tensor(a)`
            name = waiting.pop(0)
            is_new = name not in names
            assignment = facts.assigned(name, written[0], or_added=True) if is_new else None
            names.add(name)
            if assignment is None:
                continue
            if exit := find_taken(facts, assignment[1]):
                return span_of(assignment[0], assignment[1]), *exit
            waiting += [n.id for n in ast.walk(assignment[1]) if isinstance(n, ast.Name)]
    if record["where"] is not None:
        return None
    for user in facts.nodes:
        uses = any(i.get("node") == node for i in user["inputs"])
        use = parsed(user["text"]) if uses else None
        if use is not None and (exit := find_taken(facts, use)):
            return user["where"], *exit
    return None


def how_made(facts: Facts, node: int) -> tuple[Where, str] | None:
    """Return where and how a leaf is made: also one that PyTorch makes to copy it at once."""
    record = facts.nodes[node]
    if record["where"] is not None:
        return record["where"], record["text"]
    for user in facts.nodes:
        where = user["where"] if any(i.get("node") == node for i in user["inputs"]) else None
        copied = None if where is None else parsed(user["text"])
        if where is not None and copied is not None and _is_copy(copied):
            return where, user["text"]
        inside = [n for n in facts.inside(where) if _is_copy(n)]
        if where is not None and record["name"] is None and len(inside) == 1:
            return span_of(where[0], inside[0]), ast.unparse(inside[0])
    base = facts.base(record["name"] or "")
    assignment = facts.assigned(base) if base else None
    return None if assignment is None else (span_of(*assignment), ast.unparse(assignment[1]))


def find_taken(facts: Facts, expression: ast.expr) -> tuple[str, str] | None:
    """Return what takes numbers out of the graph in an expression, and out of what."""
    for node in ast.walk(expression):
        inner, how = _inside(node)
        if inner is None:
            continue
        while (deeper := _inside(inner))[0] is not None:  # x.detach().numpy()
            inner, how = deeper[0], f"{deeper[1]}{how}" if how[0] == "." else deeper[1]
        return how, ast.unparse(inner)
    if _is_copy(expression):
        for node in _terms(expression.args[0]):  # type: ignore[attr-defined]
            if facts.find(node) is not None or _holds_tensors(facts, node):
                return ast.unparse(expression.func), ast.unparse(node)  # type: ignore[attr-defined]
    return None


def node_taken(facts: Facts, exit: Exit) -> int | None:
    """Return the node of what was taken out of the graph."""
    tree = parsed(exit[2])
    return None if tree is None else facts.find(tree)


def stay(facts: Facts, node: int, exit: Exit) -> str:
    """Say how a leaf that was taken out of the graph is computed inside of it."""
    where, how, inner = exit
    written = how_made(facts, node) or (None, "")
    copied = parsed(written[1])
    if copied is None or not _is_copy(copied):
        if how[0] != ".":
            return f"stay in tensors: compute with `{inner}` itself"
        return f"leave out `{how}` where a gradient has to flow"
    if where != written[0]:
        return (
            f"stay in tensors: use `{inner}` itself instead of `{facts.text(where)}`, and what "
            f"comes of it instead of `{written[1]}`"
        )
    argument = _Stay().visit(deepcopy(copied.args[0]))  # type: ignore[attr-defined]
    if any(isinstance(n, ast.Name) and n.id in ("np", "numpy", "math") for n in ast.walk(argument)):
        return f"stay in tensors: compute with {facts.module}'s functions on `{inner}` itself"
    if isinstance(argument, ast.List | ast.Tuple):
        for i, one in enumerate(argument.elts):
            if isinstance(one, ast.Constant):
                argument.elts[i] = ast.Call(
                    ast.parse(f"{facts.module}.tensor", mode="eval").body, [one], []
                )
    text = ast.unparse(argument)
    is_list = isinstance(argument, ast.List | ast.Tuple | ast.ListComp)
    if is_list or _holds_tensors(facts, argument):
        text = f"{facts.module}.stack({text})"
    return f"stay in tensors: write `{text}` instead of `{written[1]}`"


class _Stay(ast.NodeTransformer):
    """Leaves out what takes numbers out of the graph."""

    def visit(self, node: ast.AST) -> Any:
        inner, _ = _inside(node)
        return self.visit(inner) if inner is not None else self.generic_visit(node)


def _inside(node: ast.AST) -> tuple[ast.expr | None, str]:
    """Return ``x`` for ``x.detach()``, ``x.data`` and ``float(x)``, and how it is taken out."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=how), args=[]) if how in AWAY:
            return inner, f".{how}()"
        case ast.Attribute(value=inner, attr="data"):
            return inner, ".data"
        case ast.Call(func=ast.Name(id=how), args=[inner]) if how in NUMBERS:
            return inner, f"{how}()"
    return None, ""


def _holds_tensors(facts: Facts, expression: ast.expr) -> bool:
    """Return whether an expression names a list to which tensors of the graph were appended."""
    if not isinstance(expression, ast.Name) or facts.find(expression) is not None:
        return False
    appended = facts.assigned(expression.id, or_added=True)
    return appended is not None and facts.find(appended[1]) is not None


def _is_copy(expression: ast.expr) -> bool:
    """Return whether a call copies numbers into a new leaf: ``torch.tensor(...)``."""
    func = expression.func if isinstance(expression, ast.Call) and expression.args else None
    return getattr(func, "attr", getattr(func, "id", "")) in COPIES


def _terms(expression: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression and the parts that it is computed or composed of."""
    yield expression
    if isinstance(expression, ast.List | ast.Tuple | ast.BinOp | ast.UnaryOp):
        for part in ast.iter_child_nodes(expression):
            if isinstance(part, ast.expr):
                yield from _terms(part)
    if isinstance(expression, ast.ListComp):
        yield from _terms(expression.elt)
