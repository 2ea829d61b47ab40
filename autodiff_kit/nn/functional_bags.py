"""``embedding_bag``: the rows of a table for each word of a text, reduced to one vector.

After reading this file you know how texts of different lengths are one batch without padding: all
words in one row, and offsets that say where each text begins. Read next: ``../ops/bags.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.errors import error
from autodiff_kit.tensor import Tensor

__all__ = ["bag_of_rows"]


def bag_of_rows(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None,
    mode: str,
    weights: Tensor | None,
    has_end: bool,
    padding_idx: int | None,
) -> Tensor:
    """Reduce the rows of each bag: see ``embedding_bag``."""
    indices, starts = _indices(input, weight, offsets, weights)
    count = len(weight)
    if indices.dtype not in ("int64", "int32"):
        raise error("functional.bag_indices", kind=input.type())
    out_of_range = np.flatnonzero((indices < 0) | (indices >= count))
    if out_of_range.size:
        place = int(out_of_range[0])
        raise error("functional.bag_range", place=place, value=indices[place], count=count)
    if starts.size and starts[0] != 0:
        raise error("functional.bag_start", first=starts[0])
    if starts.size and starts[-1] > len(indices):
        raise error("functional.bag_end", length=len(indices), last=starts[-1])
    if has_end:
        starts = starts[:-1]
    places = np.arange(len(indices))
    bags = np.searchsorted(starts, places, "right") - 1
    entries = places
    if padding_idx is not None:
        entries = np.flatnonzero(indices != padding_idx % count)
    bags, rows = bags[entries], indices[entries]
    if mode == "max":
        return ops.embedding_bag_max(weight, rows=_largest(weight._array, rows, bags, len(starts)))
    sizes = np.ones(len(starts), weight._array.dtype)
    if mode == "mean":
        sizes = np.maximum(np.bincount(bags, minlength=len(starts)), 1).astype(sizes.dtype)
    each: Any = 1
    if weights is not None:
        flat = weights.reshape(-1)
        each = flat if entries is places else ops.index(flat, indices=(entries,))
    return ops.embedding_bag(weight, each, indices=rows, bags=bags, sizes=sizes)


def _indices(
    input: Tensor, weight: Tensor, offsets: Tensor | None, weights: Tensor | None
) -> tuple[Any, Any]:
    """Return the numbers of rows as one row, and where bags begin."""
    if weights is not None and input.shape != weights.shape:
        own, expected = weights.shape, input.shape
        raise error("functional.bag_weights_shape", weights=own, input=expected)
    if weight.ndim != 2:
        raise error("functional.bag_table", ndim=weight.ndim)
    if weights is not None and weights.dtype is not weight.dtype:
        kind, own_kind = weight.type(), weights.type()
        raise error("functional.bag_weights_type", weight=kind, weights=own_kind)
    if input.ndim == 2:
        if offsets is not None:
            raise error("functional.bag_offsets_extra")
        return input._array.reshape(-1), np.arange(len(input)) * input.shape[1]
    if input.ndim != 1:
        raise error("functional.bag_rank", ndim=input.ndim)
    if offsets is None:
        raise error("functional.bag_offsets_none")
    if offsets.ndim != 1:
        raise error("functional.bag_offsets_rank")
    return input._array, offsets._array


def _largest(table: Any, rows: Any, bags: Any, count: int) -> Any:
    """Return for each bag and column the row of the largest element, the first of equal ones."""
    winners = np.full((count, table.shape[1]), -1)
    for bag in np.unique(bags):
        own = rows[bags == bag]
        winners[bag] = own[table[own].argmax(0)]
    return winners
