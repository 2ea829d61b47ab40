"""Random numbers go where PyTorch puts them: by rows, or in the order in which elements lie."""

import pytest

from tests.same_as_torch.outcomes import run_as_pytorch

GIVEN = """
F = torch.nn.functional
x = torch.arange(1., 25).reshape(2, 3, 4).permute(2, 0, 1) / 25
wide = torch.ones(4, 12)[:, ::2]
torch.manual_seed(3)
def show(t):
    print(t, t.stride())
"""

DRAWS = """
torch.randn_like(x)
torch.randn_like(x, dtype=torch.float64)
torch.randn_like(wide)
torch.rand_like(x)
torch.randint_like(x, 9)
torch.bernoulli(x)
torch.bernoulli(x, 0.4)
torch.normal(x, 0.5)
torch.normal(x, x)
torch.normal(2.0, x)
torch.multinomial(x[0].t(), 2)
x.clone().normal_()
x.double().clone().normal_(1, 2)
x.clone().uniform_()
x.clone().bernoulli_(x)
x.clone().exponential_()
wide.normal_()
wide.bernoulli_()
F.dropout(x)
F.rrelu(-x, training=True)
F.alpha_dropout(x, 0.4, True)
F.gumbel_softmax(x, 0.4, True)
torch.where(x > 0.5)[0]
x.sum((0, 1), keepdim=True)
x[0].sum(0, keepdim=True)
"""


@pytest.mark.parametrize("draw", DRAWS.strip().split("\n"))
def test_numbers_and_layout_are_pytorchs(draw: str) -> None:
    assert run_as_pytorch(f"{GIVEN}show({draw})").raised is None
