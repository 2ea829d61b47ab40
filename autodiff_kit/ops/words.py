"""An op's rules as text: for pictures and formulas, never needed to compute.

Read next: ``table.py``.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache

from autodiff_kit.core.op import Rule

__all__ = ["expression_of", "source_of"]


@cache
def source_of(rule: Rule) -> str:
    """Return the lines of a rule, as they stand in the file."""
    if rule.function.__name__ != "<lambda>":
        return textwrap.dedent(inspect.getsource(rule.function))
    text = "".join(inspect.findsource(rule.function)[0])
    return f"@{ast.get_source_segment(text, _syntax_of(rule)[0])}"


def _syntax_of(rule: Rule) -> tuple[ast.Call, ast.Lambda]:
    """Return the call that a short rule stands in, and the rule."""
    text = "".join(inspect.findsource(rule.function)[0])
    line = rule.function.__code__.co_firstlineno
    return next(pair for pair in _short_rules(text) if pair[1].lineno == line)


@cache
def _short_rules(text: str) -> list[tuple[ast.Call, ast.Lambda]]:
    """Return ``vjp(wrt, lambda ...)``, and the lambda, wherever it stands in a text."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    # Those of ``second.py`` stand behind the names of what they are for.
    rules = ((c, a) for c in calls for a in (*c.args[1:2], *(k.value for k in c.keywords)))
    return [(c, a) for c, a in rules if isinstance(a, ast.Lambda)]


def expression_of(rule: Rule) -> str:
    """Return the expression that a rule returns, for example ``g * y``."""
    source = source_of(rule)
    if rule.function.__name__ == "<lambda>":
        return ast.unparse(_syntax_of(rule)[1].body)
    statement = ast.parse(source).body[0].body[-1]  # type: ignore[attr-defined]
    return ast.unparse(statement.value)
