"""Judge an arrangement of lines, or gaps that were filled, by what the code does.

After reading this file you can say why any order that computes the same is right, and where the
words for a wrong one come from: from the exercise's own checks and known mistakes; of lines that
make no program, Python says which one it cannot read. Read next: ``card.py``.
"""

from __future__ import annotations

import dataclasses
import re
import secrets

from autodiff_kit.grading.calls import Runner
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.marking import Result, Row, grade_code
from autodiff_kit.grading.puzzles import Puzzle, beside
from autodiff_kit.grading.worker import own_runner

__all__ = ["Verdict", "judge"]

TRYING = 12.0  # seconds for all that is asked of one arrangement


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What came of a try.

    Attributes
    ----------
    is_right : bool
    message : str
        The id of the mistake's message in the exercise, the name of the check that failed, or, of
        lines that make no program, ``"empty_block"``, ``"too_far_in"``, ``"no_beginning"`` or
        ``"no_program"``.
    text : str
        What to tell the learner; code stands between backticks.
    line : int
        Which line of the code it is about, counted from 1; 0 if none in particular.
    result : Result, optional
        What the exercise's checks have found, if the code could be run.
    row : Row, optional
        The row of the step that is wrong.
    """

    is_right: bool
    message: str
    text: str
    line: int = 0
    result: Result | None = None
    row: Row | None = None


def judge(
    exercise: Exercise, puzzle: Puzzle, code: str, runner: Runner | None = None, seed: int = -1
) -> Verdict:
    """Run the code of a puzzle as `check` runs a learner's, all other parts being right.

    Parameters
    ----------
    exercise : Exercise
    puzzle : Puzzle
        The one that the code belongs to.
    code : str
    runner : Runner, optional
        The default is a process of its own.
    seed : int
        Decides on the inputs; negative: drawn now.

    Returns
    -------
    Verdict
    """
    try:
        compile(code, "<lines>", "exec")
    except SyntaxError as error:
        return _unreadable(error, code.split("\n"))
    limits = exercise.limits
    total = max(TRYING, 2 * limits.seconds)
    result = grade_code(
        exercise,
        beside(exercise, puzzle, code),
        runner or own_runner(),
        secrets.randbelow(2**32) if seed < 0 else seed,
        dataclasses.replace(limits, total=min(limits.total, total), waiting=total),
    )
    row = next((row for row in result.rows if row.status != "right"), None)
    if row is None:
        return Verdict(True, "right", "Right.", result=result)
    place = re.search(r"(?m)^line (\d+): ", row.text)
    line = int(place[1]) if place and int(place[1]) <= code.count("\n") + 1 else 0
    return Verdict(False, row.message, row.text, line, result, row)


def _unreadable(error: SyntaxError, lines: list[str]) -> Verdict:
    number = error.lineno or 0
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    if match := re.search(r"expected an indented block after .* on line (\d+)", error.msg):
        number = int(match[1])
        opening = lines[number - 1].strip()
        words = f"`{opening}` opens a block: at least one line has to stand below it, further in."
        return Verdict(False, "empty_block", words, number)
    if isinstance(error, IndentationError):
        words = f"`{text}` stands further in than the line above it, which opens no block."
        return Verdict(False, "too_far_in", words, number)
    if re.match(r"(elif|else|except|finally)\b", text):
        needed = "try" if text.startswith(("except", "finally")) else "if"
        words = (
            f"`{text}` needs its `{needed}` above it, just as far in, with a block between them."
        )
        return Verdict(False, "no_beginning", words, number)
    return Verdict(False, "no_program", f"Python cannot read `{text}`: {error.msg}.", number)
