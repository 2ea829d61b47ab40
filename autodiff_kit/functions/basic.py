"""Functions at the top of the namespace: ``torch.sum(x)`` beside ``x.sum()``.

After reading this file you know that most of them are the method under another name. Read next:
``../methods.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import result_dtype
from autodiff_kit.errors import error
from autodiff_kit.methods import where
from autodiff_kit.operands import check_operand
from autodiff_kit.signatures import checked, wrong_call
from autodiff_kit.tensor import Tensor

__all__ = ["abs", "abs_", "add", "addmm", "all", "amax", "amin", "any", "argmax", "argmin", "bmm"]
__all__ += ["cat", "ceil", "ceil_", "chunk", "clamp", "clamp_", "clamp_max", "clamp_max_"]
__all__ += ["clamp_min", "clamp_min_", "clone", "cos", "cos_", "cumsum", "detach", "div", "dot"]
__all__ += ["einsum", "eq", "exp", "exp_", "expm1", "expm1_", "flatten", "flip", "floor", "floor_"]
__all__ += ["floor_divide", "gather", "ge", "gt", "index_add", "index_select", "is_floating_point"]
__all__ += ["is_tensor", "isnan", "le", "log", "log1p", "log1p_", "log_", "log_softmax"]
__all__ += ["logsumexp", "lt", "masked_fill", "masked_select", "matmul", "max", "maximum", "mean"]
__all__ += ["min", "minimum", "mm", "mul", "mv", "narrow", "ne", "neg", "neg_", "norm", "numel"]
__all__ += ["outer", "permute", "pow", "prod", "reciprocal", "reciprocal_", "relu", "relu_"]
__all__ += ["remainder", "reshape", "round", "round_", "rsqrt", "rsqrt_", "scatter", "sigmoid"]
__all__ += ["sigmoid_", "sign", "sin", "sin_", "softmax", "sort", "split", "sqrt", "sqrt_"]
__all__ += ["square", "square_", "squeeze", "stack", "std", "sub", "sum", "t", "tan", "tan_"]
__all__ += ["tanh", "tanh_", "topk", "transpose", "unbind", "unsqueeze", "var", "where"]

_NUMBER_FIRST = ("add", "div", "mul", "sub")
_REFLECTED = {"floor_divide": "__rfloordiv__", "remainder": "__rmod__"}


def _of_one(name: str) -> Any:
    """Make the function of a method that takes no second tensor."""
    # Without the check of its own: the words would count arguments from the second one.
    method = getattr(Tensor, name)
    method = getattr(method, "unchecked", method)

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_operand(name, "input", 1, input, numbers=False)
        return method(input, *args, **kwargs)

    function.__wrapped__ = method  # type: ignore[attr-defined]
    return _named(name, checked(name, function, "function"))


def _named(name: str, function: Any) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(Tensor, name).__doc__
    return function


def _with_number(name: str) -> Any:
    """Make a function with a second operand: a tensor or a number."""
    return _with_operand(name, "other", numbers=True)


def _with_tensor(name: str, argument: str = "other") -> Any:
    """Make a function with a second tensor, which PyTorch calls ``argument``."""
    return _with_operand(name, argument, numbers=False)


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

    return _named(name, function)


# -- of one tensor, or with parameters -----------------------------------------------------------

abs, abs_, addmm, all, amax, amin = map(_of_one, ("abs", "abs_", "addmm", "all", "amax", "amin"))
any, argmax, argmin, ceil, ceil_ = map(_of_one, ("any", "argmax", "argmin", "ceil", "ceil_"))
chunk, clamp, clamp_, clamp_max = map(_of_one, ("chunk", "clamp", "clamp_", "clamp_max"))
clamp_max_, clamp_min, clamp_min_ = map(_of_one, ("clamp_max_", "clamp_min", "clamp_min_"))
clone, cos, cos_, cumsum, detach = map(_of_one, ("clone", "cos", "cos_", "cumsum", "detach"))
exp, exp_, expm1, expm1_, flatten = map(_of_one, ("exp", "exp_", "expm1", "expm1_", "flatten"))
flip, floor, floor_, gather = map(_of_one, ("flip", "floor", "floor_", "gather"))
index_add, index_select = map(_of_one, ("index_add", "index_select"))
is_floating_point, isnan, log, log1p = map(_of_one, ("is_floating_point", "isnan", "log", "log1p"))
log1p_, log_, log_softmax, logsumexp = map(_of_one, ("log1p_", "log_", "log_softmax", "logsumexp"))
masked_fill, masked_select, max = map(_of_one, ("masked_fill", "masked_select", "max"))
mean, min, narrow, neg, neg_, norm = map(_of_one, ("mean", "min", "narrow", "neg", "neg_", "norm"))
numel, permute, prod, reciprocal = map(_of_one, ("numel", "permute", "prod", "reciprocal"))
reciprocal_, relu, relu_, reshape = map(_of_one, ("reciprocal_", "relu", "relu_", "reshape"))
round, round_, rsqrt, rsqrt_ = map(_of_one, ("round", "round_", "rsqrt", "rsqrt_"))
scatter, sigmoid, sigmoid_, sign = map(_of_one, ("scatter", "sigmoid", "sigmoid_", "sign"))
sin, sin_, softmax, sort, sqrt = map(_of_one, ("sin", "sin_", "softmax", "sort", "sqrt"))
sqrt_, square, square_, squeeze = map(_of_one, ("sqrt_", "square", "square_", "squeeze"))
std, sum, t, tan, tan_, tanh = map(_of_one, ("std", "sum", "t", "tan", "tan_", "tanh"))
tanh_, topk, transpose, unbind = map(_of_one, ("tanh_", "topk", "transpose", "unbind"))
unsqueeze, var = map(_of_one, ("unsqueeze", "var"))

# -- with a second operand -----------------------------------------------------------------------

add, div, eq, floor_divide, ge = map(_with_number, ("add", "div", "eq", "floor_divide", "ge"))
gt, le, lt, mul, ne, remainder = map(_with_number, ("gt", "le", "lt", "mul", "ne", "remainder"))
sub = _with_number("sub")
matmul, maximum, minimum = map(_with_tensor, ("matmul", "maximum", "minimum"))
bmm = _with_tensor("bmm", "mat2")
dot = _with_tensor("dot", "tensor")
mm = _with_tensor("mm", "mat2")
mv = _with_tensor("mv", "vec")
outer = _with_tensor("outer", "vec2")


def _checked(function: Any) -> Any:
    return checked(function.__name__, function, "factory")


def pow(input: Any, exponent: Any) -> Tensor:
    """Return ``input ** exponent``; one of them may be a number."""
    if isinstance(input, Tensor):
        return input.pow(exponent)
    if not isinstance(exponent, Tensor):
        _check_input("pow", input, exponent)
    return input**exponent


@_checked
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must agree."""
    check_list("cat", tensors)
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
    check_list("stack", tensors)
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
    if not isinstance(equation, str):
        raise error("arguments.equation")
    check_list("einsum", operands)
    return ops.einsum(equation, operands)


def check_list(name: str, tensors: Any) -> None:
    """Raise TypeError, in PyTorch's words, if these are not several tensors."""
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        raise error("arguments.not_a_list", name=name, kind=type(tensors).__name__)
    for i, item in enumerate(tensors):
        if not isinstance(item, Tensor):
            raise error("arguments.list_element", position=i, kind=type(item).__name__)


def is_tensor(obj: Any) -> bool:
    """Return whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)
