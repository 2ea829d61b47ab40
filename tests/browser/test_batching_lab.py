"""The batching lab in a real JupyterLab: by mouse, by keyboard, narrow and in the dark."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.labs import height_of_lab, write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "from autodiff_kit.widgets import Batching",
    "batching = Batching(lengths=[5, 2, 3])\nbatching",
]


@pytest.fixture
def book(jupyter: Any, request: pytest.FixtureRequest) -> Path:
    return write_cells(jupyter.folder / f"{request.node.name}.ipynb", *CELLS)


def says(page: Any, words: str) -> None:
    page.locator(".adk-board-caption", has_text=words).wait_for()


def test_masks_lengths_and_graphs_by_mouse_and_by_keyboard(book: Path, notebook: Any) -> None:
    page = notebook(book)
    says(page, "padded: the same loss and the same gradients as one by one.")

    height = height_of_lab(page)

    page.get_by_label("mask", exact=True).select_option("none: padding is data")
    says(page, "WRONG gradient of U, W")
    assert height_of_lab(page) == height
    page.get_by_label("lengths", exact=True).fill("4, 4")
    page.keyboard.press("Enter")
    says(page, "padded, mask none: the same loss")
    page.get_by_label("lengths", exact=True).fill("4, four")
    page.keyboard.press("Enter")
    page.get_by_text("4, four is not a list of lengths.").wait_for()
    page.get_by_label("lengths", exact=True).fill("3, 1")
    page.keyboard.press("Enter")
    says(page, "one by one: 37 operations")
    assert height_of_lab(page) == height

    rows = page.locator(".adk-board [data-id]")
    rows.first.click()
    page.locator(".adk-title", has_text="Sequence 1: 3 steps").wait_for()
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".adk-title", has_text="Sequence 2: 1 step").wait_for()
    page.get_by_role("button", name="Step forward").click()
    assert page.locator(".adk-title").count() == 1


def test_narrow_and_dark_it_can_be_read_and_axe_finds_nothing(
    book: Path, notebook: Any, night: None, axe: str
) -> None:
    page = notebook(book, width=900)
    says(page, "one by one: 91 operations")
    board = page.locator(".adk-board").first
    picture = page.locator(".adk-board-picture").first

    assert picture.evaluate("it => it.scrollWidth <= it.clientWidth")  # nothing to scroll
    controls, caption = (page.locator(f".adk-{part}") for part in ("lab-controls", "board-caption"))
    ends = controls.bounding_box()["y"] + controls.bounding_box()["height"]
    assert caption.bounding_box()["y"] == pytest.approx(ends, abs=1)  # in sight with the controls
    page.evaluate("() => { document.body.style.height = '100vh'; }")
    page.evaluate(f"() => {{ {axe} }}")
    report = board.evaluate("root => axe.run(root)")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []
