"""What a learner did in the exercises: one small JSON file beside the work, sent nowhere.

After reading this file you can say why ``autodiff-kit status`` knows of a check in the notebook:
the commands and the notebook write the same file, with the same function. Read next:
``learner.py``, the commands.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from autodiff_kit.files import written_whole
from autodiff_kit.free_form import Json
from autodiff_kit.grading.course import Course, find_course
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.marking import Result
from autodiff_kit.grading.places import EXERCISES, place_of, places

__all__ = [
    *("PROGRESS", "folder_of_notebook", "folder_of_work", "hint_when_due", "keep"),
    *("keep_result", "known"),
    *("next_hint", "places_for"),
]

PROGRESS = ".autodiff-kit-exercises.json"
_elsewhere: Json = {}  # for notebooks that lie where nothing is kept


def folder_of_notebook() -> Path | None:
    """Return the folder of the notebook that runs if it is one of exercises, else None."""
    here = Path.cwd()
    return here if here.name == EXERCISES or (here / PROGRESS).is_file() else None


def folder_of_work(course: Course, exercise: Exercise) -> Path | None:
    """Return the folder in which `submit` finds the work on an exercise; None if there is none.

    Parameters
    ----------
    course : Course
    exercise : Exercise
        One of the course.
    """
    here = folder_of_notebook()
    if here is not None:
        return here
    try:
        notebook = course.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
        place = place_of(exercise.name, notebook.read_bytes(), places_for(course))
    except OSError:  # it was not built: then nothing was begun
        return None
    return place if place.is_dir() else None


def places_for(course: Course) -> list[Path]:
    """Return where work on the exercises of a course may lie, the nearest first."""
    with contextlib.suppress(ExerciseError):
        if course.folder == find_course():
            return places(Path.cwd())
    return [Path.cwd() / EXERCISES]  # a course of one's own keeps to its own folder


def known(folder: Path | None, exercise: Exercise) -> Json:
    """Return what is kept about an exercise: ``points``, ``max``, ``hints``, ``submitted``."""
    facts = (_read(folder) if folder else _elsewhere).get(exercise.id)
    return facts if isinstance(facts, dict) else {}


def keep(folder: Path | None, exercise: Exercise, **facts: Any) -> None:
    """Add to what is kept about an exercise; where nothing can be written, do without."""
    facts = {**known(folder, exercise), **facts}
    if folder is None:
        _elsewhere[exercise.id] = facts
    elif folder.is_dir():
        data = {**_read(folder), exercise.id: facts}
        with contextlib.suppress(OSError), written_whole(folder / PROGRESS) as file:
            file.write(json.dumps(data, indent=1).encode())


def keep_result(folder: Path | None, exercise: Exercise, result: Result) -> None:
    """Keep what came of a try: the points, which checks failed, and how often in a row one has."""
    failures = [name for row in result.rows for name in row.failed]
    before = known(folder, exercise)
    again = {*failures} & {*_list(before.get("failures"))}
    tries = before.get("tries")
    tries = (tries if again and isinstance(tries, int) else 0) + 1 if failures else 0
    keep(folder, exercise, points=result.points, max=result.max, failures=failures, tries=tries)


def hint_when_due(folder: Path | None, exercise: Exercise) -> str:
    """Return a hint at the second try in a row that fails for the same reason, else nothing."""
    facts = known(folder, exercise)
    helpful = exercise.helpful_hints(_list(facts.get("failures"))) if exercise.hints else []
    unread = {*helpful} - {*_list(facts.get("shown"))}
    return next_hint(folder, exercise) if unread and facts.get("tries") == 2 else ""


def next_hint(folder: Path | None, exercise: Exercise, *, pause: bool = False) -> str:
    """Count one more hint, and return its text.

    It is the first one, of those not read yet, that helps with what failed at the last try; after
    the last of these the first comes again.

    Parameters
    ----------
    folder : Path, optional
        Where the count is kept; None: in this process.
    exercise : Exercise
        It has hints.
    pause : bool
        Say once, instead, between the last one and the first, that it was the last.
    """
    facts = known(folder, exercise)
    helpful = exercise.helpful_hints(_list(facts.get("failures")))
    numbers = _list(facts.get("shown"))
    unread = [number for number in helpful if number not in numbers]
    if pause and not unread:
        keep(folder, exercise, shown=[])
        return "That was the last hint. The next one is the first again."
    numbers = numbers if unread else []
    number = (unread or helpful)[0]
    most = facts.get("hints")
    most = max(most if isinstance(most, int) else 0, len(numbers) + 1)
    keep(folder, exercise, hints=most, shown=[*numbers, number])
    hint = exercise.hints[number]
    where = f" ({hint.step})" if hint.step else ""
    return f"Hint {number + 1} of {len(exercise.hints)}{where}: {hint.text}"


def _list(value: object) -> list[Any]:
    """Return what a file should have a list for; it may have been changed by hand."""
    return value if isinstance(value, list) else []


def _read(folder: Path) -> Json:
    """Return what is kept between commands; a file that cannot be read counts as none."""
    try:
        data = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
