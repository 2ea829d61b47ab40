"""What a learner is told of a wrong answer: the mistake itself, and digits enough to see it."""

from pathlib import Path

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import Row, grade_code
from autodiff_kit.grading.verify import Trusted
from tests.grading import tiny

COURSE = open_course(Path(__file__).resolve().parents[2] / "exercises")


def rows(key: str, change: str) -> dict[str, Row]:
    """Grade the solution with something put in the place of its parts."""
    exercise = COURSE.exercise(key)
    result = grade_code(exercise, f"{exercise.solution}\n\n{change}", Trusted(exercise), 3)
    return {row.step: row for row in result.rows}


def test_a_mistake_in_an_earlier_step_is_named_where_it_shows_later_on() -> None:
    found = rows(
        "15.versions",
        "class Saved:\n"
        "    def __init__(self, array):\n        self.array = array\n"
        "    def get(self):\n        return self.array.data\n",
    )

    assert found["array"].message == "right"
    assert {found[step].message for step in ("saved", "rules")} == {"version_not_asked_again"}


def test_a_mistake_of_the_step_itself_comes_first() -> None:
    found = rows("15.versions", "def add(x, y):\n    return Array(x.data + y.data), lambda g: g\n")

    assert found["rules"].message == "one_contribution_for_two_inputs"


def test_a_mistake_is_not_named_where_a_check_that_passed_rules_it_out() -> None:
    class_without_wrapping = COURSE.exercise("01.graph").solution.replace(
        "other = as_node(other)", "other = other"
    )

    node = rows("01.graph", class_without_wrapping)["node"]

    # The inputs are nodes, as the check before has seen: only a plain number is not wrapped.
    assert node.failed == ("Numbers",)
    assert node.message == "Numbers"
    assert "A plain number has to become a node" in node.text


def test_an_answer_that_is_off_in_a_later_digit_is_shown_with_more_of_them(tmp_path: Path) -> None:
    exercise = tiny.make_course(tmp_path).exercise("01.double")

    code = "def double(x):\n    return 2 * x + 1.00001\n"
    text = grade_code(exercise, code, Trusted(exercise), 1).rows[1].text

    assert "your code gives [3.00001, 5.00001] of shape (2,)\nright is [3., 5.]" in text


def test_a_known_mistake_that_divides_by_zero_warns_nobody(recwarn: object) -> None:
    rows("15.versions", "def exp(x):\n    return Array(x.data / 0.0), lambda g: g / 0.0\n")

    assert not list(recwarn)  # type: ignore[call-overload]
