"""The tests' own small exercise with a question that is answered in words."""

import json
from pathlib import Path
from typing import Any

from tests.grading import tiny

RUBRIC = """
[why]
rubric = [
    {points = 1, text = "Says that it is doubled."},
    {points = 1.5, text = "Says that one is added."},
    {points = -1, text = "Says that it is squared."},
]
"""
ASKED = "Why is double(1) 3?"


def cell(text: object, name: str = "why", kind: str = "markdown") -> dict[str, Any]:
    grading = {"grade_id": f"e01-question-{name}", "grade": True, "solution": True, "points": 0}
    grading |= {"locked": False, "schema_version": 3, "task": False}
    more = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": name,
        "metadata": {"nbgrader": grading},
        "source": text,
        **more,
    }


def notebook_of(code: str, *answers: object) -> bytes:
    """Return a notebook with a cell of code and cells for answers."""
    notebook = json.loads(tiny.notebook((code, tiny.SOLVING)))
    notebook["cells"] += [
        {"cell_type": "markdown", "id": "asked", "metadata": {}, "source": ASKED},
        *map(cell, answers),
    ]
    return json.dumps(notebook).encode()


MODEL = "### BEGIN SOLUTION\nTwice one, plus one.\n### END SOLUTION"


def make_course(folder: Path) -> None:
    tiny.make_course(folder)
    (folder / "checks" / tiny.NAME / "questions.toml").write_text(RUBRIC)
    source = folder / "source" / tiny.NAME / f"{tiny.NAME}.ipynb"
    source.write_bytes(notebook_of(tiny.MARKED, MODEL))
