"""The cards a lesson shows: a question to answer, and the map of what was answered.

After reading you can say why these cards never disturb a comparison of stored outputs: what depends
on the learner travels in the widget's traits only, and the output itself (words and plain HTML)
is the same for everyone. Read next: ``static/card.js``, which draws them.
"""

from __future__ import annotations

import hashlib
import html
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import traitlets
from IPython.display import display

from autodiff_kit.free_form import Bundle, Json
from autodiff_kit.lessons import progress
from autodiff_kit.lessons.bank import LESSONS, QUESTIONS
from autodiff_kit.lessons.performances import to_try_again
from autodiff_kit.lessons.questions import Question, inline, to_html
from autodiff_kit.view.perform.script import CONCEPTS
from autodiff_kit.view.stand_in import outputs, stand_in, with_stills
from autodiff_kit.view.viewer import joined, static

__all__ = ["Card", "ProgressCard", "QuestionCard", "Words"]


class Words(NamedTuple):
    """What a card says of its question: above it, and on the button that judges an answer."""

    heading: str
    check: str


def _static(name: str) -> str:
    return (Path(__file__).with_name("static") / name).read_text(encoding="utf-8")


class Card(anywidget.AnyWidget):
    """A framed piece of HTML, made here and escaped here.

    Attributes
    ----------
    body : str
        What stands in the card.
    """

    _esm = joined(static("kit/keys.mjs"), _static("card.js"))
    _css = _static("card.css")

    body = traitlets.Unicode().tag(sync=True)

    def still(self) -> str:
        """Return the HTML that stands for the card where no widget can run."""
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        """Show the card, and have its words ready where it cannot come back."""
        # Where a notebook is not trusted, its style sheets and `hidden` are dropped, and the words
        # stored with the widget are shown: a class of Jupyter's own keeps these from view there.
        words = stand_in(f'<div hidden class="lm-Widget lm-mod-hidden">{self.still()}</div>')
        for data, metadata in outputs(words, self._repr_mimebundle_()):
            display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Bundle, Bundle] | None:
        """Add the still: it is what nbval compares, and what a page without Python shows."""
        stills = {"text/html": self.still(), "text/plain": repr(self)}
        return with_stills(super()._repr_mimebundle_(**kwargs), stills)


class QuestionCard(Card):
    """One question. The browser sends an answer; here it is judged and kept.

    Parameters
    ----------
    question : Question
        What to ask.
    is_recalled : bool
        Whether it was asked before in its own lesson, and what was said there does not count.

    Attributes
    ----------
    form : dict
        How to answer: ``kind``, for each choice its ``value`` and ``html``, for what is typed the
        ``placeholder``, and the card's ``words``.
    state : dict
        What came of the last answer: ``count`` (of reactions so far), ``given``, ``outcome``
        (``""``, ``"right"``, ``"wrong"``, ``"unclear"``, ``"looked"``), ``feedback`` and ``note``
        as HTML; and ``marks``, the outcome of each choice that was tried. It is replaced with every
        answer, never changed.
    """

    words = Words("Predict first", "Check my prediction")

    form = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, question: Question, *, is_recalled: bool = False) -> None:
        self.question = question
        self._first: str | None = None
        self._tried = False
        before: progress.Answer | None = None
        note = ""
        if question.key and not is_recalled:
            answers, note = progress.read()
            before = answers.get(question.key)
            self._first = before.first if before else None
        super().__init__(
            body=to_html(question.text),
            form={
                "kind": question.kind,
                "words": self.words._asdict(),
                "placeholder": question.kind_of_answer,
                "choices": [
                    {"value": choice, "html": inline(choice)} for choice in _shuffled(question)
                ],
            },
            state={
                **dict.fromkeys(("given", "outcome", "feedback", "note"), ""),
                "count": 0,
                "marks": {},
            },
        )
        self.on_msg(self._on_message)
        if before or note:
            self._tell("", "", "", note, _standing(before) if before else "")

    def answer(self, response: str) -> str:
        """Judge an answer, keep it, and tell the learner what came of it.

        Parameters
        ----------
        response : str
            What was chosen or typed.

        Returns
        -------
        str - the outcome: ``"right"``, ``"wrong"`` or ``"unclear"``.
        """
        outcome, text = self.question.judge(response)
        if outcome == "unclear":
            self._tell(response, outcome, text, "")
            return outcome
        note = self._keep(response.strip(), outcome == "right")
        self._tell(response, outcome, text, note)
        return outcome

    def look(self) -> None:
        """Tell the right answer to someone who would rather look than try again."""
        note = self._keep("", False, looked=True) if self._tried or self._first else ""
        answer = self.question.answer
        text = f"{answer:g}" if isinstance(answer, int | float) else answer
        if self.question.kind != "choice":
            text = f"`{text}`"
        self._tell("", "looked", f"{text}\n\n{self.question.right}", note)

    def _keep(self, response: str, right: bool, *, looked: bool = False) -> str:
        note = ""
        if self.question.key:
            _, note = progress.keep(self.question.key, response, right, looked=looked)
        if self._first is None:
            self._first = response
        self._tried = True
        return note

    def _tell(self, response: str, outcome: str, text: str, note: str, since: str = "") -> None:
        heading = {"right": "Right.", "wrong": "Not quite.", "looked": "The answer:"}.get(outcome)
        feedback = f"<p><strong>{heading}</strong></p>" if heading else ""
        feedback += to_html(text) if text else ""
        notes = []
        if self._first is not None:
            is_choice = self.question.kind == "choice"
            first = inline(self._first) if is_choice else f"<code>{html.escape(self._first)}</code>"
            notes.append(f"Your first prediction: {first}{since}")
        if note:
            notes.append(html.escape(note))
        marks = dict(self.state["marks"])
        if self.question.kind == "choice" and outcome in ("right", "wrong"):
            marks[response] = outcome
        self.state = {
            "marks": marks,
            "count": self.state["count"] + 1,
            "given": response,
            "outcome": outcome,
            "feedback": feedback,
            "note": "".join(f"<p>{line}</p>" for line in notes),
        }

    def _on_message(self, _: Any, content: Json, __: Any) -> None:
        if "answer" in content:
            self.answer(str(content["answer"])[:1000])
        elif content.get("look"):
            self.look()

    def still(self) -> str:
        """Return the question and its choices, the same for every learner."""
        choices = "".join(f"<li>{inline(choice)}</li>" for choice in self.question.choices)
        return (
            f"{to_html(self.question.text)}{f'<ul>{choices}</ul>' if choices else ''}"
            "<p><em>Run this cell to answer.</em></p>"
        )

    def __repr__(self) -> str:
        """Give the question and its choices, without the answer and without any address."""
        words = " ".join(self.question.text.split())
        return " / ".join([f"Question: {words}", *self.question.choices])


