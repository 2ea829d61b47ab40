"""Two drawings of one plot: what the screen shows and what the figure shows is the same.

The SVG text is read back in its pixels; of the figure, what matplotlib holds is led to the page by
matplotlib's own transforms. Neither knows how the other one is drawn.
"""

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.quiver import Quiver
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform, Transform

import autodiff_kit as torch
from autodiff_kit.utils.checkpoint import checkpoint
from autodiff_kit.widgets import (
    Batching,
    Descent,
    GradientFlow,
    GradientHistogram,
    MemoryTimeline,
    Slope,
)
from tests.gate import some

SVG = "{http://www.w3.org/2000/svg}"
Points = list[tuple[float, float]]


def slope() -> Slope:
    return Slope(lambda x: 1 / x + x * x, x=0.5)  # a gap, and values out of sight


def kink() -> Slope:
    return Slope(lambda x: -3e28 * x.abs(), x=0.0)


def descent() -> Descent:
    return Descent(lambda x, y: x * x + 4 * y * y, lr=0.3, detail=15)  # it diverges


def descent_with_a_hole() -> Descent:
    return Descent(lambda x, y: x.log() + y * y, start=(1.0, 1.0), detail=15)


def flow() -> GradientFlow:
    first: list[float | None] = [1e-8, 2e-8, None, 0.0, 1e-3]
    return GradientFlow(
        {"first": first, "<b> $2$": [None] * 5, "last": [0.1, 0.2, 0.3, math.inf, 1e5]}
    )


def histogram() -> GradientHistogram:
    x = torch.linspace(-1, 1, 100, requires_grad=True)
    (x**3).relu().sum().backward()
    lab = GradientHistogram(x)
    lab.turn({"log": True})
    return lab


def memory() -> MemoryTimeline:
    w = torch.ones(50, 50, requires_grad=True)

    def layers(h: Any) -> Any:
        return (h @ w).relu().exp()

    def loss(checkpointing: bool = True) -> Any:
        h = torch.ones(20, 50)
        for _ in range(3):
            h = checkpoint(layers, h, use_reentrant=False) if checkpointing else layers(h)
        return h.sum()

    lab = MemoryTimeline(loss)
    lab.turn({"before": True, "step": 4})
    return lab


def batching() -> Batching:
    lab = Batching(lengths=[5, 2, 3])
    lab.turn({"mask": "none: padding is data"})
    lab.canvas.picked = "row-1"
    return lab


LABS = [slope, kink, descent, descent_with_a_hole, flow, histogram, memory, batching]


@pytest.fixture(scope="module", params=some(LABS, 4), ids=lambda make: make.__name__)
def pair(request: pytest.FixtureRequest) -> tuple[ET.Element, Figure]:
    lab = request.param()
    assert lab.message == ""
    return ET.fromstring(lab.canvas.svg), lab.figure()


# -- reading a picture ----------------------------------------------------------------------------

LINES = ["curve", "middle", "tangent", "parabola", "level", "cursor", "path", "path-under", "lead"]


def places(root: ET.Element, figure: Figure) -> list[tuple[list[ET.Element], Any]]:
    """Return the elements of each plot with its axes; then those around the plots, and the figure.

    A point to drag comes after the plot that it lies over.
    """
    plots: list[list[ET.Element]] = []
    around: list[ET.Element] = []
    for part in root:
        if part.get("class") in ("adk-axes", "adk-plain-axes"):
            plots.append([e for inner in part.findall(f"{SVG}svg") for e in inner.iter()])
        elif part.get("class") == "adk-handle":
            plots[-1] += part.iter()
        elif part.get("class") != "adk-key":
            around += part.iter()
    assert len(plots) == len(figure.axes)
    return [*zip(plots, figure.axes, strict=True), (around, figure)]


def chosen(elements: list[ET.Element], tag: str, *names: str) -> list[ET.Element]:
    """Return the elements that have one of these looks."""
    looks = {f"adk-{name}" for name in names}
    return [e for e in elements if e.tag == SVG + tag and looks & {*e.get("class", "").split()}]


