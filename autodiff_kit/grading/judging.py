"""Judge submissions in a process that may be lost.

After reading this file you can say why no answer, however large or odd, stops the grader: what a
learner's code returns is compared and shown in a process of its own (`Judge`), whose memory and
time are bounded, and of which the grader itself reads finished rows only. Read next:
``engine_local.py``, which has several of them.
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
from autodiff_kit.grading.calls import Call, Limits, Reply, Runner, Work, clean
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.messages import Fields
from autodiff_kit.grading.one_submission import (
    TRIES,
    Job,
    empty,
    files_hash,
    grade_one,
    lost,
    runner_for,
    too_much,
)
from autodiff_kit.grading.results import Attempt, Mark
from autodiff_kit.grading.sandbox import Walls
from autodiff_kit.grading.supervision import START

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["Judge", "serve"]

JUDGING = 20.0  # seconds for comparing and explaining the answers of one try
MEMORY = 2 * 2**30  # bytes beyond what the judge has at its start
MAX_ROW = 2**22  # bytes


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
            return empty(
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
                return too_much(empty(job, open_course(self.folder), level))
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
