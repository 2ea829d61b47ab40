"""Schedulers beside PyTorch's: the same rates, bit by bit, and the same words when they fail."""

from __future__ import annotations

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run, run_as_pytorch

GIVEN = """
S = torch.optim.lr_scheduler
a, b = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.3}], lr=0.1, momentum=0.7)
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
S.MultiplicativeLR(opt, lambda epoch: 0.9 + 0.01 * epoch)
S.PolynomialLR(opt, 7, 2.0)
S.CosineAnnealingWarmRestarts(opt, 3)
S.CosineAnnealingWarmRestarts(opt, 2, 2, eta_min=0.01)
S.CyclicLR(opt, 0.01, 0.2, step_size_up=3)
S.CyclicLR(opt, [0.01, 0.02], 0.2, 3, 5, mode="triangular2", cycle_momentum=False)
S.CyclicLR(opt, 0.01, 0.2, 4, mode="exp_range", gamma=0.9)
S.CyclicLR(opt, 0.01, 0.2, 4, scale_fn=lambda x: 1 / (5 + x), scale_mode="iterations")
S.OneCycleLR(opt, 0.5, total_steps=18)
S.OneCycleLR(opt, [0.5, 1.0], epochs=3, steps_per_epoch=6, anneal_strategy="linear")
S.OneCycleLR(opt, 0.5, 18, three_phase=True, pct_start=0.4, cycle_momentum=False)
S.SequentialLR(opt, [S.LinearLR(opt, 0.1, total_iters=4), S.ExponentialLR(opt, 0.9)], [4])
S.SequentialLR(opt, [S.ConstantLR(opt, 0.1, 3), S.StepLR(opt, 2), S.StepLR(opt, 4)], [3, 8])
S.ChainedScheduler([S.ConstantLR(opt, 0.1, 5), S.ExponentialLR(opt, 0.9)])
""".strip().split("\n")


@pytest.mark.parametrize("expression", SCHEDULERS)
def test_a_scheduler_gives_the_rates_of_pytorch(expression: str) -> None:
    program = f"""{GIVEN}
scheduler = {expression}
for epoch in range(17):
    print(epoch, scheduler.get_last_lr(), [group["lr"] for group in opt.param_groups])
    print([group["momentum"] for group in opt.param_groups])
    opt.step()
    scheduler.step()
state = scheduler.state_dict()
print(getattr(scheduler, "base_lrs", None), state.get("last_epoch"))
print(state["_last_lr"])
opt2 = torch.optim.SGD([{{"params": [a]}}, {{"params": [b], "lr": 0.3}}], lr=0.1, momentum=0.7)
opt, before = opt2, scheduler
again = {expression}
again.load_state_dict(before.state_dict())
print(getattr(again, "last_epoch", None), again.get_last_lr())
"""
    assert run_as_pytorch(program).raised is None


WITH_EPOCHS = [s for s in SCHEDULERS if "Chained" not in s and "Sequential" not in s]


@pytest.mark.parametrize("expression", WITH_EPOCHS)
def test_a_scheduler_goes_to_an_epoch_as_in_pytorch(expression: str) -> None:
    program = f"""{GIVEN}
scheduler = {expression}
for epoch in (3, 4, 9, 0, 2):
    opt.step()
    scheduler.step(epoch)
    print(scheduler.last_epoch, scheduler.get_last_lr())
scheduler.step()
print(scheduler.last_epoch, scheduler.get_last_lr(), scheduler.get_lr())
"""
    assert run_as_pytorch(program).warned


def test_the_state_of_a_scheduler_prints_as_in_pytorch() -> None:
    run_as_pytorch(f"{GIVEN}\nprint(S.StepLR(opt, 3).state_dict())")
    run_as_pytorch(f"{GIVEN}\nprint(S.CosineAnnealingLR(opt, 3).state_dict())")


def test_adams_first_beta_is_the_momentum_of_a_cycle_as_in_pytorch() -> None:
    program = """
w = torch.ones(2, requires_grad=True)
opt = torch.optim.Adam([w], lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=2, steps_per_epoch=3)
for step in range(5):
    (w**2).sum().backward()
    opt.step()
    scheduler.step()
    opt.zero_grad()
    print(scheduler.get_last_lr(), opt.param_groups[0]["betas"])
print(w)
"""
    assert run_as_pytorch(program).raised is None


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
    assert run_as_pytorch(program).raised is None


def test_a_scheduler_before_the_optimizer_warns_as_in_pytorch() -> None:
    program = f"{GIVEN}\nscheduler = S.ExponentialLR(opt, 0.9)\nscheduler.step()\nopt.step()"
    assert run_as_pytorch(program).warned


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
        "S.OneCycleLR(opt, 0.1)",
        "S.OneCycleLR(opt, 0.1, 0)",
        "S.OneCycleLR(opt, 0.1, epochs=2.0, steps_per_epoch=3)",
        "S.OneCycleLR(opt, 0.1, 10, pct_start=2.0)",
        "S.OneCycleLR(opt, 0.1, 10, anneal_strategy='x')",
        "S.OneCycleLR(opt, [0.1], 10)",
        "S.OneCycleLR(torch.optim.Adagrad([torch.ones(1)]), 0.1, 10)",
        "s = S.OneCycleLR(opt, 0.1, 2)\nfor _ in range(4): s.step()",
        "S.CyclicLR(opt, 0.1, 0.2, mode='x')",
        "S.CosineAnnealingWarmRestarts(opt, 0)",
        "S.CosineAnnealingWarmRestarts(opt, 1, 0)",
        "S.CosineAnnealingWarmRestarts(opt, 1, eta_min='a')",
        "S.CosineAnnealingWarmRestarts(opt, 1).step(-1)",
        "S.SequentialLR(opt, [], [])",
        "S.SequentialLR(opt, [S.ReduceLROnPlateau(opt)], [])",
        "S.SequentialLR(opt, [S.StepLR(opt, 1)], [3])",
        "S.SequentialLR(opt, [3], [])",
        "S.ChainedScheduler([])",
    ],
)
@pytest.mark.parity
def test_the_kit_refuses_in_pytorchs_words_and_says_what_to_do(line: str) -> None:
    expected = run(require_torch(), f"{GIVEN}\n{line}")

    outcome = run(autodiff_kit, f"{GIVEN}\n{line}")

    assert expected.raised is not None
    assert outcome.raised == expected.raised
    assert outcome.advice.startswith("-> ")


def test_the_lines_about_devices_work_on_a_cpu() -> None:
    program = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.cuda.manual_seed(0); torch.cuda.manual_seed_all(0)
cudnn, cuda = torch.backends.cudnn, torch.backends.cuda
print(cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, cudnn.benchmark_limit)
print(cuda.is_built(), cuda.matmul.allow_tf32)
with cudnn.flags(enabled=False, benchmark=True):
    print(cudnn.enabled, cudnn.benchmark)
print(cudnn.enabled, cudnn.benchmark, cudnn.is_available())
cudnn.deterministic, cudnn.benchmark = True, True
print(cudnn.deterministic, cudnn.benchmark)
cudnn.deterministic, cudnn.benchmark = False, False
cuda.matmul.allow_tf32 = False
with torch.device("cpu") as within:
    print(device, within, torch.backends.mps.is_available(), torch.cuda.device_count())
    print(torch.nn.Linear(2, 1).to(device), torch.ones(1).to(device))
"""
    assert run_as_pytorch(program).raised is None
