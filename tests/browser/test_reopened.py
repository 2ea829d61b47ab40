"""A notebook saved by a Jupyter of the learner's own, which keeps no widgets, and opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import READY
from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

MANAGER = "@jupyter-widgets/jupyterlab-manager/plugin"
CELLS = [
    "import autodiff_kit as ak\nfrom autodiff_kit.widgets import Stepper\n%load_ext autodiff_kit",
    "%%step rec\nx = ak.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()",
    "Stepper(rec, step=0)",
    'from autodiff_kit.lessons import predict\npredict("02.spread")',
]
WORDS = [  # of that question
    "Only w asks for a gradient:",
    "h = w * x",
    "Which of h and k require a gradient?",
    "neither: they were not asked to",
    "Run this cell to answer.",
]
SAVE_AND_END = """async () => {
  const app = window.jupyterapp;
  await app.commands.execute('docmanager:save');
  const panel = [...app.shell.widgets('main')].find((widget) => widget.sessionContext);
  await panel.sessionContext.shutdown();
  if (app.name === 'JupyterLab') panel.dispose();
}"""
# All that is seen of the outputs of a cell: words, pictures, and what rules bring in.
SEEN = """area => [...area.querySelectorAll('.jp-OutputArea-child')]
  .filter((child) => child.getBoundingClientRect().height > 0)
  .map((child) => {
    const node = child.querySelector('.jp-OutputArea-output');
    const picture = node.querySelector('img');
    const shown = picture && picture.getBoundingClientRect().height > 0;
    return {
      words: node.innerText.trim(), picture: shown ? picture.src : null,
      width: shown && picture.naturalWidth, asked: picture && picture.width,
      scheme: shown && getComputedStyle(picture).colorScheme,
      note: getComputedStyle(node, '::after').content, live: !!node.querySelector('.adk-root'),
    };
  })"""


RESTART_AND_SAVE = """async () => {
  const app = window.jupyterapp;
  const panel = [...app.shell.widgets('main')].find((widget) => widget.sessionContext);
  await panel.sessionContext.restartKernel();
  await app.commands.execute('docmanager:save');
}"""


def test_widgets_and_answers_come_back_after_any_number_of_openings_restarts_and_saves(
    jupyter: Any, notebook: Any, board: Any, desk: Any
) -> None:
    path = write_cells(jupyter.folder / "kept.ipynb", *CELLS[:2], CELLS[3])
    page = notebook(path)
    board(page).go(0)
    card = page.locator(".adk-q")
    card.get_by_label("only h").click()
    card.get_by_role("button", name="Check my prediction").click()
    card.locator('.adk-q-feedback[data-outcome="right"]').wait_for()
    page.evaluate(SAVE_AND_END)
    page.close()

    for opening in ("second", "third"):  # nothing is run in it
        again = desk()
        page = again.page
        page.goto(f"{jupyter.url}/lab/tree/{path.name}?reset")
        stepper, card = board(page), page.locator(".adk-q")
        card.locator('.adk-q-feedback[data-outcome="right"]').wait_for()
        marks = card.locator(".adk-q-mark").all_inner_texts()
        assert sorted(marks) == ["", "", "", "✓"], opening  # choices are shuffled
        before = stepper.caption
        stepper.go(0 if stepper.step else stepper.last)
        assert stepper.caption != before, opening
        page.evaluate(READY)
        page.evaluate(RESTART_AND_SAVE)
        page.evaluate(SAVE_AND_END)
        page.close()
        # A restart makes JupyterLab complain of what it was asking the kernel.
        again.problems[:] = [p for p in again.problems if "Canceled future" not in p]
    assert len(nbformat.read(path, 4).metadata["widgets"]) == 1


# What Jupyter or the kit puts before and after the contents of each widget that no Python answers.
MARKS = """() => [
  ...document.querySelectorAll('.jupyter-widgets-disconnected, .adk-lab, .adk-q-buttons'),
]
  .flatMap((part) => ['::before', '::after'].map((end) => getComputedStyle(part, end).content))
  .filter((content) => content !== 'none' && content !== 'normal')"""


def test_what_no_python_answers_says_so_once_and_in_words(
    jupyter: Any, notebook: Any, board: Any, desk: Any
) -> None:
    lab = "from autodiff_kit.widgets import ControlFlow\nControlFlow(lambda x: x * x, x=2.0)"
    path = write_cells(jupyter.folder / "unanswered.ipynb", *CELLS[:2], CELLS[3], lab)
    page = notebook(path)
    page.locator(".adk-lab .adk-board-picture").wait_for()
    assert page.evaluate(MARKS) == []  # while Python answers
    assert page.locator(".adk-q-check").is_visible()
    page.evaluate(SAVE_AND_END)
    page.close()

    again = desk()
    page = again.page
    page.goto(f"{jupyter.url}/lab/tree/{path.name}?reset")
    page.locator(".adk-lab .adk-board-picture").wait_for()

    marks = [mark.strip('"') for mark in page.evaluate(MARKS)]
    assert sorted(marks) == [
        "These controls do nothing until the notebook is run again.",
        "To answer, run the cells above, then this one.",
    ]
    assert page.locator(".adk-q-check").is_hidden()  # it would wait for an answer in vain
    stepper = board(page)
    before = stepper.caption
    stepper.go(0 if stepper.step else stepper.last)
    assert stepper.caption != before


@pytest.fixture
def plain(setting: Any) -> None:
    """Let the server keep no widgets in notebooks, as a plain JupyterLab does."""
    setting(MANAGER, {"saveState": False})


@pytest.mark.parametrize("app", ["lab", "notebooks"])
def test_a_notebook_saved_without_widgets_shows_its_pictures_when_it_is_opened_again(
    app: str, jupyter: Any, plain: Any, notebook: Any, board: Any, desk: Any
) -> None:
    path = write_cells(jupyter.folder / f"reopened_in_{app}.ipynb", *CELLS)
    page = notebook(path, app=app)
    board(page, 0)
    board(page, 1)
    areas = page.locator(".jp-Cell-outputArea")
    for number in (1, 2):  # alive: the widget and nothing else, from the top of the output on
        [summary] = areas.nth(number).evaluate(SEEN)
        assert summary["live"]
        assert summary["picture"] is None
        assert summary["note"] == "none"
        top = areas.nth(number).bounding_box()["y"]
        assert page.locator(".adk-root").nth(number - 1).bounding_box()["y"] - top < 20
    [card] = areas.nth(3).evaluate(SEEN)
    assert card["words"].lower().startswith("predict first")
    page.evaluate(SAVE_AND_END)
    page.close()
    assert "widgets" not in nbformat.read(path, 4).metadata

    again = desk()
    address = "lab/tree" if app == "lab" else "notebooks"
    again.page.goto(f"{jupyter.url}/{address}/{path.name}{'?reset' if app == 'lab' else ''}")
    given_up = again.page.locator(".jp-OutputArea-output.jupyter-widgets", has_text="not found")
    given_up.nth(2).wait_for(state="attached")

    summaries = [
        again.page.locator(".jp-Cell-outputArea").nth(number).evaluate(SEEN) for number in (1, 2)
    ]
    for [summary] in summaries:
        assert summary["words"] == ""  # not "Error displaying widget: model not found"
        assert "run the notebook again" in summary["note"]
        assert 0 < summary["width"] == summary["asked"]
    assert ">= 6.%3C/text>" in summaries[0][0]["picture"]  # x.grad = 2 * 3
    assert summaries[0][0]["picture"] != summaries[1][0]["picture"]  # each its own
    assert summaries[0][0]["scheme"] == "light"  # as JupyterLab's theme
    [card] = again.page.locator(".jp-Cell-outputArea").nth(3).evaluate(SEEN)
    assert [words for words in WORDS if words not in card["words"]] == []
    assert "not found" not in card["words"]
    # JupyterLab says in the console that it has given up; nothing else may have gone wrong.
    again.problems[:] = [p for p in again.problems if "widget model not found" not in p]


def test_a_notebook_that_is_not_trusted_yet_shows_its_pictures_too(
    jupyter: Any, notebook: Any, desk: Any
) -> None:
    notebook_path = write_cells(jupyter.folder / "made.ipynb", *CELLS[:2], CELLS[3])
    page = notebook(notebook_path)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.close()
    book = nbformat.read(notebook_path, 4)
    book.cells[0].source += "  # as it came from elsewhere"
    path = Path(jupyter.folder / "from_elsewhere.ipynb")
    nbformat.write(book, path)

    desk_page = desk()
    desk_page.page.goto(f"{jupyter.url}/lab/tree/{path.name}?reset")
    area = desk_page.page.locator(".jp-Cell-outputArea").nth(1)
    area.locator("img").wait_for()

    [first, *_] = area.evaluate(SEEN)
    assert 0 < first["width"] == first["asked"]
    assert ">= 6.%3C/text>" in first["picture"]
    cards = desk_page.page.locator(".jp-Cell-outputArea").nth(2).evaluate(SEEN)
    assert [" ".join(card["words"] for card in cards).count(words) for words in WORDS] == [1] * 5
    desk_page.problems.clear()  # an untrusted widget may be complained about
