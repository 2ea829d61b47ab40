"""An exercise that is performed, from its notebook to its points, as a learner does it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.performing import recording_of, source_of
from autodiff_kit.grading.places import EXERCISES
from autodiff_kit.grading.progress import PROGRESS
from autodiff_kit.view.perform import Script, Walk, perform_script
from tests.browser.labs import serious
from tests.grading.performers import right_answer

pytestmark = pytest.mark.browser

KEY, NAME = "17.one_pass", "e17_one_pass"
RUN_CELL = """(place) => {
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = place;
  return window.jupyterapp.commands.execute('notebook:run-cell');
}"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
GUTTER = "() => document.documentElement.scrollWidth <= window.innerWidth"
SHOTS: Path | None = None  # a folder, to look at what is seen on the way


class Hand:
    """A learner's hand: the mouse, a finger, or the keyboard alone."""

    def __init__(self, page: Any, how: str) -> None:
        self.page, self.how = page, how
        self.lab = page.locator(".adk-engine")

    def press(self, target: Any) -> None:
        if self.how == "touch":
            target.tap()
        else:
            target.click()

    def choose(self, box: str) -> None:
        corner = {"x": 6, "y": 14}
        target = self.lab.locator(f'[data-node="{box}"] .adk-box')
        if self.how == "touch":
            target.tap(position=corner)
        elif self.how == "mouse":
            target.click(position=corner)
        else:
            self.page.keyboard.press("g")
            self.page.keyboard.press("Home")
            for _ in range(20):
                focus = "() => document.activeElement.closest('[data-node]')?.dataset.node"
                if self.page.evaluate(focus) == box:
                    break
                self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("Enter")

    def give(self, task: Any, answer: Any) -> None:
        if task["kind"] in ("node", "nodes"):
            for box in [answer] if isinstance(answer, str) else answer:
                self.choose(box)
            if task["kind"] == "nodes":
                self.check()
        elif task["kind"] == "value":
            field = self.lab.locator(".adk-typed")
            if self.how == "keys":
                self.page.keyboard.type(answer)
                self.page.keyboard.press("Enter")
            else:
                field.fill(answer)
                self.check()
        elif self.how == "keys":
            values = [option["value"] for option in task["options"]]
            self.page.keyboard.press(str(values.index(answer) + 1))
        else:
            self.press(self.lab.locator(f'.adk-option[data-value="{answer}"]'))

    def check(self) -> None:
        if self.how == "keys":
            self.page.keyboard.press("c")
        else:
            self.press(self.lab.get_by_role("button", name="Check", exact=True))


def drawn(folder: Path, key: str) -> Script:
    """Return the script of the graph that was drawn for the learner."""
    performed = open_course().exercise(key).checks[0].performed
    assert performed is not None
    entry = json.loads((folder / PROGRESS).read_text())[key]["performance"]
    return perform_script(recording_of(source_of(performed.program, entry["draw"])), performed.only)


@pytest.mark.parametrize(
    ("how", "look"),
    [
        ("mouse", {"width": 1400, "height": 1000}),
        ("keys", {"width": 900, "height": 900, "dark": True}),
    ],
    ids=["mouse, wide", "keyboard alone, dark"],
)
def test_what_is_performed_is_written_into_the_notebook_and_has_full_points(
    how: str, look: dict[str, Any], jupyter: Any, notebook: Callable[..., Any], axe: str
) -> None:
    folder = jupyter.folder / how / EXERCISES
    folder.mkdir(parents=True)
    released = open_course().folder / "release" / NAME / f"{NAME}.ipynb"
    path = Path(shutil.copy(released, folder))
    sources = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]
    places = {
        word: next(k for k, source in enumerate(sources) if f'{word}("{KEY}")' in source)
        for word in ("\nperform", "answers", "check")
    }
    page = notebook(path, run=False, **look)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready")
    page.evaluate(RUN_CELL, places["\nperform"])
    hand = Hand(page, how)
    prompt = hand.lab.locator(".adk-prompt")
    prompt.wait_for()
    hand.lab.scroll_into_view_if_needed()
    if how == "keys":
        hand.lab.locator(".adk-title").click()
        prompt.focus()

    walk = Walk(drawn(folder, KEY), is_exam=True)
    while walk.task is not None:
        hand.lab.get_by_text(walk.task["prompt"].replace("`", "")).first.wait_for()
        answer = right_answer(walk.task)
        hand.give(walk.task, answer)
        walk.answer(answer)
        if len(walk.records) == 9:
            assert serious(page, ".adk-engine", axe) == []
        if SHOTS and len(walk.records) in (2, 9, 12):
            page.screenshot(path=SHOTS / f"{how}-{look['width']}-{len(walk.records)}.png")

    hand.lab.get_by_role("button", name="Draw a new graph").wait_for()
    assert serious(page, ".adk-engine", axe) == []
    if SHOTS:
        page.screenshot(path=SHOTS / f"{how}-{look['width']}-end.png")
    page.evaluate(RUN_CELL, places["answers"])
    cell = page.locator(".jp-Cell").nth(places["answers"])
    cell.get_by_text("def performance(question):").wait_for()
    page.evaluate(RUN_CELL, places["check"])
    page.get_by_text("10 of 10 points on newly drawn inputs").wait_for()
    page.evaluate(SAVE)
    written = path.read_text()
    assert '\\"draw\\": ' in written
    assert page.evaluate(GUTTER)
