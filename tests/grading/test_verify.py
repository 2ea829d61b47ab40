"""What `verify` finds of checks by itself, and what it does not do twice."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.grading.answers import Answer, is_right
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.verify import Verdict, _draws, stated_points
from tests.grading import tiny


@pytest.mark.parametrize("is_drawn", [True, False])
def test_verify_finds_a_check_that_draws_what_it_has_to_ask(tmp_path: Path, is_drawn: bool) -> None:
    exercise = tiny.make_course(tmp_path).exercise(tiny.NAME)
    (numbers, _) = exercise.checks
    if is_drawn:
        zero_or_one = dataclasses.replace(numbers, generate=lambda rng: float(rng.integers(0, 2)))
    else:
        zero_or_one = dataclasses.replace(
            numbers, kinds=(0.0, 1.0), cases=2, generate=lambda rng, kind: kind
        )
    check = dataclasses.replace(zero_or_one, example=0.0)
    verdict = Verdict(exercise.id, 1)

    _draws(dataclasses.replace(exercise, checks=(check,)), verdict, range(40))

    assert any("2 * x + 1 -> return 3 * x + 1" in text for text in verdict.problems) == is_drawn


def test_a_slow_check_judges_each_answer_once(tmp_path: Path) -> None:
    (numbers, _) = tiny.make_course(tmp_path).exercise(tiny.NAME).checks
    judged: list[Any] = []

    def compare(data: float, value: float, expected: float) -> bool:
        judged.append((data, value, expected))
        return value == expected

    check = dataclasses.replace(numbers, slow=True, compare=compare)
    cases = [(1.0, 2.0, 2.0), (1.0, 3.0, 2.0), (1.5, 3.0, 3.0), (1.0, 3.0, 3.0)]

    for _ in range(2):
        verdicts = [is_right(check, d, Answer("ok", v), Answer("ok", w)) for d, v, w in cases]
        assert verdicts == [True, False, True, True]

    assert judged == cases


def test_the_points_that_a_notebook_states_are_those_of_the_step(tmp_path: Path) -> None:
    course = tiny.make_course(tmp_path)
    path = tmp_path / "source" / tiny.NAME / f"{tiny.NAME}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text = (
        "## Your task, step 1: numbers (1 point)\nStep 2 (3 points), of two.\n\nStep 3: (1 point)"
    )
    cell = {"cell_type": "markdown", "id": "told", "metadata": {}, "source": text}
    path.write_text(json.dumps({**notebook, "cells": [cell, *notebook["cells"]]}), "utf-8")
    verdict = Verdict("01.double", 3)

    stated_points(course.exercise("01"), course, verdict)

    assert verdict.problems == [
        "the notebook states 3 points for step 2, and arrays give 2",
        "the notebook states 1 points for step 3, and there is none",
    ]


def test_the_kits_own_notebooks_state_the_points_that_there_are() -> None:
    course = open_course()
    verdict = Verdict("all", 0)

    for exercise in course.exercises():
        stated_points(exercise, course, verdict)

    assert verdict.problems == []
