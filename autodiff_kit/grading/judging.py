"""Judge one submission, in a process that may be lost.

After reading this file you can say how a submission becomes a row, which failures are tried again
(the machine's) and which are not (the learner's), and why no answer, however large or odd, stops
the grader: what a learner's code returns is compared and shown in a process of its own (`Judge`),
whose memory and time are bounded, and of which the grader itself reads finished rows only. Read
next: ``engine_local.py``, which has several of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from autodiff_kit.grading import usage, wire
from autodiff_kit.grading.answers_in_words import question_marks
from autodiff_kit.grading.calls import LINES, Call, Limits, Reply, Runner, Work, clean
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.feedback import picture_of
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import NOT_ATTEMPTED, Result, Row, grade_code
from autodiff_kit.grading.messages import Fields
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.performing import graph_of
from autodiff_kit.grading.puzzle_making import puzzles_for
from autodiff_kit.grading.puzzle_points import with_puzzle_points
from autodiff_kit.grading.results import Attempt, Mark, file_hash, folder_hash
from autodiff_kit.grading.sandbox import Sandbox, Walls
from autodiff_kit.grading.supervision import START
from autodiff_kit.grading.worker import Level0

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["Job", "Judge", "grade_one", "lost", "runner_for"]

TRIES = 3  # for a submission that the machine failed
JUDGING = 20.0  # seconds for comparing and explaining the answers of one try
MEMORY = 2 * 2**30  # bytes beyond what the judge has at its start
MAX_ROW = 2**22  # bytes
MAX_PICTURE = 2**15  # characters: an answer of a thousand nodes is not drawn


class _Heard(TypedDict, total=False):
    """What a judge says: a stage it has come to, a finished row, or why there is none."""

    stage: str
    seconds: float
    row: Fields  # the fields of an Attempt
    problem: str


class _Setting(TypedDict):
    """What a judge is told at its start."""

    folder: str
    walls: Fields | None  # the fields of `Walls`
    files: str


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
    attempt = _empty(job, course, runner.level)
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
    parts = [folder_hash(folder / part) for part in ("checks", "source")]
    return " ".join([*parts, file_hash((folder / "course.toml").read_bytes())])


def lost(job: Job, course: Course, why: str = "The judging process was lost.") -> Attempt:
    """Return the row of a submission whose judges were lost, again and again."""
    return _all_steps(_empty(job, course, "none"), "fault", clean(why))


def too_much(attempt: Attempt) -> Attempt:
    """Return the row of answers that cannot be judged within the limits."""
    text = "Your answers are too large, or too deep, to be judged."
    return dataclasses.replace(_all_steps(attempt, "refused", text), status="graded")


def _empty(job: Job, course: Course, level: str) -> Attempt:
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


# -- The process, and the one who asks it ----------------------------------------------------------


class Judge:
    """A process that grades one submission after the other, and is replaced when it is lost.

    Parameters
    ----------
    folder : Path
        Of the course.
    walls : Walls or None
        Those that the submissions are run behind.
    """

    def __init__(self, folder: Path, walls: Walls | None) -> None:
        self.folder = folder
        self.walls = walls
        # Without walls a submission could change what a judge after the next would read.
        self.files = "" if walls else files_hash(folder)
        self.process: subprocess.Popen[bytes] | None = None
        self.messages: queue.SimpleQueue[_Heard | None] = queue.SimpleQueue()
        self.is_closed = False

    def grade(self, job: Job) -> Attempt:
        """Return the result of one submission.

        Raises
        ------
        ExerciseError
            If the exercise itself cannot be read.
        """
        begun = time.monotonic()
        try:
            request = wire.frame(_packed(job))
        except (wire.WireError, ValueError, TypeError) as error:  # of this one alone
            words = f"What was handed in cannot be passed on: {clean(str(error), 200)}"
            unsent = dataclasses.replace(job.submission, problem=words)
            level = "0 process" if self.walls is None else self.walls.name
            return _empty(
                dataclasses.replace(job, submission=unsent), open_course(self.folder), level
            )
        for _ in range(TRIES):
            try:
                attempt = self._ask(job, request)
                break
            except (_Lost, OSError):
                self._end()
        else:
            attempt = lost(job, open_course(self.folder))
        if attempt.seconds:
            return attempt
        # What cost a judge its process or its time counts as time of the learner's, too.
        return dataclasses.replace(attempt, seconds=round(time.monotonic() - begun, 4))

    def close(self) -> None:
        """End the process, also in the middle of its work."""
        self.is_closed = True
        self._end()

    def _ask(self, job: Job, request: bytes) -> Attempt:
        if self.is_closed:
            raise ExerciseError("The grader is closed.")
        if self.process is None:
            self._start()
        process = self.process
        assert process is not None and process.stdin is not None
        process.stdin.write(request)
        process.stdin.flush()
        # The machine's part is generous. The judging itself takes milliseconds.
        seconds, is_judging = 4 * START, False
        while True:
            try:
                message = self.messages.get(timeout=seconds)
            except queue.Empty:
                if not is_judging:
                    raise _Lost from None
                self._end()
                level = "0 process" if self.walls is None else self.walls.name
                return too_much(_empty(job, open_course(self.folder), level))
            if message is None:
                raise _Lost
            if "problem" in message:
                raise ExerciseError(message["problem"])
            if "row" in message:
                return _unpacked(message["row"])
            is_judging = message["stage"] == "judging"
            seconds = JUDGING if is_judging else message["seconds"] + 2 * START

    def _start(self) -> None:
        lines = ("import sys", f"sys.path[:] = {sys.path!r}", f"from {__name__} import serve")
        self.process = subprocess.Popen(
            [sys.executable, "-c", "; ".join((*lines, "serve()"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the grader, which then ends this one
        )
        self.messages = queue.SimpleQueue()
        reader = threading.Thread(target=_listen, args=(self.process, self.messages), daemon=True)
        reader.start()
        assert self.process.stdin is not None
        walls = None if self.walls is None else dataclasses.asdict(self.walls)
        setting: _Setting = {
            "folder": str(self.folder.resolve()),
            "walls": walls,
            "files": self.files,
        }
        self.process.stdin.write(wire.frame(wire.encode(setting)))

    def _end(self) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()


class _Lost(Exception):
    """The process ended, or does not answer."""


def _listen(process: subprocess.Popen[bytes], messages: queue.SimpleQueue[_Heard | None]) -> None:
    stdout = process.stdout
    assert stdout is not None
    with contextlib.suppress(OSError, ValueError, EOFError), stdout:
        while True:
            data, length = wire.unframe(stdout.read)
            if length > MAX_ROW:
                break
            messages.put(wire.decode(data, length))
    messages.put(None)


def _packed(job: Job) -> bytes:
    submission = {**vars(job.submission), "data": np.frombuffer(job.submission.data, np.uint8)}
    return wire.encode({**vars(job), "submission": submission})


def _job(message: Fields) -> Job:
    submission = {**message["submission"], "data": message["submission"]["data"].tobytes()}
    return Job(**{**message, "submission": Submission(**submission)})


def _unpacked(row: Fields) -> Attempt:
    return Attempt(**{**row, "marks": tuple(Mark(**mark) for mark in row["marks"])})


def serve() -> None:
    """Grade what comes in on standard input, until it ends: the judge's own end of the talk."""
    source, target = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a check prints cannot be taken for a row
    setting: _Setting = wire.decode(*wire.unframe(source.read))
    walls = None if setting["walls"] is None else Walls(**setting["walls"])
    requests: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def listen() -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                requests.put(_job(wire.decode(*wire.unframe(source.read))))
        os._exit(0)  # the grader is gone, however it ended

    def tell(**message: Any) -> None:
        data = wire.frame(wire.encode(message))
        while data:
            data = data[os.write(target, data) :]

    threading.Thread(target=listen, daemon=True).start()
    runner = _Telling(runner_for(walls), tell)
    course: Course | None = None
    is_spoiled = False
    _bound_memory()
    while True:
        job = requests.get()
        try:
            if course is None:
                course = open_course(Path(setting["folder"]))
                if walls is None:  # what runs here could change the checks: have all of them before
                    course.exercises()
                    is_spoiled = files_hash(course.folder) != setting["files"]
            if is_spoiled:
                row = lost(job, course, "The course was changed while submissions were run.")
            else:
                row = grade_one(job, course, runner)
            tell(row={**vars(row), "marks": [vars(mark) for mark in row.marks]})
        except ExerciseError as error:
            tell(problem=str(error))


class _Telling:
    """A runner that says how far it is, so that the grader knows whose time is running."""

    def __init__(self, runner: Runner, tell: Callable[..., None]) -> None:
        self.runner = runner
        self.level = runner.level
        self.tell = tell

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        self.tell(stage="running", seconds=limits.total + limits.waiting)
        replies = self.runner.run_calls(code, calls, limits)
        self.tell(stage="judging")
        return replies


def _bound_memory() -> None:
    base_memory = usage.taken_memory()
    if resource is not None and base_memory:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (base_memory + MEMORY, hard))
