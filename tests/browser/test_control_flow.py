"""The control-flow lab in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import FUNCTION, LabOnPage, fits, write

pytestmark = pytest.mark.browser

LAB = "lab = ControlFlow(f, x=torch.tensor(2., requires_grad=True))\nlab"


def test_by_mouse_and_by_keyboard(jupyter: Any, notebook: Any, axe: str) -> None:
    path = write(jupyter.folder, "control_flow", FUNCTION, LAB)
    lab = LabOnPage(notebook(path, width=900))
    rounds = lab.root.get_by_role("slider", name="rounds")

    lab.root.get_by_label("frozen trace beside it").check()
    lab.wait_for("the same")
    rounds.focus()
    lab.page.keyboard.press("ArrowRight")
    lab.wait_for("2 operations were added")

    card = lab.root.bounding_box()
    lab.page.keyboard.press("?")  # what each control does
    panel = lab.root.get_by_role("dialog", name="Help")
    rows = panel.locator("table").first.locator("th").all_text_contents()
    assert rows == [*("x", "rounds", "drawn over", "gradients", "frozen trace beside it"), "Reset"]
    assert lab.root.bounding_box() == card
    assert lab.serious(axe) == []
    lab.page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    rounds.focus()

    assert "Wrong: the function gives 6.0." in lab.caption
    assert rounds.evaluate("slider => slider === document.activeElement")
    assert lab.is_whole()
    assert fits(lab)
    assert lab.serious(axe) == []


# Where controls, code and card begin and end, in pixels.
PLACES = """lab => {
  const edges = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const lefts = [...lab.querySelectorAll(".adk-board-picture svg text")].map((e) => edges(e)[0]);
  return [edges(lab), edges(lab.querySelector(".adk-lab-controls")), Math.min(...lefts)];
}"""


@pytest.mark.parametrize("width", [900, 1400])
def test_controls_and_code_begin_at_the_left_edge_of_one_card(
    jupyter: Any, notebook: Any, width: int
) -> None:
    lab = LabOnPage(notebook(write(jupyter.folder, f"card{width}", FUNCTION, LAB), width=width))

    card, controls, code = lab.root.evaluate(PLACES)

    assert float(lab.root.evaluate("e => parseFloat(getComputedStyle(e).borderLeftWidth)")) == 1
    assert card[0] < controls[0] < controls[2] < card[2]
    assert card[1] < controls[1] < controls[3] < card[3]
    assert code < card[0] + 60


def test_the_words_stay_where_they_are_when_the_graph_grows(jupyter: Any, notebook: Any) -> None:
    lab = LabOnPage(notebook(write(jupyter.folder, "grows", FUNCTION, LAB), width=900))
    caption = lab.root.locator(".adk-board-caption")
    before = caption.bounding_box()["y"]
    card = lab.root.bounding_box()

    lab.root.get_by_role("slider", name="rounds").focus()
    lab.page.keyboard.press("End")  # 8 rounds: the graph is higher than the window
    lab.wait_for("were added")

    assert caption.bounding_box()["y"] == before
    assert lab.root.bounding_box() == card  # what stands around the lab stays where it is


def test_an_endless_loop_ends_and_the_picture_stays(jupyter: Any, notebook: Any) -> None:
    endless = FUNCTION.replace("    if y", "    while rounds == 3:\n        pass\n    if y")
    path = write(jupyter.folder, "endless", endless, LAB)
    lab = LabOnPage(notebook(path, dark=True))
    before = lab.caption

    lab.root.get_by_role("slider", name="rounds").focus()
    lab.page.keyboard.press("ArrowRight")
    lab.root.get_by_text("still running after 5 seconds").wait_for()

    assert lab.caption == before
    assert "in grey" in lab.message.inner_text()
    lab.page.keyboard.press("ArrowRight")
    lab.wait_for("added")
    lab.message.wait_for(state="hidden")  # it comes by itself, after the picture


def test_panels_stand_below_each_other_where_the_page_is_narrow(
    jupyter: Any, notebook: Any
) -> None:
    lab = LAB.replace(")\n", ", frozen=True)\n")
    widget = LabOnPage(notebook(write(jupyter.folder, "narrow", FUNCTION, lab), width=1400))
    code, graph = (
        widget.root.get_by_text(text)
        for text in ("Your code, and the branches that ran", "The graph of")
    )
    assert code.bounding_box()["y"] == graph.bounding_box()["y"]

    widget.page.set_viewport_size({"width": 900, "height": 900})
    widget.page.wait_for_function(
        """() => { const svg = document.querySelector('.adk-board-picture > svg');
          return svg.getAttribute('width') === svg.dataset.narrow.split(' ')[0]; }"""
    )
    assert code.bounding_box()["x"] == pytest.approx(graph.bounding_box()["x"], abs=2)
    assert fits(widget)
    slider = widget.root.get_by_role("slider", name="x")
    slider.focus()
    before = slider.bounding_box()["y"]
    for _ in range(5):
        widget.page.keyboard.press("ArrowRight")
    widget.wait_for("The answer was")

    assert slider.bounding_box()["y"] == before  # nothing jumps
    assert fits(widget)
