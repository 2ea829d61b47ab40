"""Learning rates beside their formulas, from 1 on; PyTorch is not needed here."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, floor, pi, prod

import numpy as np
import pytest

import autodiff_kit as torch

# What makes a scheduler, and the rate after t epochs.
RATES: dict[str, Callable[[int], float]] = {
    "S.StepLR(opt, 3)": lambda t: 0.1 ** (t // 3),
    "S.MultiStepLR(opt, [2, 5, 5], gamma=0.5)": lambda t: 0.5 ** sum(t >= m for m in (2, 5, 5)),
    "S.ExponentialLR(opt, 0.9)": lambda t: 0.9**t,
    "S.ConstantLR(opt, 0.25, 4)": lambda t: 0.25 if t < 4 else 1.0,
    "S.LinearLR(opt, 0.2, 0.9, 6)": lambda t: 0.2 + 0.7 * min(t, 6) / 6,
    "S.PolynomialLR(opt, 7, 2.0)": lambda t: (1 - min(t, 7) / 7) ** 2,
    "S.CosineAnnealingLR(opt, 5, 0.1)": lambda t: 0.1 + 0.9 * (1 + cos(pi * t / 5)) / 2,
    "S.CosineAnnealingWarmRestarts(opt, 3)": lambda t: (1 + cos(pi * (t % 3) / 3)) / 2,
    "S.LambdaLR(opt, lambda t: 1 / (1 + t))": lambda t: 1 / (1 + t),
    "S.MultiplicativeLR(opt, lambda t: 0.5 + t / 10)": lambda t: prod(
        0.5 + i / 10 for i in range(1, t + 1)
    ),
    "S.CyclicLR(opt, 0.1, 1.0, step_size_up=4, cycle_momentum=False)": lambda t: (
        0.1 + 0.9 * (1 - abs(t / 4 - 2 * floor(1 + t / 8) + 1))
    ),
    "S.OneCycleLR(opt, 1.0, 11, pct_start=0.5, anneal_strategy='linear', cycle_momentum=False)": (
        lambda t: float(np.interp(t, [0, 4.5, 10], [1 / 25, 1, 1 / 25e4]))
    ),
    "S.SequentialLR(opt, [S.ConstantLR(opt, 0.1, 3), S.ExponentialLR(opt, 0.5)], [3])": (
        lambda t: 0.1 if t < 3 else 0.5 ** (t - 3)
    ),
    "S.ChainedScheduler([S.ConstantLR(opt, 0.1, 5), S.ExponentialLR(opt, 0.9)])": (
        lambda t: (0.1 if t < 5 else 1) * 0.9**t
    ),
    "SWALR(opt, 0.5, 4, 'linear')": lambda t: 1 - 0.5 * min(t, 4) / 4,
}


def optimizer() -> torch.optim.SGD:
    return torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=1.0)


@pytest.mark.parametrize("call", RATES)
def test_a_scheduler_gives_the_rates_of_its_formula(call: str) -> None:
    opt = optimizer()
    names = {"S": torch.optim.lr_scheduler, "SWALR": torch.optim.swa_utils.SWALR, "opt": opt}
    scheduler = eval(call, names)

    rates = []
    for _ in range(10):
        rates.append(opt.param_groups[0]["lr"])
        opt.step()
        scheduler.step()

    assert rates == pytest.approx([RATES[call](t) for t in range(10)], rel=1e-12)


def test_a_plateau_longer_than_the_patience_halves_the_rate() -> None:
    opt = optimizer()
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2)

    rates = []
    for loss in (3.0, 2.0, 2.0, 2.0, 2.0, 1.0):  # the third epoch without progress is too many
        opt.step()
        scheduler.step(loss)
        rates.append(opt.param_groups[0]["lr"])

    assert rates == [1.0, 1.0, 1.0, 1.0, 0.5, 0.5]
