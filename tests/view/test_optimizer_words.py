"""The step of an optimizer is told by its formula, with the numbers of the run."""

import linecache
from itertools import count
from math import sqrt

import pytest

import autodiff_kit as torch
from autodiff_kit.view import build

_numbers = count(1)


def steps(
    optimizer: str, *, w: str = "torch.tensor(1.0)", rounds: int = 1, last: str = ""
) -> list[str]:
    source = f"""w = {w}.requires_grad_()
opt = torch.optim.{optimizer}
for k in range({rounds}):
    opt.zero_grad()
    loss = (w * 4).sum()
    loss.backward()
    opt.step()
    {last}
"""
    file = f"<optimizer {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    with torch.record() as recording:
        exec(compile(source, file, "exec"), {"torch": torch})
    captions = [frame["caption"] for frame in build(recording).frames]
    return [caption.removeprefix("Iteration 1. ") for caption in captions if ".step " in caption]


def test_a_step_down_the_slope_is_told_with_its_rule_and_its_numbers():
    assert steps("SGD([w], lr=0.1)") == [
        "SGD.step sets w to w - lr × w.grad = 1.0 - 0.1 × 4.0 = 0.6."  # 1 - 0.1 * 4
    ]


def test_of_a_large_parameter_the_shape_and_the_first_element_are_told():
    assert steps("SGD([w], lr=0.5)", w="torch.ones(3, 5)") == [
        "SGD.step sets w to w - lr × w.grad, with lr = 0.5: a (3, 5) tensor. "
        "Its first element: 1.0 - 0.5 × 4.0 = -1.0."
    ]


def test_the_learning_rate_that_is_told_is_that_of_the_step():
    halved = "SGD([w], lr=0.1); schedule = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)"
    first, second = steps(halved, rounds=2, last="schedule.step()")

    assert "= 1.0 - 0.1 × 4.0 = 0.6." in first
    assert "= 0.6 - 0.05 × 4.0 = 0.4." in second


@pytest.mark.parametrize(
    ("optimizer", "formula", "names"),
    [
        (
            "SGD([w], lr=0.1, momentum=0.9)",
            "w - lr * buffer",
            {"buffer": 4.0},  # the gradient alone
        ),
        (
            "SGD([w], lr=0.1, weight_decay=0.5)",
            "w - lr * (grad + weight_decay * w)",
            {"weight_decay": 0.5},
        ),
        # The means are divided by 1 - beta at the first step: they are the gradient and its square.
        (
            "Adam([w], lr=0.1)",
            "w - lr * m / (sqrt(v) + eps)",
            {"m": 4.0, "v": 16.0, "eps": 1e-8},
        ),
        (
            "AdamW([w], lr=0.1, weight_decay=0.5)",
            "(1 - lr * weight_decay) * w - lr * m / (sqrt(v) + eps)",
            {"m": 4.0, "v": 16.0, "eps": 1e-8, "weight_decay": 0.5},
        ),
        (
            "RMSprop([w], lr=0.1, alpha=0.75)",
            "w - lr * grad / (sqrt(v) + eps)",
            {"v": 0.25 * 16.0, "eps": 1e-8},
        ),
        (
            "Adagrad([w], lr=0.1)",
            "w - lr * grad / (sqrt(v) + eps)",
            {"v": 16.0, "eps": 1e-10},
        ),
    ],
)
def test_the_formula_of_an_optimizer_gives_what_its_step_has_made(optimizer, formula, names):
    (caption,) = steps(optimizer)

    name = optimizer.split("(")[0]
    assert f"{name}.step sets w to {formula.replace(' * ', ' × ').replace('grad', 'w.grad')}" in (
        caption
    )
    assert "with lr = 0.1" in caption
    result = float(caption.rstrip(".").rsplit(" ", 1)[1])
    expected = eval(formula, {"w": 1.0, "lr": 0.1, "grad": 4.0, "sqrt": sqrt, **names})
    assert result == pytest.approx(expected, abs=1e-4)


def test_an_optimizer_without_a_formula_here_is_told_with_its_learning_rate():
    (caption,) = steps("Adadelta([w], lr=0.5)")

    assert caption.startswith("Adadelta.step changes w with lr = 0.5: 1.0 becomes ")


def test_a_gradient_with_decay_keeps_its_parentheses_where_it_is_squared():
    (caption,) = steps("Adam([w], lr=0.5, weight_decay=0.25)")

    assert "of w.grad + weight_decay × w and of (w.grad + weight_decay × w) ** 2" in caption


@pytest.mark.parametrize(
    "optimizer",
    [
        "Adam([w], lr=0.5, amsgrad=True)",
        "Adagrad([w], lr=0.5, lr_decay=1.0)",
        "Adagrad([w], lr=0.5, initial_accumulator_value=1.0)",
        "SGD([w], lr=0.5, momentum=0.9, nesterov=True)",
        "RMSprop([w], lr=0.5, centered=True)",
        "RMSprop([w], lr=0.5, momentum=0.9)",
        "AdamW([w], lr=0.5, maximize=True)",
    ],
)
def test_with_a_setting_that_no_formula_here_has_none_is_told(optimizer):
    (caption,) = steps(optimizer)

    assert caption.startswith(f"{optimizer.split('(')[0]}.step changes w with lr = 0.5")


def test_adam_with_a_decay_of_its_own_is_told_as_adamw():
    (caption,) = steps("Adam([w], lr=0.1, weight_decay=0.5, decoupled_weight_decay=True)")

    assert "sets w to (1 - lr × weight_decay) × w - lr × m / (sqrt(v) + eps)" in caption
    assert caption.endswith("1.0 becomes 0.85.")  # 1 - 0.1 * 0.5 - 0.1 * 4 / 4
