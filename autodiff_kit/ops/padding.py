"""Borders made of the image itself: mirrored at its edge, or the edge repeated.

After reading this file you know that such a border is made by taking some elements more than once,
so that their gradients add up. Read next: ``pooling.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.core.op import OpFunction, Value
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import flat_in
from autodiff_kit.ops.gathering import index_add
from autodiff_kit.ops.layouts import zeros
from autodiff_kit.ops.table import op

__all__ = ["BORDERS"]


def _mirrored(places: Any, size: int) -> Any:
    return size - 1 - abs(size - 1 - abs(places))


def _nearest(places: Any, size: int) -> Any:
    return np.clip(places, 0, size - 1)


def _indices(shape: Ints, pad: Ints, choose: Callable[[Any, int], Any]) -> list[tuple[int, Any]]:
    """Return for each dimension that is padded which elements stand along it."""
    indices = []
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        dim = len(shape) - 1 - i
        indices.append((dim, choose(np.arange(-before, shape[dim] + after), shape[dim])))
    return indices


def _declare(name: str, node: str, choose: Callable[[Any, int], Any]) -> OpFunction:
    def border(x: Value, *, pad: Ints) -> Value:
        """Put a border around the last dimensions that is made of their own elements."""
        for dim, index in _indices(x.shape, pad, choose):
            x = np.take(x, index, dim)
        return x

    border.__name__ = name
    padding = op(f"{name}(x, pad)", tex=r"[\ldots, x, \ldots]", node=node, layout="rows")(border)

    @padding.vjp("x", tex=r"\textstyle\sum \bar z \text{ of the copies}")
    def _(g: Value, x: Value, pad: Ints) -> Value:  # its shape would do: PyTorch saves all of x
        for dim, index in _indices(x.shape, pad, choose):
            shape = (*g.shape[:dim], x.shape[dim], *g.shape[dim + 1 :])
            places = wrap(index) if hasattr(g, "_array") else index
            g = index_add(zeros(g, shape), places, g, dim=dim)
        return flat_in(g, x)

    return padding


# By PyTorch's name of the mode and the number of dimensions.
BORDERS = {
    (mode, rank): _declare(f"{name}_pad{rank}d", f"{name.title()}Pad{rank}DBackward0", choose)
    for mode, name, choose in (
        ("reflect", "reflection", _mirrored),
        ("replicate", "replication", _nearest),
    )
    for rank in (1, 2, 3)
}
