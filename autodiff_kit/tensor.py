"""The tensor: an array, the node that made it, and operators that are one line each.

After reading this file you know that a tensor adds just two things to a NumPy array: where it
came from (``grad_fn``) and where its gradient goes (``grad``). All mathematics is in ``ops/``;
methods that are no operators are in ``methods.py``, and what concerns its memory in
``storage.py``; its slots are in ``core/base.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import assignment, inplace, ops, views
from autodiff_kit.autograd.backward import backward
from autodiff_kit.core.base import TensorBase, register
from autodiff_kit.core.memory import check_grad
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.shown import named
from autodiff_kit.errors import error, warn_of_grad
from autodiff_kit.from_data import begin_legacy
from autodiff_kit.hookable import Hookable
from autodiff_kit.methods import Methods
from autodiff_kit.operands import comparison, number_first, operand_last
from autodiff_kit.outside import missing_attribute
from autodiff_kit.signatures import name_methods
from autodiff_kit.storage import Storage
from autodiff_kit.views import is_stale, look_again, node_of

__all__ = ["Tensor"]


class Tensor(Methods, Hookable, Storage, TensorBase):
    """An array that remembers how it was computed.

    Made by ``torch.tensor``, ``zeros``, ``randn`` and the like, or by operations on tensors.
    """

    __slots__ = ()
    __array_priority__ = 1000  # NumPy scalars on the left leave arithmetic to us

    def __init__(self, *data: Any) -> None:
        """Make a tensor of the default type: of given sizes, or from one list."""
        begin_legacy(self, data)

    def __repr__(self) -> str:
        from autodiff_kit.printing import format_tensor

        return format_tensor(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)

    def __hash__(self) -> int:
        return id(self)  # by identity: == compares elements

    # -- its place in the graph ----------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name != "_node":
            raise missing_attribute(self, "torch.Tensor", name)
        # A view's slot is empty when its base was changed in place.
        return look_again(self) if local.mode.grad_enabled else self._old

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves."""
        node = node_of(self)
        return None if isinstance(node, AccumulateGrad) else named(node)

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it: the learner did, or nothing was recorded."""
        node = node_of(self)
        return node is None or isinstance(node, AccumulateGrad)

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded and a gradient is wanted."""
        if is_stale(self):
            return self._old is not None or self._base._node is not None
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not views.seems_leaf(self):
            key = "autograd.flag_of_non_leaf_set" if value else "autograd.flag_of_non_leaf"
            raise error(key, node=self._node and self._node.name())
        views.require_grad(self, value, "floating point and complex")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` and return the tensor itself."""
        if not requires_grad and not views.seems_leaf(self):
            raise error("autograd.flag_of_non_leaf", node=self._node and self._node.name())
        if views.seems_leaf(self) or not self.is_floating_point():
            views.require_grad(self, requires_grad, "floating point")
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward has accumulated here; None before."""
        if self._grad is None and not self.is_leaf and not self.retains_grad:
            warn_of_grad(stacklevel=3)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        views.set_grad(self, value)

    @grad.deleter
    def grad(self) -> None:
        views.set_grad(self, None)

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

    # -- operators: one line each --------------------------------------------------------------

    __add__, __sub__, __mul__, __truediv__ = ops.add, ops.sub, ops.mul, ops.div
    __matmul__, __neg__, __abs__, __invert__ = ops.matmul, ops.neg, ops.abs, ops.bitwise_not
    __lt__, __le__, __gt__, __ge__ = ops.lt, ops.le, ops.gt, ops.ge
    __eq__, __ne__ = comparison(ops.eq), comparison(ops.ne)
    __and__, __or__ = inplace.for_tensors(ops.bitwise_and), inplace.for_tensors(ops.bitwise_or)
    __xor__ = inplace.for_tensors(ops.bitwise_xor)
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    __pow__ = operand_last("** or pow()", Methods.pow)
    __mod__ = operand_last("%", Methods.remainder)
    __floordiv__ = operand_last("//", Methods.floor_divide)
    __radd__ = number_first("+", ops.add)
    __rmul__ = number_first("*", ops.mul)
    __rsub__ = number_first("-", lambda x, number: ops.rsub(x, y=number))
    __rtruediv__ = number_first("/", lambda x, number: ops.mul(ops.reciprocal(x), number))
    __rpow__ = number_first("** or pow()", lambda x, number: ops.pow_from_number(x, base=number))
    __rmod__ = number_first("%", lambda x, number: ops.remainder_of_number(x, y=number))
    __rfloordiv__ = number_first("//", lambda x, number: ops.floor_divide_number(x, y=number))
    __iadd__ = inplace.operator(np.add, Methods.add_)
    __isub__ = inplace.operator(np.subtract, Methods.sub_)
    __imul__ = inplace.operator(np.multiply, Methods.mul_)
    __itruediv__, __ipow__ = map(inplace.for_tensors, (Methods.div_, Methods.pow_))
    __ifloordiv__, __imod__ = map(inplace.for_tensors, (Methods.floor_divide_, Methods.remainder_))

    def __getitem__(self, key: Any) -> Tensor:
        return ops.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        assignment.assign(self, key, value)


name_methods("Tensor", Methods, Hookable, Storage)


register(Tensor)
