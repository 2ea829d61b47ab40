"""Schedulers beside PyTorch's: the same rates, bit by bit, and the same words when they fail."""

from __future__ import annotations

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run, run_both

torch = require_torch()
pytestmark = pytest.mark.parity

GIVEN = """
S = torch.optim.lr_scheduler
a, b = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.3}], lr=0.1)
"""

SCHEDULERS = """
S.StepLR(opt, 3)
S.MultiStepLR(opt, [2, 5, 5], gamma=0.3)
S.ExponentialLR(opt, 0.9)
S.ConstantLR(opt, 0.25, 4)
S.LinearLR(opt, 0.2, 0.9, 6)
S.LinearLR(opt)
S.CosineAnnealingLR(opt, 5)
S.CosineAnnealingLR(opt, T_max=4, eta_min=0.01)
S.LambdaLR(opt, lambda epoch: 0.95 ** epoch)
S.LambdaLR(opt, [lambda epoch: 1 / (epoch + 1), lambda epoch: 2.0])
""".strip().split("\n")


@pytest.mark.parametrize("made", SCHEDULERS)
def test_a_scheduler_gives_the_rates_of_pytorch(made: str) -> None:
    program = f"""{GIVEN}
scheduler = {made}
for epoch in range(17):
    print(epoch, scheduler.get_last_lr(), [group["lr"] for group in opt.param_groups])
    opt.step()
    scheduler.step()
state = scheduler.state_dict()
print(scheduler.last_epoch, scheduler.base_lrs, state["last_epoch"], state["_last_lr"])
opt2 = torch.optim.SGD([{{"params": [a]}}, {{"params": [b], "lr": 0.3}}], lr=0.1)
opt, before = opt2, scheduler
again = {made}
again.load_state_dict(before.state_dict())
print(again.last_epoch, again.get_last_lr())
"""
    assert run_both(torch, program).raised is None


@pytest.mark.parametrize(
    "options",
    ["patience=1", "'max', 0.5, 0, threshold=0.1, threshold_mode='abs'", "min_lr=[0.05, 0.1]",
     "patience=0, cooldown=2, factor=0.5", "'min', 0.5, 1, 0.2, 'abs'"],
)  # fmt: skip
def test_a_plateau_lowers_the_rates_as_in_pytorch(options: str) -> None:
    program = f"""{GIVEN}
scheduler = S.ReduceLROnPlateau(opt, {options})
for value in (1.0, 0.9, 0.95, 0.91, 0.9, torch.tensor(0.9), 0.9, 1.5, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
    opt.step()
    scheduler.step(value)
    print(scheduler.get_last_lr(), scheduler.best, scheduler.num_bad_epochs)
"""
    assert run_both(torch, program).raised is None


def test_a_scheduler_before_the_optimizer_warns_as_in_pytorch() -> None:
    program = f"{GIVEN}\nscheduler = S.ExponentialLR(opt, 0.9)\nscheduler.step()\nopt.step()"
    assert run_both(torch, program).warned


@pytest.mark.parametrize(
    "line",
    [
        "S.ConstantLR(opt, 2)",
        "S.LinearLR(opt, 0)",
        "S.LinearLR(opt, 1, 2)",
        "S.LambdaLR(opt, [lambda epoch: 1.0])",
        "S.ReduceLROnPlateau(opt, factor=1.5)",
        "S.ReduceLROnPlateau(opt, 'x')",
        "S.ReduceLROnPlateau(opt, threshold_mode='x')",
        "S.ReduceLROnPlateau(3)",
        "S.ExponentialLR(3, 0.9)",
    ],
)
def test_the_kit_refuses_in_pytorchs_words_and_says_what_to_do(line: str) -> None:
    expected = run(torch, f"{GIVEN}\n{line}")

    found = run(autodiff_kit, f"{GIVEN}\n{line}")

    assert expected.raised is not None
    assert found.raised == expected.raised
    assert found.advice.startswith("-> ")


def test_the_lines_about_devices_work_on_a_cpu() -> None:
    program = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.cuda.manual_seed(0); torch.cuda.manual_seed_all(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
print(device, torch.backends.mps.is_available(), torch.cuda.device_count())
print(torch.nn.Linear(2, 1).to(device), torch.ones(1).to(device), torch.backends.cudnn.benchmark)
"""
    assert run_both(torch, program).raised is None
