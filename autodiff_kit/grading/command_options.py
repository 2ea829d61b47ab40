"""The options that several of the teacher's commands have, and how their errors are told.

Read next: ``commands.py``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from autodiff_kit.grading import engine_dask
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.grades import POLICIES
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.store import Store, StoreError

__all__ = ["COURSE", "POLICY", "RESULTS", "RESULTS_FOLDER", "course_in", "explained", "learner"]

RESULTS = "results.sqlite"
COURSE = click.option(
    "--course",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder with course.toml; else the one around here, else the kit's own exercises.",
)
RESULTS_FOLDER = click.option(
    "--results",
    default="results",
    show_default=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder that `grade` wrote.",
)
POLICY = click.option(
    "--policy",
    type=click.Choice(POLICIES),
    default="best",
    show_default=True,
    help="Which of several attempts counts: by its points, or by when it was handed in.",
)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn the errors that a teacher can fix into their words, without a traceback."""
    try:
        yield
    except (ExerciseError, StoreError, Unreadable, engine_dask.ClusterError) as error:
        raise click.ClickException(str(error)) from error


def course_in(folder: Path | None) -> Course:
    """Return the course that is meant."""
    return open_course(find_course(folder or Path.cwd()))


def learner(store: Store, given: str, *, may_be_new: bool = False) -> str:
    """Return the number or name by which results know a learner, who may be called by both.

    StoreError if there is none, unless it may be a new one, or if there is more than one of that
    name; says who may be meant.
    """
    known = store.learners()
    if any(given == student for student, _ in known):
        return given
    folded = given.casefold()
    named = {student for student, name in known if name.casefold() == folded}
    if len(named) == 1:
        return named.pop()
    if may_be_new and not named:
        return given
    near = [
        f"{student} ({name})" if name != student else student
        for student, name in known
        if folded in student.casefold() or folded in name.casefold()
    ]
    hint = f"\n-> Did you mean: {', '.join(dict.fromkeys(near[:10]))}" if near else ""
    many = f"There is more than one {given!r} in" if named else f"No results for {given!r} in"
    raise StoreError(f"{many} {store.path.parent}.{hint}")
