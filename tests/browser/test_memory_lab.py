"""The memory timeline in a real JupyterLab: by mouse, by keyboard, narrow and in the dark."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

CELLS = [
    """import autodiff_kit as torch
from autodiff_kit.utils.checkpoint import checkpoint
from autodiff_kit.widgets import MemoryTimeline

torch.manual_seed(0)
weights = [(torch.randn(32, 32) * 0.2).requires_grad_() for _ in range(16)]
x = torch.randn(64, 32)


def layers(h, start, end):
    for w in weights[start:end]:
        h = torch.relu(h @ w)
    return h


def loss(depth=8, checkpointing=False):
    h = x
    for start in range(0, depth, 4):
        end = min(start + 4, depth)
        if checkpointing:
            h = checkpoint(layers, h, start, end, use_reentrant=False)
        else:
            h = layers(h, start, end)
    return h.sum()""",
    "memory = MemoryTimeline(loss)\nmemory",
]


@pytest.fixture
def book(jupyter: Any, request: pytest.FixtureRequest) -> Path:
    return write_cells(jupyter.folder / f"{request.node.name}.ipynb", *CELLS)


def says(page: Any, words: str) -> None:
    page.locator(".adk-board-caption", has_text=words).wait_for()


def test_controls_bands_and_steps_by_mouse_and_by_keyboard(book: Path, notebook: Any) -> None:
    page = notebook(book)
    board = page.locator(".adk-board")
    says(page, "At most 65,536 bytes were saved for backward, at step 16")
    before = page.locator(".adk-board-picture > svg").bounding_box()

    page.get_by_label("checkpointing", exact=True).check()
    says(page, "At most 40,960 bytes were saved for backward, at step 19")
    board.locator("[data-id]").first.click()
    says(page, "A checkpoint holds it as an argument, to run its function again.")
    board.locator("[data-id]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    says(page, "(recomputed): 8,192 bytes")

    page.get_by_label("checkpointing", exact=True).uncheck()
    page.get_by_label("no_grad", exact=True).check()
    says(page, "Nothing new was saved for backward.")
    page.get_by_label("no_grad", exact=True).uncheck()
    page.get_by_label("retain_graph", exact=True).check()
    says(page, "At the end: 65,536 bytes.")
    after = page.locator(".adk-board-picture > svg").bounding_box()
    assert {k: after[k] for k in ("x", "width", "height")} == {
        k: before[k] for k in ("x", "width", "height")
    }

    slider = page.get_by_role("slider", name="step")
    card, controls = page.locator(".adk-lab"), page.locator(".adk-lab-controls")
    inner, outer, place = (e.bounding_box() for e in (controls, card, slider))
    assert inner["y"] < place["y"] < inner["y"] + inner["height"]  # with the other controls,
    assert inner["y"] + inner["height"] < outer["y"] + outer["height"]  # not below the card
    slider.focus()
    page.keyboard.press("ArrowDown")
    says(page, "Step 15 of 43")


def test_narrow_and_dark_it_can_be_read_and_axe_finds_nothing(
    book: Path, notebook: Any, night: None, axe: str
) -> None:
    page = notebook(book, width=900)
    says(page, "At most 65,536 bytes")
    board = page.locator(".adk-board")
    picture = page.locator(".adk-board-picture")

    assert picture.evaluate("it => it.scrollWidth <= it.clientWidth")  # nothing to scroll
    note = page.locator(".adk-board .adk-note:not(.adk-tick)").first
    ink = note.evaluate("it => getComputedStyle(it).fill")
    assert min(map(int, ink.removeprefix("rgb(").removesuffix(")").split(","))) > 200
    page.evaluate("() => { document.body.style.height = '100vh'; }")
    page.evaluate(f"() => {{ {axe} }}")
    report = board.evaluate("root => axe.run(root)")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []
