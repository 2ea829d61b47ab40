"""A tensor's memory: who shares it, and when it was changed in place (version counters).

After reading this file you know what ``x._version`` counts. What a node has saved may be changed
before its rules read it, and then they would compute with wrong numbers. So changes in place are
noted, by the memory that they write to: tensors that share memory share its version, and a graph
whose tensors are left alone pays nothing for this. A tensor's memory is the array at the end of the
chain of ``array.base``; what shall count for itself, as ``x.data`` does, gets an array of its own
over the same bytes (``on_own_counter``). The NumPy scalar of a 0-d tensor becomes an array when
its memory is shared (``share``). Read next: ``node.py``.
"""

from __future__ import annotations

import weakref
from sys import getrefcount
from typing import Any

import numpy as np

from autodiff_kit.core.base import TensorBase, last_change, next_number

__all__ = [
    "Changes",
    "array_of",
    "changes_of",
    "count_with",
    "is_exported",
    "memory_of",
    "note_change",
]
__all__ += ["note_change", "note_detached", "note_maker", "note_replaced", "on_own_counter"]
__all__ += ["on_own_storage", "share", "what_became_of", "writable"]


class Changes(list[int]):
    """The changes of one memory: their numbers, between those of the nodes before and after.

    Attributes
    ----------
    dropped : int
        How many older ones are no longer in the list, which is kept short.
    node_name : str
        What the tensor is the output of since the latest change; for the error message.
    detached : list of (int, int)
        The arrays, by their id, whose tensors ``detach_`` has cut out of the graph, and when.
    replaced : list of (int, int, numpy.ndarray or weak reference)
        The arrays, by their id, that ``x.data = ...`` has taken from a tensor, when, and what the
        tensor has instead; also NumPy scalars that have moved to arrays.
    holds : dict
        By key of the entry, what keeps that alive, or tells when the memory goes.
    converted : dict
        By key of an entry that counts with these, the array that it was converted from.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dropped, self.node_name = 0, ""
        self.detached: list[tuple[int, int]] = []
        self.replaced: list[tuple[int, int, Any]] = []
        self.holds: dict[int, Any] = {}
        self.converted: dict[int, Any] = {}

    def note(self, number: int, node_name: str | None) -> None:
        """Add a change."""
        if number > last_change.number:
            last_change.number = number
        self.append(number)
        if node_name is not None:
            self.node_name = node_name
        if len(self) > 1000:
            self.dropped += 500
            del self[:500]

    def version(self, number: float = float("inf")) -> int:
        """Return how many changes there were before the node of this number."""
        return self.dropped + sum(change < number for change in self)


_changes: dict[int, Changes] = {}  # by the id of the memory; goes with it
_outliving: dict[int, Any] = {}  # NumPy scalars, changed since, that nodes may have; by id


def memory_of(array: Any) -> Any:
    """Return the array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def changes_of(value: Any) -> Changes | None:
    """Return the changes of the memory of an array or NumPy scalar; None if there were none."""
    return _changes.get(id(memory_of(value) if isinstance(value, np.ndarray) else value))


def note_change(
    array: np.ndarray[Any, Any], number: int | None = None, name: str | None = None
) -> None:
    """Note that memory was changed in place.

    Parameters
    ----------
    array : numpy.ndarray
    number : int, optional
        When, as a creation number of nodes; default: now.
    name : str, optional
        Of the node that the tensor is the output of since then; default: of the same as before.
    """
    memory = array if array.base is None else memory_of(array)
    changes = _changes.get(id(memory))
    if changes is None:
        changes = _begin(memory)
    changes.note(next_number() if number is None else number, name)


def note_maker(array: np.ndarray[Any, Any], name: str) -> None:
    """Note of which node a tensor has become the output of since its memory was changed."""
    changes = changes_of(array)
    if changes is not None:
        changes.node_name = name


def note_detached(value: Any) -> None:
    """Note that the tensor whose array or NumPy scalar this is was cut out of the graph."""
    changes = changes_of(value)
    if changes is None and isinstance(value, np.ndarray):
        changes = _begin(memory_of(value))
    if changes is not None:  # no node can have saved a NumPy scalar without any
        last_change.number = next_number()
        changes.node_name = ""
        changes.detached += [(i, last_change.number) for i in _ids_of(value, changes)]


