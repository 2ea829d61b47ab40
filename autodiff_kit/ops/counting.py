"""Counting and searching: answers that have no gradient, as integers have none.

After reading this file you know where shapes depend on values: how many elements are not 0, or
differ from each other, is known only when they are looked at. Read next: ``products.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops import checks
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = [
    "bincount",
    "bincount_weighted",
    "count_nonzero",
    "histc",
    "isin",
    "nonzero",
    "searchsorted",
]
__all__ += ["repeat_interleave", "unique", "unique_consecutive", "unique_dim"]


@op("x.nonzero()", layout="own")
def nonzero(x: Value) -> Value:
    """Return the indices of the elements that are not 0, one row each."""
    if not x.ndim:
        return np.zeros((int(x != 0), 0), "int64")
    return np.array(np.nonzero(x), "int64").T


@op("count_nonzero(x, dim)", layout="rows")
def count_nonzero(x: Value, *, dim: Ints) -> Value:
    """Count the elements that are not 0, along dimensions."""
    return scalar_if_0d(np.asarray(np.count_nonzero(x, dim)).astype("int64"))


@op("repeat(arange(len(x)), x)", layout="rows")
def repeat_interleave(x: Value) -> Value:
    """Return each place as often as the count there says."""
    return np.repeat(np.arange(len(x)), x).astype(x.dtype)


def _check_bins(x: Value) -> None:
    if x.ndim != 1 or x.dtype.kind not in "iu" or (x.size and x.min() < 0):
        if x.dtype.kind not in "iu":
            checks.refuse("bincount_cpu", "fb")(x)
        raise error("reductions.bincount")


@op("bincount(x, None, minlength)", layout="rows")
def bincount(x: Value, *, minlength: int = 0) -> Value:
    """Count how often each of the numbers 0, 1, 2 ... is there."""
    _check_bins(x)
    return np.bincount(x, minlength=minlength)


@op("bincount(x, weights, minlength)", dtypes="any", layout="rows")
def bincount_weighted(x: Value, weights: Value, *, minlength: int = 0) -> Value:
    """Add up the weights of each of the numbers 0, 1, 2 ..."""
    _check_bins(x)
    if weights.shape != x.shape:
        raise error("reductions.bincount_weights")
    sums = np.bincount(x, weights, minlength)
    return sums.astype("float32") if weights.dtype == np.float32 else sums


@op("histc(x, bins, low, high)", layout="rows", type_check=checks.refuse("histogram_cpu", "iub"))
def histc(x: Value, *, bins: int, low: float, high: float) -> Value:
    """Count the elements in intervals of one length; those outside are not counted."""
    return histogram_of(x, np.linspace(low, high, bins + 1)).astype(x.dtype)


def histogram_of(x: Value, edges: Value, weights: Value = None) -> Value:
    """Count elements, or add up weights, between edges; the last interval has its upper edge."""
    return np.histogram(
        x.reshape(-1), edges, weights=None if weights is None else weights.reshape(-1)
    )[0]


@op("isin(x, y)", dtypes="any")
def isin(x: Value, y: Value, *, invert: bool = False) -> Value:
    """Tell of each element whether it is among others."""
    return np.isin(x, y, invert=invert)


@op("searchsorted(x, y, side)", dtypes="any", layout="rows")
def searchsorted(x: Value, y: Value, *, right: bool, kind: Any) -> Value:
    """Return where numbers would have to be inserted into sorted rows."""
    side: Any = "right" if right else "left"
    if x.ndim == 1:
        return np.searchsorted(x, y, side).astype(kind)
    out = np.empty(y.shape, kind)
    for i in np.ndindex(*x.shape[:-1]):
        out[i] = np.searchsorted(x[i], y[i], side)
    return out


# -- different elements: with where they were, and how many of each --------------------------------


def _counted(results: Any, shape: Ints) -> tuple[Value, Value, Value]:
    values, inverse, counts = results
    return values, inverse.reshape(shape).astype("int64"), counts.astype("int64")


_COUNTED: Any = {"by_products": ("inverse", "counts"), "layout": "rows"}


def _not_differentiated(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the rule of an op that PyTorch records and does not differentiate."""
    return vjp(
        "x", lambda g: checks.no_derivative("autograd.no_derivative_yet", name), tex=r"\text{none}"
    )


@op("unique(x)", node="Unique2Backward0", **_COUNTED)
@_not_differentiated("_unique2")
def unique(x: Value) -> tuple[Value, Value, Value]:
    """Return the different elements in order; which of them each is; how many there are of each."""
    results = np.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
    return _counted(results, x.shape)


@op("unique(x, axis=dim)", **_COUNTED)
@_not_differentiated("unique_dim")
def unique_dim(x: Value, *, dim: int) -> tuple[Value, Value, Value]:
    """Return the different entries along a dimension, in order."""
    results = np.unique(x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    return _counted(results, (x.shape[dim],))


@op("x without repetitions", **_COUNTED)
@_not_differentiated("unique_consecutive")
def unique_consecutive(x: Value, *, dim: int | None = None) -> tuple[Value, Value, Value]:
    """Return the elements, or entries along a dimension, that differ from the one before."""
    rows = x.reshape(-1, 1) if dim is None else np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = np.flatnonzero(is_new)
    values = x.reshape(-1)[starts] if dim is None else np.take(x, starts, dim)
    inverse = np.cumsum(is_new) - 1
    counts = np.diff([*starts, len(rows)])
    return _counted((values, inverse, counts), x.shape if dim is None else (x.shape[dim],))
