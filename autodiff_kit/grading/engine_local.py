"""Grade many submissions on this machine: workers that judge, and one that writes.

After reading this file you can say how a submission becomes a row, which failures are tried again
(the machine's) and which are not (the learner's), and why a grader that is killed and started
again gives the same table. Read next: ``engine_dask.py``, the same on many machines.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import multiprocessing
import os
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.exercise import ExerciseError, Result, grade_code
from autodiff_kit.grading.notebook import code_of
from autodiff_kit.grading.sandbox import Sandbox, Walls
from autodiff_kit.grading.store import (
    Attempt,
    Mark,
    Store,
    StoreError,
    file_hash,
    folder_hash,
    key_of,
)
from autodiff_kit.grading.submissions import Submission
from autodiff_kit.grading.worker import Level0, Runner, clean

__all__ = ["Engine", "Job", "Local", "Summary", "Worker", "grade", "grade_one", "runner_for"]

TRIES = 3  # for a submission that the machine failed
WRITE_EVERY = 0.25  # seconds; what a kill can cost, and is then done again
Engine = Callable[[Iterable["Job"]], Iterator[Attempt]]


@dataclass(frozen=True)
class Job:
    """One submission to grade; all that a worker needs to know about it."""

    key: str
    submission: Submission
    checks: str
    seed: int


@dataclass
class Summary:
    """What came of a run."""

    found: int = 0
    graded: int = 0
    known: int = 0  # had their row from an earlier run
    faults: int = 0
    changed: int = 0  # rows that somebody else had touched, set right again
    seconds: float = 0.0


def grade(
    submissions: Iterable[Submission],
    course: Course,
    store: Store,
    engine: Engine,
    *,
    seed: int,
    shard: tuple[int, int] = (1, 1),
    guard: bool = False,
    progress: Callable[[Summary], None] = lambda summary: None,
) -> Summary:
    """Grade what has no row yet, and write one row for each submission.

    Parameters
    ----------
    submissions : iterable of Submission
    course, store
    engine : callable (jobs) -> iterator of Attempt
        `Local`, or another with the same promise: an attempt for each job, in any order. Twice the
        same one does no harm.
    seed : int
        Decides on the random inputs.
    shard : (int, int)
        (2, 5) grades the second of five parts.
    guard : bool
        Undo whatever else was done to the results meanwhile: for runs without walls.
    progress : callable
        Called now and then with the numbers so far.

    Returns
    -------
    Summary

    Raises
    ------
    StoreError
        If the rows cannot be written, or if `guard` finds that the checks were changed meanwhile.
    """
    start = time.monotonic()
    summary = Summary()
    known = store.keys()
    before = store.last_numbers()
    written: dict[str, Attempt] = {}
    checks = {name: folder_hash(course.folder / "checks" / name) for name in course.names}

    def jobs() -> Iterator[Job]:
        for submission in submissions:
            name = f"{submission.student}/{submission.exercise}"
            if zlib.crc32(name.encode()) % shard[1] != shard[0] - 1:
                continue
            summary.found += 1
            job = _job(submission, course, checks, seed)
            if job.key in known:
                summary.known += 1
            else:
                known.add(job.key)  # the same file twice is one submission
                yield job

    waiting: list[Attempt] = []
    latest = time.monotonic()

    def write() -> None:
        store.add(waiting)
        written.update((attempt.key, attempt) for attempt in waiting)
        waiting.clear()
        summary.seconds = time.monotonic() - start
        progress(summary)

    for attempt in engine(jobs()):
        waiting.append(attempt)
        summary.graded += 1
        summary.faults += attempt.status == "fault"
        if time.monotonic() - latest > WRITE_EVERY:
            write()
            latest = time.monotonic()
    write()
    if guard:
        summary.changed = store.set_right(written, before)
        spoiled = [
            n for n in course.names if folder_hash(course.folder / "checks" / n) != checks[n]
        ]
        if spoiled:
            store.forget(written)
            raise StoreError(
                f"The checks in {course.folder} were changed during the run, which had no walls: "
                f"{', '.join(spoiled)}. Its {len(written)} results were thrown away.\n"
                "-> Get the checks back from where you keep them, and grade again behind walls: "
                "see `autodiff-kit doctor`."
            )
    return summary


def _job(submission: Submission, course: Course, checks: dict[str, str], seed: int) -> Job:
    content = file_hash(submission.data)
    if submission.problem:
        content = f"{submission.problem} {submission.origin}"
    decides = checks.get(submission.exercise, "")
    who = (submission.student, submission.exercise)
    return Job(key_of(*who, content, decides, seed), submission, decides, seed)


def grade_one(job: Job, course: Course, runner: Runner) -> Attempt:
    """Return the result of one submission; never raise for anything in it.

    What the machine failed is tried again; a learner's time-out once, because a busy machine can
    be its cause (``tries`` in the row tells).
    """
    start = time.monotonic()
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
        level=runner.level,
        status="unreadable",
        marks=(Mark("", 0, 0, "unreadable", "unreadable", submission.problem),),
    )
    if not submission.exercise:
        return attempt
    exercise = course.exercise(submission.exercise)
    steps = [Mark(step.id, 0, step.points, "unreadable", "unreadable") for step in exercise.steps]
    attempt = dataclasses.replace(attempt, version=exercise.version)

    def all_steps(status: str, text: str) -> Attempt:
        marks = tuple(
            dataclasses.replace(m, status=status, message=status, text=text) for m in steps
        )
        kind = "fault" if status == "fault" else "unreadable"
        return dataclasses.replace(attempt, status=kind, marks=marks)

    if submission.problem:
        return all_steps("unreadable", submission.problem)
    try:
        code = code_of(submission.data, f"submission{submission.suffix}", exercise)
    except ExerciseError as error:
        return all_steps("unreadable", clean(str(error)))
    result: Result | None = None
    tries = 0
    for tries in range(1, TRIES + 1):
        try:
            result = grade_code(exercise, code, runner, job.seed)
        except Exception as error:  # a check that stumbles over an answer nobody thought of
            text = clean(f"The checks failed: {type(error).__name__}: {error}")
            return dataclasses.replace(all_steps("fault", text), tries=tries)
        states = {row.status for row in result.rows}
        if "fault" not in states and ("timeout" not in states or tries > 1):
            break
        if "fault" in states:
            time.sleep(0.1 * tries)
    assert result is not None
    marks = tuple(
        Mark(row.step, row.points, row.max, row.status, row.message, clean(row.text, 4000))
        for row in result.rows
    )
    is_fault = any(mark.status == "fault" for mark in marks)
    return dataclasses.replace(
        attempt,
        status="fault" if is_fault else "graded",
        marks=marks,
        tries=tries,
        seconds=round(time.monotonic() - start, 4),
    )


def runner_for(walls: Walls | None) -> Sandbox | Level0:
    """Return a runner behind these walls; None means a plain process."""
    return Level0() if walls is None else Sandbox(walls)


class Local:
    """Worker processes on this machine, each with a fork server of its own.

    Parameters
    ----------
    course : Course
    walls : Walls or None
        What `sandbox.probe` found.
    workers : int
    """

    def __init__(self, course: Course, walls: Walls | None, workers: int) -> None:
        self.course = course
        self.walls = walls
        self.workers = workers

    def __call__(self, jobs: Iterable[Job]) -> Iterator[Attempt]:
        """Yield the result of each job, as they come."""
        if self.workers == 1:
            with contextlib.closing(Worker(self.course.folder, self.walls)) as worker:
                for job in jobs:
                    yield worker.grade(job)
            return
        source = iter(jobs)
        again: deque[tuple[Job, int]] = deque()
        while True:
            try:
                yield from self._with_pool(source, again)
            except BrokenProcessPool:  # a worker was killed: the rest goes to new ones
                continue
            return

    def _with_pool(self, source: Iterator[Job], again: deque[tuple[Job, int]]) -> Iterator[Attempt]:
        given: dict[Future[Attempt], tuple[Job, int]] = {}
        with ProcessPoolExecutor(
            self.workers,
            multiprocessing.get_context("spawn"),
            _start_worker,
            (self.course.folder, self.walls),
        ) as pool:
            try:
                while True:
                    room = 4 * self.workers - len(given)
                    fresh = (
                        (job, 1) for job in itertools.islice(source, max(room - len(again), 0))
                    )
                    batch = [again.popleft() for _ in range(min(room, len(again)))]
                    for job, tries in [*batch, *fresh]:
                        again.append((job, tries))  # until the pool has taken it
                        given[pool.submit(_work, job)] = again.pop()
                    if not given:
                        return
                    for done in wait(given, return_when=FIRST_COMPLETED).done:
                        attempt = done.result()
                        del given[done]
                        yield attempt
            except BrokenProcessPool:
                for job, tries in given.values():
                    if tries < TRIES:
                        again.append((job, tries + 1))
                    else:
                        yield lost(job, self.course)
                raise


def lost(job: Job, course: Course, why: str = "The worker was lost.") -> Attempt:
    """Return the row of a submission whose workers were lost, again and again."""

    class Lost:
        level = "none"

        def run_calls(self, *ignored: Any) -> Any:
            raise RuntimeError(why)

    return grade_one(job, course, Lost())


class Worker:
    """One that grades: a course, and a runner that stays warm."""

    def __init__(self, folder: Path, walls: Walls | None) -> None:
        self.course = open_course(folder)
        self.runner = runner_for(walls)
        if walls is None:  # what runs here could change the checks: have all of them before
            self.course.exercises()

    def grade(self, job: Job) -> Attempt:
        """Return the result of one submission."""
        return grade_one(job, self.course, self.runner)

    def close(self) -> None:
        """End the fork server."""
        if isinstance(self.runner, Sandbox):
            self.runner.close()


_worker: Worker | None = None


def _start_worker(folder: Path, walls: Walls | None) -> None:
    """Get ready in a process of the pool; end with the process that made it, however that ends."""
    global _worker
    _worker = Worker(folder, walls)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(job: Job) -> Attempt:
    assert _worker is not None
    return _worker.grade(job)
