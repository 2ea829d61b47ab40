"""Cutting a tensor into several: ``unbind``, ``split``, and putting the parts back together.

After reading this file you know how a rule gets the cotangents of several outputs: by number, of
those that a gradient has come to. Read next: ``../core/outputs.py``.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.layouts import zeros
from autodiff_kit.ops.shape import cat, stack
from autodiff_kit.ops.table import op, vjp

__all__ = ["check_split", "parts_backward", "split", "split_with_sizes", "unbind", "unsafe_split"]


def check_split(length: int, sizes: Any, dim: int) -> int | tuple[int, ...]:
    """Return one size for all parts that ``split`` cuts a dimension into, or the size of each.

    RuntimeError or TypeError if the sizes do not make up the length, are negative, or not numbers.
    """
    if isinstance(sizes, tuple | list):
        if sizes and isinstance(sizes[0], bool):
            words = "but found element of type bool at pos 0"
            raise error("arguments.split_sizes", kind=words)
        if min(sizes, default=0) < 0:
            raise error("shapes.split_negative_sizes", sizes=list(sizes))
        if sum(sizes) != length:
            raise error("shapes.split_sum", size=length, dim=dim, sizes=list(sizes))
        return tuple(map(operator.index, sizes))
    if not hasattr(sizes, "__index__"):
        raise error("arguments.split_sizes", kind=f"not {type(sizes).__name__}")
    size = operator.index(sizes)
    if size < 0:
        raise error("shapes.split_negative", size=size)
    if not size and length:
        raise error("shapes.split_into_nothing", size=length)
    return size


@lru_cache(maxsize=100)
def _spans(length: int, sizes: Any) -> tuple[slice, ...]:
    """Return the parts of a dimension, of one size (the last may be smaller) or of these sizes."""
    if isinstance(sizes, int):
        sizes = [min(sizes, length - start) for start in range(0, length, sizes or 1)] or [0]
    return tuple(slice(end - n, end) for n, end in zip(sizes, accumulate(sizes), strict=True))


def _taken(x: Value, dim: int, places: Any) -> tuple[Value, ...]:
    before = (slice(None),) * dim
    return tuple([x[(*before, place, ...)] for place in places])


def _put_back(g: dict[int, Value], x_shape: Ints, dim: int, places: Any) -> Value:
    if hasattr(next(iter(g.values())), "_array"):
        return _joined(g, x_shape, dim, places)
    places = [places[index] for index in g]  # of the parts that a gradient has come to
    return parts_backward(*g.values(), shape=x_shape, dim=dim, places=places)


def _joined(g: dict[int, Value], x_shape: Ints, dim: int, places: Any) -> Value:
    """Join the gradients of all parts, as PyTorch does where that is recorded."""
    like, parts = next(iter(g.values())), []
    for index, place in enumerate(places):
        count = () if isinstance(place, int) else (place.stop - place.start,)
        shape = (*x_shape[:dim], *count, *x_shape[dim + 1 :])
        parts.append(g[index] if index in g else zeros(like, shape))
    return (stack if isinstance(places, range) else cat)(*parts, dim=dim)


_PUT_BACK = r"\bar z_i \text{ put back}"


@op("x.unbind(dim)", tex=r"x_0, x_1, \dots", view=True, several=True)
@vjp("x", lambda g, x_shape, dim: _put_back(g, x_shape, dim, range(x_shape[dim])), tex=_PUT_BACK)
def unbind(x: Value, *, dim: int) -> Value:
    """Take all entries along a dimension: what ``for row in x`` and ``a, b = x`` do, too."""
    return _taken(x, dim, range(x.shape[dim]))


@op("x.split(split_size, dim)", tex=r"x_{[0:a]}, x_{[a:b]}, \dots", view=True, several=True)
def split(x: Value, *, split_size: int, dim: int) -> Value:
    """Cut into parts of one size; the last may be smaller."""
    return _taken(x, dim, _spans(x.shape[dim], split_size))


@split.vjp("x", tex=_PUT_BACK)
def _(g: Value, x_shape: Ints, split_size: int, dim: int) -> Value:
    return _put_back(g, x_shape, dim, _spans(x_shape[dim], split_size))


@op("x.split(split_size, dim)", tex=r"x_{[0:a]}, x_{[a:b]}, \dots", several=True)
def unsafe_split(x: Value, *, split_size: int, dim: int) -> Value:
    """Cut into parts that count as no views: what recurrent layers do with their gates."""
    return _taken(x, dim, _spans(x.shape[dim], split_size))


@unsafe_split.vjp("x", tex=_PUT_BACK)
def _(g: Value, x_shape: Ints, split_size: int, dim: int) -> Value:
    return _put_back(g, x_shape, dim, _spans(x_shape[dim], split_size))


@op("x.split(split_sizes, dim)", tex=r"x_{[0:a]}, x_{[a:b]}, \dots", view=True, several=True)
def split_with_sizes(x: Value, *, split_sizes: Ints, dim: int) -> Value:
    """Cut into parts of these sizes."""
    return _taken(x, dim, _spans(x.shape[dim], split_sizes))


@split_with_sizes.vjp("x", tex=_PUT_BACK)
def _(g: Value, x_shape: Ints, split_sizes: Ints, dim: int) -> Value:
    return _put_back(g, x_shape, dim, _spans(x_shape[dim], split_sizes))


@op("zeros with parts at [places]", tex=r"x_i \text{ put back}", dtypes="any")
def parts_backward(*parts: Value, shape: Ints, dim: int, places: Any) -> Value:
    """Put the parts of a tensor back into zeros of its shape."""
    out, before = np.zeros(shape, parts[0].dtype), (slice(None),) * dim
    for part, place in zip(parts, places, strict=True):
        out[(*before, place)] = part
    return out


@parts_backward.vjp("parts", tex=r"\bar z_{[i]}")
def _(g: Value, index: int, dim: int, places: Any) -> Value:
    return g[(slice(None),) * dim + (places[index],)]
