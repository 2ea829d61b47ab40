"""What is kept of a learner's tries, and which hint comes next."""

from pathlib import Path

import pytest

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.progress import keep, keep_result, next_hint
from autodiff_kit.grading.trusted import Trusted
from tests.grading import tiny

COURSE = open_course(Path("exercises"))


def numbers_of_hints(folder: Path | None, key: str, code: str, count: int) -> list[int]:
    """Try code, ask for hints, and return their numbers."""
    exercise = COURSE.exercise(key)
    keep_result(folder, exercise, grade_code(exercise, code, Trusted(), 3))
    hints = [next_hint(folder, exercise) for _ in range(count)]
    return [int(hint.split()[1]) for hint in hints]


def test_hints_begin_with_the_first_step_that_is_not_right(tmp_path: Path) -> None:
    solution = COURSE.exercise("05.broadcast").solution
    broken = solution + "\n\ndef multiply_rule(g, x, y):\n    return g, g\n"

    # Three hints are for `unbroadcast`, which is right; the fourth is for the step behind it.
    assert numbers_of_hints(tmp_path, "05.broadcast", broken, 2) == [4, 4]


def test_hints_within_a_step_begin_with_the_first_check_that_fails(tmp_path: Path) -> None:
    solution = COURSE.exercise("04.accumulate").solution
    overwriting = solution.replace("node.grad + ", "")
    assert overwriting != solution

    # Only a second pass comes out wrong: that is the fourth hint's.
    assert numbers_of_hints(tmp_path, "04.accumulate", overwriting, 1) == [4]


def test_a_hint_that_was_read_does_not_come_again_after_another_try(tmp_path: Path) -> None:
    first = numbers_of_hints(tmp_path, "05.broadcast", "", 2)
    second = numbers_of_hints(tmp_path, "05.broadcast", "", 3)

    assert (first, second) == ([1, 2], [3, 4, 1])


def test_where_all_is_right_hints_begin_with_the_first(tmp_path: Path) -> None:
    solution = COURSE.exercise("05.broadcast").solution

    assert numbers_of_hints(tmp_path, "05.broadcast", solution, 2) == [1, 2]


def test_what_a_file_of_progress_holds_instead_of_lists_counts_as_nothing(tmp_path: Path) -> None:
    exercise = COURSE.exercise("05.broadcast")
    keep(tmp_path, exercise, failures="x", shown={"a": 1}, hints="many")

    assert next_hint(tmp_path, exercise).startswith("Hint 1 of 4")


def test_a_hint_for_what_is_not_there_is_refused(tmp_path: Path) -> None:
    course = tiny.make_course(tmp_path)
    facts = tmp_path / "checks" / tiny.NAME / "exercise.toml"
    facts.write_text(facts.read_text().replace('text = "Plus', 'checks = ["Numbrs"], text = "Plus'))

    with pytest.raises(ExerciseError, match="a hint is for Numbrs"):
        course.exercise("01.double")
