"""Read what a learner answered in words, and say what there is for a person to grade.

After reading this file you can say why an answer is read where a harmful file does no harm, and in
a process without the learner's code: that has seen the hidden inputs, and what is answered comes
back to the learner. Read next: ``mark_command.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from autodiff_kit.grading.calls import LINES, Call, Limits, Runner, clean
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import NOT_ATTEMPTED
from autodiff_kit.grading.questions import MOST_TEXT, PLACE, TO_ANSWER
from autodiff_kit.grading.results import UNGRADED, Mark

__all__ = ["own_answers", "question_marks", "read_answers"]

READING = Limits(seconds=5.0, memory=512, total=10.0, waiting=30.0)


def question_marks(exercise: Exercise, submission: Submission, runner: Runner) -> tuple[Mark, ...]:
    """Return what there is to grade by a person."""
    if not exercise.questions:
        return ()
    answers = read_answers(submission.data, submission.suffix, runner)
    marks = []
    for question in exercise.questions:
        if isinstance(answers, str):
            status = "fault" if answers == "fault" else "unreadable"
            mark = Mark(question.id, 0, question.points, status, status, answers)
        elif answer := answers.get(question.id, ""):
            mark = Mark(question.id, 0, question.points, UNGRADED, answer=answer)
        else:
            words = (NOT_ATTEMPTED, NOT_ATTEMPTED, "The question is not answered.")
            mark = Mark(question.id, 0, question.points, *words)
        marks.append(mark)
    return tuple(marks)


def read_answers(data: bytes, suffix: str, runner: Runner) -> Mapping[str, str] | str:
    """Return what a learner answered, by the question's name; or in one text why it is not known.

    The machine's own failure is ``"fault"``.
    """
    if suffix != ".ipynb":
        return {}
    driver = f"{inspect.getsource(_answers)}\ndrive = _answers\n"
    question = {"data": np.frombuffer(data, np.uint8), "place": PLACE, "most": MOST_TEXT}
    (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], READING)
    if reply.status == "fault":
        return "fault"
    if reply.status != "ok" or not isinstance(reply.value, dict):
        return f"The answers in the notebook cannot be read: {clean(reply.error, 200)}"
    answers = {str(name): str(text) for name, text in reply.value.items()}
    answers = {name: text.replace(TO_ANSWER, "").strip() for name, text in answers.items()}
    return {name: clean(text, MOST_TEXT, LINES) for name, text in answers.items()}


def own_answers(data: bytes) -> set[str]:
    """Return which questions are answered in a learner's own notebook, on their own machine."""
    request = {"data": np.frombuffer(data, np.uint8), "place": PLACE, "most": MOST_TEXT}
    try:
        answers = _answers(None, request)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set()  # the check says what is wrong with the file
    return {name for name, text in answers.items() if text.replace(TO_ANSWER, "").strip()}


def _answers(step: Any, data: Any) -> Any:
    """Return the texts of a notebook's cells for answers; what was copied counts as one answer."""
    import json

    texts: dict[str, list[str]] = {}
    for cell in json.loads(data["data"].tobytes())["cells"][:2000]:
        metadata = cell.get("metadata")
        grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        grade_id = grading.get("grade_id") if isinstance(grading, dict) else None
        if not isinstance(grade_id, str) or data["place"] not in grade_id:
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str):
            source = source[: data["most"] + 1].encode("utf-8", "replace").decode()
            parts = texts.setdefault(grade_id.partition(data["place"])[2][:100], [])
            if source not in parts:
                parts.append(source)
    return {name: "\n\n".join(parts)[: data["most"] + 1] for name, parts in texts.items()}
