"""What a picture is called: by what its recording computes.

After reading you can say where ``"Computation graph of loss"`` comes from. Read next: ``scene.py``.
"""

from __future__ import annotations

from autodiff_kit.record.events import RecordingData

__all__ = ["title_of"]


def title_of(recording: RecordingData) -> str:
    """Name what is computed: where backward starts, else what nothing was made from."""
    nodes = recording["nodes"]
    results = [r for e in recording["events"] if e["kind"] == "backward" for r in e["roots"]]
    if not results:
        used = {i["node"] for n in nodes for i in n.get("inputs", ()) if "node" in i}
        results = [n["id"] for n in nodes if n["kind"] == "op" and n["id"] not in used]
    named = list(dict.fromkeys(name for n in results if (name := nodes[n]["name"])))
    if not named:
        return "Computation graph"
    if len(named) > 3:
        if len({name.rstrip("0123456789") for name in named}) == 1:  # of one loop
            name = named[0].rstrip("0123456789")
            return f"Computation graph of {name}, assigned {len(named)} times"
        return f"Computation graph of {named[0]}, {named[1]} and {len(named) - 2} more"
    return f"Computation graph of {', '.join(named)}"
