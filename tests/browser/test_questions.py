"""Answering the lessons' questions in a real JupyterLab, with the mouse and without."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "from autodiff_kit.lessons import predict, show_progress",
    'predict("02.spread")',
    'predict("03.adds")',
    "show_progress()",
]


@pytest.fixture
def own(jupyter: Any, request: pytest.FixtureRequest) -> Path:
    """A small notebook in a folder of its own, so that each test begins with no answers."""
    path = Path(jupyter.folder / request.node.originalname / "questions.ipynb")
    path.parent.mkdir(exist_ok=True)
    return write_cells(path, "# A heading", *CELLS)


def card(page: Any, number: int) -> Any:
    question = page.locator(".adk-q").nth(number)
    question.wait_for()
    question.scroll_into_view_if_needed()
    return question


def outcome(question: Any, expected: str) -> Any:
    """Wait for Python's word, and return the feedback."""
    feedback = question.locator(f'.adk-q-feedback[data-outcome="{expected}"]')
    feedback.wait_for()
    return feedback


def kept(own: Path) -> dict[str, Any]:
    return dict(json.loads((own.parent / ".autodiff-kit-progress.json").read_text())["answers"])


def test_by_mouse_a_wrong_choice_is_explained_and_a_second_one_is_right(
    own: Path, notebook: Callable[..., Any]
) -> None:
    question = card(notebook(own), 0)

    question.get_by_label("both").click()
    question.get_by_role("button", name="Check my prediction").click()
    explained = outcome(question, "wrong").inner_text()
    question.get_by_label("only h").click()
    question.get_by_role("button", name="Check my prediction").click()
    outcome(question, "right")

    assert "k is made of x alone" in explained
    marks = question.locator(".adk-q-mark").all_inner_texts()
    assert sorted(marks) == ["", "", "✓", "✗"]  # choices are shuffled
    assert question.locator(".adk-q-note").inner_text() == "Your first prediction: both"
    assert kept(own)["02.spread"]["first"] == "both"
    assert kept(own)["02.spread"]["tries"] == 2


def test_one_may_look_after_a_wrong_answer_but_not_before(
    own: Path, notebook: Callable[..., Any]
) -> None:
    question = card(notebook(own), 1)
    look = question.get_by_role("button", name="Show the answer")

    hidden_at_first = not look.is_visible()
    question.get_by_role("textbox").fill("4")
    question.get_by_role("button", name="Check my prediction").click()
    outcome(question, "wrong")
    look.click()

    assert hidden_at_first
    assert "5" in outcome(question, "looked").inner_text()
    assert kept(own)["03.adds"]["looked"] is True


def walk_to(page: Any, choice: str) -> None:
    """Press the arrow key until a choice is focused: they are shuffled."""
    for _ in range(3):
        if page.evaluate("() => document.activeElement.value") == choice:
            return
        page.keyboard.press("ArrowDown")


@pytest.mark.parametrize("app", ["lab", "notebooks"])
def test_by_keyboard_only(own: Path, notebook: Callable[..., Any], app: str) -> None:
    page = notebook(own, app=app)
    first, second = card(page, 0), card(page, 1)
    focused = "() => document.activeElement.value || document.activeElement.textContent"

    first.locator("input").first.focus()
    page.keyboard.press("Space")
    walk_to(page, "only `h`")
    chosen = page.evaluate(focused)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    outcome(first, "right")
    still_there = page.evaluate(focused)
    second.get_by_role("textbox").focus()
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    outcome(second, "wrong")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    outcome(second, "right")

    assert chosen == "only `h`"
    assert still_there == "Check my prediction"
    assert page.locator(".adk-q").count() == 3


