"""What may stand beside a tensor: operands, numbers and flags, refused in PyTorch's words.

After reading this file you know which numbers an operator takes on its left and on its right, and
when Python or NumPy has its turn instead. Read next: ``methods/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import TensorBase
from autodiff_kit.core.mode import local
from autodiff_kit.core.op import ACCUMULATE
from autodiff_kit.core.versions import note_change
from autodiff_kit.dtypes import full_name
from autodiff_kit.errors import error, operands_refused
from autodiff_kit.free_form import Keywords
from autodiff_kit.from_data import as_int, from_numpy
from autodiff_kit.lazy import Later

__all__ = [
    "NUMBERS",
    "check_bool",
    "check_number",
    "check_operand",
    "checked_int",
    "comparison",
    "for_tensors",
    "number_first",
    "only_argument",
    "operand_last",
    "operator",
    "updating",
]


def check_operand(name: str, argument: str, position: int, value: Any, numbers: Any) -> None:
    """Raise TypeError, in PyTorch's words, if ``value`` cannot be an operand.

    ``position`` of the ``argument`` in the call is counted from 1; ``numbers`` says whether Python
    numbers will do.
    """
    if isinstance(value, TensorBase) or (numbers and isinstance(value, NUMBERS)):
        return
    kind = full_name(value)
    raise error(
        "arguments.not_a_tensor", name=name, argument=argument, position=position, kind=kind
    )


def checked_int(name: str, argument: str, position: int, value: Any) -> int:
    """Return ``as_int(value)``; raise its TypeError in PyTorch's words."""
    try:
        return as_int(value)
    except TypeError:
        kind = full_name(value)
        raise error(
            "arguments.not_an_int", name=name, argument=argument, at=position, kind=kind
        ) from None


def check_number(name: str, argument: str, position: int, value: Any) -> None:
    """Raise TypeError, in PyTorch's words, if ``value`` is no number."""
    if not isinstance(value, (TensorBase, *NUMBERS)):
        kind = full_name(value)
        raise error("arguments.not_a_number", name=name, argument=argument, at=position, kind=kind)


def check_bool(name: str, argument: str, value: Any, place: str = "") -> None:
    """Raise TypeError, in PyTorch's words, if ``value`` is not a bool."""
    if not isinstance(value, bool):
        kind = full_name(value)
        raise error("arguments.not_a_bool", name=name, argument=argument, place=place, kind=kind)


NUMBERS = (int, float, np.generic)


def only_argument(name: str, argument: str, args: tuple[Any, ...], kwargs: Keywords) -> Any:
    """Return the one argument of a method, given by its place or by its name."""
    if len(args) + len(kwargs) != 1 or not kwargs.keys() <= {argument}:
        types = ", ".join([*(type(value).__name__ for value in args), *kwargs])
        raise error("arguments.only_one", name=name, argument=argument, given=types)
    return args[0] if args else kwargs[argument]


def number_first(sign: str, apply: Any) -> Any:
    """Make an operator for a number on the left of a tensor; nothing else may stand there."""

    def reflected(self: Any, other: Any) -> Any:
        if type(other) is not float and type(other) is not int:
            from autodiff_kit.ops.checks import refuse_bool_difference  # loaded when needed
            from autodiff_kit.ops.promotion import SEQUENCES

            if not isinstance(other, NUMBERS):
                if sign == "*" and isinstance(other, SEQUENCES):
                    return NotImplemented  # Python's turn: it repeats a sequence
                if sign == "/" and isinstance(other, np.ndarray):
                    return ops.reciprocal(self) * other
                raise operands_refused(sign, full_name(other), "Tensor")
            other = other.item() if isinstance(other, np.generic) else other
            if sign == "-":
                refuse_bool_difference(self._array, y=other)
        return apply(self, other)

    return reflected


def operand_last(sign: str, apply: Any) -> Any:
    """Make an operator for a tensor or number on the right of a tensor."""

    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy's turn
        if not isinstance(other, (TensorBase, *NUMBERS)):
            raise operands_refused(sign, "Tensor", type(other).__name__)
        return apply(self, other)

    return operate


def operator(name: str) -> Any:
    """Make an operator that is the function of an op, which is loaded when it is first used."""
    return Later((f"__{name}__", lambda _: getattr(ops, name)))


def comparison(apply: Any) -> Any:
    """Make an operator that leaves other things than tensors, arrays, numbers to Python."""

    def compare(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = from_numpy(other)
        return apply(self, other) if isinstance(other, (TensorBase, *NUMBERS)) else NotImplemented

    return compare


def updating(ufunc: Any, method: Callable[..., Any]) -> Any:
    """Make an operator such as ``-=`` of a NumPy function and the method for all other cases.

    The update of a parameter, ``p -= 0.1 * p.grad``, is written straight into its memory if
    nothing can be in the way; that takes a quarter of the time.
    """

    def change_directly(self: TensorBase, other: Any) -> Any:
        mode, array = local.mode, self._array
        if (
            not mode.grad_enabled
            and mode.observer is None
            and self._changes is None
            and isinstance(other, TensorBase)
            and type(array) is type(operand := other._array) is np.ndarray
            and self._base is None  # a view, or one element in many places: the other way
            and array.base is None
            and not self._views
            and array.dtype is operand.dtype
            and array.dtype.kind == "f"
            and array.shape == operand.shape
        ):
            mode.quietly(ufunc, array, operand, array)
            node = self._node
            name = "" if node is None or node.op is ACCUMULATE else node.name()
            note_change(array, name=name)
            return self
        return slowly(self, other)

    slowly = for_tensors(method)
    return change_directly


def for_tensors(method: Callable[..., Any]) -> Any:
    """Make an operator such as ``/=`` of a method; with an array it is NumPy that operates."""
    return lambda self, other: (
        NotImplemented if isinstance(other, np.ndarray) else method(self, other)
    )
