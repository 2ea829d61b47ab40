"""Cholesky's factor and triangular systems: gradients by finite differences, words by PyTorch."""

import pytest

import autodiff_kit as ak
from autodiff_kit.autograd import gradcheck, gradgradcheck
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run_both


def test_the_gradients_of_a_factor_are_those_of_finite_differences() -> None:
    x = ak.tensor([[1.2, 0.3], [-0.4, 0.9]], dtype=ak.float64, requires_grad=True)

    def factor(x: ak.Tensor) -> ak.Tensor:
        return ak.linalg.cholesky(x @ x.T + ak.eye(2, dtype=ak.float64))

    assert gradcheck(factor, x)
    assert gradgradcheck(factor, x)


@pytest.mark.parity
@pytest.mark.parametrize(
    "program",
    [
        "print(torch.linalg.cholesky(A), torch.linalg.cholesky(A, upper=True))",
        "torch.linalg.cholesky(torch.tensor([[1.0, 2.0], [2.0, 1.0]]))",
        "torch.linalg.cholesky(torch.stack([A, -A]))",
        "print(torch.linalg.solve_triangular(A, B, upper=True))",
        "print(torch.linalg.solve_triangular(A, B, upper=False, unitriangular=True))",
        "print(torch.linalg.solve_triangular(A, B.T.contiguous(), upper=True, left=False))",
        "torch.linalg.solve_triangular(A, torch.ones(3, 1), upper=True)",
        "torch.linalg.solve_triangular(A, B, upper=True, left=False)",
    ],
)
def test_results_and_errors_are_pytorchs(program: str) -> None:
    setup = "A = torch.tensor([[2.0, 0.5], [0.5, 1.0]])\nB = torch.arange(6.0).view(2, 3)\n"

    run_both(require_torch(), setup + program)


QR = """
A = (torch.arange(24.0).double() ** 2 * 1.3).sin().view(2, 4, 3).requires_grad_()

def show(x, mode, *outputs):
    factors = torch.linalg.qr(x, mode)
    print(factors, [factor.stride() for factor in factors])
    total = 0
    for number in outputs:
        weights = torch.arange(factors[number].numel()).double().cos()
        total = total + (factors[number] * weights.view_as(factors[number])).sum()
    (gradient,) = torch.autograd.grad(total, A, create_graph=True)
    (second,) = torch.autograd.grad((gradient * gradient).sum(), A)
    print((gradient * 1e6).round() + 0, (second * 1e6).round() + 0)

"""


@pytest.mark.parity
@pytest.mark.parametrize("x", ["A", "A.mT", "A[0]", "A[1].T", "A[:, :3]"])
@pytest.mark.parametrize("outputs", ["0", "1", "0, 1"])
def test_qr_and_both_its_derivatives_are_pytorchs(x: str, outputs: str) -> None:
    mode = "complete" if x == "A[:, :3]" else "reduced"
    assert run_both(require_torch(), f"{QR}show({x}, '{mode}', {outputs})").raised is None


@pytest.mark.parity
@pytest.mark.parametrize(
    "call",
    [
        "torch.linalg.qr(A, 'x')",
        "torch.linalg.qr(A.detach().long())",
        "torch.linalg.qr(A[0, 0])",
        "torch.linalg.qr(A, 'r').R.sum().backward()",
        "torch.linalg.qr(A, 'complete').R.sum().backward()",
    ],
)
def test_qr_refuses_what_pytorchs_refuses(call: str) -> None:
    assert run_both(require_torch(), QR + call).raised is not None
