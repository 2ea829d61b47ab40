"""Find the mistake that a learner has made, by what their code answers.

After reading this file you can say how a wrong answer gets its message: every known wrong answer
(a *mutant*) is run on the same inputs, and a learner whose code answers as the mutant does has
made the mutant's mistake. Read next: ``marking.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.grading.answers import (
    Answer,
    all_alike,
    answers_of,
    example_of,
    is_right,
    right_by_check,
)
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.exercise import Exercise, Step, Variant
from autodiff_kit.grading.notebook import defined

__all__ = ["known_mistake", "shown_mistake"]

_VAGUE = ("AttributeError", "TypeError")


def known_mistake(
    exercise: Exercise,
    step: Step,
    checks: list[Check],
    first: Check,
    answers: dict[str, list[Answer]],
    seed: int,
    messages: set[str],
) -> str:
    """Return the id of the known mistake that answers as the learner does, or nothing.

    A mutant that agrees on the whole step says most, and most of all one that agrees elsewhere,
    too: it may be one of those named in earlier steps, which shows in this one. Else the learner
    may have made two mistakes: then one that agrees on the first failed check, and has as few other
    faults as possible.
    """
    right = right_by_check(exercise, seed)

    def agrees(mutant: Variant, check: Check) -> bool:
        return all_alike(answers[check.name], answers_of(exercise, mutant, check, seed))

    def is_of_this_step(mutant: Variant) -> bool:
        return bool(defined(mutant.code) & set(step.names))

    def is_wrong(mutant: Variant, check: Check) -> bool:
        return not all_alike(answers_of(exercise, mutant, check, seed), right[check.name])

    def agrees_on_example(mutant: Variant) -> bool:
        # The same for all learners, and so known already for most: the others are few.
        mine, theirs = answers[first.name][0], example_of(exercise, mutant, first)
        # Of errors that anything can lead to, only the words tell whether it is the same thing.
        return mine.is_like(theirs) and (mine.kind not in _VAGUE or mine.error == theirs.error)

    mutants = [m for m in exercise.mutants if is_of_this_step(m) or m.message in messages]
    mutants = [m for m in mutants if agrees_on_example(m)]
    mutants = [m for m in mutants if is_wrong(m, first) and agrees(m, first)]
    mutants = [
        m for m in mutants if is_of_this_step(m) or all(agrees(m, c) for c in exercise.checks)
    ]
    whole = [m for m in mutants if all(agrees(m, check) for check in checks)]
    if len(whole) > 1:
        # Few are asked about all checks, as that takes long.
        everywhere = {m: sum(agrees(m, check) for check in exercise.checks) for m in whole}
        whole.sort(key=lambda m: (-everywhere[m], not is_of_this_step(m), m.message))
    if whole:
        return whole[0].message
    # Who has made a mistake fails wherever it shows: a check passed here rules it out.
    passed = [check for check in checks if all_alike(answers[check.name], right[check.name])]
    half = [m for m in mutants if not any(is_wrong(m, check) for check in passed)]
    faults = [(sum(is_wrong(m, check) for check in checks), m.message) for m in half]
    return min(faults)[1] if faults else ""


def shown_mistake(
    check: Check, inputs: list[Any], answers: list[Answer], right: list[Answer]
) -> str:
    """Return the id of the mistake that a wrong value itself shows, or nothing."""
    for data, answer, expected in zip(inputs, answers, right, strict=True):
        wrong = answer.status == "ok" and not is_right(check, data, answer, expected)
        if wrong and check.diagnose:
            try:
                return check.diagnose(data, answer.value, expected.value)
            except Exception:  # it was written for values of the right kind; this is none
                return ""
    return ""
