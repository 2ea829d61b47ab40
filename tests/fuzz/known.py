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
            and re.search(r"\.(topk|sort)\(", difference.line) is not None
        ),
    ),
    "reads what it writes": (
        "Where the elements of overlapping tensors do not lie side by side, PyTorch lets a change "
        "in place through, and reads what it has just written; the kit reads everything first.",
        lambda difference, lines: difference.kind == "value" and _reads_what_it_writes(lines),
    ),
    "rules as graphs": (
        "Under create_graph PyTorch records the functions of its C++ rules, the kit the ops of its "
        "own rules, which learners can read: the names of these nodes differ.",
        lambda difference, lines: (
            difference.kind in ("grad_fn", "graph", "base")
            and any("create_graph=True" in line for line in lines)
        ),
    ),
    "version of a gradient": (
        "Where PyTorch's engine adds up a gradient in place, its version says how often.",
        lambda difference, lines: (
            difference.kind == "version" and any("autograd.grad(" in line for line in lines)
        ),
    ),
    "gradient given to backward": (
        "x.backward(g) may make g itself the .grad of a leaf in PyTorch; the kit copies g, so that "
        "later changes of one do not change the other.",
        lambda difference, lines: (
            difference.kind in ("value", "gradient", "requires_grad", "is_leaf")
            and any(
                re.search(r"\.backward\([a-z]|autograd\.grad\(\w+, \w+, \w", line) for line in lines
            )
            and any(re.search(r"_\(|\+=|-=|\*=|/=|\] =|hook|grad\(", line) for line in lines)
        ),
    ),
    "inference tensor that requires grad": (
        "PyTorch shows requires_grad=True on a tensor made under inference_mode, but never records "
        "it; in the kit what requires grad is recorded.",
        lambda difference, lines: any(
            "inference_mode" in line and "requires_grad=True" in line for line in lines
        ),
    ),
}
# Not differences that are found, but taken out of the comparison in running.py:
NOT_COMPARED = {
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
