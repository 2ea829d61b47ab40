"""Find the submissions in whatever a teacher has: folders, a zip, loose files.

After reading this file you can say which of several files of one learner counts, and what becomes
of a file that is not what it seems: whatever cannot be read becomes a submission with a `problem`,
so that it ends as a row of the results like any other. Read next: ``store.py``.
"""

from __future__ import annotations

import contextlib
import datetime
import inspect
import math
import re
import time
import zoneinfo
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from autodiff_kit.grading import notebook
from autodiff_kit.grading.calls import Call, Limits, Runner, clean
from autodiff_kit.grading.due import is_plausible
from autodiff_kit.grading.handed_in import (
    AROUND,
    CANDIDATES,
    MAX_FILE,
    NBGRADERS,
    File,
    files_in,
    unzipped,
)
from autodiff_kit.grading.identity import Names, Submission, readable, told_apart
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.places import grade_ids
from autodiff_kit.grading.worker import Level0

__all__ = ["MAX_FILES", "UNREADABLE_TIME", "find"]

UNREADABLE_TIME = "Time stamp not readable."
MAX_FILES = 100  # files of one learner that are looked at
MAX_TOGETHER = 2 * MAX_FILE  # bytes of all of them
MAX_ZIPS = 5  # of one learner for the same exercise: a course has one of `submit` for each
MAX_RIVALS = 10  # of one learner for the same exercise that are looked into
MAX_TIED = 3  # of these that are graded
MAX_SEEN = 1_000  # files in one learner's folder
LOOKING = Limits(seconds=3, memory=512, total=3)  # into one of several files
MAX_UNPACKING = 10.0  # seconds, for all zips of one learner
UNPACKING_EACH = 1.0  # seconds more, for each exercise of the course
# Abbreviations that name one zone, in hours before (+) or behind Greenwich.
_HOURS = {
    **{"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3},
    **{"EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9},
}
MAX_LOOKING = 6.0  # seconds, into all of one learner's files for an exercise
_CUT = f"More than {MAX_FILES} files: the others are not read."


def find(
    place: Path,
    exercises: Sequence[str],
    exercise: str = "",
    pattern: str = "",
    runner: Runner | None = None,
    tasks: Mapping[str, Collection[str]] | None = None,
) -> Iterator[Submission]:
    """Yield the submissions in a folder, a zip, or a single file.

    Parameters
    ----------
    place : Path
        nbgrader's ``student/exercise/file``, Moodle's or Canvas' zip (packed or unpacked), or files
        with the learner's name; a learner's own zip (``autodiff-kit submit``) stands for a file.
    exercises : sequence of str
        The folder names of the course's exercises; one of them in the path says which it is, else
        the ids of a notebook's cells.
    exercise : str
        Which it is where no path says so.
    pattern : str
        A regular expression with the groups ``student`` and perhaps ``name`` and ``exercise``, for
        paths that are built in another way. It has to fit from a path's beginning on.
    runner : Runner, optional
        Where learners' zips are unpacked, and where several files of one learner for the same
        exercise are looked into; else in a plain process.
    tasks : mapping of exercise to names, optional
        What each exercise asks for: it tells a notebook that was worked on from an untouched one.

    Yields
    ------
    Submission - learner by learner, each one's sorted by path; also for what cannot be read (with
    a `problem`).
    """
    names = Names(exercises, exercise, re.compile(pattern) if pattern else None)
    names.is_alone = place.is_file() and place.suffix.lower() != ".zip"
    with contextlib.ExitStack() as stack:
        # Folders with those of the learners in them; where a pattern says so, all may be such.
        around = (AROUND, [word.casefold() for word in names.words])
        files = list(files_in(place, stack, around, None if pattern else MAX_SEEN))
        tops = {PurePosixPath(readable(file.path)).parts[:1] for file in files}
        if len(tops) == 1 and all("/" in file.path for file in files):
            (top,) = tops.pop()
            own = "" if place.is_dir() else place.stem.casefold()  # class.zip with class/ in it
            names.around = top if top.casefold() in (*AROUND, own) else ""
        folder = place.resolve().name if place.is_dir() else ""
        names.is_nbgraders = NBGRADERS in (names.around, folder)
        times = {
            PurePosixPath(f.path).parent: [_time_in(f)] for f in files if names.is_timestamp(f.path)
        }
        files = [f for f in files if not names.is_timestamp(f.path)]
        names.read_together(file.path for file in files)
        labels = [_timed(names.label(f.path), [*_above(f.path, times), f.time]) for f in files]
        written: dict[str, set[str]] = {}
        for file, label in zip(files, labels, strict=True):
            written.setdefault(label.student, set()).add(names.written(file.path))
        learners: dict[str, list[tuple[File, Submission]]] = {}
        for file, label in zip(files, labels, strict=True):
            label = told_apart(label, names.written(file.path), written[label.student])
            learners.setdefault(label.student, []).append((file, label))
        for handed_in in learners.values():
            runner = runner or Level0()
            read = _identified(_read(handed_in, names, runner), names.exercises, runner)
            cut = _CUT if len(handed_in) > MAX_FILES else ""
            for submission in _chosen(list(read), tasks or {}, runner):
                yield replace(submission, note=f"{submission.note} {cut}".strip())


def _read(
    files: list[tuple[File, Submission]], names: Names, runner: Runner
) -> Iterator[Submission]:
    """Yield what one learner has handed in, zips unpacked; those of no use have a `problem`."""
    size, unpacking = 0, 0.0
    zips = Counter[str]()
    most = MAX_UNPACKING + UNPACKING_EACH * len(names.exercises)
    for file, label in files[:MAX_FILES]:
        try:
            if size > MAX_TOGETHER:
                raise Unreadable(f"All files together have more than {MAX_TOGETHER // 2**20} MiB.")
            data = file.read()
            size += len(data) * (file.suffix in CANDIDATES)
            zips[label.exercise] += file.suffix == ".zip"
            if file.suffix == ".zip" and zips[label.exercise] > MAX_ZIPS:
                raise Unreadable(f"More than {MAX_ZIPS} zips: this one is not read.")
            if file.suffix == ".zip" and unpacking > most:
                raise Unreadable("Other zips took too long: this one is not read.")
            if file.suffix == ".zip":
                begun = time.monotonic()
                try:
                    unpacked = unzipped(data, runner)
                finally:
                    unpacking += time.monotonic() - begun
                for path, inside in unpacked:
                    inner = names.label(f"{file.path}/{path}", label)
                    suffix = PurePosixPath(path).suffix.lower()
                    size += len(inside)
                    yield replace(inner, data=inside, suffix=suffix)
            elif file.suffix in CANDIDATES:
                yield replace(label, data=data, suffix=file.suffix)
            else:
                problem = f"Not a notebook or .py file: {clean(file.suffix, 20)}"
                real = PurePosixPath(file.path).stem
                if real.lower().endswith(CANDIDATES):
                    problem += f"; rename it to {clean(PurePosixPath(real).name, 100)}"
                yield replace(label, problem=problem)
        except Unreadable as problem:
            suffix = clean(file.suffix, 20)  # of a link or a huge file it may be anything
            yield replace(label, suffix=suffix, problem=clean(str(problem), 300))


def _above(path: str, times: Mapping[PurePosixPath, list[float]]) -> list[float]:
    """Return the time that nbgrader wrote into the folder of an exercise: for all that is below."""
    return next((times[folder] for folder in PurePosixPath(path).parents if folder in times), [])


def _time_in(file: File) -> float:
    """Return the time that nbgrader wrote into a file, in seconds since 1970; NaN for no time."""
    try:
        words = file.read()[:100].decode().split()
        return _in_zone(" ".join(words[:2]), "".join(words[2:3])).timestamp() or math.nan
    except (Unreadable, ValueError, LookupError, OverflowError, OSError):  # also of zoneinfo
        return math.nan


def _in_zone(text: str, zone: str) -> datetime.datetime:
    """Return a time with its zone, as nbgrader writes what the course has configured.

    An abbreviation that this machine uses is meant as it is here; of others, those that name one
    zone are known.
    """
    if not zone or zone in time.tzname:
        return datetime.datetime.fromisoformat(text)  # here
    if "/" in zone:  # Europe/Berlin
        return datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(zone))
    hours = _HOURS.get(zone)
    offset = zone if hours is None else f"{'+' if hours >= 0 else '-'}{abs(hours):02}:00"
    return datetime.datetime.fromisoformat(text + offset)


def _timed(label: Submission, times: Sequence[float]) -> Submission:
    """Return a submission with the first time that can be; one that cannot be is told."""
    handed_in = next(filter(is_plausible, times), 0.0)
    words = "" if all(is_plausible(t) or not t for t in times) else UNREADABLE_TIME
    return replace(label, handed_in=handed_in, note=f"{label.note} {words}".strip())


def _identified(
    handed_in: Iterator[Submission], exercises: Sequence[str], runner: Runner
) -> Iterator[Submission]:
    """Yield submissions; a notebook whose path names no exercise is of the one its cells are of."""
    driver = (
        f"import json\n{inspect.getsource(grade_ids)}\n{inspect.getsource(_ids)}\ndrive = _ids\n"
    )
    looking = 0.0
    for s in handed_in:
        if not s.exercise and not s.problem and s.suffix == ".ipynb" and looking < MAX_LOOKING:
            begun = time.monotonic()
            call = Call(driver, np.frombuffer(s.data, np.uint8), is_example=True)
            (reply,) = runner.run_calls("", [call], LOOKING)
            looking += time.monotonic() - begun
            ids = reply.value if isinstance(reply.value, list) else []
            numbers = {part.partition("-")[0] for part in ids if isinstance(part, str)}
            fits = [name for name in exercises if name.partition("_")[0] in numbers]
            if len(fits) == 1:
                s = replace(s, exercise=fits[0], note=f"{s.note} Known by its cells.".strip())
        yield s


def _ids(step: Any, data: Any) -> Any:
    """Return the ids of a notebook's cells: read where a harmful file does no harm."""
    return sorted(grade_ids(data.tobytes()))[:1000]


def _chosen(
    handed_in: list[Submission], tasks: Mapping[str, Collection[str]], runner: Runner
) -> Iterator[Submission]:
    """Yield those of a learner's files that count.

    What can be read counts before what cannot: a picture beside a notebook is no submission, and a
    picture alone is all that was submitted. Then the file in which most was done counts: browsers
    and JupyterLab write finished work to ``name (1).ipynb`` or ``name-Copy1.ipynb``, beside the
    untouched notebook. Where that is equal, a notebook counts before a script, and one with the
    exercise's own name before others.
    """
    known = [s for s in handed_in if s.exercise]
    by_exercise: dict[str, list[Submission]] = {}
    for submission in known or handed_in:
        by_exercise.setdefault(submission.exercise, []).append(submission)
    for exercise, rivals in by_exercise.items():
        if not exercise:
            words = "Which exercise is this? Its name stands nowhere in the path (see --exercise)."
            rivals = [replace(rival, problem=rival.problem or words) for rival in rivals]
        best = [rival for rival in rivals if not rival.problem] or rivals
        best = _most_done(best, tasks.get(exercise, ()), runner)
        best = [rival for rival in best if rival.suffix == ".ipynb"] or best
        named = [r for r in best if PurePosixPath(r.origin).stem.casefold() == exercise.casefold()]
        depth = min((rival.origin.count("/") for rival in named), default=0)
        best = [rival for rival in named if rival.origin.count("/") == depth] or best
        if len(best) > MAX_RIVALS or len({rival.data for rival in best}) > MAX_TIED:
            words = f"Which of these {len(best)} files is it? Its name should be {exercise}.ipynb."
            best = [replace(best[0], data=b"", problem=words)]
        counted = {submission.origin for submission in best}
        others = [s.origin for s in handed_in if s.exercise in (exercise, "") and _is_work(s)]
        for s in best:
            yield replace(s, note=f"{s.note} {_note(s, counted, others)}".strip())


def _is_work(submission: Submission) -> bool:
    return submission.suffix in (*CANDIDATES, ".zip")


def _note(submission: Submission, counted: set[str], others: list[str]) -> str:
    """Say which files do not count because of this one, or which ones do so beside it."""
    left_out = [origin for origin in others if origin not in counted]
    beside = [origin for origin in others if origin in counted - {submission.origin}]
    parts = []
    for words, origins in (("not counted", left_out), ("also graded", beside)):
        if origins:
            more = f" and {len(origins) - 3} more" if len(origins) > 3 else ""
            parts.append(f"{words}: {', '.join(origins[:3])}{more}")
    return clean(f"One of several files; {'; '.join(parts)}.") if parts else ""


def _most_done(
    rivals: list[Submission], names: Collection[str], runner: Runner
) -> list[Submission]:
    """Return those rivals in which most of what is asked for was worked on."""
    if len(rivals) < 2 or not names:
        return rivals
    reader = inspect.getsource(notebook)
    driver = f"{inspect.getsource(_look)}\n\ndrive = _look\n"
    latest = time.monotonic() + MAX_LOOKING
    points_of: dict[bytes, int] = {}
    for rival in sorted(rivals, key=lambda rival: (rival.suffix, len(rival.origin), rival.origin)):
        if (
            rival.data not in points_of
            and len(points_of) < MAX_RIVALS
            and time.monotonic() < latest
        ):
            data = np.frombuffer(rival.data, np.uint8)
            question = {"data": data, "suffix": rival.suffix, "names": [*names], "reader": reader}
            (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], LOOKING)
            points_of[rival.data] = reply.value if isinstance(reply.value, int) else 0
    most = max(points_of.values())
    return [rival for rival in rivals if points_of.get(rival.data, 0) == most]


def _look(step: Any, data: Any) -> Any:
    """Return how much was worked on in a file: read where a harmful file does no harm."""
    import sys
    import types

    module = sys.modules["reader"] = types.ModuleType("reader")
    exec(data["reader"], module.__dict__)
    return module.worked_on(data["data"].tobytes(), data["suffix"], data["names"])
