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

from autodiff_kit.grading.answers import Answer, remembered, run_trusted
from autodiff_kit.grading.calls import Call, Limits, Reply, Work
from autodiff_kit.grading.child import kind_of

__all__ = ["BUDGET", "Trusted", "bounded"]

BUDGET = 200_000  # lines that a changed solution may run before it counts as infinite


class Trusted:
    """A runner for code of the exercises themselves: this very process."""

    level = "in process"

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call; code that cannot be run at all raises."""
        answers = remembered(Work.of(code).source, calls)
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
