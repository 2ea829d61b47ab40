from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from tests.lessons.proofs import proves


class Saved:
    def __init__(self, tensor: Any) -> None:
        self.memory = tensor.detach()


class Keeper:
    """Sees which arrays the nodes keep."""

    def __init__(self, torch: Any) -> None:
        self.saved: WeakSet[Saved] = WeakSet()
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda one: one.memory)

    def pack(self, tensor: Any) -> Saved:
        one = Saved(tensor)
        self.saved.add(one)
        return one

    def places(self) -> set[int]:
        return {one.memory.data_ptr() for one in self.saved}


class Network:
    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.weights = [torch.full((4, 4), 0.1).requires_grad_() for _ in range(8)]
        self.inputs = torch.ones(16, 4)

    def layers(self, h: Any, weights: list[Any], activation: Any = None) -> Any:
        for w in weights:
            h = (activation or self.torch.relu)(h @ w)
        return h

    def new_arrays(self, function: Callable[[], Any]) -> int:
        """How many arrays the graph keeps that were not there before."""
        keeper = Keeper(self.torch)
        with keeper.hooks:
            result = function()
        there = {t.data_ptr() for t in (*self.weights, self.inputs)}
        count = len(keeper.places() - there)
        del result
        return count


@proves("09.who")
def _(torch: Any) -> str:
    x, w = (torch.ones(1000, requires_grad=True) for _ in range(2))
    keeper = Keeper(torch)
    with keeper.hooks:
        result = x * w
    names = {x.data_ptr(): "`x`", w.data_ptr(): "`w`", result.data_ptr(): "the result"}
    return " and ".join(sorted((names[place] for place in keeper.places()), reverse=True))


@proves("09.when")
def _(torch: Any) -> str:
    network, counts = Network(torch), []
    keeper = Keeper(torch)
    with keeper.hooks:
        loss = network.layers(network.inputs, network.weights).sum()
    all_of_them = len(keeper.saved)
    network.weights[4].register_hook(lambda g: counts.append(len(keeper.saved)))
    loss.backward()
    if all_of_them < 16:
        return "in the forward pass, when the next layer has run"
    if counts[0] == all_of_them:
        return "at the end, when backward has reached the leaves"
    return "in the backward pass, as soon as it has been through its node"


@proves("09.task")
def _(torch: Any) -> str:
    network = Network(torch)
    return str(
        network.new_arrays(lambda: network.layers(network.inputs, network.weights, torch.sin).sum())
    )
