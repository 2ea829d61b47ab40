"""The card on which a solution's lines are put in order, or gaps in them are filled.

After reading this file you can say what the browser is told of a puzzle (its lines, in an order
that says nothing) and what it answers: where they were put. Read next: ``static/rows.mjs``.
"""

from __future__ import annotations

import html
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.feedback import picture_of
from autodiff_kit.grading.feedback_card import inline
from autodiff_kit.grading.progress import keep, known
from autodiff_kit.grading.puzzles import Line, Puzzle, arranged, filled, key_of, places_from
from autodiff_kit.lessons.cards import Card
from autodiff_kit.puzzles.judge import Verdict, judge
from autodiff_kit.view.viewer import joined, static

__all__ = ["GapsCard", "ParsonsCard", "PuzzleCard"]

Sent = dict[str, Any]  # what a trait holds, by the names that the browser reads
Kept = dict[str, Any]  # of one puzzle: "answer", "right" (the last one), "tries", "solved", "round"

WRONG_LINES = 4  # that are shown at a time: more is a search, not a question of order
_NO_ANSWER = "<p>This does not fit the lines shown here. Run the cell again (Shift+Enter).</p>"
_NOT_KEPT = (
    "Nothing is kept here: what you solve is forgotten when Python ends, because no folder of "
    "exercises was found. To have one, run in this notebook's folder: autodiff-kit start {}"
)
_MODULES = ("code", "keys", "dom")  # of the kit's viewer; each after those that it imports
_OWN = ("rows.mjs", "lines.mjs", "gaps.mjs", "puzzle.js")


def _static(name: str) -> str:
    return (Path(__file__).with_name("static") / name).read_text(encoding="utf-8")


