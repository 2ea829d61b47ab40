"""The gradient plots in a real JupyterLab: dragged by mouse, moved by keyboard, light and dark."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

ASK = """async (expression) => {
  const panels = [...window.jupyterapp.shell.widgets('main')];
  const { kernel } = panels.find((widget) => widget.sessionContext).sessionContext.session;
  const asked = kernel.requestExecute({ code: '', user_expressions: { it: expression } });
  return (await asked.done).content.user_expressions.it.data['text/plain'];
}"""

SIZES = """texts => texts.map((text) => {
  const { c, d } = text.getScreenCTM();
  return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(c, d);
})"""

SETUP = """import autodiff_kit as torch
from autodiff_kit.widgets import Descent, GradientFlow, GradientHistogram, Slope


def f(x):
    return (2 * x).sin() + x * x / 5


def bowl(x, y):
    return x * x / 2 + 3 * y * y"""
NETWORK = """torch.manual_seed(0)
layers = []
for i in range(5):
    layers += [torch.nn.Linear(8, 8), torch.nn.Sigmoid()]
model = torch.nn.Sequential(*layers, torch.nn.Linear(8, 1))
x = torch.randn(32, 8)


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        optimizer.zero_grad()
        ((model(x) - 1) ** 2).mean().backward()
        optimizer.step()"""
SLOPE = "slope = Slope(f, x=1.0)\nslope"
DESCENT = "descent = Descent(bowl, start=(-2.5, 1.5), lr=0.2, steps=20)\ndescent"
FLOW = "flow = GradientFlow(model, train)\nflow"
HISTOGRAM = "histogram = GradientHistogram(model)\nhistogram"


@pytest.fixture
def lab(jupyter: Any, notebook: Any, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Open a notebook of these cells; return the page."""

    def open_it(*cells: str, **how: Any) -> Any:
        name = request.node.name.split("[")[0]
        path = write_cells(jupyter.folder / f"{name}.ipynb", SETUP, *cells)
        page = notebook(path, **how)
        page.locator(".adk-board svg").first.wait_for()
        page.locator(".adk-board").first.scroll_into_view_if_needed()
        return page

    return open_it


def drag(page: Any, handle: Any, right: float, down: float) -> None:
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=8)
    page.mouse.up()


def says(page: Any, words: str, number: int = 0) -> None:
    """Wait until the words below the picture contain these, with minus signs for hyphens."""
    page.locator(".adk-board").nth(number).locator(
        ".adk-board-caption", has_text=words.replace("-", "\N{MINUS SIGN}")
    ).wait_for()


def test_the_point_on_a_curve_is_moved_by_mouse_by_keys_and_by_slider(lab: Any) -> None:
    page = lab(SLOPE)
    board = page.locator(".adk-board")
    before = board.bounding_box()
    plot = page.locator(".adk-axes .adk-frame").bounding_box()

    drag(page, page.locator(".adk-handle"), -plot["width"] / 6, 40)  # by one to the left
    says(page, "At x = 0 the value is 0 and the slope 2")
    assert page.evaluate(ASK, "slope.controls['x'].value") == "0.0"

    page.locator(".adk-handle").focus()
    page.keyboard.press("Shift+ArrowRight")  # ten steps of 0.02
    says(page, "At x = 0.2")
    page.keyboard.press("ArrowLeft")
    says(page, "At x = 0.18")
    page.keyboard.press("Home")
    says(page, "At x = -3")
    handle = page.locator(".adk-handle")
    assert handle.evaluate("it => it === document.activeElement")  # in the picture after this one
    assert handle.get_attribute("aria-valuetext") == "x = -3"
    assert board.bounding_box() == before  # nothing jumps

    page.get_by_label("second derivative").uncheck()
    page.locator(".adk-parabola").first.wait_for(state="detached")
    page.get_by_role("slider", name="x", exact=True).first.focus()
    page.keyboard.press("ArrowUp")
    says(page, "At x = -2.98")


