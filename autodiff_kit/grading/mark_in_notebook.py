"""Mark answers in words in a notebook: a form that shows one answer after the other.

After reading this file you can say what ``mark("16.gradcheck")`` shows, and why closing the
notebook loses nothing: each mark and each comment is written when it is given, into the same
results as by ``autodiff-kit mark``. Read next: ``answers_to_mark.py``.
"""

from __future__ import annotations

import getpass
import html
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ipywidgets as w

from autodiff_kit.grading.answers_to_mark import (
    ORDERS,
    WrittenAnswer,
    answers_to_mark,
    legible_text,
)
from autodiff_kit.grading.command_options import RESULTS, course_in, learner
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.feedback_card import inline
from autodiff_kit.grading.results import Comment
from autodiff_kit.grading.store import Store

__all__ = ["MarkingForm", "mark"]

_WIDE = {"width": "100%", "max_width": "46rem"}
_NEARLY = {"width": "calc(100% - 4px)", "max_width": "46rem"}  # its right border is seen, too
# A line of a rubric may be long: it is wrapped, and not cut off.
_STYLE = """<style>
.adk-rubric, .adk-rubric label { height: auto; }
.adk-rubric label { display: flex; align-items: baseline; line-height: 1.5; }
.adk-rubric label, .adk-rubric span { white-space: normal; overflow: visible; }
</style>"""
_TEXT = "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; margin: .25rem 0"


def mark(
    *exercises: str,
    by: str = "question",
    student: str | None = None,
    anonymous: bool = False,
    again: bool = False,
    policy: str = "best",
    author: str | None = None,
    results: str | Path = "results",
    course: str | Path | None = None,
) -> MarkingForm:
    """Show a form that marks what was answered in words, as ``autodiff-kit mark`` does.

    Parameters
    ----------
    exercises : str
        Their ids; else all.
    by : {"question", "student"}
        All answers to one question, or all of one learner, before the next.
    student : str, optional
        The answers of this learner (number or name) alone.
    anonymous : bool
        Do not say whose answer it is.
    again : bool
        Show those that have a mark, too.
    policy : {"best", "last", "first"}
        Which of several attempts counts.
    author : str, optional
        Who says so; else the user who runs this.
    results : path
        The folder that ``autodiff-kit grade`` wrote.
    course : path, optional
        The folder with course.toml; else the one around here.

    Raises
    ------
    StoreError, ExerciseError
        If there are no such results or exercises.
    ValueError
        If ``by`` is another word.
    """
    if by not in ORDERS:
        raise ValueError(f"by={by!r}; it is {' or '.join(map(repr, ORDERS))}")
    path = Path(results).resolve() / RESULTS
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}.\n-> Grade first, or name the folder: results="
        )
    folder = course_in(None if course is None else Path(course))
    tasks = [folder.exercise(key) for key in exercises] or folder.exercises()
    with Store(path) as store:
        who = learner(store, student) if student is not None else None
    form = MarkingForm(path, folder, tasks, author or getpass.getuser(), is_anonymous=anonymous)
    form.begin(who, by, policy, again=again)
    return form


