"""The methods that pick elements, and that overwrite them: gather, scatter, where, fill_.

After reading this file you know what a mask and an index may be. Other methods in place are made of
the ordinary ones, as ``in_place_ops.py`` says. Read next: ``shapes.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import TensorBase, wrap
from autodiff_kit.dtypes import number_in, result_dtype, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.methods.in_place import change, filled_with
from autodiff_kit.methods.makers import Own, along_with, with_operand
from autodiff_kit.operands import NUMBERS, check_operand

__all__ = ["Selecting", "where"]


def where(condition: TensorBase, input: Any = None, other: Any = None) -> Any:
    """Return ``input`` where the condition holds, else ``other``; shapes broadcast.

    With the condition alone, return the indices where it holds, one tensor per dimension.
    RuntimeError if the condition is not a bool tensor, or shapes do not fit.
    """
    check_operand("where", "condition", 1, condition, numbers=False)
    if (input is None) != (other is None):
        raise TypeError("where")  # the words come from ``signatures.py``
    if input is None:
        places = np.nonzero(np.atleast_1d(condition._array))
        return tuple(wrap(np.ascontiguousarray(indices)) for indices in places)
    if condition._array.dtype == np.uint8:
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead.",
            UserWarning,
            stacklevel=2,
        )
        condition = condition.bool()
    if condition._array.dtype != bool:
        raise error("dtypes.where_condition", kind=tensor_type(condition._array.dtype))
    check_operand("where", "input", 2, input, numbers=True)
    check_operand("where", "other", 3, other, numbers=True)
    if not isinstance(input, TensorBase) and not isinstance(other, TensorBase):
        input = wrap(result_dtype(input, other).type(input))
    kind = result_dtype(*(getattr(value, "_array", value) for value in (input, other)))
    values = [input, other]
    for i, value in enumerate(values):
        if not isinstance(value, TensorBase):
            if kind != np.float16:
                number_in(value, kind)  # refuses one that does not fit
            # Beside a number the tensor is converted first: one of integers has no history then.
            values[1 - i] = values[1 - i].to(dtypes.from_numpy_dtype(kind))
    return ops.where(condition, *values)


class Selecting:
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _array: Any
    _dim: Any

    def where(self: Own, condition: TensorBase, other: Any) -> Own:
        """Return ``self`` where the condition holds, else ``other``."""
        return where(condition, self, other)

    gather, index_select = along_with("gather", "index"), along_with("index_select", "index")
    index_add = along_with("index_add", "index", "source")

    def scatter(self: Own, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Own:
        """Overwrite the elements that ``index`` names along a dimension: by a tensor or number."""
        check_operand("scatter", "index", 2, index, numbers=False)
        src = value if src is None else src
        check_operand("scatter", "src", 3, src, numbers=True)
        if isinstance(src, TensorBase):
            return ops.scatter(self, index, src, dim=self._dim(dim))
        return ops.scatter_value(self, index, dim=self._dim(dim), value=src)

    def masked_fill(self: Own, mask: Any, value: Any) -> Own:
        """Write a number, or a 0-d tensor, over the elements where the mask is true."""
        check_operand("masked_fill", "mask", 1, mask, numbers=False)
        check_operand("masked_fill", "value", 2, value, numbers=True)
        if not isinstance(value, TensorBase):
            return ops.masked_fill(self, mask, value=value)
        if value._array.ndim:
            raise error("indexing.fill_with_many", ndim=value._array.ndim)
        return ops.masked_fill_tensor(self, mask, value)

    masked_select = with_operand("masked_select", "mask", numbers=False)

    def copy_(self: Own, source: Any) -> Own:
        """Copy the elements of ``source`` into this tensor; shapes broadcast."""
        if isinstance(source, NUMBERS):
            return self.fill_(source)
        check_operand("copy_", "other", 1, source, numbers=False)
        return change(self, "copy_", ops.copy_from, source)

    def fill_(self: Own, value: Any) -> Own:
        """Set every element to one value: a number or a 0-d tensor."""
        if isinstance(value, TensorBase):
            return change(self, "fill_", filled_with, value)
        return change(self, "fill_", ops.fill, value=value)

    def zero_(self: Own) -> Own:
        """Set every element to 0."""
        return change(self, "zero_", ops.zero)

    check_calls(vars())
