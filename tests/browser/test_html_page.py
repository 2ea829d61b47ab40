"""The HTML page from ``file://``: it steps with no kernel, no install and no network."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.page import to_html
from tests.browser.labs import CORNER, box, path_of, top
from tests.record.cells import run
from tests.view import recordings
from tests.view.programs import residual_net
from tests.view.stories import STORIES, recorded

pytestmark = pytest.mark.browser

PAYLOAD = json.loads((Path(__file__).parents[1] / "js" / "payload.json").read_text("utf-8"))


@pytest.fixture
def opened(tmp_path: Path, desk: Callable[..., Any]) -> Callable[..., Any]:
    """Write a page and open it: ``opened(width=600, dark=True)``."""

    def open_it(payload: dict[str, Any] = PAYLOAD, **how: Any) -> Any:
        page = desk(**how).page
        page.goto(to_html(payload, tmp_path / "steps.html").as_uri())
        return page

    return open_it


def test_the_page_steps_to_the_end_and_back_by_mouse(opened: Any, board: Any) -> None:
    stepper = board(opened())

    for k in range(1, len(PAYLOAD["frames"])):
        stepper.press("Step forward")
        assert stepper.counter.startswith(f"{k + 1} of {len(PAYLOAD['frames'])}")
        assert stepper.caption == PAYLOAD["frames"][k]["caption"]
    for k in reversed(range(len(PAYLOAD["frames"]) - 1)):
        stepper.press("Step back")
        assert stepper.caption == PAYLOAD["frames"][k]["caption"]


def test_a_box_that_is_not_filled_is_chosen_by_a_click_inside_of_it(
    opened: Any, board: Any
) -> None:
    recording = run("w = torch.tensor(3., requires_grad=True)\nt = torch.tensor(2.)\ny = w * t\n")
    payload = build(recording).payload()
    stepper = board(opened(payload))
    stepper.press("Last step")

    for node, source in ((1, "torch.tensor(2.)"), (0, "torch.tensor(3., requires_grad=True)")):
        place = stepper.root.locator(f'[data-node="{node}"] .adk-box').bounding_box()
        stepper.root.page.mouse.click(place["x"] + 6, place["y"] + place["height"] / 2)
        assert stepper.chosen == source


def test_of_a_leaf_that_no_gradient_reaches_the_inspector_says_so(opened: Any, board: Any) -> None:
    rec = run(
        "a = torch.tensor(2., requires_grad=True)\n"
        "b = torch.tensor(5., requires_grad=True)\n"
        "c = a * b\n"
        "(c.detach() * a).backward()"
    )
    page = opened(build(rec).payload())
    board(page).press("Last step")
    page.locator('[data-node="1"]').click()

    gradient = page.locator(".adk-fact", has_text="Gradient")
    assert gradient.inner_text().split("\n")[-1] == "None: no gradient reaches it"
    page.locator('[data-node="0"]').click()
    assert gradient.inner_text().split("\n")[-1] == "10."


def test_first_and_last_go_to_the_ends(opened: Any, board: Any) -> None:
    stepper = board(opened())

    stepper.press("Last step")
    assert stepper.step == stepper.last
    stepper.press("First step")
    assert stepper.step == 0


def test_stepping_beyond_the_ends_stays_there_and_keeps_the_focus(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)

    stepper.press("Step back")
    assert stepper.step == 0
    stepper.press("Last step")
    stepper.root.get_by_role("button", name="Step forward").press("Enter")

    assert stepper.step == stepper.last
    assert page.evaluate("document.activeElement.ariaLabel") == "Step forward"


def test_nodes_appear_at_their_step_and_go_again(opened: Any, board: Any) -> None:
    stepper = board(opened())

    for step in (0, 1, 2, 4, 3, 0):
        stepper.go(step)
        assert stepper.nodes.count() == min(step + 1, 5)


def test_the_lit_source_is_that_of_the_step(opened: Any, board: Any) -> None:
    stepper = board(opened())

    stepper.go(2)
    assert stepper.lit == "h * w"
    stepper.go(4)
    assert stepper.lit == "h + x"
    stepper.go(5)
    assert stepper.lit == "z.backward()"


def test_gradients_of_a_leaf_add_up_where_everyone_can_see_it(opened: Any, board: Any) -> None:
    stepper = board(opened())

    stepper.go(7)
    assert stepper.slots("x") == ["1.", "?"]
    assert stepper.gradients()["x"] == "= ?"  # one part is missing
    stepper.go(13)
    assert stepper.slots("x") == ["1.", "9."]
    assert stepper.gradients()["x"] == "= 10."
    stepper.go(17)
    assert stepper.gradients()["x"] == "= 10."
    stepper.go(6)
    assert stepper.slots("x") == ["?", "?"]
    assert "x" not in stepper.gradients()


def test_a_click_on_a_node_pins_it_and_marks_its_source(opened: Any, board: Any) -> None:
    stepper = board(opened())
    stepper.go(14)

    stepper.nodes.nth(1).click()

    assert stepper.chosen == "tensor(3.0, requires_grad=True)"
    assert stepper.root.locator(".adk-inspector-title").inner_text() == "w"
    assert stepper.nodes.nth(1).get_attribute("aria-pressed") == "true"


def test_a_pinned_node_stays_in_the_inspector_until_it_is_unpinned(opened: Any, board: Any) -> None:
    stepper = board(opened())
    stepper.go(13)
    stepper.nodes.nth(1).click()
    title = stepper.root.locator(".adk-inspector-title")

    stepper.press("Step forward")
    assert title.inner_text() == "w"
    stepper.press("Unpin: follow the steps again")

    assert title.inner_text() == "h1 = x * w"
    assert stepper.chosen == ""


def test_clicks_on_the_source_go_round_the_nodes_of_a_loop(opened: Any, board: Any) -> None:
    stepper = board(opened())
    stepper.go(4)
    product = stepper.root.locator(".adk-code span", has_text=re.compile(r"^h \* w$"))
    title = stepper.root.locator(".adk-inspector-title")

    pinned = []
    for _ in range(3):
        product.click()
        pinned.append(title.inner_text())

    assert pinned == ["h1 = x * w", "h2 = h1 * w", "h1 = x * w"]


def test_arrow_keys_walk_over_the_nodes_and_enter_pins_one(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)
    stepper.go(4)

    stepper.nodes.first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Enter"):  # x, w, h1, h2
        page.keyboard.press(key)

    assert stepper.root.locator(".adk-inspector-title").inner_text() == "h2 = h1 * w"
    page.keyboard.press("Escape")
    assert stepper.chosen == ""


def test_the_graph_is_one_stop_for_tab(opened: Any, board: Any) -> None:
    stepper = board(opened())
    for step in (0, 4, 14, 2):
        stepper.go(step)
        assert stepper.nodes.and_(stepper.root.locator('[tabindex="0"]')).count() == 1


def test_focus_moves_on_when_its_node_goes(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)
    stepper.go(4)
    stepper.nodes.last.focus()

    page.keyboard.press("p")

    assert stepper.step == 3
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("h2")


def test_n_and_p_step_from_wherever_the_focus_is(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)

    for place in (
        stepper.nodes.first,
        stepper.slider,
        stepper.root.get_by_role("region", name="Source"),
    ):
        place.focus()
        page.keyboard.press("n")
        assert stepper.step == 1
        page.keyboard.press("p")
        assert stepper.step == 0


def test_the_slider_steps_with_arrows_home_and_end(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)
    stepper.slider.focus()

    end = stepper.last
    for key, step in {"ArrowRight": 1, "End": end, "ArrowLeft": end - 1, "Home": 0}.items():
        page.keyboard.press(key)
        assert stepper.step == step
    assert stepper.slider.get_attribute("aria-valuetext") == f"1 of {stepper.last + 1} · forward"


def test_play_goes_to_the_end_stops_and_begins_again(opened: Any, board: Any) -> None:
    page = opened({**PAYLOAD, "frames": PAYLOAD["frames"][:4]})
    stepper = board(page)
    stepper.root.get_by_role("combobox", name="Speed").select_option("4")

    stepper.press("Play")
    stepper.root.locator(".adk-counter", has_text="4 of 4").wait_for()
    assert stepper.root.get_by_role("button", name="Play").count() == 1
    stepper.press("Play")

    assert stepper.step == 0
    stepper.press("Pause")


def test_any_step_by_hand_pauses(opened: Any, board: Any) -> None:
    stepper = board(opened())

    stepper.press("Play")
    stepper.press("Step forward")

    assert stepper.root.get_by_role("button", name="Pause").count() == 0


def test_nothing_moves_for_those_who_asked_for_less_motion(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)

    moving = []
    for step in range(stepper.last):
        stepper.go(step)
        moving.append(page.evaluate("document.getAnimations().length"))

    assert set(moving) == {0}


@pytest.mark.parametrize("width", [1400, 900, 600, 320])
def test_no_step_makes_anything_jump(opened: Any, board: Any, width: int) -> None:
    stepper = board(opened(width=width))
    places = stepper.places()

    assert all(place == places[0] for place in places)


@pytest.mark.parametrize("width", [1400, 900, 600, 320])
def test_nothing_sticks_out_at_the_side(opened: Any, board: Any, width: int) -> None:
    page = opened(width=width)
    board(page)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_zooming_and_fitting(opened: Any, board: Any) -> None:
    stepper = board(opened())

    def scale() -> float:
        return float(stepper.root.locator(".adk-zoom-text").inner_text().removesuffix(" %"))

    fits = scale()
    assert 70 <= fits <= 100

    stepper.press("Zoom in")
    assert scale() == pytest.approx(1.25 * fits, abs=1)
    stepper.press("Zoom out")
    stepper.press("Zoom out")
    assert scale() == pytest.approx(0.8 * fits, abs=1)
    stepper.press("Fit the graph; again: all of it")

    assert scale() == fits


def test_a_large_graph_is_dragged_and_a_drag_pins_nothing(opened: Any, board: Any) -> None:
    page = opened()
    stepper = board(page)
    stepper.go(14)
    for _ in range(4):
        stepper.press("Zoom in")
    before = stepper.nodes.nth(2).bounding_box()

    x, y = before["x"] + before["width"] / 2, before["y"] + 20
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 40, steps=5)
    page.mouse.up()

    after = stepper.nodes.nth(2).bounding_box()
    assert (round(after["x"] - before["x"]), round(after["y"] - before["y"])) == (30, -40)
    assert stepper.chosen == ""


def test_the_wheel_scrolls_the_page_and_zooms_only_with_ctrl(opened: Any, board: Any) -> None:
    page = opened(height=400)
    stepper = board(page)
    scale = stepper.root.locator(".adk-zoom-text")
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(800, 200)

    page.mouse.wheel(0, 100)
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") > 0
    assert scale.inner_text() == "100 %"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")

    scale.and_(page.get_by_text(re.compile("^1[1-9]. %$"))).wait_for()


def test_the_active_node_of_a_long_graph_is_always_in_sight(opened: Any, board: Any) -> None:
    stepper = board(opened(chain(60), height=800))

    for step in (*range(0, 60, 7), 59, 30, 0):
        stepper.go(step)
        box = stepper.root.locator(".adk-active .adk-box").bounding_box()
        pane = stepper.root.locator(".adk-canvas").bounding_box()
        assert pane["y"] <= box["y"]
        assert box["y"] + box["height"] <= pane["y"] + pane["height"]


def test_the_view_rests_while_the_active_node_is_in_sight(opened: Any, board: Any) -> None:
    stepper = board(opened(chain(60)))

    places = set()
    for step in range(4):
        stepper.go(step)
        places.add(stepper.root.locator(".adk-layer").evaluate("layer => layer.style.transform"))

    assert len(places) == 1


def test_the_lit_line_of_a_long_source_is_always_in_sight(opened: Any, board: Any) -> None:
    stepper = board(opened(chain(60)))

    for step in (59, 30, 0, 45):
        stepper.go(step)
        line = stepper.root.locator(".adk-lit").first.bounding_box()
        pane = stepper.root.locator(".adk-source-body").bounding_box()
        assert pane["y"] <= line["y"]
        assert line["y"] + line["height"] <= pane["y"] + pane["height"]


@pytest.mark.parametrize("size", [(1400, 900), (1100, 700), (560, 700)])
def test_the_code_is_seen_whole_where_there_is_room_and_the_buttons_without_scrolling(
    opened: Any, board: Any, size: tuple[int, int]
) -> None:
    payload = chain(3)
    payload["sources"][0]["lines"][1] += "  # as long as a line of a lesson is"
    stepper = board(opened(payload, width=size[0], height=size[1]))

    pane = stepper.root.locator(".adk-source-body")
    stepper.root.page.wait_for_function(
        """() => {
          const { scrollHeight, clientHeight, scrollWidth, clientWidth } =
            document.querySelector('.adk-source-body');
          return scrollHeight <= clientHeight && scrollWidth <= clientWidth;
        }"""
    )
    assert pane.bounding_box()["height"] < 120
    buttons = stepper.root.locator(".adk-buttons").bounding_box()
    assert buttons["y"] + buttons["height"] < size[1]


def test_the_lit_part_of_a_long_line_is_always_in_sight(opened: Any, board: Any) -> None:
    payload = chain(3)
    payload["sources"][0]["lines"][1] = "x = " + "1 + " * 100 + "h1"
    payload["frames"][1]["where"] = [0, 2, 404, 2, 406]
    stepper = board(opened(payload))

    for step in (1, 0, 1, 2):
        stepper.go(step)
        lit = stepper.root.locator(".adk-lit").first.bounding_box()
        pane = stepper.root.locator(".adk-source-body").bounding_box()
        assert pane["x"] <= lit["x"]
        assert lit["x"] + lit["width"] <= pane["x"] + pane["width"]


def test_without_scripts_the_picture_and_the_words_are_there(tmp_path: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(to_html(PAYLOAD, tmp_path / "steps.html").as_uri())

    assert page.locator(".adk-still .adk-node").count() == 5
    assert page.locator(".adk-still li").count() == len(PAYLOAD["frames"])
    context.close()


def test_a_damaged_payload_says_so_in_its_place(tmp_path: Path, desk: Any) -> None:
    file = to_html(PAYLOAD, tmp_path / "steps.html")
    text = file.read_text("utf-8")
    data = re.search(r'id="adk-payload">([^<]+)', text)
    assert data
    file.write_text(text.replace(data[1], data[1][: len(data[1]) // 8 * 4]), "utf-8")
    page = desk().page

    page.goto(file.as_uri())

    page.get_by_role("status").wait_for()
    assert "cut short or damaged" in page.get_by_role("status").inner_text()


def test_a_drawing_that_is_no_xml_says_so_in_its_place(tmp_path: Path, browser: Any) -> None:
    page = browser.new_page()
    page.goto(to_html({**PAYLOAD, "svg": "<g><rect></g>"}, tmp_path / "steps.html").as_uri())

    page.get_by_role("status").wait_for()
    assert "cannot be drawn" in page.get_by_role("status").inner_text()
    page.close()


def test_the_policy_is_in_force(tmp_path: Path, browser: Any) -> None:
    page = browser.new_page()
    page.goto(to_html(PAYLOAD, tmp_path / "steps.html").as_uri())

    refused = page.evaluate(
        """() => new Promise((done) => {
          const heard = (event) => done(event.effectiveDirective);
          document.addEventListener('securitypolicyviolation', heard);
          setTimeout(() => done('nothing'), 2000);
          new Image().src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
        })"""
    )

    assert refused == "img-src"
    page.close()


def chain(length: int) -> dict[str, Any]:
    """A payload of one node under the other, each with a line of source."""
    ids = range(length)
    boxes = "".join(
        f'<g class="adk-node adk-op" data-node="{i}" transform="translate(20,{i * 90})">'
        '<rect class="adk-box" width="140" height="60"/>'
        f'<text class="adk-name" x="10" y="20">h{i}</text></g>'
        for i in ids
    )
    places = [[0, i + 1, 0, i + 1, 9] for i in ids]
    return {
        "version": 1,
        "title": "A chain",
        "width": 180,
        "height": 90 * length,
        "svg": f"<g>{boxes}</g>",
        "sources": [{"name": "cell 1", "lines": [f"h{i} = step()" for i in ids]}],
        "nodes": {
            str(i): {
                "title": f"h{i}",
                "aria": f"h{i}",
                "where": places[i],
                "facts": [],
                "since": i,
                "inputs": [str(i - 1)] if i else [],
                "consumers": [str(i + 1)] if i + 1 < length else [],
            }
            for i in ids
        },
        "order": [str(i) for i in ids],
        "parts": [],
        "frames": [
            {
                "phase": "forward",
                "kind": "op",
                "node": str(i),
                "edge": None,
                "where": places[i],
                "caption": f"Step {i}.",
                "set": {},
            }
            for i in ids
        ],
        "turn": None,
    }


def test_why_tells_only_what_this_backward_pass_has_brought(
    desk: Callable[..., Any], board: Any, tmp_path: Path
) -> None:
    payload = build(recordings.square(passes=2)).payload()
    page = desk().page
    page.goto(to_html(payload, tmp_path / "twice.html").as_uri())
    stepper = board(page)
    inspector = stepper.root.locator(".adk-inspector")
    second = [k for k, frame in enumerate(payload["frames"]) if frame["kind"] == "backward"][1]

    stepper.go(second)
    stepper.nodes.first.click()  # x, whose .grad is from the first pass
    assert "Backward starts here" not in inspector.inner_text()

    stepper.go(stepper.last)  # x.grad is 12., of which this pass has brought 3. + 3.
    rows = [row.split() for row in inspector.locator(".adk-uses tr").all_inner_texts()]
    assert [row[-1] for row in rows] == ["6.", "3.", "3.", "12."]
    assert rows[0][0] == "before" and rows[-1][0] == "sum"


def unseen(page: Any) -> Any:
    """Open the page as in a browser that has never shown one."""
    page.evaluate("localStorage.clear()")
    page.reload()
    return page


def test_help_opens_by_key_and_button_and_the_hint_goes_for_good(opened: Any, board: Any) -> None:
    page = unseen(opened(width=400))
    stepper = board(page)
    panel = page.get_by_role("dialog", name="Help")
    hint = page.locator(".adk-welcome")
    assert "n and p" in hint.inner_text()

    page.keyboard.press("?")
    assert panel.is_visible()
    assert hint.count() == 0
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    stepper.press("Help: keys and marks")
    assert panel.is_visible()
    panel.get_by_role("button", name="Close").click()
    assert not panel.is_visible()

    page.reload()
    board(page)
    assert hint.count() == 0


def test_the_hint_goes_when_somebody_has_stepped(opened: Any, board: Any) -> None:
    page = unseen(opened())
    stepper = board(page)

    for _ in range(3):
        assert page.locator(".adk-welcome").count() == 1
        stepper.press("Step forward")

    assert page.locator(".adk-welcome").count() == 0


def test_a_page_opens_and_folds_parts_with_the_moment_and_the_place_kept(
    desk: Callable[..., Any], board: Any, tmp_path: Path
) -> None:
    page = desk(width=1400, height=900).page
    page.goto(to_html(build(residual_net()[1]), tmp_path / "net.html").as_uri())
    stepper = board(page)
    stepper.go(stepper.last)
    moment = stepper.caption
    stack = box(stepper, "net.1 … net.12")
    stack.scroll_into_view_if_needed()
    before = top(stepper, "net.1 … net.12")

    stack.dblclick(position=CORNER)
    box(stepper, "net.7").wait_for()
    assert stepper.caption == moment
    assert top(stepper, "net.1") == pytest.approx(before, abs=1.5)

    box(stepper, "net.2").click(position=CORNER)
    page.keyboard.press("Enter")
    box(stepper, "net.2.fc1").wait_for()
    box(stepper, "net.2.fc1").click(position=CORNER)
    assert path_of(stepper)[:4] == ["whole run", "net", "net.1 … net.12", "net.2"]
    page.keyboard.press("f")  # what is around it, as far as the page has drawn that
    box(stepper, "net.7").wait_for()
    assert stepper.root.locator(".adk-source-body").inner_text().count("backward") == 1
    stepper.press("Fold all boxes again")

    box(stepper, "net.1 … net.12").wait_for()
    assert stepper.caption == moment
    box(stepper, "net.1 … net.12").click(position=CORNER)
    stepper.press("Fold net again")  # which was open at first
    box(stepper, "net").wait_for()
    assert box(stepper, "net.1 … net.12").count() == 0
    box(stepper, "net").dblclick(position=CORNER)
    box(stepper, "net.1 … net.12").wait_for()


def test_slides_fill_the_window_in_large_type_and_step_by_a_remote_control(
    desk: Callable[..., Any], board: Any, tmp_path: Path
) -> None:
    page = desk(width=1400, height=900).page
    page.goto(to_html(PAYLOAD, tmp_path / "slide.html", slides=True).as_uri())
    stepper = board(page)

    for key, step in (
        ("PageDown", 1),
        ("ArrowRight", 2),
        (" ", 3),
        ("PageUp", 2),
        ("ArrowLeft", 1),
    ):
        page.keyboard.press(key)
        assert stepper.step == step
    stepper.nodes.first.click()  # where arrow keys go from box to box on other pages
    page.keyboard.press("ArrowRight")
    assert stepper.step == 2
    page.keyboard.press("End")
    assert stepper.step == stepper.last
    page.keyboard.press("Home")

    root = stepper.root.bounding_box()
    assert (round(root["width"]), round(root["height"])) == (1400, 900)
    sizes = [stepper.root.locator(f".adk-{name}").first for name in ("caption-text", "lit")]
    assert [size.bounding_box()["height"] > 27 for size in sizes] == [True, True]
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    places = stepper.places()
    assert all(place == places[0] for place in places)


def test_slides_of_an_error_end_with_what_to_write(
    desk: Callable[..., Any], board: Any, tmp_path: Path
) -> None:
    page = desk(width=1400, height=900).page
    picture = build(recorded(STORIES["freed"][0]))
    page.goto(to_html(picture, tmp_path / "slide.html", slides=True).as_uri())
    stepper = board(page)

    assert not stepper.root.locator(".adk-inspector").is_visible()
    page.keyboard.press("End")

    assert stepper.root.locator(".adk-part-fix").is_visible()
    window = stepper.root.locator(".adk-inspector").bounding_box()
    assert window["y"] + window["height"] <= 900


def test_slides_on_a_phone_are_a_page(desk: Callable[..., Any], board: Any, tmp_path: Path) -> None:
    page = desk(width=400, height=800).page
    page.goto(to_html(PAYLOAD, tmp_path / "slide.html", slides=True).as_uri())
    stepper = board(page)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert stepper.root.locator(".adk-inspector").is_visible()


def test_the_border_between_code_and_graph_is_dragged_and_moved_by_key(
    opened: Any, board: Any
) -> None:
    page = opened(width=1400, height=900)
    stepper = board(page)
    border = page.get_by_role("separator", name="Border between code and graph")
    source = stepper.root.locator(".adk-source")
    before, root = source.bounding_box()["width"], stepper.root.bounding_box()["width"]

    at = border.bounding_box()
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + 60)
    page.mouse.down()
    page.mouse.move(at["x"] + at["width"] / 2 + 120, at["y"] + 80, steps=4)
    page.mouse.up()
    assert source.bounding_box()["width"] == pytest.approx(before + 120, abs=3)

    page.keyboard.press("ArrowLeft")
    assert source.bounding_box()["width"] == pytest.approx(before + 96, abs=4)
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    assert stepper.root.locator(".adk-canvas").bounding_box()["width"] >= 180
    for _ in range(60):
        page.keyboard.press("ArrowLeft")
    assert source.bounding_box()["width"] >= 285
    assert stepper.step == 0  # the keys were the border's
    border.dblclick(force=True)
    assert source.bounding_box()["width"] == pytest.approx(before, abs=1)
    assert stepper.root.bounding_box()["width"] == root


def test_on_a_phone_there_is_no_border_to_drag(opened: Any, board: Any) -> None:
    page = opened(width=400)
    board(page)

    assert not page.locator(".adk-divider").is_visible()


def test_code_that_python_keeps_no_text_of_is_drawn_all_the_same(
    desk: Any, board: Any, tmp_path: Path
) -> None:
    target = tmp_path / "prompt.html"
    program = f"""
import autodiff_kit as torch
with torch.record() as rec:
    x = torch.tensor(3., requires_grad=True)
    (x * x).backward()
rec.to_html({str(target)!r})
print(rec.to_text())
"""
    text = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    page = desk(width=900).page

    page.goto(target.as_uri())
    stepper = board(page)

    words = stepper.root.locator(".adk-source-body").inner_text()
    assert "No code to show: Python keeps no text" in words
    stepper.press("Last step")
    assert stepper.nodes.count() == 2
    assert "6." in stepper.caption
    assert b"could not see" not in text
