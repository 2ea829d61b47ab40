"""Grade many submissions on this machine: judges side by side, and one that writes.

After reading this file you can say what is graded and what has its row already, where the inputs
of an attempt come from, why any number of judges gives the same table, and why a grader that is
killed and started again does so, too. Read next: ``engine_dask.py``, the same on many machines.
"""

from __future__ import annotations

import contextlib
import hmac
import itertools
import json
import queue
import threading
import time
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.course_files import checks_hash
from autodiff_kit.grading.hand_ins import HandIn, hand_in_of, keep
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.judging import Judge
from autodiff_kit.grading.messages import Fields
from autodiff_kit.grading.one_submission import Job
from autodiff_kit.grading.results import Attempt, file_hash, key_of
from autodiff_kit.grading.sandbox import Walls
from autodiff_kit.grading.store import Store, StoreError

__all__ = ["Engine", "Local", "Summary", "grade", "seed_of"]

MAX_LEARNER = 900.0  # seconds of one run that all files of one learner may take
WRITE_EVERY = 0.25  # seconds; what a kill can cost, and is then done again
Engine = Callable[[Iterable[Job]], Iterator[Attempt]]


@dataclass
class Summary:
    """What came of a run."""

    submissions: int = 0
    graded: int = 0
    known: int = 0  # had their row from an earlier run
    faults: int = 0
    at_fault: list[str] = field(default_factory=list)  # whose work, and for which exercise
    changed: int = 0  # rows that another program had changed, set right again
    seconds: float = 0.0


