"""Exercises that are performed: what is handed in, how it is judged, and what cannot be copied."""

from __future__ import annotations

import dataclasses
import json
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from nbformat import v4

from autodiff_kit.cli import cli
from autodiff_kit.grading.checks import Program
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import NOT_ATTEMPTED, grade_code
from autodiff_kit.grading.one_submission import Job, grade_one
from autodiff_kit.grading.performing import (
    DRAWS,
    code_with,
    graph_of,
    recording_of,
    source_of,
    without_names,
)
from autodiff_kit.grading.worker import InProcess
from autodiff_kit.puzzles.performing import Performance, answered
from tests.grading.performers import answers_to, handed_in, right_answer, script_of

COURSE = open_course(Path(__file__).resolve().parents[2] / "exercises")
PERFORMED = [e for e in COURSE.exercises() if e.kind == "perform"]
each_performed = pytest.mark.parametrize("exercise", PERFORMED, ids=lambda e: e.id)


def row_of(exercise: Exercise, code: str, seed: int = 7) -> Any:
    (row,) = grade_code(exercise, code, InProcess(), seed).rows
    return row


def program_of(exercise: Exercise) -> Program:
    own = exercise.checks[0].performed
    assert own is not None
    return own.program


def example_of(exercise: Exercise) -> str:
    return str(exercise.checks[0].example["source"])


def test_two_exercises_are_performed() -> None:
    assert [exercise.id for exercise in PERFORMED] == ["17.one_pass", "18.shapes_and_passes"]


@each_performed
def test_a_right_performance_has_full_points_whatever_the_grader_draws(exercise: Exercise) -> None:
    code = handed_in(exercise, 123)

    assert {row_of(exercise, code, seed).points for seed in (1, 500)} == {exercise.points}


@each_performed
def test_the_answers_to_another_graph_earn_nothing(exercise: Exercise) -> None:
    answers = answers_to(exercise, 123)

    assert {row_of(exercise, code_with(draw, answers)).points for draw in range(200, 206)} == {0}


@each_performed
def test_a_draw_that_is_no_plain_number_earns_nothing(exercise: Exercise) -> None:
    code = handed_in(exercise, 1).replace('"draw": 1,', '"draw": True,')

    assert '"draw": True' in code
    assert row_of(exercise, code).points == 0


@each_performed
def test_an_untouched_notebook_is_not_attempted(exercise: Exercise) -> None:
    code = "def performance(question):\n    raise NotImplementedError()\n"

    row = row_of(exercise, code)

    assert (row.status, row.points) == (NOT_ATTEMPTED, 0)


@pytest.mark.parametrize(
    ("key", "about", "answer", "lost", "message"),
    [
        ("17.one_pass", "count", "1", 3, "counts_once"),
        ("17.one_pass", "sum", "1000", 2, "Sums"),
        ("18.shapes_and_passes", "axes", "[]", 2, "broadcast_axis"),
        ("18.shapes_and_passes", "axes", "[1]", 2, "broadcast_axis"),
        ("18.shapes_and_passes", "freed", "yes", 1, "Afterwards"),
    ],
)
def test_a_wrong_answer_costs_its_check_and_is_told_without_the_right_one(
    key: str, about: str, answer: str, lost: float, message: str
) -> None:
    exercise = COURSE.exercise(key)

    row = row_of(exercise, handed_in(exercise, 99, **{about: answer}))

    assert (row.points, row.message) == (exercise.points - lost, message)
    assert "You answered" in row.text
    questions = [t for t in script_of(exercise, 99)["tasks"].values() if t["about"] == about]
    for task in questions:
        if task["kind"] == "value":
            number = f"{float(right_answer(task)):g}"
            assert not re.search(rf"You answered .*{re.escape(number)}", row.text)


@pytest.mark.parametrize(
    "value",
    [
        *("None", "3", "'x'", "{}", "{'draw': 1}", "{'draw': -1, 'answers': []}"),
        *(f"{{'draw': {DRAWS}, 'answers': []}}", "{'draw': 1, 'answers': ['9**9**9'] * 20}"),
        *("{'draw': 1, 'answers': [[['x']]] * 30}", "{'draw': 1, 'answers': 'x' * 10**6}"),
        *("{'draw': 1, 'answers': ['('*200] * 150}", "{'draw': 1.5, 'answers': []}"),
        *("{'draw': True, 'answers': [None] * 20}", "{'draw': 1, 'answers': [1e999, 10**400]}"),
    ],
)
def test_what_is_no_performance_earns_nothing_and_stops_nothing(value: str) -> None:
    for exercise in PERFORMED:
        row = row_of(exercise, f"def performance(question):\n    return {value}\n")

        assert (row.points, row.status) == (0, "wrong")
        assert row.text


def payload_of(lab: Performance) -> dict[str, Any]:
    return dict(json.loads(zlib.decompress(lab.payload)))


