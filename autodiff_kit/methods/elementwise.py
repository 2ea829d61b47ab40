"""The methods that compute element by element, and products of matrices: PyTorch's signatures.

After reading this file you know what comes before an op: arguments are checked and brought into the
form that the ops take, nothing is computed here. Read next: ``reductions.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import TensorBase
from autodiff_kit.errors import error
from autodiff_kit.from_data import as_int
from autodiff_kit.methods.makers import Own, elementwise, matrix_product, scalable, with_operand
from autodiff_kit.operands import NUMBERS, check_operand, operand_last

__all__ = ["Elementwise"]


class Elementwise:
    """Mixed into ``Tensor``."""

    __slots__ = ()

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
        decimals = as_int(decimals)
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

    check_calls(vars())
