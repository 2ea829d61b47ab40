"""What a learner is told at a first try, at a second, and on request: no answer without asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.grading import progress
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.feedback import Feedback
from autodiff_kit.grading.marking import Result, grade_code
from autodiff_kit.grading.trusted import Trusted

COURSE = open_course()
EXERCISE = COURSE.exercise("04.accumulate")
LAST_ONLY = EXERCISE.solution.replace(
    "contribution if before is None else before + contribution", "contribution"
)


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Result:
    monkeypatch.chdir(tmp_path)
    return grade_code(EXERCISE, LAST_ONLY, Trusted(), 3)


def shown_for(result: Result, **more: Any) -> tuple[str, str]:
    feedback = Feedback(EXERCISE, result, **more)
    return repr(feedback), feedback._repr_html_() or ""


def test_the_right_answer_is_told_on_request_only(result: Result) -> None:
    text, page = shown_for(result)
    with_answer, page_with_answer = shown_for(result, answer=True)

    assert "keeps only its last contribution" in text and "your code gives 3" in text
    assert "right is" not in text + page and "right is 7" in with_answer
    assert 'check("04.accumulate", answer=True)' in text and "answer=True" not in with_answer
    assert 'aria-label="x: grad 3"' in page
    assert ">yours<" in page and ">right<" not in page and "grad 7" not in page
    assert ">right<" in page_with_answer and "grad 7" in page_with_answer


def test_several_mistakes_are_all_shown_for(result: Result) -> None:
    text, _ = shown_for(result)

    assert "Checks that fail as well: shared arrays are not changed." in text


def test_the_second_try_in_a_row_gets_a_hint(result: Result, tmp_path: Path) -> None:
    right = grade_code(EXERCISE, EXERCISE.solution, Trusted(), 3)
    hints = []
    for outcome in (result, result, result, right, result, result):
        progress.keep_result(tmp_path, EXERCISE, outcome)
        hints.append(progress.hint_when_due(tmp_path, EXERCISE))

    assert [bool(hint) for hint in hints] == [False, True, False, False, False, True]
    assert hints[1].startswith("Hint 1 of") and hints[5] != hints[1]


def test_full_marks_open_the_next_exercise_where_it_lies(result: Result, tmp_path: Path) -> None:
    right = grade_code(EXERCISE, EXERCISE.solution, Trusted(), 3)
    after = COURSE.exercise("05.broadcast")
    link = '<a href="e05_broadcast.ipynb">Next: exercise 05, Broadcast.</a>'

    assert "Next: exercise 05, Broadcast." in shown_for(right, after=after)[0]
    assert link not in shown_for(right, after=after)[1]
    (tmp_path / "e05_broadcast.ipynb").write_text("{}")
    assert link in shown_for(right, after=after)[1]


def test_a_card_shows_which_checks_of_a_step_fail_and_which_wait_for_others() -> None:
    exercise = COURSE.exercise("02.rules")
    code = exercise.solution.replace("return g * y, g * x", "return g, g")

    page = Feedback(exercise, grade_code(exercise, code, Trusted(), 3)).markup()

    failed = 'aria-label="wrong">\N{MULTIPLICATION X}</span><span>rule of x * y</span>'
    waiting = 'aria-label="asked when the others are right">'
    assert failed in page and page.count(waiting) == 1
    assert page.count("<li") == 2  # the other steps are right, and have no list
    assert "contribution to x: [10], contribution to y: [10]" in page


def test_an_array_names_the_first_number_that_is_not_right() -> None:
    exercise = COURSE.exercise("06.matmul")
    code = exercise.solution.replace("return g @ b.T, a.T @ g", "return g @ b.T, a @ g")

    (row, _) = grade_code(exercise, code, Trusted(), 3).rows

    # By hand: a.T @ g is [[1 * 1 + 2 * 3, ...], ...], and a @ g begins with 1 * 1 + 0 * 3.
    assert "contribution to b: [[1, 2], [5, 8]]" in row.text
    assert "The first number that is not right: contribution to b at [0, 0]." in row.text
