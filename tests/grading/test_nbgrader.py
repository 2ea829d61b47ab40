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


@pytest.mark.parametrize(("name", "mistake"), EXERCISES)
def test_generate_validate_autograde_and_export_agree_with_our_grader(
    name: str, mistake: str, tmp_path: Path
) -> None:
    course = tmp_path / "course"
    shutil.copytree(ROOT / "exercises", course, ignore=shutil.ignore_patterns("release"))
    solved = course / "source" / name / f"{name}.ipynb"
    exercise = open_course(course).exercise(name[1:].replace("_", ".", 1))
    mistakes = {mutant.name: mutant.code for mutant in exercise.mutants}

    nbgrader(course, "generate_assignment", name, "--create")
    released = course / "release" / name / f"{name}.ipynb"
    mistaken = json.loads(solved.read_text(encoding="utf-8"))
    for cell in mistaken["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = mistakes[mistake]
    notebooks = {
        "ada": solved.read_text(encoding="utf-8"),
        "ben": json.dumps(mistaken),
        "cem": released.read_text(encoding="utf-8"),
    }
    for student, text in notebooks.items():
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    validated = nbgrader(course, "validate", str(solved))
    nbgrader(course, "autograde", name, "--create")
    nbgrader(course, "export", "--to", "grades.csv")

    with (course / "grades.csv").open(newline="") as lines:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(lines)}
    ours = {}
    for student, text in notebooks.items():
        work = Work(text.encode(), ".ipynb")
        ours[student] = grade_code(exercise, work, Level0(), 1).points
    assert "Success" in validated
    assert scores == ours
    assert (scores["ada"], scores["cem"]) == (10.0, 0.0)
    assert 0 < scores["ben"] < 10
