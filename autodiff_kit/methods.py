"""The methods of a tensor that are not operators: PyTorch's signatures over the op table.

After reading this file you can find any method: arguments are checked and brought into the form
that the ops take, nothing is computed here. Read next: ``shape_methods.py``.
"""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import TensorBase, wrap
from autodiff_kit.core.memory import Own
from autodiff_kit.dtypes import full_name, number_in, result_dtype, tensor_type
from autodiff_kit.errors import error, operands_refused
from autodiff_kit.method_makers import (
    along_dim,
    along_with,
    change,
    deviation,
    elementwise,
    extreme,
    filled_with,
    largest,
    matrix_product,
    pair_of,
    question,
    scalable,
    with_operand,
)
from autodiff_kit.more_methods import MoreMethods
from autodiff_kit.operands import NUMBERS, check_bool, check_operand, operand_last
from autodiff_kit.shape_methods import ShapeMethods
from autodiff_kit.sizes import EVERY, converted, norm_dims

__all__ = ["Methods", "where"]


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


class Methods(ShapeMethods, MoreMethods):
    """Mixed into ``Tensor``."""

    __slots__ = ()

    # -- elementwise ---------------------------------------------------------------------------

    exp, log, log1p, expm1 = map(elementwise, ("exp", "log", "log1p", "expm1"))
    sqrt, rsqrt, reciprocal = map(elementwise, ("sqrt", "rsqrt", "reciprocal"))
    sin, cos, tan, tanh = map(elementwise, ("sin", "cos", "tan", "tanh"))
    sigmoid, relu, abs, neg = map(elementwise, ("sigmoid", "relu", "abs", "neg"))
    sign, isnan, clone = map(elementwise, ("sign", "isnan", "clone"))
    floor, ceil = map(elementwise, ("floor", "ceil"))
    eq, ne, lt, le, gt, ge = map(with_operand, ("eq", "ne", "lt", "le", "gt", "ge"))
    mul = with_operand("mul")
    add, sub = map(scalable, ("add", "sub"))
    floor_divide = with_operand("floor_divide", of_number=("floor_divide_by_number", "y"))
    remainder = with_operand("remainder", of_number=("remainder_by_number", "y"))
    clamp_min, clamp_max = (
        with_operand(f"clamp_{b}", b, of_number=(f"clamp_{b}", b), of_tensors=f"clamp_{b}_tensor")
        for b in ("min", "max")
    )
    maximum, minimum = (with_operand(name, numbers=False) for name in ("maximum", "minimum"))
    matmul = with_operand("matmul", "other", numbers=False)
    mm = matrix_product("mm", "mat2", 2, ("self", "mat2"))
    mv, dot = matrix_product("mv", "vec", 2), matrix_product("dot", "tensor", 1)
    bmm = matrix_product("bmm", "mat2", 3, ("batch1", "batch2"))

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
        raise operands_refused("@", kind, "Tensor")

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
        if isinstance(exponent, TensorBase):
            return ops.pow_tensor(self, exponent)
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
        if not isinstance(exponent, int | float):
            raise TypeError("pow")  # the words come from ``signatures.py``
        return ops.pow_to_number(self, exponent=exponent)

    __pow__ = operand_last("** or pow()", pow)

    def round(self: Own, *, decimals: int = 0) -> Own:
        """Round to integers, halves to even ones, or to so many decimals."""
        return ops.round_decimals(self, decimals=decimals) if decimals else ops.round(self)

    def square(self: Own) -> Own:
        """Return ``self ** 2``."""
        return ops.pow_to_number(self, exponent=2)

    def clamp(self: Own, min: Any = None, max: Any = None) -> Own:
        """Limit to the range from ``min`` to ``max``: numbers or tensors; one may be None."""
        bounds = [bound for bound in (min, max) if bound is not None]
        if any(not isinstance(bound, (TensorBase, *NUMBERS)) for bound in bounds):
            raise TypeError("clamp")  # the words come from ``signatures.py``
        if not bounds:
            raise error("arguments.clamp_without_bounds")
        of_tensors = [isinstance(bound, TensorBase) for bound in bounds]
        if len({*of_tensors}) > 1:  # only a tensor of one number can stand for that
            if any(b._array.ndim or b._node for b in bounds if isinstance(b, TensorBase)):
                raise TypeError("clamp")  # the words come from ``signatures.py``
            plain = (b._array.item() if isinstance(b, TensorBase) else b for b in bounds)
            return self.clamp(*plain)
        arrays = [getattr(b, "_array", b) for b in bounds if isinstance(b, (TensorBase, *NUMBERS))]
        dtype = dtypes.result_dtype(self._array, *arrays)
        low, high = -np.inf, np.inf  # these limit nothing
        if dtype.kind == "b":
            low, high = False, True
            if of_tensors != [True]:
                name = "" if len(bounds) > 1 else "max_" if min is None else "min_"
                from autodiff_kit.ops.checks import unless_misfit  # loaded when needed

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

    # -- reductions ----------------------------------------------------------------------------

    def sum(self: Own, dim: Any = EVERY, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Add up all elements, or those along ``dim`` (an int or several)."""
        if dtype is not None:
            total: Any = converted(converted(self, dtype).sum(dim, keepdim), dtype)
            return total
        if dim is EVERY and not keepdim:
            return ops.sum_all(self)
        return ops.sum_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def mean(self: Own, dim: Any = EVERY, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Average all elements, or those along ``dim`` (an int or several)."""
        self = converted(self, dtype)
        if self._array.dtype.kind != "f":
            raise error("reductions.mean_of_whole", kind=dtypes.tensor_type(self._array.dtype))
        if dim is EVERY and not keepdim:
            return ops.mean_all(self)
        return ops.mean_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def prod(self: Own, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Multiply all elements, or those along one dimension."""
        if dtype is not None:
            along = () if dim is None else (dim, keepdim)
            product: Any = converted(converted(self, dtype).prod(*along), dtype)
            return product
        if dim is None:
            return ops.prod_all(self)
        return ops.prod_dim(self, dim=self._dim(dim), keepdim=keepdim)

    max, min = map(extreme, ("max", "min"))
    amax, amin, argmax, argmin = map(largest, ("amax", "amin", "argmax", "argmin"))
    all, any = map(question, ("all", "any"))
    var, std = map(deviation, ("var", "std"))
    cumsum, softmax, log_softmax = map(along_dim, ("cumsum", "softmax", "log_softmax"))

    def logsumexp(self: Own, dim: Any, keepdim: bool = False) -> Own:
        """Return the logarithm of the sum of ``exp``: a smooth maximum."""
        if dim is None:
            raise TypeError  # the words come from ``signatures.py``
        return ops.logsumexp(self, dim=self._dims(dim), keepdim=keepdim)

    def norm(
        self: Own, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Own:
        """Return the root of the sum of squares (p = 2 or "fro"), or the length for another p."""
        whole_numbers = self._array.dtype.kind != "f" and self._array.dtype
        self = converted(self, dtype)
        p = 2 if p in ("fro", None) else p
        if isinstance(p, str):
            raise error("reductions.norm_order", p=p)
        if whole_numbers:
            raise error("reductions.norm_of_whole", kind=dtypes.tensor_type(whole_numbers))
        check_bool("linalg_vector_norm", "keepdim", keepdim, " (position 4)")
        dims = norm_dims(self, p, dim)
        return ops.linalg_vector_norm(self, ord=p, dim=dims, keepdim=keepdim)

    def sort(self: Any, dim: int = -1, descending: bool = False, *, stable: bool = True) -> Any:
        """Return (values, indices): the elements in order along ``dim``; where they were."""
        return pair_of("sort", *ops.sort(self, dim=self._dim(dim), descending=descending))

    def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        """Return (values, indices): the k largest, or smallest, elements along ``dim``."""
        dim = self._dim(dim)
        return pair_of("topk", *ops.topk(self, k=k, dim=dim, largest=largest, sorted=sorted))

    # -- by tensors of numbers or truth values ---------------------------------------------------

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
    check_calls(vars())
