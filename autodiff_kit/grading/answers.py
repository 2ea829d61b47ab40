"""Ask the exercise's own code - the solution, or a known mistake - what it answers.

After reading this file you can say which inputs a seed gives, where the right answers to them come
from, and what is kept so that a class does not wait for the same answers again and again. Read
next: ``diagnosis.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_kit.grading import seal
from autodiff_kit.grading.calls import Call
from autodiff_kit.grading.checks import Check, alike
from autodiff_kit.grading.child import kind_of, value_of
from autodiff_kit.grading.exercise import Exercise, Variant
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.namespace import Missing, Namespace
from autodiff_kit.grading.reach import compiled, reach
from autodiff_kit.grading.wire import WireError, decode, encode

__all__ = [
    "Answer",
    "all_alike",
    "answers_of",
    "ask",
    "call_of",
    "check_inputs",
    "example_of",
    "inputs_of",
    "is_right",
    "questions",
    "remembered",
    "right_answer",
    "right_answers",
    "right_by_check",
    "run_trusted",
]

_SOLUTION = Variant("solution", "", "")


@dataclass(frozen=True)
class Answer:
    """What came of one call: a value, or the class of the error that came instead."""

    status: str
    value: Any = None
    error: str = ""
    kind: str = ""
    place: str = ""
    loading: bool = False
    absent: str = ""
    is_deeper: bool = False
    """Whether the error came from another function than the one that was called."""

    def is_like(self, other: Answer) -> bool:
        """Tell whether both are the same answer."""
        if self.status != other.status or self.loading:
            return False
        return alike(self.value, other.value) if self.status == "ok" else self.kind == other.kind


def run_trusted(code: str, calls: Iterable[Call]) -> list[Answer]:
    """Run code of the exercise itself (solution, mutant, alternative) in this process.

    Parameters
    ----------
    code : str
    calls : iterable of Call

    Returns
    -------
    list of Answer - as a process of its own would give them.
    """
    space = Namespace("trusted")
    with np.errstate(all="ignore"):  # a mutant may well divide by 0: no reason to warn
        for part in compiled(code):
            exec(part, space.__dict__)
        return ask(space, calls)


_remembered: dict[tuple[str, str, int], tuple[Any, Answer]] = {}
MOST_REMEMBERED = 4096


def remembered(code: str, calls: Sequence[Call]) -> list[Answer]:
    """Run code of the exercise itself as `run_trusted` does, but ask no question twice.

    Codes that differ only where a question cannot reach share the answer.

    Parameters
    ----------
    code : str
    calls : sequence of Call

    Returns
    -------
    list of Answer
    """
    keys = [(reach(code, call.driver), call.driver, id(call.data)) for call in calls]
    known = {key: _remembered.pop(key) for key in keys if key in _remembered}
    new = [i for i, key in enumerate(keys) if key not in known]
    fresh = run_trusted(code, [calls[i] for i in new]) if new else []
    # As long as an input is here, no other one has its identity.
    known |= {keys[i]: (calls[i].data, answer) for i, answer in zip(new, fresh, strict=True)}
    _remembered.update(known)  # behind those that were not asked for
    while len(_remembered) > MOST_REMEMBERED:
        del _remembered[next(iter(_remembered))]
    return [known[key][1] for key in keys]


def ask(space: Namespace, calls: Iterable[Call]) -> list[Answer]:
    """Put calls to names that are defined in this process already.

    Parameters
    ----------
    space : Namespace
    calls : iterable of Call

    Returns
    -------
    list of Answer
    """
    answers = []
    for call in calls:
        try:
            # As through a pipe: what runs there cannot change our data, nor answer with anything.
            drive = _driver(call.driver)
            drive.__globals__["ask"] = _asked(call)
            answers.append(Answer("ok", _piped(drive(space, _copied(call.sent)))))
        except Missing as problem:
            answers.append(Answer("missing", error=str(problem)))
        except WireError as problem:
            answers.append(Answer("refused", error=str(problem)))
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}"
            answers.append(Answer("raised", error=text, kind=kind_of(problem)))
    return answers


_digests: dict[int, tuple[Any, bytes]] = {}
MOST_DIGESTS = 256
MOST_BYTES = 2**16


def _digest(part: Any) -> bytes:
    """Return the same for equal data; of what was asked for just before, without a look at it."""
    known = _digests.get(id(part))
    if known:
        return known[1]
    data = encode(part)
    digest = hashlib.sha256(data).digest()
    if len(data) <= MOST_BYTES:  # as long as a part is here, no other one has its identity
        if len(_digests) >= MOST_DIGESTS:
            _digests.clear()
        _digests[id(part)] = part, digest
    return digest


_verdicts: dict[tuple[Check, bytes, bytes, bytes], bool] = {}


def is_right(check: Check, data: Any, answer: Answer, expected: Answer) -> bool:
    """Tell whether an answer to one input is right; of a slow check, each answer is judged once."""
    if answer.status != "ok":
        return False
    if not check.slow:
        return _compared(check, data, answer, expected)
    try:
        key = check, _digest(data), _digest(answer.value), _digest(expected.value)
    except WireError:  # the right answer, as an exercise computes it, need not be plain data
        return _compared(check, data, answer, expected)
    if key not in _verdicts:
        if len(_verdicts) > MOST_REMEMBERED:
            _verdicts.clear()
        _verdicts[key] = _compared(check, data, answer, expected)
    return _verdicts[key]


def _compared(check: Check, data: Any, answer: Answer, expected: Answer) -> bool:
    try:
        with np.errstate(all="ignore"):
            return check.compare(data, answer.value, expected.value) is True
    except Exception:  # `compare` was written for answers of the right kind; this is none
        return False


def inputs_of(exercise: Exercise, seed: int) -> dict[str, list[Any]]:
    """Return each check's inputs for a seed."""
    return {c.name: check_inputs(c, seed) for c in exercise.checks}


