"""Long expressions in little room: without their middle, without what calls are given.

After reading you can say why ``tanh(tanh(…))`` is the name of a deep expression. Read next:
``names.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autodiff_kit.view.rules import parsed

__all__ = ["in_outline", "in_short", "without_module"]

_MODULE = re.compile(r"(?<![\w.])(?:torch|ak|autodiff_kit)\.(?=\w+\()")
_BROKEN_END, _BROKEN_START = re.compile(r"(?<=\W)\w+$"), re.compile(r"^\w+(?=\W)")
_BROKEN_SIGN = re.compile(r"^[=*/<>]+ ")  # of `==`, `**` ...


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
    before = text[half - limit - 1]
    end = (
        (_BROKEN_START if before.isalnum() else _BROKEN_SIGN).sub("", end) if before != " " else end
    )
    closers, end = _balanced(text, len(start), len(text) - len(end))
    if closers:
        end = f"{closers}{'…' * end[:1].isalnum()}{end}"
    short = f"{start.rstrip()}…{end if closers else end.lstrip(' .')}"
    short = short.replace("…(…)", "…")
    return short.replace("……", "…").replace(".….", "….")


def _balanced(text: str, stop: int, go_on: int) -> tuple[str, str]:
    """Return what closes the parentheses that are open where a part is left out, and the end.

    Of the end, those that close what is left out are left out as well.
    """
    partner: dict[int, int] = {}
    unclosed: list[int] = []
    for at, character in enumerate(text):
        if character in "([{":
            unclosed.append(at)
        elif character in ")]}" and unclosed:
            partner[at] = unclosed.pop()
            partner[partner[at]] = at
    left_out = range(stop, go_on)
    closers = [text[partner[at]] for at in range(stop) if partner.get(at, -1) in left_out]
    end = (text[at] for at in range(go_on, len(text)) if partner.get(at, -1) not in left_out)
    return "".join(reversed(closers)), "".join(end)


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
        code = text.encode()  # columns count bytes
        for start, end in reversed([*_arguments(tree)]):
            start = code.index(b"(", start)
            code = code[:start] + "(…)".encode() + code[end:]
        text = code.decode()
    return in_short(text, limit)


def _arguments(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield where the function of each outermost call ends, and where the call does."""
    for node in ast.iter_child_nodes(tree) if not isinstance(tree, ast.Call) else (tree,):
        if not isinstance(node, ast.Call):
            yield from _arguments(node)
            continue
        yield from _arguments(node.func)
        if node.args or node.keywords:
            yield int(node.func.end_col_offset or 0), int(node.end_col_offset or 0)


def without_module(text: str) -> str:
    """Return ``rand(3)`` for ``torch.rand(3)``."""
    return _MODULE.sub("", text)
