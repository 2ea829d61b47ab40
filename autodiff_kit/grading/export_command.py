"""The command `export`: the grades for another system, with the course's own list of learners.

Read next: ``feedback_command.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from autodiff_kit.grading import roster
from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.command_options import (
    COURSE,
    POLICY,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
    tell_doubts,
)
from autodiff_kit.grading.export import DECIMALS, DELIMITERS, FORMATS, WITH_ROSTER, export
from autodiff_kit.grading.identity import Platform, platform_of
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store

__all__ = ["export_"]


@click.command(name="export")
@click.argument("form", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.option("--to", default=".", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--roster",
    "listed",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The course's list of learners (CSV, from Canvas, Moodle or your own): who is missing is "
    "told and has a line of their own. For table, canvas and moodle.",
)
@click.option(
    "--match",
    "pairs",
    metavar="LEARNER=WHO",
    multiple=True,
    help="Who in the list a learner of the results is: a number, login, address or name there; "
    "nothing behind the = if it is none of them. It is kept.",
)
@click.option(
    "--missing",
    type=click.Choice(["empty", "zero"]),
    default="empty",
    show_default=True,
    help="What stands for work that was not handed in. An empty cell changes nothing in Canvas and "
    "Moodle.",
)
@click.option(
    "--delimiter",
    type=click.Choice(list(DELIMITERS)),
    default="comma",
    show_default=True,
    help="What parts the cells: a spreadsheet in some languages wants a semicolon.",
)
@click.option(
    "--decimal",
    type=click.Choice(list(DECIMALS)),
    help="What stands in 1.5; else a comma where semicolons part the cells, and a point elsewhere.",
)
@RESULTS_FOLDER
@POLICY
@COURSE
def export_(
    form: str,
    to: Path,
    listed: Path | None,
    pairs: tuple[str, ...],
    missing: str,
    delimiter: str,
    decimal: str | None,
    results: Path,
    policy: str,
    folder: Path | None,
) -> None:
    """Write the grades for another system.

    \b
    FORMAT is one of:
      csv         one line for each step of each learner
      table       one line for each learner, with totals
      canvas      to import in Canvas' gradebook
      moodle      to import in Moodle's gradebook, with a column of feedback for each exercise
      nbgrader    the columns of `nbgrader export`
      gradescope  a results.json for each learner and exercise
      junit       JUnit XML, for a continuous integration system

    \b
    Examples:
      autodiff-kit export canvas --roster gradebook.csv
      autodiff-kit export table --roster class.csv --match ada2="Ada Lovelace" --missing zero
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if listed is not None and form not in WITH_ROSTER:
        raise click.UsageError(f"--roster is for {', '.join(WITH_ROSTER)}: {form} has no list.")
    if pairs and listed is None:
        raise click.UsageError("--match names a person of a list: give the list, with --roster.")
    answers = {}
    for pair in pairs:
        student, equals, who = pair.rpartition("=")
        if not equals or not student:
            raise click.UsageError(f"--match {pair!r}: write LEARNER=WHO, as in ada2=4711.")
        answers[student] = who
    with explained(), Store(results / RESULTS) as store:
        course = course_in(folder)
        grades: list[Grade] = store.grades(policy, course.due)
        exercises = course.exercises()
        here = {grade.exercise for grade in grades}
        titles = {e.name: (f"{e.id} {e.title}", e.total) for e in exercises if e.name in here}
        matches = None
        if listed is not None:
            people = roster.read(listed)
            _tell_columns(people, listed)
            matches = _matched(people, grades, answers, results)
        if listed is not None and listed.resolve() == (to / FORMATS[form][1]).resolve():
            raise click.ClickException(
                f"The grades would be written over your list, {listed}.\n"
                "-> Name another folder for them: --to FOLDER"
            )
        path = export(
            grades,
            form,
            to,
            titles,
            matches=matches,
            missing=0 if missing == "zero" else "",
            delimiter=DELIMITERS[delimiter],
            decimal=DECIMALS[decimal or ("comma" if delimiter == "semicolon" else "point")],
        )
        if matches is not None:
            _tell(matches, grades)
        click.echo(f"Wrote {path}")
        tell_doubts(course, store, grades)


