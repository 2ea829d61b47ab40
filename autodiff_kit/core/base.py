"""What a tensor holds, and the numbers that order a graph: what all of the core builds on.

After reading this file you know that a tensor is an array, the node that made it, and a place for
a gradient. Its operators stand above the ops, in ``tensor.py``; that registers its class here, so
that nothing below has to import it. Read next: ``ops/table.py``.
"""

from __future__ import annotations

import itertools
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

__all__ = ["ARRAYS", "INFERENCE", "TensorBase", "hook_count", "last_change", "next_number"]
__all__ += ["register", "wrap"]

ARRAYS = (np.ndarray, np.generic)  # a tuple: isinstance takes twice as long with a union

# Nodes and changes in place are numbered as they happen: what is younger has a higher number.
next_number = itertools.count().__next__
# When the latest change in place happened. It cannot have harmed what a younger node has saved, so
# backward looks closer at older nodes only: one comparison per node.
last_change = SimpleNamespace(number=-1)
# How many nodes have been given hooks. While none has, no code can see when a leaf is reached.
hook_count = SimpleNamespace(number=0)
INFERENCE: Final[Any] = object()  # stands in ``_changes`` of tensors made under inference_mode


class TensorBase:
    """The slots of a ``Tensor``.

    Attributes
    ----------
    _array : numpy.ndarray or NumPy scalar
        The values; of a 0-d tensor a scalar, seven times faster, until its memory is shared.
    _node : Node or None
        The node that made it; for a leaf that requires grad, the node that accumulates into it.
        None means: no gradient wanted. So this one slot is ``requires_grad``, too.
    _grad : Tensor or None
    _changes : object or None
        ``INFERENCE`` if changes are not counted; else they are, by memory (``versions.py``).
    _base : Tensor or None
        The tensor whose memory this one looks into: then it is a view.
    _views : set of weak references, or None
        The tensors that look into this one's memory, and into that of what is detached from it.
    _kind, _latest_change : str, int
        Of a view: the manner in which it was made; the latest change that its node knows of.
    _stale_node : Node or None
        Of a view whose base was changed: its node before. ``_node`` is unset until it is read.
    _accumulator : AccumulateGrad, of a leaf that requires grad no more; it may have hooks
    """

    __slots__ = (
        *("__weakref__", "_accumulator", "_array", "_base", "_changes", "_grad", "_kind", "_node"),
        *("_latest_change", "_stale_node", "_views"),
    )

    _array: Any
    _node: Any
    _grad: Any
    _changes: Any
    _base: Any
    _views: set[weakref.ref[Any]] | None
    _kind: str
    _latest_change: int
    _stale_node: Any
    _accumulator: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Everything else stands in ``tensor.py``."""


_class: type[Any] = TensorBase


def register(kind: type[Any]) -> None:
    """Let ``wrap`` make tensors of this class."""
    global _class
    _class = kind


def wrap(array: Any, node: Any = None) -> Any:
    """Make a Tensor around an array without copying: the constructor that ops use."""
    tensor = object.__new__(_class)
    tensor._array = array
    tensor._node = node
    tensor._grad = tensor._changes = tensor._base = tensor._views = None
    return tensor
