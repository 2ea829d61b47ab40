"""What differs from PyTorch on purpose: the one list, with the reason for each.

A predicate is as narrow as can be: it sees the difference and the lines of the program.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.running import Difference, names_in, torch

__all__ = ["REASONS", "reason_for"]

Predicate = Callable[[Difference, list[str]], bool]

_CHANGE = re.compile(
    r"(?:\w+ = |with .*:\n    )?(\w\S*?)(?:\.\w+_\(| [-+*/%]+= |(?<=\]) = )(\w.*?)(?:, \w+=.*)?\)?"
)


def _reads_what_it_writes(lines: list[str]) -> bool:
    """Return whether a line changes a tensor by another one that overlaps with it in part."""
    names = names_in(torch)
    for line in lines:
        operands = _CHANGE.fullmatch(line)
        with contextlib.suppress(Exception):
            if operands is not None and _overlap(*operands.groups(), names):
                return True
        with contextlib.suppress(Exception):
            exec(line, names)
    return False


def _overlap(written: str, read: str, names: dict[str, Any]) -> bool:
    whole, x, y = (eval(text, names).detach() for text in (written.split("[")[0], written, read))
    if not np.shares_memory(whole.numpy(), x.numpy()):
        x = whole  # elements by their indices
    same = x.data_ptr() == y.data_ptr() and x.stride() == y.stride() and x.shape == y.shape
    return not same and np.shares_memory(x.numpy(), y.numpy())


def _runs(line: str, later: str) -> bool:
    """Return whether a line is this one, or makes a Function that this one applies."""
    name = re.match(r"class (\w+)", line)
    return line == later if name is None else f"{name[1]}.apply(" in later


_KNOWN: dict[str, tuple[str, Predicate]] = {
    "refused line": (
        "PyTorch refuses some changes in place after it has written; the kit writes nothing then.",
        lambda difference, lines: difference.kind == "refused line",
    ),
    "tie in topk or sort": (
        "Which of equal elements topk takes, and in which order a sort that is not stable leaves "
        "them, PyTorch leaves to its C++ library and the processor; here the first comes first.",
        lambda difference, lines: (
            difference.kind == "value"
            and "." not in difference.torch + difference.kit  # places, not what stands there
            and any(
                re.search(r"\.(topk|sort)\(", line) and _runs(line, difference.line)
                for line in lines
            )
        ),
    ),
    "reads what it writes": (
        "Where the elements of overlapping tensors do not lie side by side, PyTorch lets a change "
        "in place through, and reads what it has just written; the kit reads everything first.",
        lambda difference, lines: difference.kind == "value" and _reads_what_it_writes(lines),
    ),
    "memory of a gradient": (
        "Where a gradient is a view, of what was given to backward() or of another gradient, "
        "PyTorch keeps that view as .grad: a change of one changes the other. The kit copies.",
        lambda difference, lines: (
            difference.kind in ("value", "gradient", "requires_grad", "is_leaf", "refused", "base")
            and difference.about == "shared in PyTorch alone"
        ),
    ),
    "hook on a rule's node": (
        "Under create_graph the nodes of PyTorch's C++ rules have other inputs than the kit's.",
        lambda difference, lines: (
            difference.about == "a rule's node"
            and difference.kind in ("accepted", "refused", "class", "message")
            and "next_functions" in difference.line
        ),
    ),
    "inference tensor that requires grad": (
        "Of such a tensor, PyTorch records what its functions compute of it by way of others that "
        "they make, and refuses some; the kit records nothing where all inputs are such tensors.",
        lambda difference, lines: (
            difference.about == "odd inference tensor"
            and (
                (difference.kind in ("requires_grad", "is_leaf") and difference.kit != "")
                or "functions with out=... arguments" in difference.torch
            )
        ),
    ),
}
# Not differences that are found, but taken out of the comparison in running.py:
NOT_COMPARED = {
    "rules as graphs": "Under create_graph PyTorch records the functions of its C++ rules, the kit "
    "the ops of its own rules, which learners can read: nodes that a backward pass has made count "
    "as alike, and what lies behind them is not looked at.",
    "version of a gradient": "Where PyTorch's engine has added up a gradient in place, its version "
    "begins with how often.",
    "hook on a view that lags behind": "PyTorch 2.13.0 crashes when a hook is registered on a view "
    "whose base was changed in place, unless its grad_fn was read since; so that is read first.",
    "idle steps": "The stride of a dimension of one element, or of a tensor without elements, "
    "leads nowhere; NumPy chooses it freely.",
}

REASONS = {name: reason for name, (reason, _) in _KNOWN.items()} | NOT_COMPARED


def reason_for(difference: Difference, lines: list[str]) -> str | None:
    """Return the name of the entry that a difference falls under; None: it is a fault."""
    for name, (_, fits) in _KNOWN.items():
        if fits(difference, lines):
            return name
    return None
