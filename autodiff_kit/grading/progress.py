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
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.places import EXERCISES

__all__ = ["PROGRESS", "folder_of_notebook", "keep", "known", "next_hint"]

PROGRESS = ".autodiff-kit-exercises.json"
_rungs: dict[str, int] = {}  # of notebooks that lie where nothing is kept


def folder_of_notebook() -> Path | None:
    """Return the folder of the notebook that runs if it is one of exercises, else None."""
    here = Path.cwd()
    return here if here.name == EXERCISES or (here / PROGRESS).is_file() else None


def known(folder: Path, exercise: Exercise) -> dict[str, Any]:
    """Return what is kept about an exercise: ``points``, ``max``, ``hints``, ``submitted``."""
    facts = _read(folder).get(exercise.id)
    return facts if isinstance(facts, dict) else {}


def keep(folder: Path, exercise: Exercise, **facts: Any) -> None:
    """Add to what is kept about an exercise; where nothing can be written, do without."""
    data = {**_read(folder), exercise.id: {**known(folder, exercise), **facts}}
    if folder.is_dir():
        with contextlib.suppress(OSError), written_whole(folder / PROGRESS) as file:
            file.write(json.dumps(data, indent=1).encode())


def next_hint(folder: Path | None, exercise: Exercise, *, pause: bool = False) -> int | None:
    """Count one more hint, and return its number, from 0; the first one follows the last.

    Parameters
    ----------
    folder : Path, optional
        Where the count is kept; None: in this process.
    exercise : Exercise
        It has hints.
    pause : bool
        Return None once, instead, between the last one and the first.
    """
    facts = known(folder, exercise) if folder else {"rung": _rungs.get(exercise.id, 0)}
    rung = facts.get("rung", facts.get("hints", 0))
    count = len(exercise.hints)
    is_over = not isinstance(rung, int) or not 0 <= rung < count
    number = None if is_over and pause else 0 if is_over else rung
    following = 0 if number is None else number + 1
    if folder:
        seen = facts.get("hints", 0)
        keep(folder, exercise, hints=max(seen if isinstance(seen, int) else 0, following))
        keep(folder, exercise, rung=following)
    else:
        _rungs[exercise.id] = following
    return number


def _read(folder: Path) -> dict[str, Any]:
    """Return what is kept between commands; a file that cannot be read counts as none."""
    try:
        data = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
