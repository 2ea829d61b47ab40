"""Journeys in a real JupyterLab 4, and a smoke test in Notebook 7."""

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import Board
from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("03_*.ipynb"))

# What an expression is worth in the kernel of the open notebook.
ASK = """async (expression) => {
  const panels = [...window.jupyterapp.shell.widgets('main')];
  const { kernel } = panels.find((widget) => widget.sessionContext).sessionContext.session;
  const asked = kernel.requestExecute({ code: '', user_expressions: { it: expression } });
  return (await asked.done).content.user_expressions.it.data['text/plain'];
}"""

CELLS = [
    "import autodiff_kit as ak\nfrom autodiff_kit.widgets import Stepper",
    """with ak.record() as rec:
    x = ak.tensor(2.0, requires_grad=True)
    w = ak.tensor(3.0, requires_grad=True)
    h = x
    for i in range(2):
        h = h * w
    z = h + x
    z.backward()""",
    "stepper = Stepper(rec)\nstepper",
]


@pytest.fixture
def own(jupyter: Any, request: pytest.FixtureRequest) -> Path:
    """A small notebook, written for this test alone."""
    path = Path(jupyter.folder / f"{request.node.originalname}.ipynb")
    return write_cells(path, "# A heading\n\nSome words.", *CELLS)


@pytest.fixture
def lesson(jupyter: Any, own: Path, request: pytest.FixtureRequest) -> Path:
    """Lesson 03 as learners get it; the small notebook where the lessons are not at hand."""
    if not LESSONS:
        return own
    return Path(shutil.copy(LESSONS[0], jupyter.folder / f"{request.node.originalname}_03.ipynb"))


def test_by_mouse_to_the_end_and_back(lesson: Path, notebook: Any, board: Any) -> None:
    stepper = board(notebook(lesson))
    start = stepper.nodes.count()

    for step in range(1, stepper.last + 1):
        stepper.press("Step forward")
        assert stepper.step == step
    assert stepper.counter.endswith("backward")
    assert stepper.gradients()
    for step in reversed(range(stepper.last)):
        stepper.press("Step back")
        assert stepper.step == step

    assert stepper.nodes.count() == start
    assert stepper.gradients() == {}


def test_by_keyboard_only_to_the_end_and_back(lesson: Path, notebook: Any, board: Any) -> None:
    page = notebook(lesson)
    stepper = board(page)
    page.evaluate("() => document.activeElement.blur()")

    def tab_until(selector: str) -> None:
        for _ in range(400):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        pytest.fail(f"Tab never led to {selector}")

    tab_until(".adk-range")
    stepper = Board(page.locator(".adk-root:focus-within"))  # the first below what is in sight
    for step in range(1, stepper.last + 1):
        page.keyboard.press("ArrowRight")
        assert stepper.step == step
    for step in reversed(range(stepper.last)):
        page.keyboard.press("ArrowLeft")
        assert stepper.step == step
    page.keyboard.press("End")
    assert stepper.step == stepper.last

    page.keyboard.press("Home")
    page.keyboard.press("Shift+Tab")  # the last of the buttons
    page.keyboard.press("Enter")
    assert stepper.step == stepper.last


def test_a_node_is_pinned_by_keyboard_and_its_source_lights_up(
    own: Path, notebook: Any, board: Any
) -> None:
    page = notebook(own)
    stepper = board(page)
    stepper.press("Last step")

    stepper.nodes.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("p")  # not Lab's: steps

    assert stepper.step == stepper.last - 1
    assert stepper.chosen == "h * w"
    assert stepper.root.locator(".adk-inspector-title").inner_text().startswith("h1")


def test_a_node_is_pinned_by_mouse_and_its_source_lights_up(
    lesson: Path, notebook: Any, board: Any
) -> None:
    stepper = board(notebook(lesson))
    stepper.press("Last step")

    stepper.nodes.last.click()

    assert stepper.chosen != ""
    assert stepper.chosen in "".join(stepper.root.locator(".adk-code").all_text_contents())
    assert stepper.nodes.last.get_attribute("aria-pressed") == "true"


def test_step_and_selection_are_known_to_python(own: Path, notebook: Any, board: Any) -> None:
    page = notebook(own)
    stepper = board(page)
    stepper.go(4)
    stepper.nodes.nth(1).click()
    number = stepper.root.locator("[data-node].adk-selected").get_attribute("data-node")

    page.wait_for_timeout(300)
    assert page.evaluate(ASK, "stepper.step, stepper.selected") == f"(4, '{number}')"


def test_play_reaches_the_end_and_nothing_is_animated(own: Path, notebook: Any, board: Any) -> None:
    page = notebook(own)
    stepper = board(page)
    stepper.root.get_by_role("combobox", name="Speed").select_option("4")
    stepper.go(stepper.last - 6)

    stepper.press("Play")
    moving = 0
    while stepper.step < stepper.last:
        moving += stepper.root.evaluate("root => root.getAnimations({subtree: true}).length")

    assert moving == 0
    stepper.root.get_by_role("button", name="Play").wait_for()


def test_in_the_dark_theme_it_is_dark_and_can_be_read(
    lesson: Path, notebook: Any, board: Any, night: None, axe: str
) -> None:
    page = notebook(lesson)
    stepper = board(page)
    stepper.press("Last step")
    stepper.nodes.first.click()

    paper = stepper.root.evaluate("root => getComputedStyle(root).backgroundColor")
    assert max(map(int, paper.removeprefix("rgb(").removesuffix(")").split(","))) < 60
    assert findings(stepper, axe) == []


