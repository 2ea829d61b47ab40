"""Which of equal elements are chosen: the algorithms of the C++ library that PyTorch calls.

Where all elements differ, any way of sorting gives the same. Where some are equal, ``topk``,
``kthvalue`` and ``mode`` name the places that these algorithms happen to leave them at; the
gradient goes there. All work on a list of (key, place) and compare keys alone.

Source: GCC's libstdc++, ``bits/stl_algo.h`` and ``bits/stl_heap.h``; PyTorch's
``quick_select_template``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value

__all__ = ["commonest", "kth", "replace_ties", "top"]

Pairs = list[tuple[Any, int]]


def replace_ties(
    x: Value,
    places: Value,
    dim: int,
    choose: Callable[[Pairs], Pairs],
    *,
    descending: bool = False,
    in_all: bool = False,
) -> None:
    """Write over ``places``, in rows of x with equal elements, those that ``choose`` returns.

    ``in_all``: in the other rows, too. nan is the largest, and all nan are equal.
    """
    rows, row_places = np.moveaxis(x, dim, -1), np.moveaxis(places, dim, -1)
    ordered = np.sort(rows, -1)
    is_tie = ordered[..., 1:] == ordered[..., :-1]
    if x.dtype.kind == "f":
        is_tie |= np.isnan(ordered[..., :-1])
    for i in np.argwhere(is_tie.any(-1) | in_all):
        ranks = np.unique(rows[tuple(i)], return_inverse=True)[1].ravel()
        keys = (-ranks if descending else ranks).tolist()
        pairs = choose([*zip(keys, range(len(keys)), strict=True)])
        row_places[tuple(i)] = [place for _, place in pairs]


def top(pairs: Pairs, k: int, is_sorted: bool) -> Pairs:
    """Return the first k of pairs in the order of their keys, as PyTorch's ``topk`` does."""
    if k * 64 <= len(pairs):
        _partial_sort(pairs, k)
    elif k:
        _nth_element(pairs, k - 1)
        if is_sorted:
            first = pairs[: k - 1]
            _sort(first)
            pairs[: k - 1] = first
    return pairs[:k]


def kth(pairs: Pairs, k: int) -> Pairs:
    """Return the pair of rank k, as PyTorch's ``kthvalue`` does."""
    _quick_select(pairs, k)
    return pairs[k : k + 1]


def commonest(elements: list[Any]) -> int:
    """Return the place of the commonest element, as PyTorch's ``mode`` does; no nan is another."""
    pairs = [*zip(elements, range(len(elements)), strict=True)]
    _sort(pairs)
    place, largest, count = 0, 0, 0
    for i, (element, own) in enumerate(pairs):
        count += 1
        if i + 1 == len(pairs) or element != pairs[i + 1][0]:
            if count > largest:
                place, largest = own, count
            count = 0
    return place


def _sort(pairs: Pairs) -> None:
    """Sort in place, as ``std::sort``: keeps equal ones in order only up to sixteen."""
    count = len(pairs)
    _introsort(pairs, 0, count, 2 * (count.bit_length() - 1))
    _insertion_sort(pairs, 0, min(count, 16))
    for i in range(16, count):
        _insert(pairs, i)


def _nth_element(pairs: Pairs, nth: int) -> None:
    """Bring the pair of this rank to its place, none that is larger before it."""
    first, last = 0, len(pairs)
    depth = 2 * (last.bit_length() - 1)
    while last - first > 3:
        if not depth:
            part = pairs[first:last]
            _heap_select(part, nth + 1 - first)
            part[0], part[nth - first] = part[nth - first], part[0]
            pairs[first:last] = part
            return
        depth -= 1
        middle = _partition(pairs, first, last)
        first, last = (middle, last) if middle <= nth else (first, middle)
    _insertion_sort(pairs, first, last)


