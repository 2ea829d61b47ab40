"""The drawing: complete, well-formed, readable in light and dark, and closed in itself."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

import autodiff_kit as torch
from autodiff_kit.view import base_svg, build, still_svg
from autodiff_kit.view.looks import picture_style
from autodiff_kit.view.svg import LINE, box_size
from autodiff_kit.view.svg_text import text_width
from tests.record.cells import run
from tests.view import goldens, recordings

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=recordings.ALL, scope="module")
def picture(request):
    return build(recordings.ALL[request.param]())


@pytest.mark.parametrize("name", recordings.ALL)
def test_the_last_step_is_as_it_was_looked_at(name):
    goldens.check(f"{name}.svg", still_svg(build(recordings.ALL[name]())))


@pytest.mark.parametrize(
    ("name", "step"), [("classic", 8), ("square", 5), ("broadcast", 8), ("loop", 20), ("branch", 2)]
)
def test_a_step_is_as_it_was_looked_at(name, step):
    still = still_svg(build(recordings.ALL[name]()), step, caption=True)

    goldens.check(f"{name}_{step}.svg", still)


def elements(svg, css_class):
    root = ElementTree.fromstring(svg)
    return [e for e in root.iter() if css_class in e.get("class", "").split()]


def test_the_base_holds_every_box_and_every_arrow(picture):
    svg = base_svg(picture)

    nodes = [e.get("data-node") for e in elements(svg, "adk-node")]
    edges = [e.get("data-edge") for e in elements(svg, "adk-edge")]
    assert nodes == [box.id for box in picture.outline.boxes]
    assert edges == [edge.id for edge in picture.outline.edges]


def test_nothing_has_an_id_that_could_clash_with_another_picture(picture):
    svg = base_svg(picture) + still_svg(picture)

    assert not re.search(r"\sid=|url\(|href", svg)


def test_every_class_carries_the_prefix_of_the_kit(picture):
    for names in re.findall(r'class="([^"]*)"', base_svg(picture) + still_svg(picture)):
        assert all(name.startswith("adk-") for name in names.split())


def test_a_still_says_in_words_what_it_shows(picture):
    root = ElementTree.fromstring(still_svg(picture))

    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == picture.title
    assert root[1].text.startswith(picture.frames[-1]["caption"])
    explanation = picture.frames[-1].get("explanation")
    assert explanation is None or root[1].text.endswith(f"How to fix it: {explanation['fix']}")


def test_every_rule_of_a_still_is_scoped_to_its_own_class(picture):
    svg = still_svg(picture)
    scope = re.search(r'class="adk-picture (adk-s\w+)"', svg)[1]
    style = re.search("<style>(.*)</style>", svg)[1]

    rules = re.sub(r"@media[^{]*\{(.*?\})\s*\}", r"\1", style)
    for selectors in re.findall(r"([^{}]+)\{", rules):
        assert all(f".{scope}" in selector for selector in selectors.split(","))


def test_only_the_style_of_the_same_kit_shares_a_scope():
    text, scope = picture_style()

    assert text.count(f".{scope}") > 5
    assert not re.search(r"%s|adk-root", text)


def test_a_still_leaves_out_what_is_not_there_yet():
    svg = still_svg(build(recordings.classic()), step=1)

    assert [e.get("data-node") for e in elements(svg, "adk-node")] == ["0", "1"]
    assert len(elements(svg, "adk-edge")) == 1


def test_a_still_fills_in_the_gradients_and_marks_the_step():
    svg = still_svg(build(recordings.classic()), step=8)
    grads = {e.get("data-grad"): e.text for e in elements(svg, "adk-grad")}

    assert grads == {"0": None, "1": None, "2": "4.", "3": "1.", "4": "1."}
    active = elements(svg, "adk-active")
    assert [e.get("data-node") for e in active if "adk-node" in e.get("class")] == ["3"]
    assert [e.get("data-edge") for e in active if "adk-edge" in e.get("class")] == ["2"]


def test_in_backward_the_lit_arrow_points_back():
    svg = still_svg(build(recordings.classic()), step=8)

    back = [e for e in elements(svg, "adk-back") if "adk-active" in e.get("class")]
    assert [e.get("data-edge-label") for e in back] == ["2"]
    passed = {e.get("data-edge-label") for e in elements(svg, "adk-back")}
    down = {e.get("data-edge-label") for e in elements(svg, "adk-tip")}
    assert passed.isdisjoint(down)  # an arrow points back from the step on that sends along it
    assert len(passed | down) == 4


def test_a_changed_value_stands_in_the_box():
    svg = still_svg(build(recordings.in_place()))

    assert elements(svg, "adk-value")[0].text == "1.5"


def test_leaf_op_fold_and_ghost_differ_in_more_than_colour():
    picture = build(recordings.loop(500))
    first = next(box["opens"] for box in picture.payload()["nodes"].values() if "opens" in box)
    svg = base_svg(picture.opened(first))
    corners = {
        e.get("class").split()[1]: e.find("rect").get("rx") for e in elements(svg, "adk-node")
    }

    assert corners["adk-leaf"] != corners["adk-op"]  # round against square
    folds = len(elements(svg, "adk-fold"))
    assert len(elements(svg, "adk-stack")) == 2 * folds  # sheets behind
    assert re.search(r"\.adk-ghost \.adk-box\{fill:none;[^}]*stroke-dasharray:", picture_style()[0])


def test_boxes_keep_their_size_while_stepping():
    picture = build(recordings.loop())
    sizes = [
        {
            e.get("data-node"): (e.get("transform"), e.find(f"{SVG}rect").attrib["width"])
            for e in elements(still_svg(picture, k), "adk-node")
        }
        for k in range(len(picture.frames))
    ]

    assert all(sizes[-1][node] == size for step in sizes for node, size in step.items())


def test_a_graph_without_backward_keeps_no_room_for_gradients():
    assert "adk-grad" not in base_svg(build(recordings.line()))


def test_arguments_are_named_where_they_could_be_confused():
    tape = recordings.Tape("")
    a, b = tape.leaf("a", 1.0), tape.leaf("b", 2.0)
    tape.op("sub", a, b)
    tape.op("add", a, b)

    labels = [e.text for e in elements(base_svg(build(tape.data)), "adk-arg")]

    assert labels == ["left", "right"]


def test_no_line_strikes_a_label_through():
    tape = recordings.Tape("")
    a, b = tape.leaf("a", 1.0), tape.leaf("b", 2.0)
    tape.op("sub", b, tape.op("sub", a, b))
    drawn = base_svg(build(tape.data))

    assert drawn.rindex('data-from="') < drawn.index('class="adk-arg')
    (look,) = re.findall(r"\.adk-arg\{([^}]*)\}", picture_style()[0])
    assert "stroke:var(--adk-paper)" in look and "paint-order:stroke" in look


def test_the_left_operand_of_a_linear_layer_is_its_input():
    model, x = torch.nn.Linear(2, 3), torch.ones(4, 2)
    picture = build(run("y = model(x)", model=model, x=x))

    titles = {e.id: picture.titles[e.source] for e in picture.outline.edges}
    assert {label: titles[edge] for edge, label in picture.edge_labels.items()} == {
        "left": "x",
        "right": "model.weight.t()",
    }


def test_the_learners_words_cannot_break_the_drawing():
    tape = recordings.Tape("")
    tape.leaf('<script>alert("&")</script>\x00\ud800', 1.0)
    picture = build(tape.data)

    root = ElementTree.fromstring(still_svg(picture))

    assert not list(root.iter(f"{SVG}script"))


def test_the_same_picture_gives_the_same_bytes(picture):
    assert still_svg(picture, 0) == still_svg(picture, 0)
    assert base_svg(picture) == base_svg(picture)


def test_text_is_given_more_room_the_longer_and_the_wider_it_is():
    assert text_width("abcd") > text_width("abc")
    assert text_width("計算") == text_width("abcd")
    assert text_width("e\N{COMBINING ACUTE ACCENT}") == text_width("e")


def test_a_box_has_a_line_for_its_gradient_only_if_it_gets_one():
    text = {"name": "x", "symbol": "leaf", "lines": ["2."], "values": [], "grads": []}
    text |= {"label": "x.grad", "slots": {}, "cells": [], "maps": [], "is_dense": False}

    low, high = box_size(text)[1], box_size({**text, "grads": ["8."]})[1]

    assert high - low == LINE


# -- colours ------------------------------------------------------------------------------------


def palette(scheme):
    style = picture_style()[0]
    colours = dict(re.findall(r"--adk-([\w-]+):([^;]+);", style.split("}")[0]))
    if scheme == "dark":
        dark = re.search(r"@media \(prefers-color-scheme:dark\)\{[^{]*\{(.*?)\}", style)[1]
        colours |= dict(re.findall(r"--adk-([\w-]+):([^;]+);", dark))
    return {n: re.search(r"#[0-9a-f]{6}", v)[0] for n, v in colours.items() if "#" in v}


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "paper", ["op-fill", "leaf-fill", "forward-soft", "backward-soft", "paper"]
)
@pytest.mark.parametrize("ink", ["ink", "quiet", "backward"])
def test_text_stands_out_from_every_ground_it_is_written_on(scheme, paper, ink):
    colours = palette(scheme)

    # WCAG 2.2, 1.4.3: at least 4.5 to 1
    assert contrast(colours[ink], colours[paper]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("line", ["leaf-line", "op-line", "edge-line", "forward", "backward"])
def test_lines_stand_out_from_the_paper(scheme, line):
    colours = palette(scheme)

    # WCAG 2.2, 1.4.11: at least 3 to 1 for what must be seen to understand a picture
    assert contrast(colours[line], colours["paper"]) >= 3


def test_old_viewers_without_variables_get_the_light_colours_written_out():
    style = picture_style()[0]

    for name, value in re.findall(r"(fill|stroke):(var\([^;}]*\))", style):
        before = style[: style.index(f"{name}:{value}")].rstrip(";")
        assert re.search(rf"{name}:#[0-9a-f]{{6}}$", before), value


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("y = model(x)", 2),
        ("y = (model(x) - t) / (x @ model.weight.t() - t)\ny.mean().backward()", 10),
    ],
)
def test_labels_of_arguments_do_not_run_into_each_other(code, count):
    torch.manual_seed(0)
    model, x, t = torch.nn.Linear(3, 2), torch.randn(4, 3), torch.randn(4, 2)
    drawn = base_svg(build(run(code, model=model, x=x, t=t), fold=False))

    label = r'class="adk-arg"[^>]* x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">(\w+)<'
    labels = []
    for x_, y, anchor, text in re.findall(label, drawn):
        width = 6.7 * len(text)  # 11 px, monospaced
        left = float(x_) - (width if anchor == "end" else 0)
        labels.append((float(y), left, left + width))
    assert len(labels) == count  # left and right of @; a bias is added
    for (y1, left1, right1), (y2, left2, right2) in combinations(labels, 2):
        assert abs(y1 - y2) >= 11 or right1 < left2 or right2 < left1
