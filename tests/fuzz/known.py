"""What differs from PyTorch on purpose: the one list, with the reason for each.

A predicate is as narrow as can be: it sees the difference and the lines of the program.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.running import Difference

__all__ = ["REASONS", "reason_for"]

Predicate = Callable[[Difference, list[str]], bool]

_KNOWN: dict[str, tuple[str, Predicate]] = {}

REASONS = {name: reason for name, (reason, _) in _KNOWN.items()}


def reason_for(difference: Difference, lines: list[str]) -> str | None:
    """Return the name of the entry that a difference falls under; None: it is a fault."""
    for name, (_, fits) in _KNOWN.items():
        if fits(difference, lines):
            return name
    return None
