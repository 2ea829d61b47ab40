"""The keys pressed in a widget are the widget's: no cell is selected, made, cut or run by them."""

from typing import Any

import pytest

from tests.browser.conftest import READY
from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "import autodiff_kit as torch\nfrom autodiff_kit.lessons import predict\n"
    "from autodiff_kit.widgets import Slope\n%load_ext autodiff_kit",
    "%%step\nx = torch.tensor(3., requires_grad=True)\ny = x * x\ny.backward()",
    'predict("02.spread")',
    "Slope(lambda x: x * x)",
    "# The end",
]
# In command mode each of these does something to cells, and no later one undoes it.
KEYS = ["n", "p", "ArrowDown", "a", "x", "m", "0", "ArrowLeft", "Home", "End", "b"]
CELLS_NOW = """() => {
  const [panel] = [...window.jupyterapp.shell.widgets('main')].filter((widget) => widget.context);
  const { activeCellIndex, mode, widgets } = panel.content;
  return [activeCellIndex, mode, ...widgets.map((cell) => cell.model.sharedModel.source)];
}"""


@pytest.mark.parametrize("app", ["lab", "notebooks"])
def test_no_key_in_any_widget_does_anything_to_a_cell(
    app: str, jupyter: Any, notebook: Any
) -> None:
    path = write_cells(jupyter.folder / f"keys_in_{app}.ipynb", "# A heading", *CELLS)
    page = notebook(path, app=app)
    page.locator(".adk-lab .adk-handle").wait_for()

    # What has the focus itself, what gives it to the whole widget, and controls of a lab.
    for cell, parts in {
        2: [".adk-caption-text", ".adk-box >> nth=0", ".adk-range", ".adk-play"],
        3: [".adk-q-text", "input >> nth=0", ".adk-q-check"],
        4: [".adk-board-caption", ".adk-handle", ".adk-c-range >> nth=0", "select >> nth=0"],
    }.items():
        for part in parts:
            place = page.locator(".jp-Cell").nth(cell).locator(part)
            if not place.count():
                continue
            place.click()
            before = page.evaluate(CELLS_NOW)
            assert before[:2] == [cell, "command"], part
            for key in KEYS:
                page.keyboard.press(key)
            assert page.evaluate(CELLS_NOW) == before, part

    # A click beside the nodes gives the graph its arrow keys.
    page.locator(".adk-canvas").click(position={"x": 3, "y": 3})
    page.keyboard.press("ArrowDown")
    assert page.locator(".adk-node .adk-box:focus").count() == 1

    # Jupyter's own keys for a cell that is worked in stay Jupyter's.
    page.locator(".adk-counter").click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"() => ({CELLS_NOW})()[0] === 3")


TALL = "print('\\n'.join('a line' for _ in range(60)))"
IN_SIGHT = """root => {
  const { top, bottom } = root.getBoundingClientRect();
  const pane = root.closest('.jp-WindowedPanel-outer, .jp-Notebook').getBoundingClientRect();
  return top >= pane.top - 1 && bottom <= pane.bottom + 1;
}"""


@pytest.mark.parametrize("app", ["lab", "notebooks"])
def test_a_new_stepper_is_in_sight_after_shift_enter(app: str, jupyter: Any, notebook: Any) -> None:
    cells = ["# A heading", CELLS[0], TALL, CELLS[1], TALL, TALL]
    path = write_cells(jupyter.folder / f"in_sight_in_{app}.ipynb", *cells)
    page = notebook(path, app=app, run=False, width=1400, height=1000)
    page.evaluate(READY)

    page.locator(".jp-Cell").nth(0).click()
    for _ in range(3):
        page.keyboard.press("Shift+Enter")
    page.locator(".jp-OutputArea-output", has_text="a line").wait_for()
    page.keyboard.press("Shift+Enter")
    root = page.locator(".adk-root")
    root.locator(".adk-box").first.wait_for()
    page.wait_for_timeout(500)
    assert root.evaluate(IN_SIGHT)

    page.locator(".jp-Cell").nth(0).scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert not root.evaluate(IN_SIGHT)  # only the new one comes into view, and only once
