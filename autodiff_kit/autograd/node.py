"""The graph: one node per recorded operation, edges to the nodes that made its inputs.

After reading this file you know all that a tensor's ``grad_fn`` is. Nodes point to their inputs
only, tensors point to their node, and what is saved are raw arrays: so there are no reference
cycles, and a graph goes away with the last tensor that needs it. Read next: ``engine.py``.
"""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, Final

from autodiff_kit.autograd.hooks import Hooks
from autodiff_kit.autograd.messages import changed_message, released_message

if TYPE_CHECKING:
    from autodiff_kit.ops.table import Op
    from autodiff_kit.tensor import Tensor

__all__ = ["AccumulateGrad", "Node"]

# A NumPy array, a NumPy scalar (the value of a 0-d tensor), or a Tensor under create_graph.
Value = Any

RELEASED: Final = "released"  # what stands in ``node.out`` after backward has freed the node

next_number = itertools.count().__next__


class LastChange:
    """When the latest in-place operation happened, as a creation number.

    A node that is younger cannot have saved a value that changed since, so backward looks at
    version counters of older nodes only: one comparison per node instead of several.
    """

    number = -1


class Change(int):
    """The creation number of a change, and the node that the tensor has had since."""

    node_name: str = ""


def note_change(cell: list[int], number: int | None = None, node_name: str = "") -> None:
    """Note in a tensor's version cell that it was changed in place.

    A cell lists the creation numbers of the changes. A node needs to keep only the cell: what it
    saved has changed since if the last entry is greater than its own number. The first entry
    counts older changes, whose numbers are dropped, so that cells stay small.

    Parameters
    ----------
    cell : list of int
    number : int, optional
        When: between the numbers of nodes that came before and after. Default: now.
    node_name : str
        What the tensor is the output of since the change; for the error message.
    """
    change = Change(next_number() if number is None else number)
    change.node_name = node_name
    LastChange.number = change
    cell.append(change)
    if len(cell) > 1000:
        cell[0] += 500
        del cell[1:501]


class Node:
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
    cells : tuple of list
        The version cells of the saved tensors (see ``note_change``).
    hooks : Hooks or None
    """

    __slots__ = (
        "cells",
        "edge0",
        "edge1",
        "hooks",
        "number",
        "op",
        "out",
        "rest",
        "shape",
        "x",
        "y",
    )

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
    cells: tuple[list[int], ...]
    hooks: Hooks | None

    def name(self) -> str:
        """Return PyTorch's name of the node, for example ``MulBackward0``."""
        return self.op.node_name

    def __repr__(self) -> str:
        return f"<{self.name().split('::')[-1]} object at {id(self):#x}>"

    def edges(self) -> tuple[tuple[str, Node | None], ...]:
        """Return (name of the input, node that made it or None) for every tensor input."""
        if self.op.is_variadic:
            return tuple((f"{self.op.inputs[0]}[{i}]", e) for i, e in enumerate(self.more))
        return tuple(zip(self.op.inputs, (self.edge0, self.edge1, *self.more), strict=False))

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes of the inputs, each with the number of the output it stands for.

        Conversions that type promotion inserted are skipped, and inputs that never have a
        gradient, such as the mask of ``where``: PyTorch shows neither.
        """
        return tuple(
            (edge.edge0 if edge is not None and edge.op.name == "promote" else edge, 0)
            for name, edge in self.edges()
            if self.op.is_variadic or name in self.op.rules
        )

    def saved(self) -> dict[str, Value]:
        """Return what is kept for the rules, by name; empty after it was released."""
        if self.out is RELEASED:
            return {}
        return self.op.saved_by_name(self)

    def __dir__(self) -> list[str]:
        own = [n for n in super().__dir__() if not n.startswith("_saved_")]
        return [*own, *(f"_saved_{n}" for n in self.op.saved_names(self))]

    def check_saved(self) -> None:
        """Refuse to use a saved value that was changed in place, or one that is gone.

        Raises
        ------
        RuntimeError
            With PyTorch's words for either case.
        """
        if self.out is RELEASED:
            raise RuntimeError(released_message(self))
        for cell in self.cells:
            if cell[-1] > self.number:
                raise RuntimeError(changed_message(self, cell))


def add_saved_attribute(name: str) -> None:
    """Give nodes the attribute ``_saved_<name>``, as PyTorch's have.

    Properties, because a ``__getattr__`` would make every other attribute three times slower.
    """

    def saved(self: Node) -> Any:
        if self.out is RELEASED:
            raise RuntimeError(released_message(self))
        return self.op.saved_attribute(self, name)

    if not hasattr(Node, f"_saved_{name}"):
        setattr(Node, f"_saved_{name}", property(saved))


class WideNode(Node):
    """A node with more than two tensor inputs."""

    __slots__ = ("more",)

    more: tuple[Node | None, ...]


class AccumulateGrad(Node):
    """The end of an edge at a leaf: adds what arrives to the leaf's ``.grad``.

    The leaf holds this node; the node knows the leaf only weakly, or the two would hold each
    other and wait for the garbage collector.
    """

    __slots__ = ("_array", "_leaf")

    def __init__(self, leaf: Tensor) -> None:
        self._array = leaf._array
        self._leaf = weakref.ref(leaf)
        self.op, self.number, self.shape = ACCUMULATE, next_number(), leaf._array.shape
        self.edge0 = self.edge1 = self.out = self.x = self.y = self.hooks = None
        self.rest = self.cells = ()

    @property
    def leaf(self) -> Tensor | None:
        """The leaf, or None when nobody holds it any more."""
        return self._leaf()

    @property
    def variable(self) -> Tensor:
        """The leaf; when nobody holds it any more, another tensor with the same memory."""
        leaf = self._leaf()
        if leaf is None:
            from autodiff_kit.tensor import wrap

            leaf = wrap(self._array, self)
        return leaf

    def name(self) -> str:
        """Return PyTorch's name, which for this node has its C++ namespace."""
        return "torch::autograd::AccumulateGrad"

    def edges(self) -> tuple[tuple[str, Node | None], ...]:
        """Return (): nothing comes before a leaf."""
        return ()


ACCUMULATE: Any = None  # the Op of AccumulateGrad nodes; set by ops/table.py
