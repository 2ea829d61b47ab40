"""The graph: one node per recorded operation, edges to the nodes that made its inputs.

After reading this file you know all that a tensor's ``grad_fn`` is. Nodes point to their inputs
only, tensors point to their node, and what is saved are raw arrays: so there are no reference
cycles, and a graph goes away with the last tensor that needs it. Read next: ``mode.py``.
"""

from __future__ import annotations

import weakref
from typing import Any

from autodiff_kit.core.base import ARRAYS, TensorBase, next_number, wrap
from autodiff_kit.core.op import ACCUMULATE, Op, Value
from autodiff_kit.core.shown import Shown

__all__ = ["AccumulateGrad", "Node", "WideNode"]


class Node(Shown):
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
        What else the rules read: parameters, shapes, further inputs. Behind these, if the dtype of
        inputs was changed, the array of each before that, None for others: a change shows there.
    hooks : Hooks or None
        What the learner wants called when this node's gradient is complete.
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
    hooks: Any

    def edges(self) -> tuple[tuple[str, Node | None], ...]:
        """Return (name of the input, node that made it or None) for every tensor input."""
        if self.op.is_variadic:
            return tuple((f"{self.op.inputs[0]}[{i}]", e) for i, e in enumerate(self.more))
        return tuple(zip(self.op.inputs, (self.edge0, self.edge1, *self.more), strict=False))

    def rebuild(self) -> tuple[Value, Value, Value, tuple[Any, ...]]:
        """Return what the node has saved, with its arrays as the Tensors that they were.

        An input is its array and the edge to the node that made it, the output is its array and the
        node itself: so nothing extra was saved for ``create_graph=True``, and nothing made a cycle.
        """
        out, x, y, rest = self.out, self.x, self.y, self.rest
        unpack = getattr(self.op, "unpack", None)
        if unpack is not None:  # set by ``saved_tensors_hooks``, which packed what was saved
            out, x, y, rest = unpack(self)
        if rest and len(rest) > len(self.op.rest):
            self.count_with_originals()
        if isinstance(out, ARRAYS):
            out = wrap(out, self)
        x = None if x is None else self.as_tensor(x, self.edge0)
        y = None if y is None else self.as_tensor(y, self.edge1)
        if self.op.saves_rest:
            made_by = self.makers()
            pairs = zip(self.op.rest, rest, strict=False)
            rest = tuple(wrap(v, made_by.get(n)) if isinstance(v, ARRAYS) else v for n, v in pairs)
        return out, x, y, rest


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

    def __init__(self, leaf: TensorBase) -> None:
        self._array = leaf._array
        self._leaf = weakref.ref(leaf)
        self.op, self.number, self.shape = ACCUMULATE, next_number(), leaf._array.shape
        self.edge0 = self.edge1 = self.out = self.x = self.y = self.hooks = None
        self.rest, self.grad = (), leaf._grad

    @property
    def variable(self) -> Any:
        """The leaf; without other references, another tensor with the same memory and grad."""
        leaf = self._leaf()
        if leaf is None:
            leaf = wrap(self._array, self)
            leaf._grad = self.grad
        return leaf

    def edges(self) -> tuple[tuple[str, Node | None], ...]:
        """Return (): nothing comes before a leaf."""
        return ()
