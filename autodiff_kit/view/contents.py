"""What tensors hold after changes in place, at one moment of a recording.

After reading this file you know how a change of a storage is known of all tensors that look into
it, although the recording tells it once. Read next: ``steps.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autodiff_kit.record.events import Event, Modified, NodeRecord, Requirement, Value
from autodiff_kit.record.ledger import events_of

__all__ = ["Contents", "Holder", "operands_then", "requirements"]


def requirements(events: Sequence[Event]) -> dict[int, list[Requirement]]:
    """Return by node what has set its requires_grad after it was made."""
    changes: dict[int, list[Requirement]] = {}
    for event in events_of(events, "requires_grad"):
        changes.setdefault(event["node"], []).append(event)
    return changes


Holder = Mapping[str, Any]  # an event, or other data, with a ``value``


class Contents:
    """The latest values of the tensors that were changed in place.

    Parameters
    ----------
    rank : function, optional
        Of a tensor's node, a key of what is to be named of those that share a storage: one node of
        each key is, and of the key None, no node.
    """

    def __init__(self, rank: Callable[[int], Any] = lambda node: None) -> None:
        # Of each, what says its value, which is described once it is read.
        self._own: dict[int, Holder] = {}
        self._storage: dict[int, int] = {}  # node -> the storage that it looks into
        self._shared: dict[int, Holder] = {}  # by storage
        self._nodes: dict[int, dict[int, None]] = {}  # by storage
        self._rank = rank
        self._ranked: dict[int, dict[Any, int]] = {}  # by storage

    def __contains__(self, node: int) -> bool:
        return node in self._storage or node in self._own

    def get(self, node: int) -> Value | None:
        """Return what a tensor holds since it was changed; None if it never was."""
        holder = self.holder(node)
        return None if holder is None else holder["value"]

    def holder(self, node: int) -> Holder | None:
        """Return what says what a tensor holds since it was changed; None if it never was."""
        storage = self._storage.get(node)
        return self._own.get(node) if storage is None else self._shared[storage]

    def __setitem__(self, node: int, value: Value) -> None:
        self._hold(node, {"value": value})

    def _hold(self, node: int, holder: Holder) -> None:
        self._leave(node)
        self._own[node] = holder

    def change(self, event: Modified) -> None:
        """Note what is in a tensor now, or in all that show the same elements of a storage."""
        if "storage" not in event:
            self._hold(event["node"], event)
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
        self._shared[storage] = event

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


def operands_then(
    nodes: Sequence[NodeRecord], events: Sequence[Event]
) -> dict[tuple[int, int], tuple[Holder | None, bool]]:
    """Return by op and input what says its value when the op ran, and if it is overwritten later.

    Only what is changed in place is there; None stands for the value that it was made with.
    """
    changes: dict[int, int] = {}  # new node -> the one whose value it overwrote
    for event in events_of(events, "modified"):
        for node in (event["node"], *event.get("joined", ())):
            inputs = nodes[node].get("inputs", ())
            changes[node] = inputs[0].get("node", -1) if inputs else node
    touched = {*changes, *changes.values()}
    now = Contents()
    users: dict[int, list[int]] = {}
    then: dict[tuple[int, int], tuple[Holder | None, bool]] = {}
    for event in events_of(events, "op", "modified") if touched else ():
        if event["kind"] == "op":
            for source in nodes[event["node"]]["inputs"]:
                if (read := source.get("node")) in touched:
                    users.setdefault(read, []).append(event["node"])
                    then[event["node"], read] = now.holder(read), False
        else:
            now.change(event)
            new = {changes[node]: node for node in (event["node"], *event.get("joined", ()))}
            new |= {changed: changed for changed in users.keys() & now.sharing(event).keys()}
            for changed, node in new.items():
                for user in users.pop(changed, ()):  # so of a training loop none is met twice
                    then[user, changed] = then[user, changed][0], True
                if (own := (node, changed)) in then:  # it has read what was there before
                    then[own], users[changed] = (then[own][0], False), [node]
    return then
