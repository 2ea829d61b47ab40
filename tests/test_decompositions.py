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
