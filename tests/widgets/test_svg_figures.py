"""Graphs, code and tables as a figure: all that the screen shows is on the page, in its place."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch
from matplotlib.text import Text

import autodiff_kit as torch
from autodiff_kit.widgets import Compare, ControlFlow, Costs, ErrorStory, GradMode, StepThrough
from autodiff_kit.widgets.svg_figures import figure_of_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def graph_labs() -> list[Any]:
    """Labs whose picture is no plot: graphs, lines of code, tables and words."""
    changed = ControlFlow(lambda x=2.0: x * x if x > 0 else -x)
    changed.state = {"x": -1.0}
    failing = GradMode("y = x * x\ny * 3", x=torch.tensor(2.0, requires_grad=True))
    failing.state = {"line 1": "no_grad"}
    return [
        *(changed, failing, Compare(lambda x=1.0: x * 2 if x > 0 else -x)),
        *(StepThrough(lambda x=3.0: x * x), Costs([torch.ones(2)], sine=torch.sin)),
        ErrorStory(lambda: torch.ones(1).sum().backward()),
    ]


def all_words(element: ET.Element) -> str:
    return "".join("".join(text.itertext()) for text in element.iter(f"{SVG}text"))


def letters(text: str) -> str:
    return "".join(text.replace("\N{NO-BREAK SPACE}", "").split())


def test_a_graph_for_a_page_has_all_words_boxes_and_arrows(graph_labs: list[Any]) -> None:
    for lab in graph_labs:
        root, figure = ET.fromstring(lab.shown()), lab.figure()
        words = "".join(artist.get_text() for artist in figure.findobj(Text))
        shapes = [e for e in root.iter() if e.tag in (f"{SVG}rect", f"{SVG}path")]
        papers = [e for e in shapes if e.get("width") == "100%"]

        assert letters(words) == letters(all_words(root)), lab
        assert len(figure.findobj(PathPatch)) == len(shapes) - len(papers), lab


def test_what_stands_in_a_box_is_inside_of_it_on_a_page_too(graph_labs: list[Any]) -> None:
    for lab in graph_labs[:3]:
        figure = lab.figure()
        figure.draw_without_rendering()
        high = figure.bbox.height
        for text in figure.findobj(Text):
            box = text.get_window_extent()
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width, (lab, text)
            assert 0 <= box.y0 < box.y1 <= high, (lab, text)


def test_a_rule_that_says_more_wins_over_a_later_one() -> None:
    svg = (
        f'<svg xmlns="{SVG[1:-1]}" class="a" viewBox="0 0 72 36"><style>'
        ".a g > .b{fill:var(--x)} .a{--x:#0b559f} .a .b:not(.c){stroke:red;stroke-width:3}"
        "@media (prefers-color-scheme:dark){.a{--x:white}} .a text{font:700 10px monospace}</style>"
        '<g class="e" transform="translate(10,4)">'
        '<rect class="b" x="1" y="2" width="8" height="8"/>'
        '<svg class="f" viewBox="0 0 9 9"><style>.f .b{fill:green}</style>'
        '<rect class="b c" width="4" height="4"/></svg></g>'
        '<text x="36" y="20" text-anchor="middle">ab<tspan dx="6">c</tspan></text></svg>'
    )

    figure = figure_of_svg(svg)

    first, second = figure.findobj(PathPatch)
    assert to_hex(first.get_facecolor()) == "#0b559f"
    assert to_hex(first.get_edgecolor()) == "#ff0000"
    assert to_hex(second.get_facecolor()) == "#008000"  # the inner sheet's; no child of <g>
    assert second.get_edgecolor()[3] == 0
    # In points from the upper left corner, of which the page has 72 by 36.
    corner = first.get_window_extent().transformed(figure.transFigure.inverted())
    assert (corner.x0 * 72, (1 - corner.y1) * 36) == pytest.approx((11, 6))
    begin, end = figure.findobj(Text)
    # Three letters of 6.02 and a gap of 6 are 24.06 wide, and 36 is their middle.
    assert begin.get_position()[0] == pytest.approx(36 - 24.06 / 2)
    assert end.get_position()[0] == pytest.approx(36 - 24.06 / 2 + 12.04 + 6)


@pytest.mark.parametrize("part", ['<circle r="1"/>', '<path d="M0 0A1 1 0 0 0 2 2"/>'])
def test_what_no_picture_of_the_kit_has_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match="the kit's pictures have"):
        figure_of_svg(f'<svg xmlns="{SVG[1:-1]}" viewBox="0 0 9 9">{part}</svg>')
