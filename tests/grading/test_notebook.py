"""The learner's code is found in whatever state the notebook is, and nothing of it is run."""

import json
from pathlib import Path

import pytest

from autodiff_kit.grading.course import Course
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.notebook import MAX_CODE, code_of
from tests.grading import tiny

LOCKED = {"grade_id": "e01-test", "locked": True, "grade": True, "solution": False, "points": 1}


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    course: Course = tiny.make_course(tmp_path_factory.mktemp("course"))
    return course.exercise(tiny.NAME)


def code(exercise: Exercise, *cells: tuple[str, dict] | str) -> str:
    return code_of(tiny.notebook(*cells), "work.ipynb", exercise)


def test_cells_the_learner_may_write_in_are_kept_and_locked_ones_are_not(
    exercise: Exercise,
) -> None:
    found = code(
        exercise, "a = 1", ("assert double(1) == 3", LOCKED), (tiny.SOLUTION, tiny.SOLVING)
    )

    assert found == f"# %%\na = 1\n# %%\n{tiny.SOLUTION}\n"


def test_a_locked_cell_that_was_unlocked_is_the_learners(exercise: Exercise) -> None:
    assert "b = 2" in code(exercise, ("b = 2", {**LOCKED, "locked": False}))


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_copies_the_one_that_was_worked_on_counts(order: int, exercise: Exercise) -> None:
    cells = [(tiny.STUB, tiny.SOLVING), (tiny.SOLUTION, tiny.SOLVING)][::order]

    assert code(exercise, *cells) == f"# %%\n{tiny.SOLUTION}\n"


def test_a_stub_alone_stays_so_that_it_reads_as_not_attempted(exercise: Exercise) -> None:
    assert tiny.STUB in code(exercise, (tiny.STUB, tiny.SOLVING))


def test_a_cell_that_was_retyped_without_its_id_counts(exercise: Exercise) -> None:
    assert tiny.SOLUTION in code(exercise, (tiny.STUB, tiny.SOLVING), tiny.SOLUTION)


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("!pip install torch\nx = 1", "# !pip install torch\nx = 1"),
        ("x = (7\n  % 3)", "x = (7\n  % 3)"),
        ("%%bash\nrm -rf /\n", "\n\n"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
    ],
)
def test_commands_to_jupyter_are_no_code(cell: str, kept: str, exercise: Exercise) -> None:
    assert code(exercise, cell) == f"# %%\n{kept}\n"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_python_source_is_taken_as_it_is(mark: str, exercise: Exercise) -> None:
    assert code_of((mark + tiny.SOLUTION).encode(), "a.py", exercise) == tiny.SOLUTION


def test_source_in_utf_16_is_read(exercise: Exercise) -> None:
    assert code_of("x = 'ä'".encode("utf-16"), "a.py", exercise) == "x = 'ä'"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a notebook"),
        (b"{", "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
        (b"[]", "no cells"),
        (b'{"cells": 3}', "no cells"),
        (b"\x80\x81\x82", "no text"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(
    data: bytes, words: str, exercise: Exercise
) -> None:
    with pytest.raises(ExerciseError, match=words):
        code_of(data, "a.ipynb", exercise)


def test_cells_of_any_odd_form_are_passed_over(exercise: Exercise) -> None:
    cells = [
        None,
        3,
        {},
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3, "metadata": []},
        {"cell_type": "code", "source": [1, "x = 1"], "metadata": {"nbgrader": "yes"}},
    ]
    data = json.dumps({"cells": cells}).encode()

    assert "x = 1" in code_of(data, "a.ipynb", exercise)


def test_too_much_code_is_refused(exercise: Exercise) -> None:
    with pytest.raises(ExerciseError, match="more than"):
        code_of(b"#" * (MAX_CODE + 1), "a.py", exercise)


def test_half_characters_cannot_stop_the_grader(exercise: Exercise) -> None:
    data = json.dumps({"cells": [{"cell_type": "code", "source": "x = '\ud800'"}]}).encode()

    assert code_of(data, "a.ipynb", exercise).encode()


def test_nothing_is_run(exercise: Exercise, tmp_path: Path) -> None:
    target = tmp_path / "ran"

    code(exercise, f"open({str(target)!r}, 'w')")

    assert not target.exists()
