"""Makers of methods of one kind: with a second operand, along a dimension.

After reading this file you know what ``amax`` and ``argmin`` have in common. Read next:
``in_place.py``, which makes ``mul_`` of ``mul``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from autodiff_kit import dtypes, ops
from autodiff_kit.core.base import TensorBase
from autodiff_kit.errors import error
from autodiff_kit.lazy import Later
from autodiff_kit.operands import check_operand, only_argument
from autodiff_kit.sizes import (
    as_dims,
    computed_in,
    converted,
    dim_or_unbiased,
    in_dtype,
    is_no_dim,
    refuse_empty,
)

__all__ = [
    "Own",
    "along_dim",
    "along_with",
    "called",
    "deviation",
    "elementwise",
    "extreme",
    "largest",
    "matrix_product",
    "pair_of",
    "question",
    "running",
    "scalable",
    "with_operand",
]

Own = TypeVar("Own", bound=Any)  # what a method is called on, and returns

# Of methods that are not one op.
_DOCS = {
    "all": "Tell whether no element is zero or false.",
    "any": "Tell whether some element is not zero or false.",
}


def pair_of(name: str, values: Any, indices: Any) -> Any:
    """Return what the function of this name returns: its values, and where they were."""
    return _return_types().pair(name, values, indices)


@cache
def _return_types() -> Any:
    from autodiff_kit import return_types

    return return_types


def called(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Give a method that was made below its name, and, if it has none, the docstring of its op."""

    def rename(method: Any) -> Any:
        method.__name__ = method.__qualname__ = name
        method.__doc__ = method.__doc__ or _DOCS.get(name) or getattr(ops, name).__doc__
        return method

    return rename