class PuzzleCard(Card):
    """One puzzle for each cell of an exercise; the browser says what was done, here it is judged.

    Parameters
    ----------
    exercise : Exercise
    puzzles : sequence of Puzzle
    folder : Path or None
        Where what was solved is kept; None: in this process.

    Attributes
    ----------
    task : dict
        What there is to do: ``kind``, ``title``, ``note`` (that nothing is kept), and ``parts``,
        each with its ``names``, ``sections`` and what its kind needs.
    state : dict
        ``count`` of what was said so far, and ``parts``: of each its ``answer``, ``outcome``
        (``""``, ``"right"``, ``"wrong"``), ``text`` and ``picture`` as HTML, the ``line`` that it
        is about, and whether it ``solved`` is. It is replaced, never changed.
    """

    _esm = joined(*(static(f"kit/{name}.mjs") for name in _MODULES), *map(_static, _OWN))
    _css = static("kit.css") + _static("puzzle.css")

    kind = ""
    what = ""

    task = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, exercise: Exercise, puzzles: Sequence[Puzzle], folder: Path | None) -> None:
        self.exercise = exercise
        self.puzzles = [puzzle for puzzle in puzzles if self.is_of_use(puzzle)]
        self._folder = folder
        # Each card has its own: another one may begin again while the lines are shown here.
        self._rounds = [
            _int(self._facts_of(number).get("round")) for number in range(len(self.puzzles))
        ]
        super().__init__(body=html.escape(self.what), task=self._task(), state=self._begun())
        self.on_msg(self._on_message)

    # -- What each kind does in its own way

    def is_of_use(self, puzzle: Puzzle) -> bool:
        """Return whether there is anything to do in a puzzle."""
        return True

    def part_of(self, number: int) -> Sent:
        """Return what the browser needs of a puzzle."""
        raise NotImplementedError

    def code_of(self, number: int, answer: Any) -> str:
        """Return the code that an answer makes.

        Raises
        ------
        ValueError
            If it is none.
        """
        raise NotImplementedError

    def own_form(self, number: int, answer: Any) -> list[Any]:
        """Return an answer as it is kept for the grader: it says the same in any round."""
        return list(answer)

    # -- What they share

    def answer(self, number: int, answer: Any) -> Verdict | None:
        """Judge an answer to one of the puzzles, keep it, and tell the learner what came of it.

        Parameters
        ----------
        number : int
        answer : as the browser sends it

        Returns
        -------
        Verdict or None - nothing for an answer that no browser sends.
        """
        try:
            code = self.code_of(number, answer)
        except (ValueError, KeyError, TypeError, IndexError):
            self._tell(number, outcome="wrong", text=_NO_ANSWER, picture="", line=0)
            return None
        verdict = judge(self.exercise, self.puzzles[number], code)
        before = self._facts_of(number)
        is_solved = bool(before.get("solved")) or verdict.is_right
        right = {"right": self.own_form(number, answer)} if verdict.is_right else {}
        tries = _int(before.get("tries")) + 1
        self._keep(number, answer=answer, tries=tries, solved=is_solved, **right)
        picture = picture_of(self.exercise, verdict.result, verdict.row)
        self._tell(
            number,
            answer=answer,
            outcome="right" if verdict.is_right else "wrong",
            text="".join(f"<p>{inline(line)}</p>" for line in verdict.text.splitlines()),
            picture=picture,
            line=verdict.line,
            solved=is_solved,
        )
        return verdict

    def begin_again(self, number: int) -> None:
        """Forget an answer; other wrong lines may come."""
        latest = _int(self._facts_of(number).get("round"))
        self._rounds[number] = max(latest, self._rounds[number]) + 1
        self._keep(number, answer=None)
        self.task = self._task()
        self._tell(number, answer=None, outcome="", text="", picture="", line=0)

    def _on_message(self, widget: Any, content: Any, buffers: Any) -> None:
        number = content.get("part") if isinstance(content, dict) else None
        if type(number) is not int or not 0 <= number < len(self.puzzles):
            return
        if content.get("again"):
            self.begin_again(number)
        elif content.get("keep"):
            self._keep(number, answer=content.get("answer"))
        else:
            self.answer(number, content.get("answer"))

    def _task(self) -> Sent:
        parts = [
            {
                "names": list(puzzle.names),
                "sections": [vars(section) for section in puzzle.sections],
                **self.part_of(number),
            }
            for number, puzzle in enumerate(self.puzzles)
        ]
        note = "" if self._folder else _NOT_KEPT.format(self.exercise.id)
        return {"kind": self.kind, "title": self.what, "note": note, "parts": parts}

    def _begun(self) -> Sent:
        nothing = {"outcome": "", "text": "", "picture": "", "line": 0}
        parts = [
            {
                **nothing,
                "answer": self._kept(number),
                "solved": bool(self._facts_of(number).get("solved")),
            }
            for number in range(len(self.puzzles))
        ]
        return {"count": 0, "parts": parts}

    def _kept(self, number: int) -> Any:
        answer = self._facts_of(number).get("answer")
        try:
            self.code_of(number, answer)
        except (ValueError, KeyError, TypeError, IndexError):  # of another version, or by hand
            return None
        return answer

    def _facts_of(self, number: int) -> Kept:
        """Return what is kept now: other cards and other tabs write it, too."""
        by_part = _dict(known(self._folder, self.exercise).get(self.kind))
        return _dict(by_part.get(key_of(self.puzzles[number])))

    def _keep(self, number: int, **news: Any) -> None:
        before = self._facts_of(number)
        if self._rounds[number] != _int(before.get("round")):  # the answer is one to these lines
            news["round"] = self._rounds[number]
        by_part = _dict(known(self._folder, self.exercise).get(self.kind))
        by_part = {**by_part, key_of(self.puzzles[number]): {**before, **news}}
        keep(self._folder, self.exercise, **{self.kind: by_part})

    def _tell(self, number: int, **news: Any) -> None:
        parts = list(self.state["parts"])
        parts[number] = {**parts[number], **news}
        self.state = {"count": self.state["count"] + 1, "parts": parts}

    def still(self) -> str:
        """Return what the card is about, the same for every learner."""
        return f"<p><em>{html.escape(self.what)}. Run this cell to begin.</em></p>"

    def __repr__(self) -> str:
        """Say what this is, the same for every learner."""
        return self.what


