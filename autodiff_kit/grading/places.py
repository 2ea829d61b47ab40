"""Where a learner's exercises lie: one folder beside the lessons, found from anywhere.

After reading this file you can say which folder ``autodiff-kit check`` looks in when you name
none: the nearest one around the current folder, else the one of the lessons that were opened last
on this machine. Read next: ``learner.py``, the commands.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from pathlib import Path

import click

from autodiff_kit.files import written_whole

__all__ = [
    "EXERCISES",
    "LESSONS",
    "code_of",
    "grade_ids",
    "is_begun",
    "latest",
    "lessons_around",
    "of_several",
    "place_of",
    "places",
    "remember",
    "shown",
]

EXERCISES = "autodiff-kit-exercises"
LESSONS = "autodiff-kit-lessons"
MARK = ".autodiff-kit.json"  # stands in every copy of the lessons: library.RECORD


def places(start: Path) -> list[Path]:
    """Return the folders where exercises may lie, the nearest first, at least one.

    The first one is where new work goes: beside the lessons around `start`, if there are some.

    Parameters
    ----------
    start : Path
        Usually the current folder.
    """
    folders: list[Path] = []
    for folder in (start, *start.parents):
        if folder.name == EXERCISES:
            folders.append(folder)
        folders += [lessons / EXERCISES for lessons in _lessons_in(folder)]
        if (folder / EXERCISES).is_dir():
            folders.append(folder / EXERCISES)
    lessons = latest()
    if lessons is not None:
        folders.append(lessons / EXERCISES)
    return list(dict.fromkeys(folders)) or [start / EXERCISES]


def lessons_around(start: Path) -> Path | None:
    """Return the nearest copy of the lessons: `start`, one in it, or one around it."""
    return next((copy for up in (start, *start.parents) for copy in _lessons_in(up)), None)


def _lessons_in(folder: Path) -> list[Path]:
    return [copy for copy in (folder, folder / LESSONS) if (copy / MARK).is_file()]


def place_of(name: str, released: bytes, among: Sequence[Path]) -> Path:
    """Return the place where an exercise was begun, or the first of all.

    Parameters
    ----------
    name : str
        Folder name of the exercise.
    released : bytes
        Its notebook as learners get it.
    among : sequence of Path
        As :func:`places` returns them.
    """
    return next((place for place in among if is_begun(name, released, place)), among[0])


def is_begun(name: str, released: bytes, place: Path) -> bool:
    """Return whether there is work of the learner's: any other code than what was handed out."""
    if (place / f"{name}.py").is_file():
        return True
    try:
        return code_of(released) != code_of((place / f"{name}.ipynb").read_bytes())
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):
        return True  # what cannot be read was not handed out like this


def of_several(path: Path, released: bytes, among: Sequence[Path]) -> str:
    """Say which file is meant, when it was saved, and where another copy was worked on.

    Parameters
    ----------
    path : Path
        The notebook, or a Python file.
    released : bytes
        The notebook as learners get it.
    among : sequence of Path
        As :func:`places` returns them.
    """
    saved = datetime.datetime.fromtimestamp(path.stat().st_mtime)
    text = f"Your work: {shown(path)}, as it was saved at {saved:%H:%M:%S} on {saved:%Y-%m-%d}"
    for place in among:
        if place != path.parent and is_begun(path.stem, released, place):
            text += (
                f"\nYou have worked on another copy as well, in {shown(place)}; this check is not "
                f"about it.\n-> To check that one, add: --folder {shown(place)}"
            )
    return text


def code_of(notebook: bytes) -> list[str]:
    """Return the sources of a notebook's code cells, the given ones and the learner's."""
    cells = json.loads(notebook)["cells"]
    sources = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return [source for source in sources if source.strip()]


def grade_ids(notebook: bytes) -> set[str]:
    """Return nbgrader's ids of a notebook's cells; what cannot be read has none."""
    try:
        cells = json.loads(notebook)["cells"]
        ids = (cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells)
        return {str(name) for name in ids if name}
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()


def remember(lessons: Path) -> None:
    """Note which copy of the lessons was opened last; where that cannot be kept, do without."""
    path = _memory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            file.write(os.fsencode(lessons.resolve()))
    except OSError:
        pass


def latest() -> Path | None:
    """Return the copy of the lessons that was opened last, if it is still there."""
    try:
        lessons = Path(os.fsdecode(_memory().read_bytes()))
        return lessons if (lessons / MARK).is_file() else None
    except (OSError, ValueError):
        return None


def _memory() -> Path:
    home = os.environ.get("ADK_HOME") or click.get_app_dir("autodiff-kit")
    return Path(home) / "latest-lessons"


def shown(path: Path) -> Path:
    """Return a path as it is best read: from the current folder, if it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
