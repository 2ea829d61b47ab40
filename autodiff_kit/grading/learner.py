"""The learner's commands: get an exercise, try it, ask for a hint, hand it in.

After reading this file you can say where a learner's work and progress lie, and why none of it is
ever overwritten. Read next: ``feedback.py``, the same inside a notebook.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import secrets
import zipfile
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import autodiff_kit
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.exercise import Exercise, ExerciseError, grade_code
from autodiff_kit.grading.feedback import Feedback
from autodiff_kit.grading.notebook import code_of
from autodiff_kit.grading.worker import Level0

__all__ = ["LEARNER"]

PROGRESS = ".autodiff-kit-exercises.json"
_EXERCISE = click.argument("key", metavar="EXERCISE")
_FOLDER = click.option(
    "--folder",
    default="autodiff-kit-exercises",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where your work lies.",
)


def _find(key: str) -> tuple[Course, Exercise]:
    try:
        course = open_course(find_course(Path.cwd()))
        return course, course.exercise(key)
    except ExerciseError as error:
        raise click.ClickException(str(error)) from error


def _work(exercise: Exercise, folder: Path) -> Path:
    """Return the learner's notebook; stop if it is not there."""
    for suffix in (".ipynb", ".py"):
        path = folder / f"{exercise.name}{suffix}"
        if path.is_file():
            return path
    raise click.ClickException(
        f"There is no {exercise.name}.ipynb in {folder}.\n"
        f"-> Begin it with: autodiff-kit start {exercise.id}"
    )


def _progress(folder: Path) -> dict[str, Any]:
    """Return what is kept between commands; a file that cannot be read counts as none."""
    try:
        found = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(folder: Path, exercise: Exercise, **facts: Any) -> None:
    known = _progress(folder)
    before = known.get(exercise.id)
    known[exercise.id] = {**(before if isinstance(before, dict) else {}), **facts}
    if folder.is_dir():
        (folder / PROGRESS).write_text(json.dumps(known, indent=1), encoding="utf-8")


def _known(folder: Path, exercise: Exercise) -> dict[str, Any]:
    found = _progress(folder).get(exercise.id)
    return found if isinstance(found, dict) else {}


@click.command(name="list")
def list_() -> None:
    """List the exercises: what each is about, and after which lesson it comes."""
    try:
        course = open_course(find_course(Path.cwd()))
        heads = ("exercise", "what", "lesson", "points", "minutes")
        shown = Table(*heads, box=box.SIMPLE_HEAD, show_edge=False)
        for e in course.exercises():
            lesson = e.lesson.split("_")[0]  # its number
            shown.add_row(e.id, Text(e.title), Text(lesson), f"{e.points:g}", str(e.minutes))
    except ExerciseError as error:
        raise click.ClickException(str(error)) from error
    Console(highlight=False).print(shown)
    click.echo(f"Begin one with: autodiff-kit start {course.exercises()[0].id}")


@click.command()
@_EXERCISE
@_FOLDER
def start(key: str, folder: Path) -> None:
    """Copy an EXERCISE into your folder. Work that is there already stays as it is."""
    course, exercise = _find(key)
    target = folder / f"{exercise.name}.ipynb"
    if target.exists():
        click.echo(f"You have it already: {target}\n(To begin again: autodiff-kit reset {key})")
        return
    folder.mkdir(parents=True, exist_ok=True)
    target.write_bytes(_released(course, exercise, folder))
    click.echo(f"Yours: {target}\nOpen it in Jupyter; try it with: autodiff-kit check {key}")


def _released(course: Course, exercise: Exercise, folder: Path) -> bytes:
    """Return the learner's notebook, its link leading to where this learner's lessons lie."""
    path = course.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise click.ClickException(
            f"{path} cannot be read ({error.strerror}).\n-> Make it with: autodiff-kit build"
        ) from error
    for lessons in ("..", "../autodiff-kit-lessons"):
        if (folder / lessons / f"{exercise.lesson}.ipynb").is_file():
            return data.replace(b"](../../../notebooks/", f"]({lessons}/".encode())
    return data


