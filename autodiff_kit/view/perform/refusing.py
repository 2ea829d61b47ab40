"""Which backward passes cannot be performed: those in which operations run besides the rules.

After reading you can say what a learner is told of ``create_graph``, of hooks and of checkpoints.
Read next: ``context.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from autodiff_kit.record.events import Backward, Event, NodeRecord, RecordingData

__all__ = ["PerformError", "refuse_computing_backward"]


class PerformError(ValueError):
    """A recording that cannot be performed; the message says why, and what to do."""


def refuse_computing_backward(data: RecordingData) -> None:
    """Raise an error if an operation was recorded during a backward pass.

    Raises
    ------
    PerformError
        It says what has run there: the rules themselves, a hook or a checkpoint.
    """
    start: Backward | None = None
    last: Event | None = None
    for event in data["events"]:
        if event["kind"] == "backward":
            start = event
        elif event["kind"] in ("finish", "broken"):
            start = None
        elif event["kind"] == "op" and start is not None:
            _refuse(data, start, last, data["nodes"][event["node"]])
        if event["kind"] != "leaf":
            last = event


def _refuse(data: RecordingData, start: Backward, last: Event | None, node: NodeRecord) -> NoReturn:
    if not node["text"] and node["where"] == start["where"]:
        raise PerformError(
            "A backward pass that is recorded itself (create_graph=True) cannot be performed.\n"
            "-> Record without create_graph. Stepper(rec) shows such a pass."
        )
    text, place = f"`{node['text'] or node['op']}`", ""
    if node["where"]:
        first = data["sources"][node["where"][0]].get("first_line", 1)
        place = f" in line {node['where'][1] + first - 1}"
    if node.get("again"):
        raise PerformError(
            f"A checkpoint computes {text}{place} once more during the backward pass, and such a "
            "pass cannot be performed.\n"
            "-> Call the function without checkpoint: the gradients are the same. Stepper(rec) "
            "shows this pass."
        )
    is_packed = (
        last is not None
        and last["kind"] == "visit"
        and any(saved.get("by") == "hook" for saved in data["nodes"][last["node"]]["saved"])
    )
    if is_packed:
        raise PerformError(
            f"{text}{place} runs when a saved tensor is unpacked (saved_tensors_hooks), and a "
            "backward pass with such a hook cannot be performed.\n"
            "-> Record without saved_tensors_hooks. Stepper(rec) shows this pass."
        )
    raise PerformError(
        f"{text}{place} runs during the backward pass, in a hook, and such a pass cannot be "
        "performed.\n"
        "-> Record without the hook, such as register_hook. Stepper(rec) shows this pass."
    )
