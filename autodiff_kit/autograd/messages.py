"""Why backward cannot use what a node has saved, in PyTorch's words and in ours.

After reading this file you know the two errors that everybody meets: a graph used twice, and a
saved value changed in place. Read next: ``node.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.autograd.node import Node

__all__ = ["changed_message", "released_message"]


def released_message(node: Node) -> str:
    """Return the text for a backward pass through values that are gone."""
    return teach(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward.",
        f"The first backward has already released what {node.name()} ({node.op.text}) had saved. "
        "Run the forward code again to build a new graph, or write "
        "backward(retain_graph=True) the first time.",
    )


def changed_message(node: Node, cell: list[int]) -> str:
    """Return the text for a saved tensor that was modified in place."""
    op = node.op
    names = ("out", *op.inputs[:2], *(n for n in op.rest if n in op.inputs))
    rest = [v for n, v in zip(op.rest, node.rest, strict=False) if n in op.inputs]
    values = (node.out, node.x, node.y, *rest)
    makers = (node, node.edge0, node.edge1, *node.more)
    kept = [i for i, value in enumerate(values) if hasattr(value, "dtype")]
    which = kept[[c is cell for c in node.cells].index(True)]
    value, maker = values[which], makers[which] if which < len(makers) else None
    origin = maker.name() if maker is not None and maker.op.name != "accumulate_grad" else ""
    if which:  # an input: PyTorch names what it has become by the change
        origin = getattr(cell[-1], "node_name", "") or origin
    if origin:
        origin = f", which is output 0 of {origin.split('Backward')[0]},"
    version = cell[0] + len(cell) - 1
    expected = cell[0] + sum(number < node.number for number in cell[1:])
    return teach(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{tensor_type(value.dtype)}Tensor {list(value.shape)}]{origin} is "
        f"at version {version}; expected version {expected} instead. Hint: enable anomaly "
        "detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False).",
        f"{op.node_name} ({op.text}) had saved {names[which]} for its rules, and it was "
        "changed in place before backward. Write y = y + 1 instead of y += 1, or change a "
        "clone().",
    )
