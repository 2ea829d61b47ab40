"""Two questions from earlier lessons, as a lesson begins: what was wrong comes back.

After reading you know which questions are chosen, and for whom. What is answered here is kept
apart from the first predictions, so that these stay what they were. Read next: ``progress.py``.
"""

from __future__ import annotations

import html

from autodiff_kit.lessons import progress
from autodiff_kit.lessons.bank import LESSONS, QUESTIONS
from autodiff_kit.lessons.cards import QuestionCard, Words
from autodiff_kit.lessons.questions import Question

__all__ = ["COUNT", "REPEATED", "RecallCard", "Recalled", "ask", "choose"]

COUNT = 2  # of questions at the beginning of a lesson

# Questions that can be asked anywhere, in the order of the lessons; to each, the mistakes in a
# performance (``view/perform/script.py``) after which it is asked.
REPEATED: dict[str, tuple[str, ...]] = {
    "00.slope": ("local_slope",),
    "01.leaf": (),
    "01.twice": ("counts_once", "edges", "count"),
    "02.when": (),
    "02.spread": ("constant_as_leaf", "recorded", "targets"),
    "02.branch": ("other_branch", "branch"),
    "02.grows": (),
    "02.task": ("inputs",),
    "03.order": ("too_early", "next", "begin"),
    "03.adds": ("overwrites", "own_factor", "wrong_input", "sum", "value"),
    "03.again": ("grad_replaced", "grad", "again"),
    "03.task": ("leaf",),
    "04.slopes": (),
    "04.row": ("broadcast_axis", "axes"),
    "04.weight": ("transpose",),
    "05.loop": (),
    "05.while": (),
    "05.jump": (),
    "06.inside": (),
    "06.detach": ("flows_through",),
    "06.task": (),
    "07.branch": (),
    "07.calls": (),
    "08.shrinks": (),
    "09.who": ("saved",),
    "10.holds": (),
    "11.grad": (),
    "12.start": (),
    "12.slopes": (),
    "13.twice": ("freed", "stops"),
    "13.changed": ("stale_value",),
    "13.leaf": (),
}


class RecallCard(QuestionCard):
    """A question of an earlier lesson; the answer is kept as one that was recalled."""

    words = Words("Recall", "Check my answer")

    def __init__(self, question: Question) -> None:
        super().__init__(question, is_recalled=True)
        number = question.key.partition(".")[0]
        (lesson,) = (lesson for lesson in LESSONS if lesson.number == number)
        self.body = f"<p><em>From lesson {number}, {html.escape(lesson.title)}</em></p>{self.body}"

    def _keep(self, response: str, right: bool, *, looked: bool = False) -> str:
        self._tried = True
        return progress.keep_recalled(self.question.key, right)[1]

    def still(self) -> str:
        """Return what is the same for every learner: not the question."""
        return "<p><em>A question from an earlier lesson: run this cell to answer it.</em></p>"

    def __repr__(self) -> str:
        """Say what this is, the same for every learner."""
        return "A question from an earlier lesson: run this cell to answer it"


class Recalled(list[RecallCard]):
    """The questions for one learner, shown one below the other."""

    def _ipython_display_(self) -> None:
        for card in self:
            card._ipython_display_()


def ask(lesson: str) -> Recalled:
    """Return the cards of the questions for this learner (see ``predict.recall``)."""
    return Recalled(RecallCard(QUESTIONS[key]) for key in choose(lesson))


def choose(lesson: str) -> list[str]:
    """Return the keys of the questions that a learner is asked as a lesson begins.

    First what was wrong or was looked up (in a prediction, when it was recalled, or as a mistake in
    a performance) and not recalled since; then what was recalled least often, and of that what was
    asked longest ago.

    Parameters
    ----------
    lesson : str

    Returns
    -------
    list of str - in the order of the lessons.
    """
    answers, _ = progress.read()
    performances, _ = progress.read_performances()
    recalled = progress.read_recalled()
    places = {key: place for place, key in enumerate(REPEATED)}  # as the lessons ask them

    def is_open(key: str) -> bool:
        mistakes = [one.at for one in performances.values() if {*one.again} & {*REPEATED[key]}]
        if key not in recalled:
            return bool(mistakes) or (key in answers and not answers[key].right)
        last = recalled[key]
        return not last.right or any(at > last.at for at in mistakes)

    def order(key: str) -> tuple[bool, int, int]:
        times = recalled[key].times if key in recalled else 0
        return not is_open(key), times, places[key]

    earlier = [key for key in REPEATED if key.partition(".")[0] < lesson]
    return sorted(sorted(earlier, key=order)[:COUNT], key=places.__getitem__)
