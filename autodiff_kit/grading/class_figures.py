"""Work out what a class's grades say about the exercises: how hard a step is, and for whom.

After reading this file you can say what difficulty and discrimination of a step are, of whom they
are worked out, and what learners' own progress files add. Read next: ``report_page.py``.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.export import is_empty, mistakes
from autodiff_kit.grading.progress import PROGRESS
from autodiff_kit.grading.results import EXCUSED, UNGRADED, Grade

__all__ = [*("Mistake", "Own", "Overview", "StepFigures", "in_short", "overview", "own_progress")]

FEWEST = 10  # learners, for a correlation that is worth a number
MAX_FILES, MAX_BYTES = 20_000, 4 * 2**20


@dataclass(frozen=True)
class StepFigures:
    """How a step was solved.

    Attributes
    ----------
    step : str
    count : int
        Learners who began the exercise and are not excused from the step.
    share : float
        The mean share of its points, from 0 to 1: the item's difficulty (which is its ease).
    full : int
        How many had all of its points.
    discrimination : float or None
        The correlation of the step's points with those of all other steps of the course, over the
        learners (the corrected item-total correlation). None of fewer than 10 learners, or if all
        have the same points.
    """

    step: str
    count: int
    share: float
    full: int
    discrimination: float | None


@dataclass(frozen=True)
class Mistake:
    """A mistake that learners made, and what one of them was told."""

    message: str
    count: int
    example: str


@dataclass(frozen=True)
class Overview:
    """What there is to say of one exercise.

    Attributes
    ----------
    exercise : Exercise
    shares : list of float
        Of all points, of each learner who began.
    most : float
        All points.
    empty, unreadable, late, excused : int
        Learners.
    steps : list of StepFigures
    mistakes : list of Mistake
        The commonest first.
    times : list of float
        Of the hand-ins, in seconds since 1970, as far as they are known.
    ungraded : int
        Answers in words that wait for a person.
    """

    exercise: Exercise
    shares: list[float]
    most: float
    empty: int
    unreadable: int
    late: int
    excused: int
    steps: list[StepFigures]
    mistakes: list[Mistake]
    times: list[float]
    ungraded: int = 0

    @property
    def median(self) -> float | None:
        """The median share of the points; None if no learner began."""
        return statistics.median(self.shares) if self.shares else None


def overview(exercise: Exercise, grades: Sequence[Grade]) -> Overview:
    """Return what a course's grades say of one of its exercises.

    Parameters
    ----------
    exercise : Exercise
    grades : sequence of Grade
        Of all exercises: what else a learner earned tells how much a step tells of them.
    """
    here = [grade for grade in grades if grade.exercise == exercise.name]
    counted = [grade for grade in here if not grade.is_excused]
    begun = [g for g in counted if g.attempt.status == "graded" and g.max and not is_empty(g)]
    totals: dict[str, float] = {}
    for grade in grades:
        totals[grade.student] = totals.get(grade.student, 0) + sum(m.points for m in grade.marks)
    texts: dict[str, str] = {}
    for grade in begun:
        for mark in grade.marks:
            message = mark.status if mark.status in ("timeout", "memory") else mark.message
            if mark.points < mark.max and mark.text and message not in texts:
                texts[message] = mark.text
    return Overview(
        exercise,
        shares=[grade.points / grade.max for grade in begun],
        most=max((grade.max for grade in begun), default=0.0),
        empty=sum(map(is_empty, counted)),
        unreadable=sum(grade.attempt.status == "unreadable" for grade in counted),
        late=sum(grade.days_late > 0 for grade in counted),
        excused=len(here) - len(counted),
        steps=[_figures(part, begun, totals) for part in exercise.points_by_part],
        mistakes=[
            Mistake(message, count, texts.get(message, ""))
            for message, count in mistakes(begun).most_common(8)
        ],
        times=sorted(grade.handed_in for grade in counted if grade.handed_in),
        ungraded=sum(grade.ungraded for grade in counted),
    )


def in_short(exercise: Exercise) -> dict[str, str]:
    """Return message id -> short words for teachers, where the id itself does not say enough."""
    words = {check.name: f"not right: {check.concept}" for check in exercise.checks}
    words |= {"timeout": "not ready in time", "memory": "too much memory"}
    return {**words, "does_not_run": "a cell stops with an error, or ends the process"}


def _figures(step: str, begun: Iterable[Grade], totals: Mapping[str, float]) -> StepFigures:
    own, rest, full = list[float](), list[float](), 0
    for grade in begun:
        for mark in grade.marks:
            if mark.step == step and mark.max and mark.status not in (EXCUSED, UNGRADED):
                own.append(mark.points / mark.max)
                rest.append(totals[grade.student] - mark.points)
                full += mark.points >= mark.max
    is_enough = len(own) >= FEWEST and len(set(own)) > 1 and len(set(rest)) > 1
    share = statistics.fmean(own) if own else 0.0
    return StepFigures(
        step, len(own), share, full, statistics.correlation(own, rest) if is_enough else None
    )


@dataclass
class Own:
    """What learners chose to hand in of their own progress, counted.

    Attributes
    ----------
    files : int
        That could be read.
    unread : list of str
        Those that could not.
    hints : dict of exercise's id to Counter of int
        Which hint (from 0) how many learners were shown.
    questions : dict of question's key to (right at first, answered)
    """

    files: int = 0
    unread: list[str] = field(default_factory=list)
    hints: dict[str, Counter[int]] = field(default_factory=dict)
    questions: dict[str, tuple[int, int]] = field(default_factory=dict)


def own_progress(folder: Path) -> Own:
    """Count what lies in a folder of learners' progress files, whatever they are called.

    Parameters
    ----------
    folder : Path
        With the files of exercises and lessons, in folders or not; what is no such file is left
        alone, what is damaged is named.
    """
    own = Own()
    paths = sorted(path for path in folder.rglob("*.json") if path.is_file())
    for path in paths[:MAX_FILES]:
        try:
            with open(path, "rb") as file:
                text = file.read(MAX_BYTES + 1)
            data = json.loads(text) if len(text) <= MAX_BYTES else None
        except (OSError, ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            own.unread.append(str(path.relative_to(folder)))
            continue
        answers, is_one = data.get("answers"), False
        if isinstance(answers, dict):
            is_one = True
            for key, answer in answers.items():
                if isinstance(answer, dict) and type(answer.get("right")) is bool:
                    right, count = own.questions.get(key, (0, 0))
                    own.questions[key] = right + answer["right"], count + 1
        elif path.name.endswith(PROGRESS):
            is_one = True
            for key, facts in data.items():
                hints = facts.get("shown") if isinstance(facts, dict) else None
                if isinstance(hints, list):
                    numbers = {n for n in hints if type(n) is int and 0 <= n < 100}
                    own.hints.setdefault(key, Counter()).update(numbers)
        own.files += is_one
    return own
