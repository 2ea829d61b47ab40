"""Work out grades: which of a learner's attempts counts, with the teacher's words on top.

After reading this file you can say what an override does to each attempt, and why work that was
excused counts neither for nor against. Read next: ``store.py``, which holds what this is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from autodiff_kit.grading.results import (
    EXCUSED,
    NO_FILE,
    Attempt,
    Grade,
    Mark,
    Override,
    without_superseded,
)

__all__ = ["grades_of"]

_Who = tuple[str, str]


def grades_of(
    attempts: Iterable[Attempt],
    overrides: Iterable[Override],
    places: Mapping[str, int],
    placed: Collection[tuple[str, str]],
    last: Mapping[_Who, str],
) -> list[Grade]:
    """Return the grade of each learner in each exercise, in the order of the attempts.

    Parameters
    ----------
    attempts : iterable of Attempt
    overrides : iterable of Override
        The oldest first.
    places : mapping of key to int
        The order in which work was handed in or graded.
    placed : collection of (student, origin or hash)
        Files whose exercise is known: their rows without an exercise do not count.
    last : mapping of (student, exercise) to key
        The attempts that count; else the best one.
    """
    words: dict[_Who, dict[str, Override]] = {}
    for override in overrides:
        by_step = words.setdefault((override.student, override.exercise), {})
        by_step[override.step] = override
    grouped: dict[_Who, list[Attempt]] = {}
    for attempt in attempts:
        files = {(attempt.student, attempt.origin), (attempt.student, attempt.hash)}
        if attempt.exercise or files.isdisjoint(placed):
            grouped.setdefault((attempt.student, attempt.exercise), []).append(attempt)
    grades = []
    for who, rows in grouped.items():
        latest = without_superseded(rows, places) if len(rows) > 1 else rows
        by_step = {step: o for step, o in words.get(who, {}).items() if not o.withdrawn}
        if latest[0].status == NO_FILE and not by_step:  # all overrides are withdrawn
            continue
        # An override counts for every attempt: which one is best is asked with it. If that
        # leaves two equal, the one that earned more is shown.
        rivals = [
            Grade(who[0], a.name, who[1], _overridden(a.marks, by_step), a, len(latest))
            for a in latest
        ]
        best = max(rivals, key=lambda grade: (grade.points, grade.attempt.points))
        key = last.get(who, best.attempt.key)
        grades.append(next((g for g in rivals if g.attempt.key == key), best))
    return grades


def _overridden(marks: Iterable[Mark], by_step: Mapping[str, Override]) -> tuple[Mark, ...]:
    """Return marks with the teacher's points in place of those that were earned."""
    return tuple(_as_said(m, by_step[m.step]) if m.step in by_step else m for m in marks)


def _as_said(mark: Mark, override: Override) -> Mark:
    if override.excused:
        return Mark(mark.step, 0, 0, EXCUSED, EXCUSED, "Excused: it does not count.")
    return Mark(mark.step, override.points, mark.max, "override", mark.message, mark.text)
