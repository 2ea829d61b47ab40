"""The command `report`: what a class's grades say about the exercises, as one page.

Read next: ``commands.py``.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from autodiff_kit.files import written_whole
from autodiff_kit.grading.class_figures import in_short, overview, own_progress
from autodiff_kit.grading.command_options import (
    COURSE,
    POLICY,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
    tell_ungraded,
)
from autodiff_kit.grading.report_page import report_page
from autodiff_kit.grading.store import Store

__all__ = ["report"]


@click.command()
@click.option("--to", default="report.html", show_default=True, type=Path)
@click.option(
    "--progress",
    "handed_in",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder with the progress files of learners who chose to hand them in.",
)
@RESULTS_FOLDER
@POLICY
@COURSE
def report(
    to: Path, handed_in: Path | None, results: Path, policy: str, folder: Path | None
) -> None:
    """Write a report on the class: one page that names no learner and can be shown in class.

    It has the distribution of points by exercise and step, how hard a step is and whether it tells
    the strong from the weak, the commonest mistakes with an example each, and when work came in.

    A learner's progress is in two files beside their work, .autodiff-kit-exercises.json and
    .autodiff-kit-progress.json: which hints were asked for, which questions were hard.
    """
    with explained(), Store(results / RESULTS) as store:
        course = course_in(folder)
        grades = store.grades(policy, course.due)
        here = {grade.exercise for grade in grades}
        exercises = [exercise for exercise in course.exercises() if exercise.name in here]
        if not exercises:
            raise click.ClickException(
                f"{results} has no result of this course.\n-> Grade first, or say which: --course"
            )
        page = report_page(
            course.title,
            [overview(exercise, grades) for exercise in exercises],
            course.due,
            {e.name: e.messages | in_short(e) for e in exercises},
            own_progress(handed_in) if handed_in else None,
            time.time(),
        )
    to.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(to) as file:
        file.write(page.encode())
    click.echo(f"Wrote {to}: {len(exercises)} exercises, {len(grades)} grades")
    tell_ungraded(grades)
