"""Before a solution is written: its lines put in order, or gaps in it filled.

After reading this file you can put both into a notebook. They are made of the exercises' solutions
and known mistakes by ``autodiff-kit build``. Read next: ``judge.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autodiff_kit.grading.course import Course
    from autodiff_kit.grading.exercise import Exercise
    from autodiff_kit.grading.puzzles import Puzzle
    from autodiff_kit.puzzles.card import GapsCard, ParsonsCard

__all__ = ["gaps", "parsons"]


def parsons(key: str, *, course: Course | None = None) -> ParsonsCard:
    """Show the lines of an exercise's solution, and some wrong ones, to be put in order.

    Indentation is part of the answer. The code that the lines make is run and judged as `check`
    runs and judges a learner's: another order that computes the same is right.

    Parameters
    ----------
    key : str
        Id of the exercise, such as ``"04.accumulate"``.
    course : Course, optional
        The default is the course around the current folder, or the one that came with the kit.

    Returns
    -------
    ParsonsCard - shown when it is the last line of a cell.

    Raises
    ------
    ExerciseError
        If there is no such exercise, or if it has no puzzles.

    Examples
    --------
    >>> parsons("04.accumulate")
    04.accumulate: put the lines in order
    """
    from autodiff_kit.puzzles.card import ParsonsCard

    return ParsonsCard(*_puzzles(key, course))


def gaps(key: str, *, course: Course | None = None) -> GapsCard:
    """Show an exercise's solution with gaps, each with several things to choose from.

    Parameters
    ----------
    key : str
        Id of the exercise, such as ``"04.accumulate"``.
    course : Course, optional
        As in :func:`parsons`.

    Returns
    -------
    GapsCard - shown when it is the last line of a cell.

    Raises
    ------
    ExerciseError
        If there is no such exercise, or if it has no puzzles.

    Examples
    --------
    >>> gaps("04.accumulate")
    04.accumulate: fill the gaps
    """
    from autodiff_kit.puzzles.card import GapsCard

    return GapsCard(*_puzzles(key, course))


def _puzzles(key: str, course: Course | None) -> tuple[Exercise, list[Puzzle], Path | None]:
    from autodiff_kit.grading.course import find_course, open_course
    from autodiff_kit.grading.progress import folder_of_work
    from autodiff_kit.grading.puzzles import puzzles_in

    course = course or open_course(find_course(Path.cwd()))
    exercise = course.exercise(key)
    return exercise, puzzles_in(course.folder, exercise), folder_of_work(course, exercise)
