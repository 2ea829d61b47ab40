"""A course of one small exercise, for tests of the grader itself: twice a number, plus one."""

import dataclasses
import json
from pathlib import Path

from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.exercise import Exercise

NAME = "e01_double"
SOLUTION = "def double(x):\n    return 2 * x + 1\n"
WRONG = "def double(x):\n    return 2 * x\n"
STUB = 'def double(x):\n    """Return twice x, plus one."""\n    raise NotImplementedError\n'
CHECKS = """
import numpy as np
from autodiff_kit.grading.checks import check


@check(step="numbers", points=1, concept="twice, plus one")
class Numbers:
    caption = "double(3)"
    example = 3.0

    def generate(rng):
        return float(rng.normal())

    def drive(step, data):
        return step.double(data)


@check(step="arrays", points=2, concept="also for arrays", cases=2)
class Arrays:
    caption = "double([1, 2])"
    example = np.array([1.0, 2.0])

    def generate(rng):
        return rng.normal(size=(3, 2))

    def drive(step, data):
        return step.double(data)
"""
FACTS = """
id = "01.double"
title = "Double"
lesson = "none"
version = 1
minutes = 1
allowed = ["numpy"]
hints = [{text = "Two times."}, {text = "Plus one."}]
limits = {seconds = 10.0, memory = 256}
[[steps]]
id = "numbers"
points = 1
names = ["double"]
[[steps]]
id = "arrays"
points = 2
names = ["double"]
"""
MESSAGES = """
Numbers = "Some numbers come out wrong."
Arrays = "Some arrays come out wrong."
one_is_missing = "The one is missing."
"""


def notebook(*cells: tuple[str, dict] | str) -> bytes:
    """Return a notebook of code cells, each a source or (source, nbgrader metadata)."""
    code_cells = []
    for number, cell in enumerate(cells):
        source, grading = cell if isinstance(cell, tuple) else (cell, {})
        code_cells.append(
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {"nbgrader": grading} if grading else {},
                "execution_count": None,
                "outputs": [],
                "source": source.splitlines(keepends=True),
            }
        )
    return json.dumps(
        {"cells": code_cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ).encode()


SOLVING = {
    "grade_id": "e01-double",
    "solution": True,
    "grade": False,
    "locked": False,
    "schema_version": 3,
    "task": False,
}
MARKED = SOLUTION.replace(
    "    return 2 * x + 1\n", "    ### BEGIN SOLUTION\n    return 2 * x + 1\n    ### END SOLUTION\n"
)


def make_course(folder: Path, seconds: float = 10.0) -> Course:
    """Write the course into a folder."""
    checks = folder / "checks" / NAME
    (checks / "alternatives").mkdir(parents=True)
    (checks / "checks.py").write_text(CHECKS)
    (checks / "exercise.toml").write_text(FACTS.replace("10.0", str(seconds)))
    (checks / "messages.toml").write_text(MESSAGES)
    (checks / "mutants.toml").write_text("[one_is_missing]\nold = '2 * x + 1'\nnew = '2 * x'\n")
    (folder / "source" / NAME).mkdir(parents=True)
    (folder / "source" / NAME / f"{NAME}.ipynb").write_bytes(notebook((MARKED, SOLVING)))
    (folder / "course.toml").write_text(f'title = "Tiny"\nexercises = ["{NAME}"]\n')
    return open_course(folder)


def with_seconds(exercise: Exercise, seconds: float) -> Exercise:
    """Return the exercise with another time limit."""
    return dataclasses.replace(exercise, seconds=seconds)
