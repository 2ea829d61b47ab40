"""The whole first exercise in a real JupyterLab: from its lesson, by a click, to a grade."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.course import open_course
from tests.browser.conftest import READY

pytestmark = pytest.mark.browser

KEY, NAME = "01.graph", "e01_graph"
ROOT = Path(__file__).resolve().parents[2]
GIVEN, NODE, NODE_TEST, EDGES, LEAVES, CHECK = "given", "node", "test-inputs", "edges", "leaves", ""


def command(*words: str | Path) -> str:
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result.output


class Sheet:
    """The exercise as a learner has it before them."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        page.evaluate(READY)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        ids = [cell["metadata"].get("nbgrader", {}).get("grade_id", "") for cell in cells]
        self.places = {name.partition("-")[2]: place for place, name in enumerate(ids) if name}
        self.places[CHECK] = next(
            place for place, cell in enumerate(cells) if 'check("' in "".join(cell["source"])
        )
        self.more = 0  # cells put in behind that of the feedback

    def cell(self, name: str) -> Any:
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").nth(
            self.places[name]
        )

    def write(self, name: str, source: str) -> None:
        """Put other code into a cell."""
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)

    def run(self, name: str) -> Any:
        """Run a cell, as one does, and return what stands below it in the end."""
        cell = self.cell(name)
        number = cell.locator(".jp-InputPrompt").inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(
            """([cell, number]) => {
              const text = cell.querySelector('.jp-InputPrompt').innerText;
              return text !== number && /\\d/.test(text);
            }""",
            arg=[cell.element_handle(), number],
        )
        return cell.locator(".jp-Cell-outputArea")

    def below(self, source: str) -> Any:
        """Write a new cell below that of the feedback, run it, and return what it says."""
        self.cell(CHECK).locator(".cm-content").click()
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("b")
        self.places["below"] = self.places[CHECK] + 1
        self.write("below", source)
        return self.run("below")


@pytest.fixture
def lessons(jupyter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder, as `autodiff-kit lab` makes it."""
    monkeypatch.setenv("ADK_HOME", str(tmp_path / "memory"))
    folder = Path(jupyter.folder / "my lessons")
    command("lab", folder, "--copy-only")
    return folder


def test_the_first_exercise_from_its_lesson_to_full_marks(
    lessons: Path,
    notebook: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exercise = open_course(ROOT / "exercises").exercise(KEY)
    mistakes = {mutant.name: mutant for mutant in exercise.mutants}
    right = {
        name: next(step.names[0] for step in exercise.steps if step.id == name)
        for name in (NODE, EDGES, LEAVES)
    }
    solved = solutions()
    assert right.keys() == solved.keys()

    # The lesson as a learner has it: no output is there, and its link opens the exercise.
    page = notebook(lessons / "01_what_is_a_graph.ipynb", run=False)
    assert page.locator(".jp-OutputArea-output").count() == 0
    page.get_by_role("link", name="01 The graph by hand").click()
    page.get_by_role("heading", name="Exercise 01: the graph by hand").wait_for()
    path = lessons / "autodiff-kit-exercises" / f"{NAME}.ipynb"
    sheet = Sheet(page, path)

    # A wrong answer to two steps, and none to the third.
    sheet.write(NODE, mistakes["double_edge_lost"].code.strip())
    sheet.write(EDGES, mistakes["edges_backwards"].code.strip())
    for name in (GIVEN, NODE, EDGES, LEAVES):
        sheet.run(name)
    seen_in_the_test = sheet.run(NODE_TEST).inner_text()
    output = sheet.run(CHECK)
    words = " ".join(output.inner_text().split())
    picture = output.locator("div[role=img]")

    assert "AssertionError" in seen_in_the_test
    assert f"{KEY}: 4 of 10 points" in words
    assert exercise.messages["double_edge_lost"] in words
    assert exercise.messages["edges_backwards"] in words
    assert "leaves not attempted 0 of 2 points" in words
    assert picture.count() == 1 and picture.is_visible()
    assert "edges" in picture.get_attribute("aria-label")

    # One hint, and not the next ones with it.
    hint = sheet.below(f'hint("{KEY}")').inner_text()
    assert f"Hint 1 of {len(exercise.hints)} (node): {exercise.hints[0].text}" in hint
    assert exercise.hints[1].text not in hint

    # The right answer.
    for name, source in solved.items():
        sheet.write(name, source)
        sheet.run(name)
    output = sheet.run(CHECK).inner_text()
    assert f"{KEY}: 10 of 10 points" in output
    assert "Visible checks passed; the grade uses other inputs." in output

    # Saved, handed in, graded.
    sheet.page.keyboard.press("ControlOrMeta+s")
    sheet.page.locator(".jp-mod-current.jp-mod-dirty").wait_for(state="detached")
    monkeypatch.chdir(tmp_path)  # any folder: the lessons were opened last on this machine
    assert f"Your work lies in {path.parent}" in command("status")
    packed = Path(re.findall(r"Packed: (.+)", command("submit", KEY))[0])
    assert re.search(rf"{KEY}\s+packed for handing in", command("status"))
    with zipfile.ZipFile(packed) as archive:
        receipt = json.loads(archive.read("receipt.json"))
        assert hashlib.sha256(archive.read(f"{NAME}.ipynb")).hexdigest() == receipt["sha256"]
    (tmp_path / "in").mkdir()
    packed.rename(tmp_path / "in" / "ada.zip")
    common = ("--allow-level", "0", "--workers", "1")
    command("grade", tmp_path / "in", "--out", tmp_path / "results", *common)
    text = command("show", "ada", "--results", tmp_path / "results")
    assert f"{NAME}: 10 of 10" in text


def test_in_notebook_7_the_lessons_link_opens_the_exercise_too(
    lessons: Path, notebook: Callable[..., Any]
) -> None:
    page = notebook(lessons / "01_what_is_a_graph.ipynb", run=False, app="notebooks")

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="01 The graph by hand").click()

    heading = opened.value.get_by_role("heading", name="Exercise 01: the graph by hand")
    heading.wait_for()


def solutions() -> dict[str, str]:
    """Return the solved cells, as a learner would have written them."""
    cells = json.loads((ROOT / "exercises" / "source" / NAME / f"{NAME}.ipynb").read_text("utf-8"))
    solutions_by_name = {}
    for cell in cells["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        if grading.get("solution"):
            source = re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", "".join(cell["source"]))
            solutions_by_name[grading["grade_id"].partition("-")[2]] = source.strip()
    return solutions_by_name
