"""Work out grades: which of a learner's attempts counts, with the teacher's words on top.

After reading this file you can say which attempt is the best, the first or the last one, what being
late takes from it, for which answers a person's mark counts, what an override does to each attempt,
and why work that was excused counts neither for nor against. Read next: ``store.py``, which holds
what this is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from autodiff_kit.grading.due import Due
from autodiff_kit.grading.hand_ins import HandIn
from autodiff_kit.grading.questions import digest_of
from autodiff_kit.grading.results import (
    BY_HAND,
    EXCUSED,
    NO_FILE,
    OVERRIDE,
    UNGRADED,
    Attempt,
    Grade,
    ManualMark,
    Mark,
    Override,
    without_superseded,
    work_of,
)

__all__ = ["POLICIES", "Choice", "Evidence", "choices_of"]

_Who = tuple[str, str]

POLICIES = ("best", "last", "first")


@dataclass(frozen=True, order=True)
class _Event:
    """When work was handed in, and its place among what came then."""

    time: float
    number: int
    is_late: bool | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Evidence:
    """What is known beside the attempts.

    Attributes
    ----------
    overrides : iterable of Override
        The oldest first.
    manual_marks : iterable of ManualMark
        The oldest first.
    hand_ins : iterable of HandIn
        In the order in which they were found.
    placed : collection of (student, origin or hash)
        Files whose exercise is known: their rows without an exercise do not count.
    checks : mapping of exercise to hash
        The checks that count now.
    due : mapping of exercise to Due
    own_dates : mapping of (student, exercise) to seconds since 1970
        Dates that a teacher put off.
    withdrawn : collection of (student, exercise, work)
        What was handed in by withdrawn runs alone: it does not count.
    """

    overrides: Iterable[Override] = ()
    manual_marks: Iterable[ManualMark] = ()
    hand_ins: Iterable[HandIn] = ()
    placed: Collection[tuple[str, str]] = ()
    checks: Mapping[str, str] = field(default_factory=dict)
    due: Mapping[str, Due] = field(default_factory=dict)
    own_dates: Mapping[_Who, float] = field(default_factory=dict)
    withdrawn: Collection[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class Choice:
    """What was chosen of a learner's attempts at an exercise.

    Attributes
    ----------
    grade : Grade
    rivals : tuple of Grade
        What each attempt would be worth.
    open : tuple of Grade
        Those of them that may count, once all answers have their marks.
    """

    grade: Grade
    rivals: tuple[Grade, ...]
    open: tuple[Grade, ...]


def choices_of(attempts: Iterable[Attempt], known: Evidence, policy: str = "best") -> list[Choice]:
    """Return what counts for each learner in each exercise, in the order of the attempts.

    Parameters
    ----------
    attempts : iterable of Attempt
        Each learner's in the order in which they were graded.
    known : Evidence
    policy : {"best", "last", "first"}
        Which of several attempts counts: that with most points, or by the time of its hand-in.
    """
    words: dict[_Who, dict[str, Override]] = {}
    for override in known.overrides:
        by_step = words.setdefault((override.student, override.exercise), {})
        by_step[override.step] = override
    by_hand = {(m.student, m.exercise, m.step, m.answer): m for m in known.manual_marks}
    events: dict[tuple[str, str, str], list[_Event]] = {}
    for number, hand_in in enumerate(known.hand_ins):
        work = (hand_in.student, hand_in.exercise, hand_in.work)
        event = _Event(hand_in.handed_in, number, hand_in.is_late)
        events.setdefault(work, []).append(event)
    grouped: dict[_Who, list[Attempt]] = {}
    for attempt in attempts:
        files = {(attempt.student, attempt.origin), (attempt.student, attempt.hash)}
        work = (attempt.student, attempt.exercise, work_of(attempt.hash, attempt.origin))
        if work in known.withdrawn:
            continue
        if attempt.exercise or files.isdisjoint(known.placed):
            grouped.setdefault((attempt.student, attempt.exercise), []).append(attempt)
    choices = []
    for who, rows in grouped.items():
        latest = without_superseded(rows, known.checks) if len(rows) > 1 else rows
        by_step = {step: o for step, o in words.get(who, {}).items() if not o.withdrawn}
        if latest[0].status == NO_FILE and not by_step:  # all overrides are withdrawn
            continue
        due = known.due.get(who[1])
        rivals = []
        for place, a in enumerate(latest):
            unknown = [_Event(0.0, place - len(latest))]
            here = events.get((*who, work_of(a.hash, a.origin)), unknown)
            # The best and the first attempt are as late as the first time that it was handed in.
            event = (max if policy == "last" else min)(here)
            own = due.put_off(known.own_dates.get(who)) if due and a.status != NO_FILE else None
            # A mark counts for the answer that it was given for, an override for every attempt:
            # which one is best is asked with them.
            marks = tuple(_by_hand(mark, who, by_hand) for mark in a.marks)
            misfits = tuple(o for o in by_step.values() if not o.fits(a.marks))
            grade = Grade(
                *(who[0], a.name, who[1], _overridden(marks, by_step), a, len(latest)),
                handed_in=event.time,
                days_late=own.days_late(event.time, event.is_late) if own else 0,
                share_off=own.share(event.time, event.is_late) if own else 0.0,
                is_stale=a.status != NO_FILE and a.checks != known.checks.get(who[1], a.checks),
                misfits=misfits,
            )
            rivals.append((event, grade))
        if policy == "best":
            # If two are equal then, the one that earned more is shown.
            _, grade = max(rivals, key=lambda r: (r[1].points, r[1].attempt.points, -r[0].time))
        else:
            _, grade = (max if policy == "last" else min)(rivals, key=lambda rival: rival[0])
        # Of the best attempts, one with answers that wait may come to be better.
        rest = [g for _, g in rivals if g is not grade and g.most > grade.points]
        rest = rest if policy == "best" else []
        waiting = set().union(*(g.waiting for g in rest)) - grade.waiting
        grade = replace(grade, waiting_elsewhere=len(waiting))
        choices.append(Choice(grade, tuple(g for _, g in rivals), (grade, *rest)))
    return choices


def _by_hand(mark: Mark, who: _Who, marks: Mapping[tuple[str, str, str, str], ManualMark]) -> Mark:
    """Return a mark with what a person gave for its answer, if it waits for that."""
    if mark.status != UNGRADED:
        return mark
    word = marks.get((*who, mark.step, digest_of(mark.answer)))
    if word is None:
        return mark
    points = min(word.points, mark.max)
    return replace(mark, points=points, status=BY_HAND, text=word.text)


def _overridden(marks: Iterable[Mark], by_step: Mapping[str, Override]) -> tuple[Mark, ...]:
    """Return marks with the teacher's points in place of those that were earned."""
    return tuple(_as_said(m, by_step[m.step]) if m.step in by_step else m for m in marks)


def _as_said(mark: Mark, override: Override) -> Mark:
    if override.excused:
        return Mark(mark.step, 0, 0, EXCUSED, EXCUSED, "Excused: it does not count.")
    status, text = OVERRIDE, "" if mark.status == UNGRADED else mark.text
    is_bonus = not 0 <= override.points <= override.most
    points = override.points if is_bonus else min(override.points, mark.max)
    return replace(mark, points=points, status=status, text=text, failures="", picture="")
