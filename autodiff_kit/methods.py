"""The methods of a tensor that are not operators: PyTorch's signatures over the op table.

After reading this file you can find any method: arguments are checked and brought into the form
that the ops take, nothing is computed here. Read next: ``ops/reduction.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from autodiff_kit import dtypes, inplace, ops
from autodiff_kit.core.base import Own, TensorBase, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import number_in, result_dtype, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.from_data import from_numpy
from autodiff_kit.more_methods import MoreMethods
from autodiff_kit.ops.checks import refuse_bool_difference, unless_misfit
from autodiff_kit.signature_texts import OF_METHODS
from autodiff_kit.signatures import checked, full_name

__all__ = ["Methods", "ValuesAndIndices", "check_bool", "check_operand", "comparison", "in_place"]
__all__ += ["number_first", "operand_last", "pair", "where"]


class ValuesAndIndices(NamedTuple):
    """What ``max``, ``min``, ``sort`` and ``topk`` return along a dimension."""

    values: TensorBase
    indices: TensorBase

    def __repr__(self) -> str:
        names = type(self).__name__, *self
        return "torch.return_types.{}(\nvalues={!r},\nindices={!r})".format(*names)

    def __setitem__(self, *_: Any) -> NoReturn:
        raise error("tensor.pair_changed", name=type(self).__name__)

    def __delitem__(self, _: Any) -> NoReturn:
        raise error("tensor.pair_cut", name=type(self).__name__)


@cache
def _pair_of(name: str) -> Any:
    """Return a class for each function, as PyTorch has: they differ in their name."""
    return type(name, (ValuesAndIndices,), {})


def pair(name: str, values: Any, indices: Any) -> Any:
    """Return what the function of this name returns: its values, and where they were."""
    places = wrap(indices)
    places._changes = values._changes  # both are made under inference_mode, or none is
    return _pair_of(name)(values, places)


def check_operand(name: str, argument: str, position: int, value: Any, numbers: Any) -> None:
    """Raise TypeError, in PyTorch's words, if ``value`` cannot be an operand.

    ``position`` of the ``argument`` in the call is counted from 1; ``numbers`` says whether Python
    numbers will do.
    """
    if isinstance(value, Methods) or (numbers and isinstance(value, _NUMBERS)):
        return
    kind = full_name(value)
    raise error(
        "arguments.not_a_tensor", name=name, argument=argument, position=position, kind=kind
    )


def check_bool(name: str, argument: str, value: Any, place: str = "") -> None:
    """Raise TypeError, in PyTorch's words, if ``value`` is not a bool."""
    if not isinstance(value, bool):
        kind = full_name(value)
        raise error("arguments.not_a_bool", name=name, argument=argument, place=place, kind=kind)


_NUMBERS = (int, float, np.generic)


# Of methods whose ops are loaded when they are first used.
_DOCS = {
    "gather": "Take for each place the element that ``index`` names along ``dim``.",
    "index_add": "Add ``source`` to the entries along ``dim`` that a vector of numbers names.",
    "index_select": "Take the entries along ``dim`` that a vector of numbers names.",
    "log_softmax": "Return the logarithm of ``softmax``, exact also where that is almost 0.",
    "masked_select": "Take the elements where the mask is true, in the order of reading.",
    "softmax": "Turn numbers into shares that are positive and add up to 1 along ``dim``.",
    "std": "Return the root of the variance.",
    "var": "Average the squared distances from the mean, ``correction`` elements counted less.",
}


