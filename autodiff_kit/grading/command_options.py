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
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.store import StoreError

__all__ = ["COURSE", "POLICY", "RESULTS", "RESULTS_FOLDER", "course_in", "explained"]

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
    type=click.Choice(["best", "last"]),
    default="best",
    show_default=True,
    help="Which of several attempts counts.",
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
