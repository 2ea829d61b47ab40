"""Comparing tensors: ``isclose``, ``isin``, the long names of ``<`` and ``==``, and their dtypes.

After reading this file you know when two tensors count as equal. Read next: ``arranging.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.versions import writable
from autodiff_kit.errors import error
from autodiff_kit.functions.declared import Operand, function, method, overloaded
from autodiff_kit.ops import counting, pairs
from autodiff_kit.tensor import Tensor

__all__ = ["allclose", "apply_", "equal", "greater", "greater_equal", "is_complex", "is_nonzero"]
__all__ += [
    "is_same_size",
    "is_signed",
    "isclose",
    "isin",
    "less",
    "less_equal",
    "map_",
    "not_equal",
]


@function
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Tell where ``|input - other| <= atol + rtol * |other|``."""
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise error("arguments.tolerance", name=name, value=tolerance)
    return pairs.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


@function
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Return whether ``|input - other| <= atol + rtol * |other|`` holds for all elements."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


@function
def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    return input.shape == other.shape and bool((input._array == other._array).all())


@overloaded(
    "(Tensor elements, Tensor test_elements, *, bool assume_unique = False, bool invert = False)",
    "(Number element, Tensor test_elements, *, bool assume_unique = False, bool invert = False)",
    "(Tensor elements, Number test_element, *, bool assume_unique = False, bool invert = False)",
)
def isin(
    elements: Operand,
    test_elements: Operand,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Tell of each element whether it is among ``test_elements``."""
    return counting.isin(elements, test_elements, invert=invert)


_BOTH = "(Tensor input, Tensor other)", "(Tensor input, Number other)"


@overloaded(*_BOTH)
def greater(input: Tensor, other: Operand) -> Tensor:
    """Tell where ``input > other``: ``gt``."""
    return ops.gt(input, other)


@overloaded(*_BOTH)
def greater_equal(input: Tensor, other: Operand) -> Tensor:
    """Tell where ``input >= other``: ``ge``."""
    return ops.ge(input, other)


@overloaded(*_BOTH)
def less(input: Tensor, other: Operand) -> Tensor:
    """Tell where ``input < other``: ``lt``."""
    return ops.lt(input, other)


@overloaded(*_BOTH)
def less_equal(input: Tensor, other: Operand) -> Tensor:
    """Tell where ``input <= other``: ``le``."""
    return ops.le(input, other)


@overloaded(*_BOTH)
def not_equal(input: Tensor, other: Operand) -> Tensor:
    """Tell where ``input != other``: ``ne``."""
    return ops.ne(input, other)


@function
def is_complex(input: Tensor) -> bool:
    """Return False: the kit has no complex numbers."""
    return False


@function
def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not 0."""
    if input.numel() != 1:
        raise error("tensor.truth_of_many" if input.numel() else "tensor.truth_of_none")
    return bool(input)


@method
def apply_(self: Tensor, callable: Any) -> Tensor:
    """Replace every element by what a Python function makes of it; slow, and not recorded."""
    if self.requires_grad:
        raise error("functions.apply_recorded", name="apply_")
    return _mapped(callable, self)


@method
def map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Replace every element by what a Python function makes of it and another; not recorded."""
    if self.requires_grad:
        raise error("functions.apply_recorded", name="map_")
    return _mapped(callable, self, tensor.expand(self.shape))


def _mapped(function: Any, tensor: Tensor, *others: Tensor) -> Tensor:
    columns = (t.reshape(-1).tolist() for t in (tensor, *others))
    numbers = [function(*values) for values in zip(*columns, strict=True)]
    memory = writable(tensor)  # PyTorch, too, counts no change
    memory[...] = np.array(numbers, memory.dtype).reshape(memory.shape)
    return tensor


@function
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape."""
    return input.shape == other.shape


@function
def is_signed(input: Tensor) -> bool:
    """Return whether the dtype has negative numbers."""
    return input._array.dtype.kind in "if"
