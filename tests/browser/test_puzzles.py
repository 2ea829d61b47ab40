"""Putting lines in order and filling gaps in a real JupyterLab, by keyboard and by mouse."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "from autodiff_kit.puzzles import gaps, parsons",
    'parsons("08.control_flow")',
    'gaps("04.accumulate")',
]
POWER = ["y = Node(1.0)", "for _ in range(n):", "y = y * x", "return y"]


@pytest.fixture
def own(jupyter: Any, request: pytest.FixtureRequest) -> Path:
    """A small notebook among exercises, so that what was done is kept beside it."""
    path = Path(jupyter.folder / request.node.originalname / "puzzles.ipynb")
    path.parent.mkdir(exist_ok=True)
    (path.parent / ".autodiff-kit-exercises.json").write_text("{}")
    return write_cells(path, "# A heading", *CELLS)


def card(page: Any, number: int) -> Any:
    puzzle = page.locator(".adk-puzzle").nth(number)
    puzzle.wait_for()
    puzzle.scroll_into_view_if_needed()
    return puzzle


def told(puzzle: Any, outcome: str) -> str:
    """Wait for Python's word, and return it."""
    says = puzzle.locator(f'.adk-puzzle-says[data-outcome="{outcome}"]')
    says.wait_for(timeout=60_000)
    return str(says.inner_text())


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.textContent"))


def press_until(page: Any, key: str, text: str) -> None:
    for _ in range(40):
        if focused(page) == text:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {text!r}; the focus is at {focused(page)!r}")


def code_of(puzzle: Any) -> list[tuple[str, float]]:
    """Return the learner's lines, each with where it begins on the screen."""
    lines = puzzle.locator(".adk-puzzle-program .adk-puzzle-line")
    return [(line.inner_text(), line.bounding_box()["x"]) for line in lines.all()]


def pick(page: Any, text: str) -> None:
    """Find a line among those to choose from by keyboard alone, and move it over."""
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    press_until(page, "ArrowDown", text)
    page.keyboard.press("Enter")


def test_by_keyboard_alone_lines_are_put_in_order(own: Path, notebook: Callable[..., Any]) -> None:
    page = notebook(own)
    puzzle = card(page, 0)
    puzzle.locator(".adk-puzzle-tab").first.focus()
    press_until(page, "Tab", puzzle.locator(".adk-puzzle-pool button").first.inner_text())

    for text in POWER:
        pick(page, text)
    press_until(page, "Tab", "return y")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Shift+ArrowUp")  # once too far
    press_until(page, "Tab", "Check")
    page.keyboard.press("Enter")
    wrong = told(puzzle, "wrong")
    here = puzzle.locator(".adk-puzzle-here").count()
    press_until(page, "Shift+Tab", "return y")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("ArrowLeft")
    press_until(page, "Tab", "Check")
    page.keyboard.press("Enter")
    right = told(puzzle, "right")

    assert "stands further in" in wrong and here == 1
    assert "Now write power yourself" in right
    lines = code_of(puzzle)
    assert [text for text, _ in lines] == POWER
    assert lines[0][1] == lines[1][1] == lines[3][1] < lines[2][1]
    assert puzzle.locator(".adk-puzzle-tab").first.inner_text() == "power ✓"
    progress = json.loads((own.parent / ".autodiff-kit-exercises.json").read_text())
    assert progress["08.control_flow"]["parsons"]["power"]["solved"] is True


def test_a_line_is_taken_back_by_key_and_every_move_is_told(
    own: Path, notebook: Callable[..., Any]
) -> None:
    page = notebook(own)
    puzzle = card(page, 0)
    puzzle.locator(".adk-puzzle-pool button").first.focus()

    pick(page, POWER[0])
    press_until(page, "Tab", POWER[0])
    page.keyboard.press("ArrowRight")
    moved = puzzle.locator(".adk-puzzle-told").inner_text()
    label = puzzle.locator(".adk-puzzle-program .adk-puzzle-line").get_attribute("aria-label")
    page.keyboard.press("Delete")

    assert moved == label == "y = Node(1.0), line 1 of 1, 1 level in"
    assert puzzle.locator(".adk-puzzle-told").inner_text() == "y = Node(1.0): taken back"
    assert code_of(puzzle) == []
    assert focused(page) == POWER[0]


