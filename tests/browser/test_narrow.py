"""The Stepper in a narrow pane: what a step is about is in sight at once, with the buttons."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit import nn
from autodiff_kit.view import build
from autodiff_kit.view.page import to_html

pytestmark = pytest.mark.browser

# The edges of the window that each part lies within at the present step.
PARTS = """root => {
  const one = (name) => root.querySelector(name).getBoundingClientRect();
  const parts = ['.adk-graph', '.adk-caption', '.adk-buttons', '.adk-source'].map(one);
  return parts.map(({ top, bottom }) => [top, bottom]);
}"""
# A page that has just been opened learns the sizes of its panes with the next picture.
MEASURED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# How much of the first rectangle, if it is there, is inside the second, both by their selectors.
INSIDE = """(root, [inner, outer]) => {
  if (!root.querySelector(inner)) return 1;
  const [a, b] = [inner, outer].map((name) => root.querySelector(name).getBoundingClientRect());
  const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return Math.max(w, 0) * Math.max(h, 0) / (a.width * a.height);
}"""


@pytest.fixture
def training(tmp_path: Path) -> Path:
    """The page of a training loop, whose graph is too high for a narrow pane."""
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    error, t = nn.MSELoss(), torch.tensor([0.0, 1.0])
    optimizer = torch.optim.SGD([w], lr=0.1)
    with torch.record() as rec:
        for _ in range(2):
            optimizer.zero_grad()
            y = torch.sigmoid(w * 3)
            loss = error(y, t)
            loss.backward()
            optimizer.step()
    return to_html(build(rec), tmp_path / "training.html")


@pytest.mark.parametrize("size", [(480, 620), (400, 800)])
def test_graph_words_buttons_and_the_lit_line_are_in_sight_at_once(
    desk: Callable[..., Any], board: Any, training: Path, size: tuple[int, int]
) -> None:
    page = desk(width=size[0], height=size[1]).page
    page.goto(training.as_uri())
    stepper = board(page)
    page.evaluate(MEASURED)

    for step in range(stepper.last + 1):
        stepper.go(step)
        parts = stepper.root.evaluate(PARTS)
        assert all(before[1] <= after[0] + 1 for before, after in pairwise(parts))
        assert parts[0][1] - parts[0][0] >= 230
        assert parts[-1][1] <= size[1]
        assert stepper.root.evaluate(INSIDE, [".adk-active .adk-box", ".adk-canvas"]) > 0.99
        assert stepper.root.evaluate(INSIDE, [".adk-lit", ".adk-source"]) > 0.99


def test_numbers_of_the_answer_to_why_are_not_broken(
    desk: Callable[..., Any], board: Any, tmp_path: Path
) -> None:
    w = torch.tensor([0.3, -1.7], requires_grad=True)
    with torch.record() as rec:
        loss = torch.sigmoid(w[0] * 1.2345 - w[1] / 3.4567) * 0.712
        loss.backward()
    page = desk(width=320, height=700).page
    page.goto(to_html(build(rec), tmp_path / "why.html").as_uri())
    stepper = board(page)

    cells = stepper.root.locator(".adk-uses td:last-child")
    rows = 0
    for step in range(stepper.last + 1):
        stepper.go(step)
        for cell in cells.all():
            rows += 1
            lines = cell.evaluate(
                """cell => { const text = document.createRange(); text.selectNodeContents(cell);
                   return new Set([...text.getClientRects()].map(({ top }) => top)).size; }"""
            )
            assert lines <= 1
    assert rows
