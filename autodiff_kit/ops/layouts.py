"""In which order the elements of a result lie in memory: PyTorch's memory format.

After reading this file you know why ``x.t() * 2`` is as transposed as ``x.t()``. An elementwise op
reads its inputs as they lie, and writes in the same order; where inputs differ, the first that can
tell decides. NumPy does the same for one input, and for inputs that lie alike, which is nearly
always; so only the rest is looked at here. Other ops write row by row: ``@op(layout="rows")``.
Random numbers are drawn in the order of memory, so a layout shows in the values of ``dropout``.
Read next: ``elementwise.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.op import Op, Value

__all__ = ["arranged", "copy_of", "empty_like", "fill_in_order", "in_order", "lay_out"]
__all__ += ["scalar_if_0d", "zeros"]


def lay_out(row: Op, result: Value, inputs: Sequence[Value]) -> Value:
    """Return the result of an op on these inputs, lying as the op's declaration says."""
    if row.layout == "own":
        return result
    if row.layout:
        return result if row.layout == "own" or result.flags.c_contiguous else result.copy()
    return arranged(result, inputs) if len(inputs) > 1 and not row.is_variadic else result


def arranged(result: Value, inputs: Sequence[Value]) -> Value:
    """Return the result of an elementwise op on these inputs, lying as PyTorch lays it."""
    arrays = [x for x in inputs if isinstance(x, np.ndarray) and x.ndim]
    if result.ndim < 2 or all(x.flags.c_contiguous for x in arrays):
        return result
    out = _empty(result.shape, result.dtype, _order(result.shape, arrays))
    if out.strides == result.strides:
        return result
    out[...] = result
    return out


def in_order(forward: Callable[..., Any], *arrays: Value, **params: Any) -> Any:
    """Return what a forward makes of arrays that differ in their order, lying as in PyTorch."""
    results = forward(*arrays, **params)
    if isinstance(results, tuple):
        return (arranged(results[0], arrays), *results[1:])
    return arranged(results, arrays)


def scalar_if_0d(x: Value) -> Value:
    """Return the number in a 0-d array, any other array as it is: ``x[()]`` would be a view."""
    return x if x.ndim else x[()]


def empty_like(x: Value, dtype: Any = None) -> Any:
    """Return an array that lies as ``x`` does, without its gaps and repetitions."""
    if x.ndim < 2 or x.flags.c_contiguous:
        return np.empty(x.shape, dtype or x.dtype)
    return _empty(x.shape, dtype or x.dtype, _order(x.shape, [x]))


def copy_of(x: Value, dtype: Any = None) -> Value:
    """Return a copy that lies as ``x`` does."""
    if isinstance(x, np.ndarray) and 0 in x.strides:
        out = empty_like(x, dtype)
        out[...] = x
        return out
    return x.copy("K") if dtype is None else x.astype(dtype)


def fill_in_order(numbers: Any, x: Value) -> Any:
    """Return numbers, drawn one after the other, as an array that lies as ``x`` does."""
    if x.ndim < 2:
        return scalar_if_0d(numbers.reshape(x.shape))
    out = empty_like(x, numbers.dtype)
    order = sorted(range(x.ndim), key=lambda d: -out.strides[d])
    in_memory = out.transpose(order)
    in_memory[...] = numbers.reshape(in_memory.shape)
    return out


def _empty(shape: tuple[int, ...], dtype: Any, order: list[int]) -> Any:
    """Return an array whose dimensions, the innermost first, follow each other as in ``order``."""
    outer_first = order[::-1]
    dense = np.empty([shape[d] for d in outer_first], dtype)
    # With a storage of its own: what looks into another array passes for a view.
    return np.empty_like(dense.transpose(sorted(range(len(shape)), key=outer_first.__getitem__)))


def _order(shape: tuple[int, ...], arrays: Sequence[Any]) -> list[int]:
    """Return the dimensions from the innermost to the outermost, as the inputs have them.

    Source: PyTorch's TensorIterator: sorting by insertion, where broadcast dimensions (steps of
    0) are ambiguous and leave the decision to the next input.
    """
    count = len(shape)
    steps = []
    for array in arrays:
        own = [
            0 if n == 1 != m else s
            for n, m, s in zip(array.shape[::-1], shape[::-1], array.strides[::-1], strict=False)
        ]
        steps.append(([0] * (count - len(own))) + own[::-1])

    def compare(d: int, e: int) -> int:
        for own in steps:
            if own[d] and own[e]:
                if own[d] != own[e]:
                    return 1 if own[d] > own[e] else -1
                if shape[d] > shape[e]:
                    return 1
        return 0

    order = list(range(count))[::-1]
    for i in range(1, count):
        place = i
        for j in reversed(range(i)):
            sign = compare(order[j], order[place])
            if sign > 0:
                order[j], order[place] = order[place], order[j]
                place = j
            elif sign < 0:
                break
    return order


def zeros(g: Value, shape: Sequence[int]) -> Value:
    """Return zeros of the dtype and kind (array or Tensor) of ``g``, to put it back into."""
    if isinstance(g, ARRAYS):
        return scalar_if_0d(np.zeros(shape, g.dtype))
    return wrap(scalar_if_0d(np.zeros(shape, g._array.dtype)))
