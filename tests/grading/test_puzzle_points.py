"""Points for puzzles, where a teacher has set some: earned by what runs, and by nothing else."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.grading.calls import Call, Limits, Reply, Runner, Work
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.one_submission import Job, grade_one
from autodiff_kit.grading.puzzle_making import puzzles_for
from autodiff_kit.grading.puzzle_points import ANSWERS, with_answers
from autodiff_kit.grading.results import Attempt
from autodiff_kit.grading.worker import Level0
from tests.grading import tiny

RIGHT = [[0, "a", 0]]  # "return 2 * x + 1"
WRONG = [[0, "b", 0]]  # "return 2 * x"


def course_with(folder: Path, shares: str) -> Course:
    tiny.make_course(folder)
    file = folder / "checks" / tiny.NAME / "exercise.toml"
    file.write_text(f"{file.read_text()}\n[puzzles]\n{shares}\n")
    return open_course(folder)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_with(tmp_path, "parsons = 0.5\ngaps = 0.25")


def handed_in(code: str, answers: Any) -> bytes:
    notebook = json.loads(tiny.notebook(code))
    notebook["metadata"] = {ANSWERS: answers}
    return json.dumps(notebook).encode()


def graded(course: Course, data: bytes, suffix: str = ".ipynb") -> Attempt:
    work = Submission("ada", "ada", tiny.NAME, "ada", data, suffix)
    return grade_one(Job("key", work, "", 5), course, Level0())


def test_the_lines_of_the_tiny_exercise(course: Course) -> None:
    (puzzle,) = puzzles_for(course, course.exercise(tiny.NAME))

    assert {line.id: line.text for line in puzzle.lines} == {
        "a": "return 2 * x + 1",
        "b": "return 2 * x",
    }


@pytest.mark.parametrize(
    ("code", "answers", "points"),
    [
        (tiny.STUB, {"parsons": {"double": RIGHT}}, 1.5),
        ("x = 1", {"parsons": {"double": RIGHT}}, 1.5),
        (tiny.WRONG, {"parsons": {"double": RIGHT}}, 1.5),
        (tiny.WRONG, {"gaps": {"double": ["x + 1"]}}, 0.75),
        (tiny.WRONG, {"gaps": {"double": ["x + 1"]}, "parsons": {"double": RIGHT}}, 1.5),
        (tiny.SOLUTION, {"parsons": {"double": RIGHT}}, 3),
        (tiny.WRONG, {"parsons": {"double": WRONG}}, 0),
        (tiny.WRONG, {"gaps": {"double": ["x"]}}, 0),
        (tiny.WRONG, {"parsons": {"single": RIGHT}}, 0),
    ],
)
def test_a_puzzle_earns_its_share_where_what_was_written_earns_less(
    code: str, answers: Any, points: float, course: Course
) -> None:
    attempt = graded(course, handed_in(code, answers))

    assert attempt.status == "graded"
    assert attempt.points == points


def test_the_row_says_what_the_points_are_for(course: Course) -> None:
    mark = graded(course, handed_in(tiny.WRONG, {"parsons": {"double": RIGHT}})).marks[1]

    assert (mark.points, mark.status) == (1, "wrong")
    assert "The one is missing." in mark.text
    assert "The lines put in order earn 1 of 2 points." in mark.text


@pytest.mark.parametrize(
    "answers",
    [
        None,
        [],
        "return 2 * x + 1",
        {"parsons": RIGHT},
        {"parsons": {"double": "return 2 * x + 1"}},
        {"parsons": {"double": [[0, "return 2 * x + 1", 0]]}},
        {"parsons": {"double": [[0, "a", 0]] * 2}},
        {"parsons": {"double": [[1, "a", 0]]}},
        {"parsons": {"double": [[0, "a", 10**6]]}},
        {"parsons": {"double": [[0, "a", -1]]}},
        {"parsons": {"double": [[True, "a", None]]}},
        {"parsons": {"double": [[0, "a", 0.0]]}},
        {"parsons": {"double": RIGHT * 10**4}},
        {"gaps": {"double": ["x + 1", "x"]}},
        {"gaps": {"double": ["x + 1 if True else open('/etc/passwd')"]}},
        {"gaps": {"double": {"x + 1": 1}}},
        {"gaps": {"double": [[]]}},
        {"points": 3},
        {"parsons": {"double": [[[]] * 10**5]}},
    ],
)
def test_what_is_no_answer_earns_nothing_and_stops_nothing(answers: Any, course: Course) -> None:
    attempt = graded(course, handed_in(tiny.WRONG, answers))

    assert (attempt.status, attempt.points) == ("graded", 0)


def test_without_a_share_nothing_is_earned(tmp_path: Path) -> None:
    for number, shares in enumerate(("", "parsons = 0")):
        course = course_with(tmp_path / str(number), shares)

        assert graded(course, handed_in(tiny.WRONG, {"parsons": {"double": RIGHT}})).points == 0


def of_lines(code: str | Work) -> bool:
    """Return whether a run is for a puzzle's own code: here, a script."""
    return isinstance(code, Work) and code.suffix == ".py"


