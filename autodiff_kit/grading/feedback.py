"""Answer a learner inside the notebook: right or wrong, where it shows, and what the mistake is.

After reading this file you can say what ``check("04.accumulate")`` runs: the newest cells that
define what the exercise asks for, in a process of their own, on inputs drawn at that moment. Read
next: ``release.py``.
"""

from __future__ import annotations

import dataclasses
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from autodiff_kit.grading.answers import ask
from autodiff_kit.grading.calls import Call, Limits, Reply, Work
from autodiff_kit.grading.code_in_kernel import code_in, history
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.exercise import Exercise, with_checks
from autodiff_kit.grading.feedback_card import CheckLine, StepLine, card, inline
from autodiff_kit.grading.marking import MISSING, NOT_ATTEMPTED, Result, Row, grade_code, listed
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.my_engine import keep_part
from autodiff_kit.grading.namespace import Namespace
from autodiff_kit.grading.notebook import redefined
from autodiff_kit.grading.pictures import without_right
from autodiff_kit.grading.progress import folder_of_notebook, hint_when_due, keep_result, next_hint
from autodiff_kit.grading.puzzles import has_puzzles
from autodiff_kit.grading.wording import without_right_lines
from autodiff_kit.grading.worker import HAS_PROCESSES, own_runner

__all__ = [
    *("Feedback", "Part", "Words", "check", "hidden_test", "hint"),
    *("in_cell", "picture_of"),
]

_cell: tuple[int, list[Part]] = (0, [])  # how many cells were run, and the results of the last


_HAND_IN = (
    "To hand it in: save the notebook, then, in a terminal (File > New > Terminal): "
    "autodiff-kit submit {}"
    if HAS_PROCESSES
    else "To hand it in: save the notebook, then run in a new cell: "
    'from autodiff_kit.grading import submit; submit("{}")'
)

_OTHERS = "Checks that fail as well:"
_P = TypeVar("_P", bound="Part")
_BEGIN = (
    "Not sure how to begin? `from autodiff_kit.puzzles import parsons`, and then "
    '`parsons("{}")`: the lines are there, and you put them in order.'
)


