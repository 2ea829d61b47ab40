"""The learner's commands: get an exercise, try it, ask for a hint, begin again.

After reading this file you can say where a learner's work and progress lie, and why none of it is
ever overwritten. Read next: ``submit_command.py``, which packs work
to be handed in.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autodiff_kit.grading.calls import Work
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.feedback import Feedback
from autodiff_kit.grading.marking import NOT_ATTEMPTED, grade_code
from autodiff_kit.grading.my_engine import keep_part
from autodiff_kit.grading.notebook import Unreadable, redefined
from autodiff_kit.grading.places import (
    EXERCISES,
    code_of,
    grade_ids,
    is_begun,
    of_several,
    place_of,
    shown,
)
from autodiff_kit.grading.progress import (
    hint_when_due,
    keep_result,
    known,
    next_hint,
    places_for,
)
from autodiff_kit.grading.terminal import wrapped
from autodiff_kit.grading.worker import own_runner

__all__ = [
    *("EXERCISE", "FOLDER", "LEARNER"),
    *("find_exercise", "folder_of", "for_lessons", "show_status", "tried", "work_in"),
]

_LINK = re.compile(
    rb"\[([^][]*)\]\(\.\./\.\./\.\./notebooks/([^)]*)\)"
)  # to a lesson, in the source
EXERCISE = click.argument("key", metavar="EXERCISE")
FOLDER = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where your work lies; else the folder beside the lessons around here, or beside those "
    "that `autodiff-kit lab` opened last.",
)


def find_exercise(key: str) -> tuple[Course, Exercise]:
    try:
        course = open_course(find_course(Path.cwd()))
        return course, course.exercise(key)
    except ExerciseError as error:
        raise click.ClickException(str(error)) from error


def _places(course: Course, folder: Path | None) -> list[Path]:
    """Return where work may lie, the nearest first."""
    return places_for(course) if folder is None else [folder]


def folder_of(course: Course, exercise: Exercise, folder: Path | None) -> Path:
    """Return the one folder for an exercise: where it was begun, else where new work goes."""
    among = _places(course, folder)
    if len(among) == 1:
        return among[0]
    return place_of(exercise.name, _released(course, exercise.name), among)


def work_in(course: Course, exercise: Exercise, folder: Path) -> Path:
    """Return the learner's notebook; stop if it is not there, or under another name."""
    for suffix in (".ipynb", ".py"):
        path = folder / f"{exercise.name}{suffix}"
        if path.is_file():
            return path
    _stop_if_renamed(course, exercise, folder)
    raise click.ClickException(
        f"There is no {exercise.name}.ipynb in {folder}.\n"
        f"-> Begin it with: autodiff-kit start {exercise.id}"
    )


def _stop_if_renamed(course: Course, exercise: Exercise, folder: Path) -> None:
    """Name the notebooks that have this exercise's cells under another name, if there are any."""
    others = [p for p in sorted(folder.glob("*.ipynb")) if not p.stem.startswith(exercise.name)]
    ids = grade_ids(_released(course, exercise.name)) if others else set()
    names = [path.name for path in others if ids & grade_ids(path.read_bytes())]
    if names:
        raise click.ClickException(
            f"There is no {exercise.name}.ipynb in {folder}, but {' and '.join(names)} has its "
            f"cells.\n-> Close it in JupyterLab and rename it: {exercise.name}.ipynb"
        )


@click.command(name="list")
def list_() -> None:
    """List the exercises: what each is about, and after which lesson it comes."""
    try:
        course = open_course(find_course(Path.cwd()))
        heads = ("exercise", "what", "lesson", "points", "minutes")
        table = Table(*heads, box=box.SIMPLE_HEAD, show_edge=False)
        for e in course.exercises():
            lesson = e.lesson.split("_")[0]  # its number
            table.add_row(e.id, Text(e.title), Text(lesson), f"{e.total:g}", str(e.minutes))
    except ExerciseError as error:
        raise click.ClickException(str(error)) from error
    Console(highlight=False, emoji=False).print(table)
    click.echo(f"Begin one with: autodiff-kit start {course.exercises()[0].id}")


@click.command()
@EXERCISE
@FOLDER
def start(key: str, folder: Path | None) -> None:
    """Copy an EXERCISE into your folder. Work that is there already stays as it is."""
    course, exercise = find_exercise(key)
    released = _released(course, exercise.name)
    folder = folder_of(course, exercise, folder)
    target = folder / f"{exercise.name}.ipynb"
    if is_begun(exercise.name, released, folder):
        path = work_in(course, exercise, folder)
        click.echo(f"You have begun it: {shown(path)}\n(Begin again: autodiff-kit reset {key})")
        return
    if not target.exists():
        _stop_if_renamed(course, exercise, folder)
        folder.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_linked(released, exercise.lesson, folder))
    click.echo(
        f"Yours: {shown(target)}\n"
        f"Open it in JupyterLab (in the file browser: {folder.name}/{target.name}); "
        f"try it with: autodiff-kit check {key}"
    )


def _released(course: Course, name: str) -> bytes:
    """Return an exercise's notebook as learners get it."""
    path = course.folder / "release" / name / f"{name}.ipynb"
    try:
        return path.read_bytes()
    except OSError as error:
        raise click.ClickException(
            f"{path} cannot be read ({error.strerror}).\n-> Make it with: autodiff-kit build"
        ) from error


def _linked(released: bytes, lesson: str, folder: Path) -> bytes:
    """Let links lead to where this learner's lessons lie; elsewhere they become words."""
    for lessons in ("..", "../autodiff-kit-lessons"):
        if (folder / lessons / f"{lesson}.ipynb").is_file():
            return _linked_to(lessons, released)
    return _LINK.sub(rb"\1", released)


