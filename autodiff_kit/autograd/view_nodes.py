"""The nodes of views: where no gradient flows, and where one flows around what was overwritten.

After reading this file you know what stands in the graph when a tensor is changed through a view
of it, or when a view has no history of its own. Read next: ``views.py``, which makes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.node import AccumulateGrad, Node
from autodiff_kit.autograd.shown import named
from autodiff_kit.autograd.versions import next_number

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["Converted", "CopySlices", "Nowhere"]


class Nowhere(AccumulateGrad):
    """The end of an edge at a view without a history of its own, whose base requires grad.

    PyTorch says of such a view, made in ``no_grad`` mode or before the base required grad, that it
    requires grad; but no gradient flows through it.
    """

    __slots__ = ()

    def __init__(self, view: Tensor) -> None:
        self._array, self._leaf = view._array, _nobody  # type: ignore[assignment]
        self.op, self.number, self.shape = nodes.ACCUMULATE, next_number(), view._array.shape
        self.edge0 = self.edge1 = self.out = self.x = self.y = self.hooks = None
        self.rest = ()

    @property
    def shown(self) -> None:
        """Nothing: PyTorch has no node here."""
        return None


def _nobody() -> None:
    """Stand for a weak reference to a leaf that is gone."""


class Converted(Node):
    """The result of a change in place, brought back to the dtype of what is changed.

    PyTorch has no node for that: who looks sees that of the change (``edge0``).
    """

    __slots__ = ()

    @property
    def shown(self) -> Node | None:
        """The node of the change."""
        return named(self.edge0)


class CopySlices(Node):
    """What a base becomes when it is changed through a view: its elements, some overwritten.

    The change itself is a node that nobody sees (``edge1``): what it shows of its inputs, but for
    the first, the view, is shown here.
    """

    __slots__ = ()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes of the base and of the further inputs of what has changed the view."""
        change = self.edge1
        first, *_ = Node.next_functions.fget(self)  # type: ignore[attr-defined]
        return (first, *(() if change is None else change.next_functions[1:]))
