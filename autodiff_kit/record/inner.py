"""What a call makes on its way to a result, before and between the calls of the learner's code.

After reading this file you know why ``vmap(f)(w)`` is the name of its result only: what it takes
from ``w`` for each call of ``f``, and what ``jacrev(f)`` goes backward from, is inside of it. Read
next: ``names.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from autodiff_kit.record.events import ScopeRecord
from autodiff_kit.record.ledger import Events, Nodes

__all__ = ["function_of", "mark_inner"]

_LONG = 40  # characters


def mark_inner(nodes: Nodes, events: Events, scopes: Sequence[ScopeRecord]) -> list[int]:
    """Take the text of an expression from what is not its result yet; return those nodes.

    A function that is called there, or a backward pass that runs there, comes after them.
    """
    calls: dict[tuple[int, tuple[int | None, ...]], list[int]] = {}
    for scope in scopes:
        if scope["kind"] == "call" and scope["parent"] is not None and scope["where"]:
            calls.setdefault((scope["parent"], tuple(scope["where"])), []).append(scope["id"])
    around = {parent for parent, _ in calls}
    if not any(scope in around for scope in nodes.scopes()):
        return []
    places = [*nodes.places()]
    latest = dict.fromkeys(range(len(scopes)), -1)  # by scope, the last event that is in it
    at: dict[int, int] = {}  # by node
    pass_scope = 0
    for position, event in enumerate(events.notes()):
        kind = event["kind"] if type(event) is dict else ""
        if type(event) is int or kind in ("op", "leaf"):
            number = event if type(event) is int else event["node"]
            at[number] = position
            latest[places[number][0]] = position
        elif kind == "backward":
            pass_scope = event["scope"]
            latest[pass_scope] = position
        elif kind == "finish":
            latest[pass_scope] = position
    for scope in reversed(scopes):
        if scope["parent"] is not None:
            latest[scope["parent"]] = max(latest[scope["parent"]], latest[scope["id"]])
    inner: list[int] = []
    texts: dict[tuple[int, tuple[int | None, ...]], str] = {}
    for number, (scope_, where, text) in enumerate(places):
        place = scope_, tuple(where or ())
        text = texts[place] = text or texts.get(place, "")
        is_early = (at.get(number, -1) < latest[scope] for scope in calls.get(place, ()))
        if text and any(is_early):
            node = nodes[number]
            node["inside"], node["text"] = function_of(text) or text, ""
            inner.append(number)
    return inner


@lru_cache(maxsize=64)
def function_of(text: str) -> str:
    """Return what a call calls, in short; "" for what is no call.

    Examples
    --------
    >>> function_of("vmap(f)(w)"), function_of("vmap(grad(loss), in_dims=(None, 0, 0, 0))(w, x)")
    ('vmap(f)', 'vmap(...)')
    """
    with suppress(SyntaxError):
        match ast.parse(text.strip(), mode="eval").body:
            case ast.Call(func=ast.Call(func=inner) as function):
                called = ast.unparse(function)
                return called if len(called) <= _LONG else f"{ast.unparse(inner)}(...)"
            case ast.Call(func=function):
                return ast.unparse(function)
    return ""