def test_keys_of_notebooks_check_an_answer_and_the_reply_comes_into_view(
    own: Path, notebook: Callable[..., Any]
) -> None:
    page = notebook(own, height=420)
    choices, typed = card(page, 0), card(page, 1)
    in_view = """node => { const { top, bottom } = node.getBoundingClientRect();
      const pane = node.closest('.jp-WindowedPanel-outer, .jp-Notebook').getBoundingClientRect();
      return top >= pane.top - 1 && bottom <= pane.bottom + 1; }"""

    field = typed.get_by_role("textbox")
    field.fill("4")
    field.evaluate("node => node.scrollIntoView({ block: 'end' })")
    field.press("Shift+Enter")  # as one runs a cell: that would empty the field
    assert outcome(typed, "wrong").evaluate(in_view)
    after = field.input_value()
    field.fill("")
    field.press("Enter")
    empty = outcome(typed, "unclear").inner_text()
    choices.get_by_label("both").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    outcome(choices, "wrong")
    walk_to(page, "only `h`")
    page.keyboard.press("Shift+Enter")
    outcome(choices, "right")

    assert after == "4"
    assert "Type an answer first" in empty
    assert kept(own)["03.adds"]["tries"] == 1
    assert page.locator(".adk-q").count() == 3


def test_the_table_of_progress_is_up_to_date_when_its_cell_runs_again(
    own: Path, notebook: Callable[..., Any]
) -> None:
    page = notebook(own)
    question = card(page, 1)
    question.get_by_role("textbox").fill("5")
    question.get_by_role("button", name="Check my prediction").click()
    outcome(question, "right")
    before = card(page, 2).inner_text()

    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.get_by_text("1 right at first").wait_for()

    assert "right at first" not in before
    note = card(page, 1).locator(".adk-q-note").inner_text()
    assert note == "Your first prediction: 5. It was right."


@pytest.mark.parametrize("app", ["lab", "notebooks"])
def test_the_table_of_progress_leads_to_the_lessons_beside_it(
    own: Path, notebook: Callable[..., Any], app: str
) -> None:
    lesson = write_cells(own.parent / "03_the_backward_pass.ipynb", "# This is lesson 03")
    page = notebook(own, app=app)
    table = card(page, 2)

    assert table.locator("a").count() == 1
    if app == "lab":
        table.locator("a").click()
        opened = page
    else:
        with page.context.expect_page() as tab:
            table.locator("a").click()
        opened = tab.value

    opened.locator("h1", has_text="This is lesson 03").wait_for()
    assert opened.url.partition("?")[0].endswith(f"{own.parent.name}/{lesson.name}")
    if opened is not page:
        opened.close()


def test_without_python_a_question_says_what_to_do(own: Path, notebook: Callable[..., Any]) -> None:
    page = notebook(own)
    question = card(page, 1)
    page.evaluate(
        """async () => {
          const panels = [...window.jupyterapp.shell.widgets('main')];
          await panels.find((widget) => widget.sessionContext).sessionContext.shutdown();
        }"""
    )

    question.get_by_role("textbox").fill("5")
    question.get_by_role("button", name="Check my prediction").click()

    question.get_by_text("Python has not answered. If it was restarted").wait_for()
    question.get_by_text("run the cells above").wait_for()


def test_a_lesson_that_was_not_run_shows_its_questions(
    jupyter: Any, own: Path, notebook: Callable[..., Any]
) -> None:
    lesson = nbformat.read(own, as_version=4)
    lesson.cells[3].outputs = [
        nbformat.v4.new_output(
            "display_data", {"text/html": "<p>A question</p>", "text/plain": "Question"}
        )
    ]
    nbformat.write(lesson, own)

    page = notebook(own, run=False)

    page.get_by_text("A question").wait_for()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_and_the_theme_is_the_pages(
    own: Path, request: pytest.FixtureRequest, notebook: Callable[..., Any], axe: str, dark: bool
) -> None:
    if dark:
        request.getfixturevalue("night")
    page = notebook(own)
    question = card(page, 1)
    question.get_by_role("textbox").fill("4")
    question.get_by_role("button", name="Check my prediction").click()
    outcome(question, "wrong")
    page.evaluate(f"() => {{ {axe} }}")
    # JupyterLab's body has no height, and axe then leaves out the contrast.
    page.evaluate("() => { document.body.style.height = '900px'; }")

    for number in range(3):
        report = card(page, number).evaluate("card => axe.run(card)")
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []
    paper = question.evaluate("card => getComputedStyle(card).backgroundColor")
    assert (max(map(int, paper[4:-1].split(", "))) < 60) == dark
