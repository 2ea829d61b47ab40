"""Turn what a learner's code answers into points and a message for each step.

After reading this file you can say which answers earn points, and in which order a wrong one is
explained: a cell that does not run, a known mistake, what the value itself shows, the check; and
why a mistake in one step costs nothing in those that call it. Read next: ``verify.py``, which tests
the checks.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from autodiff_kit.grading.absent import why_absent
from autodiff_kit.grading.answers import Answer, inputs_of, is_right, questions, right_by_check
from autodiff_kit.grading.calls import Limits, Runner, Work
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.diagnosis import known_mistake, shown_mistake
from autodiff_kit.grading.engine_parts import statements
from autodiff_kit.grading.exercise import Exercise, Step, with_checks
from autodiff_kit.grading.notebook import Unreadable, defined
from autodiff_kit.grading.wording import evidence, not_run

__all__ = [
    "DOES_NOT_RUN",
    "MISSING",
    "NOT_ATTEMPTED",
    "Result",
    "Row",
    "as_fault",
    "failed_checks",
    "grade_code",
    "listed",
]

NOT_ATTEMPTED = "not attempted"
MISSING = "missing"
DOES_NOT_RUN = "does_not_run"
# Errors of writing, not of understanding: what a check tests says nothing about them.
_SLIPS = ("ImportError", "ModuleNotFoundError", "NameError", "UnboundLocalError")
MOST_NAMES = 5
STUB = "NotImplementedError"


@dataclass(frozen=True)
class Row:
    """The result of one step.

    Attributes
    ----------
    exercise, step : str
    points, max : float
    status : str
        right, wrong, not attempted, error, timeout, memory, missing or fault.
    message : str
        Id of the message: a misconception's, or the name of the first check that failed.
    text : str
        What to say to the learner; never holds the right value of a random case.
    failed : tuple of str
        Names of the checks that failed.
    """

    exercise: str
    step: str
    points: float
    max: float
    status: str
    message: str
    text: str
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """All rows of one submission to one exercise.

    Attributes
    ----------
    rows : tuple of Row
    example : dict of str to Answer
        Name of each check -> what the learner's code answered to its example; for pictures.
    expected : dict of str to Answer
        Name of each check -> the right answer to its example, which learners may see.
    values : tuple
        All that the learner's code answered to any check.
    """

    exercise: str
    rows: tuple[Row, ...]
    example: dict[str, Answer]
    expected: dict[str, Answer]
    values: tuple[Any, ...] = ()

    @property
    def points(self) -> float:
        """Points reached."""
        return sum(row.points for row in self.rows)

    @property
    def max(self) -> float:
        """Points that could be reached."""
        return sum(row.max for row in self.rows)


def grade_code(
    exercise: Exercise,
    code: str | Work,
    runner: Runner,
    seed: int,
    limits: Limits | None = None,
) -> Result:
    """Run a learner's code on the inputs of a seed, and judge it.

    Parameters
    ----------
    exercise : Exercise
    code : str or Work
        The learner's source, or the file that was handed in; the teacher's code that the notebook
        brings along runs ahead of it.
    runner : Runner
    seed : int
        The same seed gives the same inputs.
    limits : Limits, optional
        Others than the exercise's own. They are for all runs that the answers take, together.

    Returns
    -------
    Result - also for code that cannot be run at all.

    Raises
    ------
    Unreadable
        If there is no code in the file.
    """
    limits = limits or exercise.limits
    begun = time.monotonic()
    answers_by_check = _answered(exercise, code, runner, seed, limits)
    rows: list[Row] = []
    for step in exercise.steps:
        row = _row(exercise, step, answers_by_check, seed, rows)
        names = _needed(exercise, step, {r.step for r in rows if r.points < r.max})
        if names and row.failed and row.status != "fault":
            again = with_checks(exercise, row.failed)
            left = limits.after(time.monotonic() - begun)
            answers = _answered(again, code, runner, seed, left, names)
            row = _spared(row, _failed(again, again.checks, answers, seed), exercise, names)
            if any(a.status == "fault" for cases in answers.values() for a in cases):
                row = as_fault(row)
        rows.append(row)
    if any(row.status == MISSING for row in rows):
        reasons = why_absent(exercise, Work.of(code), runner)
        rows = [
            _with_reason(row, step, reasons) for row, step in zip(rows, exercise.steps, strict=True)
        ]
    example = {name: cases[0] for name, cases in answers_by_check.items()}
    expected = {name: cases[0] for name, cases in right_by_check(exercise, seed).items()}
    values = (a.value for cases in answers_by_check.values() for a in cases if a.status == "ok")
    return Result(exercise.id, tuple(rows), example, expected, tuple(values))


def _with_reason(row: Row, step: Step, reasons: dict[str, str]) -> Row:
    if row.status != MISSING:
        return row
    why = " ".join(dict.fromkeys(reasons[name] for name in step.names))
    return replace(row, text=f"Not found: {listed(step.names)}. {why}")


def failed_checks(exercise: Exercise, code: str, runner: Runner, seed: int) -> list[Check]:
    """Return the checks that a code fails under a seed, without asking why.

    Parameters
    ----------
    exercise : Exercise
    code : str
    runner : Runner
    seed : int

    Returns
    -------
    list of Check
    """
    answers = _answered(exercise, code, runner, seed, exercise.limits)
    return _failed(exercise, exercise.checks, answers, seed)


def _answered(
    exercise: Exercise,
    code: str | Work,
    runner: Runner,
    seed: int,
    limits: Limits,
    instead: Sequence[str] = (),
) -> dict[str, list[Answer]]:
    """Return what the code answers to each check's example and random cases.

    What has one of the names `instead` is the solution's.
    """
    calls = questions(exercise, seed)
    tasks = frozenset(name for step in exercise.steps for name in step.names)
    solution, names = exercise.solution, tasks
    if exercise.whole_engine:
        # What the learner brings along is the teacher's in its place, or the learner's as it is.
        if exercise.steps[0].names[0] in instead:
            instead = [*instead, *defined(solution) - tasks]
        else:
            solution = statements(solution, exercise.engine)
        names |= defined(exercise.solution)
    work = replace(
        Work.of(code),
        names=tuple(sorted(names - {*instead})),
        given=exercise.given,
        locked=exercise.locked,
        instead=_parts(solution, tasks - {*instead}) if instead else "",
    )
    replies = runner.run_calls(work, calls, limits)
    for reply in replies:
        if reply.status == "unreadable":
            raise Unreadable(reply.error)
    answers = [
        Answer(r.status, r.value, r.error, r.kind, r.place, r.loading, r.absent, r.is_deeper)
        for r in replies
    ]
    answers += [Answer("died", error="The process ended.")] * (len(calls) - len(answers))
    return _by_check(exercise, answers)


@lru_cache(maxsize=256)
def _parts(code: str, others: frozenset[str]) -> str:
    """Return a code without the functions and classes of these names."""
    statements = [
        part
        for part in ast.parse(code).body
        if not (isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name in others)
    ]
    return ast.unparse(ast.Module(statements, []))


def _spared(row: Row, failed: list[Check], exercise: Exercise, names: Sequence[str]) -> Row:
    """Return the row of a step in which only these checks fail once what it calls is right."""
    lost = {check.name for check in failed}
    points = row.points + sum(
        check.points for check in exercise.checks if check.name in {*row.failed} - lost
    )
    still = tuple(name for name in row.failed if name in lost)
    if still:
        return replace(row, points=points, failed=still)
    text = f"Right, with a right {listed(names)} in the place of yours."
    return replace(row, points=points, failed=(), status="right", message="right", text=text)


def listed(names: Sequence[str]) -> str:
    """Return names as they are said; of many, the first."""
    if len(names) > MOST_NAMES:
        return f"`{names[0]}` and {len(names) - 1} others"
    return " and ".join(f"`{name}`" for name in names)


def as_fault(row: Row) -> Row:
    """Return a row that the machine failed to judge."""
    text = "The grader itself had a problem; this costs you nothing."
    return replace(row, points=0, status="fault", message="fault", text=text)


def _failed(
    exercise: Exercise,
    checks: Iterable[Check],
    answers_by_check: dict[str, list[Answer]],
    seed: int,
) -> list[Check]:
    """Return those of some checks that have a wrong answer."""
    inputs, right = inputs_of(exercise, seed), right_by_check(exercise, seed)
    return [
        check
        for check in checks
        if not all(
            is_right(check, data, answer, expected)
            for data, answer, expected in zip(
                inputs[check.name], answers_by_check[check.name], right[check.name], strict=True
            )
        )
    ]


def _row(
    exercise: Exercise,
    step: Step,
    answers_by_check: dict[str, list[Answer]],
    seed: int,
    earlier: Sequence[Row],
) -> Row:
    """Judge one step; ``earlier`` are the rows of those before it."""
    checks = [check for check in exercise.checks if check.step == step.id]
    inputs, right = inputs_of(exercise, seed), right_by_check(exercise, seed)
    failed = _failed(exercise, checks, answers_by_check, seed)
    points = sum(check.points for check in checks if check not in failed)
    answers = [answer for check in checks for answer in answers_by_check[check.name]]

    def row(status: str, message: str, text: str) -> Row:
        names = tuple(check.name for check in failed)
        return Row(exercise.id, step.id, points, step.points, status, message, text, names)

    if any(answer.status == "fault" for answer in answers):
        return as_fault(row("", "", ""))
    if not failed:
        return row("right", "right", "Right.")
    open_names = _needed(exercise, step, {row.step for row in earlier if row.points < row.max})
    is_stub = all(answer.status == "raised" and answer.kind == STUB for answer in answers)
    if is_stub and not (open_names and any(answer.is_deeper for answer in answers)):
        return row(NOT_ATTEMPTED, NOT_ATTEMPTED, "Not attempted yet.")
    if all(answer.status == "missing" for answer in answers):
        return row(MISSING, MISSING, f"Not found: {listed(step.names)}.")
    # What learners may see says most: an example that is wrong, if there is one.
    wrong_examples = [
        check
        for check in failed
        if not check.needs
        and not is_right(
            check, check.example, answers_by_check[check.name][0], right[check.name][0]
        )
    ]
    first = next(iter(wrong_examples), failed[0])
    cases = zip(inputs[first.name], answers_by_check[first.name], right[first.name], strict=True)
    trouble = next(
        answer for data, answer, expected in cases if not is_right(first, data, answer, expected)
    )
    if trouble.loading:
        status = "timeout" if trouble.status == "timeout" else "error"
        return row(status, DOES_NOT_RUN, not_run(step, trouble))
    statuses = {"ok": "wrong", "refused": "wrong", "timeout": "timeout", "memory": "memory"}
    status = statuses.get(trouble.status, "error")
    messages = {row.message for row in earlier}
    message = known_mistake(exercise, step, checks, first, answers_by_check, seed, messages)
    message = message or shown_mistake(
        first, inputs[first.name], answers_by_check[first.name], right[first.name]
    )
    # Of a function that stops, it is not known that its numbers are right.
    message = message or (first.needs[0] if first.needs and trouble.status != "ok" else first).name
    where = evidence(
        first,
        inputs[first.name],
        answers_by_check[first.name],
        right[first.name],
        any(_returns(exercise.solution, name) for name in step.names),
    )
    # Of what gave no answer, it is unknown whether it is right: then why there is none comes first.
    no_answer = ("timeout", "memory", "died", "missing", "refused")
    is_slip = trouble.status == "raised" and trouble.kind in _SLIPS
    if (trouble.status in no_answer or is_slip) and message == first.name:
        return row(status, message, where)
    parts = [exercise.messages[message], where]
    if trouble.status == "raised" and message == first.name:
        parts.reverse()
    if open_names:
        are = "is" if len(open_names) == 1 else "are"
        begin = "not right yet. If your code calls that here, begin there."
        parts.insert(0, f"{listed(open_names)} {are} {begin}")
    return row(status, message, "\n".join(parts))


@lru_cache(maxsize=256)
def _reads(code: str) -> dict[str, frozenset[str]]:
    """Return which names each function or class of a code reads."""
    return {
        part.name: frozenset(n.id for n in ast.walk(part) if isinstance(n, ast.Name))
        for part in ast.parse(code).body
        if isinstance(part, ast.FunctionDef | ast.ClassDef)
    }


@lru_cache(maxsize=256)
def _returns(code: str, name: str) -> bool:
    """Tell whether a function of a code, or a method of a class, returns a value."""
    return any(
        isinstance(node, ast.Return) and node.value is not None
        for part in ast.parse(code).body
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name
        for node in ast.walk(part)
    )


def _needed(exercise: Exercise, step: Step, others: set[str]) -> list[str]:
    """Return the names of other steps that the solution of a step calls, if not at once."""
    reads = _reads(exercise.solution)
    waiting, needed = [*step.names], set[str]()
    while waiting:
        new = reads.get(waiting.pop(), frozenset()) & reads.keys() - needed
        needed |= new
        waiting += new
    if exercise.whole_engine and needed.intersection(exercise.steps[0].names):
        needed.update(exercise.steps[0].names)  # its parts call one another by their names
    names = [name for s in exercise.steps if s.id in others for name in s.names]
    return [name for name in names if name in needed and name not in step.names]


def _by_check(exercise: Exercise, answers: list[Answer]) -> dict[str, list[Answer]]:
    """Deal out a flat list of answers to the checks they belong to."""
    rest = iter(answers)
    dealt = {check.name: [next(rest)] for check in exercise.checks}
    for check in exercise.checks:
        dealt[check.name] += [next(rest) for _ in range(check.cases)]
    return dealt
