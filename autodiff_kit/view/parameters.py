"""The parameters that a folded box hides, and how large their gradients are together.

After reading you can say what the box of a module tells of its parameters: how many numbers they
are, and the norm of their gradients, which is the length of the vector of all of them. Read next:
``box_texts.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot, inf, isinf, prod
from typing import Any

import numpy as np

from autodiff_kit.record.events import NodeRecord, Value
from autodiff_kit.record.numbers import as_arrays
from autodiff_kit.view.outline import Box
from autodiff_kit.view.values import number

__all__ = ["norm", "parameters_of", "size_of"]


def parameters_of(box: Box, nodes: Sequence[NodeRecord]) -> list[int]:
    """Return the parameters that a folded box hides: of modules, or all that it stands for."""
    if box.kind != "fold":
        return []
    return [
        n
        for n in box.leaves
        if nodes[n]["requires_grad"]
        and (not box.ops or nodes[n].get("part", "").startswith("parameter"))
    ]


def size_of(leaves: Iterable[int], nodes: Sequence[NodeRecord]) -> int:
    """Return how many numbers some leaves hold."""
    return sum(prod(nodes[n]["value"]["shape"]) for n in leaves)


def norm(values: Iterable[Value]) -> str:
    """Return the Euclidean norm of all elements of some tensors, as a box shows it.

    Of a large tensor a recording knows the mean and the standard deviation: the mean of the squares
    is the sum of their squares.

    Examples
    --------
    >>> norm([{"shape": [2], "dtype": "float32", "data": [3.0, 4.0]}])
    '5.'
    """
    sizes: list[float] = []
    small: list[Value] = []
    for value in values:
        stats = value.get("stats")
        if stats is None:
            small.append(value)
        elif stats["nan"] or stats["inf"]:
            sizes.append(float("nan" if stats["nan"] else "inf"))
        else:
            count = prod(value["shape"])
            sizes.append(count**0.5 * hypot(float(stats["mean"]), float(stats["std"])))
    if small:
        sizes.append(_length(np.concatenate(as_arrays(small))))
    return number(hypot(*sizes))


def _length(elements: Any) -> float:
    """Return the length of a vector; infinite if one of its elements is."""
    largest = float(np.max(np.abs(elements), initial=0.0))
    if isinf(largest) or np.isinf(elements).any():
        return inf
    scale = largest or 1.0  # squares of what floats can hold may be more than they can
    return scale * float(np.sqrt(np.sum((elements / scale) ** 2)))
