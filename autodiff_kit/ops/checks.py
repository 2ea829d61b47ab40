"""What PyTorch refuses to compute with integers and truth values.

After reading this file you know why ``mask - 1`` and ``5 % 0`` are errors while their floating
twins are not. An op names a check by ``type_check=``; it runs only when not all inputs are floats.
Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import number_in, result_dtype, tensor_type
from autodiff_kit.errors import error

__all__ = ["NOT_IMPLEMENTED", "no_derivative", "refuse", "refuse_alpha", "refuse_bool"]
__all__ += ["refuse_bool_difference", "refuse_bound", "refuse_floats", "refuse_negative_power"]
__all__ += ["refuse_zero_divisor", "unless_misfit"]

Check = Callable[..., None]
Ints = tuple[int, ...]
NOT_IMPLEMENTED = "torch::autograd::NotImplemented"  # the node of what has no derivative there


def unless_misfit(exception: Exception, *values: Any) -> Exception:
    """Return an error; or, where shapes do not fit, the one of that: PyTorch sees it first."""
    shapes = [np.shape(value) for value in values]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        from autodiff_kit.ops.messages import broadcast_message

        return RuntimeError(broadcast_message("this", shapes))
    return exception


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def refuse(kernel: str, kinds: str = "iub") -> Check:
    """Make a check that refuses dtypes of some NumPy kinds, as PyTorch's ``kernel`` does.

    The dtype is that to which the inputs are promoted.
    """

    def check(*arrays: Value, **params: Any) -> None:
        dtype = result_dtype(*arrays)
        if dtype.kind in kinds:
            kind = tensor_type(dtype)
            if kinds == "b":
                exception = error("dtypes.bool_kernel", kernel=kernel)
            elif "f" in kinds:
                exception = error("dtypes.integer_kernel", kernel=kernel, kind=kind)
            else:
                exception = error("functional.whole_numbers", kernel=kernel, kind=kind)
            raise unless_misfit(exception, *arrays)

    return check


def refuse_bool(key: str, **values: str) -> Check:
    """Make a check that raises ``error(key, **values)`` when all inputs are bool tensors."""

    def check(*arrays: Value, **params: Any) -> None:
        if all(map(_is_bool, arrays)):
            raise unless_misfit(error(key, **values), *arrays)

    return check


def refuse_bool_difference(*arrays: Value, y: Any = None, **params: Any) -> None:
    """Refuse ``mask - mask`` and ``mask - 1``; ``y`` is the number of ``1 - mask``."""
    are_bool = [*map(_is_bool, arrays if y is None else (*arrays, y))]
    if any(are_bool):
        raise error("dtypes.bools_subtracted" if all(are_bool) else "dtypes.bool_subtracted")


def refuse_zero_divisor(name: str) -> Check:
    """Make a check that refuses to divide integers by 0: no inf can be the answer."""
    refuse = refuse_bool("dtypes.bool_kernel", kernel=f"{name}_cpu")

    def check(x: Value, y: Value, **params: Any) -> None:
        refuse(x, y)
        dtype = result_dtype(x, y)
        if dtype.kind != "f":
            divisor = np.asarray(y).astype(dtype)  # 256 is 0 as a uint8
            is_divided = np.asarray(x).size or not np.shape(y)
            if np.any(divisor == 0) and np.size(x) and is_divided:
                raise unless_misfit(error("dtypes.zero_divisor"), x, y)

    return check


def refuse_bound(kernel: str) -> Check:
    """Make a check that refuses bounds that the type of the result does not reach, and bools."""

    def check(x: Value, **numbers: Any) -> None:
        _refuse_outside(x, **numbers)
        if result_dtype(x, *numbers.values()).kind == "b":
            raise error("dtypes.bool_kernel", kernel=kernel)

    return check


def _refuse_outside(x: Value, **numbers: Any) -> None:
    dtype = result_dtype(x, *numbers.values())
    for number in numbers.values():
        number_in(number, dtype)


def refuse_negative_power(x: Value, *, exponent: Any) -> None:
    """Refuse ``x ** -1`` for integers, whose result is none."""
    if isinstance(exponent, int) and exponent < 0 and np.asarray(x).dtype.kind != "f":
        raise error("dtypes.negative_power")
    _refuse_outside(x, exponent=exponent)


def refuse_alpha(*arrays: Value, alpha: Any) -> None:
    """Refuse to add half of an integer, or ``True`` times a number."""
    if isinstance(alpha, bool | float):
        kind = result_dtype(*arrays).kind
        if isinstance(alpha, bool) and kind != "b":
            raise unless_misfit(error("dtypes.bool_alpha"), *arrays)
        if isinstance(alpha, float) and kind != "f":
            raise unless_misfit(error("dtypes.float_alpha"), *arrays)


def refuse_floats(name: str, *arrays: Value) -> None:
    """Refuse to work bit by bit on floats."""
    kind = np.asarray(arrays[0]).dtype
    if kind.kind == "f":
        exception = error("dtypes.bits_of_floats", name=name, kind=tensor_type(kind))
        raise unless_misfit(exception, *arrays)


def no_derivative(key: str, name: str) -> NoReturn:
    """Raise PyTorch's error for an op that it does not differentiate."""
    raise error(key, op=name)
