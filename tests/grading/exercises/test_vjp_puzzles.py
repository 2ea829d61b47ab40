"""Exercise 19: the right answers of its checks are differences of its operations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_kit.grading.course import open_course

EXERCISE = open_course(Path(__file__).resolve().parents[3] / "exercises").exercise("19.vjp_puzzles")
Case = tuple[
    Callable[..., Any], Callable[[dict[str, Any]], tuple[Any, ...]]
]  # an operation, its inputs


def softmax(x: Any) -> Any:
    powers = np.exp(x)
    return powers / powers.sum(axis=1, keepdims=True)


def layer_norm(x: Any) -> Any:
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


# The operation of each check, and inputs that give what its example has.
CASES: dict[str, Case] = {
    "Columns": (lambda x: x.T.reshape(-1), lambda d: (np.ones(d["shape"]),)),
    "Scale": (lambda x, s: x * s, lambda d: (d["x"], d["s"])),
    "Outer": (np.outer, lambda d: (d["x"], d["y"])),
    "Linear": (lambda x, w: x @ w.T, lambda d: (d["x"], d["w"])),
    "Gather": (lambda table: table[[2, 0, 2]], lambda d: (np.ones(d["shape"]),)),
    "Cumsum": (lambda x: x.cumsum(axis=1), lambda d: (np.ones(d["g"].shape),)),
    "Max": (lambda x: x.max(axis=1), lambda d: (d["x"] + [0.0, 0.0, -0.5],)),  # no equal ones
    "LogSumExp": (lambda x: np.log(np.exp(x).sum(axis=1)), lambda d: (d["x"],)),
    "Softmax": (softmax, lambda d: (np.log(d["z"]),)),
    "LayerNorm": (layer_norm, lambda d: (d["z"] * d["std"],)),
}


@pytest.mark.parametrize("check", EXERCISE.checks, ids=lambda check: check.name)
def test_the_right_contributions_are_differences_of_the_operation(check: Any) -> None:
    operation, inputs_of = CASES[check.name]
    inputs = inputs_of(check.example)
    assert check.example["g"].shape == operation(*inputs).shape

    right = check.expected(check.example)

    contributions = right if isinstance(right, tuple) else (right,)
    for number, (x, contribution) in enumerate(zip(inputs, contributions, strict=True)):
        difference = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[place] += 1e-6
            down[place] -= 1e-6
            ends = [operation(*inputs[:number], e, *inputs[number + 1 :]) for e in (up, down)]
            difference[place] = (check.example["g"] * (ends[0] - ends[1])).sum() / 2e-6
        assert np.allclose(contribution, difference, atol=1e-7)


@pytest.mark.parametrize("check", EXERCISE.checks, ids=lambda check: check.name)
def test_a_picture_marks_the_first_number_that_is_wrong_and_shows_none_that_is_right(
    check: Any,
) -> None:
    from autodiff_kit.grading.pictures import without_right

    right = check.expected(check.example)
    parts = [np.array(part) for part in (right if isinstance(right, tuple) else (right,))]
    parts[-1][(-1,) * parts[-1].ndim] = 987.0
    wrong = tuple(parts) if isinstance(right, tuple) else parts[0]

    picture = check.picture(check.example, wrong, right)
    alone = without_right(picture)

    assert alone.count('class="adk-wrong"') == picture.count('class="adk-wrong"') == 1
    assert "987" in alone.partition('class="adk-wrong"')[2].partition("</text>")[0]
    assert "right" in picture.partition(">")[0] and "right is" not in alone
    assert alone.count("<svg") == 1 and picture.count("<svg") == 2