class Part:
    """What `check` and `hint` return: shown below the other results of the same cell.

    A notebook shows the last value of a cell only; nothing that was counted may be lost by that.
    """

    earlier: tuple[Part, ...] = ()

    def words(self) -> str:
        raise NotImplementedError

    def markup(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join(part.words() for part in (*self.earlier, self))

    def _repr_html_(self) -> str | None:
        return "".join(part.markup() for part in (*self.earlier, self))


class Feedback(Part):
    """What is said about one try; a notebook shows it as HTML, with a picture where one helps.

    Parameters
    ----------
    exercise : Exercise
    result : Result
    hint : str, optional
        How to ask for a hint here; the default is how a notebook asks.
    changed : sequence of str
        Which of the given functions and classes the learner has changed.
    begin : str
        What to say to a learner who has not begun.
    built : str
        What to say of the learner's engine, if something was written there.
    after : Exercise, optional
        The one that comes next.
    tip : str
        A hint, where it is time for one.
    answer : bool
        Whether to say what is right for the example: only to a learner who asks for it.
    """

    def __init__(
        self,
        exercise: Exercise,
        result: Result,
        hint: str = "",
        changed: Sequence[str] = (),
        begin: str = "",
        built: str = "",
        after: Exercise | None = None,
        tip: str = "",
        answer: bool = False,
    ) -> None:
        self.exercise = exercise
        self.result = result
        self.changed = changed
        self._begin = begin
        self._built = built
        self._after = after
        self.tip = tip
        self._has_answer = answer
        self._hint = hint or f'hint("{exercise.id}")'
        self._check = f'check("{exercise.id}", answer=True)'
        if hint:
            self._check = f"autodiff-kit check {exercise.id} --answer"

    @property
    def passed(self) -> bool:
        """Whether every step came out right."""
        return self.result.points == self.result.max

    def words(self) -> str:
        """Return what is said as plain text."""
        lines = [self._headline()]
        for row in self.result.rows:
            lines.append(f"  {_mark(row)} {row.step}: {row.points:g} of {row.max:g} points")
            if row.status not in ("right", NOT_ATTEMPTED):
                lines += [f"      {line}" for line in self._lines(row)]
        return "\n".join([*lines, *self._last_line()])

    def markup(self) -> str:
        """Return what is said as HTML."""
        heading, _, note = self._headline().partition(" on newly")
        file = f"{self._after.name}.ipynb" if self._after and self.passed else ""
        return card(
            heading,
            f"on newly{note}" if note else "",
            map(self._step, self.result.rows),
            self._last_line(),
            file if file and Path(file).is_file() else "",
        )

    def _step(self, row: Row) -> StepLine:
        points = f"{row.points:g} of {row.max:g} points"
        status = _mark(row)[1:-1]
        if row.status in ("right", NOT_ATTEMPTED):
            return StepLine(row.step, points, status)
        picture = picture_of(self.exercise, self.result, row)
        picture = picture if self._has_answer else without_right(picture)
        failed = {*row.failed}
        lines = [
            CheckLine(
                c.concept, None if failed & {n.name for n in c.needs} else c.name not in failed
            )
            for c in self.exercise.checks
            if c.step == row.step
        ]
        is_listed = len(lines) > 1 and row.status == "wrong"
        lines_left = [
            line for line in self._lines(row) if not (is_listed and line.startswith(_OTHERS))
        ]
        return StepLine(row.step, points, status, lines_left, picture, lines if is_listed else ())

    def _lines(self, row: Row) -> list[str]:
        """Return what is said of a step: without the right answer, and with all that is wrong."""
        text = row.text if self._has_answer else without_right_lines(row.text)
        lines = text.splitlines()
        if row.status == "wrong":
            others = [
                check.concept
                for check in self.exercise.checks
                if check.name in row.failed and check.caption not in row.text and not check.needs
            ]
            if others and len(others) < len(row.failed):
                lines.append(f"{_OTHERS} {'; '.join(others)}.")
        return lines

    def _headline(self) -> str:
        points = f"{self.result.points:g} of {self.result.max:g} points"
        if all(row.status == NOT_ATTEMPTED for row in self.result.rows):
            return f"{self.exercise.id}: not attempted yet"
        return f"{self.exercise.id}: {points} on newly drawn inputs"

    @property
    def given(self) -> list[str]:
        """What is to be said of changes to the given code: one line, or none."""
        if not self.changed:
            return []
        names = " and ".join(f"`{name}`" for name in self.changed)
        return [
            f"You changed {names} in the given code. Your change is not used: every check and the "
            "grade run the given code as it was."
        ]

    def _last_line(self) -> list[str]:
        built = [self._built] if self._built else []
        if self.passed:
            after = self._after and f"Next: exercise {self._after.id[:2]}, {self._after.title}."
            return [
                *self.given,
                *built,
                "Visible checks passed; the grade uses other inputs.",
                _HAND_IN.format(self.exercise.id),
                *([after] if after else []),
            ]
        has_begun = any(row.status != NOT_ATTEMPTED for row in self.result.rows)
        lines = [*self.given, *built, *([] if has_begun or not self._begin else [self._begin])]
        lines += [self.tip] if self.tip else []
        if self.exercise.hints:
            lines.append(f"One hint at a time: {self._hint}")
        if has_begun and not self._has_answer and self._withholds():
            lines.append(f"The right answer to the example: {self._check}")
        return lines

    def _withholds(self) -> bool:
        """Tell whether there is a right answer that was not said."""
        return any("\nright is" in row.text for row in self.result.rows)


def picture_of(exercise: Exercise, result: Result | None, row: Row | None) -> str:
    """Draw the example of the first check that failed, if that check can; else nothing."""
    for check in exercise.checks:
        if result and row and row.failed and check.name == row.failed[0] and check.picture:
            answer = result.example[check.name]
            expected = result.expected[check.name]
            if answer.status == "ok" and expected.status == "ok":
                try:
                    if check.compare(check.example, answer.value, expected.value):
                        return ""
                    return check.picture(check.example, answer.value, expected.value)
                except Exception:  # an answer of another kind cannot be drawn
                    return ""
    return ""


class Words(Part, str):
    """Text that a notebook shows as it is, without quotation marks."""

    def words(self) -> str:
        """Return the text."""
        return str(self)

    def markup(self) -> str:
        """Return the text as HTML."""
        return f'<p style="white-space: pre-wrap">{inline(self)}</p>'

    def _repr_html_(self) -> str | None:
        return super()._repr_html_() if self.earlier else None


def check(key: str, *, answer: bool = False, course: Course | None = None) -> Feedback:
    """Try the learner's code now, and say what came of it.

    A first try that is wrong is told what is wrong and where it shows, a second one gets a hint.

    Parameters
    ----------
    key : str
        Id of the exercise, such as ``"04.accumulate"``.
    answer : bool
        Say what is right for an example that is wrong.
    course : Course, optional
        The default is the course around the current folder, or the one that came with the kit.

    Returns
    -------
    Feedback - shown when it is the last line of a cell.

    Raises
    ------
    ExerciseError
        If there is no such exercise.
    """
    course = course or _course()
    exercise = course.exercise(key)
    namespace = sys._getframe(1).f_globals
    code = code_in(namespace, exercise)
    result = grade_code(exercise, code, own_runner(), secrets.randbelow(2**32))
    rows = tuple(_not_run(exercise, row) if row.status == MISSING else row for row in result.rows)
    result = dataclasses.replace(result, rows=rows)
    folder = folder_of_notebook()
    if any(row.status != MISSING for row in rows):  # else nothing was run yet to check
        keep_result(folder, exercise, result)
    built = keep_part(course, exercise, code, result, folder)
    changed = redefined(exercise.given, history(namespace))
    begin = _BEGIN.format(exercise.id) if has_puzzles(course.folder, exercise) else ""
    after = [*course.names, ""][course.names.index(exercise.name) + 1]
    feedback = Feedback(
        exercise,
        result,
        changed=changed,
        begin=begin,
        built=built,
        after=course.exercise(after) if after else None,
        tip=hint_when_due(folder, exercise),
        answer=answer,
    )
    return in_cell(namespace, feedback)


def _not_run(exercise: Exercise, row: Row) -> Row:
    """Say of a step that was not found what a notebook knows: which cells were run."""
    step = next(step for step in exercise.steps if step.id == row.step)
    text = (
        f"Not found: {listed(step.names)}. No cell that was run since Python started or was "
        "restarted defines it. Run the cells above first. Run All stops at an example that "
        "fails: run the cells below that one by hand."
    )
    return dataclasses.replace(row, text=text)


def in_cell(namespace: Space, part: _P) -> _P:
    """Have a result shown together with those that its cell has had before."""
    global _cell
    number = len(history(namespace))
    if number != _cell[0]:
        _cell = (number, [])
    if number:
        part.earlier = tuple(_cell[1])
        _cell[1].append(part)
    return part


def hint(key: str, *, course: Course | None = None) -> Words:
    """Give the next hint, one at a time, for what was not right at the last check.

    Parameters
    ----------
    key : str
        Id of the exercise.
    course : Course, optional
        As in :func:`check`.

    Returns
    -------
    Words

    Raises
    ------
    ExerciseError
        If there is no such exercise.
    """
    exercise = (course or _course()).exercise(key)
    text = next_hint(folder_of_notebook(), exercise, pause=True)
    return in_cell(sys._getframe(1).f_globals, Words(text))


def hidden_test(key: str, name: str, namespace: Space) -> None:
    """Put one check to the functions of a notebook: what nbgrader's hidden tests do.

    It runs in the learner's own process, so it can be forged; ``autodiff-kit grade`` cannot.

    Parameters
    ----------
    key : str
        Id of the exercise.
    name : str
        Name of the check.
    namespace : mapping
        The notebook's ``globals()``.

    Raises
    ------
    AssertionError
        If the check fails; the message is what the learner gets to read.
    ExerciseError
        If there is no such exercise or check.
    """
    exercise = _course().exercise(key)
    step = next(check.step for check in exercise.checks if check.name == name)
    result = grade_code(with_checks(exercise, (name,)), "", _Here(namespace), 0)
    row = next(row for row in result.rows if row.step == step)
    if row.failed:
        raise AssertionError(row.text)


class _Here:
    """A runner that asks the functions which this process has already."""

    level = "in process"

    def __init__(self, namespace: Space) -> None:
        self.space = Namespace("notebook")
        self.space.__dict__.update(namespace)

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        with np.errstate(all="ignore"):  # inputs may be infinite: no reason to warn
            answers = ask(self.space, calls)
        replies = [Reply(a.status, a.value, a.error, kind=a.kind) for a in answers]
        return [
            reply if call.is_example else reply.without_words()
            for call, reply in zip(calls, replies, strict=True)
        ]


def _course() -> Course:
    return open_course(find_course(Path.cwd()))


def _mark(row: Row) -> str:
    if row.status == "right":
        return "[right]"
    return f"[{row.status}]" if not row.points else "[partly right]"
