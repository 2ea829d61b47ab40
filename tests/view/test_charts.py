"""Charts: ticks from arithmetic, contours from geometry, and one text for one picture."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from autodiff_kit.view.charts import chart_svg, looks
from autodiff_kit.view.contours import levels, rings
from autodiff_kit.view.plots import (
    PIXELS,
    Area,
    Arrows,
    Bars,
    Drawing,
    Group,
    Handle,
    Key,
    Plot,
    Sample,
    Words,
    spread,
)
from autodiff_kit.view.scales import Scale, label, seen_range

MINUS = "\N{MINUS SIGN}"


def area(ring: list[tuple[float, float]]) -> float:
    """Gauss's shoelace formula: positive where the inside is at the right hand, y going up."""
    x, y = np.array(ring).T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) / 2)


def svg_of(plot: Plot) -> str:
    return chart_svg(Drawing([plot], 500.0, 300.0, ""))


def grid(size: int = 61, reach: float = 3.0) -> tuple[list[float], np.ndarray, np.ndarray]:
    places = np.linspace(-reach, reach, size)
    return places.tolist(), *np.meshgrid(places, places)


@pytest.mark.parametrize(
    ("low", "high", "about", "expected"),
    [
        (0, 10, 5, ["0", "2", "4", "6", "8", "10"]),
        (-1.2, 1.2, 6, ["-1.0", "-0.5", "0", "0.5", "1.0"]),
        (0.0, 0.003, 3, ["0", "0.001", "0.002", "0.003"]),
        (0, 3e7, 3, ["0", "1e7", "2e7", "3e7"]),
        (7.2, 8.9, 2, ["7.5", "8.0", "8.5"]),
    ],
)
def test_ticks_stand_at_round_numbers(
    low: float, high: float, about: int, expected: list[str]
) -> None:
    texts = [text.replace(MINUS, "-") for _, text in Scale(low, high, 0, 100).ticks(about)]

    assert texts == expected


def test_a_scale_never_has_less_than_three_ticks() -> None:
    for low, high in ((-2.7, 3.2), (0.9, 1.1), (-1e6, 1e6 + 1), (5.0, 5.1)):
        assert len(Scale(low, high, 0, 100).ticks(2)) >= 3


def test_ticks_of_a_logarithmic_scale_are_powers_of_ten() -> None:
    ticks = Scale(1e-3, 1e2, 100, 0, log=True).ticks(6)

    assert [value for value, _ in ticks] == pytest.approx([1e-3, 1e-2, 1e-1, 1, 10, 100])
    assert ticks[0][1] == "10\u207b\u00b3"


def test_a_scale_maps_its_ends_to_its_pixels_and_the_middle_between() -> None:
    linear, log = Scale(-1, 3, 10, 50), Scale(1, 100, 0, 40, log=True)

    assert [linear(-1), linear(1), linear(3)] == [10, 30, 50]
    assert [log(1), log(10), log(100)] == pytest.approx([0, 20, 40])


def test_what_is_no_positive_number_lies_below_a_logarithmic_scale() -> None:
    log = Scale(1, 100, 40, 0, log=True)

    assert log(0.0) > 40
    assert log(-5.0) > 40


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.0, "0"), (-0.0, "0"), (1.5, "1.5"), (-2.25, "-2.25"), (1 / 3, "0.3333")),
        *((1e5, "1e5"), (0.00001234, "1.23e-5"), (-6.02e23, "-6.02e23"), (99999.0, "1e5")),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert label(value).replace(MINUS, "-") == text


def test_the_range_of_an_axis_holds_all_values_and_some_room() -> None:
    low, high = seen_range([2.0, 5.0, math.nan, math.inf, -math.inf])

    assert low < 2.0 < 5.0 < high
    assert high - low < 4


def test_a_few_values_far_out_do_not_press_the_others_flat() -> None:
    xs = [-3 + 6 * (i + 0.5) / 160 for i in range(160)]

    low, high = seen_range([1 / x for x in xs])

    assert -20 < low < -1 < 1 < high < 20


@pytest.mark.parametrize("values", [[], [math.nan], [3.0, 3.0], [0.0], [1e300, -1e300], [1e-320]])
def test_an_axis_has_two_ends_whatever_the_values(values: list[float]) -> None:
    low, high = seen_range(values)

    assert -math.inf < low < high < math.inf
    assert Scale(low, high, 0, 100).ticks()


def test_a_curve_has_gaps_where_there_is_no_number_and_where_it_leaps() -> None:
    plot = Plot(Scale(0, 5, 0, 50), Scale(-1, 1, 10, 0))

    plot.curve([0, 1, 2, 3, 4, 5], [0, 0.5, math.nan, 0.5, 90, -90])

    path = re.findall(r'd="(M[^"]*)"', svg_of(plot).split("adk-curve")[-1])[0]
    assert [part[0] for part in re.findall(r"[ML][^ML]*", path)] == ["M", "L", "M", "L", "M"]