@click.command()
@_EXERCISE
@_FOLDER
def check(key: str, folder: Path) -> None:
    """Try your work on an EXERCISE with fresh inputs, in a process of its own."""
    _, exercise = _find(key)
    path = _work(exercise, folder)
    try:
        code = code_of(path.read_bytes(), path.name, exercise)
    except (ExerciseError, OSError) as error:
        raise click.ClickException(f"{path}: {error}") from error
    result = grade_code(exercise, code, Level0(), secrets.randbelow(2**32))
    Console(highlight=False).print(repr(Feedback(exercise, result)), markup=False)
    _keep(folder, exercise, points=result.points, max=result.max)
    if result.points < result.max:
        raise SystemExit(1)


@click.command()
@_EXERCISE
@_FOLDER
def hint(key: str, folder: Path) -> None:
    """Give the next hint for an EXERCISE, one rung at a time."""
    _, exercise = _find(key)
    if not exercise.hints:
        raise click.ClickException(f"There are no hints for {exercise.id}.")
    given = _known(folder, exercise).get("hints", 0)
    number = given if isinstance(given, int) and 0 <= given < len(exercise.hints) else 0
    rung = exercise.hints[number]
    click.echo(f"Hint {number + 1} of {len(exercise.hints)}: {rung.text}")
    _keep(folder, exercise, hints=number + 1)


@click.command()
@_FOLDER
def status(folder: Path) -> None:
    """Say what you have begun, what was right at the last check, and what was handed in."""
    try:
        exercises = open_course(find_course(Path.cwd())).exercises()
    except ExerciseError as error:
        raise click.ClickException(str(error)) from error
    shown = Table("exercise", "state", "last check", "hints", box=box.SIMPLE_HEAD, show_edge=False)
    for e in exercises:
        facts = _known(folder, e)
        state = "begun" if (folder / f"{e.name}.ipynb").exists() else "-"
        state = "handed in" if facts.get("submitted") else state
        points = f"{facts['points']} of {facts['max']}" if {"points", "max"} <= set(facts) else "-"
        hints = f"{facts.get('hints', 0)} of {len(e.hints)}"
        shown.add_row(e.id, state, Text(points), Text(hints))
    Console(highlight=False).print(shown)


@click.command()
@_EXERCISE
@_FOLDER
def reset(key: str, folder: Path) -> None:
    """Begin an EXERCISE again. Your old work is kept beside it, under another name."""
    course, exercise = _find(key)
    path = _work(exercise, folder)
    fresh = _released(course, exercise, folder)
    number = 1
    while (kept := path.with_name(f"{exercise.name}-old{number}{path.suffix}")).exists():
        number += 1
    path.rename(kept)
    (folder / f"{exercise.name}.ipynb").write_bytes(fresh)
    click.echo(f"Fresh: {folder / exercise.name}.ipynb\nYour old work: {kept}")


@click.command()
@_EXERCISE
@_FOLDER
def submit(key: str, folder: Path) -> None:
    """Pack your work on an EXERCISE into a zip to hand in, with a receipt.

    The receipt is the hash of your work: keep it, and you can show later what you handed in.
    """
    _, exercise = _find(key)
    path = _work(exercise, folder)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    receipt = {
        "exercise": exercise.id,
        "version": exercise.version,
        "file": path.name,
        "sha256": digest,
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "autodiff_kit": autodiff_kit.__version__,
    }
    target = folder / f"{exercise.name}-submit.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(path.name, data)
        archive.writestr("receipt.json", json.dumps(receipt, indent=1))
    _keep(folder, exercise, submitted=digest)
    click.echo(f"Hand in: {target}\nReceipt: {digest}")


LEARNER = [list_, start, check, hint, status, reset, submit]