def _quick_select(pairs: Pairs, k: int) -> None:
    """Bring the pair of rank k to its place: the median of three is the pivot."""

    def swap(i: int, j: int) -> None:
        pairs[i], pairs[j] = pairs[j], pairs[i]

    left, right = 0, len(pairs) - 1
    while left < right:
        if right == left + 1:
            if pairs[right][0] < pairs[left][0]:
                swap(left, right)
            return
        swap(left + (right - left) // 2, left + 1)
        for i, j in ((left + 1, right), (left, right), (left + 1, left)):
            if pairs[j][0] < pairs[i][0]:
                swap(i, j)
        i, j, pivot = left + 1, right, pairs[left][0]
        while True:
            i += 1
            while pairs[i][0] < pivot:
                i += 1
            j -= 1
            while pivot < pairs[j][0]:
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(left, j)
        left, right = (i if j <= k else left), (j - 1 if j >= k else right)


def _introsort(pairs: Pairs, first: int, last: int, depth: int) -> None:
    while last - first > 16:
        if not depth:
            part = pairs[first:last]
            _partial_sort(part, len(part))
            pairs[first:last] = part
            return
        depth -= 1
        middle = _partition(pairs, first, last)
        _introsort(pairs, middle, last, depth)
        last = middle


def _partition(pairs: Pairs, first: int, last: int) -> int:
    """Put what is smaller than the median of three to the front; return where the rest begins."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    low, high, key = (a, b, pairs[c][0]) if pairs[a][0] < pairs[b][0] else (b, a, pairs[c][0])
    median = high if pairs[high][0] < key else c if pairs[low][0] < key else low
    pairs[first], pairs[median] = pairs[median], pairs[first]
    pivot, low, high = pairs[first][0], first + 1, last
    while True:
        while pairs[low][0] < pivot:
            low += 1
        high -= 1
        while pivot < pairs[high][0]:
            high -= 1
        if low >= high:
            return low
        pairs[low], pairs[high] = pairs[high], pairs[low]
        low += 1


def _insertion_sort(pairs: Pairs, first: int, last: int) -> None:
    for i in range(first + 1, last):
        if pairs[i][0] < pairs[first][0]:
            pairs.insert(first, pairs.pop(i))
        else:
            _insert(pairs, i)


def _insert(pairs: Pairs, i: int) -> None:
    """Move a pair forward until one is there that is not larger."""
    place = i
    while pairs[i][0] < pairs[place - 1][0]:
        place -= 1
    pairs.insert(place, pairs.pop(i))


def _partial_sort(pairs: Pairs, middle: int) -> None:
    _heap_select(pairs, middle)
    for last in range(middle - 1, 0, -1):
        pair, pairs[last] = pairs[last], pairs[0]
        _sift(pairs, 0, last, pair)


def _heap_select(pairs: Pairs, middle: int) -> None:
    """Make a heap of the smallest at the front, the largest of these first."""
    for parent in range((middle - 2) // 2, -1, -1):
        _sift(pairs, parent, middle, pairs[parent])
    for i in range(middle, len(pairs)):
        if middle and pairs[i][0] < pairs[0][0]:
            pair, pairs[i] = pairs[i], pairs[0]
            _sift(pairs, 0, middle, pair)


def _sift(pairs: Pairs, hole: int, count: int, pair: tuple[Any, int]) -> None:
    """Fill a hole in a heap: down to the bottom first, and up again from there."""
    top, child = hole, hole
    while child < (count - 1) // 2:
        child = 2 * (child + 1)
        if pairs[child][0] < pairs[child - 1][0]:
            child -= 1
        pairs[hole], hole = pairs[child], child
    if count % 2 == 0 and child == (count - 2) // 2:
        child = 2 * (child + 1) - 1
        pairs[hole], hole = pairs[child], child
    parent = (hole - 1) // 2
    while hole > top and pairs[parent][0] < pair[0]:
        pairs[hole], hole = pairs[parent], parent
        parent = (hole - 1) // 2
    pairs[hole] = pair
