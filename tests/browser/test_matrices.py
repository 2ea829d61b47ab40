"""Small matrices in the graph: a journey through a backward pass in which rows add up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.page import to_html

pytestmark = pytest.mark.browser

COPIES = [["1.", "-2."], ["3.", "4."], ["5.", "-6."], ["7.", "8."]]
TOTAL = ["16.", "4."]  # of each column

TEXTS = "e => [...e.querySelectorAll('text')].map((text) => text.textContent)"
IN_SIGHT = """e => {
  const [own, pane] = [e, e.closest(".adk-canvas")].map((one) => one.getBoundingClientRect());
  const isBetween = own.top >= pane.top && own.bottom <= pane.bottom;
  return isBetween && own.left >= pane.left && own.right <= pane.right;
}"""
BOXES = """root => [...root.querySelectorAll("[data-node]")].map((group) => {
  const box = group.querySelector("rect");
  return [group.getAttribute("transform"), box.getAttribute("width"), box.getAttribute("height")];
})"""


@pytest.mark.parametrize("how", [{"width": 1400}, {"width": 400, "dark": True}])
def test_rows_fall_together_where_broadcasting_is_undone(
    how: dict[str, Any], tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    c = ak.tensor([[float(v) for v in row] for row in COPIES])
    x, b = ak.ones(4, 2, requires_grad=True), ak.zeros(2, requires_grad=True)
    with ak.record() as recording:
        ((x + b) * c).sum().backward()
    picture = build(recording)
    undone = next(k for k, f in enumerate(picture.frames) if f["kind"] == "unbroadcast")
    edge, leaf = picture.frames[undone]["edge"], picture.frames[undone]["node"]
    page = desk(**how).page
    page.goto(to_html(picture.payload(), tmp_path / "steps.html").as_uri())
    stepper = board(page)
    arrow = stepper.root.locator(f'[data-chip="{edge}"]')
    boxes = stepper.root.evaluate(BOXES)

    assert stepper.root.locator(f'.adk-spread[data-edge-label="{edge}"]').text_content() == (
        "(2,) → (4, 2)"
    )
    assert stepper.root.locator(".adk-grad-map svg").count() == 0  # no gradient yet
    stepper.go(undone)
    texts = arrow.evaluate(TEXTS)
    parts = [number for row in COPIES for number in row]
    assert texts[: len(TOTAL) + 1 + len(parts)] == [*TOTAL, "↑ sum of 4 rows", *parts]
    assert arrow.evaluate(IN_SIGHT)
    assert "[16., 4.]" in stepper.root.locator(f'[data-node="{leaf}"]').text_content()
    stepper.go(undone - 1)
    assert arrow.locator("[stroke-dasharray]").count() == 1  # the sum is still to come
    stepper.go(0)
    assert stepper.root.locator(".adk-grad-map svg").count() == 0
    assert stepper.root.evaluate(BOXES) == boxes
