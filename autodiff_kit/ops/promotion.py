"""Type promotion: in which dtype an op works, and what is converted for that.

After reading this file you know why ``int + float`` is a float, and that a conversion is an op of
its own, so that its gradient is converted back. Read next: ``dtypes.py`` (``result_dtype``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.core.mode import local, thread_local
from autodiff_kit.core.op import OPS, Op, Params
from autodiff_kit.dtypes import get_default_dtype, result_dtype
from autodiff_kit.late import late
from autodiff_kit.ops import checks

__all__ = ["SEQUENCES", "promoted", "requested"]

# What PyTorch refuses of booleans stands here: ``arithmetic.py`` is about rules only.
OPS["neg"].type_check = checks.refuse_bool("dtypes.bool_negation")
OPS["sub"].type_check = checks.refuse_bool_difference

# Operators that a NumPy array may stand behind: NumPy computes, ``__array_wrap__`` makes a tensor.
_WITH_ARRAYS = {f"x {sign} y" for sign in ("+", "-", "*", "/")} | {"x ** y", "x // y", "x % y"}
SEQUENCES = (list, tuple, str, bytes)
_FLOATS = {np.dtype("float32"), np.dtype("float64")}


class _Requested(thread_local):
    dtype: Any = None  # in which the next op works, as reductions do with ``dtype=``


requested = _Requested()


def promoted(row: Op, inputs: tuple[Any, ...], params: Params) -> Any:
    """Return the inputs, with tensors brought to the dtype in which the op works.

    TypeError if one is neither a tensor nor a number; or what the op's own check raises.
    """
    if requested.dtype is not None:
        dtype, requested.dtype = requested.dtype, None
        return (_converted(inputs[0], dtype), *inputs[1:])
    own = {value._array.dtype if hasattr(value, "_array") else None for value in inputs}
    if len(own) == 1 and own <= _FLOATS:
        return inputs  # the commonest case: a tenth of the time
    arrays = []
    for i, value in enumerate(inputs):
        array = getattr(value, "_array", value)
        if array is value and isinstance(value, np.generic):
            array = value.item()  # NumPy's numbers count as Python's
        elif array is value and not isinstance(value, float | int):
            if isinstance(value, np.ndarray) and i == 1 and row.text in _WITH_ARRAYS:
                return NotImplemented  # an operator: NumPy's turn
            if isinstance(value, SEQUENCES) and i == 1 and row.text == "x * y":
                return NotImplemented  # Python's turn: it repeats a sequence
            from autodiff_kit.ops.messages import not_a_tensor  # importing the kit takes less

            raise TypeError(not_a_tensor(row, i, value))
        arrays.append(array)
    types = {array.dtype for array in arrays if hasattr(array, "dtype")}
    has_bool = True in map(_is_bool, (*arrays, *params.values()))
    if row.type_check is not None and (has_bool or len(types) > 1 or types - _FLOATS):
        row.type_check(*arrays, **params)
    values = [
        value if hasattr(value, "_array") else array
        for value, array in zip(inputs, arrays, strict=True)
    ]
    if row.dtypes == "any":
        return tuple(values)
    numbers = [params[name] for name in row.operands]
    dtype = result_dtype(*arrays, *numbers)
    if row.dtypes in row.inputs:
        dtype = arrays[row.inputs.index(row.dtypes)].dtype
    if row.dtypes == "float" and dtype.kind != "f":
        dtype = get_default_dtype().numpy
    if dtype.kind in "iu":
        # In place: the op is called with these.
        params |= {name: _wrapped(params[name], dtype) for name in row.operands}
        values = [_wrapped(v, dtype) if isinstance(v, int) else v for v in values]
    for i, array in enumerate(arrays):
        if i >= row.keeps_type and hasattr(array, "dtype") and array.dtype != dtype:
            if not row.rules and local.mode.observer is None:
                values[i] = wrap(array)  # a comparison has no use for a history
            values[i] = _converted(values[i], dtype)
            values[i]._changes = inputs[i]._changes
    return tuple(values)


def _converted(x: Any, dtype: Any) -> Any:
    result = late("ops").promote(x, dtype=dtype)
    result._changes = x._changes  # one made in inference mode stays one
    return result


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _wrapped(number: int, dtype: Any) -> int:
    """Return a number as arithmetic takes it: one that is too large begins again at the bottom."""
    limits = np.iinfo(dtype)
    return number if limits.min <= number <= limits.max else int(np.array(number).astype(dtype))