def _matched(
    people: roster.Roster, grades: Sequence[Grade], answers: dict[str, str], results: Path
) -> roster.Matches:
    """Find out who is who, ask where it is open, and keep what was said."""
    learners = _learners(grades)
    unknown = sorted(answers.keys() - {learner.student for learner in learners})
    if unknown:
        raise roster.RosterError(
            f"No results for {clean(', '.join(unknown), 300)}.\n"
            "-> Before the = stands a learner as the results know them: see --match."
        )
    known = roster.answers_in(results)
    matches = roster.match(people, learners, answers, known)
    if matches.doubtful and sys.stdin.isatty():
        names = {learner.student: learner.name for learner in learners}
        for student, likely in list(matches.doubtful.items()):
            answer = _ask(_called(student, names[student]), likely, people)
            if answer is not None:
                answers[student] = answer
                roster.keep(results, known | answers)  # one after the other: nothing said is lost
        matches = roster.match(people, learners, answers, known)
    if answers:
        roster.keep(results, known | answers)
    return matches


def _learners(grades: Iterable[Grade]) -> list[roster.Learner]:
    """Return who handed in something, with the platform that gave the number of each."""
    names: dict[str, str] = {}
    platforms: dict[str, set[Platform]] = {}
    for grade in grades:
        names[grade.student] = grade.name
        platform, _ = platform_of(grade.attempt.origin, grade.student)
        platforms.setdefault(grade.student, set()).add(platform)
    learners = []
    for student, name in names.items():
        given = platforms[student] - {Platform.OTHER}
        platform = given.pop() if len(given) == 1 else Platform.OTHER
        learners.append(roster.Learner(student, name, platform))
    return learners


def _ask(who: str, likely: Sequence[roster.Person], people: roster.Roster) -> str | None:
    """Ask who a learner is; None to leave it open."""
    click.echo(f"{who} is in the results. Who is that in the list?")
    for number, person in enumerate(likely, 1):
        click.echo(f"  {number}  {clean(str(person), 200)}")
    words = (
        "A number from above, another login or name, - for none of them, nothing to leave it open"
    )
    while True:
        text = click.prompt(words, default="", show_default=False).strip()
        if not text:
            return None
        if text == "-":
            return ""
        if text.isdecimal() and 0 < int(text) <= len(likely):
            return likely[int(text) - 1].key
        _, named = people.named(text)
        if len(named) == 1:
            return named[0].key
        click.echo(f"{clean(text, 100)!r} is {'more than one' if named else 'not'} in the list.")


def _tell_columns(people: roster.Roster, listed: Path) -> None:
    """Say how many people a list has, and by which columns they are known."""
    parts = [f"{' and '.join(columns)} ({kind})" for kind, columns in people.taken.items()]
    columns = clean(", ".join(parts), 400)
    click.echo(f"{listed}: {len(people.people)} people, known by {columns}.")


def _tell(matches: roster.Matches, grades: Iterable[Grade]) -> None:
    """Say who is missing, what was said of names, and whose work is in no line of the file."""
    if matches.missing:
        click.echo(f"Nothing was handed in by {len(matches.missing)}:")
        for person in matches.missing:
            click.echo(f"  {clean(str(person), 200)}")
    names = {grade.student: grade.name for grade in grades}
    if matches.answers:
        click.echo(f"By --match, now or earlier (it is kept in {roster.ANSWERS}):")
        for student, listed in matches.answers.items():
            who = "in no line of the file" if listed is None else clean(str(listed), 200)
            click.echo(f"  {_called(student, names[student])} is {who}")
    if matches.doubtful:
        click.echo("Not in the file, as no person of the list, or more than one, is called so:")
        for student, likely in matches.doubtful.items():
            hint = clean("; ".join(map(str, likely)), 400)
            may_be = f"  It may be: {hint}" if likely else ""
            click.echo(f"  {_called(student, names[student])}{may_be}")
        click.echo("-> Say who it is: --match LEARNER=WHO, or LEARNER= for none of them.")


def _called(student: str, name: str) -> str:
    return clean(student if name == student else f"{student} ({name})", 200)
