"""An op's rules as text: for pictures and formulas, never needed to compute.

Read next: ``table.py``.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autodiff_kit.ops.table import Rule

__all__ = ["expression_of", "source_of"]


@cache
def source_of(rule: Rule) -> str:
    """Return the lines of a rule, as they stand in the file."""
    if rule.function.__name__ != "<lambda>":
        return textwrap.dedent(inspect.getsource(rule.function))
    text = "".join(inspect.findsource(rule.function)[0])
    line = rule.function.__code__.co_firstlineno
    call = next(c for c in _calls(text) if any(_is_lambda(a) and a.lineno == line for a in c.args))
    return f"@{ast.get_source_segment(text, call)}"


@cache
def _calls(text: str) -> list[ast.Call]:
    """Return all calls in the text of a file."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]


def _is_lambda(node: ast.expr) -> bool:
    return isinstance(node, ast.Lambda)


def expression_of(rule: Rule) -> str:
    """Return the expression that a rule returns, for example ``g * y``."""
    source = source_of(rule)
    if rule.function.__name__ == "<lambda>":
        (call,) = _calls(source[1:])[:1]
        return ast.unparse(call.args[1].body)
    returned = ast.parse(source).body[0].body[-1]  # type: ignore[attr-defined]
    return ast.unparse(returned.value)
