"""The lessons and the questions that they ask; a file of its own for each lesson.

The questions stand here and not in the notebooks, so that you do not read an answer before it is
asked for. Tests run the code behind every answer, under the kit and under PyTorch. Read next:
``lesson_00.py``, then ``lessons/cards.py``.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from autodiff_kit.lessons.questions import Question

__all__ = ["LESSONS", "QUESTIONS", "Lesson"]


class Lesson(NamedTuple):
    """A lesson that can be opened: its number as in its file's name, and its title."""

    number: str
    title: str


_FILES = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]

LESSONS = tuple(Lesson(file.__name__[-2:], file.TITLE) for file in _FILES)

# By key; the part before the dot is the lesson's number.
QUESTIONS: dict[str, Question] = {
    question.key: question for file in _FILES for question in file.QUESTIONS
}
