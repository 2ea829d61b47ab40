"""Applying an op that gives several outputs at once, such as ``split``.

After reading this file you know how tensors come to share one node. Most are views of the one
input; each is told to an observer as an op of its own, with its number as ``index``.
Read next: ``core/outputs.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autodiff_kit.core.base import INFERENCE, TensorBase, next_number, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.op import Op, Value
from autodiff_kit.core.outputs import OutputNode, SharedNode
from autodiff_kit.core.versions import share
from autodiff_kit.core.view_nodes import SEVERAL, note_view

__all__ = ["function_of_several"]


def function_of_several(row: Op) -> Callable[..., Any]:
    """Return the function that applies an op with several outputs."""
    forward, defaults = row.forward, row.defaults

    def function(x: Any, **params: Any) -> Any:
        if not isinstance(x, TensorBase):  # a rule at work on arrays
            return forward(x, **params)
        array, edge, mode = share(x), x._node, local.mode
        results = forward(array, **params)
        if edge is None or not mode.grad_enabled:
            outputs = [wrap(result) for result in results]
        else:
            node = _shared_node(row, edge, array, results, defaults | params)
            outputs = [wrap(r, OutputNode(node, i, r.shape)) for i, r in enumerate(results)]
        if mode.inference and not row.is_view:
            for out in outputs:
                out._changes = INFERENCE
        for out in outputs if row.is_view else ():
            note_view(out, x, SEVERAL)
        if mode.observer is not None:
            for index, out in enumerate(outputs):
                keywords = defaults | params | {"index": index}
                mode.observer.applied(row, (x,), keywords, out, out._node)
        return tuple(outputs)

    return function


def _shared_node(
    row: Op, edge: Node, array: Any, results: Sequence[Any], values: dict[str, Value]
) -> SharedNode:
    """Make the node of all outputs, which saves what the rule reads."""
    node = object.__new__(SharedNode)
    node.op, node.edge0, node.number = row, edge, next_number()
    node.shape = node.edge1 = node.out = node.x = node.y = node.hooks = None
    node.count = len(results)
    if "x" in row.rules["x"].reads:
        node.x = array
    values |= zip(row.by_products, results, strict=False)
    values["x_shape"] = array.shape
    node.rest = tuple([values[name] for name in row.rest])
    return node