def test_an_arrow_points_the_way_it_is_told_and_a_very_short_one_is_a_dot() -> None:
    plot = Plot(Scale(0, 10, 0, 100), Scale(0, 10, 100, 0))

    plot.add(Arrows([((5, 5), (20, 10)), ((1, 1), (0, 0))]))

    # From (40, 55) by 20 to the right and 10 up, which is down in pixels; then a dot at (10, 90).
    assert "M40 55L60 45" in svg_of(plot)
    assert "M10 90h0.1" in svg_of(plot)


def test_a_bar_stands_on_the_lower_edge() -> None:
    plot = Plot(Scale(0, 4, 0, 40), Scale(0, 10, 100, 0))

    plot.add(Bars([(1, 2)], [7.0], ["seven"]))

    assert 'x="10" y="30" width="10" height="70"><title>seven</title>' in svg_of(plot)


def test_only_a_plot_with_a_handle_says_its_scale_to_the_canvas() -> None:
    plot = Plot(Scale(-3, 3, 50, 450), Scale(0, 10, 260, 20))
    assert "data-x0" not in svg_of(plot)

    plot.add(Handle(1.0, 5.0, "the point", along="x"))

    svg = svg_of(plot)
    assert 'class="adk-axes" data-x0="-3" data-x1="3" data-y0="0" data-y1="10"' in svg
    assert 'data-left="50" data-right="450" data-top="20" data-bottom="260"' in svg
    assert 'data-x="1" data-y="5" data-along="x"' in svg


def test_the_same_drawing_is_the_same_text_and_well_formed() -> None:
    def draw() -> str:
        plot = Plot(Scale(0, 1, 50, 450), Scale(0, 1, 260, 40), x_label="a < b", y_label='"y"')
        plot.curve([0, 1], [0, 1])
        plot.add(Words(0.5, 0.5, "x & y"))
        key = Key([Sample("curve", "<f>"), Sample("point", "p"), Sample("arrow", "a")], 50, 20)
        return chart_svg(Drawing([plot, key], 500, 300, "<Title>", 'A "line" & more'))

    root = ET.fromstring(draw())

    assert draw() == draw()
    assert root[0].text == "<Title>"
    assert root[1].text == 'A "line" & more'
    words = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"a < b", '"y"', "x & y", "<f>"} <= words


def test_colours_follow_the_widget_or_the_page_and_fall_back_to_light() -> None:
    svg = chart_svg(Drawing([], 10, 10, ""))

    assert "prefers-color-scheme:dark" in svg
    assert '[data-jp-theme-light="false"]' in svg
    assert re.search(r"\.adk-curve\{[^}]*stroke:#\w+;stroke:var\(--adk-forward\)", svg)
    assert "@" not in svg.replace("@media", "")


def test_labels_are_moved_apart_and_kept_in_order_and_inside() -> None:
    wished = [95.0, 96.0, 97.0, 10.0]

    placed = spread(wished, 14.0, 0.0, 100.0)

    assert placed[3] == 10.0
    assert max(placed) <= 100.0
    assert placed[0] + 14 <= placed[1] + 1e-9
    assert placed[1] + 14 <= placed[2] + 1e-9


def test_no_label_needs_no_place() -> None:
    assert spread([], 14.0, 0.0, 100.0) == []


def test_the_ring_around_a_hill_is_a_circle() -> None:
    xs, x, y = grid()

    (ring,) = rings(xs, xs, 4 - x**2 - y**2, 0.0)  # radius 2

    assert max(abs(math.hypot(*point) - 2) for point in ring) < 0.01
    assert abs(area(ring)) == pytest.approx(4 * math.pi, rel=0.01)


def test_all_above_a_valley_is_the_map_with_a_hole() -> None:
    xs, x, y = grid()

    lines = rings(xs, xs, x**2 + y**2, 1.0)

    assert len(lines) == 2
    # The signs of the two differ, so that they add up to what is filled.
    assert abs(sum(map(area, lines))) == pytest.approx(36 - math.pi, rel=0.01)


def test_a_plane_is_cut_along_a_straight_line() -> None:
    xs, x, y = grid(7)

    (ring,) = rings(xs, xs, x + 2 * y, 0.0)

    assert abs(area(ring)) == pytest.approx(18)  # half of the map
    inner = [p for p in ring if abs(p[0]) < 2.9 and abs(p[1]) < 2.9]
    assert all(abs(a + 2 * b) < 1e-9 for a, b in inner)


def test_two_hills_have_two_rings_and_the_level_between_them_one() -> None:
    xs, x, y = grid()
    hills = np.exp(-((x - 1) ** 2 + y**2)) + np.exp(-((x + 1) ** 2 + y**2))  # 0.74 at (0, 0)

    assert len(rings(xs, xs, hills, 0.9)) == 2
    assert len(rings(xs, xs, hills, 0.6)) == 1


