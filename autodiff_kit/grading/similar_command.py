"""The command `similar`: hand-ins whose code is alike, side by side.

Read next: ``commands.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from autodiff_kit.files import written_whole
from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.command_options import (
    COURSE,
    POLICY,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
)
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.hand_ins import kept
from autodiff_kit.grading.notebook import Unreadable, code_of
from autodiff_kit.grading.results import Grade, work_of
from autodiff_kit.grading.similar_page import CAUTION, called, similar_page
from autodiff_kit.grading.similarity import Pair, Work, pairs_of
from autodiff_kit.grading.store import Store

__all__ = ["similar"]

MAX_BYTES = 4 * 2**20  # of one hand-in: a larger one is not compared
MAX_PAIRS = 50  # of one exercise, on the page


@click.command()
@click.argument("keys", metavar="[EXERCISE]...", nargs=-1)
@click.option("--to", default="similar.html", show_default=True, type=Path)
@click.option(
    "--at-least",
    type=click.IntRange(1, 100),
    default=50,
    show_default=True,
    help="Percent of the shorter one's own code that the other one has, too.",
)
@RESULTS_FOLDER
@POLICY
@COURSE
def similar(
    keys: tuple[str, ...],
    to: Path,
    at_least: int,
    results: Path,
    policy: str,
    folder: Path | None,
) -> None:
    """Show whose code is alike, of all EXERCISEs or some, beyond what was handed out.

    Other names, comments and layout hide nothing; what many learners wrote does not count. The
    page shows each pair side by side. It says what is alike, not why: talk to both.
    """
    with explained(), Store(results / RESULTS) as store:
        course = course_in(folder)
        exercises = [course.exercise(key) for key in keys] or course.exercises()
        grades = store.grades(policy, course.due)
        suffixes = {hand_in.work: hand_in.suffix for hand_in in store.hand_ins()}
        pairs: dict[str, list[Pair]] = {}
        for exercise in exercises:
            here = [grade for grade in grades if grade.exercise == exercise.name]
            if not here or exercise.kind == "perform":  # which `grade` compares by their graphs
                continue
            works, absent = _works(here, suffixes, store.path.parent)
            alike = pairs_of(works, _handed_out(course, exercise), at_least / 100)
            pairs[f"{exercise.id} {exercise.title}"] = alike[:MAX_PAIRS]
            click.echo(f"{exercise.id}: {len(works)} compared, {len(alike)} pairs are alike")
            for pair in alike[:MAX_PAIRS]:
                names = " and ".join(clean(called(w), 100) for w in (pair.first, pair.second))
                click.echo(f"  {100 * pair.share:3.0f} %  {names}")
            if len(alike) > MAX_PAIRS:
                click.echo(f"  and {len(alike) - MAX_PAIRS} more: see --at-least")
            if absent:
                names = clean(", ".join(absent[:5]), 300) + (" and more" if absent[5:] else "")
                click.echo(f"  not compared, as there is no code to be read: {names}")
    to.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(to) as file:
        file.write(similar_page(course.title, pairs).encode())
    if any(pairs.values()):
        click.echo(CAUTION)
    click.echo(f"Wrote {to}")


def _works(
    grades: Iterable[Grade], suffixes: Mapping[str, str], results: Path
) -> tuple[list[Work], list[str]]:
    """Return what counts of each learner, and who has nothing that can be compared."""
    works, absent = [], []
    for grade in grades:
        work = work_of(grade.attempt.hash, grade.attempt.origin)
        data = kept(results, work)
        try:
            if data is None or len(data) > MAX_BYTES:
                raise Unreadable("There is no file, or it is too long.")
            code = "\n\n".join(code_of(data, suffixes.get(work, "")))
        except Unreadable:
            absent.append(grade.name)
        else:
            works.append(Work(grade.student, grade.name, code))
    return works, absent


def _handed_out(course: Course, exercise: Exercise) -> list[str]:
    """Return the code that learners were given: also of cells that are locked."""
    path = course.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
    try:
        return code_of(path.read_bytes(), ".ipynb")
    except (OSError, Unreadable):  # it was not built
        return []
