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
    MOST_REMEMBERED,
    Answer,
    call_of,
    check_inputs,
    is_right,
    remembered,
    right_answers,
    run_trusted,
)
from autodiff_kit.grading.calls import Call, Limits, Reply, Work
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.child import kind_of
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.reach import reach

__all__ = ["BUDGET", "Trusted", "is_passed"]

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


def _bounded(code: str, calls: Sequence[Call], budget: int) -> list[Answer]:
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


# Which answers to a check are all right, of what it can reach of a code.
_passed: dict[tuple[Check, tuple[str, str], int, int, tuple[int, ...]], bool] = {}


def is_passed(
    exercise: Exercise,
    check: Check,
    code: str,
    seed: int,
    budget: int,
    numbers: Sequence[int] = (),
) -> bool:
    """Tell whether the code's answers to a check are right; those after a wrong one do not matter.

    The numbers are those of the cases, 0 is the example; all, if there are none.
    """
    numbers = tuple(numbers) or tuple(range(1 + check.cases))
    codes = exercise.solution, reach(code, check.driver)
    key = check, codes, check.first_seed(seed), budget, numbers
    if key not in _passed:
        if len(_passed) > MOST_REMEMBERED:
            _passed.clear()
        inputs, right = check_inputs(check, seed), right_answers(exercise, check, seed)

        def is_right_at(number: int) -> bool:
            (answer,) = _bounded(code, [call_of(check, inputs[number])], budget)
            return is_right(check, inputs[number], answer, right[number])

        _passed[key] = all(map(is_right_at, numbers))
    return _passed[key]
