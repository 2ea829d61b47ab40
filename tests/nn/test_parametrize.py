"""Weights that are computed when they are read: beside PyTorch's."""

import pytest

from tests.same_as_torch.outcomes import run_as_pytorch

GIVEN = """
import copy, pickle
nn = torch.nn
utils, parametrize, own = nn.utils, nn.utils.parametrize, nn.utils.parametrizations
torch.manual_seed(0)
x = torch.arange(6.0).view(2, 3).sin()

class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()

class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.s = nn.Parameter(torch.tensor(2.0))

    def forward(self, X):
        return X * self.s

class Call(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, X):
        return self.f(X)

def trained(layer, x=x):
    print(layer, [(k, v.shape) for k, v in layer.state_dict().items()])
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(x).pow(2).sum().backward()
        optimizer.step()
    print(layer(x), [round(p.sum().item(), 4) for p in layer.parameters()])
    layer.eval()
    print(layer(x).sum())
"""
SYMMETRIC = """
layer = nn.Linear(3, 3)
print(parametrize.register_parametrization(layer, "weight", Symmetric()) is layer)
print(layer, layer.weight, [name for name, _ in layer.named_parameters()])
parametrize.register_parametrization(layer, "weight", Scale())
print(layer.parametrizations.weight, layer.parametrizations.weight[1].s, layer.weight)
layer(x).sum().backward()
print([(name, p.grad) for name, p in layer.named_parameters()])
print(parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias"))
print(parametrize.type_before_parametrizations(layer).__name__, type(layer).__name__)
with parametrize.cached():
    print(layer.weight is layer.weight)
print(layer.weight is layer.weight, torch.equal(copy.deepcopy(layer).weight, layer.weight))
print(parametrize.remove_parametrizations(layer, "weight"), layer.weight)
other = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
other.weight = torch.arange(9.0).view(3, 3)
print(other.weight, other.parametrizations.weight.original)
print(parametrize.remove_parametrizations(other, "weight", leave_parametrized=False).weight)
"""
LAYERS = """
own.weight_norm(nn.Linear(3, 2))
own.weight_norm(nn.Linear(3, 2), dim=1)
own.weight_norm(nn.Linear(3, 2), dim=None)
own.weight_norm(nn.Linear(3, 2), "bias")
own.spectral_norm(nn.Linear(3, 2))
own.spectral_norm(nn.Linear(3, 2), n_power_iterations=3, dim=1)
own.spectral_norm(nn.Linear(3, 2), "bias")
own.weight_norm(nn.Conv1d(2, 3, 2)), torch.ones(1, 2, 4)
own.spectral_norm(nn.ConvTranspose2d(2, 3, 2)), torch.ones(1, 2, 2, 2)
utils.weight_norm(nn.Linear(3, 2))
utils.weight_norm(nn.Linear(3, 2), dim=None)
utils.weight_norm(nn.Conv1d(2, 3, 2), dim=1), torch.ones(1, 2, 4)
utils.spectral_norm(nn.Linear(3, 2))
utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=3, dim=1)
utils.spectral_norm(nn.ConvTranspose2d(2, 3, 2)), torch.ones(1, 2, 2, 2)
utils.remove_weight_norm(utils.weight_norm(nn.Linear(3, 2)))
utils.remove_spectral_norm(utils.spectral_norm(nn.Linear(3, 2).double())), x.double()
"""
REFUSED = """
parametrize.register_parametrization(nn.Linear(2, 2), "weight", Call(lambda x: 3))
parametrize.register_parametrization(nn.Linear(2, 2), "weight", Call(lambda x: x.double()))
parametrize.register_parametrization(nn.Linear(2, 2), "weight", Call(lambda x: x[0]))
parametrize.register_parametrization(own.weight_norm(nn.Linear(2, 2)), "weight", Call(len))
parametrize.register_parametrization(nn.Linear(2, 2), "w", Scale())
parametrize.remove_parametrizations(nn.Linear(2, 2), "weight")
parametrize.remove_parametrizations(own.weight_norm(nn.Linear(2, 2)), "weight", False)
parametrize.register_parametrization(nn.Linear(2, 2), "weight", Scale()).weight = torch.ones(2, 2)
pickle.dumps(own.weight_norm(nn.Linear(2, 2)))
parametrize.ParametrizationList([], torch.ones(1))
own.spectral_norm(nn.Linear(2, 2), "w")
own.spectral_norm(nn.Linear(2, 2), dim=3)
own.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
utils.weight_norm(utils.weight_norm(nn.Linear(2, 2)))
utils.spectral_norm(utils.spectral_norm(nn.Linear(2, 2)))
utils.remove_weight_norm(nn.Linear(2, 2))
utils.remove_spectral_norm(nn.Linear(2, 2))
utils.weight_norm(nn.LazyLinear(2))
utils.spectral_norm(nn.LazyLinear(2))
utils.spectral_norm(nn.Linear(2, 2, bias=False), "bias")
utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
"""


def test_a_weight_can_be_computed_by_modules() -> None:
    assert run_as_pytorch(GIVEN + SYMMETRIC).raised is None


@pytest.mark.parametrize("layer", LAYERS.strip().split("\n"))
def test_normalized_weights_are_trained_as_pytorchs(layer: str) -> None:
    assert run_as_pytorch(f"{GIVEN}trained({layer})").raised is None


@pytest.mark.parametrize("call", REFUSED.strip().split("\n"))
def test_what_cannot_be_parametrized_is_refused_in_pytorchs_words(call: str) -> None:
    assert run_as_pytorch(GIVEN + call).raised is not None
