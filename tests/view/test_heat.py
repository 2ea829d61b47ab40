"""Pictures of small matrices: in boxes, on arrows, and where broadcasting is undone."""

import re
from itertools import combinations
from math import inf
from xml.etree import ElementTree

import pytest

import autodiff_kit as ak
from autodiff_kit.view import base_svg, build, fitting, still_svg
from autodiff_kit.view.heat import cells, map_size, sum_map, sum_words
from tests.parity import require_torch

NUMBER = r">(-?(?:\d[\d.e+-]*|inf|nan))</text>"


def value(data, *shape):
    return {"shape": list(shape), "dtype": "float32", "data": data}


def drawn(run):
    """Record what a function does, and build its picture."""
    with ak.record() as recording:
        run()
    return build(recording)


def test_a_few_cells_show_their_numbers():
    svg = cells(value([1.0, -2.0, 0.0, float(4)], 2, 2))

    assert re.findall(">([^<]+)</text>", svg) == ["1.", "-2.", "0.", "4."]


def test_the_tint_grows_with_the_magnitude_and_negative_cells_are_framed():
    svg = cells(value([1.0, -2.0, 4.0, 2.0], 2, 2))
    tints = [float(o) for o in re.findall(r'fill-opacity="([\d.]+)"', svg)]

    assert tints[0] < tints[2] < tints[1]  # 1, 2 and 4
    assert len(re.findall('fill="none" stroke="currentColor"', svg)) == 1


def test_many_cells_are_squares_full_above_zero_and_hollow_below():
    svg = cells(value([1.0] * 10 + [-1.0] * 10, 4, 5))
    ElementTree.fromstring(svg)

    full, hollow = re.findall(r'<path d="([^"]+)"', svg)
    assert full.count("M") == hollow.count("M") == 10
    assert "m1.5 1.5" in hollow
    assert "m1.5 1.5" not in full


def test_a_cell_that_is_not_a_number_is_a_cross():
    svg = cells(value([1.0] * 19 + ["nan"], 4, 5))

    assert 'stroke="currentColor"' in svg


@pytest.mark.parametrize(
    "data",
    [
        value([1.0]),
        value([1.0], 1),
        value([1.0] * 8, 2, 2, 2),
        value([], 0),
        {**value([1.0] * 8, 100), "stats": {}},
    ],
)
def test_scalars_large_and_higher_tensors_have_no_picture(data):
    assert cells(data) is None


def test_infinite_cells_leave_the_others_readable():
    svg = cells(value(["inf", 1.0, 2.0, 3.0], 2, 2))

    assert re.findall(">([^<]+)</text>", svg) == ["inf", "1.", "2.", "3."]


# -- in boxes -----------------------------------------------------------------------------------


def test_a_box_says_the_largest_and_the_least_element_of_squares():
    svg = cells(value([0.25, -1.5, *[0.0] * 10], 4, 3))

    assert re.findall(">([^<]+)</text>", svg) == ["max 0.25", "min -1.5"]


def test_a_vector_that_fits_on_a_line_is_written_out_and_a_longer_one_is_drawn():
    assert cells(value([1.0, 2.0, 3.0], 3)) is None
    assert cells(value([float(i) for i in range(12)], 12)).count("<text") == 1


def test_what_is_wider_than_a_box_is_no_picture():
    assert cells(value([1.0] * 26, 2, 13)) is None


def test_a_box_shows_a_matrix_and_later_its_gradient_and_keeps_room_for_both():
    w = ak.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
    picture = drawn(lambda: (w * w).sum().backward())
    width, height = picture.sizes[0]

    assert picture.texts[0]["lines"] == ["(2, 2)"]
    before, after = still_svg(picture, 0), still_svg(picture)
    box = re.search(r'<g class="adk-node adk-leaf.*?data-node="0".*?</svg></g></g>', after)[0]
    assert re.findall(NUMBER, box) == ["1.", "-2.", "3.", "4.", "2.", "-4.", "6.", "8."]
    assert f'width="{width:g}" height="{height:g}"' in before
    pictures = [*picture.texts[0]["cells"], *picture.texts[0]["maps"]]
    assert sum(map_size(p)[1] for p in pictures[:2]) < height
    assert all(map_size(p)[0] < width for p in pictures)


def test_a_matrix_too_large_to_be_drawn_shows_its_shape_alone():
    w = ak.ones(28, 28, requires_grad=True)
    picture = drawn(lambda: (w * w).sum().backward())

    assert picture.texts[0]["lines"] == ["(28, 28)"]
    assert picture.texts[0]["cells"] == picture.texts[0]["maps"] == []
    assert "<svg" not in base_svg(picture)


def test_a_change_in_place_changes_the_picture_in_the_box():
    w = ak.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)

    def run():
        (w + 1).sum()
        with ak.no_grad():
            w.mul_(2.0)

    changed = [f["set"]["0"] for f in drawn(run).frames if f["kind"] == "modified"]
    assert re.findall(NUMBER, changed[0]["cells"]) == ["2.", "4.", "6.", "8."]


