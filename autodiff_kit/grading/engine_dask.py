"""Grade on a Dask cluster: the same rows from many machines.

After reading this file you can say what the cluster does (it keeps tasks alive when workers die)
and what stays here (the key of each row, and the one who writes it). A task may run twice; its row
is written once. Read next: ``export.py``.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autodiff_kit.grading.course import Course
from autodiff_kit.grading.course_files import checks_hash
from autodiff_kit.grading.judging import Judge
from autodiff_kit.grading.one_submission import Job, lost
from autodiff_kit.grading.results import Attempt, key_of
from autodiff_kit.grading.sandbox import best_walls

__all__ = ["ClusterError", "OnDask"]

PATIENCE = 10  # seconds for the scheduler to answer
AHEAD = 8  # tasks in flight for each thread of the cluster
GROUP = 4  # submissions in a task: what a task costs the cluster is much for one alone


class ClusterError(Exception):
    """No Dask, or no cluster; says what to do."""


class OnDask:
    """An existing cluster; its workers have the kit installed, and the course at the same path.

    Parameters
    ----------
    course : Course
    scheduler : str
        ``tcp://host:8786``
    least : int
        The lowest level of isolation to accept on a worker.

    Raises
    ------
    ClusterError
        If Dask is not installed or the scheduler does not answer.
    """

    def __init__(self, course: Course, scheduler: str, least: int) -> None:
        self.course = course
        self.least = least
        if not scheduler:
            raise ClusterError("Which cluster?\n-> --scheduler tcp://HOST:8786")
        try:
            self.distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise ClusterError(
                'Dask is not installed.\n-> pip install "autodiff_kit[cluster]"'
            ) from error
        try:
            self.client: Any = self.distributed.Client(scheduler, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ClusterError(f"No scheduler answers at {scheduler}: {error}") from error

    def __call__(self, jobs: Iterable[Job]) -> Iterator[Attempt]:
        """Yield the result of each job, as they come."""
        source = iter(jobs)
        again: deque[Job] = deque()  # from groups that failed: now each alone
        running: dict[str, list[Job]] = {}
        arriving = self.distributed.as_completed()
        threads, asked_at = 0, 0.0
        with self.client:
            while True:
                if time.monotonic() - asked_at > 2:  # workers come and go
                    threads, asked_at = sum(self.client.nthreads().values()), time.monotonic()
                while len(running) < AHEAD * max(threads, 1):
                    group = [again.popleft()] if again else list(itertools.islice(source, GROUP))
                    if not group:
                        break
                    key = key_of(*(job.key for job in group))
                    running[key] = group
                    arguments = (group, self.course.folder, self.least)
                    arriving.add(self.client.submit(grade_there, *arguments, key=key, pure=True))
                if not running:
                    return
                ready = arriving.next_batch(block=True)  # all that are there: one question for all
                # What a worker had when it died, `gather` lets another one do again.
                for attempts in self.client.gather([f for f in ready if f.status != "error"]):
                    yield from attempts
                for future in ready:
                    group = running.pop(future.key)
                    if future.status == "error" and len(group) > 1:
                        again.extend(group)
                    elif future.status == "error":
                        yield lost(group[0], self.course, str(future.exception()))


_judges: dict[tuple[Path, int], Judge] = {}


def grade_there(jobs: list[Job], folder: Path, least: int) -> list[Attempt]:
    """Grade submissions on a worker of the cluster; each of its threads keeps a judge.

    Raises
    ------
    ClusterError
        If the worker has other checks than the one who writes the rows, or too low walls.
    """
    place = (folder, threading.get_ident())
    if place not in _judges:
        walls = best_walls()
        if (walls.level if walls else 0) < least:
            raise ClusterError("This worker cannot shut submissions in as well as is asked for.")
        _judges[place] = Judge(folder, walls)
    for job in jobs:
        if job.checks and _hash(folder, job.submission.exercise) != job.checks:
            raise ClusterError(f"This worker has other checks in {folder}.")
    return [_judges[place].grade(job) for job in jobs]


_hash = functools.cache(checks_hash)