def _linked_to(lessons: str, released: bytes) -> bytes:
    return _LINK.sub(rf"[\1]({lessons}/\2)".encode(), released)


def for_lessons() -> dict[str, bytes]:
    """Return the kit's own exercises as they stand beside the lessons: path -> notebook.

    Raises
    ------
    ExerciseError
        If this installation brought no exercises.
    """
    course = open_course()
    return {
        f"{EXERCISES}/{name}.ipynb": _linked_to("..", _released(course, name))
        for name in course.names
    }


@click.command()
@EXERCISE
@FOLDER
@click.option("--answer", is_flag=True, help="Say what is right for an example that is wrong.")
def check(key: str, folder: Path | None, answer: bool) -> None:
    """Try your work on an EXERCISE with fresh inputs, in a process of its own."""
    course, exercise = find_exercise(key)
    among, folder = _places(course, folder), folder_of(course, exercise, folder)
    path = work_in(course, exercise, folder)
    click.echo(of_several(path, _released(course, exercise.name), among))
    feedback = tried(course, exercise, path, answer)
    keep_result(folder, exercise, feedback.result)
    feedback.tip = hint_when_due(folder, exercise)
    console = Console(highlight=False, emoji=False)
    text = repr(feedback)
    console.print(wrapped(text, console.width) if console.is_terminal else text, markup=False)
    if all(row.status == NOT_ATTEMPTED for row in feedback.result.rows):
        click.echo("-> If you have written something: save the notebook, then check again.")
    if not feedback.passed:
        raise SystemExit(1)


def tried(course: Course, exercise: Exercise, path: Path, answer: bool = False) -> Feedback:
    """Run the learner's work on inputs drawn now, as it is in the file."""
    try:
        data = path.read_bytes()
        work = Work(data, path.suffix)
        result = grade_code(exercise, work, own_runner(), secrets.randbelow(2**32))
    except (Unreadable, OSError) as error:
        raise click.ClickException(f"{path}: {error}") from error
    try:
        sources = code_of(data) if path.suffix == ".ipynb" else [data.decode()]
    except (ValueError, KeyError, TypeError):  # what was said of the file is enough
        sources = []
    changed = redefined(exercise.given, sources)
    built = keep_part(course, exercise, work, result, path.parent)
    after = [*course.names, ""][course.names.index(exercise.name) + 1]
    return Feedback(
        exercise,
        result,
        f"autodiff-kit hint {exercise.id}",
        changed,
        built=built,
        after=course.exercise(after) if after else None,
        answer=answer,
    )


@click.command()
@EXERCISE
@FOLDER
def hint(key: str, folder: Path | None) -> None:
    """Give the next hint for an EXERCISE: for what was not right at the last check, if any."""
    course, exercise = find_exercise(key)
    if not exercise.hints:
        raise click.ClickException(f"There are no hints for {exercise.id}.")
    folder = folder_of(course, exercise, folder)
    click.echo(next_hint(folder, exercise))


@click.command()
@FOLDER
def status(folder: Path | None) -> None:
    """Say what you have begun, what was right at the last check, and what is packed."""
    show_status(folder)


def show_status(folder: Path | None = None) -> None:
    """Print a table of all exercises; ``folder`` is where the work lies."""
    try:
        course = open_course(find_course(Path.cwd()))
        exercises = course.exercises()
    except ExerciseError as error:
        raise click.ClickException(str(error)) from error
    used: dict[Path, None] = {}
    table = Table("exercise", "state", "last check", "hints", box=box.SIMPLE_HEAD, show_edge=False)
    for e in exercises:
        place = folder_of(course, e, folder)
        used[place] = None
        facts = known(place, e)
        points = f"{facts['points']} of {facts['max']}" if {"points", "max"} <= set(facts) else "-"
        hints = f"{facts.get('hints', 0)} of {len(e.hints)}"
        table.add_row(e.id, _state(course, e, place), Text(points), Text(hints))
    Console(highlight=False, emoji=False).print(table)
    for place in used:
        if place.is_dir():
            click.echo(f"Your work lies in {place.resolve()}")
        else:
            click.echo(
                f"Nothing was found from here. `autodiff-kit start` would put it in "
                f"{place.resolve()}. If you have begun elsewhere, go to that folder."
            )


def _state(course: Course, exercise: Exercise, place: Path) -> str:
    """Say in words how far the learner's work is; whether it was handed in is not known here."""
    facts = known(place, exercise)
    if not is_begun(exercise.name, _released(course, exercise.name), place) and not facts:
        return "not begun"
    packed = facts.get("submitted")
    if not packed:
        return "begun"
    now = hashlib.sha256(work_in(course, exercise, place).read_bytes()).hexdigest()
    return "packed for handing in" if packed == now else "changed since it was packed"


@click.command()
@EXERCISE
@FOLDER
def reset(key: str, folder: Path | None) -> None:
    """Begin an EXERCISE again. Your old work is kept beside it, under another name."""
    course, exercise = find_exercise(key)
    folder = folder_of(course, exercise, folder)
    path = work_in(course, exercise, folder)
    fresh = _linked(_released(course, exercise.name), exercise.lesson, folder)
    number = 1
    while (old := path.with_name(f"{exercise.name}-old{number}{path.suffix}")).exists():
        number += 1
    path.rename(old)
    (folder / f"{exercise.name}.ipynb").write_bytes(fresh)
    click.echo(f"Fresh: {shown(folder)}/{exercise.name}.ipynb\nYour old work: {shown(old)}")


LEARNER = [list_, start, check, hint, status, reset]