def note_replaced(old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> None:
    """Note that a tensor has ``new``, which counts for itself, in place of ``old``.

    The tensor goes on counting: what it shared its counter with shares it still.
    """
    changes = changes_of(old)
    changes = _begin(memory_of(old)) if changes is None else changes
    _enter(changes, memory_of(new))
    last_change.number = next_number()
    changes.replaced += [(i, last_change.number, new) for i in _ids_of(old, changes)]


def _ids_of(array: Any, changes: Changes) -> list[int]:
    """Return the id of an array, and that of the NumPy scalar that it may have been before."""
    successors = [(i, now) for i, _, now in changes.replaced if isinstance(now, weakref.ref)]
    return [id(array), *(i for i, now in successors if now() is array)]


def count_with(array: np.ndarray[Any, Any], original: Any) -> None:
    """Let changes of ``original`` count for ``array``, which was converted from that."""
    if isinstance(original, np.ndarray):
        changes = changes_of(original)
        changes = _begin(memory_of(original)) if changes is None else changes
        memory = memory_of(array)
        _enter(changes, memory)
        changes.converted[id(memory)] = original


def array_of(scalar: Any) -> np.ndarray[Any, Any]:
    """Return the array that a 0-d tensor, whose memory is to be shared, has in place of a scalar.

    Nodes may have saved the scalar: changes of the array count for it, and the tensors that they
    make of it are given the same array.
    """
    old = id(scalar)
    for key, _, now in getattr(_changes.get(old), "replaced", ()):
        living = now() if key == old and isinstance(now, weakref.ref) else None
        if living is not None:
            return living
    array = np.array(scalar)
    new = id(array)
    for key in [key for key in tuple(_outliving) if getrefcount(_outliving.get(key)) < 3]:
        _outliving.pop(key, None)  # no node has it any more; other threads come here, too
        _changes.pop(key, None)

    def forget(_: Any) -> None:
        _changes.pop(new, None)
        old_scalar = changes.holds.pop(old)
        if changes or changes.detached or len(changes.replaced) > 1:
            _outliving[old] = old_scalar
        else:
            _changes.pop(old, None)

    changes = Changes()
    changes.holds = {old: scalar, new: weakref.ref(array, forget)}
    last_change.number = next_number()
    changes.replaced.append((old, last_change.number, changes.holds[new]))
    _changes[old] = _changes[new] = changes
    return array


def share(tensor: TensorBase) -> np.ndarray[Any, Any]:
    """Return the tensor's memory as an array that others may hold and change, too."""
    array = tensor._array
    if isinstance(array, np.ndarray):
        return array
    # If there is another reference to it, perhaps a node has saved it. (True and False are one
    # object each, which all have: nothing can be told from that.)
    is_saved = array.dtype.kind != "b" and getrefcount(array) > 3
    tensor._array = array_of(array) if is_saved else np.array(array)
    return tensor._array


def writable(tensor: TensorBase) -> np.ndarray[Any, Any]:
    """Return the tensor's memory to be written to, also where elements share a place in it."""
    array = share(tensor)
    if not array.flags.writeable:
        array.flags.writeable = True  # NumPy marks expanded arrays; ValueError for a constant
    return array


def on_own_counter(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array of the same bytes whose changes are not counted with those of ``array``."""
    # The base of what is made of a memoryview is that, and no array: there the chain ends.
    if array.flags.c_contiguous and array.size:  # a third of the time
        return np.frombuffer(memoryview(array), array.dtype).reshape(array.shape)  # type: ignore[arg-type]
    return np.asarray(memoryview(array))  # type: ignore[arg-type]


class _Exporter:
    """Stands between a tensor and an array of NumPy's whose memory it uses: two storages."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.__array_interface__, self._array = array.__array_interface__, array


def on_own_storage(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array of the same bytes that counts for itself and is not told to share them."""
    return np.asarray(_Exporter(array))


def is_exported(array: np.ndarray[Any, Any]) -> bool:
    """Return whether the memory of an array is that of an array of NumPy's."""
    return isinstance(array.base, _Exporter)


def _begin(memory: np.ndarray[Any, Any]) -> Changes:
    """Begin to count the changes of a storage."""
    changes = Changes()
    _enter(changes, memory)
    return changes


def _enter(changes: Changes, memory: np.ndarray[Any, Any]) -> None:
    """Let ``changes`` be those of ``memory``, as long as that lives."""
    key = id(memory)

    def forget(_: Any) -> None:
        _changes.pop(key, None)
        changes.holds.pop(key, None)
        changes.converted.pop(key, None)

    _changes[key] = changes
    changes.holds[key] = weakref.ref(memory, forget)


def what_became_of(value: Any, number: int, changes: Changes, is_output: bool) -> tuple[Any, bool]:
    """Look for what was done, besides changes, to the tensor whose array a node has saved.

    ``number`` is that of the node. Return the array that it goes on with, another one where
    ``x.data = ...`` has replaced it, and whether the tensor was detached in place.
    """
    own = id(value)
    for array, when, new in changes.replaced:
        is_moved = isinstance(new, weakref.ref)  # as an output may be, too
        if array == own and when > number and (is_moved or not is_output):
            new = new() if is_moved else new
            value = value if new is None else new
    is_detached = any(i == own and when > number for i, when in changes.detached)
    return value, is_detached and not is_output
