"""What earns nothing: no code, the notebook as it was, constants, guesses and copied inputs.

After reading this file you know which answers without work every check of an exercise must refuse,
under how many seeds, and why most of them cost one look at the check's example. Read next:
``feedback.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autodiff_kit.grading.answers import Answer, is_right, right_answer, right_answers
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.trusted import is_passed

__all__ = ["points_for_no_work"]

LITTLE = 20_000  # lines that a function which computes nothing may make others run

# What functions return that compute nothing.
_NOTHING = (
    *("None", "0", "1", "0.0", "1.0", "True", "False", "''", "[]", "{}", "np.bool_(True)"),
    *("args[0]", "args[-1]", "list(args)", "tuple(args)"),
    *("np.zeros(np.shape(args[0]))", "np.ones(np.shape(args[0]))"),
    *("np.zeros(np.shape(args[-1]))", "np.ones(np.shape(args[-1]))"),
    "tuple(np.zeros(np.shape(a)) for a in args[1:])",
    "tuple(np.ones(np.shape(a)) for a in args[1:])",
)


class _Cases:
    """A check's random cases, and the right answers to them; each is made when it is asked for.

    Where the first guess is wrong, as most are, the other cases need not be drawn.
    """

    def __init__(self, exercise: Exercise, check: Check, seed: int) -> None:
        self.exercise, self.check = exercise, check
        self.draws = check.draws(seed)
        self.cases: list[tuple[Any, Answer]] = []

    def right(self, number: int) -> Answer:
        """Return the right answer to a case."""
        while len(self.cases) <= number:
            data = next(self.draws)
            self.cases.append((data, right_answer(self.exercise, self.check, data)))
        return self.cases[number][1]

    def are_passed_by(self, guess: Callable[[int], Answer]) -> bool:
        """Tell whether a guess for each case, by its number, is right."""
        for number in range(self.check.cases):
            expected = self.right(number)
            if not is_right(self.check, self.cases[number][0], guess(number), expected):
                return False
        return True


def points_for_no_work(exercise: Exercise, handed_out: str, seeds: int) -> Iterator[str]:
    """Yield a sentence for each check that gives points for no work.

    That is: nothing defined, the notebook as it was handed out, functions that compute nothing,
    and answers that are constants or guesses. A check gives no points if its example is wrong,
    which is the same under all seeds: only what gets that right has to be tried under many.

    Parameters
    ----------
    exercise : Exercise
    handed_out : str
        The code of the cells that learners fill in, as they get them.
    seeds : int
        How many seeds to try; a slow check is tried under each twentieth.
    """
    yield from _for_guesses(exercise, seeds)
    names = [name for step in exercise.steps for name in step.names]
    untouched = {"nothing at all": "", "the notebook as it was handed out": handed_out}
    for what, code in untouched.items():
        code = f"{exercise.given}\n\n{code}"
        yield from _for_code(exercise, exercise.checks, what, code, seeds)
    for value in _NOTHING:
        codes = {name: _empty(name, value, exercise.solution) for name in dict.fromkeys(names)}
        every = "\n\n".join([exercise.given, *codes.values()])
        whole = f"{exercise.given}\n\n{exercise.solution}"
        what = f"functions that return {value}"
        yield from _for_code(exercise, exercise.checks, what, every, seeds)
        # An engine of which one part does nothing is work all the same.
        for step in exercise.steps[1:] if exercise.whole_engine else exercise.steps:
            checks = [check for check in exercise.checks if check.step == step.id]
            for name in step.names:
                code, what = f"{whole}\n\n{codes[name]}", f"a {name} that returns {value}"
                yield from _for_code(exercise, checks, what, code, seeds)


def _for_guesses(exercise: Exercise, seeds: int) -> Iterator[str]:
    """Yield a sentence for each check that answers to other inputs pass."""
    for check in exercise.checks:
        example = right_answers(exercise, check, 0)[0]
        # Slow checks share what neighbours draw.
        draws = range(0, seeds, 20) if check.slow else range(seeds)
        lucky: dict[str, list[int]] = {
            "the answer to its example": [],
            "answers to other inputs": [],
        }
        same_again = ([example] * check.cases).__getitem__
        others: Callable[[int], Answer] = same_again
        for seed in draws:
            cases = _Cases(exercise, check, seed)
            for hits, guess in zip(lucky.values(), (same_again, others), strict=True):
                if cases.are_passed_by(guess):
                    hits.append(seed)
            others = cases.right
        for what, hits in lucky.items():
            if hits:
                yield (
                    f"check {check.name} gives points under {len(hits)} of {len(draws)} seeds "
                    f"for {what}, first under {hits[0]}"
                )


def _empty(name: str, value: str, solution: str) -> str:
    """Return a function or class of this name that does no work."""
    if not re.search(rf"(?m)^class {name}\b", solution):
        return f"def {name}(*args, **named):\n    return {value}\n"
    if re.search(rf"(?m)^class {name}\(\w*(Error|Exception)\)", solution):
        return f"class {name}(Exception):\n    pass\n"
    return (
        f"class {name}:\n    def __init__(self, *args, **named):\n        self.args = args\n"
        f"    def __getattr__(self, name):\n        args = self.args\n        return {value}\n"
        "    def __enter__(self):\n        return self\n"
        "    def __exit__(self, *error):\n        return None\n"
        f"    def __call__(self, *args, **named):\n        return {value}\n"
    )


def _for_code(
    exercise: Exercise, checks: Iterable[Check], what: str, code: str, seeds: int
) -> Iterator[str]:
    """Yield a sentence for each of these checks that the code passes under some seed."""
    for check in checks:
        if not is_passed(exercise, check, code, 0, LITTLE, range(1)):
            continue
        random = range(1, 1 + check.cases)
        for seed in range(0, seeds, 20 if check.slow else 1):
            if is_passed(exercise, check, code, seed, LITTLE, random):
                yield f"check {check.name} gives points for {what}, first under seed {seed}"
                break
