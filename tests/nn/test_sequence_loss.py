"""Connectionist temporal classification: ``ctc_loss`` beside finite differences and PyTorch."""

import pytest

import autodiff_kit as torch
from autodiff_kit.nn import functional as F
from tests.same_as_torch.outcomes import run_as_pytorch

GIVEN = """
F = torch.nn.functional
torch.manual_seed(0)
x = torch.randn(6, 2, 4).double().log_softmax(2).requires_grad_()
t = torch.tensor([[1, 2], [2, 2]])
n, m = torch.tensor([6, 5]), torch.tensor([2, 1])
"""
CALLS = """
F.ctc_loss(x, t, n, m)
F.ctc_loss(x, t, (6, 5), [2, 1], reduction="none")
F.ctc_loss(x, t.int(), n, m, 3, "sum")
F.ctc_loss(x, t.flatten()[:3], n, m)
F.ctc_loss(x[:, 0], t[0], torch.tensor(6), torch.tensor(2), reduction="none")
F.ctc_loss(x, t, torch.tensor([2, 1]), torch.tensor([2, 2]), reduction="none")
F.ctc_loss(x, t, torch.tensor([2, 1]), torch.tensor([2, 2]), zero_infinity=True)
F.ctc_loss(x, t, torch.tensor([2, 0]), torch.tensor([2, 0]), reduction="none")
torch.nn.CTCLoss(3, "sum")(x, t, n, m)
"""
REFUSED = """
F.ctc_loss(x, t, torch.tensor([7, 5]), m)
F.ctc_loss(x, t, torch.tensor([6]), m)
F.ctc_loss(x, t, n, m[:1])
F.ctc_loss(x, t, n.float(), m)
F.ctc_loss(x, t, n, torch.tensor([3, 1]))
F.ctc_loss(x, t, n, m, blank=4)
F.ctc_loss(x, t, n, m, reduction="x")
F.ctc_loss(x, t, n, torch.tensor([2, -1]))
F.ctc_loss(x, t, torch.tensor([2, -1]), m)
F.ctc_loss(x.long(), t, n, m)
F.ctc_loss(x, t.flatten(), n, m)
F.ctc_loss(x, t[:1], n, m)
F.ctc_loss(x, t)
torch.autograd.grad(F.ctc_loss(x, t, n, m), x, create_graph=True)[0].sum().backward()
"""


@pytest.mark.parity
def test_behind_log_softmax_the_gradient_is_that_of_finite_differences() -> None:
    torch.manual_seed(0)
    scores = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([5, 4]), torch.tensor([2, 1])

    def loss(scores: torch.Tensor) -> torch.Tensor:
        return F.ctc_loss(scores.log_softmax(2), torch.tensor([[1, 1], [2, 0]]), *lengths)

    assert torch.autograd.gradcheck(loss, scores)


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_losses_and_gradients_are_pytorchs(call: str) -> None:
    program = f"out = {call}\nprint(out, out.grad_fn.next_functions[0][0])\n"
    assert run_as_pytorch(f"{GIVEN}{program}out.sum().backward()\nprint(x.grad)") is not None


@pytest.mark.parametrize("call", REFUSED.strip().split("\n"))
def test_wrong_calls_are_refused_in_pytorchs_words(call: str) -> None:
    assert run_as_pytorch(GIVEN + call).raised is not None
