"""Exercises that are not written: lines put in order, gaps filled, a graph performed.

After reading this file you can put each into a notebook. Lines and gaps lead to a written exercise;
they are made of its solution and known mistakes by ``autodiff-kit build``. A graph is performed for
points of its own. And the engine that was written shows its graph. Read next: ``judge.py``, then
``performing.py`` and ``own_graph.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_kit.grading.course import Course
    from autodiff_kit.grading.exercise import Exercise
    from autodiff_kit.grading.puzzles import Puzzle
    from autodiff_kit.puzzles.card import GapsCard, ParsonsCard
    from autodiff_kit.puzzles.own_graph import Node
    from autodiff_kit.puzzles.performing import Performance
    from autodiff_kit.widgets.stepper import Stepper

__all__ = ["answers", "gaps", "parsons", "perform", "show_graph"]


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


def perform(key: str, *, course: Course | None = None) -> Performance:
    """Show a graph that is drawn for the learner, to be performed for points.

    Run again, it stands where it stood. At its end another graph can be drawn.

    Parameters
    ----------
    key : str
        Id of an exercise of ``kind = "perform"``, such as ``"17.one_pass"``.
    course : Course, optional
        As in :func:`parsons`.

    Returns
    -------
    Performance - shown when it is the last line of a cell.

    Raises
    ------
    ExerciseError
        If there is no such exercise, or if it is written.
    """
    from autodiff_kit.puzzles.performing import Performance

    return Performance(*_place(key, course))


def answers(key: str, *, course: Course | None = None) -> None:
    """Write what was answered into the cell that runs, as code to hand in.

    Parameters
    ----------
    key : str
        Id of an exercise of ``kind = "perform"``.
    course : Course, optional
        As in :func:`parsons`.

    Raises
    ------
    ExerciseError
        If there is no such exercise, or if it is written.
    """
    from autodiff_kit.puzzles.performing import answered

    print(answered(*_place(key, course), sys._getframe(1).f_globals))


def _place(key: str, course: Course | None) -> tuple[Exercise, Path | None]:
    from autodiff_kit.grading.course import find_course, open_course
    from autodiff_kit.grading.progress import folder_of_work

    course = course or open_course(find_course(Path.cwd()))
    exercise = course.exercise(key)
    return exercise, folder_of_work(course, exercise)


def _puzzles(key: str, course: Course | None) -> tuple[Exercise, list[Puzzle], Path | None]:
    from autodiff_kit.grading.course import find_course, open_course
    from autodiff_kit.grading.puzzles import puzzles_in

    course = course or open_course(find_course(Path.cwd()))
    exercise, folder = _place(key, course)
    return exercise, puzzles_in(course.folder, exercise), folder


def show_graph(root: Node, backward: Callable[[Any], object] | None = None) -> Stepper:
    """Show the graph that your own engine left behind a node, and its backward pass, step by step.

    The numbers are those of your nodes. The steps of the backward pass are what your ``backward``
    does: which rule it asks next, with which gradient, and what is in ``.grad`` at the end. It is
    run for that, and each ``.grad`` is afterwards what it was before.

    Parameters
    ----------
    root : Node
        Of the class that you wrote in exercise 01.
    backward : callable (root), optional
        The default is the ``backward`` of the notebook that calls this; without one, only the graph
        is shown.

    Returns
    -------
    Stepper - shown when it is the last line of a cell.

    Raises
    ------
    TypeError
        If something in the graph is no node.
    """
    from autodiff_kit.puzzles.own_graph import recorded
    from autodiff_kit.widgets.stepper import Stepper

    names = sys._getframe(1).f_globals
    if backward is None:
        backward = names.get("backward")
    code = str(names.get("In", [""])[-1])  # IPython's list of cells
    recording = recorded(root, names, backward, code)
    return Stepper(recording, title="The graph of your own engine")
