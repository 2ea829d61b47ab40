"""What a picture alone says: that a run failed and why, where a gradient stops, which is None."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

import autodiff_kit as torch
from autodiff_kit.view import build, still_svg
from autodiff_kit.view.scene import Picture
from tests.invariants.conftest import LIBRARIES
from tests.view.captions import recorded
from tests.view.stories import recorded as recorded_to_its_error

LEAVES = """a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(5.0, requires_grad=True)
c = a * b
"""


def drawn(picture: Picture, step: int = -1) -> ElementTree.Element:
    return ElementTree.fromstring(still_svg(picture, step))


def texts(root: ElementTree.Element, kind: str) -> list[str]:
    return ["".join(e.itertext()) for e in root.iter() if kind in (e.get("class") or "").split()]


# -- errors ------------------------------------------------------------------------------------


def test_what_failed_is_drawn_with_an_arrow_from_each_operand() -> None:
    source = "x = torch.ones(4, 3)\nw = torch.ones(2, 5, requires_grad=True)\ny = (x * 2) @ w"
    picture = build(recorded_to_its_error(source))
    root = drawn(picture)

    assert texts(root, "adk-stop-code") == ["(x * 2) @ w"]
    assert texts(root, "adk-stop-error") == ["stopped: RuntimeError"]
    reason = " ".join(texts(root, "adk-stop-reason"))
    assert reason == "The shapes do not fit: x * 2 has shape (4, 3) and w has shape (2, 5)"
    operands = {box.id for box in picture.outline.boxes if picture.titles[box.id] in ("x * 2", "w")}
    assert picture.stop is not None and {*picture.stop.sources} == operands and len(operands) == 2
    assert len(texts(root, "adk-stop-line")) == len(texts(root, "adk-stop-head")) == 2


def test_where_backward_stopped_a_line_leads_to_the_reason() -> None:
    source = "y = torch.ones(2, requires_grad=True)\nh = y.exp()\nh += 1\nh.sum().backward()"
    picture = build(recorded_to_its_error(source))
    root = drawn(picture)

    assert texts(root, "adk-stop-code") == ["h.sum().backward()"]
    assert "was changed after exp had saved it" in " ".join(texts(root, "adk-stop-reason"))
    assert picture.stop is not None
    assert [picture.titles[box] for box in picture.stop.sources] == ["h1 = y.exp()"]
    assert len(texts(root, "adk-stop-line")) == 1 and not texts(root, "adk-stop-head")


def test_nothing_of_an_error_is_drawn_before_it_and_its_room_is_free() -> None:
    picture = build(recorded_to_its_error("x = torch.ones(2)\ny = x * 2\ny + torch.ones(3)"))

    assert "adk-stop-box" not in still_svg(picture, 0).partition("</style>")[2]
    assert picture.stop is not None and picture.layout.stop is not None
    (left, top), (width, height) = picture.layout.stop, picture.stop.size
    assert left >= 0 and left + width <= picture.layout.width
    assert top >= 0 and top + height <= picture.layout.height
    for (x, y), (w, h) in zip(picture.layout.positions, picture.sizes, strict=True):
        assert x + w <= left or left + width <= x or y + h <= top or top + height <= y


def test_an_error_that_is_not_about_the_graph_says_its_message() -> None:
    root = drawn(build(recorded_to_its_error("x = torch.ones(2)\ny = x * 2\nint('three')")))

    assert texts(root, "adk-stop-error") == ["stopped: ValueError"]
    assert " ".join(texts(root, "adk-stop-reason")).startswith("invalid literal for int()")


# -- cuts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("e = c.detach() * a", "gradient stops: detach()"),
        ("e = c.data * a", "gradient stops: .data"),
        ("with torch.no_grad(): d = c * 3\ne = d * a", "gradient stops: no_grad"),
        ("e = (c > 1) * a", "gradient stops: no derivative"),
        ("e = torch.round(a * 0 + 1).long() * a", "gradient stops: integers"),
    ],
)
def test_an_arrow_says_why_no_gradient_comes_back_along_it(
    line: str, reason: str, library: str
) -> None:
    root = drawn(recorded(f"{LEAVES}{line}\ne.backward()", library).picture)

    assert texts(root, "adk-cut") == [reason]


def test_what_leads_to_nothing_that_is_differentiated_is_not_cut_off() -> None:
    source = f"{LEAVES}c.backward()\nwith torch.no_grad(): a -= 0.1 * a.grad\nprint(c > 1)"
    picture = recorded(source, "kit").picture

    assert not picture.cuts


def test_dashed_says_that_an_operation_is_not_recorded_and_nothing_else() -> None:
    sheet = still_svg(recorded(LEAVES, "kit").picture).partition("</style>")[0]
    dashed = re.findall(r"([^{}]*)\{[^}]*stroke-dasharray:(?!none|0\.1)[^}]*\}", sheet)

    assert [selector.split(" ", 1)[1] for selector in dashed] == [".adk-ghost .adk-box"]


# -- gradients that are not there --------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_leaf_that_backward_does_not_reach_has_none(library: str) -> None:
    program = recorded(f"{LEAVES}e = c.detach() * a\ne.backward()", library)
    picture = program.picture
    boxes = {picture.titles[box.id]: box.id for box in picture.outline.boxes}

    assert program.space["b"].grad is None
    *before, last = picture.frames
    assert last["caption"].endswith("a.grad is 10.0. b.grad is None: no gradient reaches it.")
    assert picture.state(-1)["nodes"][boxes["b"]]["grad"] == "None"
    assert "grad" not in picture.state(len(before) - 1)["nodes"][boxes["b"]]
    group = next(e for e in drawn(picture).iter() if e.get("data-node") == boxes["b"])
    assert "b.grad" in texts(group, "adk-grad-label") and texts(group, "adk-grad") == ["None"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "code",
    [
        "torch.autograd.grad(a * 2, a)",  # fills no .grad
        "(a * 2 + b).backward()",
        "b.grad = torch.tensor(1.0)\n(a * 2).backward()",
    ],
)
def test_none_is_said_only_of_what_backward_could_have_filled(code: str, library: str) -> None:
    program = recorded(LEAVES + code, library)

    assert not any("None" in frame["caption"] for frame in program.picture.frames)


def test_a_gradient_from_before_the_recording_is_not_told_to_be_none() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(5.0, requires_grad=True)
    (b * 3).backward()
    with torch.record() as rec:
        (a * b.detach() + 0 * b.detach()).backward()
        (a * b).detach()

    assert not any("None" in frame["caption"] for frame in build(rec).frames)


def test_while_a_pass_goes_on_around_another_nothing_is_told_to_be_missing() -> None:
    source = f"{LEAVES}def more(g):\n    (a.detach().requires_grad_() * 2).backward()\n"
    source += "c.register_hook(more)\nc.backward()"
    program = recorded(source, "kit")

    assert not any("None" in f["caption"] for f in program.picture.frames)


# -- slots, loops ------------------------------------------------------------------------------


def test_a_part_that_has_not_come_yet_is_a_question_mark() -> None:
    picture = recorded("x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()", "kit")
    steps = [texts(drawn(picture.picture, k), "adk-slot-text") for k in range(7)]

    assert steps[0] == ["?", "?"] and ["3.", "?"] in steps and steps[-1] == ["3.", "3."]


def test_parts_of_a_sum_stay_where_a_later_pass_does_not_get_to_it() -> None:
    source = "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()"
    root = drawn(build(recorded_to_its_error(source)))

    assert texts(root, "adk-slot-text") == ["3.", "3."] and "= 6." in texts(root, "adk-grad")


TRAINING = """w = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(0.0, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.01)
for i in range(COUNT):
    opt.zero_grad()
    loss = (w * 2 + b - 3) ** 2
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_an_optimizer_changes_is_named_between_the_rounds(library: str) -> None:
    root = drawn(recorded(TRAINING.replace("COUNT", "2"), library).picture)

    assert texts(root, "adk-link") == ["opt.step() changes w and b"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_folded_rounds_show_that_gradients_have_come_through_them(library: str) -> None:
    picture = recorded(TRAINING.replace("COUNT", "60"), library).picture
    fold = next(box for box in picture.outline.boxes if box.title == "iterations 2 to 59")
    state = picture.state(-1)

    assert state["nodes"][fold.id]["g"] == "1. in each of 58 passes"  # dloss/dloss
    into = [edge for edge in picture.outline.edges if edge.target == fold.id and not edge.code]
    names = {picture.titles[edge.source] for edge in into if state["edges"][edge.id].get("sent")}
    assert names == {"w", "b"}


def test_a_slope_along_one_of_two_ways_holds_the_other_at_its_value() -> None:
    source = "w = torch.tensor(-2.0, requires_grad=True)\ny = w * 3 + w\ny.backward()"
    marks: list[Any] = [
        m for f in recorded(source, "kit").picture.frames for m in f.get("along", {}).values()
    ]
    slopes = {mark["slope"] for mark in marks if mark.get("slope")}

    assert "d((-6.) + w)/dw = 1." in slopes and "d(w * 3)/dw = 3." in slopes