def grade(
    submissions: Iterable[Submission],
    course: Course,
    store: Store,
    engine: Engine,
    *,
    secret: int,
    shard: tuple[int, int] = (1, 1),
    guard: bool = False,
    counts: bool = True,
    place: str = "",
    author: str = "",
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
    secret : int
        Decides, together with who hands in what, on the random inputs: see `seed_of`.
    shard : (int, int)
        (2, 5) grades the second of five parts.
    guard : bool
        Undo whatever else was done to the results meanwhile: for runs without walls.
    counts : bool
        Let the checks of this run be those that count from now on.
    place, author : str
        What is graded and by whom: the run is kept under these, and can be withdrawn.
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
    hand_ins: list[HandIn] = []
    order: dict[tuple[str, str], deque[str]] = {}  # keys of a learner's attempts, as handed in
    ready: dict[str, Attempt] = {}
    spent: dict[str, float] = defaultdict(float)
    before = store.last_numbers()
    written: dict[str, Attempt] = {}
    checks = {name: checks_hash(course.folder, name) for name in course.names}

    def kept(data: bytes) -> None:
        try:
            keep(store.path.parent, data)
        except OSError as error:
            raise StoreError(
                f"Cannot keep what was handed in, in {store.path.parent}: {error.strerror}\n"
                "-> Make room, then run the same command again: it goes on where it was."
            ) from error

    def jobs() -> Iterator[Job]:
        for submission in map(legible, submissions):
            name = f"{submission.student}/{submission.exercise}"
            if zlib.crc32(name.encode()) % shard[1] != shard[0] - 1:
                continue
            summary.submissions += 1
            if spent[submission.student] > MAX_LEARNER and not submission.problem:
                words = f"Files before this one took more than {MAX_LEARNER:g} s: it is not run."
                submission = replace(submission, problem=words)
            job = _job(submission, course, checks, secret)
            hand_ins.append(hand_in_of(submission))
            if submission.data:
                kept(submission.data)
            if job.key in known:
                summary.known += 1
            else:
                known.add(job.key)  # the same file twice is one submission
                order.setdefault((submission.student, submission.exercise), deque()).append(job.key)
                yield job

    waiting: list[Attempt] = []
    latest = time.monotonic()

    def write() -> None:
        store.add(waiting)
        written.update((attempt.key, attempt) for attempt in waiting)
        waiting.clear()
        summary.seconds = time.monotonic() - start
        progress(summary)

    def checked() -> None:
        """Throw away the results of a run without walls, if it changed what they were judged by."""
        spoiled = [n for n in course.names if checks_hash(course.folder, n) != checks[n]]
        if spoiled:
            store.forget(written)
            raise StoreError(
                f"The checks in {course.folder} were changed during the run, which had no walls: "
                f"{', '.join(spoiled)}. Its {len(written)} results were thrown away.\n"
                "-> Get the checks back from where you keep them, and grade again behind walls: "
                "see `autodiff-kit doctor`."
            )

    try:
        for attempt in engine(jobs()):
            # The last attempt is the one handed in last, and not the one that took longest.
            ready[attempt.key] = attempt
            spent[attempt.student] += attempt.seconds
            keys = order.get((attempt.student, attempt.exercise), deque())
            while keys and keys[0] in ready:
                waiting.append(ready.pop(keys.popleft()))
            summary.graded += 1
            if attempt.status == "fault":
                summary.faults += 1
                summary.at_fault.append(f"{attempt.name} ({attempt.exercise})")
            if time.monotonic() - latest > WRITE_EVERY:
                write()
                latest = time.monotonic()
        waiting.extend(ready.values())
        write()
    except BaseException:
        with contextlib.suppress(StoreError):
            write()
        if guard:
            with contextlib.suppress(StoreError):
                store.set_right(written, before)
            checked()
        # What has its row keeps the time of its hand-in, too, or being late would cost nothing.
        with contextlib.suppress(StoreError):
            store.note_hand_ins(hand_ins, {}, place=place, author=author)
        raise
    if guard:
        summary.changed = store.set_right(written, before)
        checked()
    used = {hand_in.exercise for hand_in in hand_ins} & set(checks) if counts else set()
    counting = {name: checks[name] for name in used}
    store.note_hand_ins(hand_ins, counting, place=place, author=author)
    return summary


def legible(submission: Submission) -> Submission:
    """Return a submission whose texts can be sent and stored; one that had others says so."""
    texts = {name: text for name, text in vars(submission).items() if isinstance(text, str)}
    spoiled = {name: t for name, t in texts.items() if t != t.encode("utf-8", "replace").decode()}
    if not spoiled:
        return submission
    words = f"The name of the file cannot be read as text: {clean(submission.origin, 100)}"
    cleaned: Fields = {name: clean(text, 300) for name, text in spoiled.items()}
    return replace(submission, **{**cleaned, "problem": cleaned.get("problem", "") or words})


def _job(submission: Submission, course: Course, checks: dict[str, str], secret: int) -> Job:
    content = file_hash(submission.data)
    if submission.problem:
        content = f"{submission.problem} {submission.origin}"
    decides = checks.get(submission.exercise, "")
    who = (submission.student, submission.exercise)
    key = key_of(*who, content, decides, secret)
    return Job(key, submission, decides, seed_of(secret, *who, content))


def seed_of(secret: int, *attempt: str) -> int:
    """Return the seed of the inputs of one attempt: without the secret it cannot be computed.

    Parameters
    ----------
    secret : int
        Of the results: `Store.fact` keeps it.
    attempt : str
        Student, exercise and hash of what was handed in. So each learner has inputs of their own,
        and another submission gets other inputs; no count of attempts is needed, on
        which two shards would have to agree.
    """
    text = json.dumps(attempt).encode()
    return int.from_bytes(hmac.digest(str(secret).encode(), text, "sha256")[:8]) >> 1


class Local:
    """Judges on this machine, each a process with a fork server of its own.

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
        source = iter(jobs)
        todo: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        results: queue.SimpleQueue[Attempt | Exception] = queue.SimpleQueue()
        judges = [Judge(self.course.folder, self.walls) for _ in range(self.workers)]

        def work(judge: Judge) -> None:
            while (job := todo.get()) is not None:
                try:
                    results.put(judge.grade(job))
                except Exception as error:
                    results.put(error)

        threads = [threading.Thread(target=work, args=(j,), daemon=True) for j in judges]
        for thread in threads:
            thread.start()
        running = 0
        try:
            while True:
                for job in itertools.islice(source, 2 * self.workers - running):
                    todo.put(job)
                    running += 1
                if not running:
                    return
                outcome = results.get()
                running -= 1
                if isinstance(outcome, Exception):
                    raise outcome
                yield outcome
        finally:
            for _ in threads:
                todo.put(None)
            for judge in judges:
                judge.close()