def later(make: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method be made, and its op be loaded, when it is first asked for."""
    return lambda name, *args, **options: Later((name, lambda _: make(name, *args, **options)))


@later
def elementwise(name: str) -> Any:
    """Return the function of an op without parameters, which serves as a method."""
    return getattr(ops, name)


@later
def with_operand(
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

    @called(name)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        other = only_argument(name, argument, args, kwargs)
        check_operand(name, argument, 1, other, numbers)
        if of_number is not None and not isinstance(other, TensorBase):
            return getattr(ops, of_number[0])(self, **{of_number[1]: other})
        return getattr(ops, of_tensors or name)(self, other)

    return method


@later
def matrix_product(name: str, argument: str, rank: int, names: tuple[str, str] = ("", "")) -> Any:
    """Make a method of a matrix product that wants operands of certain ranks."""

    @called(name)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        other = only_argument(name, argument, args, kwargs)
        check_operand(name, argument, 1, other, numbers=False)
        ranks = self.ndim, other.ndim
        if name == "mv" and not ranks[0]:
            raise error("shapes.size_of_0d", dim=0)
        if ranks != (rank, 1 if name == "mv" else rank):
            wrong = names[ranks[0] == rank]
            raise error(f"linalg.{name}_ranks", wrong=wrong, x=ranks[0], y=ranks[1])
        return getattr(ops, name)(self, other)

    return method


@later
def scalable(name: str) -> Any:
    """Make ``add`` or ``sub``, whose second operand can be multiplied by ``alpha``."""

    @called(name)
    def method(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        check_operand(name, "other", 1, other, numbers=True)
        if type(alpha) is int and alpha == 1:  # nearly always
            return getattr(ops, name)(self, other)
        if isinstance(alpha, TensorBase):
            if alpha.ndim or alpha.requires_grad:
                raise TypeError(name)  # the words come from ``signatures.py``
            alpha = alpha.item()
        if isinstance(alpha, bool):
            check = getattr(ops, f"{name}_scaled").op.type_check
            check(*(getattr(v, "_array", v) for v in (self, other)), alpha=alpha)
        if alpha == 1:
            return getattr(ops, name)(self, other)
        return getattr(ops, f"{name}_scaled")(self, other, alpha=alpha)

    return method


@later
def extreme(name: str) -> Any:
    """Make ``max`` or ``min``: of all, along a dimension, or of two tensors."""

    def method(
        self: Any,
        first: Any = None,
        keepdim: bool | None = None,
        *,
        dim: Any = None,
        other: Any = None,
    ) -> Any:
        if first is not None and (dim is not None or other is not None):
            raise TypeError(name)  # the words come from ``signatures.py``
        if isinstance(first, TensorBase) and keepdim is None:
            other = first
        dim = first if dim is None else dim
        if other is not None:
            return getattr(ops, f"{name}imum")(self, other)
        if isinstance(dim, (tuple, list)):
            raise TypeError(name)
        refuse_empty(self, name, dim)
        if dim is None:
            return getattr(ops, f"{name}_all")(self)
        along = getattr(ops, f"{name}_dim")
        return pair_of(name, *along(self, dim=self._dim(dim), keepdim=bool(keepdim)))

    method.__doc__ = "Return the {}est element, (values, indices) along ``dim``, or of two tensors."
    method.__doc__ = method.__doc__.format({"max": "larg", "min": "small"}[name])
    return called(name)(method)


@later
def largest(name: str) -> Any:
    """Make ``amax``, ``amin``, ``argmax`` or ``argmin``."""
    where = name.startswith("arg")

    @called(name)
    def method(self: Any, dim: Any = None if where else (), keepdim: bool = False) -> Any:
        if where and self._array.dtype == bool:
            raise error("reductions.search_of_bool", name=name)
        dims = refuse_empty(self, name, dim)
        along = dims if not where else None if dim is None else self._dim(dim)
        return getattr(ops, name)(self, dim=along, keepdim=keepdim)

    return method


@later
def question(name: str) -> Any:
    """Make ``all`` or ``any``."""
    of_elements = "all_elements" if name == "all" else "any_element"

    @called(name)
    def method(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is not None:
            dim = as_dims(dim, is_list=True)
        dims = () if is_no_dim(dim) else self._dims(dim)  # no dimension is not all of them here
        return getattr(ops, of_elements)(self, dim=dims, keepdim=keepdim)

    return method


@later
def deviation(name: str) -> Any:
    """Make ``var`` or ``std``; ``unbiased`` is PyTorch's older word for a correction of 1."""

    @called(name)
    def method(
        self: Any,
        first: Any = None,
        unbiased: bool | None = None,
        keepdim: bool | None = None,
        *,
        dim: Any = None,
        correction: float | None = None,
    ) -> Any:
        dim, unbiased = dim_or_unbiased(name, first, dim, unbiased, keepdim, correction)
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
        return getattr(ops, name)(self, dim=dims, correction=correction, keepdim=bool(keepdim))

    return method


@later
def along_dim(name: str) -> Any:
    """Make a method that works along a dimension."""

    @called(name)
    def method(self: Any, dim: int, dtype: Any = None) -> Any:
        if name == "cumsum":
            return running(name, self, dim, dtype)
        return getattr(ops, name)(in_dtype(self, dtype), dim=self._dim(dim))

    return method


@later
def along_with(name: str, *operands: str) -> Any:
    """Make a method that works along a dimension, with further tensors."""

    @called(name)
    def method(self: Any, dim: int, *tensors: Any, **options: Any) -> Any:
        tensors += tuple(options.pop(n, None) for n in operands[len(tensors) :])
        for i, (argument, value) in enumerate(zip(operands, tensors, strict=True)):
            check_operand(name, argument, i + 2, value, numbers=False)
        return getattr(ops, name)(self, *tensors, dim=self._dim(dim), **options)

    return method


def running(name: str, x: Any, dim: int, dtype: Any = None) -> Any:
    """Return the running sums or products of a tensor, computed in a dtype."""
    dim = x._dim(dim)
    kind = None if dtype is None else dtypes.as_dtype(dtype, "to")
    if kind is dtypes.bool_ and x._array.ndim and x._array.size:
        raise error("reductions.running_bool", name=name)
    return converted(computed_in(dtype, getattr(ops, name), x, dim=dim), dtype)