class MarkingForm(w.VBox):  # type: ignore[misc]
    """The form: question, answer, rubric, points, comment, and what to do next.

    Parameters
    ----------
    path : Path
        The file of results; it is open only while something is read or written.
    course : Course
    exercises : sequence of Exercise
    author : str
    is_anonymous : bool
    """

    def __init__(
        self,
        path: Path,
        course: Course,
        exercises: Sequence[Exercise],
        author: str,
        *,
        is_anonymous: bool,
    ) -> None:
        self.path, self.course, self.tasks, self.author = path, course, exercises, author
        self.is_anonymous = is_anonymous
        self.answers: list[WrittenAnswer] = []
        self.place = 0
        self.count = 0
        self._comment_before = ""
        self._wish: tuple[str | None, str] = (None, "best")
        self.heading, self.text, self.model = w.HTML(), w.HTML(), w.HTML()
        self.rubric: list[Any] = []
        self.lines = w.VBox()
        self.points = w.FloatText(description="Points", layout={"width": "14rem"})
        self.comment = w.Textarea(
            placeholder="What you say to the learner about this answer", layout=_NEARLY
        )
        self.give = w.Button(description="Give this mark", button_style="primary")
        self.skip, self.back = w.Button(description="Skip"), w.Button(description="Back")
        self.show_model = w.ToggleButton(description="Model answer")
        self.status = w.HTML()
        self.give.on_click(lambda button: self._give())
        self.skip.on_click(lambda button: self._go(1))
        self.back.on_click(lambda button: self._go(-1))
        self.show_model.observe(lambda change: self._show_model(), "value")
        buttons = w.HBox(
            [self.back, self.skip, self.give, self.show_model], layout={"flex_flow": "row wrap"}
        )
        self.parts = [
            *(self.heading, self.text, self.lines, self.points, self.comment, buttons, self.model),
        ]
        super().__init__([*self.parts, self.status], layout=_WIDE)

    def begin(self, student: str | None, by: str, policy: str, *, again: bool) -> None:
        """Gather the answers, and show the first one."""
        self._wish = (student, policy)
        self.answers = sorted(self._waiting(again=again), key=ORDERS[by])
        self._show()

    def _waiting(self, *, again: bool = False) -> list[WrittenAnswer]:
        student, policy = self._wish
        with Store(self.path) as store:
            choices = store.choices(policy, self.course.due)
        return answers_to_mark(choices, self.tasks, student, again=again)

    def _go(self, step: int) -> None:
        """Go on or back; what was said to the learner is kept."""
        self._keep_comment()
        self.place = max(self.place + step, 0)
        self.status.value = ""
        self._show()

    def _show(self) -> None:
        if self.place >= len(self.answers):
            left = len(self._waiting())
            self.children = [self.status]
            words = f"Marks given: {self.count}. Answers that wait: {left}."
            self.status.value = words if self.answers else "No answer waits for a mark."
            return
        answer = self.answers[self.place]
        with Store(self.path) as store:
            latest = answer.latest_mark(store)
            comments = store.comments().get((answer.student, answer.exercise.name), {})
        who = "" if self.is_anonymous else f", {html.escape(answer.whose)}"
        several = f" ({answer.several})" if answer.several else ""
        state = f" It has {latest.points:g} of {answer.question.points:g}." if latest else ""
        title = html.escape(f"{answer.exercise.id} {answer.question.id}")
        question = "\n".join(map(inline, answer.question.text.splitlines()))
        self.heading.value = (
            f"{_STYLE}<b>{self.place + 1} of {len(self.answers)}: {title}{who}</b>{several}{state}"
            f"<div style='{_TEXT}'>{question}</div>"
        )
        self.text.value = (
            f"<blockquote style='{_TEXT}; padding-left: .75rem; border-left: 4px solid'>"
            f"{html.escape(legible_text(answer.text))}</blockquote>"
        )
        self.rubric = [
            w.Checkbox(
                description=f"{line.points:+g}  {line.text}", indent=False, layout={"width": "100%"}
            )
            for line in answer.question.rubric
        ]
        for box in self.rubric:
            box.add_class("adk-rubric")
            box.observe(lambda change: self._add_up(), "value")
        self.lines.children = self.rubric
        self.points.value = latest.points if latest else 0.0
        comment = comments.get(answer.question.id)
        self.comment.value = self._comment_before = comment.text if comment else ""
        self.show_model.value = False
        self.model.value = ""
        self.children = [*self.parts, self.status]

    def _keep_comment(self) -> None:
        answer = self.answers[self.place]
        text = self.comment.value.strip()
        if text != self._comment_before:
            where = (answer.student, answer.exercise.name, answer.question.id)
            with Store(self.path) as store:
                store.comment(Comment(*where, text, self.author, time.time()))

    def _numbers(self) -> list[int]:
        return [number for number, box in enumerate(self.rubric) if box.value]

    def _add_up(self) -> None:
        self.points.value = self.answers[self.place].question.earned(self._numbers())

    def _show_model(self) -> None:
        solution = html.escape(self.answers[self.place].question.solution)
        self.model.value = f"<div style='{_TEXT}'>{solution}</div>" if self.show_model.value else ""

    def _give(self) -> None:
        answer, points, numbers = self.answers[self.place], self.points.value, self._numbers()
        question = answer.question
        if not 0 <= points <= question.points:
            self.status.value = f"{points:g} is no number of points from 0 to {question.points:g}."
            return
        # Other points than those of the lines are not explained by them.
        is_sum = points == question.earned(numbers)
        with Store(self.path) as store:
            answer.give(store, points, question.words(numbers) if is_sum else "", self.author)
        self.count += 1
        self._go(1)
        if self.place < len(self.answers):
            self.status.value = f"Given: {points:g} of {question.points:g}."