def test_controls_and_caption_stand_beside_a_plot_where_there_is_room(lab: Any) -> None:
    page = lab(NETWORK, FLOW)
    card, picture, controls, caption = (
        page.locator(f".adk-{name}").first
        for name in ("lab", "board-picture", "lab-controls", "board-caption")
    )
    before = card.bounding_box()
    plot, row, words = (part.bounding_box() for part in (picture, controls, caption))
    assert row["y"] == plot["y"]
    assert row["x"] == words["x"] >= plot["x"] + plot["width"]
    assert words["y"] == row["y"] + row["height"]

    page.get_by_label("frozen", exact=True).select_option("(2)")  # the caption gets longer
    says(page, "requires_grad is False in 1 of 6 layers, (2)")
    assert card.bounding_box() == before
    assert caption.bounding_box() == words

    page.set_viewport_size({"width": 900, "height": 900})
    page.wait_for_function(
        """() => {
          const [controls, caption, picture] = ['lab-controls', 'board-caption', 'board-picture']
            .map((name) => document.querySelector(`.adk-${name}`).getBoundingClientRect());
          return caption.top === controls.bottom && picture.top === caption.bottom; }"""
    )
    assert controls.bounding_box()["y"] < picture.bounding_box()["y"]


def test_a_step_size_that_is_too_large_is_seen_to_diverge_and_the_start_can_be_dragged(
    lab: Any,
) -> None:
    page = lab(DESCENT)
    says(page, "SGD, lr = 0.2: after 20 steps from (-2.5, 1.5)")

    page.evaluate(ASK, "descent.controls['lr'].set_trait('value', 0.4)")
    says(page, "diverges")
    page.locator(".adk-note", has_text="diverges").wait_for()
    page.get_by_label("optimizer").select_option("Adam")
    says(page, "Adam, lr = 0.4: after 20 steps")
    page.locator(".adk-handle").focus()
    page.keyboard.press("Shift+ArrowRight")

    says(page, "from (-2.3, 1.5)")  # ten steps of 0.02
    assert page.evaluate(ASK, "descent.start") == "(-2.3, 1.5)"


def test_an_error_is_said_in_the_lab_and_the_last_picture_stays(lab: Any) -> None:
    page = lab(
        "def g(x):\n    if x > 2:\n        raise ValueError('too far')\n    return x * x",
        "Slope(g, x=1.5)",
    )
    says(page, "No value at 27 of 161 points: ValueError: too far")

    page.locator(".adk-handle").focus()
    page.keyboard.press("End")

    text = page.get_by_role("alert")
    text.wait_for()
    assert "raise ValueError('too far')" in text.inner_text()
    page.locator(".adk-stale path.adk-curve").first.wait_for()


def test_the_step_of_a_training_run_is_chosen_by_key_and_by_mouse(lab: Any) -> None:
    page = lab(NETWORK, FLOW, HISTOGRAM)
    says(page, "Step 19 (of 20, counted from 0)")
    says(page, "0.weight: 64 numbers", 1)

    page.locator(".adk-handle").focus()
    page.keyboard.press("Home")
    says(page, "Step 0 (of 20, counted from 0)")
    drag(page, page.locator(".adk-handle"), 120, 0)
    page.wait_for_function(
        "() => /Step [1-9]/.test(document.querySelector('.adk-board-caption').textContent)"
    )
    page.get_by_label("gradient of", exact=True).select_option("10.bias")

    says(page, "10.bias: 1 number", 1)


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (900, True)])
def test_all_of_it_is_readable_and_accessible(lab: Any, axe: str, width: int, dark: bool) -> None:
    page = lab(NETWORK, SLOPE, DESCENT, FLOW, HISTOGRAM, width=width, dark=dark)

    boards = page.locator(".adk-board")
    assert boards.count() == 4
    sizes = page.locator(".adk-board svg text").evaluate_all(SIZES)
    assert min(sizes) >= 11
    page.evaluate("() => { document.body.style.height = '100vh'; }")
    page.evaluate(f"() => {{ {axe} }}")
    for number in range(4):
        report = boards.nth(number).evaluate("board => axe.run(board)")
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []
