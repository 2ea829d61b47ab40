"""The kit's backward pass: each visit, each contribution, what leaves accumulate, what is released.

After reading this file you know how the engine's steps become the events of a recording. Read next:
``recorder.py``.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from autodiff_kit.core.hooks import Gradients
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.observer import Observer
from autodiff_kit.core.op import ACCUMULATE, OPS
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.record import rounds
from autodiff_kit.record.guard import guarded, nothing
from autodiff_kit.record.kit_notes import KitNotes
from autodiff_kit.record.ledger import CONTRIBUTION, RELEASE, VISIT
from autodiff_kit.tensor import Tensor

__all__ = ["KitBackward"]


gettrace, settrace, tracer = sys.gettrace, sys.settrace, rounds.tracer


class KitBackward(KitNotes, Observer):
    """Notes of the kit's backward passes: what an observer is told of them."""

    def __init__(self, limit: int, base: FrameType | None) -> None:
        super().__init__(limit, base)
        self._retained: dict[int, Any] = {}  # .grad of tensors that are no leaves
        self._seeds: list[Any] = []  # what create_graph begins with, weakly

    def carries(self, function: Callable[..., Any], *arguments: Any, **switches: Any) -> Any:
        """Run a backward pass; where no code of the learner's runs in it, it need not be traced."""
        if gettrace() is not tracer or not _is_plain(arguments[0]):
            return function(*arguments, **switches)
        settrace(None)
        try:
            return function(*arguments, **switches)
        finally:
            settrace(tracer)

    @guarded
    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        """Note the roots of a backward pass, each with its seed."""
        self._see_packed()
        place, _ = self._begin_backward()
        numbers = [self._node(node) for node, _ in roots]
        seed = [self._value(g) for _, g in roots]
        self._seeds = [weakref.ref(g) for _, g in roots if isinstance(g, Tensor)]
        self._tell_backward(numbers, seed, place)

    @guarded
    def visited(self, node: Node, g: Any) -> None:
        """Note that all of the gradient of a node is there."""
        self._scopes.go_on_backward()
        if isinstance(node, Nowhere):
            return
        if not isinstance(g, Gradients):
            number = self._numbers.get(node.number)
            self._visit(node, self._node(node) if number is None else number, g)
            return
        outputs = self._outputs.get(node.number, {})
        for index in sorted(outputs.keys() & g.keys()):
            # What the node does next is told of the last output that has a gradient.
            number = self._numbers[node.number] = outputs[index]
            self._visit(node, number, g[index], index)

    def _visit(self, node: Node, number: int, g: Any, index: int = 0) -> None:
        if isinstance(node, AccumulateGrad):
            grad = node.variable._grad
            self._grads[number] = None if grad is None else self._noted(grad)
        self._events.append((VISIT, number, self._noted(g)))
        if node.hooks is None:
            return
        retainer = node.hooks.retain.get(index, nothing)()
        if retainer is not None and retainer._grad is not None:
            before, now = self._retained.get(number), self._noted(retainer._grad)
            self._retained[number] = now
            self._tell_accumulation(number, self._noted(g), before, now, retainer._grad)

    @guarded
    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        """Note what a rule has passed on, before and after broadcasting was undone."""
        op, numbers, note_of = node.op, self._numbers, self._noted
        if isinstance(edge, Nowhere):
            return
        number, to = numbers.get(node.number), numbers.get(edge.number)
        self._events.append(
            (
                CONTRIBUTION,
                self._node(node) if number is None else number,
                f"{op.inputs[0]}[{index}]" if op.is_variadic else op.inputs[index],
                self._node(edge) if to is None else to,
                None if before.shape == after.shape else note_of(before),
                note_of(after),
                None if total is after else note_of(total),
            )
        )

    @guarded
    def accumulated(self, node: AccumulateGrad, tensor: Tensor, g: Any, grad: Any) -> None:
        """Note what was added to a leaf's ``.grad``, and what that held before."""
        number = self._node(node)
        # backward(inputs=...) accumulates when the pass is over, which is nothing to tell.
        finish = len(self._events) - 1
        latest = self._events.note(finish)
        is_over = type(latest) is dict and latest["kind"] == "finish"
        before = self._grads.pop(number, None)
        total = self._noted(g if grad is None else grad)
        self._tell_accumulation(number, self._noted(g), before, total, grad)
        if is_over:
            self._events.append(self._events.pop(finish))

    @guarded
    def released(self, node: Node) -> None:
        """Note that what a node had saved is gone."""
        outputs, number = self._outputs.get(node.number), self._numbers.get(node.number)
        if outputs or number is None:
            number = min(outputs.values()) if outputs else self._node(node)
        saved = self._nodes.saved(number)
        if saved:
            size = saved[0]["bytes"] if len(saved) == 1 else sum([one["bytes"] for one in saved])
            self._events.append((RELEASE, number, size))

    @guarded
    def backward_finished(self) -> None:
        """Note that a backward pass is over."""
        self._scopes.end_backward()
        self._finish()

    @guarded
    def gradients_returned(
        self, inputs: Sequence[Tensor], gradients: Sequence[Tensor | None]
    ) -> None:
        """Note what ``autograd.grad`` returns."""
        place, scope, _ = self._where()
        self._note_results(inputs, gradients, (place, scope))


def _is_plain(roots: Sequence[tuple[Node, Any]]) -> bool:
    """Return whether a graph consists of the kit's own ops, and has no hooks."""
    waiting = [node for node, _ in roots]
    known = set(waiting)
    while waiting:
        node = waiting.pop()
        op = node.op
        if node.hooks is not None or (op is not ACCUMULATE and op is not OPS.get(op.name)):
            return False
        for edge in (node.edge0, node.edge1, *node.more):
            if edge is not None and edge not in known:
                known.add(edge)
                waiting.append(edge)
    return True
