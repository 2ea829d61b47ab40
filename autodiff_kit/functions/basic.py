"""Functions at the top of the namespace: ``torch.sum(x)`` beside ``x.sum()``.

After reading this file you know that most of them are the method under another name: what
``torch.sum`` takes, ``Tensor.sum`` says. Read next: ``../methods/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from autodiff_kit import ops
from autodiff_kit.calls import checked
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import result_dtype
from autodiff_kit.errors import error
from autodiff_kit.late import late
from autodiff_kit.methods.selecting import where as _where
from autodiff_kit.operands import NUMBERS, check_operand
from autodiff_kit.signatures import renamed, wrong_call
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

Method = TypeVar("Method", bound=Callable[..., Any])

_NUMBER_FIRST = ("add", "div", "mul", "sub")
_OF_LISTS = ("flip", "permute", "reshape")  # methods take sizes one by one, too
_REFLECTED = {"floor_divide": "__rfloordiv__", "remainder": "__rmod__"}


def _of_one(method: Method) -> Method:
    """Make the function of a method that takes no second tensor: it takes what that takes."""
    name = method.__name__
    # Without the check of its own: the words would count arguments from the second one.
    plain = getattr(method, "unchecked", method)

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_operand(name, "input", 1, input, numbers=False)
        if args and name in _OF_LISTS and not isinstance(args[0], tuple | list):
            raise TypeError(name)  # the words come from ``signatures.py``
        if len(args) > 1 and name == "squeeze":
            raise TypeError(name)
        return plain(input, *args, **kwargs)

    function.__wrapped__ = plain  # type: ignore[attr-defined]
    return _named_after(method, checked(name, _named_after(method, function), "function"))


_METHODS: Any = Tensor  # what ``in_place_ops.py`` names, mypy does not know


def _named_after(method: Any, function: Any) -> Any:
    function.__name__ = function.__qualname__ = method.__name__
    function.__doc__ = method.__doc__
    return function


def _with_number(method: Method) -> Method:
    """Make a function with a second operand: a tensor or a number."""
    return _with_operand(method, "other", numbers=True)


def _with_tensor(method: Method, argument: str = "other") -> Method:
    """Make a function with a second tensor, which PyTorch calls ``argument``."""
    return _with_operand(method, argument, numbers=False)


def _check(name: str, argument: str, numbers: bool, args: Sequence[Any], kwargs: Any) -> None:
    """Raise TypeError, in PyTorch's words, if one of the first two arguments is no operand."""
    fits = isinstance(args[1], (Tensor, *NUMBERS) if numbers else Tensor)
    if not (isinstance(args[0], Tensor) and fits):
        wrong = wrong_call(name, "function", tuple(args), kwargs)
        if wrong is not None:
            raise wrong
        check_operand(name, "input", 1, args[0], numbers=False)
        check_operand(name, argument, 2, args[1], numbers)


def _with_operand(method: Method, argument: str, numbers: bool) -> Method:
    name = method.__name__
    plain = getattr(method, "unchecked", method)  # see ``_of_one``

    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if (out := kwargs.pop("out", None)) is not None:
                return late("given_outputs").compute_into(name, function, out, args, kwargs)
            kwargs = renamed(name, "function", kwargs)
            args += tuple(kwargs.pop(n) for n in ("input", argument)[len(args) :] if n in kwargs)
        if len(args) < 2:
            raise wrong_call(name, "function", args, kwargs) or TypeError(name)
        input, other, *args = args  # type: ignore[assignment]
        if not isinstance(input, Tensor) and isinstance(input, int | float):
            if isinstance(other, Tensor) and name in _REFLECTED:
                return getattr(other, _REFLECTED[name])(input)
            if isinstance(other, Tensor | int | float) and name in _NUMBER_FIRST:
                if isinstance(other, Tensor):
                    return method(input, other, *args, **kwargs)
                input = wrap(result_dtype(input).type(input))
        _check(name, argument, numbers, (input, other, *args), kwargs)
        try:
            return plain(input, other, *args, **kwargs)
        except TypeError as refused:
            wrong = wrong_call(name, "function", (input, other, *args), kwargs)
            raise wrong or refused from refused.__cause__

    return _named_after(method, function)


# -- of one tensor, or with parameters -----------------------------------------------------------