def _shuffled(question: Question) -> list[str]:
    """Return the choices in this learner's order: another one for each learner and question.

    It is the same whenever this learner opens the question, and nothing of it is stored. A question
    without a key is one of a teacher's own, in the order that was written.
    """
    if not question.key:
        return list(question.choices)

    def place(choice: str) -> bytes:
        text = "\n".join((str(progress.path()), question.key, choice))
        return hashlib.sha256(text.encode("utf-8", "replace")).digest()

    return sorted(question.choices, key=place)


def _standing(answer: progress.Answer) -> str:
    """Say what came of a question that was answered before."""
    if answer.right:
        return ". It was right."
    if answer.solved:
        return ". You have found the right answer since."
    return ". You have seen the answer since." if answer.looked else ". It is not solved yet."


class ProgressCard(Card):
    """The lessons, and how many questions of each were answered, read from the learner's file."""

    def __init__(self) -> None:
        answers, note = progress.read()
        files = _notebooks()
        rows = []
        for lesson in LESSONS:
            keys = [key for key in QUESTIONS if key.startswith(f"{lesson.number}.")]
            if not keys:
                continue
            answered = [answers[key] for key in keys if key in answers]
            words = f"{len(answered)} of {len(keys)} answered"
            if answered:
                at_first = sum(answer.right for answer in answered)
                later = sum(answer.solved and not answer.right for answer in answered)
                words += f": {at_first} right at first" + (f", {later} later" if later else "")
            mark = " ✓" if len(answered) == len(keys) else ""
            title = _linked(files, lesson.number, f"{lesson.number} {lesson.title}")
            rows.append(
                f'<tr><th scope="row">{title}</th>'
                f'<td><progress max="{len(keys)}" value="{len(answered)}" '
                f'aria-label="Lesson {lesson.number}"></progress></td>'
                f"<td>{words}{mark}</td></tr>"
            )
        where = html.escape(str(progress.path()))
        note = f"<p>{html.escape(note)}</p>" if note else ""
        note += _performed(files)
        super().__init__(
            body=f"<table><thead><tr><th>Lesson</th><th>Progress</th><th>Predictions</th></tr>"
            f"</thead><tbody>{''.join(rows)}</tbody></table>{note}"
            "<p>Run this cell again to bring the table up to date. "
            f"Your answers are kept in {where} and sent nowhere.</p>"
        )

    def still(self) -> str:
        """Return what the table is about, the same for every learner."""
        return "<p><em>Run this cell to see your progress.</em></p>"

    def __repr__(self) -> str:
        """Say what this is, the same for every learner."""
        return "Progress: run this cell to see yours"


def _notebooks() -> dict[str, str]:
    """Return the notebooks that lie beside the learner's file, by the numbers of their lessons."""
    try:
        names = [path.name for path in progress.path().parent.glob("[0-9][0-9]_*.ipynb")]
    except OSError:  # in a browser tab that keeps no files
        return {}
    by_length = sorted(names, key=len, reverse=True)  # 03_x.new-0.2.0.ipynb lies beside 03_x.ipynb
    return {name[:2]: name for name in by_length}


def _linked(files: dict[str, str], number: str, text: str) -> str:
    """Return words as HTML that lead to a lesson, where it can be found."""
    words = html.escape(text)
    if number not in files:
        return words
    return f'<a href="{html.escape(files[number])}">{words}</a>'


def _performed(files: dict[str, str]) -> str:
    """Say what was mastered in performances, and what to try again; nothing before the first."""
    performances, _ = progress.read_performances()
    if not performances:
        return ""
    again = to_try_again()
    mastered = dict.fromkeys(name for one in performances.values() for name in one.mastered)
    can = [CONCEPTS[name] for name in mastered if name in CONCEPTS and name not in again]
    where = {name: key for key, one in performances.items() for name in one.again}
    lists = [("As the engine, you can", [html.escape(words) for words in can])]
    rows = []
    for name, words in again.items():
        number = where[name].partition(".")[0]
        rows.append(f"{html.escape(words)} ({_linked(files, number, f'lesson {number}')})")
    lists.append(("Perform once more", rows))
    return "".join(
        f"<p><b>{title}</b></p><ul>{''.join(f'<li>{row}</li>' for row in rows)}</ul>"
        for title, rows in lists
        if rows
    )
