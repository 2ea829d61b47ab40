"""Answers to the questions of a performance, right ones and whole performances handed in."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.performing import code_with, recording_of, source_of
from autodiff_kit.view.perform import Script, Task, Walk, perform_script


def right_answer(task: Task) -> Any:
    """Return what the script takes for right: what it should be is tested elsewhere."""
    answer = task["answers"][0]
    if "one" in answer:
        return answer["one"]
    if "all" in answer:
        return [*answer["all"]]
    if answer.get("none"):
        return "None"
    value = answer["at"][0]
    return str(np.array(value["data"]).reshape(value["shape"]).tolist())


def script_of(exercise: Exercise, draw: int) -> Script:
    """Return the questions about the graph that a number draws."""
    performed = exercise.checks[0].performed
    assert performed is not None
    return perform_script(recording_of(source_of(performed.program, draw)), performed.only)


def answers_to(exercise: Exercise, draw: int, **wrong: Any) -> list[Any]:
    """Return right answers, but wrong ones to questions of these kinds."""
    walk = Walk(script_of(exercise, draw), is_exam=True)
    answers = []
    while walk.task is not None:
        about = walk.task["about"]
        answers.append(wrong[about] if about in wrong else right_answer(walk.task))
        walk.answer(answers[-1])
    return answers


def handed_in(exercise: Exercise, draw: int, **wrong: Any) -> str:
    """Return the code that hands in a performance."""
    return code_with(draw, answers_to(exercise, draw, **wrong))