def artists(place: Any, kind: type) -> list[Any]:
    """Return what was added to axes or to a figure, in the order in which it is drawn."""
    every = [*place.lines, *place.patches, *place.artists]
    return sorted((a for a in every if isinstance(a, kind)), key=lambda artist: artist.zorder)


def lines(elements: list[ET.Element], place: Any) -> list[tuple[ET.Element, Line2D]]:
    """Return the lines of both pictures, one beside the other."""
    names = [*LINES, *["arrow"] * isinstance(place, Figure)]
    ours = [p for p in chosen(elements, "path", *names) if not re.search("[hZ]", p.get("d", ""))]
    theirs = [line for line in artists(place, Line2D) if line.get_linestyle() != "None"]
    assert len(ours) == len(theirs)
    return list(zip(ours, theirs, strict=True))


def number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "nan"))


def points_of(path: str) -> Points:
    numbers = re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)
    return [(float(x), float(y)) for x, y in numbers]


def on_the_page(figure: Figure, transform: Transform, points: Any) -> Points:
    """Return where points lie in pixels of the drawing, to the right and down."""
    numbers = np.asarray(points, dtype=float).reshape(-1, 2)
    pixels = transform.transform(numbers[np.isfinite(numbers).all(axis=1)]) * 72 / figure.dpi
    return [(float(x), figure.get_figheight() * 72 - float(y)) for x, y in pixels]


def differences(ours: Points, theirs: Points) -> Any:
    """Return how far points are from each other, in pixels; what is far out of sight is cut."""
    one, other = (np.clip(np.reshape(p, (-1, 2)), -60, 700) for p in (ours, theirs))
    return np.abs(one - other).max(axis=1) if one.shape == other.shape else [math.inf]


def same(ours: Points, theirs: Points) -> bool:
    return max(differences(ours, theirs), default=0.0) < 0.1


# -- the same data --------------------------------------------------------------------------------

Pair = tuple[ET.Element, Figure]


def test_the_axes_lie_at_the_same_places(pair: Pair) -> None:
    root, figure = pair

    frames = chosen([*root.iter()], "rect", "frame")

    assert len(frames) == len(figure.axes) > 0
    for frame, axes in zip(frames, figure.axes, strict=True):
        x, y = number(frame, "x"), number(frame, "y")
        corners = [(x, y + number(frame, "height")), (x + number(frame, "width"), y)]
        limits = list(zip(axes.get_xlim(), axes.get_ylim(), strict=True))
        assert same(corners, on_the_page(figure, axes.transData, limits))


def test_every_point_of_every_line_lies_at_the_same_place(pair: Pair) -> None:
    root, figure = pair

    for elements, place in places(root, figure):
        for path, line in lines(elements, place):
            points = on_the_page(figure, line.get_transform(), line.get_xydata())
            assert same(points_of(path.get("d", "")), points)


def test_every_dot_and_every_point_to_drag_lies_at_the_same_place(pair: Pair) -> None:
    root, figure = pair

    for elements, axes in places(root, figure)[:-1]:
        circles = chosen(elements, "circle", "dot", "bar", "frame", "grip")
        ours = [(number(e, "cx"), number(e, "cy")) for e in circles]
        dots = [line for line in artists(axes, Line2D) if line.get_marker() == "o"]
        theirs = [point for line in dots for point in line.get_xydata()]
        assert same(ours, on_the_page(figure, axes.transData, theirs))
        diameters = [line.get_markersize() for line in dots for _ in line.get_xydata()]
        assert [2 * number(e, "r") for e in circles] == pytest.approx(diameters)


