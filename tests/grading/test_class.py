"""A whole class, from `build` to a file for Canvas, by the commands that a teacher types.

``python -m tests.benchmarks.grading --class 200`` does the same with 200 learners, timed.
"""

import csv
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store
from tests.gate import IN_THE_GATE
from tests.grading import pupils

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
COUNT = 40 if IN_THE_GATE else 20  # ten for each exercise
KEYS = ("04.accumulate", "05.broadcast", "01.graph", "03.order")


def run(*words: str | Path) -> str:
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def graded(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, list[pupils.Pupil], dict[str, Grade], str]:
    """Learners, ten for each of some exercises, which end a loop without end soon."""
    place = tmp_path_factory.mktemp("class")
    shutil.copytree(EXERCISES, place / "course")
    for path in (place / "course" / "checks").glob("*/exercise.toml"):
        facts = path.read_text(encoding="utf-8").replace("seconds = 3.0", "seconds = 0.5")
        path.write_text(facts, encoding="utf-8")
    course = ("--course", place / "course")
    run("build", "--check", *course)
    handed_in = pupils.make(open_course(place / "course"), place / "submitted", COUNT, KEYS)
    results = place / "results"
    words = ("--out", results, "--workers", "2", "--allow-level", "0", *course)
    result = run("grade", place / "submitted", *words)
    with Store(results / "results.sqlite") as store:
        return place, handed_in, {g.student: g for g in store.grades()}, result


def of_kind(kind: str, graded: tuple) -> list[tuple[pupils.Pupil, Grade]]:
    _, handed_in, grades, _ = graded
    return [(p, grades[clean(p.student)]) for p in handed_in if p.kind == kind]


def test_each_learner_has_one_row(graded: tuple) -> None:
    _, handed_in, grades, _ = graded

    assert len(grades) == len(handed_in) == COUNT
    assert {g.attempts for g in grades.values()} == {1}


def test_right_answers_have_all_points_however_they_are_written(graded: tuple) -> None:
    grades = of_kind("right", graded)

    assert len(grades) == 0.4 * COUNT
    assert [(p.student, g.points) for p, g in grades if g.points < p.exercise.points] == []


def test_known_mistakes_lose_points_and_are_told_which_they_are(graded: tuple) -> None:
    for pupil, grade in of_kind("mistake", graded):
        assert grade.points < grade.max
        assert pupil.message in [mark.message for mark in grade.marks]


def test_cheats_and_untouched_notebooks_have_nothing(graded: tuple) -> None:
    for kind in ("cheat", "untouched"):
        assert [(p.student, g.points) for p, g in of_kind(kind, graded) if g.points] == []
    for _, grade in of_kind("untouched", graded):
        assert {mark.status for mark in grade.marks} == {"not attempted"}


def test_a_broken_file_is_a_row_that_says_so(graded: tuple) -> None:
    for _, grade in of_kind("broken", graded):
        assert grade.attempt.status == "unreadable"
        assert grade.marks[0].text


def test_the_summary_counts_learners(graded: tuple) -> None:
    *_, result = graded
    line = next(line for line in result.splitlines() if line.startswith("e04_accumulate"))

    assert line.split()[1] == "10"  # graded
    assert line.split()[-2:] == ["1", "1"]  # one untouched, one broken
    assert f"{COUNT} submissions: {COUNT} graded now" in result


def test_the_file_for_canvas_has_a_line_for_each_and_no_formula(graded: tuple) -> None:
    place, handed_in, *_ = graded
    output = run(
        *("export", "canvas", "--to", place / "out", "--results", place / "results"),
        *("--course", place / "course"),
    )
    with open(place / "out" / "canvas.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))

    assert "canvas.csv" in output
    assert len(lines) == 2 + len(handed_in)
    assert not [
        cell for line in lines[2:] for cell in line if cell.startswith(("=", "+", "-", "@"))
    ]
    assert not [cell for line in lines for cell in line if "\x1b" in cell]
    assert sum(float(cell) for line in lines[2:] for cell in line[5:] if cell) >= 4 * COUNT
