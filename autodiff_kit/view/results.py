"""Which of several results of one node it has saved: ``lo`` of ``lo, hi = torch.aminmax(x)``.

After reading you know how a saved value, which PyTorch and the op table call by a name of their
own, is found among the results that the learner has names for. Read next: ``names.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from autodiff_kit.record.events import NodeRecord, RecordingData

__all__ = ["Results"]

# What the rules of ops with several results call these; of others, ``result1`` is the second.
_NAMES = {"aminmax": ("min", "max"), "linalg_svd": ("u", "s", "vh")}


class Results:
    """Knows the nodes that have several results.

    Parameters
    ----------
    recording : dict
        With ``nodes``.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._nodes: Sequence[NodeRecord] = recording["nodes"]

    def saved(self, node: int, name: str) -> int | None:
        """Return which of the results of a node one that it has saved is, if it has several."""
        record = self._nodes[node]
        several = self._several.get(record.get("part_of", node))
        if several is None:
            return None
        names = _NAMES.get(str(record["op"]), ())
        index = names.index(name) if name in names else 0 if name == "out" else -1
        if name.startswith("result"):
            index = int(name.removeprefix("result") or -1)
        return several.get(index)

    @cached_property
    def _several(self) -> dict[int, dict[int, int]]:
        """By the first result of a node that has several: these, by their numbers."""
        several: dict[int, dict[int, int]] = {}
        for record in self._nodes:
            if (first := record.get("part_of")) is not None:
                start = {self._nodes[first]["params"].get("index", 0): first}
                known = several.setdefault(first, start)
                known[record["params"].get("index", len(known))] = record["id"]
        return several
