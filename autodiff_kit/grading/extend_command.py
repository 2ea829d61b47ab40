"""The command `extend`: another date for one learner, which can be withdrawn.

Read next: ``due.py``, which says what being late costs.
"""

from __future__ import annotations

import difflib
import getpass
from pathlib import Path

import click

from autodiff_kit.grading.command_options import (
    COURSE,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
    learner,
)
from autodiff_kit.grading.due import in_words, time_of
from autodiff_kit.grading.store import Store

__all__ = ["extend"]


@click.command()
@click.argument("student")
@click.argument("exercise")
@click.argument("date", required=False)
@click.option("--withdraw", is_flag=True, help="Instead of a DATE: the course's own counts again.")
@click.option("--reason", required=True, help="Why; it is kept with the date.")
@click.option("--author", help="Who says so; else the user who runs this.")
@RESULTS_FOLDER
@COURSE
def extend(
    student: str,
    exercise: str,
    date: str | None,
    withdraw: bool,
    reason: str,
    author: str | None,
    results: Path,
    folder: Path | None,
) -> None:
    """Give a STUDENT (name or number) a DATE of their own for an EXERCISE, or for `all`.

    A date is written 2026-11-30T23:59, or 2026-11-30 for the end of that day. What being late costs
    after it stays as in course.toml. A grade is worked out anew each time it is shown or exported,
    so that a date counts for what was graded before, too.

    \b
    Examples:
      autodiff-kit extend ada 04.accumulate 2026-12-07 --reason "was ill"
      autodiff-kit extend ada all --withdraw --reason "a mistake"
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if (date is not None) + withdraw != 1:
        raise click.UsageError("Give a DATE, or --withdraw.")
    if not reason.strip():
        raise click.UsageError("Say why (--reason): it is what a learner who asks is told.")
    try:
        seconds = None if date is None else time_of(date)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with explained(), Store(results / RESULTS) as store:
        course = course_in(folder)
        names = sorted(course.due) if exercise == "all" else [course.exercise(exercise).name]
        without = [course.exercise(name).id for name in names if name not in course.due]
        if without or not names:
            raise click.ClickException(
                f"{without[0] if without else 'No exercise'} has no date in course.toml that could "
                "be put off.\n-> Write one, under [due]."
            )
        if student == "all":
            raise click.UsageError(
                "A date of their own is for one STUDENT. For all: the date in course.toml."
            )
        known = {name for name, _ in store.learners()}
        student = learner(store, student, may_be_new=True)
        if student not in known:
            near = difflib.get_close_matches(student, sorted(known), n=3)
            hint = f" Near: {', '.join(near)}." if near else ""
            click.echo(f"{student} has handed in nothing so far: is it the right name?{hint}")
        for name in names:
            store.put_off(student, name, seconds, author or getpass.getuser(), reason)
    ids = ", ".join(course.exercise(name).id for name in names)
    until = "the course's own date again" if seconds is None else f"until {in_words(seconds)}"
    click.echo(f"{student}, {ids}: {until}.")
