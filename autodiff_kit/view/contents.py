"""What tensors hold after changes in place, at one moment of a recording.

After reading this file you know how a change of a storage is known of all tensors that look into
it, although the recording tells it once. Read next: ``steps.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autodiff_kit.record.events import Event, Modified, Requirement, Value

__all__ = ["Contents", "requirements"]


def requirements(events: Sequence[Event]) -> dict[int, list[Requirement]]:
    """Return by node what has set its requires_grad after it was made."""
    changes: dict[int, list[Requirement]] = {}
    for event in events:
        if event["kind"] == "requires_grad":
            changes.setdefault(event["node"], []).append(event)
    return changes


class Contents:
    """The latest values of the tensors that were changed in place.

    Parameters
    ----------
    rank : function, optional
        Of a tensor's node, a key of what is to be named of those that share a storage: one node of
        each key is, and of the key None, no node.
    """

    def __init__(self, rank: Callable[[int], Any] = lambda node: None) -> None:
        self._own: dict[int, Value] = {}
        self._storage: dict[int, int] = {}  # node -> the storage that it looks into
        self._shared: dict[int, Value] = {}  # by storage
        self._nodes: dict[int, dict[int, None]] = {}  # by storage
        self._rank = rank
        self._ranked: dict[int, dict[Any, int]] = {}  # by storage

    def __contains__(self, node: int) -> bool:
        return node in self._storage or node in self._own

    def get(self, node: int) -> Value | None:
        """Return what a tensor holds since it was changed; None if it never was."""
        storage = self._storage.get(node)
        return self._own.get(node) if storage is None else self._shared[storage]

    def __setitem__(self, node: int, value: Value) -> None:
        self._leave(node)
        self._own[node] = value

    def change(self, event: Modified) -> None:
        """Note what is in a tensor now, or in all that show the same elements of a storage."""
        if "storage" not in event:
            self[event["node"]] = event["value"]
            return
        storage = event["storage"]
        nodes = self._nodes.setdefault(storage, {})
        for node in event["left"]:
            if self._storage.get(node) == storage:
                self._own[node] = self._shared[storage]
                self._leave(node)
        for node in event["joined"]:
            self._leave(node)
            self._storage[node] = storage
            nodes[node] = None
            self._put(storage, node)
        self._shared[storage] = event["value"]

    def sharing(self, event: Modified) -> dict[int, None]:
        """Return the nodes of a change; of one that was noted."""
        return self._nodes[event["storage"]] if "storage" in event else {event["node"]: None}

    def ranked(self, event: Modified) -> Iterable[int]:
        """Return one of these nodes for each key."""
        return self._ranked.get(event["storage"], {}).values() if "storage" in event else ()

    def _put(self, storage: int, node: int) -> None:
        rank = self._rank(node)
        if rank is not None:
            self._ranked.setdefault(storage, {})[rank] = node

    def _leave(self, node: int) -> None:
        storage = self._storage.pop(node, None)
        if storage is None:
            return
        del self._nodes[storage][node]
        rank = self._rank(node)
        if self._ranked.get(storage, {}).get(rank) == node:
            del self._ranked[storage][rank]