@each_performed
def test_what_a_browser_gets_before_the_first_answer_holds_none(
    exercise: Exercise, tmp_path: Path
) -> None:
    lab = Performance(exercise, tmp_path)

    state = json.dumps([payload_of(lab), lab.told, repr(lab), lab.still()])

    payload = payload_of(lab)
    for task in payload["script"]["tasks"].values():
        assert not task["answers"] and not task["slips"] and not task["right"]
        assert not task["reveal"] and not task["prompt"] and not task["names"]
    assert {frame["phase"] for frame in payload["frames"]} == {"forward", "backward"}
    passes = [frame for frame in payload["frames"] if frame["phase"] == "backward"]
    assert not any(frame["set"] or frame["caption"] or frame["node"] for frame in passes)
    forward = json.dumps(payload["frames"]) + json.dumps(payload["nodes"]) + payload["svg"]
    for node in lab.script["stages"][0]["pass"]["nodes"].values():
        number = node["gradient"]
        if number not in ("1.", "0.") and number not in forward:
            assert f'"{number}"' not in state


@each_performed
def test_afterwards_a_box_says_its_gradient_but_not_while_its_grad_is_asked_for(
    exercise: Exercise, tmp_path: Path
) -> None:
    lab = Performance(exercise, tmp_path)
    questions = [task for task in lab.script["tasks"].values() if task["about"] == "leaf"]
    passes = [stage["pass"] for stage in lab.script["stages"] if "pass" in stage]
    reached = {box for one in passes for box in one["nodes"]}
    answers = answers_to(exercise, lab._draw)
    first = len(answers) - sum(t["part"] == "state" for t in lab.script["tasks"].values())

    for count in range(first, len(answers) + 1):
        lab.log = [["answer", answer, True] for answer in answers[:count]]
        hidden = {task["node"] for task in questions[max(count - first, 0) :]}
        assert set(lab.told["fields"]) == reached - hidden

    assert all(lab.told["fields"].values())


@each_performed
def test_a_lab_that_is_made_again_stands_where_it_stood(exercise: Exercise, tmp_path: Path) -> None:
    lab = Performance(exercise, tmp_path)
    first, second = answers_to(exercise, lab._draw)[:2]
    lab.log = [["answer", first, True], ["answer", second, True]]

    again = Performance(exercise, tmp_path)

    assert again.log == lab.log
    assert (again.told, again._draw) == (lab.told, lab._draw)


def test_beginning_again_draws_another_graph_and_forgets_the_answers(tmp_path: Path) -> None:
    (exercise, _) = PERFORMED
    lab = Performance(exercise, tmp_path)
    before, draw = payload_of(lab), lab._draw
    lab.log = [["answer", answers_to(exercise, draw)[0], True]]

    lab.log = []

    assert lab._draw != draw
    assert payload_of(lab) != before
    assert Performance(exercise, tmp_path)._draw == lab._draw


@each_performed
def test_answers_become_code_that_is_found_where_it_was_written(
    exercise: Exercise, tmp_path: Path
) -> None:
    lab = Performance(exercise, tmp_path)
    lab.log = [["answer", answer, True] for answer in answers_to(exercise, lab._draw)]
    space: dict[str, Any] = {}

    words = answered(exercise, tmp_path, space)

    handed = space["performance"](None)
    assert words.startswith(f"{len(lab.log)} answers are in this cell now.")
    assert "Not all" not in words
    assert row_of(exercise, code_with(**handed)).points == exercise.points


def test_before_anything_is_answered_no_code_is_written(tmp_path: Path) -> None:
    space: dict[str, Any] = {}

    words = answered(PERFORMED[0], tmp_path, space)

    assert words.startswith("Nothing is answered yet")
    assert not space


def test_a_written_exercise_cannot_be_performed(tmp_path: Path) -> None:
    with pytest.raises(ExerciseError, match=r"04\.accumulate is written, not performed"):
        Performance(COURSE.exercise("04.accumulate"), tmp_path)


def notebook_with(exercise: Exercise, code: str) -> bytes:
    """Return a notebook as a learner hands it in, with the answers in a cell of their own."""
    path = COURSE.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    place = next(k for k, c in enumerate(notebook.cells) if c.source.startswith("answers("))
    notebook.cells[place] = v4.new_code_cell(code)
    return nbformat.writes(notebook).encode()


@each_performed
def test_a_notebook_is_graded_with_its_draw(exercise: Exercise) -> None:
    data = notebook_with(exercise, handed_in(exercise, 4711))
    submission = Submission(
        student="ada", name="Ada", exercise=exercise.name, origin="x", data=data, suffix=".ipynb"
    )

    attempt = grade_one(Job("k", submission, "c", 5), COURSE, InProcess())

    assert sum(mark.points for mark in attempt.marks) == exercise.points
    program = program_of(exercise)
    assert attempt.draw == graph_of(program, [{"draw": 4711}]) != graph_of(program, [{"draw": 12}])