def test_by_mouse_a_line_is_dragged_to_its_place_and_as_far_in_as_it_is_dropped(
    own: Path, notebook: Callable[..., Any]
) -> None:
    page = notebook(own)
    puzzle = card(page, 0)
    for text in (POWER[0], POWER[1], POWER[3]):
        puzzle.locator(".adk-puzzle-pool button").get_by_text(text, exact=True).click()

    def drag(line: Any, x: float, y: float) -> None:
        box = line.bounding_box()
        start = box["x"] + 20, box["y"] + box["height"] / 2
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(start[0] + x / 2, start[1] + y / 2)
        page.mouse.move(start[0] + x, start[1] + y, steps=4)
        page.mouse.up()

    program = puzzle.locator(".adk-puzzle-program .adk-puzzle-line")
    last = program.nth(2)
    drag(last, -30, 0)
    outer = code_of(puzzle)
    line = puzzle.locator(".adk-puzzle-pool button").get_by_text(POWER[2], exact=True)
    target, box = program.nth(1).bounding_box(), line.bounding_box()
    drag(line, target["x"] - box["x"] + 60, target["y"] + target["height"] - box["y"] - 8)
    puzzle.get_by_role("button", name="Check").click()

    told(puzzle, "right")
    assert outer[2][1] == outer[1][1]
    assert [text for text, _ in code_of(puzzle)] == POWER


def test_gaps_are_filled_by_keyboard_and_a_wrong_choice_is_told(
    own: Path, notebook: Callable[..., Any]
) -> None:
    page = notebook(own)
    puzzle = card(page, 1)
    fields = puzzle.locator("select")
    puzzle.get_by_role("button", name="Check").click()
    first = puzzle.locator(".adk-puzzle-says").inner_text()

    for field, start in zip(fields.all(), ("root", "elif", "= g"), strict=True):
        field.focus()
        page.keyboard.type(start)
    puzzle.get_by_role("button", name="Check").focus()
    page.keyboard.press("Enter")
    wrong = told(puzzle, "wrong")
    fields.first.focus()
    page.keyboard.type("1")
    puzzle.get_by_role("button", name="Check").focus()
    page.keyboard.press("Enter")

    assert first == "Choose something in every gap first."
    assert "The pass begins with the root's value" in wrong
    assert "Now write backward yourself" in told(puzzle, "right")


@pytest.mark.parametrize("width", [900, 400])
@pytest.mark.parametrize("number", [0, 1])
def test_the_cards_are_accessible_and_fit(
    number: int, width: int, own: Path, notebook: Callable[..., Any], axe: str
) -> None:
    page = notebook(own)
    puzzle = card(page, number)
    if number == 0:
        puzzle.locator(".adk-puzzle-pool button").first.click()
    puzzle.evaluate("(el, width) => (el.style.width = `${width}px`)", width)
    page.evaluate(axe)

    report = puzzle.evaluate("el => axe.run(el)")

    assert [v["id"] for v in report["violations"]] == []
    assert puzzle.evaluate("el => el.scrollWidth <= el.clientWidth")


@pytest.mark.parametrize("number", [0, 1])
def test_the_cards_are_accessible_at_night(
    night: None, number: int, own: Path, notebook: Callable[..., Any], axe: str
) -> None:
    page = notebook(own)
    puzzle = card(page, number)
    if number == 0:
        puzzle.locator(".adk-puzzle-pool button").first.click()
        puzzle.get_by_role("button", name="Check").click()
        told(puzzle, "wrong")
    page.evaluate(axe)

    report = puzzle.evaluate("el => axe.run(el)")

    assert [v["id"] for v in report["violations"]] == []
    assert puzzle.evaluate("el => getComputedStyle(el).colorScheme") == "dark"
