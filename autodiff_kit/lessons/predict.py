"""Ask the learner for a prediction before the reveal, and show how far they have come.

After reading this file you can put a question into a notebook of your own. The lessons ask theirs
by key, ``predict("03.order")``, so that the answer does not stand in the cell above which it is
asked. Read next: ``questions.py``, how an answer is judged.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from autodiff_kit.lessons.questions import Question

if TYPE_CHECKING:
    from autodiff_kit.lessons.cards import ProgressCard, QuestionCard
    from autodiff_kit.lessons.recalling import Recalled

__all__ = ["predict", "recall", "show_progress"]


def predict(
    question: str,
    *,
    choices: Sequence[str] | None = None,
    answer: str | None = None,
    number: float | None = None,
    code: str | Sequence[str] | None = None,
    why: Mapping[str | float, str] | None = None,
    right: str = "",
    otherwise: str = "Look again, one step at a time.",
    within: float = 1e-4,
    key: str = "",
) -> QuestionCard:
    """Ask one question, keep the first answer, and explain what is wrong with a wrong one.

    Parameters
    ----------
    question : str
        The key of one of the lessons' own questions, such as ``"03.order"``, and nothing else; or
        the text of a question of your own, with exactly one of `choices`, `number` and `code`.
        Text between backticks is shown as code, and so are paragraphs indented by four blanks.
    choices : sequence of str, optional
        Answers to choose from; the right one is `answer`, and every other one needs a `why`.
    answer : str, optional
        The right one of the choices.
    number : float, optional
        The right number; an answer may be off by `within`.
    code : str or sequence of str, optional
        The right short expression, or several. Answers are compared as literal values or syntax
        trees (blanks and the order in ``a + b`` do not matter); they are never run.
    why : dict, optional
        Wrong answer -> what to say about it.
    right : str
        What to say to the right answer.
    otherwise : str
        What to say to a wrong number or code that `why` does not name.
    within : float
        How far a number may be off.
    key : str
        Name under which the answer is kept in the learner's progress file; ``""``: not kept.

    Returns
    -------
    QuestionCard - shown when it is the last line of a cell.

    Raises
    ------
    ValueError
        If there is no question of this key, or if the parts of a question do not fit together.

    Examples
    --------
    >>> predict("What is `2 + 2`?", number=4, why={22: "`+` joins texts, and adds numbers."})
    Question: What is `2 + 2`?
    """
    from autodiff_kit.lessons.cards import QuestionCard

    kinds = {"choice": choices, "number": number, "code": code}
    accepted = [kind for kind, value in kinds.items() if value is not None]
    if not accepted:
        return QuestionCard(_find(question))
    if len(accepted) > 1 or (choices is None) != (answer is None):
        raise ValueError(
            "A question has either choices and an answer, or a number, or code.\n"
            '-> For example: predict("What is 2 + 2?", number=4)'
        )
    codes = (code,) if isinstance(code, str) else tuple(code or ())
    if code is not None and not codes:
        raise ValueError("A question with code needs at least one right answer.")
    card = Question(
        text=question,
        kind="choice" if choices is not None else "number" if number is not None else "code",
        answer=answer if answer is not None else number if number is not None else codes[0],
        key=key,
        choices=tuple(choices or ()),
        also=codes[1:],
        right=right,
        why=why or {},
        otherwise=otherwise,
        within=within,
    )
    return QuestionCard(card)


def _find(key: str) -> Question:
    from autodiff_kit.lessons import renamed
    from autodiff_kit.lessons.bank import QUESTIONS

    for name in (key, renamed.QUESTIONS.get(key)):  # an old notebook asks by the old key
        if name in QUESTIONS:
            return QUESTIONS[name]
    near = difflib.get_close_matches(key, QUESTIONS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Their keys look like {min(QUESTIONS)!r}."
    raise ValueError(
        f"The lessons have no question {key[:60]!r}.\n"
        f"-> {hint} A question of your own also needs choices=, number= or code=."
    )


def recall(lesson: str) -> Recalled:
    """Ask two questions from earlier lessons, chosen by this learner's answers so far.

    Parameters
    ----------
    lesson : str
        The number of the lesson that begins, such as ``"05"``.

    Returns
    -------
    Recalled - a list of cards; shown when it is the last line of a cell.
    """
    from autodiff_kit.lessons.recalling import ask

    return ask(lesson)


def show_progress() -> ProgressCard:
    """Show which questions of which lesson were answered, from the learner's own file.

    Returns
    -------
    ProgressCard - shown when it is the last line of a cell.
    """
    from autodiff_kit.lessons.cards import ProgressCard

    return ProgressCard()
