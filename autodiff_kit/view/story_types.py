"""Stories of what is no tensor: a number taken out of the graph, None, a method that is not called.

After reading you know how it is found out where a name got what it holds, if that is not what its
line needs. Read next: ``story_told.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autodiff_kit.view.rules import parsed
from autodiff_kit.view.story_code import Where, before_a_dot, span_of
from autodiff_kit.view.story_exits import find_taken
from autodiff_kit.view.story_facts import Chapter, Facts, Told

__all__ = ["no_pass", "no_tensor"]


def no_tensor(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell why a name holds a number, None or a method where a tensor is needed."""
    kind, where = match[1], facts.error["where"]
    match parsed(facts.text(where)):
        case (
            ast.Call(func=ast.Attribute(value=owner, attr=asked))
            | ast.Attribute(value=owner, attr=asked)
        ) if asked == match[2]:
            name = ast.unparse(owner)
        case _:
            return None
    if kind in ("method", "function", "builtin_function_or_method"):
        return _not_called(facts, name)
    assignment = facts.assigned(name, or_added=True)
    if assignment is None:
        return None
    source, value = assignment
    if kind == "NoneType":
        return _nothing(facts, name, span_of(source, value), value)
    if asked not in ("backward", "grad", "requires_grad", "grad_fn", "retain_grad", "item"):
        return None
    return _number(facts, name, kind, span_of(source, value), value)


def _number(facts: Facts, name: str, kind: str, place: Where, value: ast.expr) -> Told:
    """Tell of a number of Python's or NumPy's, which has no graph."""
    text = ast.unparse(value)
    if exit := find_taken(facts, value):
        how, inner = exit
        node = facts.find(ast.parse(inner, mode="eval").body)
        code = f"{before_a_dot(inner)}{how}" if how[0] == "." else f"{how[:-1]}{inner})"
        first = f"`{code}` gives the number without the graph: `{name}` is a {kind}."
        if facts.line(place).startswith(f"{name} +="):
            fix = (
                f"add the tensors, `{name} += {inner}`, not their numbers; print with `{how}` later"
            )
        elif text == code:
            fix = f"write `{name} = {inner}`, and `{name}{how}` only where you print it"
            if how[0] != ".":
                fix = f"write `{name} = {inner}`, and `{how[:-1]}{name})` only where you print it"
        else:
            fix = f"leave out `{how}`: `{name}` is to be computed from the tensor `{inner}`"
    else:
        node = None
        first = f"`{text}` is no tensor here: `{name}` is a {kind}."
        fix = f"compute `{name}` from tensors, with {facts.module}'s functions"
    last = f"`{facts.statement}` needs a tensor with a graph, and a {kind} has none."
    chapters = [Chapter(first, node, place), Chapter(last, None, facts.error["where"])]
    return f"`{name}` is a {kind}, and no tensor of a graph", chapters, fix


def _nothing(facts: Facts, name: str, place: Where, value: ast.expr) -> Told | None:
    """Tell what has returned None."""
    if not isinstance(value, ast.Call):
        return None
    text, called = ast.unparse(value), ast.unparse(value.func)
    first = f"`{text}` returns None: `{name}` holds nothing."
    fix = f"leave out what `{called}` does from this assignment: call it in a line of its own"
    for source, _ in facts.ran:
        for node in facts.walk(source):
            is_own = isinstance(node, ast.FunctionDef) and node.name == called.rpartition(".")[2]
            if is_own and not any(isinstance(n, ast.Return) and n.value for n in ast.walk(node)):
                first = f"`{called}` has no `return`: it returns None, and that is `{name}`."
                fix = f"end `{called}` with `return` and its result"
    if called.endswith(".backward"):
        fix = f"write `{text}` in a line of its own: the gradients are in `.grad` of the leaves"
    last = f"`{facts.statement}` needs a tensor, and `{name}` is None."
    chapters = [Chapter(first, None, place), Chapter(last, None, facts.error["where"])]
    return f"`{name}` is None", chapters, fix


def _not_called(facts: Facts, name: str) -> Told:
    """Tell that a method is named and not called."""
    where = facts.error["where"]
    words = f"`{name}` is a method: without `()` it is named, and not called."
    fix = f"write `{facts.text(where).replace(name, f'{name}()', 1)}`"
    return f"`{name}` is not called", [Chapter(words, None, where)], fix


def no_pass(facts: Facts, leaf: str | None) -> Told | None:
    """Tell that no backward pass has run, and where one is written that did not."""
    where = facts.error["where"]
    places = [place for place, is_called in _written(facts) if not is_called]
    later = [
        place
        for place, is_called in _written(facts)
        if is_called and where is not None and place[0] == where[0] and place[1] > where[1]
    ]
    leaves = [n["id"] for n in facts.nodes if n["kind"] == "leaf" and n["requires_grad"]]
    node = next((n for n in leaves if leaf in (None, facts.nodes[n]["name"])), None)
    is_over = any(event["kind"] == "backward" for event in facts.events)
    if node is None or is_over or (where is None and not places):
        return None
    name = facts.name(node)
    words = (
        f"`{name}` is a leaf that requires a gradient: `{name}.grad` is None until backward runs."
    )
    chapters = [Chapter(words, node, facts.nodes[node]["where"])]
    title = f"No backward pass has run: `{name}.grad` is None"
    results = [n for n in facts.nodes if n["recorded"] and n["kind"] == "op" and n["name"]]
    root = facts.base(str(results[-1]["name"])) if results else "loss"
    fix = f"call `{root}.backward()` before this line"
    if places:
        text = facts.text(places[-1])
        words = f"`{text}` names the method, and does not call it: no backward pass runs."
        chapters.append(Chapter(words, None, places[-1]))
        fix = f"write `{text}()`"
    elif later:
        text = facts.text(later[0])
        fix = f"call `{text}` before this line"
    if later and not places:
        words = f"`{facts.text(later[0])}` stands only here, after the line that needs it."
        chapters.append(Chapter(words, None, later[0]))
    if where is not None:
        words = f"`{facts.statement}` needs a gradient, and `{name}.grad` is None."
        chapters.append(Chapter(words, node, where))
    return title, chapters, fix


def _written(facts: Facts) -> Iterator[tuple[Where, bool]]:
    """Yield where ``y.backward`` is a statement, and whether it is called."""
    for source, function in facts.ran:
        for node in facts.walk(source):
            value = node.value if isinstance(node, ast.Expr) else None
            inner = value.func if isinstance(value, ast.Call) else value
            is_named = isinstance(inner, ast.Attribute) and inner.attr == "backward"
            if is_named and facts.function_at(source, node.lineno) is function:
                yield span_of(source, value), value is not inner
