"""Small graphs that do not fit with all that could stand in them: closer lines, the same words."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build, still_svg
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.fitting import HEIGHT, WIDTH
from autodiff_kit.view.scene import Picture
from autodiff_kit.view.svg_text import text_width
from tests.invariants.running import run
from tests.view.programs import SMALL


def drawn(source: str) -> Picture:
    return build(run("", ak, f"torch.manual_seed(0)\n{source.strip()}").recording)


every_program = pytest.mark.parametrize("name", SMALL)


@every_program
def test_programs_of_about_eight_rows_open_whole_and_fit(name: str) -> None:
    picture = drawn(SMALL[name])

    assert picture.layout.width <= WIDTH
    assert picture.layout.height <= HEIGHT
    assert not any(box.kind == "fold" for box in picture.outline.boxes)


@every_program
def test_a_dense_drawing_says_what_a_roomy_one_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = drawn(SMALL[name])
    monkeypatch.setattr("autodiff_kit.view.fitting.HEIGHT", 1e6)
    roomy = drawn(SMALL[name])

    assert dense.outline.detail == Detail.DENSE < roomy.outline.detail
    for one, other in zip(dense.texts, roomy.texts, strict=True):
        for what in ("name", "symbol", "label"):
            assert one[what] == other[what]
        # Where there is a picture, the numbers are in it.
        assert one["lines"] == other["lines"] or other["cells"]
        assert one["grads"] == other["grads"] or other["maps"]
    assert {k: (c.slopes, c.arrived) for k, c in dense.chips.items()} == {
        k: (c.slopes, c.arrived) for k, c in roomy.chips.items()
    }


def rects(picture: Picture, step: int) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    """Return where boxes and marks stand at a step: left, top, right, bottom."""
    boxes: list[tuple[float, ...]] = []
    marks: list[tuple[float, ...]] = []
    for group in ElementTree.fromstring(still_svg(picture, step)).iter():
        names = (group.get("class") or "").split()
        if not {"adk-node", "adk-chip"} & {*names}:
            continue
        x, y = map(float, re.findall(r"-?[\d.]+", group.get("transform") or ""))
        for rect in group.iter("{http://www.w3.org/2000/svg}rect"):
            if rect.get("class") in ("adk-box", "adk-sent", "adk-slope"):
                left, top, width, height = (
                    float(rect.get(name) or 0) for name in ("x", "y", "width", "height")
                )
                into = boxes if rect.get("class") == "adk-box" else marks
                into.append((x + left, y + top, x + left + width, y + top + height))
    return boxes, marks


@every_program
def test_no_mark_lies_over_a_box_or_another_mark_at_any_step(name: str) -> None:
    picture = drawn(SMALL[name])

    for step in range(len(picture.frames)):
        boxes, marks = rects(picture, step)
        for number, mark in enumerate(marks):
            for other in (*boxes, *marks[number + 1 :]):
                apart = (
                    mark[2] <= other[0] + 0.2
                    or other[2] <= mark[0] + 0.2
                    or mark[3] <= other[1] + 0.2
                    or other[3] <= mark[1] + 0.2
                )
                assert apart, (step, mark, other)
        for left, top, right, bottom in (*boxes, *marks):
            assert left >= 0 and top >= 0
            assert right <= picture.layout.width and bottom <= picture.layout.height


def test_the_product_is_written_out_on_the_arrow_of_the_step_alone() -> None:
    picture = drawn(SMALL["a chain"])
    step = next(k for k, f in enumerate(picture.frames) if f["kind"] == "contribution")

    root = ElementTree.fromstring(still_svg(picture, step))
    last = ElementTree.fromstring(still_svg(picture, -1))

    def sent(svg: ElementTree.Element) -> list[str]:
        return [e.text or "" for e in svg.iter() if "adk-sent-text" in (e.get("class") or "")]

    assert sent(root) == ["1. × 1.3853 = 1.3853"]  # dg/df = 2 f, f = 0.6927
    assert sent(last)[-1] == "1.3853"


@every_program
def test_no_word_at_an_arrow_is_covered_by_a_mark_at_any_step(name: str) -> None:
    picture = drawn(SMALL[name])

    for step in range(len(picture.frames)):
        _, marks = rects(picture, step)
        for text in ElementTree.fromstring(still_svg(picture, step)).iter():
            if "adk-arg" not in (text.get("class") or "").split():
                continue
            x, y = (float(text.get(axis) or 0) for axis in ("x", "y"))
            width = text_width(text.text or "", size=13)
            left = x - width * (text.get("text-anchor") == "end")
            for mark in marks:
                beside = left + width <= mark[0] or mark[2] <= left
                assert beside or y <= mark[1] or mark[3] <= y - 9
