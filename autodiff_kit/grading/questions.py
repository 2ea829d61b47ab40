"""Ask in words: questions of an exercise that a person grades.

After reading this file you can say what a rubric is (what each thing that is said earns), and where
a question and its model answer stand (in the notebook). Read next: ``answers_in_words.py``.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from autodiff_kit.free_form import Json

__all__ = ["MOST_TEXT", "PLACE", "TO_ANSWER", "Criterion", "Question", "digest_of", "questions_in"]

TO_ANSWER = "YOUR ANSWER HERE"  # nbgrader's words, which stand in the place of an answer
MOST_TEXT = 10_000  # characters of an answer
PLACE = "-question-"  # in the id of an answer's cell: e16-question-steps
_MARKS = re.compile(r"(?m)^[ \t]*### (BEGIN|END) SOLUTION\n?")


@dataclass(frozen=True)
class Criterion:
    """A line of a rubric: what an answer may say, and what that earns or costs."""

    points: float
    text: str


@dataclass(frozen=True)
class Question:
    """What is asked in words; for results it is a step like any other.

    Attributes
    ----------
    id : str
    points : float
        Those of the rubric's lines that give some.
    rubric : tuple of Criterion
    text : str
        The question, as it stands in the notebook's cell above the answer.
    solution : str
        The model answer.
    """

    id: str
    points: float
    rubric: tuple[Criterion, ...]
    text: str
    solution: str

    def earned(self, numbers: Sequence[int]) -> float:
        """Return the points of an answer to which these lines of the rubric apply, from 0 on."""
        points = sum(self.rubric[number].points for number in numbers)
        return min(max(points, 0.0), self.points)

    def words(self, numbers: Sequence[int]) -> str:
        """Return what the learner is told of these lines."""
        lines = [self.rubric[number] for number in numbers]
        return "\n".join(f"{line.points:+g} {line.text}" for line in lines)


def questions_in(toml: str, notebook: Json) -> tuple[Question, ...]:
    """Read the questions of an exercise; most have none.

    Parameters
    ----------
    toml : str
        What ``questions.toml`` says, if there is one: for each question a table with its rubric,
        and its points if they are to be compared with those of the rubric.
    notebook : dict
        The teacher's: each answer has a cell, and above it one with the question.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it cannot be read, or does not fit the notebook.
    """
    cells = _cells(notebook)
    rubrics = tomllib.loads(toml)
    if rubrics.keys() != cells.keys():
        raise ValueError(
            f"questions.toml has {sorted(rubrics)}, and the notebook has cells for the answers to "
            f"{sorted(cells)} (their nbgrader ids end in {PLACE}NAME)"
        )
    questions = []
    for name, (text, solution) in cells.items():
        rubric = tuple(Criterion(r["points"], r["text"]) for r in rubrics[name]["rubric"])
        points = sum(max(line.points, 0) for line in rubric)
        stated = rubrics[name].get("points", points)
        if stated != points:
            raise ValueError(
                f"questions.toml gives {stated:g} points to {name}, and the lines of its rubric "
                f"that give some have {points:g} together"
            )
        questions.append(Question(name, points, rubric, text, solution))
    return tuple(questions)


def _cells(notebook: Json) -> dict[str, tuple[str, str]]:
    """Return the text of each question and its model answer, by the question's name."""
    cells: dict[str, tuple[str, str]] = {}
    before = ""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        grade_id = str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))
        if PLACE in grade_id:
            cells[grade_id.partition(PLACE)[2]] = before.strip(), _MARKS.sub("", text).strip()
        before = text
    return cells


def digest_of(answer: str) -> str:
    """Return what tells an answer from another one of the same learner."""
    return hashlib.sha256(answer.encode()).hexdigest()[:32]
