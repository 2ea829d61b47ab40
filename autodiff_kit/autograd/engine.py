"""The backward pass: for ``z.backward()``, ``print(form_of().text)`` shows the text that runs.

It is ``run`` below, without the branches that this pass never takes. Every node is visited once,
the newest first; its rules are called, and what they return is added up at the nodes before. After
reading this file you have seen all of reverse-mode differentiation. Read next: ``tensor.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from heapq import heappop, heappush
from typing import Any

from numpy import ndarray

from autodiff_kit.autograd.accumulate import Task
from autodiff_kit.core.base import hook_count, last_change, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Observer
from autodiff_kit.core.op import ACCUMULATE, OPS, RELEASED, Value
from autodiff_kit.core.quiet import quiet
from autodiff_kit.core.specialise import specialise

__all__ = ["form_of", "run", "run_backward"]


def run_backward(
    roots: Sequence[tuple[Node, Value]],
    *,
    retain_graph: bool = False,
    create_graph: bool | None = False,
    inputs: Sequence[Node] | None = None,
    accumulates: bool = True,
) -> dict[Node, Value]:
    """Carry cotangents from the roots, each given with its own, back through the graph.

    A node is ready when all contributions to it have arrived. Of the ready ones the newest is next;
    but first come leaves, if that can be seen, as by a hook, and what has no derivative.

    Parameters
    ----------
    retain_graph : bool
        Keep saved values, so that the graph can be used again.
    create_graph : bool or None
        Compute with Tensors and record that, so that gradients can be differentiated again. None:
        it was asked for, but inference mode records nothing.
    inputs : sequence of Node, optional
        Only nodes that lead to these are visited, and their cotangents are returned.
    accumulates : bool
        With ``inputs``: whether leaves get a ``.grad``.

    Source: Griewank and Walther, Evaluating Derivatives (2008), ch. 3, reverse mode.
    """
    mode = local.mode
    observer = mode.observer
    switches: dict[str, Any] = {}
    is_watched = observer is not None or hook_count.number or mode.inference
    if is_watched or create_graph or inputs is not None:
        options = {"inputs": inputs, "observer": observer, "create_graph": create_graph or None}
        switches = {name: value for name, value in options.items() if value is not None}
        switches |= {"counted": True, "accumulates": accumulates}
    mode.grad_enabled, before = create_graph, mode.grad_enabled
    warnings = quiet.begin()
    try:
        return form_of(*switches)(roots, retain_graph, **switches)
    finally:
        quiet.end(warnings)
        mode.grad_enabled = before


@cache
def form_of(*switched: str) -> Callable[..., dict[Node, Value]]:
    """Return ``run`` for backward passes that set these switches, and none of the others."""
    idle = {"observer": None, "inputs": None, "create_graph": False, "counted": False}
    idle["accumulates"] = True
    return specialise(run, **{name: value for name, value in idle.items() if name not in switched})


def run(
    roots: Sequence[tuple[Node, Value]],
    retain_graph: bool,
    *,
    observer: Observer | None,
    inputs: Sequence[Node] | None,
    accumulates: bool,
    create_graph: bool,
    counted: bool,
) -> dict[Node, Value]:
    """Carry cotangents back: the plain text, of which ``form_of`` leaves out what is idle.

    ``counted``: whether it matters when a leaf is reached. If not, contributions are not counted:
    the newest waiting node is ready, as a consumer is younger than what it consumed.
    """
    waiting: dict[Any, Value] = {}  # node -> sum of the contributions that have arrived
    queue: list[Any] = []  # the heap gives leaves if they are counted, then the newest
    cotangents: dict[Node, Value] = {}
    if counted:
        task = Task(roots, inputs, accumulates)
        missing = task.count_uses()
    useful = None if inputs is None else task.useful  # the nodes that lead to ``inputs``

    def arrive(edge: Node, contribution: Value) -> None:
        if edge not in waiting:
            waiting[edge] = contribution
            if not counted:
                heappush(queue, (-edge.number, edge))
        elif waiting[edge] is None:
            waiting[edge] = contribution
        elif contribution is not None:  # the old sum has no name: it is freed at once
            waiting[edge] = waiting[edge] + contribution
        if counted:
            missing[edge] -= 1
            if not missing[edge]:
                heappush(queue, (*task.turn(edge, node), edge))

    def send(index: int, edge: Node | None, rule: Callable[..., Value]) -> None:
        # ``node``, its ``op``, its cotangent ``g`` and what it saved are those of the loop below.
        is_asked = useful is None or edge in useful
        if edge is None or not (is_asked or op.calls_all_rules):
            return
        contribution = returned = rule(g, out, x, y, rest)
        if not is_asked:
            return
        # Broadcasting copies an input. Each copy has a cotangent of its own: ``sum_to`` adds them.
        if contribution is not None and contribution.shape != edge.shape:
            contribution = OPS["sum_to"].function(contribution, shape=edge.shape)
            if contribution.shape != edge.shape:  # of a rule that is wrong, or after x.data = ...
                raise node.misfit(index, returned.shape)
        # A leaf keeps what arrives as its .grad, and the learner may change that. So it must not
        # share memory: rules of ``x + y`` return one array twice, a Function's backward any array.
        if (
            accumulates
            and edge.op is ACCUMULATE
            and waiting.get(edge) is None
            and not create_graph
            and (contribution is g is not None or type(contribution) is ndarray)
            and (
                (contribution is g or contribution.base is not None)
                or (op.calls_all_rules or not contribution.flags.carray)
            )
        ):
            copy = task.copied(contribution) if counted else contribution.copy()
            contribution, returned = copy, copy if returned is contribution else returned
        arrive(edge, contribution)
        if observer is not None and returned is not None:
            observer.contributed(node, index, edge, returned, contribution, waiting[edge])

    if observer is not None:
        observer.backward_started(roots)
    node = roots[0][0]
    for root, seed in roots:
        arrive(root, seed)
    changed = last_change.number
    try:
        while queue:
            node = heappop(queue)[2 if counted else 1]
            g = waiting.pop(node)  # None: a Function of the learner's own has returned that
            op = node.op
            if counted:
                if node.whole is not node:  # an output; ``whole`` waits for those of all outputs
                    arrive(node.whole, node.passed_on(g))
                    continue
                # ``targets`` are the nodes of ``inputs``; those ``passing`` have some behind them.
                is_needed = inputs is None or accumulates or node in task.passing
                if inputs is not None and is_needed and node in task.targets:
                    cotangents[node] = g  # hooks are for what lies behind it
                if node.hooks is not None:
                    g = task.run_hooks(node, g, is_needed)
                    changed = last_change.number
                if observer is not None and g is not None:
                    observer.visited(node, g)
                if not is_needed:
                    cotangents[node] = g
                    continue  # nothing that was asked for lies behind it
            if op is ACCUMULATE:
                leaf = node._leaf()  # which may be gone, have a .grad, or have changed its node
                if counted or leaf is None or leaf._grad is not None or leaf._node is not node:
                    Task.accumulate(node, g, create_graph)
                    changed = last_change.number  # a hook may have changed the leaf
                elif g is not None:
                    leaf._grad = node.grad = wrap(g)
                continue
            if node.number < changed or node.out is RELEASED:
                node.check_saved()
            if g is None and not op.calls_all_rules:  # then nothing goes on from here
                for edge in (node.edge0, node.edge1, *node.more):
                    if edge is not None and (useful is None or edge in useful):
                        arrive(edge, None)
            else:
                out, x, y, rest = (
                    node.rebuilt() if create_graph else (node.out, node.x, node.y, node.rest)
                )
                send(0, node.edge0, op.rule0)
                send(1, node.edge1, op.rule1)
                if op.rules_of_more:
                    for index, (edge, rule) in enumerate(
                        zip(node.more, op.rules_of_more, strict=False), 0 if op.is_variadic else 2
                    ):
                        send(index, edge, rule)
            if (
                op.saves
                and not retain_graph
                and (not (node.out is node.x is node.y is None) or node.saved_rest())
            ):
                node.out, node.x, node.y, node.rest = RELEASED, None, None, ()
            if observer is not None and not retain_graph:
                observer.released(node)
    except BaseException:
        if not counted:  # else complete leaves came first, as in PyTorch, and have their .grad
            open_ends = [(n, None) for n in (node, *waiting) if n.op is not ACCUMULATE]
            unfinished = Task(open_ends, None, True).count_uses()
            for leaf, g in waiting.items():
                if leaf.op is ACCUMULATE and leaf not in unfinished and g is not None:
                    Task.accumulate(leaf, g, create_graph)
        raise
    if observer is not None:
        observer.backward_finished()
    return cotangents if inputs is None else task.of_inputs(cotangents)
