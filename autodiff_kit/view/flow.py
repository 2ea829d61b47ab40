"""Whether a gradient flows from an operation back to one of its inputs.

After reading you know why that is asked of an operation and its input together: a leaf may cease
to require a gradient, ``w.requires_grad_(False)``, or begin to, and each operation reads the leaf
as it was when it ran. Read next: ``outline.py``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from autodiff_kit.record.events import NodeNumber, RecordingData
from autodiff_kit.record.ledger import events_of

__all__ = ["Flow"]


class Flow:
    """Which inputs required a gradient when an operation read them.

    Parameters
    ----------
    recording : dict
        As ``Recording.to_dict`` returns it.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._nodes = recording["nodes"]
        # Of a leaf, the nodes that were made last before it changed, and what it was from then on.
        self._changes: dict[NodeNumber, list[tuple[NodeNumber, bool]]] = defaultdict(list)
        last = -1
        events = recording.get("events", ())
        if not any(events_of(events, "requires_grad")):
            return
        for event in events_of(events, "op", "requires_grad"):
            if event["kind"] == "op":
                last = max(last, event["node"])
            else:
                self._changes[event["node"]].append((last, event["requires_grad"]))

    def is_open(self, node: NodeNumber, source: NodeNumber) -> bool:
        """Return whether a gradient flows from ``node`` back to its input ``source``."""
        record = self._nodes[node]
        if not (record["recorded"] and self._nodes[source]["recorded"]):
            return False
        changes = self._changes.get(source)
        if not changes or record["kind"] == "leaf":
            return True
        count = bisect_left(changes, (node,))
        return changes[count - 1][1] if count else not changes[0][1]
