"""Functions at the top of the namespace: ``torch.sum(x)`` beside ``x.sum()``.

After reading this file you know that most of them are the method under another name. Read next:
``methods.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.dtypes import result_dtype, tensor_type
from autodiff_kit.errors import teach
from autodiff_kit.methods import check_operand
from autodiff_kit.tensor import Tensor, wrap

# Operations on one tensor, or with parameters.
_ONE = (
    *("abs", "all", "amax", "amin", "any", "argmax", "argmin", "bitwise_not", "ceil", "clamp"),
    *("clamp_max", "clamp_min", "clip", "clone", "cos", "exp", "expm1", "flatten", "flip"),
    *("floor", "isfinite", "isinf", "isnan", "log", "log1p", "logical_not", "max", "mean", "min"),
    *("narrow", "neg", "numel", "permute", "prod", "ravel", "reciprocal", "relu", "reshape"),
    *("round", "rsqrt", "select", "sigmoid", "sign", "sin", "sqrt", "square", "squeeze", "sum"),
    *("t", "tan", "tanh", "transpose", "trunc", "unsqueeze"),
)
# Operations with a second operand: a tensor or number, a tensor, and by PyTorch's name for it.
_WITH_NUMBERS = (
    *("add", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "floor_divide", "ge"),
    *("gt", "le", "lt", "mul", "ne", "remainder", "sub"),
)
_WITH_TENSORS = ("logical_and", "logical_or", "logical_xor", "matmul", "maximum", "minimum")
_PRODUCTS = {"bmm": "mat2", "dot": "tensor", "mm": "mat2", "mv": "vec"}
_METHODS = (*_ONE, *_WITH_NUMBERS, *_WITH_TENSORS, *_PRODUCTS)

__all__ = [
    *_METHODS,
    "allclose",
    "cat",
    "concat",
    "equal",
    "is_floating_point",
    "is_tensor",
    "isclose",
    "negative",
    "outer",
    "pow",
    "stack",
    "where",
]


def _from_method(name: str) -> Any:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_operand(name, "input", 1, input, numbers=False)
        return getattr(input, name)(*args, **kwargs)

    return function


def _with_operand(name: str, argument: str, numbers: bool) -> Any:
    def function(input: Any, other: Any, **kwargs: Any) -> Any:
        check_operand(name, "input", 1, input, numbers=False)
        check_operand(name, argument, 2, other, numbers)
        return getattr(input, name)(other, **kwargs)

    return function


for _name in _METHODS:
    if _name in _ONE:
        _function = _from_method(_name)
    else:
        _operand = _PRODUCTS.get(_name, "other")
        _function = _with_operand(_name, _operand, numbers=_name in _WITH_NUMBERS)
    _function.__name__ = _function.__qualname__ = _name
    _function.__doc__ = getattr(ops, _name, getattr(Tensor, _name)).__doc__
    globals()[_name] = _function

negative = globals()["neg"]


def pow(input: Any, exponent: Any) -> Tensor:
    """Return ``input ** exponent``; one of them may be a number."""
    if isinstance(input, Tensor):
        return input.pow(exponent)
    check_operand("pow", "exponent", 2, exponent, numbers=False)
    return input**exponent  # type: ignore[no-any-return]


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Return ``input`` where the condition holds, else ``other``; shapes broadcast.

    With the condition alone, return the indices where it holds, one tensor per dimension.

    Raises
    ------
    RuntimeError
        If the condition is not a bool tensor, or shapes do not fit.
    """
    check_operand("where", "condition", 1, condition, numbers=False)
    if input is None and other is None:
        return tuple(wrap(indices) for indices in np.nonzero(np.atleast_1d(condition._array)))
    if condition._array.dtype != bool:
        raise RuntimeError(
            teach(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{tensor_type(condition._array.dtype)}",
                "Make it a mask by a comparison, for example x > 0.",
            )
        )
    check_operand("where", "input", 2, input, numbers=True)
    check_operand("where", "other", 3, other, numbers=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = wrap(result_dtype(input, other).type(input))
    return ops.where(condition, input, other)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must agree."""
    _check_list("cat", tensors)
    if not tensors:
        raise ValueError(
            teach("torch.cat(): expected a non-empty list of Tensors", "There is nothing to join.")
        )
    for i, tensor in enumerate(tensors):
        if tensor.ndim == 0:
            raise RuntimeError(
                teach(
                    f"zero-dimensional tensor (at position {i}) cannot be concatenated",
                    "cat joins along an existing dimension; stack makes a new one.",
                )
            )
    return ops.cat(*tensors, dim=tensors[0]._dim(dim))


concat = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    _check_list("stack", tensors)
    if not tensors:
        raise RuntimeError(
            teach("stack expects a non-empty TensorList", "There is nothing to stack.")
        )
    return ops.stack(*tensors, dim=tensors[0]._dim(dim, extra=1))


def _check_list(name: str, tensors: Any) -> None:
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        kind = type(tensors).__name__
        raise TypeError(
            teach(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {kind}",
                f"Put them into a list: torch.{name}([x, y]).",
            )
        )
    for i, item in enumerate(tensors):
        if not isinstance(item, Tensor):
            raise TypeError(
                teach(
                    f"expected Tensor as element {i} in argument 0, but got {type(item).__name__}",
                    "Make a tensor of it first: torch.tensor(...).",
                )
            )


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply every element of one vector with every element of another."""
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor.ndim != 1:
            raise RuntimeError(
                teach(
                    f"outer: Expected 1-D argument {name}, but got {tensor.ndim}-D",
                    "Both are vectors; x.reshape(-1) makes one of any tensor.",
                )
            )
    return input.reshape(-1, 1) * vec2


def is_floating_point(input: Tensor) -> bool:
    """Return whether the elements are floats."""
    return input.dtype.is_floating_point


def is_tensor(obj: Any) -> bool:
    """Return whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    check_operand("equal", "other", 2, other, numbers=False)
    return bool(np.array_equal(input._array, other._array))


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Tell where ``|input - other| <= atol + rtol * |other|``."""
    if input.dtype is not other.dtype:
        types = tensor_type(input._array.dtype), tensor_type(other._array.dtype)
        raise RuntimeError(
            teach("{} did not match {}".format(*types), "Convert one of them: x.to(y.dtype).")
        )
    return wrap(np.isclose(input._array, other._array, rtol, atol, equal_nan))


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether ``isclose`` holds for all elements."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._array))
