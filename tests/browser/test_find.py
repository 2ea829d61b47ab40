"""Finding a node by name, the next step about it, the step of a condition; unfolding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view.page import to_html
from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "import autodiff_kit as ak\nfrom autodiff_kit.widgets import Stepper",
    "with ak.record() as rec:\n"
    "    x = ak.tensor(2.0, requires_grad=True)\n"
    "    h = x\n"
    "    for i in range(500):\n"
    "        h = h * 1.01\n"
    "    h.backward()\n"
    "stepper = Stepper(rec)\nstepper",
]


@pytest.fixture
def opened(tmp_path: Path, desk: Callable[..., Any], payload: dict[str, Any]) -> Any:
    page = desk(width=900).page
    page.goto(to_html(payload, tmp_path / "steps.html").as_uri())
    return page


def said(stepper: Any) -> str:
    return str(stepper.root.locator(".adk-find-said").inner_text())


def search(stepper: Any) -> Any:
    """Open the line for finding by its key, and return its field, which then has the focus."""
    stepper.root.locator(".adk-range").press("/")
    field = stepper.root.get_by_role("searchbox")
    assert field.evaluate("field => field === document.activeElement")
    return field


def title(stepper: Any) -> str:
    return str(stepper.root.locator(".adk-inspector-title").inner_text())


def test_a_node_is_found_by_its_name_and_by_its_operation(opened: Any, board: Any) -> None:
    stepper = board(opened)
    field = search(stepper)

    field.fill("h2")
    field.press("Enter")

    assert (title(stepper), said(stepper)) == ("h2 = h1 * w", "1 of 1: h2 = h1 * w")
    assert stepper.nodes.count() == 4  # the run has come to where it is made: x, w, h1, h2
    assert stepper.chosen == "h * w"

    field.fill("multiply")
    field.press("Enter")
    field.press("Shift+Enter")

    assert (title(stepper), said(stepper)) == ("h2 = h1 * w", "2 of 2: h2 = h1 * w")
    field.press("n")
    assert field.input_value() == "multiplyn"  # a key of the field, and not a step


def test_what_is_nowhere_is_said_to_be_nowhere(opened: Any, board: Any) -> None:
    stepper = board(opened)
    field = search(stepper)

    for text, words in (("nowhere", "No node has nowhere in its"), ("value > 3", "needs Python")):
        field.fill(text)
        field.press("Enter")
        assert words in said(stepper)
        assert field.get_attribute("aria-invalid") == "true"
    field.press("Escape")
    assert not field.is_visible()
    opener = stepper.root.get_by_role("button", name="Find a node")
    assert opener.evaluate("button => button === document.activeElement")
    opener.press("Enter")
    assert (field.input_value(), said(stepper)) == ("", "")


def test_the_line_for_finding_moves_nothing(opened: Any, board: Any) -> None:
    stepper = board(opened)
    places = "() => [...document.querySelectorAll('.adk-root *')].filter(e => e.checkVisibility()"
    places += (
        " && !e.closest('.adk-find')).map(e => Object.values(e.getBoundingClientRect().toJSON()))"
    )
    before = opened.evaluate(places)

    search(stepper)

    assert opened.evaluate(places) == before
    line, graph = (stepper.root.locator(c).bounding_box() for c in (".adk-find", ".adk-graph"))
    assert graph["x"] <= line["x"] and line["x"] + line["width"] <= graph["x"] + graph["width"]


def test_the_next_step_about_a_node(opened: Any, board: Any) -> None:
    stepper = board(opened)
    field = search(stepper)
    field.fill("h1")
    field.press("Enter")
    first = stepper.step

    stepper.press("Next step about this node")
    second = stepper.step
    stepper.root.locator(".adk-range").focus()
    opened.keyboard.press("N")
    opened.keyboard.press("P")

    assert first < second == stepper.step
    assert "h1" in stepper.caption


def test_a_page_without_python_offers_no_unfolding(opened: Any, board: Any) -> None:
    stepper = board(opened)

    assert not stepper.root.locator(".adk-unfold").is_visible()


def test_in_the_lab_conditions_run_and_folds_open(
    jupyter: Any, notebook: Any, board: Any, axe: str
) -> None:
    path = write_cells(jupyter.folder / "find.ipynb", *CELLS)
    page = notebook(path, width=900, dark=True)
    stepper = board(page)
    field = search(stepper)
    status = stepper.root.locator(".adk-find-said")

    field.fill("vlaue > 20")
    field.press("Enter")
    status.get_by_text("Did you mean value?").wait_for()
    field.fill("value > 20")
    field.press("Enter")
    status.get_by_text("h232").wait_for()  # 2 * 1.01 ** n > 20 for the first time at n = 232

    assert said(stepper).startswith(f"Step {stepper.step + 1}: h232 (1 of ")
    assert "500" in stepper.caption or "iterations" in stepper.caption

    before = stepper.nodes.count()
    stepper.press("Unfold this box")
    stepper.root.get_by_role("button", name="Fold all boxes again").wait_for()
    assert stepper.nodes.count() > before
    assert page.evaluate("() => document.activeElement.classList.contains('adk-range')")
    page.keyboard.press("u")  # the fold shown now, by keyboard
    page.wait_for_function(f"() => document.querySelectorAll('[data-node]').length > {before + 8}")
    page.evaluate(axe)
    report = page.evaluate("() => axe.run('.adk-root', {resultTypes: ['violations']})")
    assert [v["id"] for v in report["violations"] if v["impact"] in ("serious", "critical")] == []

    stepper.press("Fold all boxes again")
    stepper.root.get_by_role("button", name="Fold all boxes again").wait_for(state="detached")
    assert stepper.nodes.count() == before
