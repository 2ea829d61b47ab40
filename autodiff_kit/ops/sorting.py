"""Sorting, and the few largest: elements change places, and so do their gradients.

After reading this file you know that the order itself has no gradient: what was moved forward is
moved back. Read next: ``losses.py``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops.choosing import replace_ties, top
from autodiff_kit.ops.gathering import scatter
from autodiff_kit.ops.layouts import empty_like, zeros
from autodiff_kit.ops.table import op

__all__ = ["sort", "topk"]


def _sorted(x: Value, dim: int, descending: bool, count: int | None = None) -> tuple[Value, Value]:
    """Return the first ``count`` elements in order, and where they were; nan is the largest."""
    if not x.ndim:
        return x.copy(), np.int64(0)
    if descending:  # from the back, so that equal ones stay in their order all the same
        from_back = np.argsort(np.flip(x, dim), dim, kind="stable")
        order = np.flip(x.shape[dim] - 1 - from_back, dim)
    else:
        order = np.argsort(x, dim, kind="stable")
    order = order[(slice(None),) * dim + (slice(count),)]
    values = np.take_along_axis(x, order, dim)
    if count is None:  # sorted are copies of x, and lie as it does
        out, places = empty_like(x), empty_like(x, order.dtype)
        out[...], places[...] = values, order
        return out, places
    # A step backwards over one element is one for NumPy's C order, but not for PyTorch.
    return np.ascontiguousarray(values), order.copy()


@op("x.sort(dim)", tex=r"x_\pi", by_products=("indices",))
def sort(x: Value, *, dim: int, descending: bool = False) -> tuple[Value, Value]:
    """Return the elements in order along a dimension, and where they were."""
    return _sorted(x, dim, descending)


@op("x.topk(k, dim)", tex=r"x_\pi", by_products=("indices",))
def topk(
    x: Value, *, k: int, dim: int, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    """Return the k largest (or smallest) elements along a dimension, and where they were."""
    if not 0 <= k <= (x.shape[dim] if x.ndim else 1):
        raise error("reductions.topk_range", shape=list(x.shape))
    if x.dtype == bool:
        raise error("reductions.topk_of_bool")
    values, places = _sorted(x, dim, largest, k)
    if not x.ndim:
        return values, places
    choose = partial(top, k=k, is_sorted=sorted)
    replace_ties(x, places, dim, choose, descending=largest, in_all=not sorted)
    return np.ascontiguousarray(np.take_along_axis(x, places, dim)), places


for _sorting in (sort, topk):

    @_sorting.vjp("x", tex=r"\bar z_{\pi^{-1}}")
    def _(g: Value, indices: Value, x_shape: tuple[int, ...], dim: int) -> Value:
        return scatter(zeros(g, x_shape), indices, g, dim=dim)
