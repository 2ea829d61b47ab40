from typing import Any

from tests.lessons.proofs import proves
from tests.lessons.proofs.lesson_09 import Network


@proves("10.holds")
def _(torch: Any) -> str:
    network = Network(torch)

    def loss() -> Any:
        return network.layers(network.inputs, network.weights).sum()

    def three() -> Any:
        total = 0
        for _ in range(3):
            total = total + loss()
        return total

    return str(network.new_arrays(three) / network.new_arrays(loss))


def at_most(torch: Any, layers: int) -> str:
    """How many results of eight layers are saved at most, in checkpoints of so many layers."""
    # What a checkpoint keeps is its input: the inputs of all parts but the first are results of
    # layers. The part at work keeps as many results as a graph of its own would.
    network = Network(torch)
    arguments = []

    def part(h: Any, start: int) -> Any:
        arguments.append(h.data_ptr())
        return network.layers(h, network.weights[start : start + layers])

    h = network.inputs
    for start in range(0, 8, layers):
        h = torch.utils.checkpoint.checkpoint(part, h, start, use_reentrant=False)
    inner = sum(place != network.inputs.data_ptr() for place in arguments)
    return str(inner + network.new_arrays(lambda: part(network.inputs, 8 - layers).sum()))


@proves("10.checkpoint")
def _(torch: Any) -> str:
    return at_most(torch, 4)


@proves("10.task")
def _(torch: Any) -> str:
    return at_most(torch, 2)
