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


def test_the_gradients_of_eigenvalues_and_eigenvectors_are_those_of_finite_differences() -> None:
    x = ak.tensor([[1.2, 0.3], [-0.4, 0.7]], dtype=ak.float64, requires_grad=True)

    def parts(x: ak.Tensor) -> tuple[ak.Tensor, ak.Tensor]:
        values, vectors = ak.linalg.eigh(x + x.T)
        return values, vectors * vectors.detach()[:1].sign()  # whatever sign LAPACK chose

    assert gradcheck(parts, x)
    assert gradgradcheck(parts, x)


OF_SPECTRA = """
    eigh(S); eigh(S).eigenvectors.stride(); eigh(torch.stack([S, S]))[1].stride()
    eigh(S, UPLO="U").eigenvalues; eigh(S, UPLO="X"); eigvalsh(S); eigh(A); eigh(S.long())
    eigh(A[0]); eigh(torch.full((2, 2), torch.nan)); pinv(A); pinv(A).stride(); pinv(A.T)
    pinv(A, rtol=0.9); pinv(A, 0.9); pinv(A, atol=2.0); pinv(S, hermitian=True); pinv(A[0])
    pinv(torch.zeros(0, 3)); matrix_rank(A); matrix_rank(A, 3.0); matrix_rank(A, rtol=0.9)
    matrix_rank(torch.ones(2, 3, 3), atol=0.1); matrix_rank(S, hermitian=True); matrix_rank(A[0])
    lstsq(A, B).solution; lstsq(A, B).solution.stride(); lstsq(A, B[:, 0]).solution; lstsq(A, B)[2]
    lstsq(A.T, B[:3]).solution; lstsq(A, B, driver="gelsd")[1:]; lstsq(A, B, driver="gels").rank
    lstsq(A, B[:3]); lstsq(A, B[:3, 0]); lstsq(A, B, driver="x"); lstsq(A[0], B)
    lstsq(torch.stack([A, A]), torch.stack([B, B])).solution.stride(); lstsq(A, B, 0.9).rank
    matrix_exp(S); matrix_exp(30 * S); matrix_exp(A); matrix_exp(A[0]); matrix_exp(S.long())
"""


@pytest.mark.parity
@pytest.mark.parametrize("call", OF_SPECTRA.replace("\n", ";").split(";")[1:-1])
def test_results_and_errors_of_spectra_are_pytorchs(call: str) -> None:
    program = f"""
torch.manual_seed(0)
A, B = torch.randn(4, 3).double(), torch.randn(4, 2).double()
S = torch.diag(torch.tensor([1.0, 2.0, 3.0])).double() + 0.1
result = torch.linalg.{call.strip()}
print(tuple(t.detach() for t in result) if isinstance(result, tuple) else result)
"""
    run_both(require_torch(), program)


@pytest.mark.parity
@pytest.mark.parametrize(
    "loss",
    """
    eigh(S)[0] @ w + eigh(S)[1][0] @ w * eigh(S)[1][1, 1]; eigvalsh(S).exp() @ w
    pinv(A).exp().sum(); pinv(A.T).exp().sum(); lstsq(A, B)[0].exp().sum()
    lstsq(A.T, B[:3])[0].exp().sum(); lstsq(A, B[:, 0])[0] @ w; matrix_exp(A[:3] * 3).sin().sum()
    """.replace("\n", ";").split(";")[1:-1],
)
def test_gradients_and_nodes_of_spectra_are_pytorchs(loss: str) -> None:
    program = f"""
torch.manual_seed(0)
A = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
B = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
S, w = A[:3] + A[:3].T, torch.arange(3.0).double()
L = torch.linalg
(L.{loss.strip().replace(" eigh", " L.eigh")}).backward()
print(A.grad.round(decimals=8), None if B.grad is None else B.grad.round(decimals=8))
"""
    run_both(require_torch(), program)
