"""Which tensors look into the same storage, and what a change puts before all of them.

After reading this file you know why ``w.detach().mul_(2)`` is told of w, too, and why a loop that
keeps ``w.detach()`` of every round is recorded in time that grows with its rounds: tensors that
show the same elements are told of in one event. It serves the kit and PyTorch alike. Read next:
``kit_notes.py`` or ``torch_notes.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from autodiff_kit.record.changes import Changes, is_same
from autodiff_kit.record.events import Modified, Value
from autodiff_kit.record.source import Place

__all__ = ["Windows"]


class _Reference(weakref.ref[Any]):
    """A tensor that looks into a storage; it knows from where it is to be taken when it is gone."""

    __slots__ = ("key", "place", "windows")
    key: int  # its id
    place: _Alike
    windows: dict[int, tuple[_Reference, _Storage]]


class _Alike:
    """The tensors that show the same elements of a storage."""

    __slots__ = ("latest", "left", "nodes", "number", "pending", "tensors")

    def __init__(self) -> None:
        self.number = -1  # by which events know them, once one has named them
        self.tensors: dict[int, _Reference] = {}
        self.pending: dict[int, None] = {}  # those that no event has named yet
        self.nodes: dict[int, int] = {}  # of the others, what they are called there
        self.left: list[int] = []  # of those named, which are here no more
        self.latest: Value | None = None  # what was told of those named

    def add(self, reference: _Reference) -> None:
        self.tensors[reference.key] = reference
        self.pending[reference.key] = None

    def unname(self, key: int) -> None:
        """Name a tensor anew when the others change next: it was told of by itself."""
        number = self.nodes.pop(key, None)
        if number is not None:
            self.left.append(number)
            self.pending[key] = None

    def remove(self, key: int) -> None:
        self.unname(key)
        self.pending.pop(key, None)
        self.tensors.pop(key, None)


class _Single(_Alike):
    """Views in a graph: each may get a node of its own, and is told of by itself."""

    __slots__ = ()

    def unname(self, key: int) -> None:
        """Do nothing: none is named with others."""


class _Storage:
    """All tensors that look into one storage."""

    def __init__(self) -> None:
        self.alike: dict[Any, _Alike] = {}  # by which elements they show
        self.views = _Single()
        self.untracked: set[int] = set()  # the bases, by id, of views that are in no graph

    def references(self) -> list[_Reference]:
        groups = (*self.alike.values(), self.views)
        return [one for group in groups for one in group.tensors.values()]


class Windows(Changes):
    """Notes of what a change in place does to all that share a storage."""

    def __init__(self, limit: int, base: FrameType | None, kind: type) -> None:
        super().__init__(limit, base, kind)
        self._windows: dict[int, tuple[_Reference, _Storage]] = {}  # by a tensor's id
        self._named: list[_Alike] = []
        self._in_graph: dict[int, _Reference] = {}  # views, by id

    def _note_window(self, tensor: Any, other: Any) -> None:
        """Note that two tensors look into the same memory."""
        storage, second = self._storage_of(other), self._storage_of(tensor)
        if storage is None or second is None:
            storage = storage or second or _Storage()
        elif storage is not second:
            smaller, storage = sorted((storage, second), key=lambda s: len(s.references()))
            for reference in smaller.references():
                if (one := reference()) is not None:
                    self._look_into(one, storage)
        for one in (other, tensor):
            if self._storage_of(one) is not storage:
                self._look_into(one, storage)

    def _storage_of(self, tensor: Any) -> _Storage | None:
        reference, storage = self._windows.get(id(tensor), (None, None))
        return storage if reference is not None and reference() is tensor else None

    def _look_into(self, tensor: Any, storage: _Storage) -> None:
        """Put a tensor where its likes are, and take it from where it was."""
        key = id(tensor)
        before = self._windows.get(key)
        if before is not None:
            before[0].place.remove(key)
        reference = _Reference(tensor, _forget)
        base = tensor._base
        place: _Alike = storage.views
        if base is None or not base.requires_grad:
            elements = self._elements_of(tensor)
            alike = storage.alike.get(elements)
            if alike is None:
                alike = storage.alike[elements] = _Alike()
            place = alike
            if base is not None:
                storage.untracked.add(id(base))
        else:
            self._in_graph[key] = reference
        reference.key, reference.place, reference.windows = key, place, self._windows
        place.add(reference)
        self._windows[key] = reference, storage

    def _graph_views(self) -> Iterator[Any]:
        """Yield the views of what is in a graph."""
        for key, reference in tuple(self._in_graph.items()):
            view = reference()
            if view is None:
                del self._in_graph[key]
            else:
                yield view

    def _name_again(self, tensor: Any) -> None:
        """Note that a tensor may have another number now."""
        if self._storage_of(tensor) is not None:
            self._windows[id(tensor)][0].place.unname(id(tensor))

    def _tell_windows(self, tensor: Any, how: str, place: Place) -> None:
        """Note what a change has put before all others that look into the same memory."""
        base = tensor._base
        if base is not None:  # it may be older than the recording
            self._note_window(tensor, base)
        storage = self._storage_of(tensor)
        if storage is None:
            return
        if storage.untracked:
            for one in (tensor, base):
                if id(one) in storage.untracked and one.requires_grad:
                    storage.untracked.discard(id(one))
                    for reference in storage.references():
                        if (other := reference()) is not None and other._base is one:
                            self._look_into(other, storage)
        self._look_into(tensor, storage)  # it may show other elements now, and have another number
        for alike in tuple(storage.alike.values()):
            self._tell_alike(alike, tensor, how, place)
        for reference in tuple(storage.views.tensors.values()):
            other = reference()
            if other is None or other is tensor or not self._shares_memory(other, tensor):
                continue
            number = None if self._is_seen_anew(other) else self._known(other)
            if number is not None:
                before = self._value_of(number)
                if not is_same(self._value(other), before):
                    self._tell_change(number, how, other, place)

    def _tell_alike(self, alike: _Alike, tensor: Any, how: str, place: Place) -> None:
        """Note in one event what all tensors hold that show the same elements."""
        joined: list[int] = []
        new: list[tuple[int, int]] = []
        other: Any = None
        for key in tuple(alike.pending):
            one = alike.tensors[key]()
            if one is None or one is tensor:
                continue
            number = None if self._is_seen_anew(one) else self._known(one)
            if number is not None:
                new.append((key, number))
                joined.append(number)
                other = one if other is None else other
        if other is None:
            latest = next(iter(alike.nodes), None)
            other = None if latest is None else alike.tensors[latest]()
            if other is None:
                return
            before = alike.latest
        else:
            before = self._value_of(joined[0])
        if not self._shares_memory(other, tensor):
            return
        value = self._value(other)
        if before is not None and is_same(value, before):
            return
        if alike.number < 0:
            alike.number = len(self._named)
            self._named.append(alike)
        alike.nodes.update(new)
        for key, _ in new:
            del alike.pending[key]
        alike.latest = value
        change: Modified = {
            "kind": "modified",
            "node": joined[0] if joined else next(iter(alike.nodes.values())),
            "how": how,
            "value": value,
            "where": place.where,
            "scope": self._scopes.now(),
            "storage": alike.number,
            "joined": joined,
            "left": alike.left,
        }
        alike.left = []
        self._events.append(change)
        for key in alike.tensors.keys() & self._gradient_of.keys():
            one = alike.tensors[key]()
            if one is not tensor and (leaf := self._holder(one)) is not None:
                self._tell_grad(leaf, one, how, place)

    def _has_told(self, event: Modified, number: int) -> bool:
        if "storage" in event:
            return number in self._named[event["storage"]].nodes.values()
        return super()._has_told(event, number)

    def _complete(self) -> None:
        self._windows.clear()
        self._in_graph.clear()
        super()._complete()

    def _elements_of(self, tensor: Any) -> Any:
        """Return what tells which elements of its storage a tensor shows."""
        raise NotImplementedError

    def _shares_memory(self, tensor: Any, other: Any) -> bool:
        """Return whether two tensors look into the same memory."""
        raise NotImplementedError

    def _is_seen_anew(self, view: Any) -> bool:
        """Return whether a view gets another node, and so is told anew, once it is used."""
        raise NotImplementedError


def _forget(reference: _Reference) -> None:
    """Take a tensor that is gone from where it was."""
    key, place, windows = reference.key, reference.place, reference.windows
    if place.tensors.get(key) is reference:
        place.remove(key)
    if windows.get(key, (None,))[0] is reference:
        del windows[key]
