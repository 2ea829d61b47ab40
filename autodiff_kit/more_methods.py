"""The methods of a tensor whose file is loaded when one of them is first used.

After reading this file you know why ``x.tril`` costs nothing until it is called. What a method
takes stands in the file that ``function_files.py`` names. Read next:
``functions/declared.py``.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.memory import Own
from autodiff_kit.dtypes import full_name
from autodiff_kit.errors import error, operands_refused
from autodiff_kit.function_files import METHODS, OUTSIDE
from autodiff_kit.in_place_ops import METHODS_IN_PLACE
from autodiff_kit.late import Later, late
from autodiff_kit.method_makers import in_place
from autodiff_kit.operands import for_tensors
from autodiff_kit.outside import missing_attribute

__all__ = ["MoreMethods"]


def _find(name: str) -> Any:
    return late("functions").find(name).method


class _Outside(str):
    """The name of what only PyTorch has; a ``__getattr__`` would make each slot dear to read."""

    __slots__ = ()

    def __get__(self, tensor: Any, owner: Any) -> Any:
        raise missing_attribute(owner if tensor is None else tensor, "torch.Tensor", str(self))


class MoreMethods:
    """Mixed into ``Tensor``."""

    __slots__ = ()
    vars().update(zip(OUTSIDE, map(_Outside, OUTSIDE), strict=True))
    vars().update(zip(METHODS, map(Later, zip(METHODS, repeat(_find))), strict=False))
    vars().update(
        zip(METHODS_IN_PLACE, map(Later, zip(METHODS_IN_PLACE, repeat(in_place))), strict=False)
    )

    @property
    def mT(self: Own) -> Own:
        """The tensor with its last two dimensions swapped: of each matrix the transposed one."""
        if self.ndim == 1:
            raise error("functions.matrices", name="mT", ndim=self.ndim)
        return (
            self if not self.ndim else ops.transpose(self, dim0=self.ndim - 2, dim1=self.ndim - 1)
        )

    @property
    def mH(self: Own) -> Own:
        """The same as ``mT``: the kit has no complex numbers."""
        if self.ndim == 1:
            raise error("functions.matrices", name="mH", ndim=self.ndim)
        return (
            self if not self.ndim else ops.transpose(self, dim0=self.ndim - 2, dim1=self.ndim - 1)
        )

    @property
    def H(self: Own) -> Own:
        """The transposed matrix: the kit has no complex numbers."""
        if self.ndim not in (0, 2):
            batches = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
            raise error("functions.matrix", ndim=self.ndim, batches=batches)
        return self if not self.ndim else ops.transpose(self, dim0=0, dim1=1)

    real: Any = property(lambda self: self, doc="The tensor itself: all numbers are real.")
    is_cpu: Any = property(lambda self: True, doc="True: the kit uses the CPU.")
    is_cuda: Any = property(lambda self: False, doc="False: the kit uses no GPU.")
    is_sparse: Any = property(lambda self: False, doc="False: all elements are stored.")

    def get_device(self) -> int:
        """Return -1: the memory is the CPU's."""
        return -1

    def ndimension(self: Any) -> int:
        """Return the number of dimensions."""
        return self.ndim

    def byte(self: Own) -> Own:
        """Convert to uint8."""
        return self.to(dtypes.uint8)

    def char(self: Own) -> Own:
        """Convert to int8."""
        return self.to(dtypes.int8)

    def short(self: Own) -> Own:
        """Convert to int16."""
        return self.to(dtypes.int16)

    __lshift__ = for_tensors(lambda x, other: ops.bitwise_left_shift(x, other))
    __rshift__ = for_tensors(lambda x, other: ops.bitwise_right_shift(x, other))

    def __rlshift__(self: Any, other: Any) -> Any:
        return ops.bitwise_left_shift(_number("<<", other), self)

    def __rrshift__(self: Any, other: Any) -> Any:
        return ops.bitwise_right_shift(_number(">>", other), self)

    check_calls(vars())


def _number(sign: str, value: Any) -> Any:
    """Return a number that stands to the left of a tensor."""
    if not isinstance(value, int | float):
        raise operands_refused(sign, full_name(value), "Tensor")
    return value