def test_every_line_is_closed_also_on_a_chess_board() -> None:
    xs = [0.0, 1.0, 2.0, 3.0]
    board = np.indices((4, 4)).sum(0) % 2

    lines = rings(xs, xs, board.astype(float), 0.5)

    assert lines
    assert all(len(ring) >= 3 for ring in lines)


def test_places_without_a_number_are_left_out() -> None:
    xs, x, _ = grid(13)
    with np.errstate(invalid="ignore"):
        heights = np.sqrt(x)  # nan to the left of 0

    lines = rings(xs, xs, heights, 0.0)

    assert min(point[0] for ring in lines for point in ring) > -0.51


def test_levels_of_a_slope_are_evenly_spaced_and_those_of_a_narrow_valley_are_not() -> None:
    _, x, y = grid()

    even = np.diff(levels(x))
    valley = np.diff(levels((1 - x) ** 2 + 100 * (y - x * x) ** 2))

    assert even == pytest.approx([even[0]] * len(even))
    assert valley[-1] > 20 * valley[0] > 0


@pytest.mark.parametrize("values", [[[1.0, 1.0], [1.0, 1.0]], [[math.nan] * 2] * 2])
def test_a_flat_surface_has_no_levels(values: list[list[float]]) -> None:
    assert levels(np.array(values)) == []


@pytest.mark.parametrize("below", [True, False])
@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_the_words_of_a_level_stay_between_the_axes(value: float, below: bool) -> None:
    plot = Plot(Scale(0.0, 1.0, 50.0, 250.0), Scale(0.0, 1.0, 220.0, 20.0))

    plot.level(value, "the limit", below=below)

    (row,) = re.findall(r'y="([\d.]+)" text-anchor="start">the limit<', svg_of(plot))
    assert 20 + 9 < float(row) < 220  # letters are 9 px high


@pytest.mark.parametrize(
    ("high", "words"), [(1.06, "0 1"), (2.1, "0 1 2"), (12.0, "0 2 4 6 8 10 12")]
)
def test_between_integers_there_is_no_tick(high: float, words: str) -> None:
    scale = Scale(0.0, high, 0.0, 100.0, whole=True)

    assert [text for _, text in scale.ticks(10)] == words.split()


@pytest.mark.parametrize(
    ("low", "high", "is_turned"), [(0.0, 1.0, True), (-0.5, 0.5, True), (-3e28, 0.0, False)]
)
def test_wide_numbers_at_an_axis_do_not_lie_on_its_words(
    low: float, high: float, is_turned: bool
) -> None:
    plot = Plot(Scale(0.0, 1.0, 56.0, 250.0), Scale(low, high, 220.0, 120.0), y_label="value")

    assert ("rotate(-90" in svg_of(plot)) is is_turned
    (row,) = re.findall(r'y="([\d.]+)"[^>]*>value<', svg_of(plot))
    assert is_turned or float(row) < 120 - 5  # above the plot


def test_what_lies_under_other_marks_is_written_once_and_comes_first() -> None:
    x, y = Scale(0, 1, 0, 100), Scale(0, 1, 100, 0)
    map_ = Plot(x, y)
    map_.add(Area([[(0, 0), (1, 0), (1, 1)]], is_smooth=True))

    plots = [Plot(x, y, under=map_) for _ in range(2)]
    for plot, end in zip(plots, (0.25, 0.75), strict=True):
        plot.curve([0, end], [0, end])

    first, second = map(svg_of, plots)
    assert first.index('class="adk-band"') < first.index('class="adk-curve"')
    assert second == first.replace("L25 75", "L75 25")


def test_marks_that_can_be_picked_are_not_covered_by_what_lies_over_them() -> None:
    square = Area([[(0, 0), (9, 0), (9, 9), (0, 9)]], "bar")

    plain = chart_svg(Drawing([square], 10, 10, ""))
    svg = chart_svg(Drawing([Group([square], "a", "a < b"), square], 10, 10, ""))

    assert "pointer-events" not in plain
    root = ET.fromstring(svg)
    assert root.get("pointer-events") == "none"  # inherited by all but the group
    (group,) = [element for element in root.iter() if element.get("data-id")]
    assert (group.get("data-id"), group.get("aria-label")) == ("a", "a < b")
    assert group.get("pointer-events") == "all"


def test_a_drawing_is_measured_in_pixels_without_rounding() -> None:
    assert [PIXELS(value) for value in (0.1, 13.0, 496.3, 1500.7)] == [0.1, 13.0, 496.3, 1500.7]


def test_looks_for_programs_without_css_are_the_light_ones() -> None:
    style = chart_svg(Drawing([], 10, 10, ""))

    assert len(looks()) > 15
    for name, look in looks().items():
        assert all("var" not in value and "@" not in value for value in look.values()), name
    assert f".adk-curve{{fill:none;stroke:{looks()['curve']['stroke']};" in style
