"""The engine that exercises 01 to 12 build: its file, its parts, and the whole of it."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import runpy
import shutil
import textwrap
import tokenize
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_kit.grading import my_engine
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.engine_parts import engine_of, is_engine, parts_before, whole
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.trusted import Trusted
from tests.parity import require_torch

COURSE = open_course()
PARTS = engine_of(COURSE.folder)


class Notebook:
    """A notebook that runs: its cells' history is what `check` reads."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {"__name__": "__main__", "In": [""]}

    def run(self, cell: str) -> Any:
        """Run a cell, and return the value of its last line if that is an expression."""
        self.space["In"].append(cell)
        *lines, last = cell.strip().split("\n")
        is_value = re.match(r"(use_engine|check)\(", last)
        exec("\n".join(lines if is_value else [*lines, last]), self.space)
        return eval(last, self.space) if is_value else None


def solve(name: str, *changes: tuple[str, str], cells: str = "") -> str:
    """Solve an exercise in a notebook of its own, as its source does; return what is message."""
    notebook = Notebook()
    exercise = COURSE.exercise(name)
    notebook.run(f'from autodiff_kit.grading import check, use_engine\n\nuse_engine("{name}")')
    part = next(part for part in PARTS if part.id == exercise.id)
    notebook.run(part.given)
    solution = exercise.solution
    for old, new in changes:
        assert old in solution
        solution = solution.replace(old, new)
    if cells:
        notebook.run(cells)
    notebook.run(solution)
    return str(notebook.run(f'check("{name}")'))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a folder for exercises."""
    path = tmp_path / "autodiff-kit-exercises"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


def text() -> str:
    return Path(my_engine.FILE).read_text(encoding="utf-8")


def kits_parts() -> list[str]:
    return list(runpy.run_path(my_engine.FILE)["KITS_PARTS"])


def test_the_first_right_answer_begins_the_file_and_it_can_be_imported() -> None:
    message = solve("01.graph")

    names = runpy.run_path(my_engine.FILE)
    x = names["Node"](3.0, requires_grad=True)
    assert (2 * x + x).value == 9.0
    assert "my_engine.py now has your 01.graph" in message
    assert "Next: exercise 02" in message


def test_after_four_exercises_the_engine_has_gradients() -> None:
    for name in ("01.graph", "02.rules", "03.order", "04.accumulate"):
        solve(name)

    names = runpy.run_path(my_engine.FILE)
    x = names["Node"](3.0, requires_grad=True)
    names["backward"](x * x / 2.0 + names["exp"](x))
    assert np.isclose(x.grad, 3.0 + np.exp(3.0))
    assert kits_parts() == []


def test_a_wrong_answer_changes_nothing() -> None:
    solve("01.graph")
    before = text()

    message = solve("02.rules", ("return g * y, g * x", "return g * x, g * y"))

    assert text() == before
    assert "now has" not in message


def test_what_was_left_out_is_the_kits_and_marked() -> None:
    solve("01.graph")

    message = solve("04.accumulate")

    assert kits_parts() == ["02.rules", "03.order"]
    assert "# --- 03.order: the kit (" in text() and "# --- 04.accumulate: you (" in text()
    assert "now has your 04.accumulate" in message


def test_a_part_solved_later_takes_the_kits_place_and_later_parts_stay() -> None:
    solve("04.accumulate", ("before = gradients", "earlier = before = gradients"))
    later = text().partition("# --- 04")[2]

    solve("02.rules", ("return g * y, g * x", "return y * g, x * g"))

    assert kits_parts() == ["01.graph", "03.order"]
    assert "return y * g, x * g" in text()
    assert text().partition("# --- 04")[2] == later


def test_an_early_part_done_again_leaves_later_ones_as_they_are() -> None:
    for name in ("01.graph", "02.rules", "03.order"):
        solve(name)
    later = text().partition("# --- 02")[2]

    solve("01.graph", ("needs = self.requires_grad or", "needs = bool(self.requires_grad) or"))

    assert "bool(self.requires_grad)" in text()
    assert text().partition("# --- 02")[2] == later


def test_what_was_written_by_hand_is_kept() -> None:
    solve("01.graph")
    solve("02.rules")
    own = text() + "\n\ndef my_loss(x):\n    return x * x\n"
    own = own.replace("return g, g", "return g * 1.0, g * 1.0  # by hand")
    Path(my_engine.FILE).write_text(f"# Mine.\n{own}", encoding="utf-8")

    again = solve("02.rules")  # the same code as before: the change in the file is newer
    assert "by hand" in text() and "now has" not in again
    message = solve("02.rules", ("return g * y, g * x", "return y * g, x * g"))

    assert "my_engine-old1.py" in message
    assert "by hand" in Path("my_engine-old1.py").read_text(encoding="utf-8")
    assert text().startswith("# Mine.\n") and text().endswith("return x * x\n")
    assert "return y * g, x * g" in text()
    assert runpy.run_path(my_engine.FILE)["my_loss"](3) == 9


def test_helpers_come_along_and_what_is_tried_does_not() -> None:
    helper = "LIMIT = 0.0\n\n\ndef is_open(x):\n    return x > LIMIT\n\n\nresult = is_open(3.0)"
    solve("01.graph")

    solve("02.rules", ("np.where(x > 0,", "np.where(is_open(x),"), cells=helper)

    assert "def is_open(x)" in text() and "LIMIT = 0.0" in text()
    assert "result" not in text().partition("# --- 02")[2]


def test_a_file_that_cannot_be_written_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    solve("01.graph")
    before = text()

    def fails(*paths: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fails)
    message = solve_in_file("02.rules")

    assert text() == before
    assert "was not changed: the disk is full" in message


def solve_in_file(name: str) -> str:
    """Check a right answer as the command does, and return what is message of the engine."""
    from autodiff_kit.grading.calls import Work

    exercise = COURSE.exercise(name)
    work = Work.of(exercise.solution)
    result = grade_code(exercise, work, Trusted(), 3)
    return my_engine.keep_part(COURSE, exercise, work, result, Path.cwd())


def test_no_file_is_written_among_the_teachers_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(COURSE.folder / "source" / "e04_accumulate")

    message = solve("04.accumulate")

    assert not Path(my_engine.FILE).exists()
    assert "now has" not in message


def test_a_part_uses_what_was_built_before_and_not_itself() -> None:
    solve("01.graph")
    solve("02.rules")
    notebook = Notebook()

    notebook.run('from autodiff_kit.grading import use_engine\nuse_engine("02.rules")')

    assert "Node" in notebook.space and "mul_rule" not in notebook.space


def test_the_code_that_a_notebook_begins_with_can_be_seen_there() -> None:
    solve("01.graph")
    notebook = Notebook()

    message = notebook.run('from autodiff_kit.grading import use_engine\nuse_engine("02.rules")')

    assert repr(message) == "my_engine.py has your 01.graph."
    markup = message._repr_html_()
    assert "def __mul__(self, other):" in markup and "<details>" in markup


def test_each_part_is_judged_with_the_kits_parts_around_it() -> None:
    # Whatever is wrong in the learner's own file: it is not looked at.
    solve("01.graph")
    exercise = COURSE.exercise("04.accumulate")
    broken = text().replace("self.value * other.value", "self.value - other.value")
    Path(my_engine.FILE).write_text(broken, encoding="utf-8")

    assert grade_code(exercise, exercise.solution, Trusted(), 1).points == 10
    assert "def order(" in exercise.given and "def unbroadcast(" not in exercise.given


def test_an_engine_with_parts_of_the_kit_earns_nothing_as_a_whole() -> None:
    exercise = COURSE.exercise("12.train")
    solution = exercise.solution.replace("KITS_PARTS = []", 'KITS_PARTS = ["03.order"]')

    rows = {row.step: row for row in grade_code(exercise, solution, Trusted(), 1).rows}

    assert rows["engine"].points == 0 and rows["engine"].message == "parts_of_the_kit"
    assert rows["loss"].points == rows["loss"].max


def test_one_wrong_part_costs_points_of_the_engine_only() -> None:
    exercise = COURSE.exercise("12.train")
    for mutant in exercise.mutants:
        if mutant.name.startswith("engine_"):
            code = f"{exercise.solution}\n\n{mutant.code}"
            rows = {row.step: row for row in grade_code(exercise, code, Trusted(), 1).rows}
            lost = [step for step, row in rows.items() if row.points < row.max]
            assert lost == ["engine"], mutant.name


def test_all_parts_together_train_the_digits_to_the_stated_accuracy() -> None:
    from autodiff_kit.lessons.datasets import digits

    space: dict[str, Any] = {}
    exec(whole(PARTS), space)
    x_train, y_train, x_test, y_test = digits()
    parameters = space["new_parameters"]((64, 16, 10))
    space["train"](parameters, x_train[:300].astype(float), y_train[:300])
    w1, b1, w2, b2 = (p.value for p in parameters)
    answers = (np.maximum(x_test @ w1 + b1, 0.0) @ w2 + b2).argmax(axis=1)

    assert np.mean(answers == y_test) >= 0.75


@pytest.mark.parity
@pytest.mark.parametrize("seed", range(3))
def test_the_gradients_of_the_whole_engine_are_those_of_pytorch(seed: int) -> None:
    torch = require_torch()
    space: dict[str, Any] = {}
    exec(whole(PARTS), space)
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=shape) for shape in ((6, 4), (4, 5), (5,), (5, 3), (1, 3))]
    labels = rng.integers(0, 3, 6)

    mine = [space["Node"](array, requires_grad=True) for array in arrays]
    x, w, b, v, c = mine
    hidden = space["relu"](x @ w + b) + space["exp"](x @ w * 0.1)
    space["backward"](space["cross_entropy"](hidden @ v / (c**2 + 1.0), labels))
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    x, w, b, v, c = theirs
    hidden = torch.relu(x @ w + b) + torch.exp(x @ w * 0.1)
    logits = hidden @ v / (c**2 + 1.0)
    torch.nn.functional.cross_entropy(logits, torch.tensor(labels)).backward()

    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.grad, b.grad.numpy(), rtol=1e-12, atol=1e-14)


def code_lines(source: str) -> set[int]:
    """Return the lines with code in them: no blank line, no comment, no docstring."""
    tree, text = ast.parse(source), (ast.FunctionDef, ast.ClassDef, ast.Module)
    docstrings = {
        line
        for part in ast.walk(tree)
        if isinstance(part, text) and ast.get_docstring(part)
        for line in range(part.body[0].lineno, (part.body[0].end_lineno or 0) + 1)
    }
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        line
        for token in tokens
        if token.type not in {*layout, tokenize.ENDMARKER}
        for line in range(token.start[0], token.end[0] + 1)
    } - docstrings


def test_the_engine_is_as_short_as_the_readme_says() -> None:
    solutions = [COURSE.folder / "source" / part.name / f"{part.name}.ipynb" for part in PARTS]
    to_write: list[str] = []
    for part, path in zip(PARTS, solutions, strict=True):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            grading = cell["metadata"].get("nbgrader", {})
            is_own = grading.get("solution") and not is_engine(cell)
            if is_own and any(re.search(rf"(def|class) {n}\b", source) for n in part.names):
                to_write.append(source)
    own = sum(
        len(code_lines(textwrap.dedent(block)))
        for source in to_write
        for block in re.findall(r"### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION", source, re.S)
    )
    readme = (COURSE.folder / "README.md").read_text(encoding="utf-8")
    whole_file, written = re.findall(r"has (\d+) lines of code.*?writes (\d+)", readme, re.S)[0]

    assert len(code_lines(whole(PARTS))) == int(whole_file)
    assert own == int(written) < 150


def test_exercise_12_brings_exactly_the_parts_before_it() -> None:
    source = COURSE.folder / "source" / "e12_train" / "e12_train.ipynb"
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    (engine,) = (
        "".join(cell["source"])
        for cell in cells
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "e12-engine"
    )

    assert whole(parts_before(COURSE.folder, "e12_train")) in engine


def test_an_answer_in_words_is_no_code_of_the_engine(tmp_path: Path) -> None:
    course = shutil.copytree(COURSE.folder, tmp_path / "course")
    path = course / "source" / "e04_accumulate" / "e04_accumulate.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    grading = {"grade_id": "e04-why", "solution": True, "grade": True, "points": 1}
    answer = {"cell_type": "markdown", "metadata": {"nbgrader": grading}, "source": "The sum, as a"}
    notebook["cells"].append(answer)
    path.write_text(json.dumps(notebook), encoding="utf-8")

    assert [part.code for part in engine_of(course)] == [part.code for part in PARTS]
