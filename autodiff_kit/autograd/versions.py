"""Version counters: which memory was changed in place, and when.

After reading this file you know what ``x._version`` counts. What a node has saved may be changed
before its rules read it, and then they would compute with wrong numbers. So changes in place are
noted, by the memory that they write to: tensors that share memory share its version, and a graph
whose tensors are left alone pays nothing for this. Read next: ``node.py``.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

__all__ = ["Changes", "changes_of", "last_change", "note_change", "note_moved"]

next_number = (
    itertools.count().__next__
)  # of nodes and of changes: what is younger has a higher one


class LastChange:
    """When the latest change in place happened.

    A node that is younger cannot have saved what was changed since, so backward looks closer at
    older nodes only: one comparison per node.
    """

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = -1


last_change = LastChange()


class Changes(list[int]):
    """The changes of one memory: their numbers, between those of the nodes before and after.

    Attributes
    ----------
    dropped : int
        How many older ones are no longer in the list, which is kept short.
    node_name : str
        What the tensor is the output of since the latest change; for the error message.
    holds : object
        What keeps the entry's keys alive, or tells when the memory goes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dropped, self.node_name = 0, ""
        self.holds: tuple[Any, ...] = ()

    def note(self, number: int, node_name: str) -> None:
        """Add a change."""
        if number > last_change.number:
            last_change.number = number
        self.append(number)
        self.node_name = node_name
        if len(self) > 1000:
            self.dropped += 500
            del self[:500]

    def version(self, number: float = float("inf")) -> int:
        """Return how many changes there were before the node of this number."""
        return self.dropped + sum(change < number for change in self)


_changes: dict[int, Changes] = {}  # by the id of the memory; goes with it


def _memory_of(array: Any) -> Any:
    """Return the array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def changes_of(value: Any) -> Changes | None:
    """Return the changes of the memory of an array or NumPy scalar; None if there were none."""
    return _changes.get(id(_memory_of(value) if isinstance(value, np.ndarray) else value))


def note_change(array: np.ndarray[Any, Any], number: int | None = None, name: str = "") -> None:
    """Note that memory was changed in place.

    Parameters
    ----------
    array : numpy.ndarray
    number : int, optional
        When, as a creation number of nodes; default: now.
    name : str
        Of the node that the tensor is the output of since then.
    """
    memory = array if array.base is None else _memory_of(array)
    changes = _changes.get(id(memory))
    if changes is None:
        key = id(memory)
        _changes[key] = changes = Changes()
        changes.holds = (weakref.ref(memory, lambda _: _changes.pop(key, None)),)
    changes.note(next_number() if number is None else number, name)


def note_moved(scalar: Any, array: np.ndarray[Any, Any]) -> None:
    """Note that a 0-d tensor, about to change, has its value in an array from now on.

    Nodes may have saved the NumPy scalar that it was before: changes of the array count for it.
    """
    old, new = id(scalar), id(array)

    def forget(_: Any) -> None:
        _changes.pop(old, None)
        _changes.pop(new, None)

    changes = Changes()
    changes.holds = (scalar, weakref.ref(array, forget))
    _changes[old] = _changes[new] = changes
