"""Sequences of different length: three ways, one gradient; and masks done wrong."""

from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import Batching
from autodiff_kit.widgets.batching import MASKS


def gradients(lab: Batching, way: int) -> list[Any]:
    return [gradient.values for gradient in lab.ways[way].gradients]


def test_the_cells_that_are_computed_are_those_of_the_lengths_or_of_the_longest() -> None:
    lab = Batching(lengths=[5, 2, 3])

    assert [way.cells for way in lab.ways] == [10, 15, 10]
    assert [way.padding for way in lab.ways] == [0, 5, 0]


def test_the_operations_are_counted_by_hand() -> None:
    lab = Batching(lengths=[5, 2, 3])

    # A step: two products, a sum, tanh; then sum, minus, square, sum, and plus for the total.
    # One by one takes ten steps; together they are five, with a mask in each, or with two cuts.
    # The last operation divides by the number of steps.
    assert [way.operations for way in lab.ways] == [10 * 9 + 1, 5 * (9 + 1) + 1, 5 * 9 + 2 + 1]


@pytest.mark.parametrize("lengths", [[5, 2, 3], [1], [4, 4], [1, 7, 1, 2]])
def test_all_ways_have_the_same_loss_and_gradients(lengths: list[int]) -> None:
    lab = Batching(lengths=lengths)

    for way in (1, 2):
        assert lab.ways[way].loss == pytest.approx(lab.ways[0].loss, rel=1e-5)
        for mine, others in zip(gradients(lab, way), gradients(lab, 0), strict=True):
            assert mine == pytest.approx(others, rel=1e-4, abs=1e-6)
        assert lab.ways[way].agrees(lab.ways[0])


@pytest.mark.parametrize("mask", [mask for mask in MASKS if mask != "right"])
def test_a_wrong_mask_gives_a_wrong_gradient_and_the_picture_says_so(mask: str) -> None:
    lab = Batching(lengths=[5, 2, 3])

    lab.controls["mask"].value = mask

    assert lab.ways[1].differing(lab.ways[0]) == ["U", "W"]
    assert lab.ways[2].agrees(lab.ways[0])
    assert "WRONG gradient of U, W" in lab.canvas.caption
    assert "(WRONG)" in lab.canvas.svg


def test_a_mean_over_all_cells_makes_the_gradient_smaller_by_the_share_of_padding() -> None:
    lab = Batching(lengths=[5, 2, 3])

    lab.controls["mask"].value = "right, but mean over all cells"

    for wrong, right in zip(gradients(lab, 1), gradients(lab, 0), strict=True):
        assert wrong == pytest.approx([10 / 15 * value for value in right], rel=1e-4)


def test_without_padding_no_mask_is_right_as_well() -> None:
    lab = Batching(lengths=[3, 3])

    lab.controls["mask"].value = "none: padding is data"

    assert lab.ways[1].agrees(lab.ways[0])


def test_a_step_of_the_learners_own_is_measured_under_its_names() -> None:
    A = torch.full((2, 3), 0.5, requires_grad=True)
    B = torch.full((3, 3), 0.1, requires_grad=True)

    def step(x: Any, h: Any) -> Any:
        return (x @ A + h @ B).sigmoid()

    lab = Batching(step, lengths=[2, 1])

    assert [gradient.name for gradient in lab.ways[0].gradients] == ["A", "B"]
    assert lab.ways[1].agrees(lab.ways[0])
    assert A.grad is None  # the lab leaves no trace


def test_a_module_can_be_the_step() -> None:
    cell = torch.nn.Linear(3, 3)

    lab = Batching(lambda x, h: (cell(h) + x.sum(dim=1, keepdim=True)).tanh(), lengths=[2, 3])

    assert [gradient.name for gradient in lab.ways[0].gradients] == ["cell.weight", "cell.bias"]
    assert lab.ways[2].agrees(lab.ways[0])


