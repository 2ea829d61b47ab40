"""What a tensor offers besides its place in the graph: methods, further operators, its memory.

After reading this file you know where to find any of them: methods in ``methods.py``, memory in
``storage.py``, hooks in ``hookable.py``, and operators here, one line each. Read next:
``methods.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autodiff_kit import ops, views
from autodiff_kit.calls import check_calls, name_methods
from autodiff_kit.core.memory import check_grad
from autodiff_kit.core.mode import local
from autodiff_kit.errors import error, warn_of_grad
from autodiff_kit.from_data import begin_legacy
from autodiff_kit.function_files import OUTSIDE
from autodiff_kit.hookable import Hookable
from autodiff_kit.late import Later
from autodiff_kit.methods import Methods
from autodiff_kit.operands import (
    comparison,
    for_tensors,
    number_first,
    operand_last,
    operator,
    updating,
)
from autodiff_kit.storage import Storage

__all__ = ["TensorMethods"]


def _augmented(name: str, ufunc: Any = None, method: str = "") -> Later:
    """Make an operator such as ``+=`` of a method in place, when it is first used."""

    def make(_: str) -> Any:
        function = getattr(Methods, method or f"{name[1:]}_")
        return for_tensors(function) if ufunc is None else updating(ufunc, function)

    return Later((f"__{name}__", make))


class TensorMethods(Methods, Hookable, Storage):
    """Mixed into ``Tensor``."""

    __slots__ = ()
    __array_priority__ = 1000  # NumPy scalars on the left leave arithmetic to us

    _old: Any
    _grad: Any
    _base: Any

    def __init__(self: Any, *data: Any) -> None:
        """Make a tensor of the default type: of given sizes, or from one list."""
        begin_legacy(self, data)

    def __repr__(self: Any) -> str:
        from autodiff_kit.printing import format_tensor

        return format_tensor(self)

    def __format__(self: Any, spec: str) -> str:
        return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)

    def __hash__(self) -> int:
        return id(self)  # by identity: == compares elements

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in OUTSIDE]

    # -- views: their history follows that of their base -------------------------------------------

    def _latest_node(self: Any) -> Any:
        """Return the node, that of a view made anew where its base has changed."""
        return views.node_of(self)

    def _has_node(self: Any) -> bool:
        """Return whether the tensor has a node; a view is not asked for its history for that."""
        if views.is_stale(self):
            return self._old is not None or self._base._node is not None
        return self._node is not None

    def _require_grad(self: Any, value: bool) -> None:
        """Give a leaf a node that accumulates into it, or take that away."""
        if isinstance(value, bool) and not views.seems_leaf(self):
            key = "autograd.flag_of_non_leaf_set" if value else "autograd.flag_of_non_leaf"
            raise error(key, node=views.latest_node(self).name())
        views.require_grad(self, value, "floating point and complex")

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        """Set ``requires_grad`` and return the tensor itself."""
        if local.fresh is not None:
            raise error("func.requires_grad")
        if not requires_grad and not views.seems_leaf(self):
            raise error("autograd.flag_of_non_leaf", node=views.latest_node(self).name())
        if views.seems_leaf(self) or not self.is_floating_point():
            views.require_grad(self, requires_grad, "floating point")
        return self

    def _warn_of_grad(self: Any) -> None:
        """Warn that ``.grad``, which is None, stays so unless ``retain_grad`` is called."""
        if not self.is_leaf and not self.retains_grad:
            warn_of_grad(stacklevel=4)

    _check_grad, _set_grad = check_grad, views.set_grad

    # -- operators: those of arithmetic are in tensor.py -------------------------------------------

    __matmul__, __abs__, __invert__ = map(operator, ("matmul", "abs", "invert"))
    __lt__, __le__, __gt__, __ge__ = map(operator, ("lt", "le", "gt", "ge"))
    __eq__ = comparison(lambda x, y: ops.eq(x, y))
    __ne__ = comparison(lambda x, y: ops.ne(x, y))
    __and__ = for_tensors(lambda x, y: ops.bitwise_and(x, y))
    __or__ = for_tensors(lambda x, y: ops.bitwise_or(x, y))
    __xor__ = for_tensors(lambda x, y: ops.bitwise_xor(x, y))
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    __mod__ = operand_last("%", lambda x, y: x.remainder(y))
    __floordiv__ = operand_last("//", lambda x, y: x.floor_divide(y))
    __radd__ = number_first("+", ops.add)
    __rmul__ = number_first("*", ops.mul)
    __rsub__ = number_first("-", lambda x, number: ops.rsub(x, y=number))
    __rtruediv__ = number_first("/", lambda x, number: ops.mul(ops.reciprocal(x), number))
    __rpow__ = number_first("** or pow()", lambda x, number: ops.pow_from_number(x, base=number))
    __rmod__ = number_first("%", lambda x, number: ops.remainder_of_number(x, y=number))
    __rfloordiv__ = number_first("//", lambda x, number: ops.floor_divide_number(x, y=number))
    __iadd__, __isub__ = _augmented("iadd", np.add), _augmented("isub", np.subtract)
    __imul__, __itruediv__ = _augmented("imul", np.multiply), _augmented("itruediv", method="div_")
    __ifloordiv__ = _augmented("ifloordiv", method="floor_divide_")
    __imod__, __ipow__ = _augmented("imod", method="remainder_"), _augmented("ipow")

    def __getitem__(self, key: Any) -> Any:
        return ops.getitem(self, key)

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        _assign()(self, key, value)

    check_calls(vars())


@cache
def _assign() -> Callable[..., None]:
    """Return what assigns to elements, loaded when it is first done."""
    from autodiff_kit.assignment import assign

    return assign


name_methods("Tensor", TensorMethods)
