"""The pane with the code: no line is cut, and lines and graph share the room as they need it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.page import to_html
from tests.record import cells

pytestmark = pytest.mark.browser

LONG = """
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
weights = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], requires_grad=True)
for row in range(2):
    prediction = torch.sigmoid(weights @ x + torch.tensor([0.5, -0.5])) * torch.tensor([2.0, 3.0])
loss = ((prediction - torch.tensor([0.0, 1.0])) ** 2).mean() + 0.01 * (weights ** 2).sum() + x.sum()
loss.backward()
""".strip()
COMMENT = "  # the one input: all others are constants that nobody asks about"
SMALL = (
    f"x = torch.tensor(2.0, requires_grad=True){COMMENT}\ny = (x * 3.0 + 1.0) ** 2\ny.backward()"
)
# What of the code lies outside of its pane, and how many rows each line takes.
CUT = """root => {
  const pane = root.querySelector('.adk-source-body').getBoundingClientRect();
  return [...root.querySelectorAll('.adk-code span')].filter((span) => {
    const { left, right } = span.getBoundingClientRect();
    return left < pane.left || right > pane.right;
  }).map((span) => span.textContent);
}"""
ROWS = "root => [...root.querySelectorAll('.adk-line')].map((line) => line.offsetHeight / 22)"
SETTLED = "() => new Promise((done) => setTimeout(done, 100))"


@pytest.fixture
def opened(desk: Callable[..., Any], board: Any, tmp_path: Path) -> Callable[..., Any]:
    def open_it(source: str, width: int, height: int = 900) -> Any:
        page = desk(width=width, height=height).page
        page.goto(to_html(build(cells.run(source)), tmp_path / "steps.html").as_uri())
        stepper = board(page)
        page.evaluate(SETTLED)
        return stepper

    return open_it


@pytest.mark.parametrize("width", [1400, 900, 400])
def test_no_line_is_cut_and_what_is_lit_is_in_sight(opened: Any, width: int) -> None:
    stepper = opened(LONG, width)
    pane = stepper.root.locator(".adk-source-body")

    assert stepper.root.evaluate(CUT) == []
    rows = stepper.root.evaluate(ROWS)
    assert all(count == int(count) for count in rows)
    assert max(rows) > 1 and rows[-1] == 1
    assert pane.evaluate("e => e.scrollWidth <= e.clientWidth")
    for step in range(0, stepper.last + 1, 3):
        stepper.go(step)
        lit, inside = stepper.root.locator(".adk-lit").last.bounding_box(), pane.bounding_box()
        assert inside["y"] <= lit["y"] + 1
        assert lit["y"] + lit["height"] <= inside["y"] + inside["height"] + 1


def test_the_rest_of_a_long_line_begins_further_in_than_the_line(opened: Any) -> None:
    stepper = opened(LONG, 900)

    starts = (
        stepper.root.locator(".adk-code")
        .nth(3)
        .evaluate(
            """code => {
          const rows = [...code.childNodes].flatMap((span) => {
            const text = document.createRange();
            text.selectNodeContents(span.firstChild);
            return [...text.getClientRects()].filter(({ width }) => width);
          });
          const tops = [...new Set(rows.map(({ top }) => top))].sort((a, b) => a - b);
          return tops.map((top) =>
            Math.min(...rows.filter((row) => row.top === top).map(({ left }) => left)));
        }"""
        )
    )
    first, *others = starts

    assert others
    assert len(set(others)) == 1  # each row under the one before
    assert others[0] > first + 20


def test_a_click_on_the_rest_of_a_long_line_selects_its_node(opened: Any) -> None:
    stepper = opened(LONG, 400)
    stepper.go(stepper.last)

    stepper.root.locator(".adk-code > span", has_text="x.sum").last.click()

    assert stepper.root.locator(".adk-inspector-title").inner_text() == "x.sum()"


def test_long_lines_have_the_room_that_the_graph_does_not_need(opened: Any) -> None:
    stepper = opened(SMALL, 1400)

    assert stepper.root.evaluate(ROWS) == [1, 1, 1]
    graph, picture = (
        stepper.root.locator(name).bounding_box() for name in (".adk-graph", ".adk-layer")
    )
    assert graph["x"] <= picture["x"]
    assert picture["x"] + picture["width"] <= graph["x"] + graph["width"]


def test_a_high_graph_has_the_height_of_the_window(opened: Any) -> None:
    source = (
        "h = torch.tensor(1.5, requires_grad=True)\n" + "h = h * 1.5 + 1.0\n" * 4 + "h.backward()"
    )
    stepper = opened(source, 1400, 1300)

    picture, pane = (
        stepper.root.locator(name).bounding_box() for name in (".adk-layer", ".adk-graph")
    )
    assert picture["height"] > 640
    assert not stepper.root.locator(".adk-overview").is_visible()
    assert pane["y"] <= picture["y"]
    assert picture["y"] + picture["height"] <= pane["y"] + pane["height"]
    buttons = stepper.root.locator(".adk-buttons").bounding_box()
    assert buttons["y"] + buttons["height"] <= 1300