class ParsonsCard(PuzzleCard):
    """The lines of a solution, and some wrong ones, to be put in order."""

    kind = "parsons"

    def __init__(self, exercise: Exercise, puzzles: Sequence[Puzzle], folder: Path | None) -> None:
        self.what = f"{exercise.id}: put the lines in order"
        super().__init__(exercise, puzzles, folder)

    def part_of(self, number: int) -> Sent:
        """Return the lines of a puzzle, in an order that says nothing."""
        lines = self._lines(number)
        return {"lines": [{"id": line.id, "text": line.text} for line in lines]}

    def _lines(self, number: int) -> list[Line]:
        puzzle, round_ = self.puzzles[number], self._rounds[number]
        # The same each time the cell is run, as long as the learner does not begin again.
        rng = random.Random(f"{self.exercise.id} {key_of(puzzle)} {round_}")
        wrong = list(dict.fromkeys(line.text for line in puzzle.lines if line.mistake))
        chosen = rng.sample(wrong, min(WRONG_LINES, len(wrong)))
        lines = [line for line in puzzle.lines if not line.mistake or line.text in chosen]
        names = rng.sample(range(100, 1000), len(lines))  # those of the puzzle are in order
        self._ids = {**getattr(self, "_ids", {}), number: {}}
        for line, name in zip(lines, names, strict=True):
            self._ids[number][f"l{name}"] = line.id
        displayed = [
            Line(name, line.text) for name, line in zip(self._ids[number], lines, strict=True)
        ]
        rng.shuffle(displayed)
        return displayed

    def own_form(self, number: int, answer: Any) -> list[Any]:
        """Return the arrangement that the browser sends, with the puzzle's own ids of lines."""
        return [[section, self._ids[number][name], level] for section, name, level in answer]

    def code_of(self, number: int, answer: Any) -> str:
        """Return the code of an arrangement."""
        puzzle = self.puzzles[number]
        return arranged(puzzle, places_from(puzzle, self.own_form(number, answer)))


class GapsCard(PuzzleCard):
    """A solution with gaps, each with several things to choose from."""

    kind = "gaps"

    def __init__(self, exercise: Exercise, puzzles: Sequence[Puzzle], folder: Path | None) -> None:
        self.what = f"{exercise.id}: fill the gaps"
        super().__init__(exercise, puzzles, folder)

    def is_of_use(self, puzzle: Puzzle) -> bool:
        """Return whether a puzzle has gaps."""
        return bool(puzzle.gaps)

    def part_of(self, number: int) -> Sent:
        """Return the lines of a puzzle: texts, and the numbers of gaps."""
        puzzle = self.puzzles[number]
        gaps = {gap.line: (index, gap) for index, gap in enumerate(puzzle.gaps)}
        texts = {line.id: line.text for line in puzzle.lines}
        rows = []
        for place in puzzle.places:
            text = texts[place.line]
            pieces: list[str | int] = [text]
            if place.line in gaps:
                index, gap = gaps[place.line]
                pieces = [text[: gap.start], index, text[gap.stop :]]
            rows.append({"section": place.section, "level": place.level, "pieces": pieces})
        return {"rows": rows, "choices": [list(gap.choices) for gap in puzzle.gaps]}

    def code_of(self, number: int, answer: Any) -> str:
        """Return the code with the chosen parts in its gaps."""
        puzzle = self.puzzles[number]
        if not isinstance(answer, list) or len(answer) != len(puzzle.gaps):
            raise ValueError("These are no choices.")
        for choice, gap in zip(answer, puzzle.gaps, strict=True):
            if choice not in gap.choices:
                raise ValueError("This is no choice.")
        return filled(puzzle, answer)


def _dict(value: object) -> Kept:
    """Return what a file should have a dict for; it may have been changed by hand."""
    return value if isinstance(value, dict) else {}


def _int(value: object) -> int:
    return value if type(value) is int else 0
