"""What opens first fits its pane and can be read; what does not fit has an overview."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.page import to_html
from tests.invariants.running import run
from tests.view.programs import LARGE, SMALL

pytestmark = pytest.mark.browser

FIT = "Fit the graph; again: all of it"
CHAIN = "x = torch.tensor(1.0, requires_grad=True)\n" + "x = x * 2.0\n" * 20 + "x.backward()\n"
OUTSIDE = """root => {
    const pane = root.querySelector(".adk-canvas").getBoundingClientRect();
    return [...root.querySelectorAll(".adk-box")].filter(box => {
        const {left, top, right, bottom} = box.getBoundingClientRect();
        return left < pane.left || top < pane.top || right > pane.right || bottom > pane.bottom;
    }).length;
}"""


@pytest.fixture
def in_window(tmp_path: Path, desk: Callable[..., Any], board: Callable[..., Any]) -> Any:
    """Show a recording in one page, again and again in different windows."""
    page = desk(width=1400).page

    def show(recording: Any, width: int) -> Any:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(to_html(build(recording).payload(), tmp_path / "steps.html").as_uri())
        return board(page)

    return show


def scale(stepper: Any) -> float:
    return float(stepper.root.locator(".adk-zoom-text").inner_text().removesuffix(" %"))


def outside(stepper: Any) -> int:
    """Return how many boxes are not wholly in sight."""
    return int(stepper.root.evaluate(OUTSIDE))


def test_large_recordings_open_whole_and_readable_and_fit_shows_all_of_them(in_window: Any) -> None:
    for name, recorded in LARGE.items():
        recording = recorded()
        for width in (1400, 900):
            stepper = in_window(recording, width)
            assert (name, width, outside(stepper)) == (name, width, 0)
            assert (name, width, scale(stepper) >= 70) == (name, width, True)
            assert stepper.root.locator(".adk-overview").is_hidden()
        stepper = in_window(recording, 400)
        assert (name, scale(stepper) >= 70) == (name, True)
        stepper.press(FIT)
        assert (name, scale(stepper) >= 70) == (name, True)
        stepper.press(FIT)
        assert (name, outside(stepper)) == (name, 0)


OVERLAPPING = """root => {
    const isSeen = one => getComputedStyle(one).visibility === "visible";
    const rects = (name) => [...root.querySelectorAll(name)]
        .filter(one => one.getAttribute("width") > 0 && isSeen(one))
        .map(one => one.getBoundingClientRect());
    const boxes = rects(".adk-box"), marks = rects(".adk-sent, .adk-slope");
    const over = (a, b) => a !== b && a.left + 1 < b.right && b.left + 1 < a.right
        && a.top + 1 < b.bottom && b.top + 1 < a.bottom;
    return marks.filter(mark => [...boxes, ...marks].some(other => over(mark, other))).length;
}"""


def test_small_programs_open_whole_and_readable_and_their_marks_keep_apart(in_window: Any) -> None:
    for name, source in SMALL.items():
        recording = run("", ak, source.strip()).recording
        for width in (1400, 900):
            stepper = in_window(recording, width)
            assert (name, width, outside(stepper)) == (name, width, 0)
            assert (name, width, scale(stepper) >= 70) == (name, width, True)
            assert stepper.root.locator(".adk-overview").is_hidden()
        marks = 0
        for step, frame in enumerate(build(recording).frames):
            if frame["kind"] == "contribution":
                stepper.go(step)
                marks += 1
                assert (name, step, stepper.root.evaluate(OVERLAPPING)) == (name, step, 0)
        assert marks


def test_the_overview_shows_what_is_in_sight_and_moves_it_by_mouse_and_key(in_window: Any) -> None:
    stepper = in_window(run("", ak, CHAIN).recording, 900)
    strip = stepper.root.get_by_role("slider", name="Part of the graph in sight")
    first, last = stepper.root.locator(".adk-node").first, stepper.root.locator(".adk-node").last
    pane = stepper.root.locator(".adk-graph").bounding_box()

    def is_in_sight(node: Any) -> bool:
        place = node.bounding_box()
        return bool(pane["y"] <= place["y"] <= pane["y"] + pane["height"] - place["height"])

    assert is_in_sight(first)
    assert not is_in_sight(last)
    strip.press("End")
    assert is_in_sight(last)
    assert strip.get_attribute("aria-valuetext").endswith("to 100 % of the graph")
    place = strip.bounding_box()
    strip.click(position={"x": 30, "y": 20})
    assert is_in_sight(first)
    strip.page.mouse.move(place["x"] + 30, place["y"] + 20)
    strip.page.mouse.down()
    strip.page.mouse.move(place["x"] + 30, place["y"] + place["height"] - 20, steps=4)
    strip.page.mouse.up()
    assert is_in_sight(last)
    stepper.press(FIT)
    assert scale(stepper) == 70
    stepper.press(FIT)
    assert strip.is_hidden()
    assert outside(stepper) == 0
    assert scale(stepper) < 70
    stepper.go(1)  # a step is to be read
    assert scale(stepper) == 70
