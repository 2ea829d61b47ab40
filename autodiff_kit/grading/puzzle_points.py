"""Give points for a puzzle, where a teacher has set some: for a step that was not written right.

After reading this file you can say how an arrangement comes to the grader (`submit` puts those that
were right into the notebook's metadata: numbers of lines and choices, no code) and why it is
believed no more than a notebook: it is made code again, run and judged like one. Read next:
``one_submission.py``.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_kit.grading.calls import Call, Limits, Runner, Work
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.marking import (
    MISSING,
    NOT_ATTEMPTED,
    Result,
    Row,
    as_fault,
    grade_code,
)
from autodiff_kit.grading.messages import Fields
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.puzzles import Puzzle, arranged, beside, filled, key_of, places_from

__all__ = ["with_answers", "with_puzzle_points"]

ANSWERS = "autodiff_kit_puzzles"  # in a notebook's metadata
LOOKING = Limits(seconds=3, memory=512, total=3)
_WORDS = {"parsons": "The lines put in order", "gaps": "The gaps filled"}


def with_answers(notebook: bytes, exercise: Exercise, facts: Fields) -> bytes:
    """Return a notebook with the puzzles that were solved, if they earn anything.

    Parameters
    ----------
    notebook : bytes
    exercise : Exercise
    facts : dict
        What is kept about the exercise beside the learner's work (`progress.known`).

    Raises
    ------
    Unreadable
        If that is no notebook, and there are answers to put into it.
    """
    answers = {}
    for kind in exercise.puzzle_shares:
        parts = facts.get(kind)
        parts = parts.items() if isinstance(parts, dict) else ()
        answers[kind] = {k: p["right"] for k, p in parts if isinstance(p, dict) and "right" in p}
    if not any(answers.values()):
        return notebook
    try:
        content = json.loads(notebook)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"The file is not a notebook: {str(error)[:200]}") from error
    if not isinstance(content, dict) or not isinstance(content.get("metadata", {}), dict):
        raise Unreadable("The file is not a notebook: there is no place for your solved puzzles.")
    content["metadata"] = {**content.get("metadata", {}), ANSWERS: answers}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def with_puzzle_points(
    exercise: Exercise,
    puzzles: Sequence[Puzzle],
    work: Work,
    runner: Runner,
    seed: int,
    limits: Limits,
    result: Result,
) -> Result:
    """Return a result with the points for puzzles, where these are more than for what was written.

    Parameters
    ----------
    exercise : Exercise
    puzzles : sequence of Puzzle
        All of the exercise.
    work : Work
        As it was handed in.
    runner : Runner
    seed : int
    limits : Limits
        For all runs together.
    result : Result
        Of what was written.

    Returns
    -------
    Result - where the machine failed, rows that a puzzle may earn points for are faults.
    """
    begun = time.monotonic()
    rows = list(result.rows)
    if work.suffix != ".ipynb" or not any(exercise.puzzle_shares.values()):
        return result
    if not any(_may_earn(r, s) for r in rows for s in exercise.puzzle_shares.values()):
        return result
    answers = _answers_in(work, runner)
    if answers is None:
        most = max(exercise.puzzle_shares.values())
        faults = (as_fault(row) if _may_earn(row, most) else row for row in rows)
        return replace(result, rows=tuple(faults))
    for kind, share in exercise.puzzle_shares.items():
        by_part = answers.get(kind)
        for puzzle in puzzles:
            code = _code(kind, puzzle, by_part)
            names = {*puzzle.names}
            steps = [s.id for s in exercise.steps if code and names.issuperset(s.names)]
            open_rows = [i for i, r in enumerate(rows) if r.step in steps and _may_earn(r, share)]
            if not open_rows:
                continue
            left = limits.after(time.monotonic() - begun)
            again = grade_code(exercise, beside(exercise, puzzle, code), runner, seed, left)
            for index in open_rows:
                status = again.rows[index].status
                if status == "right":
                    rows[index] = _earned(rows[index], kind, share)
                elif status == "fault":
                    rows[index] = as_fault(rows[index])
                elif status == "timeout":
                    rows[index] = _late(rows[index], kind)
    return replace(result, rows=tuple(rows))


def _may_earn(row: Row, share: float) -> bool:
    return row.status != "fault" and row.points < share * row.max


def _earned(row: Row, kind: str, share: float) -> Row:
    points = round(share * row.max, 2)
    text = f"{row.text}\n{_WORDS[kind]} earn {points:g} of {row.max:g} points."
    if row.status in (NOT_ATTEMPTED, MISSING):  # something was done
        return replace(row, points=points, text=text, status="puzzle", message=kind)
    return replace(row, points=points, text=text)


def _late(row: Row, kind: str) -> Row:
    """Return a row whose puzzle did not end: it has what was written earns, and is tried again."""
    text = f"{row.text}\n{_WORDS[kind]} did not end within the time."
    return replace(row, status="timeout", message="timeout", text=text)


def _code(kind: str, puzzle: Puzzle, by_part: object) -> str:
    """Return the code of an answer that was handed in; "" if there is none."""
    answer = by_part.get(key_of(puzzle)) if isinstance(by_part, dict) else None
    try:
        if kind == "parsons":
            return arranged(puzzle, places_from(puzzle, answer))
        if not isinstance(answer, list) or any(
            choice not in gap.choices for choice, gap in zip(answer, puzzle.gaps, strict=True)
        ):
            return ""
        return filled(puzzle, answer)
    except (ValueError, TypeError):
        return ""


def _answers_in(work: Work, runner: Runner) -> Fields | None:
    """Return the answers in a notebook, none if it has none; None if the machine failed."""
    driver = f"import json\n{inspect.getsource(_metadata)}\ndrive = _metadata\n"
    question = {"data": np.frombuffer(work.data, np.uint8), "name": ANSWERS}
    (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], LOOKING)
    if reply.status in ("fault", "timeout", "died"):  # no code of the learner's was run
        return None
    return reply.value if isinstance(reply.value, dict) else {}


def _metadata(step: Any, data: Any) -> Any:
    """Return a part of a notebook's metadata: read where a harmful file does no harm."""
    import json

    try:
        return json.loads(data["data"].tobytes())["metadata"][data["name"]]
    except (ValueError, KeyError, TypeError):
        return None
