"""The last step of a run that an error has ended: numbered places in code, graph and words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.page import to_html
from tests.view.stories import STORIES, X, recorded

pytestmark = pytest.mark.browser


@pytest.fixture
def stopped(tmp_path: Path, desk: Callable[..., Any], board: Any) -> Callable[..., Any]:
    """Open the page of a program that stops: ``stopped("changed", width=600)``."""

    def open_it(name: str, **how: Any) -> Any:
        page = desk(**how).page
        page.goto(to_html(build(recorded(STORIES[name][0])), tmp_path / "steps.html").as_uri())
        return board(page)

    return open_it


@pytest.mark.parametrize("name", ["freed", "carried", "changed twice", "no_grad"])
def test_each_place_has_its_number_in_the_code_in_the_words_and_in_the_graph(
    stopped: Any, name: str
) -> None:
    stepper, lines = stopped(name), STORIES[name][1]
    numbers = stepper.root.locator(".adk-line-number .adk-place-number")
    stepper.press("First step")
    assert not numbers.first.is_visible()

    stepper.press("Last step")

    rows = stepper.root.locator(".adk-line:has(.adk-place-number)")
    rows_shown = rows.evaluate_all(
        "rows => rows.map(r => [...r.firstChild.childNodes].map(n => n.textContent))"
    )
    by_line = {int(row[-1]): [int(n) for n in row[:-1]] for row in rows_shown}
    assert by_line == {
        line: [n for n, at in enumerate(lines, 1) if at == line] for line in sorted(set(lines))
    }
    places = stepper.root.locator(".adk-places li")
    assert places.count() == len(lines)
    for n, line in enumerate(lines):
        assert f"line {line}" in places.nth(n).inner_text()
    marks = stepper.root.locator(".adk-fault-mark text").all_text_contents()
    in_graph = build(recorded(STORIES[name][0])).frames[-1]["explanation"]["places"]
    at_boxes = [n for n, place in enumerate(in_graph, 1) if place["node"] is not None]
    assert sorted(marks) == sorted(str(n) for n in {*at_boxes, len(in_graph)})
    stop = stepper.root.locator(".adk-stop-box")
    inside, pane = stop.bounding_box(), stepper.root.locator(".adk-graph").bounding_box()
    assert stop.is_visible()
    assert pane["x"] <= inside["x"] and pane["y"] <= inside["y"]
    assert inside["x"] + inside["width"] <= pane["x"] + pane["width"]
    assert inside["y"] + inside["height"] <= pane["y"] + pane["height"]
    assert "How to fix it" in stepper.root.locator(".adk-explanation").inner_text()


def test_a_picked_node_is_inspected_and_the_explanation_comes_back(stopped: Any) -> None:
    stepper = stopped("changed")
    explanation = stepper.root.locator(".adk-explanation")

    stepper.press("Last step")
    stepper.nodes.first.click()
    assert not explanation.is_visible()
    assert stepper.root.locator(".adk-inspector-title").inner_text() == "x"

    stepper.root.page.keyboard.press("Escape")
    assert explanation.is_visible()
    stepper.press("Step back")
    assert not explanation.is_visible()


@pytest.mark.parametrize("width", [1400, 400])
def test_a_page_opens_where_the_error_is_explained_and_all_of_it_is_in_sight(
    stopped: Any, width: int
) -> None:
    stepper = stopped("carried", width=width)
    explanation = stepper.root.locator(".adk-explanation")

    assert explanation.is_visible()
    explanation.evaluate("e => new Promise(done => setTimeout(done, 200))")
    assert explanation.evaluate("e => e.scrollHeight <= e.clientHeight")
    assert "goes back" in explanation.inner_text()
    stepper.press("Step back")
    assert not explanation.is_visible()


def test_f_is_offered_where_there_is_something_to_fold(stopped: Any) -> None:
    stepper = stopped("carried")
    hint = stepper.root.locator(".adk-hint")

    stepper.root.locator(".adk-node", has_text="tanh").first.click()
    assert "f folds" in hint.inner_text()
    stepper.root.locator(".adk-node", has_text="leaf").first.click()
    assert "f folds" not in hint.inner_text()


def test_a_place_is_shown_by_keyboard(stopped: Any) -> None:
    stepper = stopped("changed twice")
    stepper.press("Last step")

    stepper.root.get_by_role("button", name="Place 2, line 4: show it").press("Enter")

    assert stepper.lit == "h[0]"


@pytest.mark.parametrize("width", [1400, 900, 400])
def test_the_step_that_stops_makes_nothing_jump(stopped: Any, width: int) -> None:
    stepper = stopped("changed", width=width)
    places = stepper.places()

    assert all(place == places[0] for place in places)
    assert stepper.root.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_why_breaks_no_name_where_the_page_is_narrow(
    tmp_path: Path, desk: Callable[..., Any], board: Any
) -> None:
    rec = recorded(X + "regularization = x * x\nloss = x * 3 + regularization\nloss.backward()")
    page = desk(width=900).page
    page.goto(to_html(build(rec), tmp_path / "why.html").as_uri())
    stepper = board(page)
    stepper.press("Last step")

    stepper.nodes.first.click()

    name = stepper.root.locator(".adk-uses th", has_text="regularization").first
    assert name.evaluate("e => e.offsetHeight") < 40  # one line of 20 px


@pytest.mark.parametrize("name", ["residual in place", "state of a cell", "several leaves"])
def test_what_to_write_instead_is_in_sight_beside_long_code(stopped: Any, name: str) -> None:
    stepper = stopped(name, width=1200, height=900)
    stepper.root.page.evaluate("() => document.body.classList.remove('adk-page')")  # a notebook
    stepper.root.evaluate("e => new Promise(done => setTimeout(done, 200))")

    fix = stepper.root.locator(".adk-part-fix").bounding_box()
    pane = stepper.root.locator(".adk-explanation").bounding_box()
    assert fix["y"] + fix["height"] <= pane["y"] + pane["height"]
    code = stepper.root.locator(".adk-source-body")  # all of it, or the lines around the lit one
    assert code.evaluate("e => e.clientHeight >= Math.min(140, e.scrollHeight)")