def test_in_the_light_theme_axe_finds_nothing(
    lesson: Path, notebook: Any, board: Any, axe: str
) -> None:
    stepper = board(notebook(lesson, system_dark=True))  # the theme of JupyterLab wins
    stepper.press("Last step")

    assert stepper.root.evaluate("root => getComputedStyle(root).colorScheme") == "light"
    assert findings(stepper, axe) == []


def test_a_saved_lesson_works_without_the_kernel_that_made_it(
    lesson: Path, notebook: Any, board: Any
) -> None:
    page = notebook(lesson)
    board(page).go(4)
    page.wait_for_timeout(300)
    page.evaluate(
        """async () => {
          const app = window.jupyterapp;
          await app.commands.execute('docmanager:save');
          const panel = [...app.shell.widgets('main')].find((widget) => widget.sessionContext);
          await panel.sessionContext.shutdown();
        }"""
    )
    page.close()

    stepper = board(notebook(lesson, run=False))

    assert stepper.step == 4
    stepper.press("Last step")
    assert stepper.gradients()


def test_a_saved_notebook_holds_a_picture_for_readers_without_widgets(
    own: Path, notebook: Any, board: Any
) -> None:
    page = notebook(own)
    board(page)

    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    outputs = [output for cell in nbformat.read(own, 4).cells for output in cell.get("outputs", [])]
    [data] = [o["data"] for o in outputs if "image/svg+xml" in o.get("data", {})]
    assert "<svg" in data["image/svg+xml"]
    assert data["text/plain"].startswith("Stepper(5 nodes")


def test_a_view_that_scrolls_away_comes_back_as_it_was(
    own: Path, notebook: Any, board: Any, setting: Any
) -> None:
    setting("@jupyterlab/notebook-extension/tracker", {"windowingMode": "full"})
    book = nbformat.read(own, 4)
    book.cells += [nbformat.v4.new_markdown_cell("Some more words.\n\n" * 20) for _ in range(30)]
    nbformat.write(book, own)
    page = notebook(own)
    scroll(page, 0)
    stepper = board(page)
    stepper.go(4)
    page.evaluate(ASK, "stepper.set_trait('selected', '1')")  # a click would make the cell stay

    scroll(page, 100_000)
    stepper.root.wait_for(state="hidden")
    scroll(page, 0)

    again = board(page)
    assert again.step == 4
    assert again.chosen == "ak.tensor(3.0, requires_grad=True)"
    again.press("Step forward")
    assert again.step == 5


def test_two_views_of_one_stepper_move_together(own: Path, notebook: Any, board: Any) -> None:
    book = nbformat.read(own, 4)
    book.cells.append(nbformat.v4.new_code_cell("stepper"))
    nbformat.write(book, own)
    page = notebook(own)
    one, two = board(page, 0), board(page, 1)

    one.go(5)
    assert two.step == 5
    two.nodes.first.click()

    assert one.chosen == two.chosen != ""


def test_a_new_recording_takes_the_place_of_the_old_one(
    own: Path, notebook: Any, board: Any
) -> None:
    page = notebook(own)
    stepper = board(page)

    page.evaluate(ASK, "stepper.set_trait('payload', Stepper(rec, title='Another').payload)")
    stepper.root.locator(".adk-title", has_text="Another").wait_for()
    stepper.slider.focus()
    page.keyboard.press("n")

    assert stepper.step == 1


def test_a_stepper_that_is_taken_away_while_playing_stops(
    own: Path, notebook: Any, board: Any
) -> None:
    page = notebook(own)
    board(page).press("Play")

    page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.locator(".adk-root").wait_for(state="detached")
    before = page.evaluate(ASK, "stepper.step")
    page.wait_for_timeout(1500)

    assert page.evaluate(ASK, "stepper.step") == before


def test_a_stepper_without_a_recording_says_so(own: Path, notebook: Any) -> None:
    book = nbformat.read(own, 4)
    book.cells[3].source = "stepper = Stepper(rec)\nstepper.payload = b''\nstepper"
    nbformat.write(book, own)

    page = notebook(own)

    page.locator(".adk-message", has_text="No recording yet").wait_for()


def test_in_notebook_7_keys_and_mouse_step_too(own: Path, notebook: Any, board: Any) -> None:
    page = notebook(own, app="notebooks")
    stepper = board(page)

    stepper.press("Step forward")
    stepper.slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert stepper.step == 3
    stepper.nodes.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    assert stepper.chosen == "ak.tensor(3.0, requires_grad=True)"


def findings(stepper: Any, axe: str) -> list[tuple[str, str]]:
    """What axe-core finds in a widget. Lab's body has no height, which axe takes for invisible."""
    stepper.root.page.evaluate("() => { document.body.style.height = '100vh'; }")
    stepper.root.page.evaluate(f"() => {{ {axe} }}")
    report = stepper.root.evaluate("root => axe.run(root)")
    assert "color-contrast" in {rule["id"] for rule in report["passes"]}
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]]


def scroll(page: Any, to: int) -> None:
    """Scroll the notebook, and give its windowing time to follow."""
    page.evaluate(
        """to => { const all = document.querySelectorAll('.jp-WindowedPanel-outer');
                   all.forEach((outer) => { outer.scrollTop = to; }); }""",
        to,
    )
    page.wait_for_timeout(500)