def test_every_bar_has_the_same_edges(pair: Pair) -> None:
    root, figure = pair

    for elements, axes in places(root, figure)[:-1]:
        ours: Points = []
        for bar in chosen(elements, "rect", "bar", "grad-bar"):
            x, y = number(bar, "x"), number(bar, "y")
            ours += [(x, y + number(bar, "height")), (x + number(bar, "width"), y)]
        bars = artists(axes, Rectangle)
        theirs = [corner for bar in bars for corner in bar.get_corners()[::2]]
        assert same(ours, on_the_page(figure, axes.transData, theirs))


def test_every_area_has_the_same_corners(pair: Pair) -> None:
    root, figure = pair

    for elements, place in places(root, figure):
        paths = chosen(elements, "path", "band", "bar", "level", "reach")
        outlines = [path.get("d", "") for path in paths]
        ours = [points_of(path) for path in outlines if path.endswith("Z")]
        areas = artists(place, PathPatch)
        assert len(ours) == len(areas)
        for inside, area in zip(ours, areas, strict=True):
            corners = on_the_page(figure, area.get_transform(), area.get_path().vertices)
            # On the screen, corners that hardly bend a line are left out; there are no others.
            apart = np.linalg.norm(np.array(inside)[:, None] - np.array(corners)[None], axis=2)
            assert apart.min(axis=1).max() < 0.15
            spans = [np.ptp(np.array(points), axis=0) for points in (inside, corners)]
            assert spans[0] == pytest.approx(spans[1], abs=0.2)


def test_every_arrow_has_the_same_tail_and_the_same_tip(pair: Pair) -> None:
    root, figure = pair
    figure.draw_without_rendering()  # matplotlib makes the outlines of arrows when it draws them

    for elements, axes in places(root, figure)[:-1]:
        # Each arrow is a shaft and a head: M tail L tip M left L tip L right; a short one a dot.
        text = "".join(p.get("d", "") for p in chosen(elements, "path", "arrow"))
        shafts = re.findall(r"M([\d.-]+) ([\d.-]+)(?:L([\d.-]+) ([\d.-]+)M[^M]*|h0.1)", text)
        ours = [[float(a), float(b), float(c or a), float(d or b)] for a, b, c, d in shafts]
        theirs = []
        for quiver in axes.findobj(Quiver):
            middles = quiver.get_offset_transform().transform(quiver.get_offsets())
            for middle, path, arrow in zip(
                middles, quiver.get_paths(), np.stack([quiver.U, quiver.V], 1), strict=True
            ):
                direction = arrow / (np.hypot(*arrow) or 1.0)
                along = quiver.get_transform().transform(path.vertices) @ direction
                ends = [middle + direction * end for end in (along.min(), along.max())]
                page = [on_the_page(figure, IdentityTransform(), [end])[0] for end in ends]
                theirs.append([*page[0], *page[1]])
        assert len(ours) == len(theirs)
        assert np.abs(np.subtract(ours, theirs)).max(initial=0.0) < 1.0  # dots have a size


def test_every_triangle_points_at_the_same_place(pair: Pair) -> None:
    root, figure = pair
    outside = [e for part in root if part.get("class") != "adk-key" for e in part.iter()]

    paths = [path.get("d", "") for path in chosen(outside, "path", "cursor")]
    ours = [points_of(path)[0] for path in paths if path.endswith("Z")]

    theirs = []
    for place in (figure, *figure.axes):
        for line in artists(place, Line2D):
            if isinstance(line.get_marker(), Path):
                theirs += on_the_page(figure, line.get_transform(), line.get_xydata())
    assert same(sorted(ours), sorted(theirs))


def test_both_have_the_same_words_at_axes_at_marks_and_in_the_key(pair: Pair) -> None:
    root, figure = pair

    ours = Counter("".join(e.itertext()) for e in root.iter(f"{SVG}text"))

    theirs = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
    assert ours == Counter(filter(None, theirs))