def of_answers(code: str | Work) -> bool:
    """Return whether a run is for the notebook's metadata: beside no code."""
    return code == ""


class Failing(Level0):
    """A machine that fails a few of the runs that are for puzzles."""

    def __init__(self, status: str, times: int, is_failing: Callable[[str | Work], bool]) -> None:
        self.status, self.times, self.is_failing = status, times, is_failing

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        if self.times and self.is_failing(code):
            self.times -= 1
            return [Reply(self.status, error="The machine was in trouble.")] * len(calls)
        return super().run_calls(code, calls, limits)


def graded_by(runner: Runner, course: Course, answers: Any) -> Attempt:
    data = handed_in(tiny.WRONG, answers)
    work = Submission("ada", "ada", tiny.NAME, "ada", data, ".ipynb")
    return grade_one(Job("key", work, "", 5), course, runner)


@pytest.mark.parametrize(
    ("is_failing", "status"),
    [(of_lines, "fault"), (of_lines, "timeout")]
    + [(of_answers, status) for status in ("fault", "timeout", "died")],
)
def test_a_machine_that_fails_once_costs_a_puzzle_nothing(
    is_failing: Callable[[str | Work], bool], status: str, course: Course
) -> None:
    attempt = graded_by(Failing(status, 1, is_failing), course, {"parsons": {"double": RIGHT}})

    assert (attempt.status, attempt.points, attempt.tries) == ("graded", 1.5, 2)


@pytest.mark.parametrize("is_failing", [of_lines, of_answers])
def test_a_machine_that_fails_on_and_on_is_named_as_the_cause(
    is_failing: Callable[[str | Work], bool], course: Course
) -> None:
    attempt = graded_by(Failing("fault", 99, is_failing), course, {"parsons": {"double": RIGHT}})

    assert attempt.status == "fault"
    assert {mark.status for mark in attempt.marks} == {"fault"}


def test_lines_that_never_end_are_tried_twice_and_are_no_fault(course: Course) -> None:
    attempt = graded_by(Failing("timeout", 99, of_lines), course, {"parsons": {"double": RIGHT}})

    assert (attempt.status, attempt.tries) == ("graded", 2)
    assert "The lines put in order did not end within the time." in attempt.marks[0].text


def test_a_script_has_no_metadata(course: Course) -> None:
    assert graded(course, tiny.WRONG.encode(), ".py").points == 0


@pytest.mark.parametrize("shares", ["parsons = 2", "gaps = -0.1", 'gaps = "half"', "puzzle = 0.5"])
def test_what_is_no_share_is_refused(shares: str, tmp_path: Path) -> None:
    course = course_with(tmp_path, shares)

    with pytest.raises(ExerciseError, match="a share of a step's points from 0 to 1"):
        course.exercise(tiny.NAME)


def test_a_notebook_is_packed_with_what_was_solved_and_as_it_is_otherwise(course: Course) -> None:
    exercise = course.exercise(tiny.NAME)
    notebook = tiny.notebook(tiny.WRONG)
    facts = {"parsons": {"double": {"right": RIGHT, "answer": WRONG}, "other": {}}, "gaps": 3}

    packed = with_answers(notebook, exercise, facts)

    assert json.loads(packed)["cells"] == json.loads(notebook)["cells"]
    assert json.loads(packed)["metadata"][ANSWERS] == {"parsons": {"double": RIGHT}, "gaps": {}}
    assert graded(course, packed).points == 1.5
    assert with_answers(notebook, exercise, {}) == notebook


@pytest.mark.parametrize("data", [b"x = 1", b"[]", b"3", b'{"cells": [], "metadata": []}'])
def test_answers_cannot_be_put_into_what_is_no_notebook(course: Course, data: bytes) -> None:
    facts = {"parsons": {"double": {"right": RIGHT}}}

    with pytest.raises(Unreadable, match="is not a notebook"):
        with_answers(data, course.exercise(tiny.NAME), facts)


def test_what_a_puzzle_has_earned_is_not_told_as_lost(course: Course) -> None:
    data = handed_in(tiny.WRONG, {"parsons": {"double": RIGHT}})

    texts = [mark.text for mark in graded(course, data).marks]

    assert any("Not right in what was written: twice, plus one." in text for text in texts)
    assert not any("Points lost" in text for text in texts)
