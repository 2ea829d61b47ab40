"""Which arrows say what role their operand has: the left and the right one of a difference.

After reading you can say why an arrow has a word at its head. Read next: ``labels.py``.
"""

from __future__ import annotations

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.labels import role
from autodiff_kit.view.outline import Outline
from autodiff_kit.view.written import COMMUTE

__all__ = ["role_labels"]


def role_labels(recording: RecordingData, outline: Outline) -> dict[str, str]:
    """Return the arrows whose role matters, and which it is: `x - y`, but not `x + y`."""
    nodes, ops = recording["nodes"], recording["ops"]
    labels = {}
    for (node, _), edge in outline.edge_at.items():
        record = nodes[node]
        if not edge.arg or record["op"] in COMMUTE:
            continue
        if sum("node" in i for i in record["inputs"]) > 1:
            label = role(ops[str(record["op"])]["text"], edge.arg)
            if label:
                labels[edge.id] = label
    return labels
