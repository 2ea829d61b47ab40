"""A step says where broadcasting makes more of two operands than each of them has."""

from typing import Any

import numpy as np
import pytest

from autodiff_kit.view import build
from tests.record.libraries import LIBRARIES, recorded

SHAPES = "pred = torch.ones({0}, requires_grad=True)\ny = torch.ones({1})\n"


def caption(left: str, right: str, line: str, library: Any) -> str:
    rec = recorded(SHAPES.format(left, right) + line, library)
    return [f["caption"] for f in build(rec).frames if f["kind"] == "op"][-1]


@LIBRARIES
@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("line", ["d = pred - y", "d = torch.nn.functional.mse_loss(pred, y)"])
@pytest.mark.parametrize(("left", "right"), [((3, 1), (3,)), ((1, 4), (2, 1)), ((2, 1, 3), (2, 3))])
def test_where_both_operands_are_stretched_the_step_says_so(
    left: tuple[int, ...], right: tuple[int, ...], line: str, library: Any
) -> None:
    words = caption(str(left), str(right), line, library)

    whole = np.broadcast_shapes(left, right)
    assert f"Broadcasting makes {whole} of {left} and {right}" in words
    assert ("write y.view_as(pred)" in words) == (len(left) != len(right))


@LIBRARIES
def test_what_is_advised_gives_one_difference_for_each(library: Any) -> None:
    rec = recorded(SHAPES.format("(3, 1)", "(3,)") + "d = pred - y.view_as(pred)", library)

    assert rec.nodes[-1]["value"]["shape"] == [3, 1]
    assert not any("Broadcasting" in f["caption"] for f in build(rec).frames)


@LIBRARIES
@pytest.mark.parametrize(("left", "right"), [("(3,)", "()"), ("(2, 3)", "(3,)"), ("(3,)", "(1,)")])
def test_what_is_added_to_each_row_or_element_is_no_trap(
    left: str, right: str, library: Any
) -> None:
    assert "Broadcasting" not in caption(left, right, "d = pred + y", library)
