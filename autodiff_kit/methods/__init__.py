"""All methods of a tensor: operators stand here, others in the files of this package.

After reading this file you know where any method is: in one of the parts of ``TensorMethods``; or
it is a function as well, and stands in the file of ``functions/`` that ``function_files.py`` names,
which is loaded when it is first called; or it is made of another one (``in_place_ops.py``).
Read next: ``elementwise.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import repeat
from typing import Any, NoReturn

import numpy as np

from autodiff_kit import ops
from autodiff_kit.calls import check_calls, name_methods
from autodiff_kit.core.base import wrap
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import full_name
from autodiff_kit.errors import error, operands_refused
from autodiff_kit.from_data import begin_legacy
from autodiff_kit.function_files import METHODS
from autodiff_kit.in_place_ops import METHODS_IN_PLACE
from autodiff_kit.late import late
from autodiff_kit.lazy import Later
from autodiff_kit.methods.elementwise import Elementwise
from autodiff_kit.methods.history import History
from autodiff_kit.methods.in_place import in_place
from autodiff_kit.methods.reductions import Reductions
from autodiff_kit.methods.selecting import Selecting
from autodiff_kit.methods.shapes import Shapes
from autodiff_kit.methods.storage import Storage
from autodiff_kit.operands import (
    comparison,
    for_tensors,
    number_first,
    operand_last,
    operator,
    updating,
)
from autodiff_kit.outside import OF_TENSORS, missing_attribute

__all__ = ["TensorMethods"]


def _find(name: str) -> Any:
    return late("functions").find(name).method


class _Outside(str):
    """The name of what only PyTorch has; a ``__getattr__`` would make each slot dear to read."""

    __slots__ = ()

    def __get__(self, tensor: Any, owner: Any) -> Any:
        raise missing_attribute(owner if tensor is None else tensor, "torch.Tensor", str(self))


class _OutsideAttribute(_Outside):
    """The name of what can only be read of a tensor, and only PyTorch has."""

    __slots__ = ()

    def __set__(self, tensor: Any, value: Any) -> None:
        raise error("arguments.not_writable", name=str(self))


_NAMES = """
imag is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized is_sparse_csr is_vulkan
is_xla is_xpu layout name
"""
_READ_ONLY = _NAMES.split()


class _Further:
    """Mixed into ``Tensor``: what is made when it is first asked for, by the tables of names."""

    __slots__ = ()
    vars().update(zip(OF_TENSORS, map(_Outside, OF_TENSORS), strict=True))
    vars().update(zip(_READ_ONLY, map(_OutsideAttribute, _READ_ONLY), strict=True))
    vars().update(zip(METHODS, map(Later, zip(METHODS, repeat(_find))), strict=False))
    vars().update(
        zip(METHODS_IN_PLACE, map(Later, zip(METHODS_IN_PLACE, repeat(in_place))), strict=False)
    )
    check_calls(vars())


def _augmented(name: str, ufunc: Any = None, method: str = "") -> Any:
    """Make an operator such as ``+=`` of a method in place, when it is first used."""

    def make(_: str) -> Any:
        function = getattr(_Further, method or f"{name[1:]}_")
        return for_tensors(function) if ufunc is None else updating(ufunc, function)

    return Later((f"__{name}__", make))


def _subtract_from(x: Any, number: float) -> Any:
    if local.mode.inside:
        return ops.sub(wrap(x._array.dtype.type(number)), x)
    return ops.rsub(x, y=number)


def _divide(x: Any, number: float) -> Any:
    if local.mode.inside:
        return ops.div(wrap(x._array.dtype.type(number)), x)
    return ops.mul(ops.reciprocal(x), number)


class TensorMethods(Elementwise, Reductions, Selecting, Shapes, History, Storage, _Further):
    """Mixed into ``Tensor``."""

    __slots__ = ()
    __array_priority__ = 1000  # NumPy scalars on the left leave arithmetic to us

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
        return [name for name in super().__dir__() if name not in OF_TENSORS]

    # -- operators: those of arithmetic are in tensor.py -------------------------------------------

    __matmul__, __abs__ = map(operator, ("matmul", "abs"))
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
    __rsub__ = number_first("-", _subtract_from)
    __rtruediv__ = number_first("/", _divide)
    __rpow__ = number_first("** or pow()", lambda x, number: ops.pow_from_number(x, base=number))
    __rmod__ = number_first("%", lambda x, number: ops.remainder_of_number(x, y=number))
    __rfloordiv__ = number_first("//", lambda x, number: ops.floor_divide_number(x, y=number))
    __iadd__, __isub__ = _augmented("iadd", np.add), _augmented("isub", np.subtract)
    __imul__, __itruediv__ = _augmented("imul", np.multiply), _augmented("itruediv", method="div_")
    __ifloordiv__ = _augmented("ifloordiv", method="floor_divide_")
    __imod__, __ipow__ = _augmented("imod", method="remainder_"), _augmented("ipow")

    __lshift__ = for_tensors(lambda x, other: ops.bitwise_left_shift(x, other))
    __rshift__ = for_tensors(lambda x, other: ops.bitwise_right_shift(x, other))

    def __rlshift__(self: Any, other: Any) -> Any:
        return ops.bitwise_left_shift(_number("<<", other), self)

    def __rrshift__(self: Any, other: Any) -> Any:
        return ops.bitwise_right_shift(_number(">>", other), self)

    def __invert__(self: Any) -> Any:
        if self._array.dtype.kind == "f":
            raise error("dtypes.invert_floats")
        return ops.bitwise_not(self)

    def __pos__(self: Any) -> Any:
        if self._array.dtype == bool:
            raise error("tensor.plus_bool")
        return self

    def __delitem__(self: Any, key: Any) -> NoReturn:
        raise error("arguments.item_deleted")

    def __rmatmul__(self: Any, other: Any) -> Any:
        kind = full_name(other)
        raise operands_refused("@", kind, "Tensor")

    def __getitem__(self, key: Any) -> Any:
        return ops.getitem(self, key)

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        _assign()(self, key, value)

    check_calls(vars())


def _number(sign: str, value: Any) -> Any:
    """Return a number that stands to the left of a tensor."""
    if not isinstance(value, int | float):
        raise operands_refused(sign, full_name(value), "Tensor")
    return value


@cache
def _assign() -> Callable[..., None]:
    """Return what assigns to elements, loaded when it is first done."""
    from autodiff_kit.assignment import assign

    return assign


name_methods("Tensor", TensorMethods)
