"""What a picture is called: by what its recording computes.

After reading you can say where ``"Computation graph of loss"`` comes from. Read next: ``scene.py``.
"""

from __future__ import annotations

from autodiff_kit.record.events import NodeRecord, RecordingData
from autodiff_kit.record.ledger import events_of
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.subscripts import variable_of

__all__ = ["title_of"]

LONGEST = 32  # characters of an expression


def title_of(recording: RecordingData) -> str:
    """Name what is computed: where backward starts, else what nothing was made from."""
    nodes = recording["nodes"]
    results = [r for e in events_of(recording["events"], "backward") for r in e["roots"]]
    if not results:
        input_numbers = {i["node"] for n in nodes for i in n.get("inputs", ()) if "node" in i}
        results = [n["id"] for n in nodes if n["kind"] == "op" and n["id"] not in input_numbers]
    variables = {name: variable_of(nodes[n]) for n in results if (name := nodes[n]["name"])}
    if len(results) == 1 and (only := _called(nodes[results[0]])):
        return f"Computation graph of {only}"
    if not variables:
        return "Computation graph"
    if len(variables) > 3:
        if len({*variables.values()}) == 1:  # of one loop
            count, (_, variable) = len(variables), variables.popitem()
            return f"Computation graph of {variable}, assigned {count} times"
        first, second, *rest = variables
        return f"Computation graph of {first}, {second} and {len(rest)} more"
    return f"Computation graph of {', '.join(variables)}"


def _called(node: NodeRecord) -> str:
    """Return what the code calls a result, ``y`` and not ``y3``, or else its expression."""
    return variable_of(node) if node["name"] else in_short(node["text"], LONGEST)
