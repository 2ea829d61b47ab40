"""The commands `comment` and `feedback`: what a teacher says, and the pages that go back.

Read next: ``feedback_pages.py``.
"""

from __future__ import annotations

import getpass
import time
from pathlib import Path

import click

from autodiff_kit.grading.command_options import (
    COURSE,
    POLICY,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
    learner,
    tell_doubts,
)
from autodiff_kit.grading.due import in_words
from autodiff_kit.grading.feedback_pages import pages_of, safe_names, write_folder, write_zip
from autodiff_kit.grading.results import Comment
from autodiff_kit.grading.store import Store

__all__ = ["comment", "feedback"]

FORMS = ("pages", "moodle", "canvas", "nbgrader")


@click.command()
@click.argument("student")
@click.argument("exercise")
@click.argument("step", required=False)
@click.option("--text", help="What you say; `code` between backticks is works_with_page as code.")
@click.option("--withdraw", is_flag=True, help="Instead of --text: take back what was said there.")
@click.option("--author", help="Who says so; else the user who runs this.")
@RESULTS_FOLDER
@COURSE
def comment(
    student: str,
    exercise: str,
    step: str | None,
    text: str | None,
    withdraw: bool,
    author: str | None,
    results: Path,
    folder: Path | None,
) -> None:
    """Say something to a STUDENT (name or number) about an EXERCISE, or about one STEP of it.

    It stands on the learner's page (`autodiff-kit feedback`) and stays when work is graded again.
    Another comment on the same step takes its place.

    \b
    Examples:
      autodiff-kit comment ada 04.accumulate --text "Clear, and well named."
      autodiff-kit comment ada 04.accumulate backward --text "Why not use `+=`?"
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if (text is not None) + withdraw != 1 or (text is not None and not text.strip()):
        raise click.UsageError("Give the --text, or --withdraw.")
    with explained(), Store(results / RESULTS) as store:
        task = course_in(folder).exercise(exercise)
        names = [*task.points_by_part]
        if step and step not in names:
            raise click.ClickException(
                f"{task.id} has no step {step!r}.\n-> There are: {', '.join(names)}"
            )
        student = learner(store, student)
        is_there = any(attempt.exercise == task.name for attempt in store.attempts(student))
        who = (student, task.name, step or "", text or "")
        store.comment(Comment(*who, author or getpass.getuser(), time.time()))
    where = f"{student}, {task.id}{f', {step}' if step else ''}"
    click.echo(f"{where}: {'taken back' if withdraw else 'noted'}.")
    if not is_there and not withdraw:
        click.echo(
            f"{student} has handed in nothing for {task.id}. It stands on the page that "
            "`autodiff-kit feedback` writes, and in no zip for a platform."
        )


@click.command()
@click.argument("form", metavar="[FORMAT]", type=click.Choice(FORMS), default="pages")
@click.option("--to", default="feedback", show_default=True, type=Path)
@click.option("--exercise", "keys", multiple=True, help="Only this one; may be given again.")
@RESULTS_FOLDER
@POLICY
@COURSE
def feedback(
    form: str,
    to: Path,
    keys: tuple[str, ...],
    results: Path,
    policy: str,
    folder: Path | None,
) -> None:
    """Write what goes back to the learners: what was wrong, a hint, and your comments.

    A page needs no other file and no network. It has no hidden inputs and no solutions on it;
    what was right on the example is there once all dates are over.

    \b
    FORMAT is one of:
      pages     a page for each learner, with all exercises (if no FORMAT is given)
      moodle    for each exercise a zip for "Upload multiple feedback files in a zip"
      canvas    for each exercise a zip for "Upload submissions", which adds files as comments
      nbgrader  nbgrader's folder: STUDENT/EXERCISE/EXERCISE.html
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    with explained(), Store(results / RESULTS) as store:
        course = course_in(folder)
        exercises = [course.exercise(key) for key in keys] or course.exercises()
        grades = store.grades(policy, course.due)
        comments = store.comments()
        tell_doubts(course, store, grades)
        names = {exercise.name for exercise in exercises}
        ends = {name: course.due[name].ends for name in names if name in course.due}
        for (_, name), date in store.own_dates().items():
            if name in ends:
                ends[name] = max(ends[name], course.due[name].put_off(date).ends)
        not_yet_due = {name: end for name, end in ends.items() if end > time.time()}
        for name in sorted(not_yet_due):
            until = in_words(not_yet_due[name])
            click.echo(f"{course.exercise(name).id}: no right answers on pages before {until}.")
        works_with_page = {(g.student, g.exercise) for g in grades}
        if form == "pages":  # all that is said to learners who have a page
            works_with_page |= {
                (g.student, name) for g in grades if g.exercise in names for name in names
            }
        if lost := sorted(
            who for who in comments if who[1] in names and who not in works_with_page
        ):
            whose = ", ".join(f"{student} ({name})" for student, name in lost[:10])
            click.echo(f"Comments that are on no page, as nothing was handed in: {whose}")
        if form == "pages":
            count = write_folder(
                pages_of(grades, exercises, comments, course.title, not_yet_due), to
            )
            click.echo(f"{count} page{'s' * (count != 1)} in {to}")
            return
        for exercise in exercises:
            pages = pages_of(grades, [exercise], comments, course.title, not_yet_due)
            count, others = 0, list[str]()
            if form == "nbgrader":
                for name, page in zip(safe_names(pages), pages, strict=True):
                    place = to / name / exercise.name
                    place.mkdir(parents=True, exist_ok=True)
                    (place / f"{exercise.name}.html").write_text(page.text, encoding="utf-8")
                count = len(pages)
            elif pages:
                path = to / f"{exercise.name}-{form}.zip"
                count, others = write_zip(pages, form, path)
            if count:
                click.echo(f"{exercise.id}: {count} page{'s' * (count != 1)} in {to}")
            if others:
                named = ", ".join(others[:5]) + (" and more" if len(others) > 5 else "")
                also = " or have a name that it reads as another's," if form == "canvas" else ""
                click.echo(
                    f"{exercise.id}: {len(others)} files did not come from {form.title()},{also} "
                    f"and have no place in its zip: {named}"
                )
