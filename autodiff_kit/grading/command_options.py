"""The options that several of the teacher's commands have, and how their errors are told.

Read next: ``commands.py``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from autodiff_kit.grading import engine_dask
from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.course_files import checks_hash
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.grades import POLICIES
from autodiff_kit.grading.handed_in import AROUND
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.roster import RosterError
from autodiff_kit.grading.store import Store, StoreError

__all__ = [
    "COURSE",
    "POLICY",
    "RESULTS",
    "RESULTS_FOLDER",
    "course_apart",
    "course_in",
    "explained",
    "learner",
    "tell_doubts",
    "tell_ungraded",
]

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

_FOR_TEACHERS = (ExerciseError, StoreError, Unreadable, RosterError, engine_dask.ClusterError)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn the errors that a teacher can fix into their words, without a traceback."""
    try:
        yield
    except _FOR_TEACHERS as error:
        raise click.ClickException(str(error)) from error


def course_in(folder: Path | None) -> Course:
    """Return the course that is meant."""
    course = find_course(folder or Path.cwd())
    names = [part.name.casefold() for part in (course, *course.parents)]
    if folder is None and not set(AROUND).isdisjoint(names):
        raise _foreign(course, "lies among what was handed in")
    if folder is None and course == find_course():
        click.echo(f"Course: the kit's own, in {course}. For yours: --course FOLDER", err=True)
    return open_course(course)


def course_apart(folder: Path | None, place: Path) -> Course:
    """Return the course that is meant; ExerciseError if it lies in what is to be graded."""
    course = find_course(folder or Path.cwd())
    if course.is_relative_to(place.resolve()):
        if folder is None:
            raise _foreign(course, f"lies in {place}, which is to be graded")
        raise ExerciseError(
            f"The course {course} lies in {place}: its solutions would be graded as well.\n"
            "-> Name the folder that holds what was handed in, and nothing else."
        )
    return course_in(folder)


def _foreign(course: Path, where: str) -> ExerciseError:
    return ExerciseError(
        f"The course {course} {where}: a learner may have written its checks, which run as you.\n"
        "-> Say which course is yours: --course FOLDER"
    )


def tell_doubts(course: Course, store: Store, grades: Sequence[Grade]) -> None:
    """Say what in these grades may not be as it is meant, before they go out."""
    judged = store.checks()
    names = sorted({grade.exercise for grade in grades} & judged.keys() & set(course.names))
    others = [n for n in names if checks_hash(course.folder, n) != judged[n]]
    if others:
        click.echo(
            f"{', '.join(course.exercise(n).id for n in others)}: not judged by the checks that "
            f"are now in {course.folder}.\n"
            "-> Is it the course that you mean (--course)? If so: autodiff-kit regrade"
        )
    elif stale := sum(grade.is_stale for grade in grades):
        click.echo(f"Judged by checks that have changed since: {stale}.\n-> autodiff-kit regrade")
    tell_misfits(grades)
    tell_ungraded(grades)


def tell_misfits(grades: Iterable[Grade]) -> None:
    """Say which overrides were given for steps that have other points now, or are not there."""
    lines = []
    for grade in grades:
        now = {mark.step: mark.max for mark in grade.marks}
        for word in grade.misfits:
            then = f"{word.points:g} of {word.most:g}" if word.most >= 0 else f"{word.points:g}"
            state = f"it has {now[word.step]:g} now" if word.step in now else "it is not there now"
            lines.append(f"  {grade.student}, {grade.exercise}, {word.step}: {then}; {state}")
    if lines:
        more = [f"  and {len(lines) - 10} more"] if len(lines) > 10 else []
        click.echo("Given with `override` when the step had other points:")
        click.echo("\n".join(clean(line, 300) for line in [*lines[:10], *more]))
        click.echo("-> Give them again, or take them back: autodiff-kit override")


def tell_ungraded(grades: Iterable[Grade]) -> None:
    """Say how many answers wait for a person: until then they count as 0 points."""
    if count := sum(grade.ungraded for grade in grades):
        click.echo(
            f"Answers in words that wait for a mark, and count 0 so far: {count}.\n"
            "-> autodiff-kit mark"
        )


def learner(store: Store, given: str, *, may_be_new: bool = False) -> str:
    """Return the number or name by which results know a learner, who may be called by both.

    StoreError if there is none, unless it may be a new one, or if more than one is called so; says
    who may be meant. A number is the platform's, whatever others call themselves; ``id:`` in front
    of a name says that it is the id.
    """
    known = store.learners()
    ids = {student for student, _ in known}
    own = given.removeprefix("id:")
    if own in ids and (own != given or own.isdecimal()):
        return own
    folded = given.casefold()
    named = {student for student, name in known if name.casefold() == folded}
    if len(named | ids & {given}) == 1:
        return (named | ids & {given}).pop()
    if may_be_new and not named:
        return own
    if named:
        several = sorted((s, name) for s, name in known if s in named | {given})
        which = ", ".join(f"{f'id:{s}' if s == given else s} ({name})" for s, name in several)
        raise StoreError(
            f"There is more than one {given!r} in {store.path.parent}.\n"
            f"-> Write the id instead, in quotes: one of {which}"
        )
    near = [
        f"{student} ({name})" if name != student else student
        for student, name in known
        if folded in student.casefold() or folded in name.casefold()
    ]
    hint = f"\n-> Did you mean: {', '.join(dict.fromkeys(near[:10]))}" if near else ""
    raise StoreError(f"No results for {given!r} in {store.path.parent}.{hint}")
