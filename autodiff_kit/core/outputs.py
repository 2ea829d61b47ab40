"""Nodes with several outputs: those of ``split`` and ``unbind``, and of a Function that has them.

After reading this file you know why ``a, b = x.split(2)`` gives two tensors with one ``grad_fn``.
An edge says which output it comes from: it leads to an ``OutputNode``, which only passes what
arrives on to the node of all outputs, under its number. There the cotangents wait for each other,
and the node is visited once, with all of them. What the rule reads of the outputs stands
in ``rest``, under their names (``by_products``). Read next: ``autograd/function.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.core.base import next_number
from autodiff_kit.core.hooks import Gradients
from autodiff_kit.core.node import Node
from autodiff_kit.core.op import Op, Rule, Value

__all__ = ["OutputNode", "SharedNode", "cotangent_of"]


class SharedNode(Node):
    """The node of all outputs of one operation; ``count`` says how many there are."""

    __slots__ = ("count",)

    count: int
    shape: Any  # None: each output has its own

    def makers(self) -> dict[str, Node | None]:
        """Return the nodes that made what rules read, which may be outputs of this one."""
        saved = dict(zip(self.op.rest, self.rest, strict=False))
        outputs = enumerate(self.op.by_products)
        shapes = {name: getattr(saved.get(name), "shape", ()) for name in self.op.by_products}
        own = {name: OutputNode(self, i, shapes[name]) for i, name in outputs}
        return super().makers() | own


class OutputNode(Node):
    """What an output of a node with several has as its node: an end for edges, and nothing else.

    What is visible is the node of all outputs (``edge0``); hooks are kept there, too.
    """

    __slots__ = ()

    edge1 = out = x = y = hooks = None

    def __init__(self, node: Node, index: int, shape: tuple[int, ...]) -> None:
        self.op, self.edge0, self.shape, self.number = _OUTPUT, node, shape, next_number()
        self.rest = (index,)

    @property
    def output_nr(self) -> int:  # type: ignore[override]
        """Which output."""
        return self.rest[0]

    @property
    def whole(self) -> Node:
        """The node of all outputs."""
        return self.edge0  # type: ignore[return-value]

    def by_output(self, g: Value) -> Gradients | None:
        """Return ``g`` as the node of all outputs takes it: by the number of its output."""
        return None if g is None else Gradients({self.output_nr: g})

    def name(self) -> str:
        """Return the name of the node of all outputs."""
        return self.whole.name()


def cotangent_of(node: Node, cotangents: dict[Node, Value]) -> Value | None:
    """Return what has arrived at a node, or at an output of one, of what was ``found`` by node."""
    g = cotangents.get(node.whole)
    return g.get(node.output_nr) if isinstance(g, Gradients) else g


def _output(function: Any) -> Any:
    """Pick one of several outputs of an operation."""
    return function


_OUTPUT = Op(_output, "operation[index]", "", node="")
_OUTPUT.rule0 = lambda g, out, x, y, rest: Gradients({rest[0]: g})
_OUTPUT.rules = {"function": Rule(_output, r"(0, \dots, \bar z, \dots, 0)")}