def test_picking_a_sequence_shows_its_graph_in_a_stepper() -> None:
    lab = Batching(lengths=[5, 2, 3])
    assert lab.stepper is None

    lab.canvas.picked = "row-1"
    two = lab.stepper
    lab.canvas.picked = "row-0"
    five = lab.stepper

    # Nine operations a step and one at the end; leaves: W, U, the first state, the first total,
    # and an input and a target for each step.
    assert len(two.picture.outline.box_of) == 2 * 9 + 1 + 4 + 2 * 2
    assert len(five.picture.outline.box_of) == 5 * 9 + 1 + 4 + 5 * 2

    lab.canvas.picked = ""
    assert lab.stepper is None


def test_the_still_picture_and_the_words_are_the_same_every_time() -> None:
    one, two = Batching(lengths=[3, 1]), Batching(lengths=[3, 1])

    assert one.still() == two.still()
    assert repr(one) == repr(two)
    assert one.canvas.caption == two.canvas.caption
    assert " ms" not in one.still() + one.canvas.caption
    assert " ms" in one.note


@pytest.mark.parametrize("words", ["", "three", "3, 0", "3, -1", "41", "1 " * 13, "2.5"])
def test_lengths_that_cannot_be_drawn_are_refused_in_words(words: str) -> None:
    lab = Batching(lengths=[3, 1])
    picture = lab.canvas.svg

    lab.controls["lengths"].value = words

    assert "is not a list of lengths" in lab.message
    assert lab.canvas.svg == picture


def test_the_largest_that_is_allowed_is_drawn() -> None:
    lab = Batching(lengths=[40, 1, *[7] * 10])

    assert lab.message == ""
    assert lab.ways[0].cells == 40 + 1 + 70


def raising(x: Any, h: Any) -> Any:
    raise RuntimeError("no step today")


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (raising, "no step today"),
        (lambda x, h: None, "returned nothing"),
        (lambda x, h: x, "a state of shape (1, 2)"),
        (lambda x, h: h, "depends on nothing that requires a gradient"),
        (lambda x: x, "TypeError"),
    ],
)
def test_what_is_wrong_with_a_step_is_said_in_the_lab(step: Any, words: str) -> None:
    assert words in Batching(step, lengths=[2, 1]).message


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="Batching takes one step of a network"):
        Batching([3, 1])  # type: ignore[arg-type]


def test_lengths_that_are_no_list_are_refused_with_an_example():
    with pytest.raises(TypeError, match=r"this is 3\.\n-> For example: Batching\(lengths="):
        Batching(lengths=3)


def test_no_line_of_the_kit_is_taken_for_the_learners():
    message = Batching(lambda x: x).message

    assert "takes 1 positional argument but 2 were given" in message
    assert "of your code" not in message


def test_one_cell_is_not_1_cells() -> None:
    lab = Batching(lengths=[1])

    assert "operations, 1 cell, no padding" in lab.canvas.caption
    assert ">1 cell<" in lab.canvas.svg


def weights() -> tuple[Any, Any]:
    torch.manual_seed(0)
    return torch.randn(2, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)


def test_a_step_whose_rows_depend_on_each_other_is_told_to_be_the_reason() -> None:
    u, w = weights()

    def coupled(x: Any, h: Any) -> Any:
        return (x @ u + h @ w - h.mean(0)).tanh()

    lab = Batching(coupled, lengths=[3, 1, 2])

    assert not lab.ways[2].agrees(lab.ways[0])
    assert "in coupled, a row depends on those beside it" in lab.canvas.caption


def test_nan_everywhere_is_not_called_a_wrong_gradient() -> None:
    u, w = weights()

    lab = Batching(lambda x, h: (x @ u + h @ w) * float("nan"), lengths=[3, 1, 2])

    assert "WRONG" not in lab.canvas.caption


def test_a_step_that_counts_its_calls_is_neither_compared_nor_timed() -> None:
    u, w = weights()
    calls = []

    def alternating(x: Any, h: Any) -> Any:
        calls.append(1)
        return (x @ u + h @ w).tanh() * (1.0 if len(calls) % 2 else 0.5)

    # One by one takes 6 calls, an even number: two runs of it agree.
    lab = Batching(alternating, lengths=[3, 1, 2])

    assert lab.canvas.caption == (
        "alternating changes calls each time, and this lab runs it more than once. "
        "So the three variants cannot be compared."
    )
    assert lab.note.startswith("Not timed:")
