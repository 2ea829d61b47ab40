"""Say what a result is made of, and what identifies it.

After reading this file you can say what a row of the results holds, and which *key* it has: the
same work, checks and seed give the same key, and so one row. Read next: ``store.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from autodiff_kit.grading.messages import Fields

__all__ = [
    *("Attempt", "Comment", "Grade", "ManualMark", "Mark", "Override"),
    *("attempt_of", "override_of"),
    *(
        "BY_HAND",
        "EXCUSED",
        "NO_FILE",
        "OVERRIDE",
        "UNGRADED",
        "file_hash",
        "folder_hash",
        "key_of",
    ),
    "late_in_words",
    *("without_file", "without_superseded", "work_of"),
]

T = TypeVar("T", "Attempt", "Mark", "Override")
NO_FILE = "no file"
EXCUSED = "excused"
OVERRIDE = "override"
UNGRADED = "not graded yet"  # an answer that waits for a person
BY_HAND = "graded by hand"
ENGINE = 1  # the meaning of a row: changed with the engine, so that old rows are not mistaken


@dataclass(frozen=True)
class Mark:
    """What one step of one submission earned."""

    step: str
    points: float
    max: float
    status: str
    message: str = ""
    text: str = ""
    failures: str = ""
    """Names of the checks that took points, parted by a space."""
    picture: str = ""
    """What a check draws of its example, as HTML, or ``""``."""
    answer: str = ""
    """What was answered in words, or ``""``."""


class _Marked:
    """What has marks: their sums."""

    marks: tuple[Mark, ...]

    @property
    def points(self) -> float:
        """Points of all steps."""
        return sum(mark.points for mark in self.marks)

    @property
    def max(self) -> float:
        """Points there were to earn."""
        return sum(mark.max for mark in self.marks)


@dataclass(frozen=True)
class Attempt(_Marked):
    """One submission's result: a row that is written once."""

    key: str
    student: str
    name: str
    exercise: str
    version: int
    origin: str
    hash: str
    checks: str
    seed: str
    level: str
    status: str
    """"graded", "unreadable" (the learner's file), "fault" (the machine's; not yet graded), or "no
    file" (points come from the teacher's overrides alone)."""
    marks: tuple[Mark, ...]
    tries: int = 1
    seconds: float = 0.0
    note: str = ""
    """Whether it came late, and which other files the learner handed in for it, or ``""``."""
    draw: str = ""
    """Of what was performed: the number that its graph was drawn by. No two learners share one."""


@dataclass(frozen=True)
class Grade(_Marked):
    """What a learner has for an exercise: the chosen attempt, with the overrides on top."""

    student: str
    name: str
    exercise: str
    marks: tuple[Mark, ...]
    attempt: Attempt
    attempts: int
    handed_in: float = 0.0
    """Seconds since 1970, or 0 if that is not known."""
    days_late: int = 0
    share_off: float = 0.0
    """The share of what was earned that being late takes."""
    is_stale: bool = False
    """Whether it was judged by checks that have changed since."""
    waiting_elsewhere: int = 0
    """How many answers wait for a person in other attempts, which may come to count."""
    misfits: tuple[Override, ...] = ()
    """What a teacher gave for a step that has other points now, or that is no longer there."""

    @property
    def penalty(self) -> float:
        """The points that being late takes: of what was graded, not of what a teacher gave."""
        earned = sum(mark.points for mark in self.marks if mark.status != OVERRIDE)
        return round(earned * self.share_off, 2)

    @property
    def points(self) -> float:
        """Points of all steps, less those for being late."""
        return super().points - self.penalty if self.share_off else super().points

    @property
    def is_fault(self) -> bool:
        """Whether the machine failed to grade it, and no teacher has said what it is worth."""
        has_word = any(mark.status in (OVERRIDE, EXCUSED) for mark in self.marks)
        return self.attempt.status == "fault" and not has_word

    @property
    def ungraded(self) -> int:
        """How many answers wait for a person, before it is certain which attempt counts."""
        return len(self.waiting) + self.waiting_elsewhere

    @property
    def waiting(self) -> frozenset[tuple[str, str]]:
        """Step and text of the answers of this attempt that wait for a person."""
        return frozenset((m.step, m.answer) for m in self.marks if m.status == UNGRADED)

    @property
    def most(self) -> float:
        """The points there will be, if all answers that wait are right."""
        marks = (replace(m, points=m.max) if m.status == UNGRADED else m for m in self.marks)
        return replace(self, marks=tuple(marks)).points

    @property
    def is_excused(self) -> bool:
        """Whether nothing in it counts, neither for nor against the learner."""
        return bool(self.marks) and all(mark.status == EXCUSED for mark in self.marks)

    def out_of(self, total: float) -> float:
        """Return the points, or, where steps are excused, the share of the others in a total."""
        if self.max and any(mark.status == EXCUSED for mark in self.marks):
            return round(self.points * total / self.max, 2)
        return self.points


