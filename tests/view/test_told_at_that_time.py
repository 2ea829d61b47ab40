"""Each step is true when it is told: what is written, changed and called so at that time."""

from __future__ import annotations

import re

import pytest

from autodiff_kit.view.shortening import in_outline, in_short
from tests.invariants.conftest import LIBRARIES
from tests.view.captions import captions

BOTH = pytest.mark.parametrize("library", LIBRARIES)
X = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"


# -- views -----------------------------------------------------------------------------------------


@BOTH
def test_a_change_through_a_view_is_told_once(library: str) -> None:
    steps = captions(X + "y = x * 2\ny[1:] *= 3\ny.sum().backward()", library)

    assert not [step for step in steps if "in place: " in step]  # it is a step of its own


@BOTH
def test_a_view_that_is_not_used_again_gets_no_new_node(library: str) -> None:
    steps = captions(X + "y = x * 2\nrow = y[1:]\ny.mul_(3)\ny.sum().backward()", library)

    assert not [step for step in steps if "view again" in step]
    assert [step for step in steps if re.match(r"row\d? = y1\[1:\]: slice", step)]


# -- expressions -----------------------------------------------------------------------------------


@BOTH
def test_spaces_inside_of_a_string_stay(library: str) -> None:
    source = 'w = x * len("a  b") + len("""c\n\nd""")'
    steps = captions(X + source, library)

    assert [step.partition(":")[0] for step in steps[1:]] == [
        'x * len("a  b")',
        r"w = x * len('a  b') + len('c\n\nd')",
    ]


def test_what_is_left_out_takes_its_own_parentheses_along() -> None:
    quotient = "1 / ((stack(…).norm(…)) + 1e-06) * 1."

    assert in_short(quotient, 32) == "1 / ((stack(…).…) + 1e-06) * 1."
    assert in_short(f"clamp({quotient}, -inf, 1.)", 32) == "clamp(1 / ((…)) * 1., -inf, 1.)"
    assert (
        in_short("where([True], -((p - log(…)).sum(…)), 0)", 32) == "where([True], -(….sum(…)), 0)"
    )


def test_an_outline_leaves_all_but_arguments_as_it_is_written() -> None:
    text = 'params["w"] * 3. + f(x, 1)(y).sum(dim=1)'

    assert in_outline(text, 39) == 'params["w"] * 3. + f(…)(…).sum(…)'


@BOTH
def test_what_a_loss_was_not_given_is_not_told(library: str) -> None:
    loss = "torch.nn.functional.cross_entropy(x[None], torch.tensor([1]), label_smoothing=0.1)"
    steps = captions(X + f"loss = {loss}", library)

    assert [step for step in steps if "nll loss makes" in step]
    assert not [step for step in steps if "None)" in step or "(1,)," in step]


@BOTH
def test_dimensions_of_a_reduction_are_told_by_their_numbers(library: str) -> None:
    steps = captions(
        "x = torch.ones(2, 3, requires_grad=True)\nx.amax(1).sum().backward()", library
    )

    assert [step for step in steps if "the largest elements along dim 1, 0 for" in step]
