"""LBFGS beside PyTorch's: the same steps, and the same number of losses computed on the way."""

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run, run_as_pytorch

BANANA = """
x = torch.tensor([-1.5, 2.0, 0.3], dtype=torch.float64, requires_grad=True)
w = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
unused = torch.ones(2, dtype=torch.float64, requires_grad=True)
opt = torch.optim.LBFGS([x, w, unused], {options})
def closure():
    opt.zero_grad()
    banana = 100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2
    loss = banana.sum() + ((w - x[0]) ** 4).sum()
    loss.backward()
    return loss
for _ in range(8):
    loss = opt.step(closure).item()
    print(f"{{loss:.5g}}", [f"{{v:.5g}}" for v in x.tolist() + w.flatten().tolist()])
state = opt.state_dict()["state"][0]
print(state["func_evals"], state["n_iter"], x._version, sorted(state), unused)
"""


@pytest.mark.parametrize(
    "options",
    [
        "lr=0.5, max_iter=5, history_size=3",
        "lr=0.02",
        "line_search_fn='strong_wolfe', max_iter=7",
        "line_search_fn='strong_wolfe', max_eval=9, history_size=2, tolerance_change=1e-4",
    ],
)
def test_lbfgs_steps_as_pytorchs(options: str) -> None:
    assert run_as_pytorch(BANANA.format(options=options)).raised is None


def test_a_line_is_fitted_by_a_layer_as_in_pytorch() -> None:
    program = """
torch.manual_seed(0)
model, X = torch.nn.Linear(3, 1), torch.randn(20, 3)
Y = X.sum(1, keepdim=True)
opt = torch.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")
print(opt)
def closure():
    opt.zero_grad()
    loss = ((model(X) - Y) ** 2).mean()
    loss.backward()
    return loss
for _ in range(3):
    print(f"{opt.step(closure).item():.4f}")
print(model.weight)
"""
    assert run_as_pytorch(program).raised is None


@pytest.mark.parity
@pytest.mark.parametrize(
    "line",
    [
        "torch.optim.LBFGS([x], lr=-1)",
        "torch.optim.LBFGS([{'params': [x]}, {'params': [torch.ones(1)]}])",
        "torch.optim.LBFGS([x], line_search_fn='x').step(closure)",
    ],
)
def test_lbfgs_refuses_in_pytorchs_words_and_says_what_to_do(line: str) -> None:
    setup = """
x = torch.ones(1, requires_grad=True)
def closure():
    loss = (x ** 2).sum()
    loss.backward()
    return loss
"""
    expected = run(require_torch(), setup + line)

    outcome = run(autodiff_kit, setup + line)

    assert expected.raised is not None
    assert outcome.raised == expected.raised
    assert outcome.advice.startswith("-> ")
