"""Turn one submission into one row of the results.

After reading this file you can say what a row holds of a submission that was graded, that could not
be read, that was too large to be judged, or that the machine failed; and which failures are tried
again (the machine's) and which are not (the learner's). Read next: ``judging.py``, which does this
in a process of its own.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

from autodiff_kit.grading.answers_in_words import question_marks
from autodiff_kit.grading.calls import LINES, Runner, Work, clean
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.course_files import is_packed
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.feedback import picture_of
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import NOT_ATTEMPTED, Result, Row, grade_code
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.performing import graph_of
from autodiff_kit.grading.practice_pack import PACK
from autodiff_kit.grading.puzzle_making import puzzles_for
from autodiff_kit.grading.puzzle_points import with_puzzle_points
from autodiff_kit.grading.results import Attempt, Mark, file_hash, folder_hash
from autodiff_kit.grading.sandbox import Sandbox, Walls
from autodiff_kit.grading.worker import Level0

__all__ = ["TRIES", "Job", "empty", "files_hash", "grade_one", "lost", "runner_for", "too_much"]

TRIES = 3  # for a submission that the machine failed
MAX_PICTURE = 2**15  # characters: an answer of a thousand nodes is not drawn


@dataclasses.dataclass(frozen=True)
class Job:
    """One submission to grade; all that a judge needs to know about it."""

    key: str
    submission: Submission
    checks: str
    seed: int


def grade_one(job: Job, course: Course, runner: Runner) -> Attempt:
    """Return the result of one submission; never raise for anything in it.

    What the machine failed is tried again; a learner's time-out once, because a busy machine can
    be its cause (``tries`` in the row tells). All tries together have a time limit, too.
    """
    start = time.monotonic()
    attempt = _graded(job, course, runner)
    return dataclasses.replace(attempt, seconds=round(time.monotonic() - start, 4))


def _graded(job: Job, course: Course, runner: Runner) -> Attempt:
    start = time.monotonic()
    attempt = empty(job, course, runner.level)
    if not job.submission.exercise or job.submission.problem:
        return attempt
    exercise = course.exercise(job.submission.exercise)
    work = Work(job.submission.data, job.submission.suffix)
    result: Result | None = None
    tries = 0
    together = dataclasses.replace(exercise.limits, total=exercise.limits.tries)
    while tries < TRIES:
        spent = time.monotonic() - start
        if tries and together.total - spent < 1:
            break
        tries += 1
        left = together.after(spent)
        limits = dataclasses.replace(left, total=min(exercise.limits.total, left.total))
        try:
            begun = time.monotonic()
            result = grade_code(exercise, work, runner, job.seed, limits)
            if exercise.puzzle_shares:
                limits = limits.after(time.monotonic() - begun)
                puzzles = puzzles_for(course, exercise)
                result = with_puzzle_points(
                    exercise, puzzles, work, runner, job.seed, limits, result
                )
        except Unreadable as problem:
            return _all_steps(attempt, "unreadable", clean(str(problem)))
        except MemoryError:
            return too_much(attempt)
        except Exception as error:  # a check that fails on an unforeseen answer
            text = clean(f"The checks failed: {type(error).__name__}: {error}")
            return dataclasses.replace(_all_steps(attempt, "fault", text), tries=tries)
        states = {row.status for row in result.rows}
        if "fault" not in states and ("timeout" not in states or tries > 1):
            break
        if "fault" in states:
            time.sleep(0.1 * tries)
    assert result is not None
    marks = tuple(_mark(exercise, result, row) for row in result.rows)
    graph = None
    if exercise.kind == "perform":
        own = exercise.checks[0].performed
        graph = graph_of(own.program, result.values) if own else ""
        if graph is None:
            marks = tuple(
                dataclasses.replace(m, points=0.0, status="wrong", message="", text=_MIXED)
                for m in marks
            )
    marks += question_marks(exercise, job.submission, runner)
    is_fault = any(mark.status == "fault" for mark in marks)
    return dataclasses.replace(
        attempt,
        status="fault" if is_fault else "graded",
        marks=marks,
        draw=graph or "",
        tries=tries,
    )


_MIXED = (
    "The answers are of more than one performance: hand in those of one, as the lab wrote them."
)


def _mark(exercise: Exercise, result: Result, row: Row) -> Mark:
    picture = picture_of(exercise, result, row)
    return Mark(
        *(row.step, row.points, row.max, row.status, row.message, _text(exercise, row)),
        failures=" ".join(row.failed),
        picture=picture if len(picture) <= MAX_PICTURE else "",
    )


def _text(exercise: Exercise, row: Row) -> str:
    """Return what is said of a step, and which checks took its points."""
    text = clean(row.text, 4000, LINES)
    is_tried = row.status not in (NOT_ATTEMPTED, "missing")
    lost_checks = [check for check in exercise.checks if is_tried and check.name in row.failed]
    if not lost_checks:
        return text
    if sum(check.points for check in lost_checks) > row.max - row.points + 1e-9:
        # A puzzle has earned some of them: what is lost is no longer the sum.
        parts = ", ".join(check.concept for check in lost_checks)
        return f"{text}\nNot right in what was written: {parts}."
    parts = ", ".join(f"{check.concept} ({check.points:g})" for check in lost_checks)
    return f"{text}\nPoints lost: {parts}."


def files_hash(folder: Path) -> str:
    """Return the hash of all that decides about marks in a course."""
    if is_packed(folder):
        parts = [file_hash((folder / PACK).read_bytes())]
    else:
        parts = [folder_hash(folder / part) for part in ("checks", "source")]
    return " ".join([*parts, file_hash((folder / "course.toml").read_bytes())])


def lost(job: Job, course: Course, why: str = "The judging process was lost.") -> Attempt:
    """Return the row of a submission whose judges were lost, again and again."""
    return _all_steps(empty(job, course, "none"), "fault", clean(why))


def too_much(attempt: Attempt) -> Attempt:
    """Return the row of answers that cannot be judged within the limits."""
    text = "Your answers are too large, or too deep, to be judged."
    return dataclasses.replace(_all_steps(attempt, "refused", text), status="graded")


def empty(job: Job, course: Course, level: str) -> Attempt:
    """Return the row of a submission of which nothing was read; without an exception ever."""
    submission = job.submission
    attempt = Attempt(
        key=job.key,
        student=submission.student,
        name=submission.name,
        exercise=submission.exercise,
        version=0,
        origin=submission.origin,
        hash=file_hash(submission.data),
        checks=job.checks,
        seed=str(job.seed),
        level=level,
        status="unreadable",
        marks=(Mark("", 0, 0, "unreadable", "unreadable", submission.problem),),
        note=submission.note,
    )
    if not submission.exercise:
        return attempt
    exercise = course.exercise(submission.exercise)
    marks = tuple(Mark(part, 0, points, "") for part, points in exercise.points_by_part.items())
    attempt = dataclasses.replace(attempt, version=exercise.version, marks=marks)
    return _all_steps(attempt, "unreadable", submission.problem)


def _all_steps(attempt: Attempt, status: str, text: str) -> Attempt:
    marks = tuple(
        dataclasses.replace(mark, points=0, status=status, message=status, text=text)
        for mark in attempt.marks
    )
    kind = "fault" if status == "fault" else "unreadable"
    return dataclasses.replace(attempt, status=kind, marks=marks)


def runner_for(walls: Walls | None) -> Sandbox | Level0:
    """Return a runner behind these walls; None means a plain process."""
    return Level0() if walls is None else Sandbox(walls)
