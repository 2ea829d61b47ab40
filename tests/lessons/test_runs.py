"""An experiment that is run several times is drawn as it was: a dot for each run."""

import re
from itertools import pairwise

import pytest

from autodiff_kit.lessons.runs import PLOT, ROW, Runs

WITHOUT, WITH = [10.0, 12.5, 40.0], [70.0, 100.0]


@pytest.fixture(scope="module")
def svg() -> str:
    runs = Runs({"without": WITHOUT, "with": WITH}, "in %", limits=(0, 100), marks={"guess": 10})
    return runs._repr_mimebundle_()["image/svg+xml"]


def test_each_run_is_a_dot_at_its_value_in_the_row_of_its_setting(svg: str) -> None:
    dots = [
        (float(x), float(y))
        for x, y in re.findall(r'<circle class="adk-bar" cx="([\d.]+)" cy="([\d.]+)"', svg)
    ]
    assert len(dots) == len(WITHOUT + WITH)
    values = [*WITHOUT, *WITH]
    for (a, b), (first, second) in zip(pairwise(dots), pairwise(values), strict=True):
        assert b[0] - a[0] == pytest.approx((second - first) / 100 * PLOT, abs=0.2)
    assert [y - dots[0][1] for _, y in dots] == [0, 0, 0, ROW, ROW]


def test_names_ends_and_marks_are_written(svg: str) -> None:
    assert re.findall(r"<text[^>]*>([^<]+)</text>", svg)[-3:] == ["guess", "10 to 40", "70 to 100"]
    assert ">without</text>" in svg and ">in %</text>" in svg


def test_as_text_it_says_from_where_to_where_each_setting_goes() -> None:
    assert repr(Runs({"a": [0.25, 0.5], "bb": [1.0, 1.0]}, "loss")) == (
        "Runs(loss)\n  a   0.25 to 0.50\n  bb  1.00"
    )


def test_a_figure_has_the_same_rows() -> None:
    axes = Runs({"without": WITHOUT, "with": WITH}, "in %", limits=(0, 100)).figure().axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["without", "with"]
    assert axes.get_xlim() == (0, 100)


@pytest.mark.parametrize("rows", [{}, {"a": [1.0], "b": []}], ids=["no row", "no run"])
def test_nothing_to_draw_is_said(rows: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match=r"There is no (row to draw|run of 'b')\."):
        Runs(rows, "in %")
