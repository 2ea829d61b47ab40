"""Say what an exercise is: its steps and their points, its checks, hints, messages and mistakes.

After reading this file you can name every part of an exercise (what is asked in words is in
``questions.py``). Read next: ``loading.py``, which
reads one from its files, and ``marking.py``, which judges a learner's code by it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from autodiff_kit.grading.calls import Limits
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.questions import Question

__all__ = ["Exercise", "ExerciseError", "Hint", "Step", "Variant", "with_checks"]


class ExerciseError(Exception):
    """An exercise that is not there, or whose files do not fit together; says what to do."""


@dataclass(frozen=True)
class Step:
    """A part of an exercise with points of its own: the names that the learner defines."""

    id: str
    points: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class Hint:
    """One rung of the ladder; without a step it is for the whole exercise.

    It helps as long as one of its checks fails: those it names, else those of its step, else until
    one step is right.
    """

    step: str
    text: str
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """Code that takes the place of (parts of) the solution: a mutant or an alternative.

    Attributes
    ----------
    name : str
        Name of the mutant, or of the alternative's file without its ending.
    message : str
        Id of the message that a mutant must get; ``""`` for an alternative.
    code : str
    """

    name: str
    message: str
    code: str


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise: what is asked, by which checks it is judged, and what is said.

    Attributes
    ----------
    id, title, lesson, version, minutes
        ``"04.accumulate"``, its heading, the file name of its lesson, integers.
    name : str
        Its folder's name, ``"e04_accumulate"``.
    steps, checks, hints, mutants, alternatives
    messages : dict of str to str
        Message id, or name of a check -> text.
    given : str
        Code that the notebook brings along; it runs ahead of the learner's.
    locked : tuple of str
        The sources of the cells that learners get locked: given code and tests.
    solution : str
        The solution, as it stands in the source notebook.
    seconds, memory : float, int
        Limits for one call (seconds) and for the process (MiB).
    allowed : tuple of str
        Packages besides the standard library.
    reviewed : dict of str to str
        Automatic mutant -> why it is right to survive.
    kind : str
        ``"write"``, or ``"perform"``: then what is handed in are answers about a graph that was
        drawn for the learner.
    has_puzzles : bool
        Whether its solution may be shown in pieces, to be put in order.
    puzzle_shares : dict of str to float
        ``"parsons"`` or ``"gaps"`` -> the share of a step's points that it earns.
    questions : tuple of Question
        What is asked in words, and graded by a person.
    engine : tuple of str
        What is asked here and becomes a part of the engine that the exercises build together.
    whole_engine : bool
        Whether the learner brings that engine along: else the kit's parts stand around what is
        asked.
    """

    id: str
    title: str
    lesson: str
    version: int
    minutes: int
    name: str
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]
    hints: tuple[Hint, ...]
    messages: dict[str, str]
    mutants: tuple[Variant, ...]
    alternatives: tuple[Variant, ...]
    given: str
    locked: tuple[str, ...]
    solution: str
    seconds: float
    memory: int
    allowed: tuple[str, ...]
    reviewed: dict[str, str]
    kind: str = "write"
    has_puzzles: bool = False
    puzzle_shares: dict[str, float] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    engine: tuple[str, ...] = ()
    whole_engine: bool = False

    @property
    def points(self) -> float:
        """All points that its checks decide about."""
        return sum(step.points for step in self.steps)

    @property
    def points_by_part(self) -> dict[str, float]:
        """The points of each step and each question, by its id."""
        points = {step.id: step.points for step in self.steps}
        return points | {question.id: question.points for question in self.questions}

    @property
    def total(self) -> float:
        """All points of the exercise."""
        return sum(self.points_by_part.values())

    def helpful_hints(self, failures: Collection[str]) -> list[int]:
        """Return the numbers of the hints that help with what fails; all if nothing does.

        Parameters
        ----------
        failures : collection of str
            Names of the checks that failed at the last try.
        """
        steps = {check.step for check in self.checks if check.name in failures}

        def helps(hint: Hint) -> bool:
            if hint.checks:
                return not set(hint.checks).isdisjoint(failures)
            return hint.step in steps if hint.step else len(steps) == len(self.steps)

        every = range(len(self.hints))
        return [number for number in every if helps(self.hints[number])] or [*every]

    @cached_property
    def limits(self) -> Limits:
        """Limits for the learner's process."""
        return Limits(seconds=self.seconds, memory=self.memory)


@lru_cache(maxsize=256)
def with_checks(exercise: Exercise, names: tuple[str, ...]) -> Exercise:
    """Return an exercise with those of its checks that have these names."""
    checks = tuple(check for check in exercise.checks if check.name in names)
    return replace(exercise, checks=checks)