def share_of_equal_pairs(values: list[str]) -> float:
    """Return how probable it is that two values are equal."""
    pairs = sum(n * (n - 1) for n in Counter(values).values())
    return pairs / (len(values) * (len(values) - 1))


@each_performed
def test_in_a_class_of_300_hardly_ever_two_have_one_program_whatever_its_names(
    exercise: Exercise,
) -> None:
    # Numbers and structure are drawn independently: each share can be counted, their product not.
    sources = [without_names(source_of(program_of(exercise), draw)) for draw in range(1_500)]
    structures = [re.sub(r"\d+\.0", "_", source) for source in sources]
    numbers = [str(sorted(re.findall(r"tensor\((.*)\)", source))) for source in sources]

    both = share_of_equal_pairs(structures) * share_of_equal_pairs(numbers)

    assert len(set(sources)) == len(sources)
    assert 300 * 299 / 2 * both < 0.001


def test_programs_that_differ_in_their_names_only_are_one_graph() -> None:
    def program(generator: np.random.Generator) -> str:
        y, z = generator.permutation([*"abyz"])[:2]
        left, right = generator.permutation([y, "x"])  # the order of factors is no name
        lines = [f"x = torch.tensor({generator.integers(3)}.0)", f"{y} = x * x"]
        return "\n".join([*lines, f"{z} = {left} + {right}"])

    draws_by_graph: dict[str | None, set[str]] = {}
    for draw in range(400):
        graph = graph_of(program, [{"draw": draw}])
        draws_by_graph.setdefault(graph, set()).add(source_of(program, draw))

    assert [len(sources) for sources in draws_by_graph.values()] == [4 * 3] * (3 * 2)


@each_performed
def test_answers_of_two_performances_earn_nothing(exercise: Exercise) -> None:
    # To the example, whose answers are public, a function's; to the rest those of somebody's graph.
    nodes = [record["value"]["data"] for record in recording_of(example_of(exercise)).nodes]
    code = (
        f"import numpy as np\n\n\n{exercise.solution}\n\nown = performance\n\n\n"
        f"{handed_in(exercise, 1)}\nall_of_it = performance\n\n\n"
        "def performance(question):\n"
        "    values = [np.ravel(node['value']).tolist() for node in question['nodes']]\n"
        f"    return own(question) if values == {nodes!r} else all_of_it(question)\n"
    )
    submission = Submission(
        student="eve",
        name="Eve",
        exercise=exercise.name,
        origin="x",
        data=notebook_with(exercise, code),
        suffix=".ipynb",
    )

    attempt = grade_one(Job("k", submission, "c", 5), COURSE, InProcess())

    assert sum(mark.points for mark in attempt.marks) == 0
    assert all("more than one performance" in mark.text for mark in attempt.marks)
    assert attempt.draw == ""


def test_who_hands_in_the_graph_of_another_is_named(tmp_path: Path) -> None:
    (exercise, _) = PERFORMED
    for student, draw in (("ada", 11), ("bob", 12), ("eve", 11)):
        folder = tmp_path / "submitted" / student / exercise.name
        folder.mkdir(parents=True)
        path = folder / f"{exercise.name}.ipynb"
        path.write_bytes(notebook_with(exercise, handed_in(exercise, draw)))

    done = CliRunner().invoke(
        cli,
        [
            "grade",
            str(tmp_path / "submitted"),
            "--out",
            str(tmp_path / "results"),
            "--workers",
            "1",
        ],
    )

    assert done.exit_code == 0, done.output
    assert "the same graph was performed by ada, eve: one may have copied" in done.output
    assert "bob" not in done.output


def test_a_check_that_is_performed_needs_its_kind(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "course"
    shutil.copytree(COURSE.folder, folder)
    facts = folder / "checks" / "e17_one_pass" / "exercise.toml"
    facts.write_text(facts.read_text().replace('kind = "perform"', 'kind = "write"'))

    with pytest.raises(ExerciseError, match=r'exercise\.toml needs kind = "perform"'):
        open_course(folder).exercise("17.one_pass")


def test_an_unclear_answer_counts_as_wrong_and_shifts_no_other() -> None:
    (exercise, _) = PERFORMED
    answers = answers_to(exercise, 31)
    place = next(
        k for k, answer in enumerate(answers) if isinstance(answer, str) and "." in answer and k > 4
    )
    answers[place] = "what?"

    row = row_of(exercise, code_with(31, answers))

    assert 0 < row.points < exercise.points


def test_each_check_can_be_asked_for_alone() -> None:
    (exercise, _) = PERFORMED
    for check in exercise.checks:
        one = dataclasses.replace(exercise, checks=(check,))
        assert not row_of(one, handed_in(exercise, 3)).failed
