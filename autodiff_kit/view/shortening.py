"""Long expressions in little room: without their middle, without what calls are given.

After reading you can say why ``tanh(tanh(…))`` is the name of a deep expression. Read next:
``names.py``.
"""

from __future__ import annotations

import ast
import re
from copy import deepcopy

from autodiff_kit.view.rules import parsed

__all__ = ["in_outline", "in_short", "without_module"]

_MODULE = re.compile(r"(?<![\w.])(?:torch|ak|autodiff_kit)\.(?=\w+\()")
_BROKEN_END, _BROKEN_START = re.compile(r"(?<=\W)\w+$"), re.compile(r"^\w+(?=\W)")


def in_short(text: str, limit: int) -> str:
    """Return a text without its middle, if it is too long.

    Examples
    --------
    >>> in_short("self.v * t - 4.9 * t ** 2", 20)
    'self.v * t…9 * t ** 2'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    start, end = text[:half], text[half - limit :]
    start = _BROKEN_END.sub("", start) if text[half].isalnum() else start
    end = _BROKEN_START.sub("", end) if text[half - limit - 1].isalnum() else end
    is_method = end.startswith(".")
    text = f"{start.rstrip()}…{end.lstrip(' .')}".replace("…(…)", "…").replace("…(…", "…")
    text = text.replace("……", "…").replace(".….", "….")
    return _balanced(text, "." if is_method else " ") if "(" in text else text


def _balanced(text: str, link: str) -> str:
    """Return a text whose parentheses go in pairs, although the other ones were cut out of it.

    Those that were closed in what is left out are closed after it, with a link to what follows.
    """
    unclosed: list[int] = []
    characters = list(text)
    for at, character in enumerate(text):
        if character == "(":
            unclosed.append(at)
        elif character == ")" and unclosed:
            unclosed.pop()
        elif character == ")":
            characters[at] = ""
    cut = text.rfind("…") + 1
    missing = ")" * sum(at < cut for at in unclosed)
    end = "".join(characters[cut:])
    if missing and end[:1].isalnum():
        missing += link
    return "".join(characters[:cut]) + missing + end


def in_outline(text: str, limit: int) -> str:
    """Return an expression without its module, and without the arguments of calls if it is long.

    Examples
    --------
    >>> in_outline("torch.rand(3, requires_grad=True) * 2", 20)
    'rand(…) * 2'
    """
    text = without_module(text)
    tree = parsed(text) if len(text) > limit else None
    if tree is not None:
        text = ast.unparse(_Outline().visit(deepcopy(tree)))
    return in_short(text, limit)


class _Outline(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        arguments: list[ast.expr] = [ast.Name("…")] if node.args or node.keywords else []
        return ast.Call(self.visit(node.func), arguments, [])


def without_module(text: str) -> str:
    """Return ``rand(3)`` for ``torch.rand(3)``."""
    return _MODULE.sub("", text)
