"""Run an exercise's own code in this process: for tests of its checks, and with a count of lines.

After reading this file you can say how a changed solution that runs for ever is stopped although
it runs here: by the number of lines it may run. Read next: ``verify.py``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from autodiff_kit.grading.answers import (
    Answer,
    remembered,
    run_trusted,
)
from autodiff_kit.grading.calls import Call, Limits, Reply, Work
from autodiff_kit.grading.child import kind_of
from autodiff_kit.grading.exercise import Exercise

__all__ = ["BUDGET", "Trusted", "bounded"]

BUDGET = 200_000  # lines that a changed solution may run before it counts as infinite


class Trusted:
    """A runner for code of the exercises themselves: this very process.

    Parameters
    ----------
    exercise : Exercise, optional
        Its examples are run once for each code, and its slow checks where they are new to a code.
    """

    level = "in process"

    def __init__(self, exercise: Exercise | None = None) -> None:
        checks = exercise.checks if exercise else ()
        self.examples = {id(check.example) for check in checks if not check.slow}
        self.slow = {check.driver for check in checks if check.slow}
        self.known: dict[tuple[str, str, int], Answer] = {}

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call; code that cannot be run at all raises."""
        code = Work.of(code).source
        keys = [(code, call.driver, id(call.data)) for call in calls]
        slow = [i for i, call in enumerate(calls) if call.driver in self.slow]
        others = [i for i in range(len(calls)) if i not in slow and keys[i] not in self.known]
        fresh = dict(zip(others, run_trusted(code, [calls[i] for i in others]), strict=True))
        fresh |= dict(zip(slow, remembered(code, [calls[i] for i in slow]), strict=True))
        self.known |= {keys[i]: a for i, a in fresh.items() if id(calls[i].data) in self.examples}
        answers = [fresh[i] if i in fresh else self.known[key] for i, key in enumerate(keys)]
        return [Reply(a.status, a.value, a.error, kind=a.kind) for a in answers]


class _Endless(BaseException):
    """Too many lines were run. Not an Exception: what is run may catch those."""


def _uncounted(call: Call) -> Callable[[Any, Any], Any] | None:
    """Return what answers a driver's questions, so that its lines are not counted."""
    if (reply := call.reply) is None:
        return None

    def answer(data: Any, question: Any) -> Any:
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            return reply(data, question)
        finally:
            sys.settrace(trace)

    return answer


def bounded(code: str, calls: Sequence[Call], budget: int) -> list[Answer]:
    """Run code that may not end: each call may run so many lines and no more."""
    left = budget

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Endless
        return trace

    answers = []
    before = sys.gettrace()
    for call in calls:
        left = budget
        try:
            sys.settrace(trace)
            answers += run_trusted(code, [dataclasses.replace(call, reply=_uncounted(call))])
        except _Endless:
            return answers + [Answer("timeout")] * (len(calls) - len(answers))
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}"
            answers.append(Answer("raised", error=text, kind=kind_of(problem)))
        finally:
            sys.settrace(before)
    return answers