abs = _of_one(Tensor.abs)
abs_ = _of_one(_METHODS.abs_)
addmm = _of_one(Tensor.addmm)
all = _of_one(Tensor.all)
amax = _of_one(Tensor.amax)
amin = _of_one(Tensor.amin)
any = _of_one(Tensor.any)
argmax = _of_one(Tensor.argmax)
argmin = _of_one(Tensor.argmin)
ceil = _of_one(Tensor.ceil)
ceil_ = _of_one(_METHODS.ceil_)
chunk = _of_one(Tensor.chunk)
clamp = _of_one(Tensor.clamp)
clamp_ = _of_one(_METHODS.clamp_)
clamp_max = _of_one(Tensor.clamp_max)
clamp_max_ = _of_one(_METHODS.clamp_max_)
clamp_min = _of_one(Tensor.clamp_min)
clamp_min_ = _of_one(_METHODS.clamp_min_)
clone = _of_one(Tensor.clone)
cos = _of_one(Tensor.cos)
cos_ = _of_one(_METHODS.cos_)
cumsum = _of_one(Tensor.cumsum)
detach = _of_one(Tensor.detach)
exp = _of_one(Tensor.exp)
exp_ = _of_one(_METHODS.exp_)
expm1 = _of_one(Tensor.expm1)
expm1_ = _of_one(_METHODS.expm1_)
flatten = _of_one(Tensor.flatten)
flip = _of_one(Tensor.flip)
floor = _of_one(Tensor.floor)
floor_ = _of_one(_METHODS.floor_)
gather = _of_one(Tensor.gather)
index_add = _of_one(Tensor.index_add)
index_select = _of_one(Tensor.index_select)
is_floating_point = _of_one(Tensor.is_floating_point)
isnan = _of_one(Tensor.isnan)
log = _of_one(Tensor.log)
log1p = _of_one(Tensor.log1p)
log1p_ = _of_one(_METHODS.log1p_)
log_ = _of_one(_METHODS.log_)
log_softmax = _of_one(Tensor.log_softmax)
logsumexp = _of_one(Tensor.logsumexp)
masked_fill = _of_one(Tensor.masked_fill)
masked_select = _of_one(Tensor.masked_select)
max = _of_one(Tensor.max)
mean = _of_one(Tensor.mean)
min = _of_one(Tensor.min)
narrow = _of_one(Tensor.narrow)
neg = _of_one(Tensor.neg)
neg_ = _of_one(_METHODS.neg_)
norm = _of_one(Tensor.norm)
numel = _of_one(Tensor.numel)
permute = _of_one(Tensor.permute)
prod = _of_one(Tensor.prod)
reciprocal = _of_one(Tensor.reciprocal)
reciprocal_ = _of_one(_METHODS.reciprocal_)
relu = _of_one(Tensor.relu)
relu_ = _of_one(_METHODS.relu_)
reshape = _of_one(Tensor.reshape)
round = _of_one(Tensor.round)
round_ = _of_one(_METHODS.round_)
rsqrt = _of_one(Tensor.rsqrt)
rsqrt_ = _of_one(_METHODS.rsqrt_)
scatter = _of_one(Tensor.scatter)
sigmoid = _of_one(Tensor.sigmoid)
sigmoid_ = _of_one(_METHODS.sigmoid_)
sign = _of_one(Tensor.sign)
sin = _of_one(Tensor.sin)
sin_ = _of_one(_METHODS.sin_)
softmax = _of_one(Tensor.softmax)
sort = _of_one(Tensor.sort)
sqrt = _of_one(Tensor.sqrt)
sqrt_ = _of_one(_METHODS.sqrt_)
square = _of_one(Tensor.square)
square_ = _of_one(_METHODS.square_)
squeeze = _of_one(Tensor.squeeze)
std = _of_one(Tensor.std)
sum = _of_one(Tensor.sum)
t = _of_one(Tensor.t)
tan = _of_one(Tensor.tan)
tan_ = _of_one(_METHODS.tan_)
tanh = _of_one(Tensor.tanh)
tanh_ = _of_one(_METHODS.tanh_)
topk = _of_one(Tensor.topk)
transpose = _of_one(Tensor.transpose)
unbind = _of_one(Tensor.unbind)
unsqueeze = _of_one(Tensor.unsqueeze)
var = _of_one(Tensor.var)

# -- with a second operand -----------------------------------------------------------------------

add = _with_number(Tensor.add)
div = _with_number(Tensor.div)
eq = _with_number(Tensor.eq)
floor_divide = _with_number(Tensor.floor_divide)
ge = _with_number(Tensor.ge)
gt = _with_number(Tensor.gt)
le = _with_number(Tensor.le)
lt = _with_number(Tensor.lt)
mul = _with_number(Tensor.mul)
ne = _with_number(Tensor.ne)
remainder = _with_number(Tensor.remainder)
sub = _with_number(Tensor.sub)
bmm = _with_tensor(Tensor.bmm, "mat2")
dot = _with_tensor(Tensor.dot, "tensor")
matmul = _with_tensor(Tensor.matmul)
maximum = _with_tensor(Tensor.maximum)
minimum = _with_tensor(Tensor.minimum)
mm = _with_tensor(Tensor.mm, "mat2")
mv = _with_tensor(Tensor.mv, "vec")
outer = _with_tensor(Tensor.outer, "vec2")


def _checked(function: Any) -> Any:
    return checked(function.__name__, function, "factory")


def _power(input: Any, exponent: Any) -> Tensor:
    """Return ``input ** exponent``; one of them may be a number."""
    if isinstance(input, Tensor):
        return Tensor.pow.unchecked(input, exponent)  # type: ignore[attr-defined]
    if not isinstance(exponent, Tensor):
        raise TypeError("pow")  # the words come from ``signatures.py``
    return input**exponent


pow = _named_after(Tensor.pow, checked("pow", _power, "function"))


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


where = _named_after(_where, checked("where", _where, "factory"))
