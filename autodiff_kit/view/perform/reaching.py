"""Why a gradient does not come to a node, or is not in ``.grad`` at the end.

After reading you can tell apart: there is no path; a path leads there, but the pass was asked for
the gradients of other tensors; an error ended it; ``autograd.grad`` returned the gradient and added
nothing; a line cleared ``.grad``. Read next: ``afterwards.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from autodiff_kit.record.events import Backward, Result
from autodiff_kit.view.perform.building import why_closed
from autodiff_kit.view.perform.context import Context, code

__all__ = ["Reason", "passes", "why_no_path", "why_none", "why_passed_by"]


class Reason(NamedTuple):
    """Why there is no gradient, and the misconception of those who think there is one."""

    text: str
    misconception: str = ""
    has_path: bool = True  # whether one leads to the node from where a pass began


class PassRecord(NamedTuple):
    """A backward pass as recorded."""

    start: Backward
    is_finished: bool
    results: list[Result]  # what autograd.grad returned
    filled: list[int]  # whose .grad it has added to


def passes(context: Context) -> list[PassRecord]:
    """Return all backward passes, in their order."""
    records: list[PassRecord] = []
    for event in context.events:
        if event["kind"] == "backward":
            records.append(PassRecord(event, False, [], []))
        elif event["kind"] == "accumulate" and records:
            records[-1].filled.append(event["node"])
        elif event["kind"] == "finish" and records:
            results = event.get("results", [])
            records[-1] = records[-1]._replace(is_finished=True, results=results)
    return records


def why_none(context: Context, node: int) -> Reason:
    """Return why the ``.grad`` of a leaf is None at the end."""
    name, is_there, text = context.name(node), False, ""
    for event in context.events:
        if event["kind"] == "accumulate" and event["node"] == node:
            is_there = True
        elif event["kind"] == "grad" and event["node"] == node:
            if is_there and event["grad"] is None:
                text = f"{context.line(event['where'])}`{name}.grad` is set to `None`, and no "
                text += "backward pass adds to it after that."
            is_there = event["grad"] is not None
    if text:
        return Reason(text)
    if not context.nodes[node]["requires_grad"]:
        return Reason(*why_closed(context, node), has_path=False)
    records = passes(context)
    for record in records:
        result = next((r for r in record.results if r["of"] == node), None)
        if result:
            call = result.get("by", "autograd.grad")
            text = f"`{call}` returns the gradient of `{name}`, and adds nothing to `{name}.grad`."
            return Reason(text)
    for record in records:
        if _leads(context, record.start["roots"], node, is_open=True):
            return Reason(_passed_by(context, record, node))
    roots = dict.fromkeys(root for record in records for root in record.start["roots"])
    return why_no_path(context, [*roots], node)


def why_passed_by(context: Context, number: int, node: int) -> Reason:
    """Return why a node that requires a gradient gets none in one of the passes."""
    record = passes(context)[number]
    roots = record.start["roots"]
    if _leads(context, roots, node, is_open=True):
        return Reason(_passed_by(context, record, node))
    root = code(*map(context.name, roots[:1]))
    text = f"No path leads from {root} to `{context.name(node)}`: no gradient arrives."
    return Reason(text, has_path=False)


def why_no_path(context: Context, roots: Sequence[int], node: int) -> Reason:
    """Return where the way to a leaf is closed, or that there is none."""
    name, path = context.name(node), [node]
    for source in path:
        for record in context.nodes:
            if source in context.tensors(record) and record["id"] not in path:
                if record["requires_grad"]:
                    path.append(record["id"])
                elif _leads(context, roots, record["id"], is_open=False):
                    return Reason(*why_closed(context, record["id"]), has_path=False)
    begin = code(*map(context.name, roots))
    begin = begin if len(roots) == 1 else f"any of {begin}"
    return Reason(f"No path leads from {begin} to `{name}`.", has_path=False)


def _passed_by(context: Context, record: PassRecord, node: int) -> str:
    name = context.name(node)
    if not record.is_finished:
        return f"An error ended the backward pass before a gradient came to `{name}`."
    if record.results:
        call = record.results[0].get("by", "autograd.grad")
        roots = code(*(context.name(r["of"]) for r in record.results))
        return f"`{call}` computes the gradient of {roots} alone here: `{name}` gets none."
    if record.filled and _has_inputs(context, record.start):
        roots = code(*map(context.name, dict.fromkeys(record.filled)))
        return f"With `inputs=`, the pass fills the `.grad` of {roots} alone: `{name}` gets none."
    return f"No contribution was passed on to `{name}`."


def _has_inputs(context: Context, start: Backward) -> bool:
    """Return whether the call of a backward pass says of which tensors, by ``inputs=``."""
    where = start["where"]
    if where is None:
        return False
    try:
        tree = ast.parse(context.recording["sources"][where[0]]["text"])
    except (SyntaxError, ValueError):
        return False
    return any(
        isinstance(call, ast.Call)
        and [call.lineno, call.end_lineno] == [where[1], where[3]]
        and any(keyword.arg == "inputs" for keyword in call.keywords)
        for call in ast.walk(tree)
    )


def _leads(context: Context, roots: Sequence[int], node: int, *, is_open: bool) -> bool:
    """Return whether a path leads from a root to a node; ``is_open``: if a gradient can flow."""
    stack, visited = [*roots], set[int]()
    while stack:
        at = stack.pop()
        if at in visited or (is_open and not context.nodes[at]["requires_grad"]):
            continue
        if at == node:
            return True
        visited.add(at)
        stack += context.tensors(context.nodes[at])
    return False