@dataclass(frozen=True)
class Comment:
    """What a teacher says to a learner of a step or an exercise; no text takes it back."""

    student: str
    exercise: str
    step: str
    """``""`` for the whole exercise."""
    text: str
    author: str
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class ManualMark:
    """What a person gave for an answer in words; another answer needs a mark of its own."""

    student: str
    exercise: str
    step: str
    answer: str
    """Which one: its digest."""
    points: float
    text: str
    """What the learner is told: the lines of the rubric that apply."""
    author: str
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class Override:
    """A teacher's word on a step: other points, excused, or that earlier words are withdrawn."""

    student: str
    exercise: str
    step: str
    points: float
    author: str
    reason: str
    at: float
    """Seconds since 1970."""
    withdrawn: bool
    excused: bool
    most: float = -1.0
    """The points that the step had then; -1 where older results do not say."""

    def fits(self, marks: Sequence[Mark]) -> bool:
        """Tell whether the step is there, and has the points that it had then."""
        points = [mark.max for mark in marks if mark.step == self.step]
        return bool(points) and (self.excused or self.most in (-1.0, points[0]))


_KINDS: dict[str, type | tuple[type, ...]] = {
    **{"str": str, "int": int, "bool": bool, "float": (int, float)},
    "tuple[Mark, ...]": tuple,
}


def _typed(part: T) -> T:
    """Return a part of the results if all in it is of the right kind."""
    for field in fields(part):
        if not isinstance(getattr(part, field.name), _KINDS[str(field.type)]):
            raise TypeError(f"no {field.type} in {field.name}")
    return part


def attempt_of(row: Fields) -> Attempt:
    """Return an attempt as a row of the results holds it.

    Raises
    ------
    KeyError, IndexError, TypeError, ValueError
        If the row is damaged.
    """
    marks = tuple(_typed(Mark(**mark)) for mark in json.loads(row["marks"]))
    values = {field.name: row[field.name] for field in fields(Attempt)}
    return _typed(Attempt(**{**values, "marks": marks}))


def override_of(row: Fields) -> Override:
    """Return a teacher's word as a row of the results holds it; errors as for `attempt_of`."""
    values = {field.name: row[field.name] for field in fields(Override)}
    return _typed(
        Override(**{**values, **{name: bool(row[name]) for name in ("withdrawn", "excused")}})
    )


def late_in_words(grade: Grade) -> str:
    """Return how late work came and what that takes, for people."""
    days = f"{grade.days_late} day{'' if grade.days_late == 1 else 's'} late"
    return f"{days}: {-grade.penalty:g} points" if grade.penalty else days


def work_of(digest: str, origin: str) -> str:
    """Return what tells a piece of work from another: its hash; if it is empty, which file it is.

    Parameters
    ----------
    digest : str
        Of the file's bytes.
    origin : str
        Where it was found.
    """
    return origin if digest == file_hash(b"") else digest


def without_superseded(
    attempts: Sequence[Attempt], checks: Mapping[str, str] = MappingProxyType({})
) -> list[Attempt]:
    """Return those attempts that count: one for each piece of work.

    What was graded again, as the checks had changed, has one row for each state of them. That of
    the current checks counts, else the last one, unless the machine failed it. Work without a file
    counts where there is no other.

    Parameters
    ----------
    attempts : sequence of Attempt
        Of one learner, in the order in which they were graded.
    checks : mapping of exercise to hash
        The current ones, where they are known.
    """
    last: dict[tuple[str, str], Attempt] = {}
    for attempt in attempts:
        work = (attempt.exercise, work_of(attempt.hash, attempt.origin))
        before = last.get(work)
        if before is None or _rank(attempt, checks) >= _rank(before, checks):
            last[work] = attempt
    counted = {attempt.key for attempt in last.values()}
    files = [a for a in attempts if a.key in counted and a.status != NO_FILE]
    return files or [attempt for attempt in attempts if attempt.key in counted]


def _rank(attempt: Attempt, checks: Mapping[str, str]) -> tuple[bool, bool]:
    is_current = attempt.checks == checks.get(attempt.exercise)
    return attempt.status != "fault", is_current


def without_file(
    student: str, name: str, exercise: str, version: int, steps: Mapping[str, float]
) -> Attempt:
    """Return the row of work on paper, or talked through, that overrides can be given for.

    Parameters
    ----------
    student, name, exercise : str
    version : int
    steps : mapping of step to points
    """
    return Attempt(
        key=key_of(NO_FILE, student, exercise),
        student=student,
        name=name,
        exercise=exercise,
        version=version,
        origin=NO_FILE,
        hash=file_hash(b""),
        checks="",
        seed="",
        level="none",
        status=NO_FILE,
        marks=tuple(Mark(step, 0, points, NO_FILE) for step, points in steps.items()),
    )


def key_of(*parts: object) -> str:
    """Return the name of a result: the same parts, the same key, and so the same row."""
    text = json.dumps([ENGINE, *map(str, parts)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def file_hash(data: bytes) -> str:
    """Return the hash of a submission's bytes."""
    return hashlib.sha256(data).hexdigest()


def folder_hash(folder: Path) -> str:
    """Return the hash of all that decides about an exercise: the files of its checks."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            whole.update(os.fsencode(path.relative_to(folder).as_posix()) + b"\0")
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:32]