def test_words_beside_points_begin_at_the_same_place(pair: Pair) -> None:
    root, figure = pair
    apart = ("adk-axes", "adk-plain-axes", "adk-key")
    outside = [e for part in root if part.get("class") not in apart for e in part.iter()]

    ours = sorted(
        (text.text, text.get("text-anchor"), number(text, "x"), number(text, "y"))
        for text in outside
        if text.tag == f"{SVG}text"
    )

    anchors = {"left": "start", "center": "middle", "right": "end"}
    theirs = []
    for text in (*figure.texts, *(text for axes in figure.axes for text in axes.texts)):
        ((x, y),) = on_the_page(figure, text.get_transform(), text.get_position())
        theirs.append((text.get_text(), anchors[text.get_horizontalalignment()], x, y))
    assert [row[:2] for row in ours] == [row[:2] for row in sorted(theirs)]
    assert same([row[2:] for row in ours], [row[2:] for row in sorted(theirs)])


def test_the_key_is_a_legend_with_the_same_entries_in_the_same_order(pair: Pair) -> None:
    root, figure = pair

    keys = [e for e in root if e.get("class") == "adk-key"]

    ours = [[text.text for text in key.iter(f"{SVG}text")] for key in keys]
    assert ours == [[t.get_text() for t in legend.get_texts()] for legend in figure.legends]


def test_lines_have_the_same_colours_widths_and_dashes(pair: Pair) -> None:
    root, figure = pair
    style = next(root.iter(f"{SVG}style")).text or ""

    for elements, place in places(root, figure):
        for path, line in lines(elements, place):
            (rule,) = re.findall(rf" \.{path.get('class')}\{{([^}}]*)", style)
            plain = re.search(r"stroke:(#\w+)", rule)
            width = re.search(r"stroke-width:([\d.]+)", rule)
            assert to_hex(line.get_color()) == (plain and plain[1])
            assert line.get_linewidth() == (float(width[1]) if width else 1.0)
            assert line.is_dashed() is ("dasharray" in rule)


# -- for whoever uses the figure ------------------------------------------------------------------


def test_a_cell_that_ends_with_a_figure_shows_it_without_pyplot() -> None:
    png = slope().figure()._repr_png_()

    assert png[:8] == b"\x89PNG\r\n\x1a\n"


def test_names_that_mean_something_to_matplotlib_are_only_names() -> None:
    def _loss(x: Any) -> Any:
        return x * x

    figure = Slope(_loss).figure()
    flow = GradientFlow({"$a_1$ and $": [1.0], "_last": [1.0]}).figure()

    (legend,) = figure.legends
    assert legend.get_texts()[0].get_text() == "_loss"
    for part in (figure, flow):
        part.draw_without_rendering()  # a warning is an error, and so is bad TeX
    texts = [text for text in flow.findobj(Text) if text.get_visible()]
    texts = [text for text in texts if text.get_text() == "$a_1$ and $"]
    assert len(texts) == 2  # beside the line, and below the bar
    assert not any(text.get_parse_math() for text in texts)


def test_the_data_can_be_taken_from_the_figure_and_its_axes_be_changed() -> None:
    figure = Slope(lambda x: x * x, -2.0, 2.0, x=1.0).figure()
    above, below = figure.axes

    (curve,) = [line for line in above.lines if len(line.get_xdata()) > 100][:1]
    assert np.allclose(curve.get_ydata(), np.square(curve.get_xdata()), atol=1e-5)
    above.set_xlim(0.0, 1.0)
    corner = above.transData.transform((0.0, above.get_ylim()[0]))
    assert tuple(corner) == pytest.approx(tuple(above.transAxes.transform((0, 0))))
    assert below.get_xlim() == (-2.0, 2.0)


def test_matplotlib_is_loaded_when_a_figure_is_asked_for_and_not_before() -> None:
    code = """import sys
from autodiff_kit.widgets import Slope
lab = Slope(lambda x: x * x)
print(bool(lab.canvas.svg), "matplotlib" in sys.modules)
lab.figure()
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)"""

    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert process.stdout.split() == ["True", "False", "True", "False"]
