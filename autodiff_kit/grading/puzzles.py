"""Say what a puzzle is: a solution's lines to be put in order, and gaps in them to be filled.

After reading this file you can say what a puzzle is made of: the lines between the marks of a
solution, and wrong ones from the exercise's known mistakes (`mutants.toml`). An arrangement becomes
code, and code is judged as ever: two orders that compute the same are both right. Read next:
``puzzle_making.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autodiff_kit.grading.course_files import text_of
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.messages import Fields
from autodiff_kit.grading.notebook import defined

__all__ = [
    *("PUZZLES", "Gap", "Line", "Place", "Puzzle", "Section"),
    *("arranged", "beside", "filled", "has_puzzles", "key_of", "numbered", "places_from"),
    "puzzles_in",
]

PUZZLES = "puzzles.json"  # beside the notebooks for learners
TAB = 4


@dataclass(frozen=True)
class Line:
    """A line of code to be put in its place; one that is written on several lines is one, too."""

    id: str
    text: str
    """Without indentation in front."""
    mistake: str = ""
    """Of a wrong one: the id of the message of a known mistake that it is part of."""


@dataclass(frozen=True)
class Place:
    """Where a line stands: in which section, and how many levels further in than that begins."""

    section: int
    line: str
    level: int


@dataclass(frozen=True)
class Section:
    """What is given, and may be followed by lines."""

    above: str
    level: int
    """How far in the lines below it stand at the least."""


@dataclass(frozen=True)
class Gap:
    """A part of a line that is to be chosen."""

    line: str
    start: int
    """Its first character in the line's text."""
    stop: int
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Puzzle:
    """One cell of a notebook in which a solution is asked for.

    Attributes
    ----------
    names : tuple of str
        The functions and classes that it defines.
    sections : tuple of Section
    lines : tuple of Line
        The right ones, each once, and then the wrong ones.
    places : tuple of Place
        How the solution arranges them.
    gaps : tuple of Gap
    """

    names: tuple[str, ...]
    sections: tuple[Section, ...]
    lines: tuple[Line, ...]
    places: tuple[Place, ...]
    gaps: tuple[Gap, ...]


# -- From a puzzle to code -------------------------------------------------------------------------


def arranged(puzzle: Puzzle, places: Sequence[Place]) -> str:
    """Return the code of an arrangement; where no line stands in a section, `pass` does."""
    return "\n".join(text for text, _ in numbered(puzzle, places))


def numbered(puzzle: Puzzle, places: Sequence[Place]) -> Iterator[tuple[str, int | None]]:
    """Yield the text of each part of an arrangement, and which place it is (None: given)."""
    texts = {line.id: line.text for line in puzzle.lines}
    for number, section in enumerate(puzzle.sections):
        yield section.above, None
        here = [index for index, place in enumerate(places) if place.section == number]
        for index in here:
            place = places[index]
            yield _indented(texts[place.line], section.level + place.level), index
        if not here:
            yield _indented("pass", section.level), None


def filled(puzzle: Puzzle, choices: Sequence[str]) -> str:
    """Return the code of the solution with these choices in its gaps."""
    texts = {line.id: line.text for line in puzzle.lines}
    for gap, choice in zip(puzzle.gaps, choices, strict=True):
        text = texts[gap.line]
        texts[gap.line] = text[: gap.start] + choice + text[gap.stop :]
    lines = tuple(Line(name, text) for name, text in texts.items())
    changed = Puzzle(puzzle.names, puzzle.sections, lines, puzzle.places, ())
    return arranged(changed, puzzle.places)


MOST_PLACES = 80  # of an arrangement: who sends it is not believed
MOST_LEVELS = 12


def places_from(puzzle: Puzzle, answer: object) -> list[Place]:
    """Return an arrangement out of plain data: section, line and level of each.

    Raises
    ------
    ValueError
        If it is none.
    """
    names = {line.id for line in puzzle.lines}
    if not isinstance(answer, list) or len(answer) > MOST_PLACES:
        raise ValueError("This is no arrangement.")
    places = []
    for row in answer:
        match row:
            case [int(section), str(name), int(level)] if name in names:
                places.append(Place(section, name, level))
            case _:
                raise ValueError("This is no place.")
    if len({place.line for place in places}) < len(places) or any(
        not (0 <= place.section < len(puzzle.sections) and 0 <= place.level <= MOST_LEVELS)
        for place in places
    ):
        raise ValueError("This is no arrangement.")
    return sorted(places, key=lambda place: place.section)


def key_of(puzzle: Puzzle) -> str:
    """Return the name under which a puzzle is kept: those that it defines."""
    return " ".join(puzzle.names)


def beside(exercise: Exercise, puzzle: Puzzle, code: str) -> str:
    """Return the code of a puzzle, and what the solution defines beside it."""
    parts = re.split(r"\n\n+(?=\S)", exercise.solution)
    others = (part for part in parts if not defined(part) & {*puzzle.names})
    return "\n\n\n".join([code, *others])


def _indented(text: str, level: int) -> str:
    return "\n".join(TAB * level * " " + line for line in text.split("\n"))


# -- To and from the file --------------------------------------------------------------------------


def has_puzzles(folder: Path, exercise: Exercise) -> bool:
    """Return whether a course's puzzles were made, and an exercise may have some."""
    return exercise.has_puzzles and (folder / "release" / PUZZLES).is_file()


def puzzles_in(folder: Path, exercise: Exercise) -> list[Puzzle]:
    """Read the puzzles of an exercise that `build` has made.

    Raises
    ------
    ExerciseError
        If there are none; says what to do.
    """
    try:
        rows = json.loads(text_of(folder, "release", PUZZLES))[exercise.id]
        return [_read(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExerciseError(
            f"There are no puzzles for {exercise.id}.\n"
            "-> The exercises that have them are written by `autodiff-kit build`."
        ) from error


def _read(row: Fields) -> Puzzle:
    return Puzzle(
        names=tuple(row["names"]),
        sections=tuple(Section(**part) for part in row["sections"]),
        lines=tuple(Line(**part) for part in row["lines"]),
        places=tuple(Place(**part) for part in row["places"]),
        gaps=tuple(Gap(**{**part, "choices": tuple(part["choices"])}) for part in row["gaps"]),
    )
