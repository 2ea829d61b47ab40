"""nbgrader itself takes the exercises, and gives honest work the points that our grader gives.

Needs the extra: ``pip install -e ".[nbgrader]"``. ``ADK_REQUIRE_NBGRADER=1`` makes that a must.
"""

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff_kit.grading.calls import Work
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.worker import Level0

ROOT = Path(__file__).resolve().parents[2]
# An exercise that is written, and one that is performed, each with a classic mistake: to take the
# last contribution instead of the sum of all.
EXERCISES = [("e04_accumulate", "keeps_the_last"), ("e17_one_pass", "overwrites")]

if os.environ.get("ADK_REQUIRE_NBGRADER") != "1" and not importlib.util.find_spec("nbgrader"):
    pytest.skip('needs nbgrader: pip install -e ".[nbgrader]"', allow_module_level=True)


def nbgrader(course: Path, *words: str) -> str:
    process = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=course,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(course)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def test_generate_validate_autograde_and_export_agree_with_our_grader(
    tmp_path: Path, kernels: None
) -> None:
    course = tmp_path / "course"
    shutil.copytree(ROOT / "exercises", course, ignore=shutil.ignore_patterns("release"))
    solutions = {name: course / "source" / name / f"{name}.ipynb" for name, _ in EXERCISES}

    for name, _ in EXERCISES:
        nbgrader(course, "generate_assignment", name, "--create")
    works = {}
    for name, mistake in EXERCISES:
        released = course / "release" / name / f"{name}.ipynb"
        works["ada", name] = solutions[name].read_text(encoding="utf-8")
        works["ben", name] = with_mistake(course, works["ada", name], name, mistake)
        works["cem", name] = released.read_text(encoding="utf-8")
    for (student, name), text in works.items():
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    validated = nbgrader(course, "validate", *map(str, solutions.values()))
    for name, _ in EXERCISES:
        nbgrader(course, "autograde", name, "--create")
    nbgrader(course, "export", "--to", "grades.csv")

    with (course / "grades.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    scores = {(row["student_id"], row["assignment"]): float(row["score"]) for row in rows}
    ours = {}
    for (student, name), text in works.items():
        work = Work(text.encode(), ".ipynb")
        ours[student, name] = grade_code(exercise_of(course, name), work, Level0(), 1).points
    assert validated.count("Success") == len(EXERCISES)
    assert scores == ours
    for name, _ in EXERCISES:
        assert (scores["ada", name], scores["cem", name]) == (10.0, 0.0)
        assert 0 < scores["ben", name] < 10


def exercise_of(course: Path, name: str) -> Exercise:
    return open_course(course).exercise(name[1:].replace("_", ".", 1))


def with_mistake(course: Path, solved: str, name: str, mistake: str) -> str:
    """Return a solved notebook with a known mistake in the place of the solution."""
    mistakes = {mutant.name: mutant.code for mutant in exercise_of(course, name).mutants}
    notebook = json.loads(solved)
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = mistakes[mistake]
    return json.dumps(notebook)


def test_an_exercise_of_the_kit_asks_in_a_form_that_nbgrader_takes() -> None:
    from nbgrader.nbgraderformat import read

    exercise = open_course(ROOT / "exercises").exercise("16.gradcheck")
    (question,) = exercise.questions

    for folder in ("source", "release"):
        path = ROOT / "exercises" / folder / exercise.name / f"{exercise.name}.ipynb"
        cells = read(path, as_version=4).cells  # checks the metadata
        (place,) = [
            c for c in cells if "-question-" in c.metadata.get("nbgrader", {}).get("grade_id", "")
        ]
        assert place.metadata.nbgrader["points"] == question.points == exercise.total - 10
