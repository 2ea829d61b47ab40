"""All of the Stepper's card is in sight at once, and its inspector shows numbers as they are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.page import to_html
from tests.invariants.running import run
from tests.record import cells
from tests.view.programs import SMALL

pytestmark = pytest.mark.browser

# JupyterLab's own bars at a window of 900 px leave 779 px for the notebook: 121 px less than the
# window. What fits is a card of that height at most, with some of the code that has made it.
BARS, CODE = 121, 60
OVERFLOWS = """root => [...root.querySelectorAll(".adk-inspector .adk-fact > dd")]
  .filter((cell) => cell.offsetParent && cell.scrollWidth > cell.clientWidth)
  .map((cell) => cell.textContent)"""
# Numbers and shapes in the inspector that are broken into several lines.
BROKEN = """root => {
  const broken = [];
  const pane = root.querySelector(".adk-inspector");
  const walk = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.parentElement.closest("dd") || node.parentElement.offsetParent == null) continue;
    for (const match of node.data.matchAll(/-?[0-9][0-9.e+]*|[(](?:[0-9]+, ?)+[0-9]*[)]/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (tops.size > 1) broken.push(match[0]);
    }
  }
  return broken;
}"""
CELLS = "row => [...row.querySelectorAll('td')].map((cell) => cell.textContent)"


def page_of(run: Callable[[], object], folder: Path, page: Any) -> Any:
    with ak.record() as recording:
        run()
    picture = build(recording)
    page.goto(to_html(picture.payload(), folder / "steps.html").as_uri())
    return picture


def net() -> None:
    ak.manual_seed(0)
    x, t = ak.randn(4, 3), ak.randn(4, 2)
    w = ak.randn(3, 2, requires_grad=True)
    b = ak.zeros(2, requires_grad=True)
    h = ak.tanh(x @ w + b)
    p = ak.softmax(h * w.sum(), 1)
    ((p - t) ** 2).mean().backward()


def steps_of_modules() -> None:
    """Run modules, for a path of parts above the code, with names that make captions long."""
    ak.manual_seed(0)
    a_network_with_a_long_name = ak.nn.Sequential(
        ak.nn.Linear(3, 4), ak.nn.BatchNorm1d(4), ak.nn.Dropout(0.5), ak.nn.Linear(4, 1)
    )
    a_batch_with_a_long_name = ak.randn(6, 3)
    a_network_with_a_long_name(a_batch_with_a_long_name).mean().backward()


@pytest.mark.parametrize("run", [net, steps_of_modules])
@pytest.mark.parametrize("size", [(1400, 900), (900, 800)])
def test_a_card_in_a_notebook_is_no_higher_than_what_is_in_sight(
    run: Callable[[], None],
    size: tuple[int, int],
    tmp_path: Path,
    desk: Callable[..., Any],
    board: Callable[..., Any],
) -> None:
    page = desk(width=size[0], height=size[1]).page
    page_of(run, tmp_path, page)
    stepper = board(page)
    page.evaluate("() => document.body.classList.remove('adk-page')")  # as in a notebook

    assert stepper.root.bounding_box()["height"] <= size[1] - BARS - CODE


@pytest.mark.parametrize("width", [1400, 900, 400])
def test_no_step_breaks_a_number_or_a_shape_or_makes_the_inspector_wider_than_it_is(
    width: int, tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    page = desk(width=width, height=900).page
    picture = page_of(net, tmp_path, page)
    stepper = board(page)

    for step in range(len(picture.frames)):
        stepper.go(step)
        assert stepper.root.evaluate(BROKEN) == [], picture.frames[step]["caption"]
        assert stepper.root.evaluate(OVERFLOWS) == [], picture.frames[step]["caption"]


def test_a_gradient_is_the_same_kind_of_table_as_the_value_and_so_are_the_parts_of_its_sum(
    tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    w = ak.tensor([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]], requires_grad=True)
    page = desk().page
    picture = page_of(lambda: (w * w + w).sum().backward(), tmp_path, page)
    stepper = board(page)
    stepper.go(len(picture.frames) - 2)  # w.grad

    table = stepper.root.locator(".adk-fact-gradient .adk-matrix tr")
    rows = [table.nth(k).evaluate(CELLS) for k in range(3)]
    parts = stepper.root.locator(".adk-fact-why .adk-uses .adk-matrix")
    numbers = [parts.nth(k).evaluate(CELLS) for k in range(parts.count())]

    assert rows == [["3.", "-3."], ["7.", "9."], ["-9.", "13."]]  # 2 w + 1
    assert stepper.root.locator(".adk-fact-value .adk-matrix tr").count() == 3
    assert sorted(numbers) == sorted(
        [
            ["1.", "-2.", "3.", "4.", "-5.", "6."],
            ["1.", "-2.", "3.", "4.", "-5.", "6."],
            ["1.", "1.", "1.", "1.", "1.", "1."],
        ]
    )
    total = stepper.root.locator(".adk-fact-why .adk-row-sum")
    assert total.inner_text().split() == ["sum", "the", "gradient", "above"]  # drawn once


def test_why_a_small_matrix_with_two_uses_has_its_gradient_is_in_sight(
    tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    w = ak.tensor([[1.5, -2.25, 3.0], [3.0, 4.5, 0.5], [-5.0, 6.0, 7.0]], requires_grad=True)
    c = ak.tensor([[0.5], [0.25], [-1.5]])
    page = desk(width=1400, height=900).page
    picture = page_of(lambda: (w * c + w * 2.0).sum().backward(), tmp_path, page)
    stepper = board(page)
    stepper.go(len(picture.frames) - 2)  # w.grad

    body = stepper.root.locator(".adk-inspector-body")
    height = body.evaluate("""e => {
      const end = e.lastElementChild.getBoundingClientRect().bottom;
      return end + parseFloat(getComputedStyle(e).paddingBottom) - e.getBoundingClientRect().top;
    }""")

    assert stepper.root.locator(".adk-fact-why .adk-matrix").count() == 2
    assert height <= 362  # px, what JupyterLab's own bars leave of 900 px


def test_a_tensor_of_three_dimensions_is_one_table_for_each_slice(
    tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    page = desk().page
    x = ak.arange(12.0).reshape(2, 3, 2).requires_grad_()
    picture = page_of(lambda: x * 2, tmp_path, page)
    stepper = board(page)
    stepper.go(len(picture.frames) - 1)

    assert stepper.root.locator(".adk-fact-value .adk-matrix").count() == 2


def test_a_gradient_that_is_cleared_is_called_so(
    tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    w = ak.tensor(3.0, requires_grad=True)

    def run() -> None:
        (w * w).backward()
        w.grad = None

    page = desk().page
    picture = page_of(run, tmp_path, page)
    stepper = board(page)
    gradient = stepper.root.locator(".adk-fact-gradient dd")
    stepper.go(0)
    assert gradient.inner_text() == "not yet"
    stepper.go(len(picture.frames) - 1)
    assert gradient.inner_text() == "cleared"


FIRST_LINE = """e => {  // px of the first line in sight that are above the pane
  const top = e.getBoundingClientRect().top;
  const lines = [...e.querySelectorAll(".adk-line")].map((line) => line.getBoundingClientRect());
  return Math.max(0, top - lines.find(({ bottom }) => bottom > top + 1).top);
}"""


def test_folded_steps_of_backward_light_its_line_and_the_code_begins_with_a_whole_one(
    tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]
) -> None:
    source = (
        "# a line\n" * 20 + "model = torch.nn.Linear(2, 1)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for epoch in range(8):\n"
        "    loss = model(torch.ones(4, 2)).square().mean()\n"
        "    opt.zero_grad()\n"
        "    loss.backward()\n"
        "    opt.step()\n" + "# a line\n" * 20
    )
    picture = build(cells.run(source))
    page = desk().page
    page.goto(to_html(picture.payload(), tmp_path / "steps.html").as_uri())
    stepper = board(page)
    pane = stepper.root.locator(".adk-source-body")
    folded = [
        k for k, f in enumerate(picture.frames) if (f["phase"], f["kind"]) == ("backward", "fold")
    ]

    assert folded
    for step in (0, *folded, stepper.last, *reversed(folded)):
        stepper.go(step)
        assert pane.evaluate(FIRST_LINE) < 1
        if step in folded:
            assert stepper.lit == "loss.backward()"
            assert pane.locator(".adk-lit").first.evaluate(
                "e => e.getBoundingClientRect().bottom <= "
                "e.closest('.adk-source-body').getBoundingClientRect().bottom"
            )


COVERED = """root => {
  const shown = (name) => [...root.querySelectorAll(name)]
    .filter((mark) => mark.checkVisibility({ visibilityProperty: true }));
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const marks = shown('.adk-sent, .adk-slope').map((mark) => mark.getBoundingClientRect());
  const roles = shown('.adk-arg');
  const covered = roles.filter((role) =>
    marks.some((mark) => overlap(mark, role.getBoundingClientRect())));
  return [roles.length, covered.map((role) => role.textContent)];
}"""


def test_no_step_covers_a_part_of_left_or_right(
    desk: Callable[..., Any], board: Any, tmp_path: Path
) -> None:
    program = run("", ak, "torch.manual_seed(0)\n" + SMALL["two layers by hand"].strip())
    page = desk(width=1400, height=900).page
    page.goto(to_html(build(program.recording), tmp_path / "mlp.html").as_uri())
    stepper = board(page)
    counts = set()

    for step in range(stepper.last + 1):
        stepper.go(step)
        count, covered = stepper.root.evaluate(COVERED)
        counts.add(count)
        assert covered == []
    assert max(counts) > 2
