"""Say what a run of `grade` has found, so that a wrong one can be withdrawn.

After reading this file you can say why withdrawing removes nothing: a run is a list of the numbers
of hand-ins, and what only withdrawn runs have found does not count. Read next: ``store.py``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Run", "fallen", "numbers_in", "ranges_of"]


MOST = 10**6  # hand-ins of one run


@dataclass(frozen=True)
class Run:
    """One run of `grade`."""

    number: int
    place: str
    """What was graded: a folder or a file."""
    hand_ins: frozenset[int]
    """Numbers of the hand-ins that it found, new or not."""
    author: str
    at: float
    """Seconds since 1970."""
    withdrawn: str | None = None
    """Why it does not count, or None."""


def ranges_of(numbers: Iterable[int]) -> str:
    """Return numbers as a short text: ``"1-3 7"``."""
    parts = []
    for _, group in itertools.groupby(enumerate(sorted(set(numbers))), lambda p: p[1] - p[0]):
        members = [number for _, number in group]
        first, last = members[0], members[-1]
        parts.append(str(first) if first == last else f"{first}-{last}")
    return " ".join(parts)


def numbers_in(ranges: str) -> frozenset[int]:
    """Return the numbers of a text that `ranges_of` made; ValueError if it is none."""
    numbers: set[int] = set()
    for part in ranges.split():
        first, _, last = part.partition("-")
        span = range(int(first), int(last or first) + 1)
        if len(numbers) + len(span) > MOST:  # a damaged text fills no memory
            raise ValueError(f"a run of more than {MOST} hand-ins")
        numbers.update(span)
    return frozenset(numbers)


def fallen(runs: Iterable[Run]) -> frozenset[int]:
    """Return the numbers of the hand-ins that withdrawn runs alone have found."""
    standing, others = set[int](), set[int]()
    for run in runs:
        (standing if run.withdrawn is None else others).update(run.hand_ins)
    return frozenset(others - standing)