# -- broadcasting undone ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ((4, 3), (3,), "4 rows"),
        ((4, 3), (1, 3), "4 rows"),
        ((4, 3), (4, 1), "3 columns"),
        ((4, 3), (), "12 elements"),
        ((4, 3), (1, 1), "12 elements"),
        ((5,), (), "5 elements"),
        ((2, 4, 3), (3,), "8 parts"),
    ],
)
def test_what_adds_up_is_counted(before, after, words):
    assert sum_words(before, after) == words


@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 1), ()])
@pytest.mark.parity
def test_the_sum_shown_on_the_arrow_is_pytorchs_gradient(shape):
    torch = require_torch()
    x = [[1.0, 2.0, -3.0], [4.0, 0.5, 6.0], [7.0, -8.0, 9.0], [-1.0, 2.0, 3.0]]
    theirs = torch.ones(shape, requires_grad=True)
    (torch.tensor(x) * theirs).sum().backward()
    ours = ak.ones(shape, requires_grad=True)
    data = ak.tensor(x)

    picture = drawn(lambda: (data * ours).sum().backward())

    frame = next(f for f in picture.frames if f["kind"] == "unbroadcast")
    numbers = [float(n) for n in re.findall(NUMBER, frame["along"][frame["edge"]]["map"])]
    grad, copies = theirs.grad.flatten().tolist(), [v for row in x for v in row]
    if shape == (4, 1):  # the copies stand on the left
        assert numbers == copies + grad
    else:
        assert numbers == grad + copies


def test_the_sum_is_dashed_until_it_is_there_and_takes_no_more_room_then():
    copies, total = value([1.0] * 12, 4, 3), value([4.0] * 3, 3)

    before, after = (sum_map(copies, total, is_done=done) for done in (False, True))

    assert "stroke-dasharray" in before
    assert "stroke-dasharray" not in after
    assert map_size(before) == map_size(after)


def test_an_arrow_says_how_a_shape_is_broadcast_until_the_gradient_is_back():
    b, x = ak.zeros(3, requires_grad=True), ak.ones(4, 3)
    picture = drawn(lambda: (x + b).sum().backward())
    undone = next(k for k, f in enumerate(picture.frames) if f["kind"] == "unbroadcast")

    labels = [">(3,) → (4, 3)<" in still_svg(picture, k) for k in (undone - 3, undone)]
    assert labels == [True, False]


# -- matrix products ----------------------------------------------------------------------------


def test_an_arrow_of_a_matrix_product_says_how_the_shapes_fit():
    w = ak.ones(2, 3, requires_grad=True)
    x = ak.ones(4, 2, requires_grad=True)
    picture = drawn(lambda: (x @ w).sum().backward())

    sent = {
        fields["slope"]: fields["sent"]
        for frame in picture.frames
        for fields in frame.get("along", {}).values()
        if "@" in fields["sent"]
    }
    assert sent == {
        "gradient @ w.T": "(4, 3) @ (3, 2) = (4, 2)",
        "x.T @ gradient": "(2, 4) @ (4, 3) = (2, 3)",
    }


# -- room ---------------------------------------------------------------------------------------


def test_pictures_on_arrows_keep_clear_of_boxes_and_of_each_other(monkeypatch):
    monkeypatch.setattr(fitting, "HEIGHT", inf)  # else they are left out
    ak.manual_seed(0)
    x, c = ak.randn(4, 3, requires_grad=True), ak.randn(4, 1, requires_grad=True)
    b, k = ak.randn(3, requires_grad=True), ak.tensor(2.0, requires_grad=True)
    picture = drawn(lambda: ((x * c + b) * k * x).sum().backward())

    places = [
        (left, top, left + width, top + height)
        for (left, top), (width, height) in zip(
            picture.layout.positions, picture.sizes, strict=True
        )
    ]
    for edge, middle in zip(picture.outline.edges, picture.layout.labels, strict=True):
        if middle is not None:
            width, height = picture.chips[edge.id].size
            left, top = middle[0] - width / 2, middle[1] - height / 2
            places.append((left, top, left + width, top + height))
    assert sum(bool(chip.maps) for chip in picture.chips.values()) >= 5
    for one, other in combinations(places, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def test_boxes_of_a_graph_that_is_too_large_to_be_open_as_it_is_have_no_pictures():
    w = ak.ones(2, 2, requires_grad=True)

    def run(count):
        y = w
        for _ in range(count):
            y = y * w
        y.sum().backward()

    small, large = (drawn(lambda count=count: run(count)) for count in (1, 60))
    assert all(text["cells"] for text in small.texts[:-1])  # all but the sum
    assert not any(text["cells"] or text["maps"] for text in large.texts)
