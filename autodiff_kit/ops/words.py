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
    return textwrap.dedent(inspect.getsource(rule.function))


def expression_of(rule: Rule) -> str:
    """Return the expression that a rule returns, for example ``g * y``."""
    returned = ast.parse(source_of(rule)).body[0].body[-1]  # type: ignore[attr-defined]
    return ast.unparse(returned.value)
