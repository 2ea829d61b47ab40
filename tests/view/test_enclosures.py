"""Frames around open parts: with all of their boxes in them, and no other box."""

from __future__ import annotations

import re

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.layout import layout
from autodiff_kit.view.svg import base_svg, still_svg
from tests.invariants.running import run

LOOP = """\
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
for t in range(3):
    x = torch.tensor(2.0)
    h = torch.tanh(h * w + x)
y = h * h
y.backward()
"""
CALLS = """\
def f(x, w):
    return torch.tanh(x * w) + w
w, x = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0)
y = f(f(x, w), w) * w
y.backward()
"""
BLOCKS = """\
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return x + self.outer(torch.relu(self.inner(x)))
net = torch.nn.Sequential(Block(), Block())
loss = net(torch.ones(1, 2)).sum()
loss.backward()
"""
BY_HAND = """\
w = torch.tensor(1.0, requires_grad=True)
for step in range(3):
    loss = (w * 2 - 5) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
"""
PROGRAMS = {"loop": LOOP, "calls": CALLS, "blocks": BLOCKS, "by hand": BY_HAND}


def picture_of(source):
    picture = build(run("", ak, source).recording)
    while folds := [box.key for box in picture.outline.boxes if box.key]:
        picture = picture.opened(folds[0])
    return picture


def framed(picture):
    """Return the frames by title, with the boxes in each, and where all boxes stand."""
    boxes = {
        box.id: (x, y, x + w, y + h)
        for box, (x, y), (w, h) in zip(
            picture.outline.boxes, picture.layout.positions, picture.sizes, strict=True
        )
    }
    open_parts = picture.opened_parts
    frames = [
        (part["title"], set(group), frame)
        for part, group, frame in zip(
            open_parts.parts, open_parts.groups, picture.layout.frames, strict=True
        )
        if frame
    ]
    return frames, boxes


def is_in(inner, outer):
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )


def touch(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_frame_holds_all_boxes_of_its_part_and_no_other(name):
    frames, boxes = framed(picture_of(PROGRAMS[name]))

    assert frames
    for _, group, frame in frames:
        assert all(is_in(boxes[box], frame) for box in group)
        assert not any(touch(boxes[box], frame) for box in boxes.keys() - group)


@pytest.mark.parametrize("name", PROGRAMS)
def test_frames_lie_in_each_other_or_apart_and_in_the_picture(name):
    picture = picture_of(PROGRAMS[name])
    frames, _ = framed(picture)

    for k, (_, group, frame) in enumerate(frames):
        assert is_in(frame, (0, 0, picture.layout.width, picture.layout.height))
        for _, inner, other in frames[k + 1 :]:
            assert is_in(other, frame) if inner < group else not touch(other, frame)


def test_every_round_call_and_module_that_is_open_has_a_frame():
    assert [t for t, _, _ in framed(picture_of(LOOP))[0]] == [
        "for t in range(3)",
        *(f"iteration {k}" for k in (1, 2, 3)),
    ]
    assert [t for t, _, _ in framed(picture_of(CALLS))[0]] == ["f(x, w)", "f(f(x, w), w)"]
    assert [t for t, _, _ in framed(picture_of(BLOCKS))[0]] == [
        "net",
        *(f"net.{k}{part}" for k in (0, 1) for part in ("", ".inner", ".outer")),
    ]


def test_what_would_go_into_the_fold_of_a_part_stands_in_its_frame():
    picture = picture_of(LOOP)
    frames, _ = framed(picture)
    titles = {box.id: picture.titles[box.id] for box in picture.outline.boxes}

    (loop,) = (group for title, group, _ in frames if title == "for t in range(3)")
    (first,) = (group for title, group, _ in frames if title == "iteration 1")

    assert "x" in {titles[box].rstrip("123") for box in first}  # made in it
    assert not {"w", "h"} & {titles[box] for box in loop}  # made before it

    folded = picture.closed(picture.opened_parts.parts[1]["key"])
    (box,) = (b for b in folded.outline.boxes if b.title == "iteration 1")
    assert {str(n) for n in box.nodes} == first


def test_a_frame_appears_with_the_first_of_its_boxes():
    picture = picture_of(CALLS)

    names = [
        re.findall(r'class="adk-part-name"[^>]*>([^<]*)<', still_svg(picture, step))
        for step in range(len(picture.frames))
    ]

    starts = [min(picture.since[box] for box in group) for _, group, _ in framed(picture)[0]]
    for step, frames in enumerate(names):
        assert len(frames) == sum(start <= step for start in starts)
    assert names[0] == [] and names[-1] == ["f(x, w)", "f(f(x, w), w)"]


def test_a_browser_gets_the_place_of_each_part_with_its_frame():
    picture = picture_of(CALLS)

    places = re.findall(r'<rect class="adk-part" data-part="(\d+)"', base_svg(picture))

    assert [picture.opened_parts.parts[int(k)]["title"] for k in places] == [
        "f(x, w)",
        "f(f(x, w), w)",
    ]


def test_what_stands_beside_a_part_goes_above_or_below_its_frame():
    # Nodes 1 and 3 are a part; 2, beside them, is used with their result.
    nodes = [(60.0, 40.0)] * 5
    edges = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 4)]

    drawing = layout(nodes, edges, groups=[[1, 3]])

    (frame,) = drawing.frames
    assert frame is not None
    for v in (0, 2, 4):
        x, y = drawing.positions[v]
        assert not touch((x, y, x + 60, y + 40), frame)
