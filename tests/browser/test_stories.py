"""An error story in a real JupyterLab: by mouse, and by keyboard at night on a narrow page."""

import re
from typing import Any

import pytest

from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "import autodiff_kit as torch\nfrom autodiff_kit.widgets import ErrorStory",
    """def changed():
    x = torch.tensor([1., 3.], requires_grad=True)
    h = x * 2
    y = h * h
    h[0] = 0.
    y.sum().backward()""",
    "ErrorStory(changed)",
]


@pytest.fixture
def page(jupyter: Any, notebook: Any, request: pytest.FixtureRequest) -> Any:
    """A notebook with one story, as wide and as dark as the test asks for."""
    path = write_cells(jupyter.folder / f"{request.node.originalname}.ipynb", *CELLS)
    return notebook(path, **getattr(request, "param", {}))


def story(page: Any) -> Any:
    board = page.locator(".adk-board:has(.adk-story)")
    board.nth(1).wait_for()
    return board.first


def test_a_click_on_a_sentence_marks_its_places_and_says_it(page: Any) -> None:
    board = story(page)
    caption = board.locator("[aria-live]")
    assert "a story of 3 places" in caption.inner_text()
    before = board.locator("svg").bounding_box()
    controls = page.locator(".adk-lab-controls, .adk-lab-lines")
    assert controls.count() == 2 and not any(one.is_visible() for one in controls.all())

    board.locator('[data-id="2"]').click()
    page.wait_for_function("() => document.querySelectorAll('.adk-place-picked').length === 3")

    words = re.compile(r"^\s*2\. h\[0\] = 0\. writes into the same storage")
    caption.filter(has_text=words).wait_for()
    assert board.locator("svg").bounding_box() == before  # nothing has jumped

    board.locator('[data-id="2"]').click()
    page.wait_for_function("() => !document.querySelector('.adk-place-picked')")


@pytest.mark.parametrize("page", [{"dark": True, "width": 900}], indirect=True)
def test_by_keyboard_at_night_on_a_narrow_page(page: Any, axe: str) -> None:
    board = story(page)
    board.locator('[data-id="1"]').focus()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.adk-place-picked').length === 3")

    # The words come in a message of their own, after the picture.
    board.locator("[aria-live]").filter(has_text=re.compile(r"^\s*2\. ")).wait_for()
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('.adk-place-picked')")
    sizes = board.locator("svg text").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect()).filter(box => box.height < 11).length"
    )
    assert sizes == 0
    fits = "board => board.scrollWidth <= board.clientWidth"
    assert all(page.locator(".adk-board-picture").nth(i).evaluate(fits) for i in (0, 1))
    page.evaluate(f"() => {{ document.body.style.height = '900px'; {axe} }}")
    report = board.evaluate("root => axe.run(root)")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []


def test_a_graph_with_two_iterations_goes_below_the_words_and_is_not_cut(
    jupyter: Any, notebook: Any
) -> None:
    source = """import autodiff_kit as torch
from autodiff_kit.widgets import ErrorStory
def carried():
    w = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    hidden = torch.ones(2)
    for word in range(2):
        hidden = torch.tanh(w @ hidden)
        loss = hidden.sum()
        loss.backward()"""
    page = notebook(write_cells(jupyter.folder / "iterations.ipynb", source, "ErrorStory(carried)"))
    story(page)

    pictures = page.locator(".adk-board-picture")

    assert pictures.evaluate_all("all => all.every(e => e.scrollWidth <= e.clientWidth)")
