"""Make the learners' notebook from the teacher's: solutions and hidden tests taken out.

After reading this file you can say what learners get to see. Notebooks are in nbgrader's cell
format, with its marks, so nbgrader makes the same cells from them. The hidden tests are written
by ``build``, too: they only call the checks, which stay the one place that decides marks. Read
next: ``checks.py``.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autodiff_kit.free_form import Json
from autodiff_kit.grading.engine_parts import is_engine
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.questions import TO_ANSWER

__all__ = [
    "build",
    "for_teacher",
    "handout",
    "has_test_cells",
    "with_engine",
    "with_hidden_tests",
    "without_hidden_tests",
]

_TOP = (".toml", ".md", ".py")  # of a course: course.toml, README.md, nbgrader_config.py
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
# What learners get of it defines a name that is asked for, as the stubs in all other cells do.
_ENGINE = '''class Node:
    """Put these two words in the place of all lines here, and run the cell twice:

    %load my_engine.py
    """

    def __init__(self, *arguments, **named):
        ### BEGIN SOLUTION
        pass


{}
        ### END SOLUTION'''
_SOLUTION = re.compile(r"(?ms)^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$")
_HIDDEN = re.compile(r"(?ms)\n*^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS$")


def build(source: bytes) -> bytes:
    """Return the learner's version of a notebook. The same source gives the same bytes.

    Parameters
    ----------
    source : bytes
        A notebook with ``### BEGIN SOLUTION`` and ``### BEGIN HIDDEN TESTS`` marks.

    Returns
    -------
    bytes

    Raises
    ------
    ExerciseError
        If it is no notebook, if a mark has no end, or if a solution stands outside of the cells
        that are for solutions.
    """
    notebook = _read(source)
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        grading = cell["metadata"].get("nbgrader", {})
        text, solutions = _SOLUTION.subn(_stub if cell["cell_type"] == "code" else TO_ANSWER, text)
        if solutions and not grading.get("solution"):
            raise ExerciseError(f"The cell {cell['id']} has a solution and is no solution cell.")
        text = without_hidden_tests(text)
        if grading.get("locked") and not grading.get("solution"):
            # JupyterLab and Notebook 7 keep to these two, and know nothing of nbgrader's.
            cell["metadata"] |= {"deletable": False, "editable": False}
        if "### BEGIN " in text or "### END " in text:
            raise ExerciseError(f"The cell {cell['id']} has a mark without its partner.")
        _write(cell, text)
    return _bytes(notebook)


def handout(notebooks: Mapping[str, bytes]) -> bytes:
    """Return a zip of the learners' notebooks and of nothing else: no checks, puzzles or mistakes.

    The same notebooks give the same bytes.

    Parameters
    ----------
    notebooks : mapping of exercise to bytes
        As `build` returns them.
    """
    return _zipped({f"{name}/{name}.ipynb": data for name, data in notebooks.items()})


def for_teacher(folder: Path) -> bytes:
    """Return a zip of a whole course: what learners get, and its checks and solutions.

    Results, which a teacher may keep in the folder, are not among it.
    """
    names = [path for path in folder.iterdir() if path.is_file() and path.suffix in _TOP]
    parts = [
        path for part in ("checks", "release", "source") for path in (folder / part).rglob("*")
    ]
    files = [p for p in [*names, *parts] if p.is_file() and "__pycache__" not in p.parts]
    return _zipped(
        {f"{folder.name}/{p.relative_to(folder).as_posix()}": p.read_bytes() for p in sorted(files)}
    )


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files; the same files give the same bytes."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: not of when it was made
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return zipped.getvalue()


def with_hidden_tests(source: bytes, exercise: Exercise) -> bytes:
    """Return the teacher's notebook with its test cells brought in line with the checks.

    Parameters
    ----------
    source : bytes
        Its test cells have the ids ``...-test-NAME``, one for each check.
    exercise : Exercise

    Returns
    -------
    bytes - points and hidden tests in place. Doing it twice changes nothing more.

    Raises
    ------
    ExerciseError
        If checks and test cells do not match, or if a cell's id comes twice.
    """
    notebook = _read(source)
    checks = {check.name.lower(): check for check in exercise.checks}
    points = {question.id: question.points for question in exercise.questions}
    ids: list[str] = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        grading = cell["metadata"].get("nbgrader", {})
        ids += [grading["grade_id"]] if grading else []
        if grading.get("grade") and cell["cell_type"] != "code":
            grading["points"] = points[grading["grade_id"].partition("-question-")[2]]
        elif grading.get("grade"):
            check = checks.pop(grading["grade_id"].partition("-test-")[2], None)
            if check is None:
                raise ExerciseError(f"No check belongs to the test cell {grading['grade_id']}.")
            grading["points"] = check.points
            text = without_hidden_tests(text) + (
                "\n\n### BEGIN HIDDEN TESTS\n"
                "# Written by `autodiff-kit build`: the check itself, in nbgrader's kernel.\n"
                "from autodiff_kit.grading import hidden_test\n\n"
                f'hidden_test("{exercise.id}", "{check.name}", globals())\n'
                "### END HIDDEN TESTS"
            )
        _write(cell, text)
    if checks or len(ids) != len(set(ids)):
        raise ExerciseError(
            f"In {exercise.name} the checks {sorted(checks)} have no test cell, or ids come twice."
        )
    return _bytes(notebook)


def with_engine(source: bytes, engine: str) -> bytes:
    """Return the teacher's notebook with the whole engine in the cell that is for it."""
    notebook = _read(source)
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if is_engine(cell):
            text = _ENGINE.format(engine)
        _write(cell, text)
    return _bytes(notebook)


def without_hidden_tests(text: str) -> str:
    """Return the source of a test cell as learners see it."""
    return _HIDDEN.sub("", text)


def has_test_cells(source: bytes) -> bool:
    """Tell whether a notebook has nbgrader's test cells; who does not use nbgrader needs none."""
    cells = _read(source)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return any(cell["metadata"].get("nbgrader", {}).get("grade") for cell in code)


def _stub(match: re.Match[str]) -> str:
    return "\n".join(match[1] + line for line in STUB.splitlines())


def _read(source: bytes) -> Json:
    try:
        notebook: Json = json.loads(source)
        if notebook["nbformat"] != 4 or not isinstance(notebook["cells"], list):
            raise ValueError("not of format 4")
    except (ValueError, KeyError, TypeError) as error:
        raise ExerciseError(f"This is no notebook: {error}") from error
    return notebook


def _write(cell: Json, text: str) -> None:
    """Put the text in place as files have it (a list of lines), with no traces of a run."""
    cell["source"] = text.splitlines(keepends=True)
    if cell["cell_type"] == "code":
        cell["outputs"], cell["execution_count"] = [], None


def _bytes(notebook: Json) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
