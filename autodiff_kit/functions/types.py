"""Dtypes: how they combine, what they can hold, and the old classes such as ``LongTensor``.

After reading this file you know which dtype ``x + y`` has without computing it. Read next:
``../dtypes.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.errors import error
from autodiff_kit.from_data import legacy_array, made
from autodiff_kit.functions.declared import Operand
from autodiff_kit.tensor import Tensor

__all__ = ["BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor"]
__all__ += ["IntTensor", "LongTensor", "ShortTensor", "can_cast", "finfo", "iinfo"]
__all__ += ["promote_types", "result_type"]


def _value(operand: Operand) -> Any:
    if isinstance(operand, Tensor):
        return operand._array
    return operand.item() if isinstance(operand, np.generic) else operand


def result_type(tensor1: Operand, tensor2: Operand) -> dtypes.dtype:
    """Return the dtype of an operation on two tensors or numbers."""
    kind = dtypes.result_dtype(_value(tensor1), _value(tensor2))
    return dtypes.from_numpy_dtype(kind)


def promote_types(type1: dtypes.dtype, type2: dtypes.dtype) -> dtypes.dtype:
    """Return the smallest dtype that holds the numbers of both; of float and int, the float."""
    kinds = [dtypes.as_dtype(kind, "promote_types").numpy for kind in (type1, type2)]
    return dtypes.from_numpy_dtype(dtypes.result_dtype(*(np.zeros(1, kind) for kind in kinds)))


def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Return whether in-place operations convert one dtype to another: not to a lower category."""
    one, other = (dtypes.as_dtype(kind, "can_cast").numpy for kind in (from_, to))
    return dtypes.category(one) <= dtypes.category(other)


class finfo:
    """The limits of a floating-point dtype, by default of the default one.

    Attributes
    ----------
    bits : int
    eps : float
        The distance from 1 to the next number.
    max, min, tiny, smallest_normal, resolution : float
    dtype : str
    """

    def __init__(self, type: dtypes.dtype | None = None) -> None:
        kind = dtypes.get_default_dtype() if type is None else type
        if not kind.is_floating_point:
            raise error("functions.finfo")
        limits = np.finfo(kind.numpy)
        self.bits, self.dtype = limits.bits, kind.name
        self.max, self.min, self.eps = map(float, (limits.max, limits.min, limits.eps))
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(f"{limits.resolution:g}")

    def __repr__(self) -> str:
        numbers = f"max={self.max:g}, eps={self.eps:g}, smallest_normal={self.tiny:g}"
        start = f"finfo(resolution={self.resolution:g}, min={self.min:g}, {numbers}"
        return f"{start}, tiny={self.tiny:g}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer dtype.

    Attributes
    ----------
    bits, max, min : int
    dtype : str
    """

    def __init__(self, type: dtypes.dtype) -> None:
        if type.numpy.kind not in "iu":
            raise error("functions.iinfo")
        limits = np.iinfo(type.numpy)
        self.bits, self.dtype = limits.bits, type.name
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


# -- one class for each dtype: how tensors were made before there was ``dtype=`` -------------------


class _OfOneType(type):
    dtype: dtypes.dtype

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __call__(cls, *data: Any) -> Tensor:
        if len(data) == 1 and isinstance(data[0], Tensor) and data[0].dtype is not cls.dtype:
            own, other = cls.dtype.c_type, data[0].dtype.c_type
            raise error("functions.legacy_dtype", own=own, other=other)
        return made(legacy_array(data, cls.dtype))

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


class HalfTensor(metaclass=_OfOneType):
    """A float16 tensor, of sizes or from one list."""

    dtype = dtypes.float16


class FloatTensor(metaclass=_OfOneType):
    """A float32 tensor, of sizes or from one list."""

    dtype = dtypes.float32


class DoubleTensor(metaclass=_OfOneType):
    """A float64 tensor, of sizes or from one list."""

    dtype = dtypes.float64


class CharTensor(metaclass=_OfOneType):
    """An int8 tensor, of sizes or from one list."""

    dtype = dtypes.int8


class ShortTensor(metaclass=_OfOneType):
    """An int16 tensor, of sizes or from one list."""

    dtype = dtypes.int16


class IntTensor(metaclass=_OfOneType):
    """An int32 tensor, of sizes or from one list."""

    dtype = dtypes.int32


class LongTensor(metaclass=_OfOneType):
    """An int64 tensor, of sizes or from one list."""

    dtype = dtypes.int64


class ByteTensor(metaclass=_OfOneType):
    """A uint8 tensor, of sizes or from one list."""

    dtype = dtypes.uint8


class BoolTensor(metaclass=_OfOneType):
    """A bool tensor, of sizes or from one list."""

    dtype = dtypes.bool_
