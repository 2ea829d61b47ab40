"""The graph: one node per recorded operation, edges to the nodes that made its inputs.

After reading this file you know all that a tensor's ``grad_fn`` is. Nodes point to their inputs
only, tensors point to their node, and what is saved are raw arrays: so there are no reference
cycles, and a graph goes away with the last tensor that needs it. Read next: ``engine.py``.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from autodiff_kit.autograd.hooks import Hooks, NodeHooks
from autodiff_kit.autograd.messages import changed_message, released_message
from autodiff_kit.autograd.shown import RELEASED, Shown
from autodiff_kit.autograd.versions import changes_of, check_input, next_number

if TYPE_CHECKING:
    from autodiff_kit.ops.table import Op
    from autodiff_kit.tensor import Tensor

__all__ = ["AccumulateGrad", "Node"]

# A NumPy array, a NumPy scalar (the value of a 0-d tensor), or a Tensor under create_graph.
Value = Any


class Node(NodeHooks, Shown):
    """One application of an op: what its rules will need, and where its inputs came from.

    Two edge slots and raw arrays instead of tuples and Tensors keep a node at one object for the
    garbage collector to visit, which is worth a quarter of the time of a scalar graph.

    Attributes
    ----------
    op : Op
        The operation; its rules turn this node's cotangent into contributions.
    edge0, edge1 : Node or None
        The nodes that made the first and the second input; None: no gradient wanted there.
    more : tuple of (Node or None)
        The same for further inputs, where an op has them.
    shape : tuple of int
        Of the output; a cotangent has the same.
    number : int
        Creation number. A consumer is always younger than its inputs.
    out, x, y : Value or None
        Saved values, as the rules in use ask for them: the output, the first, the second input.
        After backward has freed them, ``out`` is ``RELEASED``.
    rest : tuple
        Whatever else the rules read: parameters, shapes, further inputs.
    hooks : Hooks or None
    """

    __slots__ = ("edge0", "edge1", "hooks", "number", "op", "out", "rest", "shape", "x", "y")

    more: tuple[Node | None, ...] = ()

    op: Op
    edge0: Node | None
    edge1: Node | None
    shape: tuple[int, ...]
    number: int
    out: Value
    x: Value
    y: Value
    rest: tuple[Any, ...]
    hooks: Hooks | None

    def edges(self) -> tuple[tuple[str, Node | None], ...]:
        """Return (name of the input, node that made it or None) for every tensor input."""
        if self.op.is_variadic:
            return tuple((f"{self.op.inputs[0]}[{i}]", e) for i, e in enumerate(self.more))
        return tuple(zip(self.op.inputs, (self.edge0, self.edge1, *self.more), strict=False))

    def check_saved(self) -> None:
        """Refuse to use a saved value that was changed in place, or one that is gone.

        Raises
        ------
        RuntimeError
            With PyTorch's words for either case.
        """
        if self.out is RELEASED:
            raise RuntimeError(released_message(self))
        for which, value in enumerate((self.out, self.x, self.y, *self.rest)):
            for array in getattr(value, "given", (value,)):  # of indices, what they were made of
                changes = changes_of(array)
                if changes and changes[-1] > self.number:
                    raise RuntimeError(changed_message(self, which, array, changes))
                if changes is not None and which and array is value:
                    check_input(self, which, value, changes)


class WideNode(Node):
    """A node with more than two tensor inputs."""

    __slots__ = ("more",)

    more: tuple[Node | None, ...]


class AccumulateGrad(Node):
    """The end of an edge at a leaf: adds what arrives to the leaf's ``.grad``.

    The leaf holds this node; the node knows the leaf only weakly, or the two would hold each
    other and wait for the garbage collector. So it holds what makes the leaf anew: memory and grad.
    """

    __slots__ = ("_array", "_leaf", "grad")

    def __init__(self, leaf: Tensor) -> None:
        self._array = leaf._array
        self._leaf = weakref.ref(leaf)
        self.op, self.number, self.shape = ACCUMULATE, next_number(), leaf._array.shape
        self.edge0 = self.edge1 = self.out = self.x = self.y = self.hooks = None
        self.rest, self.grad = (), leaf._grad

    @property
    def variable(self) -> Tensor:
        """The leaf; when nobody holds it any more, another tensor with the same memory and grad."""
        leaf = self._leaf()
        if leaf is None:
            from autodiff_kit.tensor import wrap

            leaf = wrap(self._array, self)
            leaf._grad = self.grad
        return leaf

    def name(self) -> str:
        """Return PyTorch's name, which for this node has its C++ namespace."""
        return "torch::autograd::AccumulateGrad"

    def edges(self) -> tuple[tuple[str, Node | None], ...]:
        """Return (): nothing comes before a leaf."""
        return ()


ACCUMULATE: Any = None  # the Op of AccumulateGrad nodes; set by ops/table.py
