"""Gather the answers in words that a person has to mark.

After reading this file you can say which answers wait: those of attempts that count, or may come to
count. Read next: ``mark_command.py`` and ``mark_in_notebook.py``, where they are shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autodiff_kit.grading.calls import LINES, clean
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.grades import Choice
from autodiff_kit.grading.questions import MOST_TEXT, Question, digest_of
from autodiff_kit.grading.results import BY_HAND, UNGRADED, Grade, ManualMark
from autodiff_kit.grading.store import Store

__all__ = ["ORDERS", "WrittenAnswer", "answers_to_mark", "legible_text"]


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer to be marked.

    Attributes
    ----------
    student, name : str
    exercise : Exercise
    question : Question
    text : str
    several : str
        Which of the learner's answers it is, if there are several.
    """

    student: str
    name: str
    exercise: Exercise
    question: Question
    text: str
    several: str

    @property
    def digest(self) -> str:
        """What tells it from another answer."""
        return digest_of(self.text)

    @property
    def whose(self) -> str:
        """Name and number of the learner, for people."""
        is_one = self.name == self.student
        return clean(self.student if is_one else f"{self.name} ({self.student})", 200)

    def latest_mark(self, store: Store) -> ManualMark | None:
        """Return the mark that it has, if there is one."""
        key = (self.student, self.exercise.name, self.question.id, self.digest)
        marks = [
            m for m in store.manual_marks() if key == (m.student, m.exercise, m.step, m.answer)
        ]
        return marks[-1] if marks else None

    def give(self, store: Store, points: float, text: str, author: str) -> None:
        """Write a mark for it: at once, so that nothing is lost when a person stops."""
        key = (self.student, self.exercise.name, self.question.id, self.digest)
        store.mark(ManualMark(*key, points, text, author, time.time()))


def answers_to_mark(
    choices: Sequence[Choice],
    exercises: Sequence[Exercise],
    student: str | None = None,
    *,
    again: bool = False,
) -> list[WrittenAnswer]:
    """Return each different answer of each learner once, in the order of the exercises.

    Parameters
    ----------
    choices : sequence of Choice
    exercises : sequence of Exercise
        Those to be marked.
    student : str, optional
        The answers of this learner alone.
    again : bool
        Those that have a mark, too.
    """
    by_name = {exercise.name: exercise for exercise in exercises if exercise.questions}
    answers = []
    for choice in choices:
        who, name = choice.grade.student, choice.grade.exercise
        if name not in by_name or student not in (None, who):
            continue
        exercise = by_name[name]
        waiting = {answer for grade in choice.open for answer in grade.waiting}
        for question in exercise.questions:
            by_text: dict[str, tuple[Grade, str]] = {}  # each once: whose, and its state
            for grade in choice.rivals:
                for part in grade.marks:
                    if part.step == question.id and part.status in (UNGRADED, BY_HAND):
                        by_text.setdefault(part.answer, (grade, part.status))
            for number, (text, (grade, status)) in enumerate(by_text.items(), 1):
                several = f"answer {number} of {len(by_text)}" if len(by_text) > 1 else ""
                if (question.id, text) in waiting or (again and status == BY_HAND):
                    answers.append(
                        WrittenAnswer(who, grade.name, exercise, question, text, several)
                    )
    order = {exercise.name: place for place, exercise in enumerate(exercises)}
    return sorted(answers, key=lambda answer: order[answer.exercise.name])


# By the answer, and not by the name: equal ones are beside each other, and no name is told.
ORDERS: dict[str, Callable[[WrittenAnswer], tuple[str, ...]]] = {
    "question": lambda answer: (answer.exercise.name, answer.question.id, answer.digest),
    "student": lambda answer: (answer.name, answer.student),
}


def legible_text(text: str) -> str:
    """Return what a learner wrote without signs that control a terminal."""
    return clean(text, MOST_TEXT, LINES)
