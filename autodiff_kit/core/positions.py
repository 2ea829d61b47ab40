"""Rules by position: reading is by name, running by position.

After reading this file you know why a node has the slots ``out``, ``x``, ``y`` and ``rest``: all
rules are called alike, ``rule(g, out, x, y, rest)``, so that the engine need not know what they
read. Read next: ``node.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

__all__ = ["place_rule", "positional"]

Positional = Callable[[Any, Any, Any, Any, Any], Any]


def place_rule(op: Any, wrt: str) -> None:
    """Give ``op`` its rule for the input ``wrt`` in positional form: rule0, rule1, or of more."""
    _place(op, wrt, partial(_at_first, op, wrt))  # compiling all at import would cost a tenth of it


def _at_first(op: Any, wrt: str, *saved: Any) -> Any:
    rule = op.rules[wrt]
    _place(op, wrt, by_position := positional(op, rule.reads, rule.function))
    return by_position(*saved)


def positional(op: Any, reads: tuple[str, ...], rule: Callable[..., Any]) -> Positional:
    """Return a function of a cotangent and what it reads as it is called by position."""
    places = [_place_of(op, name) for name in reads]
    return _caller(", ".join(["g", *places]))(rule)


def _place(op: Any, wrt: str, by_position: Positional) -> None:
    index = op.inputs.index(wrt)
    if op.is_variadic:
        op.rules_of_more = _SameForEach(by_position)
    elif index < 2:
        setattr(op, f"rule{index}", by_position)
    else:
        op.rules_of_more[index - 2] = by_position


def _place_of(op: Any, name: str) -> str:
    if op.is_variadic and name == "index":
        return "rest[-1]"
    if name == "out":
        return "out"
    if name in op.inputs[:2] and not op.is_variadic:
        return "xy"[op.inputs.index(name)]
    return f"rest[{op.rest.index(name)}]"


@cache
def _caller(arguments: str) -> Callable[[Callable[..., Any]], Positional]:
    """Return what brings a rule into positional form.

    One lambda per pattern of arguments, as a namedtuple is made: written by hand it would be
    ``lambda rule: lambda g, out, x, y, rest: rule(g, y)``.
    """
    caller: Any = eval(f"lambda rule: lambda g, out, x, y, rest: rule({arguments})")
    return caller


class _SameForEach:
    """The rules of a variadic op: one function, told which input it is for."""

    def __init__(self, rule: Positional) -> None:
        self._rule = rule

    def __getitem__(self, index: int) -> Positional:
        return lambda g, out, x, y, rest: self._rule(g, out, x, y, (*rest, index))
