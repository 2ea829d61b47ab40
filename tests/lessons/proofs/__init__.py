"""What proves the answers of the lessons' questions: the code behind each of them, run.

One file for each lesson; a proof is given "torch", the kit or PyTorch itself.
"""

import sys
from collections.abc import Callable
from typing import Any

Proof = Callable[[Any], str]
PROOFS: dict[str, Proof] = {}


def proves(key: str) -> Callable[[Proof], Proof]:
    """Take a function of "torch" whose result must be judged right for this question."""

    def keep(proof: Proof) -> Proof:
        PROOFS[key] = proof
        return proof

    return keep


def name(node: Any) -> str | None:
    return str(node.name()).split("::")[-1] if node else None


def nodes_of_operations(tensor: Any) -> list[str | None]:
    nodes, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node and node not in nodes and name(node) != "AccumulateGrad":
            nodes.add(node)
            waiting += [following for following, _ in node.next_functions]
    return [name(node) for node in nodes]


def leaf(torch: Any, value: float) -> Any:
    return torch.tensor(value, requires_grad=True)


def calls(function: Callable[[], Any]) -> int:
    """Return how many calls Python makes in it: work that takes time, and is counted exactly."""
    count = 0

    def seen(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    outer = sys.getprofile()
    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(outer)
    return count
