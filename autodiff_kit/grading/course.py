"""Find the exercises: which there are, in which order, and where their files lie.

After reading this file you can add an exercise: a folder under ``source`` and one under ``checks``
of the same name, and its name in ``course.toml``. Read next: ``exercise.py``.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from autodiff_kit.grading.due import Due, dates_of
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.loading import load

__all__ = ["Course", "find_course", "open_course"]

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Course:
    """A folder of exercises.

    Attributes
    ----------
    folder : Path
        It holds ``course.toml``, ``source``, ``release`` and ``checks``.
    title : str
    names : tuple of str
        Folder names of the exercises, in the order in which learners meet them.
    due : mapping of str to Due
        Dates, by an exercise's folder name.
    hand_in : str
        What `submit` says about where to hand work in; the kit's own words if empty.
    """

    folder: Path
    title: str
    names: tuple[str, ...]
    hand_in: str = ""
    due: Mapping[str, Due] = field(default_factory=dict, hash=False)

    def exercise(self, key: str) -> Exercise:
        """Return one exercise by its id (``"04.accumulate"``), number, name or file.

        Raises
        ------
        ExerciseError
            If there is none; the message lists the ids.
        """
        keys: dict[str, str] = {}  # what an exercise may be meant by -> its folder name
        for name in reversed(self.names):  # of two that share a word, the first one counts
            number, _, rest = name.removeprefix("e").partition("_")
            keys |= dict.fromkeys((rest, number.lstrip("0"), *_keys(name)), name)
        meant = key.removesuffix(".ipynb")
        if meant in keys:
            return _load(self.folder, keys[meant])
        near = difflib.get_close_matches(meant, keys, n=1, cutoff=0.7)
        if near:
            exercise = _load(self.folder, keys[near[0]])
            raise ExerciseError(f"There is no exercise {key!r}.\n-> Did you mean {exercise.id}?")
        ids = ", ".join(exercise.id for exercise in self.exercises())
        raise ExerciseError(
            f"There is no exercise {key!r} in {self.folder}.\n-> There are: {ids}\n"
            "   If yours is from another course, your teacher has its checks: hand in the notebook."
        )

    def exercises(self) -> list[Exercise]:
        """Return all exercises, in order."""
        return [_load(self.folder, name) for name in self.names]


def _keys(name: str) -> tuple[str, str, str]:
    """Return what an exercise is called by: its folder's name, its number and its id."""
    number, _, rest = name.removeprefix("e").partition("_")
    return name, number, f"{number}.{rest}"


def find_course(start: Path | None = None) -> Path:
    """Return the folder of a course: around `start`, else the one that came with the kit.

    Parameters
    ----------
    start : Path, optional
        A folder inside a course of one's own.

    Returns
    -------
    Path

    Raises
    ------
    ExerciseError
        If this installation brought no exercises.
    """
    if start is not None:
        for folder in (start.resolve(), *start.resolve().parents):
            if (folder / "course.toml").is_file():
                return folder
    for folder in (_PACKAGE / "_exercises", _PACKAGE.parent / "exercises"):
        if (folder / "course.toml").is_file():
            return folder
    raise ExerciseError(
        "This installation of autodiff_kit has no exercises.\n"
        "-> Install it again: pip install --force-reinstall autodiff_kit"
    )


def open_course(folder: Path | None = None) -> Course:
    """Read ``course.toml``.

    Parameters
    ----------
    folder : Path, optional
        Folder of a course. The default is the one that came with the kit.

    Returns
    -------
    Course

    Raises
    ------
    ExerciseError
        If it cannot be read.
    """
    folder = folder or find_course()
    try:
        facts = tomllib.loads((folder / "course.toml").read_text(encoding="utf-8"))
        names = tuple(map(str, facts["exercises"]))
        due = dates_of(facts, {key: name for name in names for key in _keys(name)})
        return Course(folder, str(facts["title"]), names, str(facts.get("hand_in", "")), due)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ExerciseError(f"Cannot read the course in {folder}: {error}") from error


@lru_cache(maxsize=64)
def _load(folder: Path, name: str) -> Exercise:
    return load(folder, name)
