from typing import Any

from tests.lessons.proofs import leaf, name, nodes_of_operations, proves


@proves("01.operations")
def _(torch: Any) -> str:
    return str(len(nodes_of_operations(2 * leaf(torch, 5.0) + 3)))


@proves("01.last")
def _(torch: Any) -> str:
    return str(name((2 * leaf(torch, 5.0) + 3).grad_fn))


@proves("01.leaf")
def _(torch: Any) -> str:
    d = torch.tensor(1.0) * 2
    if not hasattr(d, "is_leaf"):
        return "It is neither: where nothing is recorded, there is no `is_leaf`"
    if d.is_leaf:
        return "Yes, because no *recorded* operation made it"
    return "No, because the multiplication made it"


@proves("01.twice")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    edges = (x * x).grad_fn.next_functions
    return str(sum(node.variable is x for node, _ in edges))


@proves("01.task")
def _(torch: Any) -> str:
    a = leaf(torch, 1.0)
    w = (a + 2) * a
    return str([name(node) for node, _ in w.grad_fn.next_functions])
