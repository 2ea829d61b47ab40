"""What `verify` finds of checks by itself, and what it does not do twice."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.grading.answers import Answer, is_right
from autodiff_kit.grading.verify import Verdict, _draws
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
