"""The graph of a learner's own engine as a recording, so that the Stepper shows it.

After reading this file you can say where each number in that picture comes from: the values and the
inputs from the learner's nodes, and each step of the backward pass from the learner's ``backward``,
whose calls of ``node.rule`` are watched. Nothing is computed here but the sums of what was passed
on. Read next: ``autodiff_kit/grading/my_engine.py``, which keeps that engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from autodiff_kit.record.events import Event, NodeRecord, OpRecord, RecordingData, Value
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.values import summary

__all__ = ["Node", "recorded"]


class Node(Protocol):
    """What is read of a node: it has these attributes from exercise 01 on."""

    value: Any
    op: str
    inputs: Sequence[Node]
    requires_grad: bool
    grad: Any


_SIGNS = {"add": "+", "mul": "*", "div": "/", "matmul": "@", "batch": "@"}
# Not x and y, by which the pictures know the rules of the kit's own ops: here they are others.
_ARGUMENTS = "abcdef"
_PRODUCTS = ("mul", "matmul", "batch")  # the rule of each factor reads the other one


def recorded(
    root: Node,
    names: Mapping[str, object],
    backward: Callable[[Any], object] | None = None,
    code: str = "",
) -> Recording:
    """Return the graph behind a node, and what a backward pass does there, as a recording.

    Parameters
    ----------
    root : Node
    names : mapping of str to object
        The learner's variables: a node is called as the first of them that holds it.
    backward : callable (root), optional
        It is run, and each ``.grad`` is afterwards what it was before.
    code : str
        The cell that made the graph, if it is known.

    Returns
    -------
    Recording

    Raises
    ------
    TypeError
        If something in the graph is no node.
    """
    nodes = _in_order(root)
    numbers = {id(node): number for number, node in enumerate(nodes)}
    variables: dict[int, str] = {}
    for name, value in names.items():
        if not name.startswith("_"):
            variables.setdefault(id(value), name)
    texts: list[str] = []
    for node in nodes:
        inputs = [texts[numbers[id(x)]] for x in node.inputs]
        is_named = not node.inputs and id(node) in variables
        texts.append(variables[id(node)] if is_named else _text(node, inputs))
    events: list[Event] = [
        {"kind": "op" if node.inputs else "leaf", "node": number}
        for number, node in enumerate(nodes)
    ]
    if backward is not None and root.requires_grad:
        events += _watched(root, nodes, numbers, backward)
    data: RecordingData = {
        "sources": [{"name": "this cell", "text": code}] if code else [],
        "ops": {node.op: _op(node) for node in nodes if node.inputs},
        "scopes": [
            {"id": 0, "parent": None, "kind": "root", "name": "", "index": 0, "where": None}
        ],
        "nodes": [
            _node(node, number, variables.get(id(node)), texts[number], numbers)
            for number, node in enumerate(nodes)
        ],
        "events": events,
        "error": None,
        "note": None,
    }
    return Recording.from_dict({"format": "autodiff_kit recording", "version": 1, **data})


def _in_order(root: Node) -> list[Node]:
    """Return the nodes behind root, each after its inputs."""
    order: list[Node] = []
    visited: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, is_ready = waiting.pop()
        if not hasattr(node, "inputs") or not hasattr(node, "value"):
            raise TypeError(
                f"A graph is made of nodes, and this is {node!r}.\n"
                "-> Pass the node that your program returned, such as show_graph(y)."
            )
        if is_ready:
            order.append(node)
        elif id(node) not in visited:
            visited.add(id(node))
            waiting.append((node, True))
            waiting += [(x, False) for x in reversed(node.inputs)]
    return order


def _text(node: Node, inputs: Sequence[str]) -> str:
    """Return a node as a program says it: `x * w + x`."""
    if not node.inputs:
        value = np.asarray(node.value)
        return str(value[()]) if value.ndim == 0 else "constant"
    if node.op not in _SIGNS or len(inputs) != 2:
        return f"{node.op}({', '.join(inputs)})"
    is_sum = node.op == "add"
    left, right = (
        f"({text})" if x.op in _SIGNS and not is_sum else text
        for text, x in zip(inputs, node.inputs, strict=True)
    )
    return f"{left} {_SIGNS[node.op]} {right}"


def _op(node: Node) -> OpRecord:
    arguments, reads = list(_ARGUMENTS[: len(node.inputs)]), _reads(node)
    sign = _SIGNS.get(node.op) if len(arguments) == 2 else None
    rule = f"{node.op}_rule({', '.join(['g', *reads])})"
    return {
        "text": f"a {sign} b" if sign else f"{node.op}({', '.join(arguments)})",
        "tex": "",
        "doc": "",
        "node_name": node.op,
        "inputs": arguments,
        "rules": {
            name: {"text": rule, "tex": "", "reads": reads, "source": rule} for name in arguments
        },
    }


def _reads(node: Node) -> list[str]:
    """Return the inputs whose values a rule gets: those of a sum are of no use to it."""
    return [] if node.op == "add" else list(_ARGUMENTS[: len(node.inputs)])


def _node(
    node: Node, number: int, name: str | None, text: str, numbers: Mapping[int, int]
) -> NodeRecord:
    is_op, reads = bool(node.inputs), _reads(node)
    return {
        "id": number,
        "kind": "op" if is_op else "leaf",
        "op": node.op if is_op else None,
        "grad_fn": node.op if is_op and node.requires_grad else None,
        "recorded": bool(node.requires_grad),
        "name": name,
        "text": text if is_op or name else "a constant",
        "inputs": [
            {"arg": _ARGUMENTS[i], "node": numbers[id(x)]} for i, x in enumerate(node.inputs)
        ],
        "params": {},
        "value": _value(node.value),
        "requires_grad": bool(node.requires_grad),
        "scope": 0,
        "where": None,
        "saved": [
            {
                "name": name,
                "for": reads[::-1][i : i + 1] if node.op in _PRODUCTS else reads,
                "bytes": np.asarray(x.value).nbytes,
            }
            for i, (name, x) in enumerate(zip(reads, node.inputs, strict=False))
            if node.requires_grad
        ],
    }


def _value(value: Any) -> Value:
    return summary(np.asarray(value)[()])


def _watched(
    root: Node,
    nodes: Sequence[Node],
    numbers: Mapping[int, int],
    backward: Callable[[Any], object],
) -> list[Event]:
    """Run a backward pass; tell which rules it asked, with which gradients, and what it left."""
    roots, seed = [numbers[id(root)]], [_value(1.0)]
    events: list[Event] = [{"kind": "backward", "roots": roots, "seed": seed, "where": None}]
    totals: dict[int, Any] = {}

    def watching(node: Any, rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def watched_rule(g: Any) -> Any:
            contributions = rule(g)
            events.append({"kind": "visit", "node": numbers[id(node)], "g": _value(g)})
            for i, (x, part) in enumerate(zip(node.inputs, contributions, strict=False)):
                before = totals.get(id(x))
                totals[id(x)] = part if before is None else before + part
                if x.requires_grad:
                    events.append(
                        {
                            "kind": "contribution",
                            "node": numbers[id(node)],
                            "arg": _ARGUMENTS[i],
                            "to": numbers[id(x)],
                            "before": None,
                            "after": _value(part),
                            "total": None if before is None else _value(totals[id(x)]),
                        }
                    )
            return contributions

        return watched_rule

    gradients = [node.grad for node in nodes]
    rules = [vars(node).get("rule") for node in nodes]
    try:
        for node in nodes:
            node.grad = None
            if node.inputs:
                node.rule = watching(node, node.rule)  # type: ignore[attr-defined]
        try:
            backward(root)
        except NotImplementedError:  # it is still to be written
            return []
        for node in nodes:
            if not node.inputs and node.grad is not None:
                number, grad = numbers[id(node)], _value(node.grad)
                events.append({"kind": "visit", "node": number, "g": grad})
                events.append(
                    {"kind": "accumulate", "node": number, "g": grad, "before": None, "grad": grad}
                )
    finally:
        for node, grad, rule in zip(nodes, gradients, rules, strict=True):
            node.grad = grad
            if node.inputs and rule is None:
                del node.rule  # type: ignore[attr-defined]
            elif rule is not None:
                node.rule = rule  # type: ignore[attr-defined]
    return [*events, {"kind": "finish"}]
