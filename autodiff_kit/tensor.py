"""The tensor: an array, the node that made it, and operators that are one line each.

After reading this file you know that a tensor adds just two things to a NumPy array: where it
came from (``grad_fn``) and where its gradient goes (``grad``). Its slots are in ``core/base.py``,
all mathematics is in ``ops/``, and what has nothing to do with the graph in ``methods/``.
"""

from __future__ import annotations

from collections.abc import Sequence

from autodiff_kit.autograd.backward import backward
from autodiff_kit.core.base import TensorBase, register
from autodiff_kit.core.node import Node
from autodiff_kit.core.op import ACCUMULATE
from autodiff_kit.methods import TensorMethods
from autodiff_kit.ops.arithmetic import add, div, mul, neg, sub

__all__ = ["Tensor"]


class Tensor(TensorBase, TensorMethods):
    """An array that remembers how it was computed.

    Made by ``torch.tensor``, ``zeros``, ``randn`` and the like, or by operations on tensors.
    """

    __slots__ = ("__dict__",)  # for attributes of the learner's own

    __add__, __sub__, __mul__, __truediv__, __neg__ = add, sub, mul, div, neg

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves."""
        return None if self.is_leaf else self._latest_node().as_grad_fn

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it: the learner did, or nothing was recorded."""
        node = self._latest_node()  # of a view whose base has changed: made anew
        return node is None or node.op is ACCUMULATE

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded and a gradient is wanted."""
        return self._has_node()

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._require_grad(value)  # a leaf gets an AccumulateGrad as its node

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward has accumulated here; None before."""
        if (grad := self._grad) is None:
            self._warn_of_grad()
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            self._check_grad(value)  # of the same shape and dtype
        self._set_grad(value)

    @grad.deleter
    def grad(self) -> None:
        self._set_grad(None)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Carry the gradient back through the graph and add it to the leaves' ``.grad``.

        ``gradient`` is what flows in, of the shape of the tensor; for one element it may be left
        out, and is 1 then. For the rest, and for what can go wrong, see ``autograd.backward``.
        """
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


register(Tensor)
