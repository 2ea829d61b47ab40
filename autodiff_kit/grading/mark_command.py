"""The command `mark`: a person grades what was answered in words, one answer after the other.

After reading this file you can say in which order answers come, what hides whose they are, and why
nothing is lost when you stop: each mark and each comment is written when it is given. An answer
keeps its mark when work is graded again; one that was changed waits for another. Read next:
``mark_in_notebook.py``, which shows the same as a form.
"""

from __future__ import annotations

import getpass
import math
import time
from collections.abc import Sequence
from pathlib import Path

import click

from autodiff_kit.grading.answers_to_mark import (
    ORDERS,
    WrittenAnswer,
    answers_to_mark,
    legible_text,
)
from autodiff_kit.grading.command_options import (
    COURSE,
    POLICY,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
    learner,
)
from autodiff_kit.grading.questions import Question
from autodiff_kit.grading.results import Comment
from autodiff_kit.grading.store import Store

__all__ = ["mark"]

_HELP = """\
  1 3        the numbers of the lines that apply; 0 if none does
  p 1.5      other points
  c TEXT     say TEXT to the learner about this answer
  c STEP: TEXT, or c all: TEXT   about another step, or the whole exercise
  m          show the model answer
  s, b       go on without a mark; go back
  q          stop: what you gave is kept, and `autodiff-kit mark` goes on here"""


@click.command()
@click.argument("keys", metavar="[EXERCISE]...", nargs=-1)
@click.option(
    "--by",
    "order",
    type=click.Choice(list(ORDERS)),
    default="question",
    show_default=True,
    help="All answers to one question, or all of one learner, before the next.",
)
@click.option("--student", "only", help="The answers of this learner (number or name) alone.")
@click.option("--anonymous", is_flag=True, help="Do not say whose answer it is.")
@click.option("--again", is_flag=True, help="Show those that have a mark, too.")
@click.option("--author", help="Who says so; else the user who runs this.")
@RESULTS_FOLDER
@POLICY
@COURSE
def mark(
    keys: tuple[str, ...],
    order: str,
    only: str | None,
    anonymous: bool,
    again: bool,
    author: str | None,
    results: Path,
    policy: str,
    folder: Path | None,
) -> None:
    """Grade what was answered in words: of all EXERCISEs, or some, one answer after the other.

    For each answer you see the question and the rubric, and type the numbers of the lines that
    apply. Equal answers to a question come one after the other. An answer waits if its attempt
    counts by the --policy, or may come to count. Stop at any time and run the command again: it
    goes on where you were.

    \b
    Examples:
      autodiff-kit mark
      autodiff-kit mark 16.gradcheck --anonymous
      autodiff-kit mark --by student --student ada --again
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    with explained(), Store(results / RESULTS) as store:
        course = course_in(folder)
        exercises = [course.exercise(key) for key in keys] or course.exercises()
        student = learner(store, only) if only is not None else None
        choices = store.choices(policy, course.due)
        items = answers_to_mark(choices, exercises, student, again=again)
        items.sort(key=ORDERS[order])
        if not items:
            click.echo("No answer waits for a mark.")
            return
        desk = _Desk(store, author or getpass.getuser(), is_anonymous=anonymous)
        place = 0
        while place < len(items) and (step := desk.grade(items, place)):
            place = max(place + step, 0)
        choices = store.choices(policy, course.due)
        left = len(answers_to_mark(choices, exercises, student, again=False))
    click.echo(f"Marks given: {desk.count}. Answers that wait: {left}.")


class _Desk:
    """Where answers are shown and get their marks.

    Parameters
    ----------
    store : Store
    author : str
    is_anonymous : bool
        Whether names are hidden.
    """

    def __init__(self, store: Store, author: str, *, is_anonymous: bool) -> None:
        self.store = store
        self.author = author
        self.is_anonymous = is_anonymous
        self.count = 0
        self.question: Question | None = None

    def grade(self, items: Sequence[WrittenAnswer], place: int) -> int:
        """Show an answer and do what is typed; return how many places to go on, 0 to stop."""
        item = items[place]
        self._show(item, f"{place + 1} of {len(items)}")
        while True:
            try:
                words = click.prompt("Mark (? for help)", default="", show_default=False).strip()
            except click.Abort:  # Ctrl+C, or the end of what is typed
                click.echo()
                return 0
            command, _, rest = words.partition(" ")
            if words in ("q", "s", "b"):
                return {"q": 0, "s": 1, "b": -1}[words]
            if words == "m":
                click.echo(f"\n{item.question.solution}\n")
            elif command == "c" and rest.strip():
                self._comment(item, rest.strip())
            elif command == "p":
                if (points := _points(rest, item.question)) is not None:
                    return self._mark(item, points, "")
            elif (numbers := _numbers(words, item.question)) is not None:
                question = item.question
                return self._mark(item, question.earned(numbers), question.words(numbers))
            else:
                click.echo(_HELP)

    def _show(self, item: WrittenAnswer, where: str) -> None:
        who = "" if self.is_anonymous else f"  {item.whose}"
        several = f"  ({item.several})" if item.several else ""
        click.echo(f"\n--- {where}  {item.exercise.id} {item.question.id}{who}{several}")
        if item.question is not self.question:  # once, and not above each of the answers to it
            self.question = item.question
            click.echo(f"{item.question.text}\n")
        click.echo("".join(f"  | {line}\n" for line in legible_text(item.text).splitlines()))
        for number, line in enumerate(item.question.rubric, 1):
            click.echo(f"  {number}  {line.points:+g}  {line.text}")
        if latest := item.latest_mark(self.store):
            click.echo(f"It has {latest.points:g} of {item.question.points:g}.")
        comments = self.store.comments().get((item.student, item.exercise.name), {})
        if item.question.id in comments:
            click.echo(f"You say: {legible_text(comments[item.question.id].text)}")

    def _mark(self, item: WrittenAnswer, points: float, text: str) -> int:
        item.give(self.store, points, text, self.author)
        self.count += 1
        click.echo(f"{points:g} of {item.question.points:g}")
        return 1

    def _comment(self, item: WrittenAnswer, text: str) -> None:
        first, colon, rest = text.partition(":")
        steps = {**{part: part for part in item.exercise.points_by_part}, "all": ""}
        is_other = bool(colon) and first in steps and bool(rest.strip())
        step, words = (steps[first], rest.strip()) if is_other else (item.question.id, text)
        who = (item.student, item.exercise.name, step, words)
        self.store.comment(Comment(*who, self.author, time.time()))
        click.echo(f"Noted, about {step or 'the whole exercise'}.")


def _numbers(words: str, question: Question) -> list[int] | None:
    """Return which lines of the rubric are meant, from 0 on; None if it is no such list."""
    parts = words.replace(",", " ").split()
    if parts == ["0"]:
        return []
    numbers = [int(part) - 1 if part.isdecimal() else -1 for part in parts]
    is_list = bool(numbers) and all(0 <= n < len(question.rubric) for n in numbers)
    return sorted(set(numbers)) if is_list else None


def _points(words: str, question: Question) -> float | None:
    """Return the points that are meant; None, said why, if there are not so many."""
    try:
        points = float(words.replace(",", "."))
    except ValueError:
        points = math.nan
    if 0 <= points <= question.points:
        return points
    click.echo(f"{words!r} is no number of points from 0 to {question.points:g}.")
    return None
