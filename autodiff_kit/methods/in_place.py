"""Makers of methods that change a tensor in place, each of the ordinary method.

After reading this file you know what ``mul_`` does before ``mul`` runs. Read next:
``elementwise.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import wrong_call_of
from autodiff_kit.errors import error
from autodiff_kit.in_place_ops import in_place_table
from autodiff_kit.methods.makers import called, running
from autodiff_kit.operands import NUMBERS

__all__ = ["change", "filled_with", "in_place"]


def change(tensor: Any, how: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Do what ``inplace.change`` does, which is loaded for the first change in place."""
    return _inplace().change(tensor, how, function, *args, **kwargs)


@cache
def _inplace() -> Any:
    from autodiff_kit import inplace

    return inplace


def in_place(name: str) -> Any:
    """Make an in-place method, such as ``add_``, as its row in ``in_place_ops.py`` says."""
    ordinary = name.removesuffix("_")
    function: Any = _CHECKED.get(in_place_table()[name].check)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        op = partial(function, ordinary) if function else getattr(type(self), ordinary)
        try:
            return _inplace().change(self, name, op, *args, **kwargs)
        except (TypeError, RuntimeError) as refused:  # PyTorch looks at the call first
            raise wrong_call_of(name, args, kwargs) or refused from refused.__cause__

    method.__doc__ = f"Do ``{ordinary}`` in place; return the tensor itself."
    return called(name)(method)


def _clamped(name: str, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``x.clamp(...)`` or the like; look at the type of numbers before anything else."""
    bounds = [bound for bound in (*args, *kwargs.values()) if isinstance(bound, NUMBERS)]
    own, dtype = x._array.dtype, dtypes.result_dtype(x._array, *bounds)
    if len(bounds) == len(args) + len(kwargs) and dtype != own and own.kind != "f":
        raise error("inplace.dtype", new=dtypes.tensor_type(dtype), old=dtypes.c_type(own))
    return getattr(x, name)(*args, **kwargs)


def _run_in_own_dtype(name: str, x: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return running sums or products in the dtype of the tensor; refuse another one."""
    kind = x.dtype if dtype is None else dtypes.as_dtype(dtype, f"{name}_")
    x._dim(dim)
    if kind is not x.dtype:
        raise error("inplace.running_dtype", own=x.dtype.c_type, other=kind.c_type)
    return running(name, x, dim, kind)


def _outer_added(name: str, x: Any, vec1: Any, vec2: Any, **numbers: Any) -> Any:
    """Return ``x.addr(...)``; look at the sizes of matrix and vectors before anything else."""
    if vec1.ndim == vec2.ndim == 1:
        if x.ndim != 2:
            raise error("inplace.matrix_ndim", ndim=x.ndim)
        if x.shape != (len(vec1), len(vec2)):
            raise error("inplace.outer_shape", x=[*x.shape], rows=len(vec1), columns=len(vec2))
    return getattr(x, name)(vec1, vec2, **numbers)


_CHECKED: dict[str, Callable[..., Any]] = {
    "clamp": _clamped,
    "outer": _outer_added,
    "running": _run_in_own_dtype,
}


def filled_with(self: Any, value: Any) -> Any:
    """Return a tensor that holds the value of a 0-d tensor everywhere."""
    if value._array.ndim:
        raise error("inplace.fill_with_many", ndim=value._array.ndim)
    return ops.fill_with(self, value)
