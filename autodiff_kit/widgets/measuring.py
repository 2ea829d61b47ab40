"""What labs measure: the time a call takes, the bytes that nodes save, and when not to measure.

After reading you know why times are medians, taken in turn: the quickest of many calls is a matter
of luck on a busy machine, and what runs second finds it in another state. Read next: ``lab.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from inspect import unwrap
from statistics import median
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np

from autodiff_kit.core.observer import installed
from autodiff_kit.record.memory import Memory
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.widgets.distrust import names_in, reachable_functions
from autodiff_kit.widgets.running import FullSpeed, fresh_grads, run

__all__ = [
    "MOST",
    "compared",
    "kept_bytes",
    "micro",
    "most_kept",
    "prints",
    "seconds_of",
    "seconds_or_why",
]

ENOUGH, FEWEST, MOST = 0.02, 7, 25  # seconds spent on measuring; timings at least, and at most
LARGE = 2**24  # bytes; twice as many are held back then
FINE = 1e-6  # seconds: a clock with finer steps needs no care; in a browser, they may be 1e-4
TICKS = 10  # of a coarser clock, that a timing takes at least
PRINTS = "prints at each of them"
EFFECTS = "changes something outside of itself at each of them"
FAILS = "fails or takes too long when it is called again and again"


def seconds_of(*calls: Callable[[], Any], of: Callable[..., Any] | None = None) -> list[float]:
    """Return how long each of these calls takes, unwatched: the median of 7 to 25, in turn.

    Each is called once before, and the leaves that get a gradient then have their own back after.
    They find memory at hand: how long the system takes to bring it depends on what ran before.
    Where the clock is too coarse for one call, as in a browser, several are timed together.

    Raises
    ------
    Refused
        If it does not come back in time.
    """

    def several() -> list[float]:
        times: list[list[float]] = [[] for _ in calls]
        # A C library that gives memory back to the system as soon as a call has ended, to ask for
        # it again in the next one, stops that once a large block was freed.
        np.empty(LARGE, np.uint8)
        with installed(None), fresh_grads() as grads:
            counts = [_count(call) for call in calls]
        before = [(leaf, leaf.grad) for leaf, _ in grads.pairs]
        with installed(None), FullSpeed(), ExitStack() as after:
            for leaf, grad in before:
                after.callback(setattr, leaf, "grad", grad)
                leaf.grad = None  # else the first backward pass adds to the learner's own array
            begin = start = perf_counter()
            while len(times[-1]) < FEWEST or (start - begin < ENOUGH and len(times[-1]) < MOST):
                for call, count, own in zip(calls, counts, times, strict=True):
                    for _ in range(count):
                        call()
                    end = perf_counter()
                    own.append((end - start) / count)
                    start = end
        return [median(own) for own in times]

    return list(run(several, of=of)[0])


def _count(call: Callable[[], Any]) -> int:
    """Return how many calls in a row take longer than the steps in which the clock goes on."""
    call()  # in any case: it shows which leaves get a gradient
    count, tick = 1, min(_tick() for _ in range(3))
    # Three times: once, others may have had the processor in the meantime.
    while tick >= FINE and any(_took(call, count) < TICKS * tick for _ in range(3)):
        count *= 4
    return count


def _took(call: Callable[[], Any], count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        call()
    return perf_counter() - start


def _tick() -> float:
    start = end = perf_counter()
    while end == start:
        end = perf_counter()
    return end - start


def seconds_or_why(
    *calls: Callable[[], Any], of: Sequence[Callable[..., Any]], has_effects: bool
) -> tuple[list[float], str]:
    """Return how long these calls take; or nothing, and in words why they are not timed.

    Parameters
    ----------
    of : sequence of callable
        The learner's functions that they call.
    has_effects : bool
        Whether one of those changes something outside of itself.
    """
    why = EFFECTS if has_effects else ""
    why = PRINTS if any(map(prints, of)) else why
    if not why:
        try:
            return seconds_of(*calls, of=of[0]), ""
        except Exception:
            why = FAILS
    return [], f"Not timed: that takes up to {MOST} more calls, and this function {why}."


def prints(function: Callable[..., Any]) -> bool:
    """Return whether a function, or one that it calls by its name, calls ``print``."""
    return any(
        "print" in names_in(called)
        for _, called in reachable_functions(unwrap(function))
        if isinstance(called, FunctionType) and not is_foreign(called.__code__.co_filename)
    )


def micro(seconds: float) -> str:
    """Return a time in words: ``"52.1 µs"``."""
    micro = seconds * 1e6
    return f"{micro:.3g} µs" if micro < 1000 else f"{micro / 1000:.3g} ms"


def compared(seconds: float, other: float) -> str:
    """Return how a time compares with another one: ``"1.2 times as fast"``.

    Examples
    --------
    >>> compared(0.2, 0.5), compared(500.0, 1.0), compared(1.01, 1.0)
    ('2.5 times as fast', '500 times as long', 'about as fast')
    """
    ratio, words = (other / seconds, "fast") if seconds <= other else (seconds / other, "long")
    if ratio < 1.05:
        return "about as fast"
    return f"{ratio:,.1f} times as {words}" if ratio < 9.95 else f"{ratio:,.0f} times as {words}"


def kept_bytes(memory: Memory, nodes: Collection[int]) -> int:
    """Return how many bytes these nodes save at the end of a watch; shared arrays count once.

    Parameters
    ----------
    nodes : collection of int
        Their numbers (``Node.number``).
    """
    ops = {memory.ops[number] for number in nodes if number in memory.ops}
    holds = (hold for hold in memory.holds if hold["until"] is None and hold["op"] in ops)
    return sum(memory.arrays[array]["bytes"] for array in {hold["array"] for hold in holds})


def most_kept(memory: Memory) -> int:
    """Return how many bytes nodes saved at the same time, at most; shared arrays count once."""
    changes = []
    for hold in memory.holds:
        changes.append((hold["since"], 1, hold["array"]))
        if hold["until"] is not None:
            changes.append((hold["until"], -1, hold["array"]))
    holders: Counter[int] = Counter()
    now = most = 0
    for _, change, array in sorted(changes):  # what ends at a step ends before another begins
        was, holders[array] = holders[array], holders[array] + change
        now += memory.arrays[array]["bytes"] * (bool(holders[array]) - bool(was))
        most = max(most, now)
    return most
