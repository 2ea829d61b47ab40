"""The canvas without a browser: its traits, its words, what is stored of it."""

import pytest
import traitlets

from autodiff_kit.widgets.canvas import Canvas

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"></svg>'


def test_the_stored_output_is_the_picture_and_its_words() -> None:
    canvas = Canvas(svg=SVG, caption="Four by three.")

    bundle = canvas._repr_mimebundle_()

    assert bundle is not None
    data, _ = bundle
    assert data["image/svg+xml"] == SVG
    assert data["text/plain"] == "Canvas(Four by three.)" == repr(canvas)


def test_an_empty_canvas_stores_no_picture() -> None:
    bundle = Canvas()._repr_mimebundle_()

    assert bundle is not None
    assert "image/svg+xml" not in bundle[0]


def test_what_the_browser_hands_back_can_be_observed() -> None:
    canvas, changes = Canvas(), []
    canvas.observe(lambda change: changes.append(change["new"]), names=["picked", "point"])

    canvas.set_state({"picked": "node-3"})
    canvas.set_state({"point": [1, 2.5]})

    assert changes == ["node-3", [1.0, 2.5]]


@pytest.mark.parametrize("point", [[1.0], [1.0, 2.0, 3.0], [0.0, float("nan")], [float("inf"), 0]])
def test_a_point_that_is_none_is_refused_in_words(point: list[float]) -> None:
    with pytest.raises(traitlets.TraitError, match=r"point is \[x, y\] with finite numbers"):
        Canvas(point=point)


def test_a_point_can_be_taken_away() -> None:
    canvas = Canvas(point=[1.0, 2.0])

    canvas.point = []

    assert canvas.point == []
