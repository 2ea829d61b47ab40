"""Functions at the top of the namespace: ``torch.sum(x)`` beside ``x.sum()``.

After reading this file you know that most of them are the method under another name. Read next:
``methods.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.dtypes import number_in, result_dtype, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.methods import check_operand
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.signatures import checked, wrong_call
from autodiff_kit.tensor import Tensor, wrap

# Operations on one tensor, or with parameters.
_OF_ONE = """
    abs addmm all amax amin any argmax argmin ceil chunk clamp clamp_max clamp_min clone cos cumsum
    exp expm1 flatten flip floor gather index_add index_select is_floating_point isnan log log1p
    log_softmax logsumexp masked_fill masked_select max mean min narrow neg norm numel permute prod
    reciprocal relu reshape round rsqrt scatter sigmoid sign sin softmax sort sqrt square squeeze
    std sum t tan tanh topk transpose unbind unsqueeze var
    abs_ ceil_ clamp_ clamp_max_ clamp_min_ cos_ exp_ expm1_ floor_ log1p_ log_ neg_ reciprocal_
    relu_ round_ rsqrt_ sigmoid_ sin_ sqrt_ square_ tan_ tanh_
"""
# Operations with a second operand: a tensor or number, a tensor, and by PyTorch's name for it.
_WITH_NUMBERS = (
    *("add", "div", "eq", "floor_divide", "ge", "gt", "le", "lt", "mul", "ne", "remainder", "sub"),
)
_NUMBER_FIRST = ("add", "div", "mul", "sub")
_REFLECTED = {"floor_divide": "__rfloordiv__", "remainder": "__rmod__"}
_WITH_TENSORS = ("matmul", "maximum", "minimum")
_PRODUCTS = {"bmm": "mat2", "dot": "tensor", "mm": "mat2", "mv": "vec", "outer": "vec2"}
_METHODS = (*_OF_ONE.split(), *_WITH_NUMBERS, *_WITH_TENSORS, *_PRODUCTS)

__all__ = [*_METHODS, "allclose", "cat", "einsum", "equal", "is_tensor"]
__all__ += ["pow", "split", "stack", "where"]


def _from_method(name: str) -> Any:
    # Without the check of its own: the words would count arguments from the second one.
    method = getattr(Tensor, name)
    method = getattr(method, "unchecked", method)

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_operand(name, "input", 1, input, numbers=False)
        return method(input, *args, **kwargs)

    return checked(name, function, "function")


def _check_input(name: str, input: Any, *args: Any, **kwargs: Any) -> None:
    if not isinstance(input, Tensor):
        wrong = wrong_call(name, "function", (input, *args), kwargs)
        if wrong is not None:
            raise wrong
        check_operand(name, "input", 1, input, numbers=False)


def _with_operand(name: str, argument: str, numbers: bool) -> Any:
    method = getattr(Tensor, name)

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        other, *args = args or (kwargs.pop(argument, None),)  # type: ignore[assignment]
        if not isinstance(input, Tensor) and isinstance(input, int | float):
            if isinstance(other, Tensor) and name in _REFLECTED:
                return getattr(other, _REFLECTED[name])(input)
            if isinstance(other, Tensor | int | float) and name in _NUMBER_FIRST:
                if isinstance(other, Tensor):
                    return method(input, other, *args, **kwargs)
                input = wrap(result_dtype(input).type(input))
        _check_input(name, input, other, *args, **kwargs)
        check_operand(name, argument, 2, other, numbers)
        return method(input, other, *args, **kwargs)

    return function


for _name in _METHODS:
    if _name in _OF_ONE.split():
        _function = _from_method(_name)
    else:
        _operand = _PRODUCTS.get(_name, "other")
        _function = _with_operand(_name, _operand, numbers=_name in _WITH_NUMBERS)
    _function.__name__ = _function.__qualname__ = _name
    _function.__doc__ = getattr(Tensor, _name).__doc__
    globals()[_name] = _function


def _checked(function: Any) -> Any:
    return checked(function.__name__, function, "factory")


def pow(input: Any, exponent: Any) -> Tensor:
    """Return ``input ** exponent``; one of them may be a number."""
    if isinstance(input, Tensor):
        return input.pow(exponent)
    if not isinstance(exponent, Tensor):
        _check_input("pow", input, exponent)
    return input**exponent  # type: ignore[no-any-return]


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Return ``input`` where the condition holds, else ``other``; shapes broadcast.

    With the condition alone, return the indices where it holds, one tensor per dimension.
    RuntimeError if the condition is not a bool tensor, or shapes do not fit.
    """
    check_operand("where", "condition", 1, condition, numbers=False)
    if input is None and other is None:
        return tuple(wrap(indices) for indices in np.nonzero(np.atleast_1d(condition._array)))
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
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = wrap(result_dtype(input, other).type(input))
    kind = result_dtype(*(getattr(value, "_array", value) for value in (input, other)))
    for value in (input, other):
        if not isinstance(value, Tensor) and kind != np.float16:
            number_in(value, kind)  # refuses one that does not fit
    return ops.where(condition, input, other)


@_checked
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must agree."""
    _check_list("cat", tensors)
    if not tensors:
        raise error("arguments.cat_of_nothing")
    for i, tensor in enumerate(tensors):
        if tensor.ndim == 0:
            raise error("shapes.cat_of_0d", position=i)
    first = next((tensor for tensor in tensors if tensor.shape != (0,)), None)
    return ops.cat(*tensors, dim=0 if first is None else first._dim(dim))


@_checked
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    _check_list("stack", tensors)
    if not tensors:
        raise error("arguments.stack_of_nothing")
    return ops.stack(*tensors, dim=tensors[0]._dim(dim, extra=1))


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut into parts of one size (the last may be smaller), or of the sizes in a list."""
    check_operand("split", "tensor", 1, tensor, numbers=False)
    return tensor.split(split_size_or_sections, dim)


def einsum(equation: str, *operands: Any) -> Any:
    """Multiply tensors and sum, as an equation such as ``"ij,jk->ik"`` says.

    Letters name dimensions; those that do not stand after ``->`` are summed over.
    """
    if len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = tuple(operands[0])
    _check_list("einsum", operands)
    return ops.einsum(equation, operands)


def _check_list(name: str, tensors: Any) -> None:
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        raise error("arguments.not_a_list", name=name, kind=type(tensors).__name__)
    for i, item in enumerate(tensors):
        if not isinstance(item, Tensor):
            raise error("arguments.list_element", position=i, kind=type(item).__name__)


def is_tensor(obj: Any) -> bool:
    """Return whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    check_operand("equal", "other", 2, other, numbers=False)
    return bool(np.array_equal(input._array, other._array))


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether ``|input - other| <= atol + rtol * |other|`` holds for all elements."""
    kinds = [tensor_type(tensor._array.dtype) for tensor in (input, other)]
    if kinds[0] != kinds[1]:
        raise error("dtypes.isclose", a=kinds[0], b=kinds[1])
    try:
        return bool(np.allclose(input._array, other._array, rtol, atol, equal_nan))
    except ValueError:
        shapes = input._array.shape, other._array.shape
        raise RuntimeError(broadcast_message("allclose", shapes)) from None
