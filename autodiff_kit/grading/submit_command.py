"""The command `submit`: try a learner's work, and pack it into a zip to hand in.

After reading this file you can say what is tried before work is packed, when a learner is asked,
and what the receipt proves. Read next: ``feedback.py``, which answers inside a notebook.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click

import autodiff_kit
from autodiff_kit.grading.answers_in_words import own_answers
from autodiff_kit.grading.code_in_kernel import history
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.feedback import Feedback
from autodiff_kit.grading.learner import EXERCISE, FOLDER, find_exercise, folder_of, tried, work_in
from autodiff_kit.grading.marking import DOES_NOT_RUN, MISSING, NOT_ATTEMPTED
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.notebook import Unreadable, defined
from autodiff_kit.grading.places import shown
from autodiff_kit.grading.progress import keep, keep_result, known
from autodiff_kit.grading.puzzle_points import with_answers

__all__ = ["pack", "submit"]

HAND_IN = (
    "Nothing has been sent. Upload this file where your course collects work (Moodle, Canvas, an\n"
    "e-mail to your teacher). If you learn on your own, there is nothing to hand in."
)
_WITH_PUZZLES = (
    "\nIt is the hash (SHA-256) of the file in the zip. That file also holds the puzzles that you\n"
    "solved: your own notebook is without them, and so has another hash."
)


@click.command()
@EXERCISE
@FOLDER
@click.option("--yes", is_flag=True, help="Pack it as it is, and do not ask.")
def submit(key: str, folder: Path | None, yes: bool) -> None:
    """Pack your work on an EXERCISE into a zip to hand in, with a receipt.

    It is tried first, as `check` does, and you hear what is missing. Wrong answers are packed
    all the same; if a step is not attempted or not found, or a cell does not run, you are asked
    before (without a terminal to answer in, nothing is packed). The receipt is the hash of
    the file in the zip: keep both, and you can show later what you handed in. Where puzzles
    count, those that you solved are put into that file, and not into your notebook.
    """
    pack(key, folder, yes=yes)


def pack(
    key: str, folder: Path | None = None, *, yes: bool = False, namespace: Space | None = None
) -> Path:
    """Try work and pack it, as :func:`submit` says; return the zip.

    With the globals of the notebook that runs, what was run there has to be saved.

    Raises
    ------
    click.ClickException
        If nothing was packed; the message says why.
    """
    course, exercise = find_exercise(key)
    folder = folder_of(course, exercise, folder)
    path = work_in(course, exercise, folder)
    if namespace is not None and not yes:
        _stop_if_unsaved(exercise, path, namespace)
    click.echo(f"Your work: {shown(path)}")
    feedback = tried(course, exercise, path)
    keep_result(folder, exercise, feedback.result)
    for line in _summary(feedback):
        click.echo(line)
    answered = own_answers(path.read_bytes()) if exercise.questions else set()
    for question in exercise.questions:
        is_done = "answered" if question.id in answered else "not answered"
        click.echo(f"  {question.id}: {is_done}; a person grades it ({question.points:g} points)")
    if not yes:
        _ask_about(feedback)
    work = path.read_bytes()
    try:
        data = work
        if path.suffix == ".ipynb":
            data = with_answers(work, exercise, known(folder, exercise))
    except Unreadable as error:
        raise click.ClickException(f"{path}: {error}") from error
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
    keep(folder, exercise, submitted=hashlib.sha256(work).hexdigest())
    click.echo(
        f"\nPacked: {target.resolve()}\n{course.hand_in or HAND_IN}\n"
        f"Receipt, to show later what you handed in: {digest}"
        f"{'' if data == work else _WITH_PUZZLES}"
    )
    return target


def _stop_if_unsaved(exercise: Exercise, path: Path, namespace: Space) -> None:
    """Refuse to pack a notebook in which a cell that was run is not as it was run."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        saved = {"".join(cell["source"]).strip() for cell in cells}
    except (ValueError, KeyError, TypeError):
        return  # the check that follows says what is wrong with it
    newest = {name: cell for cell in history(namespace) for name in defined(cell)}
    tasks = [name for step in exercise.steps for name in step.names]
    names = [name for name in tasks if newest.get(name, "").strip() not in {"", *saved}]
    if names:
        what = " and ".join(f"`{name}`" for name in names)
        raise click.ClickException(
            f"{what} as you ran it last: {path.name} has not saved that, so nothing was packed.\n"
            "-> Save the notebook (Ctrl+S); if you changed the cell since it ran, run it again. "
            f'Then: submit("{exercise.id}")'
        )


def _summary(feedback: Feedback) -> Iterator[str]:
    """Say what the work is worth by the learner's own check, and what is missing in it."""
    result = feedback.result
    yield f"By your own check: {result.points:g} of {result.max:g} points."
    for row in result.rows:
        if row.status == NOT_ATTEMPTED:
            yield f"  {row.step}: not attempted (0 of {row.max:g} points)"
        elif row.status == MISSING:
            yield f"  {row.step}: {row.text} (0 of {row.max:g} points)"
        elif row.points < row.max:
            yield f"  {row.step}: {row.points:g} of {row.max:g} points; see autodiff-kit check"
    yield from feedback.given


def _ask_about(feedback: Feedback) -> None:
    """Ask before work that lacks steps is packed; without a terminal to answer, refuse."""
    rows = feedback.result.rows
    absent = [row for row in rows if row.status in (NOT_ATTEMPTED, MISSING)]
    if len(absent) == len(rows):
        what = "Nothing is done yet"
        if any(row.status == MISSING for row in rows):
            what = "No step was found"
    elif any(row.message == DOES_NOT_RUN for row in rows):
        what = "Some cells do not run"
    elif absent:
        what = "Some steps are not attempted"
    else:
        return
    exercise = feedback.exercise
    if not _is_somebody_there():
        raise click.ClickException(
            f"{what}, so nothing was packed.\n-> Is your notebook saved? To pack it as it is: "
            f"autodiff-kit submit {exercise.id} --yes"
        )
    if not click.confirm(f"{what}. Is your notebook saved? Pack it all the same?"):
        click.echo("Nothing was packed.")
        raise SystemExit(1)


def _is_somebody_there() -> bool:
    return sys.stdin.isatty()