def check_inputs(check: Check, seed: int) -> list[Any]:
    """Return the example and the random cases of a seed; drawn once."""
    seed = check.first_seed(seed)
    return _large_inputs(check, seed) if check.slow else _small_inputs(check, seed)


@lru_cache(maxsize=2048)
def _small_inputs(check: Check, seed: int) -> list[Any]:
    return check.inputs(seed)


@lru_cache(maxsize=32)
def _large_inputs(check: Check, seed: int) -> list[Any]:
    return check.inputs(seed)


def questions(exercise: Exercise, seed: int) -> list[Call]:
    """Return all questions: first the examples, and then all that learners may not see."""
    inputs = inputs_of(exercise, seed)
    examples = [call_of(c, inputs[c.name][0], is_example=True) for c in exercise.checks]
    return examples + [call_of(c, x) for c in exercise.checks for x in inputs[c.name][1:]]


def call_of(check: Check, data: Any, is_example: bool = False) -> Call:
    """Return the question that a check puts to the learner's code with one input."""
    return Call(check.driver, data, is_example, check.public, check.reply)


@lru_cache(maxsize=16)
def right_by_check(exercise: Exercise, seed: int) -> dict[str, list[Answer]]:
    """Return the right answers: what the check expects, else what the solution answers."""
    return {check.name: right_answers(exercise, check, seed) for check in exercise.checks}


def right_answer(exercise: Exercise, check: Check, data: Any) -> Answer:
    """Return the right answer to one input, which is kept nowhere."""
    if check.expected is not None:
        return Answer("ok", check.expected(data))
    (answer,) = run_trusted(f"{exercise.given}\n\n{exercise.solution}", [call_of(check, data)])
    return answer


def right_answers(exercise: Exercise, check: Check, seed: int) -> list[Answer]:
    """Return the right answers to one check's example and random cases."""
    if check.expected is None:
        return answers_of(exercise, _SOLUTION, check, seed)
    return _expected(check, check.first_seed(seed))


@lru_cache(maxsize=2048)
def _expected(check: Check, seed: int) -> list[Answer]:
    assert check.expected is not None
    return [Answer("ok", check.expected(data)) for data in check_inputs(check, seed)]


def answers_of(exercise: Exercise, variant: Variant, check: Check, seed: int) -> list[Answer]:
    """Return what a variant of the solution answers to one check."""
    code = f"{exercise.given}\n\n{exercise.solution}\n\n{variant.code}"
    return _answers(code, check, check.first_seed(seed))


@lru_cache(maxsize=4096)
def example_of(exercise: Exercise, variant: Variant, check: Check) -> Answer:
    """Return what a variant of the solution answers to the example of one check."""
    code = f"{exercise.given}\n\n{exercise.solution}\n\n{variant.code}"
    (answer,) = remembered(code, [call_of(check, check.example)])
    return answer


@lru_cache(maxsize=2048)
def _answers(code: str, check: Check, seed: int) -> list[Answer]:
    return remembered(code, [call_of(check, data) for data in check_inputs(check, seed)])


def all_alike(some: list[Answer], others: list[Answer]) -> bool:
    """Return whether two codes answer the same to a check's inputs."""
    return all(a.is_like(b) for a, b in zip(some, others, strict=True))


_WHOLE = frozenset({bool, int, float, str, bytes, type(None)})


def _copied(data: Any) -> Any:
    """Return a copy of plain data in which nothing is shared, as after its way through a pipe."""
    kind = type(data)
    if kind is list or kind is tuple:
        return kind([x if type(x) in _WHOLE else _copied(x) for x in data])
    if kind is dict:
        return {key: x if type(x) in _WHOLE else _copied(x) for key, x in data.items()}
    return data.copy() if isinstance(data, np.ndarray) else data


def _asked(call: Call) -> Callable[[Any], Any]:
    """Return what a driver asks the grader with, where both are in one process."""
    return lambda question: value_of(call.answer_to(_copied(question)))


def _piped(value: Any) -> Any:
    data = encode(value)
    return decode(data, len(data))


@lru_cache(maxsize=256)
def _driver(source: str) -> Callable[[Any, Any], Any]:
    beside: Space = {"__name__": "driver", "np": np}
    # As beside a learner's code: the names of functions stand in the words of errors.
    exec(seal.anonymous(compile(source, seal.DRIVER, "exec")), beside)
    drive: Callable[[Any, Any], Any] = beside["drive"]
    return drive