def _called(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Give a method that was made below its name, and the docstring of its op."""

    def rename(method: Any) -> Any:
        method.__name__ = method.__qualname__ = name
        known = vars(ops).get(name, method).__doc__  # without loading the ops that come later
        method.__doc__ = _DOCS.get(name, known)
        return method

    return rename


def _only(name: str, argument: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the one argument of a method, given by its place or by its name."""
    if len(args) + len(kwargs) != 1 or not kwargs.keys() <= {argument}:
        given = ", ".join([*(type(value).__name__ for value in args), *kwargs])
        raise error("arguments.only_one", name=name, argument=argument, given=given)
    return args[0] if args else kwargs[argument]


def _binary(
    name: str,
    argument: str = "other",
    *,
    numbers: bool = True,
    of_number: tuple[str, str] | None = None,
    of_tensors: str = "",
) -> Any:
    """Make a method with a second operand, of one op, or of two: for a tensor and for a number.

    ``of_number`` is the name of the latter, and that of its parameter.
    """

    @_called(name)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        other = _only(name, argument, args, kwargs)
        check_operand(name, argument, 1, other, numbers)
        if of_number is not None and not isinstance(other, Methods):
            return getattr(ops, of_number[0])(self, **{of_number[1]: other})
        return getattr(ops, of_tensors or name)(self, other)

    return method


def _product(name: str, argument: str, rank: int, names: tuple[str, str] = ("", "")) -> Any:
    """Make a method of a matrix product that wants operands of certain ranks."""

    @_called(name)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        other = _only(name, argument, args, kwargs)
        check_operand(name, argument, 1, other, numbers=False)
        ranks = self.ndim, other.ndim
        if name == "mv" and not ranks[0]:
            raise error("shapes.size_of_0d", dim=0)
        if ranks != (rank, 1 if name == "mv" else rank):
            wrong = names[ranks[0] == rank]
            raise error(f"linalg.{name}_ranks", wrong=wrong, x=ranks[0], y=ranks[1])
        return getattr(ops, name)(self, other)

    return method


def _scalable(name: str) -> Any:
    """Make ``add`` or ``sub``, whose second operand can be multiplied by ``alpha``."""

    @_called(name)
    def method(self: Any, other: Any, *, alpha: float = 1) -> Any:
        check_operand(name, "other", 1, other, numbers=True)
        if isinstance(alpha, Methods):
            if alpha.ndim or alpha.requires_grad:
                raise TypeError(name)  # the words come from ``signatures.py``
            alpha = alpha.item()
        if isinstance(alpha, bool):
            check = getattr(ops, f"{name}_scaled").op.whole
            check(*(getattr(v, "_array", v) for v in (self, other)), alpha=alpha)
        if alpha == 1:
            return getattr(ops, name)(self, other)
        return getattr(ops, f"{name}_scaled")(self, other, alpha=alpha)

    return method


def _extreme(name: str) -> Any:
    """Make ``max`` or ``min``: of all, along a dimension, or of two tensors."""

    def method(self: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        other = dim if isinstance(dim, Methods) else other
        if isinstance(dim, tuple | list) or isinstance(keepdim, Methods):
            raise TypeError(name)  # the words come from ``signatures.py``
        if other is not None:
            return getattr(ops, f"{name}imum")(self, other)
        _refuse_empty(self, name, dim)
        if dim is None:
            return getattr(ops, f"{name}_all")(self)
        along = getattr(ops, f"{name}_dim")
        return pair(name, *along(self, dim=self._dim(dim), keepdim=keepdim))

    method.__doc__ = "Return the {}est element, (values, indices) along ``dim``, or of two tensors."
    method.__doc__ = method.__doc__.format({"max": "larg", "min": "small"}[name])
    return _called(name)(method)


def _largest(name: str) -> Any:
    """Make ``amax``, ``amin``, ``argmax`` or ``argmin``."""
    where = name.startswith("arg")

    @_called(name)
    def method(self: Any, dim: Any = None if where else (), keepdim: bool = False) -> Any:
        if where and self._array.dtype == bool:
            raise error("reductions.search_of_bool", name=name)
        dims = _refuse_empty(self, name, dim)
        along = dims if not where else None if dim is None else self._dim(dim)
        return getattr(ops, name)(self, dim=along, keepdim=keepdim)

    return method


def _question(name: str) -> Any:
    """Make ``all`` or ``any``."""
    of_elements = ops.all_elements if name == "all" else ops.any_element

    def method(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        dims = () if dim in ((), []) else self._dims(dim)  # no dimension is not all of them here
        return of_elements(self, dim=dims, keepdim=keepdim)

    method.__doc__ = of_elements.__doc__
    return _called(name)(method)


def _deviation(name: str) -> Any:
    """Make ``var`` or ``std``; ``unbiased`` is PyTorch's older word for a correction of 1."""

    @_called(name)
    def method(
        self: Any,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if self._array.dtype.kind != "f":
            raise error("reductions.deviation_of_whole")
        both = unbiased is not None and correction is not None
        if both or not isinstance(unbiased, bool | None):
            raise TypeError(name)  # the words come from ``signatures.py``
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        dims = self._dims(dim)
        if int(np.prod([self.shape[d] for d in dims])) <= correction:
            warnings.warn(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than "
                "the reduction factor (input numel divided by output numel).",
                UserWarning,
                stacklevel=2,
            )
        return getattr(ops, name)(self, dim=dims, correction=correction, keepdim=keepdim)

    return method


def _along_dim(name: str) -> Any:
    """Make a method that works along a dimension."""

    @_called(name)
    def method(self: Any, dim: int, dtype: Any = None) -> Any:
        if name == "cumsum":
            return running(name, self, dim, dtype)
        return getattr(ops, name)(_shown(self, dtype), dim=self._dim(dim))

    return method


def _along(name: str, *operands: str) -> Any:
    """Make a method that works along a dimension, with further tensors."""

    @_called(name)
    def method(self: Any, dim: int, *given: Any, **options: Any) -> Any:
        given += tuple(options.pop(n, None) for n in operands[len(given) :])
        for i, (argument, value) in enumerate(zip(operands, given, strict=True)):
            check_operand(name, argument, i + 2, value, numbers=False)
        return getattr(ops, name)(self, *given, dim=self._dim(dim), **options)

    return method


def in_place(name: str, function: Any = None) -> Any:
    """Make the in-place form of a method: ``add_`` from ``add``, or from another function."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        ordinary = function or getattr(type(self), name)
        return inplace.change(self, f"{name}_", ordinary, *args, **kwargs)

    method.__doc__ = f"Do ``{name}`` in place; return the tensor itself."
    return _called(f"{name}_")(method)


def _clamp_in_place(name: str) -> Any:
    """Make ``clamp_`` and the like, which look at the type of numbers before anything else."""

    def clamp(self: Any, *args: Any, **kwargs: Any) -> Any:
        bounds = [bound for bound in (*args, *kwargs.values()) if isinstance(bound, _NUMBERS)]
        own, dtype = self._array.dtype, dtypes.result_dtype(self._array, *bounds)
        if len(bounds) == len(args) + len(kwargs) and dtype != own and own.kind != "f":
            raise error("inplace.dtype", new=dtypes.tensor_type(dtype), old=dtypes.c_type(own))
        return getattr(self, name)(*args, **kwargs)

    return in_place(name, clamp)


def running(name: str, x: Any, dim: int, dtype: Any = None) -> Any:
    """Return the running sums or products of a tensor, computed in a dtype."""
    x, dim = _converted(x, dtype), x._dim(dim)
    if dtype is not None and x._array.dtype == bool and x._array.ndim and x._array.size:
        raise error("reductions.running_bool", name=name)
    return _converted(getattr(ops, name)(x, dim=dim), dtype)


def running_in_place(name: str) -> Any:
    """Make ``cumsum_`` or ``cumprod_``, which compute in the dtype of the tensor."""

    def method(self: Any, dim: int, *, dtype: Any = None) -> Any:
        kind = self.dtype if dtype is None else dtypes.as_dtype(dtype, f"{name}_")
        self._dim(dim)
        if kind is not self.dtype:
            raise error("inplace.running_dtype", own=self.dtype.c_type, other=kind.c_type)
        return running(name, self, dim, kind)

    return in_place(name, method)


def _filled_with(self: Any, value: Any) -> Any:
    if value._array.ndim:
        raise error("inplace.fill_with_many", ndim=value._array.ndim)
    return ops.fill_with(self, value)


def number_first(sign: str, apply: Any) -> Any:
    """Make an operator for a number on the left of a tensor; nothing else may stand there."""

    def reflected(self: Any, other: Any) -> Any:
        if type(other) is not float and type(other) is not int:
            if not isinstance(other, _NUMBERS):
                if sign == "/" and isinstance(other, np.ndarray):
                    return ops.reciprocal(self) * other
                kind = full_name(other)
                raise error("arguments.operands", sign=sign, left=kind, right="Tensor")
            other = other.item() if isinstance(other, np.generic) else other
            if sign == "-":
                refuse_bool_difference(self._array, y=other)
        return apply(self, other)

    return reflected


def operand_last(sign: str, apply: Any) -> Any:
    """Make an operator for a tensor or number on the right of a tensor."""

    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy's turn
        if not isinstance(other, (Methods, *_NUMBERS)):
            kind = type(other).__name__
            raise error("arguments.operands", sign=sign, left="Tensor", right=kind)
        return apply(self, other)

    return operator


def comparison(apply: Any) -> Any:
    """Make an operator that leaves other things than tensors, arrays, numbers to Python."""

    def compare(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            other = from_numpy(other)
        return apply(self, other) if isinstance(other, (Methods, *_NUMBERS)) else NotImplemented

    return compare


def where(condition: TensorBase, input: Any = None, other: Any = None) -> Any:
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
    if not isinstance(input, TensorBase) and not isinstance(other, TensorBase):
        input = wrap(result_dtype(input, other).type(input))
    kind = result_dtype(*(getattr(value, "_array", value) for value in (input, other)))
    for value in (input, other):
        if not isinstance(value, TensorBase) and kind != np.float16:
            number_in(value, kind)  # refuses one that does not fit
    return ops.where(condition, input, other)


class Methods(MoreMethods):
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _array: Any
    _node: Any

    # -- elementwise ---------------------------------------------------------------------------

    exp, log, log1p, expm1 = ops.exp, ops.log, ops.log1p, ops.expm1
    sqrt, rsqrt, reciprocal = ops.sqrt, ops.rsqrt, ops.reciprocal
    sin, cos, tan, tanh = ops.sin, ops.cos, ops.tan, ops.tanh
    sigmoid, relu, abs, neg = ops.sigmoid, ops.relu, ops.abs, ops.neg
    sign, floor, ceil, isnan = ops.sign, ops.floor, ops.ceil, ops.isnan
    clone = ops.clone
    eq, ne, lt, le, gt, ge = map(_binary, ("eq", "ne", "lt", "le", "gt", "ge"))
    mul = _binary("mul")
    add, sub = map(_scalable, ("add", "sub"))
    floor_divide = _binary("floor_divide", of_number=("floor_divide_by_number", "y"))
    remainder = _binary("remainder", of_number=("remainder_by_number", "y"))
    clamp_min, clamp_max = (
        _binary(f"clamp_{b}", b, of_number=(f"clamp_{b}", b), of_tensors=f"clamp_{b}_tensor")
        for b in ("min", "max")
    )
    maximum, minimum = (_binary(name, numbers=False) for name in ("maximum", "minimum"))
    matmul = _binary("matmul", "other", numbers=False)
    mm = _product("mm", "mat2", 2, ("self", "mat2"))
    mv, dot = _product("mv", "vec", 2), _product("dot", "tensor", 1)
    bmm = _product("bmm", "mat2", 3, ("batch1", "batch2"))

    def addmm(self: Own, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Own:
        """Return ``beta * self + alpha * mat1 @ mat2``; self broadcasts."""
        for i, (name, matrix) in enumerate((("mat1", mat1), ("mat2", mat2))):
            check_operand("addmm", name, i + 1, matrix, numbers=False)
        ops.check_addmm(self._array, mat1._array, mat2._array)
        if self._array.dtype.kind != "f":
            beta, alpha = map(self._array.dtype.type, (beta, alpha))
        return ops.addmm(self, mat1, mat2, beta=beta, alpha=alpha)

    def __pos__(self: Any) -> Any:
        if self._array.dtype == bool:
            raise error("tensor.plus_bool")
        return self

    def __delitem__(self: Any, key: Any) -> NoReturn:
        raise error("arguments.item_deleted")

    def __rmatmul__(self: Any, other: Any) -> Any:
        kind = full_name(other)
        raise error("arguments.operands", sign="@", left=kind, right="Tensor")

    def outer(self: Own, vec2: Any) -> Own:
        """Multiply every element of this vector with every element of another."""
        check_operand("outer", "vec2", 1, vec2, numbers=False)
        for name, tensor in (("self", self), ("vec2", vec2)):
            if tensor.ndim != 1:
                raise error("shapes.outer", argument=name, ndim=tensor.ndim)
        return self.reshape(-1, 1) * vec2

    def div(self: Own, other: Any, *, rounding_mode: str | None = None) -> Own:
        """Return ``self / other``, rounded if ``rounding_mode`` is ``"floor"`` or ``"trunc"``."""
        check_operand("div", "other", 1, other, numbers=True)
        if rounding_mode is None:
            return ops.div(self, other)
        if rounding_mode not in ("floor", "trunc"):
            raise error("arguments.rounding_mode", mode=rounding_mode)
        return ops.div_rounded(self, other, rounding_mode=rounding_mode)

    def pow(self: Own, exponent: Any) -> Own:
        """Return ``self ** exponent``; the exponent is a number or a tensor."""
        if isinstance(exponent, Methods):
            return ops.pow_tensor(self, exponent)
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
        if not isinstance(exponent, int | float):
            raise error("arguments.exponent", kind=type(exponent).__name__)
        return ops.pow_to_number(self, exponent=exponent)

    def round(self: Own, *, decimals: int = 0) -> Own:
        """Round to integers, halves to even ones, or to so many decimals."""
        return ops.round_decimals(self, decimals=decimals) if decimals else ops.round(self)

    def square(self: Own) -> Own:
        """Return ``self ** 2``."""
        return ops.pow_to_number(self, exponent=2)

    def clamp(self: Own, min: Any = None, max: Any = None) -> Own:
        """Limit to the range from ``min`` to ``max``: numbers or tensors; one may be None."""
        bounds = [bound for bound in (min, max) if bound is not None]
        if not bounds:
            raise error("arguments.clamp_without_bounds")
        of_tensors = [isinstance(bound, Methods) for bound in bounds]
        if len({*of_tensors}) > 1:  # only a tensor of one number can stand for that
            if any(b._array.ndim or b._node for b in bounds if isinstance(b, Methods)):
                raise TypeError("clamp")  # the words come from ``signatures.py``
            plain = (b._array.item() if isinstance(b, Methods) else b for b in bounds)
            return self.clamp(*plain)
        arrays = [getattr(b, "_array", b) for b in bounds if isinstance(b, (Methods, *_NUMBERS))]
        dtype = dtypes.result_dtype(self._array, *arrays)
        low, high = -np.inf, np.inf  # these limit nothing
        if dtype.kind == "b":
            low, high = False, True
            if of_tensors != [True]:
                name = "" if len(bounds) > 1 else "max_" if min is None else "min_"
                kernel = f"clamp_{name}{'' if of_tensors[0] else 'scalar_'}cpu"
                raise unless_misfit(
                    error("dtypes.bool_kernel", kernel=kernel), self._array, *arrays
                )
        elif dtype.kind != "f":
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        min, max = low if min is None else min, high if max is None else max
        if of_tensors[0]:
            return ops.clamp_to_tensors(self, min, max)
        return ops.clamp(self, min=min, max=max)

    def where(self: Own, condition: TensorBase, other: Any) -> Own:
        """Return ``self`` where the condition holds, else ``other``."""
        return where(condition, self, other)

    def contiguous(self: Own) -> Own:
        """Return the tensor itself, or a copy whose elements lie row by row."""
        return self if self.is_contiguous() else ops.contiguous(self)

    # -- in place ------------------------------------------------------------------------------

    add_, sub_, mul_, div_, pow_ = map(in_place, ("add", "sub", "mul", "div", "pow"))
    exp_, log_, sqrt_, tanh_, relu_ = map(in_place, ("exp", "log", "sqrt", "tanh", "relu"))
    sin_, cos_, sigmoid_, abs_, neg_ = map(in_place, ("sin", "cos", "sigmoid", "abs", "neg"))
    square_, reciprocal_ = map(in_place, ("square", "reciprocal"))
    floor_, ceil_, round_ = map(in_place, ("floor", "ceil", "round"))
    rsqrt_, expm1_, log1p_, tan_ = map(in_place, ("rsqrt", "expm1", "log1p", "tan"))
    clamp_, clamp_min_, clamp_max_ = map(_clamp_in_place, ("clamp", "clamp_min", "clamp_max"))
    remainder_, floor_divide_ = map(in_place, ("remainder", "floor_divide"))
    sign_, addmm_, cumsum_ = in_place("sign"), in_place("addmm"), running_in_place("cumsum")
    masked_fill_, index_add_, scatter_ = map(in_place, ("masked_fill", "index_add", "scatter"))

    def copy_(self: Own, source: Any) -> Own:
        """Copy the elements of ``source`` into this tensor; shapes broadcast."""
        if isinstance(source, _NUMBERS):
            return self.fill_(source)
        check_operand("copy_", "other", 1, source, numbers=False)
        return inplace.change(self, "copy_", ops.copy_from, source)

    def fill_(self: Own, value: Any) -> Own:
        """Set every element to one value: a number or a 0-d tensor."""
        if isinstance(value, Methods):
            return inplace.change(self, "fill_", _filled_with, value)
        return inplace.change(self, "fill_", ops.fill, value=value)

    def zero_(self: Own) -> Own:
        """Set every element to 0."""
        return inplace.change(self, "zero_", ops.zero)

    # -- reductions ----------------------------------------------------------------------------

    def sum(self: Own, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Add up all elements, or those along ``dim`` (an int or several)."""
        if dtype is not None:
            total: Any = _converted(_converted(self, dtype).sum(dim, keepdim), dtype)
            return total
        if dim is None and not keepdim:
            return ops.sum_all(self)
        return ops.sum_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def mean(self: Own, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Average all elements, or those along ``dim`` (an int or several)."""
        self = _converted(self, dtype)
        if self._array.dtype.kind != "f":
            raise error("reductions.mean_of_whole", kind=dtypes.tensor_type(self._array.dtype))
        if dim is None and not keepdim:
            return ops.mean_all(self)
        return ops.mean_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def prod(self: Own, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Multiply all elements, or those along one dimension."""
        if dtype is not None:
            product: Any = _converted(_converted(self, dtype).prod(dim, keepdim), dtype)
            return product
        if dim is None:
            return ops.prod_all(self)
        return ops.prod_dim(self, dim=self._dim(dim), keepdim=keepdim)

    max, min = map(_extreme, ("max", "min"))
    amax, amin, argmax, argmin = map(_largest, ("amax", "amin", "argmax", "argmin"))
    all, any = map(_question, ("all", "any"))
    var, std = map(_deviation, ("var", "std"))
    cumsum, softmax, log_softmax = map(_along_dim, ("cumsum", "softmax", "log_softmax"))

    def logsumexp(self: Own, dim: Any, keepdim: bool = False) -> Own:
        """Return the logarithm of the sum of ``exp``: a smooth maximum."""
        return ops.logsumexp(self, dim=self._dims(dim), keepdim=keepdim)

    def norm(
        self: Own, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Own:
        """Return the root of the sum of squares (p = 2 or "fro"), or the length for another p."""
        self = _converted(self, dtype)
        p = 2 if p in ("fro", None) else p
        if isinstance(p, str):
            raise error("reductions.norm_order", p=p)
        if self._array.dtype.kind != "f":
            raise error("reductions.norm_of_whole", kind=dtypes.tensor_type(self._array.dtype))
        check_bool("linalg_vector_norm", "keepdim", keepdim, " (position 4)")
        dims = self._dims(dim)
        whole = dim in (None, (), [])
        written = dims if whole else dim if isinstance(dim, tuple | list) else (dim,)
        empty = [d for d in written if self.shape[d] == 0] if self.ndim else []
        if empty and (p < 0 or p == np.inf):
            key = "reductions.norm_of_nothing" if whole else "reductions.norm_of_empty_dim"
            raise error(key, p=p, dim=empty[0])
        return ops.linalg_vector_norm(self, ord=p, dim=dims, keepdim=keepdim)

    def sort(self: Any, dim: int = -1, descending: bool = False, *, stable: bool = True) -> Any:
        """Return (values, indices): the elements in order along ``dim``; where they were."""
        return pair("sort", *ops.sort(self, dim=self._dim(dim), descending=descending))

    def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        """Return (values, indices): the k largest, or smallest, elements along ``dim``."""
        return pair("topk", *ops.topk(self, k=k, dim=self._dim(dim), largest=largest))

    # -- shapes --------------------------------------------------------------------------------

    def reshape(self: Own, *given: Any, shape: Any = None) -> Own:
        """Return the same elements in another shape: a view where possible, else a copy."""
        sizes = _complete(self, _sizes("reshape", "shape", given, shape))
        if not _can_view(self._array, sizes):
            return ops.unsafe_view(ops.contiguous(self), shape=sizes)
        view = ops.reshape if self.is_contiguous() else ops.reshape_alias
        return view(self, shape=sizes)

    def view(self: Own, *given: Any, size: Any = None) -> Own:
        """Return the same memory in another shape; RuntimeError if it does not lie for that."""
        sizes = _complete(self, _sizes("view", "size", given, size))
        if not _can_view(self._array, sizes):
            raise error("shapes.view_of_scattered")
        return ops.reshape(self, shape=sizes)

    def flatten(self: Own, start_dim: int = 0, end_dim: int = -1) -> Own:
        """Join dimensions ``start_dim`` to ``end_dim`` into one."""
        start, end = self._dim(start_dim), self._dim(end_dim)
        if start > end:
            raise error("shapes.flatten_backwards", start=start_dim, end=end_dim)
        if self.ndim and start == end:
            return self
        sizes = (int(np.prod(self.shape[start : end + 1])),)
        return self.reshape(*self.shape[:start], *sizes, *self.shape[end + 1 :])

    def permute(self: Own, *given: Any, dims: Any = None) -> Own:
        """Reorder the dimensions."""
        asked = _sizes("permute", "dims", given, dims)
        if len(asked) != self.ndim:
            raise error("shapes.permute_count", ndim=self.ndim, count=len(asked))
        order = tuple(self._dim(d) for d in asked)
        if len(set(order)) != len(order):
            raise error("shapes.permute_twice")
        return ops.permute(self, dims=order)

    @property
    def T(self: Own) -> Own:
        """The tensor with its dimensions reversed."""
        return ops.permute(self, dims=tuple(range(self.ndim))[::-1])

    def t(self: Own) -> Own:
        """Transpose a matrix."""
        if self.ndim > 2:
            raise error("shapes.t_of_many", ndim=self.ndim)
        return ops.t(self)

    def transpose(self: Own, dim0: int, dim1: int) -> Own:
        """Swap two dimensions."""
        return ops.transpose(self, dim0=self._dim(dim0), dim1=self._dim(dim1))

    def squeeze(self: Own, *given: Any, dim: Any = None) -> Own:
        """Remove dimensions of size 1: all, or those that are named."""
        dim = given[0] if len(given) == 1 else given or dim
        if dim is None:
            return ops.squeeze(self)
        if isinstance(dim, tuple | list):
            return ops.squeeze_dims(self, dims=self._dims(dim) if dim else ())
        return ops.squeeze_dim(self, dim=self._dim(dim))

    def unsqueeze(self: Own, dim: int) -> Own:
        """Insert a dimension of size 1."""
        return ops.unsqueeze(self, dim=self._dim(dim, extra=1))

    def expand(self: Own, *given: Any, size: Any = None) -> Own:
        """Repeat dimensions of size 1 without copying; -1 keeps a size."""
        shape = ops.check_expand(self, _sizes("expand", "size", given, size))
        return ops.expand(self, shape=shape)

    def repeat(self: Own, *given: Any, repeats: Any = None) -> Own:
        """Copy along the dimensions; more numbers than dimensions add some in front."""
        counts = _sizes("repeat", "repeats", given, repeats)
        if len(counts) < self.ndim:
            raise error("shapes.repeat_count", ndim=self.ndim)
        if min(counts, default=0) < 0:
            own = (1,) * (len(counts) - self.ndim) + self._array.shape
            shape = [n * m for n, m in zip(counts, own, strict=True)]
            first = next((n for n in shape if n < 0), None)
            if first is not None:
                raise error("shapes.negative_size", size=first, shape=shape)
            counts = tuple(max(n, 0) for n in counts)  # of a dimension without elements
        return ops.repeat(self, repeats=counts)

    def flip(self: Own, *given: Any, dims: Any = None) -> Own:
        """Reverse the order along dimensions."""
        asked = _sizes("flip", "dims", given, dims)
        return ops.flip(self, dims=self._dims(asked) if asked else ())

    def narrow(self: Own, dim: int, start: int, length: int) -> Own:
        """Take ``length`` entries from ``start`` along a dimension."""
        if self.ndim == 0:
            raise error("indexing.narrow_of_0d")
        if length < 0:
            raise error("indexing.narrow_length")
        dim = self._dim(dim)
        size = self.shape[dim]
        if not -size <= start <= size:
            raise error("indexing.narrow_start", low=-size, size=size, start=start, dim=dim)
        start += size if start < 0 else 0
        if not 0 <= length <= size - start:
            raise error("indexing.narrow_end", start=start, length=length, size=size)
        return ops.slice_dim(self, dim=dim, start=start, end=start + length, step=1)

    def unbind(self: Own, dim: int = 0) -> tuple[Own, ...]:
        """Return the entries along a dimension, which disappears."""
        dim = self._dim(dim)
        if not self.ndim:
            raise error("shapes.size_of_0d", dim=dim)
        return ops.unbind(self, dim=dim)

    def split(self: Own, split_size: Any, dim: int = 0) -> tuple[Own, ...]:
        """Cut into parts of one size (the last may be smaller), or of the sizes in a list."""
        if not self.ndim:
            raise error("shapes.split_of_0d", name="split")
        if isinstance(split_size, int) and split_size < 0:
            raise error("shapes.split_negative", size=split_size)
        along = self._dim(dim)
        sizes = ops.check_split(self._array.shape[along], split_size, dim)
        parts: Any
        if isinstance(sizes, tuple):
            parts = ops.split_with_sizes(self, split_sizes=sizes, dim=along)
        else:
            parts = ops.split(self, split_size=sizes, dim=along)
        return parts

    def chunk(self: Own, chunks: int, dim: int = 0) -> tuple[Own, ...]:
        """Cut into so many parts of one size; the last may be smaller, or there may be fewer."""
        if not self.ndim:
            raise error("shapes.split_of_0d", name="chunk")
        if chunks <= 0:
            raise error("shapes.chunk_count", chunks=chunks)
        length = self._array.shape[self._dim(dim)]
        size = -(-length // chunks)
        return self.split(size if size else [0] * chunks, dim)

    # -- by tensors of numbers or truth values ---------------------------------------------------

    gather, index_select = _along("gather", "index"), _along("index_select", "index")
    index_add = _along("index_add", "index", "source")

    def scatter(self: Own, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Own:
        """Overwrite the elements that ``index`` names along a dimension: by a tensor or number."""
        check_operand("scatter", "index", 2, index, numbers=False)
        src = value if src is None else src
        check_operand("scatter", "src", 3, src, numbers=True)
        if isinstance(src, Methods):
            return ops.scatter(self, index, src, dim=self._dim(dim))
        return ops.scatter_value(self, index, dim=self._dim(dim), value=src)

    def masked_fill(self: Own, mask: Any, value: Any) -> Own:
        """Write a number, or a 0-d tensor, over the elements where the mask is true."""
        check_operand("masked_fill", "mask", 1, mask, numbers=False)
        check_operand("masked_fill", "value", 2, value, numbers=True)
        if not isinstance(value, Methods):
            return ops.masked_fill(self, mask, value=value)
        if value._array.ndim:
            raise error("indexing.fill_with_many", ndim=value._array.ndim)
        return ops.masked_fill_tensor(self, mask, value)

    masked_select = _binary("masked_select", "mask", numbers=False)

    # -- checking arguments --------------------------------------------------------------------

    def _dim(self: Any, dim: Any, extra: Any = 0) -> Any:
        count = self._array.ndim + extra
        low, high = -max(count, 1), max(count, 1) - 1
        if not isinstance(dim, int | np.integer):
            raise error("arguments.dim", kind=type(dim).__name__)
        if not low <= dim <= high:
            raise error("shapes.dim_out_of_range", low=low, high=high, dim=dim, shape=self.shape)
        return dim % max(count, 1)

    def _dims(self: Any, dim: Any) -> Any:
        if dim is None or dim == ():
            return tuple(range(self._array.ndim))
        dims = tuple(self._dim(d) for d in (dim if isinstance(dim, tuple | list) else (dim,)))
        for d in dims:
            if dims.count(d) > 1:
                raise error("shapes.dim_twice", dim=d)
        return dims if self._array.ndim else ()


for _name in {line.partition("(")[0] for line in OF_METHODS.split("\n") if line}:
    if callable(getattr(Methods, _name, None)):
        setattr(Methods, _name, checked(_name, getattr(Methods, _name)))


def _refuse_empty(tensor: Any, name: str, dim: Any) -> Any:
    """Return the dimensions as a tuple; refuse to look for the largest of no elements."""
    if tensor._array.size:
        return tensor._dims(dim)
    if dim is None or dim == ():
        if name.startswith("arg"):
            raise error("reductions.place_in_nothing", name=name)
        raise error("reductions.of_nothing", name=name)
    for d in dim if isinstance(dim, tuple | list) else (dim,):
        along = tensor._dim(d)
        if tensor.shape[along] == 0:
            shown = d if name in ("amax", "amin") else along  # those say it as it was written
            raise error("reductions.of_empty_dim", name=name, dim=shown, shape=list(tensor.shape))
    return tensor._dims(dim)


def _sizes(name: str, argument: str, given: tuple[Any, ...], named: Any = None) -> tuple[Any, ...]:
    """Return sizes, given one by one, as one list or by name, as a tuple of ints."""
    if named is not None:
        given = (named,)
    if not given:
        raise TypeError(name)  # what is missing is said by ``signatures.py``
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = tuple(given[0])
    given = tuple(n.__index__() if isinstance(n, Methods) else n for n in given)
    for i, n in enumerate(given):
        if not isinstance(n, int | np.integer):
            kind = type(n).__name__
            raise error(
                "arguments.size_element", name=name, argument=argument, kind=kind, position=i
            )
    return tuple(int(n) for n in given)


def _converted(tensor: Any, dtype: Any) -> Any:
    """Return a tensor in the dtype in which an operation computes: nodes do not show that."""
    kind = None if dtype is None else dtypes.as_dtype(dtype, "to")
    if kind is None or kind.numpy == tensor._array.dtype:
        return tensor
    if kind.is_floating_point:
        return ops.promote(tensor, dtype=kind.numpy)
    if tensor._node is not None and local.mode.grad_enabled:
        raise error("autograd.whole_history", kind=kind.tensor_type)
    return tensor.to(kind)


def _shown(tensor: Any, dtype: Any) -> Any:
    if not isinstance(dtype, dtypes.dtype | type | None):
        raise TypeError("dtype")  # the words come from ``signatures.py``
    return tensor if dtype is None else tensor.to(dtype)


def _complete(tensor: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fill in a -1, so that nodes and messages have the whole shape."""
    if -1 not in shape:
        return shape
    if shape.count(-1) > 1:
        raise error("shapes.inferred_twice")
    known, size = int(np.prod([n for n in shape if n != -1])), tensor._array.size
    if known == 0 and size == 0:
        raise error("shapes.inferred_freely", shape=list(shape))
    fits = known and size % known == 0
    return tuple(size // known if n == -1 else n for n in shape) if fits else shape


def _can_view(array: Any, shape: tuple[Any, ...]) -> Any:
    """Return whether the elements lie in memory so that a view of ``shape`` is possible."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous or array.size == 0:
        return True
    if int(np.prod(shape)) != array.size:
        return True  # a wrong size is reported by the op
    return np.may_share_memory(array.reshape(shape), array)
