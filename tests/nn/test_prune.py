"""Weights of which some elements are always zero: beside PyTorch's."""

from importlib import import_module

import pytest

from tests.parity import torch_if_there
from tests.same_as_torch.outcomes import run_as_pytorch

if torch_if_there() is not None:
    import_module("torch.nn.utils.prune")  # which PyTorch does not load by itself

NET = """
prune = torch.nn.utils.prune
torch.manual_seed(3)
net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
layer = torch.nn.Linear(2, 2)

class Half(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask
"""
PRUNED = {
    "one after the other": """
prune.l1_unstructured(net[0], "weight", 0.3)
print(net[0].weight, net[0].weight_mask)
prune.l1_unstructured(net[0], "weight", 5)
prune.ln_structured(net[0], "weight", 0.4, n=2, dim=0)
print(net[0].weight_mask, [type(m).__name__ for m in net[0]._forward_pre_hooks.values()])
""",
    "at random": """
prune.random_unstructured(net[2], "bias", 1)
prune.random_structured(net[2], "weight", 2, dim=1)
prune.random_structured(net[2], "weight", 1, dim=-1)
print(net[2].weight, net[2].bias)
""",
    "and trained": """
prune.l1_unstructured(net[0], "weight", 0.5)
print([name for name, _ in net.named_parameters()], [name for name, _ in net.named_buffers()])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(5, 4)
for _ in range(3):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
print(net(x), net[0].weight_orig.grad, net[0].weight, prune.is_pruned(net))
print(prune.remove(net[0], "weight").weight, [*net.state_dict()], prune.is_pruned(net))
""",
    "as one vector": """
pairs = [(net[0], "weight"), (net[2], "weight")]
prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
print(net[0].weight, net[2].weight)
scores = {pairs[0]: torch.arange(24.0).view(6, 4)}
prune.global_unstructured(pairs, prune.L1Unstructured, scores, amount=4)
print(net[0].weight, net[2].weight)
""",
    "by a mask or method of one's own": """
prune.custom_from_mask(net[0], "bias", torch.tensor([1.0, 0, 1, 0, 1, 1]))
print(net[0].bias, prune.identity(net[0], "weight").weight_mask, len(Half.apply(net[0], "bias")))
print(net[0].bias, prune.L1Unstructured(2).prune(torch.tensor([3.0, -1, 2, 0.5])))
""",
}
REFUSED = """
prune.l1_unstructured(layer, "bias", -1)
prune.l1_unstructured(layer, "bias", 1.5)
prune.l1_unstructured(layer, "bias", "half")
prune.l1_unstructured(layer, "bias", 9)
prune.l1_unstructured(layer, "bias", 1, torch.ones(3))
prune.l1_unstructured(layer, "w", 1)
prune.ln_structured(layer, "bias", 1, 2, 0)
prune.ln_structured(layer, "weight", 1, 2, 5)
prune.custom_from_mask(layer, "bias", torch.ones(3))
prune.global_unstructured(3, prune.L1Unstructured, amount=1)
prune.global_unstructured([(layer, "weight")], prune.L1Unstructured, [1], amount=1)
prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=2)
prune.remove(layer, "bias")
prune.BasePruningMethod()
prune.PruningContainer(Half.apply(layer, "bias")).add_pruning_method(3)
prune.PruningContainer(Half.apply(layer, "bias")).add_pruning_method(Half.apply(layer, "weight"))
Half.PRUNING_TYPE = "half"; Half.apply(layer, "bias"); Half.apply(layer, "bias")
"""


@pytest.mark.parametrize("program", PRUNED.values(), ids=PRUNED)
def test_layers_are_pruned_as_pytorchs(program: str) -> None:
    assert run_as_pytorch(NET + program).raised is None


@pytest.mark.parametrize("call", REFUSED.strip().split("\n"))
def test_what_cannot_be_pruned_is_refused_in_pytorchs_words(call: str) -> None:
    assert run_as_pytorch(NET + call).raised is not None
