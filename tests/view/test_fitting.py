"""What opens first fits the pane: by the drawing itself, not by an estimate of it."""

from functools import cache

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.fitting import HEIGHT, WHOLE, WIDTH
from tests.gate import some
from tests.invariants.running import run
from tests.view.programs import BY_HAND, LARGE


@cache
def picture_of(name):
    return build(LARGE[name]())


@pytest.mark.parametrize("name", some(LARGE, 6))
def test_what_opens_first_fits_at_seventy_percent_in_a_window_of_900_pixels(name):
    picture = picture_of(name)

    assert picture.layout.width <= WIDTH
    assert picture.layout.height <= HEIGHT


@pytest.mark.parametrize("name", some(LARGE, 6))
def test_a_recording_is_never_one_box(name):
    picture = picture_of(name)

    assert sum(box.kind == "fold" for box in picture.outline.boxes) > 1


def test_leaves_that_the_same_folds_use_are_one_box_only_where_they_do_not_fit():
    wide = picture_of("an LSTM")
    narrow = picture_of("a loop")

    assert "Wf, Wi, Wg, Wo" in [box.title for box in wide.outline.boxes]
    assert sorted(narrow.texts[i]["name"] for i in range(3)) == ["b", "h", "w"]


def test_opening_one_part_leaves_the_others_as_they_were():
    picture = picture_of("a recurrent net")
    first, *others = (box for box in picture.outline.boxes if box.part)

    wider = picture.opened(picture.outline.parts.key(first.part))

    titles = [box.title for box in others]
    assert titles
    assert set(titles) <= {box.title for box in wider.outline.boxes}


def test_few_nodes_are_drawn_whole_even_where_they_do_not_fit():
    picture = build(run("", ak, "x = torch.tensor(1.0)\n" + "x = x * 2.0\n" * 20).recording)

    assert picture.size <= WHOLE
    assert picture.layout.height > HEIGHT
    assert not any(box.kind == "fold" for box in picture.outline.boxes)


def test_of_a_small_run_something_is_open_to_be_stepped_through():
    for rounds in (2, 4, 6):
        picture = build(run("", ak, BY_HAND.replace("range(12)", f"range({rounds})")).recording)

        assert picture.size <= WHOLE
        assert sum(box.kind == "op" for box in picture.outline.boxes) >= 3
        assert {"visit", "contribution"} <= {frame["kind"] for frame in picture.frames}


def test_a_small_graph_has_pictures_of_matrices_only_where_it_fits_with_them():
    chain = "w = torch.ones(2, 2, requires_grad=True)\ny = w{}\ny.sum().backward()"
    short, long = (build(run("", ak, chain.format(" * w" * n)).recording) for n in (1, 4))

    assert any(text["cells"] for text in short.texts)
    assert short.layout.height <= HEIGHT
    assert not any(text["cells"] or text["maps"] for text in long.texts)


@pytest.mark.parametrize("hidden", [1, 2])
def test_a_small_network_opens_as_its_layers_where_its_operations_do_not_fit(hidden: int) -> None:
    layers = "".join("torch.nn.Linear(3, 3), torch.nn.Tanh(), " for _ in range(hidden))
    source = f"net = torch.nn.Sequential({layers}torch.nn.Linear(3, 2))\nX = torch.ones(5, 3)\n"
    source += "t = torch.zeros(5, dtype=torch.int64)\n"
    source += "loss = torch.nn.functional.cross_entropy(net(X), t)\nloss.backward()"
    picture = run("", ak, source).picture

    assert picture.layout.width <= WIDTH and picture.layout.height <= HEIGHT
    titles = [box.title for box in picture.outline.boxes if box.kind == "fold"]
    assert titles == [f"net.{2 * k}" for k in range(hidden + 1)]
