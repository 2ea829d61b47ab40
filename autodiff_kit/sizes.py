"""Sizes, dimensions and dtypes as methods are given them, in the form that ops take.

After reading this file you know how a -1 in a shape is worked out, and when a view is possible.
Read next: ``methods/__init__.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import dtypes, ops
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import full_name
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.from_data import as_int, checked_sizes, is_first_size, is_size
from autodiff_kit.ops.apply import apply
from autodiff_kit.ops.promotion import requested

__all__ = ["EVERY", "as_dims", "can_view", "check_norm", "complete"]
__all__ += [
    "computed_in",
    "converted",
    "dim_and_descending",
    "dim_or_unbiased",
    "in_dtype",
    "is_no_dim",
    "norm_dims",
    "refuse_empty",
    "sizes_given",
]


class _Every:
    """All dimensions, where no ``dim`` was passed: ``x.sum(None)`` has another node."""

    def __repr__(self) -> str:
        return "None"  # as PyTorch shows this default


EVERY: Any = _Every()


def is_no_dim(dim: Any) -> bool:
    """Return whether a list of dimensions is empty."""
    return isinstance(dim, (tuple, list)) and not dim


def as_dims(dim: Any, is_list: bool = False) -> tuple[int, ...]:
    """Return one dimension, or a list or tuple of some, as ints.

    As PyTorch takes a list of ints, so are tensors of one element, and bools behind the first.
    ``is_list``: PyTorch has another signature for one int.
    """
    if not isinstance(dim, (tuple, list)):
        if is_list:
            return (as_int(dim),)
        dim = (dim,)
    for i, d in enumerate(dim):
        if not (is_size(d) if i else is_first_size(d)):
            raise error("arguments.dim", kind=full_name(d))
    return tuple(d.__index__() for d in dim)


def dim_or_unbiased(name: str, first: Any, dim: Any, unbiased: Any, *others: Any) -> Any:
    """Return (dim, unbiased) of a variance, whose first argument may be either of them."""
    if isinstance(first, bool) and dim is unbiased is None and set(others) == {None}:
        return None, first
    if first is not None and dim is not None:
        raise TypeError(name)  # the words come from ``signatures.py``
    return dim if first is None else first, unbiased


def dim_and_descending(
    name: str, first: Any, second: Any, dim: Any, descending: Any, stable: Any
) -> Keywords:
    """Return the arguments of a sort: those by place or by name; beside ``stable`` by name only."""
    by_place, by_name = (first, second), (dim, descending)
    for place, own in zip(by_place, by_name, strict=True):
        if place is not None and (own is not None or stable is not None):
            raise TypeError(name)  # the words come from ``signatures.py``
    values = [b if a is None else a for a, b in zip(by_place, by_name, strict=True)]
    return {"dim": -1 if values[0] is None else values[0], "descending": bool(values[1])}


def refuse_empty(tensor: Any, name: str, dim: Any) -> Any:
    """Return the dimensions as a tuple; refuse to look for the largest of no elements."""
    if tensor._array.size:
        return tensor._dims(dim)
    if dim is None or is_no_dim(dim):
        if name.startswith("arg"):
            raise error("reductions.place_in_nothing", name=name)
        raise error("reductions.of_nothing", name=name)
    for d in as_dims(dim):
        along = tensor._dim(d)
        if tensor.shape[along] == 0:
            number = d if name in ("amax", "amin") else along  # those say it as it was written
            raise error("reductions.of_empty_dim", name=name, dim=number, shape=list(tensor.shape))
    return tensor._dims(dim)


def norm_dims(tensor: Any, p: float, dim: Any) -> tuple[int, ...]:
    """Return the dimensions of a norm; refuse one of nothing that has no value there."""
    dims: tuple[int, ...] = tensor._dims(dim)
    whole = dim is None or is_no_dim(dim)
    dims_of_call = dims if whole else as_dims(dim)
    empty = [d for d in dims_of_call if tensor.shape[d] == 0] if tensor.ndim else []
    if empty and (p < 0 or p == np.inf):
        key = "reductions.norm_of_nothing" if whole else "reductions.norm_of_empty_dim"
        raise error(key, p=p, dim=empty[0])
    return dims


def sizes_given(
    name: str, argument: str, args: tuple[Any, ...], keyword: Any = None
) -> tuple[Any, ...]:
    """Return sizes, given one by one, as one list or by name, as a tuple of ints."""
    if keyword is not None:
        if args or not isinstance(keyword, (tuple, list)):
            raise TypeError(name)  # the words come from ``signatures.py``
        args = (keyword,)
    if not args:
        raise TypeError(name)  # what is missing is said by ``signatures.py``
    if len(args) == 1 and isinstance(args[0], tuple | list):
        args = tuple(args[0])
    if args and not is_first_size(args[0]):
        raise TypeError(name)
    return checked_sizes(name, argument, args)


def check_norm(name: str, tensor: Any, dtype: Any) -> None:
    """Refuse a norm of integers, or one computed in integers or in smaller floats."""
    name = f"linalg.{name}"
    own, kind = tensor._array.dtype, None if dtype is None else dtypes.as_dtype(dtype, "to").numpy
    if own.kind != "f":
        raise error("linalg.whole_numbers", name=name, kind=dtypes.tensor_type(own))
    if kind is not None and kind.kind != "f":
        raise error("linalg.norm_dtype", name=name, kind=dtypes.tensor_type(kind))
    if kind is not None and np.promote_types(kind, own) != kind:
        kinds = dtypes.tensor_type(own), dtypes.tensor_type(kind)
        raise error("linalg.norm_narrowing", name=name, own=kinds[0], other=kinds[1])


def converted(tensor: Any, dtype: Any) -> Any:
    """Return a tensor in the dtype in which an operation computes: nodes do not show that."""
    kind = None if dtype is None else dtypes.as_dtype(dtype, "to")
    if kind is None or kind.numpy == tensor._array.dtype:
        return tensor
    if kind.is_floating_point:
        return ops.promote(tensor, dtype=kind.numpy)
    if tensor._node is not None and local.mode.grad_enabled:
        raise error("autograd.whole_history", kind=kind.tensor_type)
    return tensor.to(kind)


def computed_in(dtype: Any, op: Any, tensor: Any, **params: Any) -> Any:
    """Apply an op to a tensor in a dtype, if one is asked for: nodes do not show the conversion.

    What the node saves is the tensor as it was given.
    """
    kind = None if dtype is None else dtypes.as_dtype(dtype, "to")
    if kind is None or kind.numpy == tensor._array.dtype or not kind.is_floating_point:
        return op(converted(tensor, dtype), **params)
    requested.dtype = kind.numpy
    try:
        return apply(op.op, (tensor,), params)
    finally:
        requested.dtype = None


def in_dtype(tensor: Any, dtype: Any) -> Any:
    """Return a tensor in another dtype, if one is asked for, by a node that shows that."""
    if not isinstance(dtype, dtypes.dtype | type | None):
        raise TypeError("dtype")  # the words come from ``signatures.py``
    return tensor if dtype is None else tensor.to(dtype)


def complete(tensor: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fill in a -1, so that nodes and messages have the whole shape."""
    if shape and min(shape) < 0:
        for position, size in enumerate(shape):
            if size < -1:
                raise error("shapes.negative", size=size, position=position, shape=list(shape))
    if -1 not in shape:
        return shape
    if shape.count(-1) > 1:
        raise error("shapes.inferred_twice")
    product, size = int(np.prod([n for n in shape if n != -1])), tensor._array.size
    if product == 0 and size == 0:
        raise error("shapes.inferred_freely", shape=list(shape))
    fits = product and size % product == 0
    return tuple(size // product if n == -1 else n for n in shape) if fits else shape


def can_view(array: Any, shape: tuple[Any, ...]) -> Any:
    """Return whether the elements lie in memory so that a view of ``shape`` is possible."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous or array.size == 0:
        return True
    if int(np.prod(shape)) != array.size:
        return True  # a wrong size is reported by the op
    return np.may_share_memory(array.reshape(shape), array)
