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

    A node is ready when all contributions to it have arrived. Of the ready ones the newest is next.
    Only what has no derivative comes first, and leaves do, where a hook or an observer sees when.

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
    switches: dict[str, object] = {}
    is_watched = observer is not None or hook_count.number or mode.inference
    if is_watched or create_graph or inputs is not None:
        switches = {"observer": observer, "inputs": inputs, "create_graph": bool(create_graph)}
        switches |= {"counts_uses": True, "accumulates": accumulates}
        switches = {n: v for n, v in switches.items() if v is not _IDLE[n]}
    mode.grad_enabled, before = create_graph, mode.grad_enabled
    warnings = quiet.begin()
    try:
        return (observer or Observer()).carries(form_of(*switches), roots, retain_graph, **switches)
    finally:
        quiet.end(warnings)
        mode.grad_enabled = before


@cache
def form_of(*names: str) -> Callable[..., dict[Node, Value]]:
    """Return ``run`` for backward passes that set the switches of these names, and no others."""
    return specialise(run, **{n: v for n, v in _IDLE.items() if n not in names})


def run(
    roots: Sequence[tuple[Node, Value]],
    retain_graph: bool,
    *,
    observer: Observer | None = None,
    inputs: Sequence[Node] | None = None,
    accumulates: bool = True,
    create_graph: bool = False,
    counts_uses: bool = False,
) -> dict[Node, Value]:
    """Carry cotangents back: the plain text, of which ``form_of`` leaves out what is idle.

    ``counts_uses``: whether the uses of each node are counted off, so that it is reached as early
    as in PyTorch. If not, the newest node with a sum is ready: its consumers are younger.
    """
    sums: dict[Any, Value] = {}  # node -> sum of the contributions that have arrived
    queue: list[Any] = []  # the heap gives leaves if uses are counted, then the newest
    cotangents: dict[Node, Value] = {}
    if counts_uses:
        task = Task(roots, inputs, accumulates)
        uses_left = task.count_uses()
    useful = None if inputs is None else task.useful  # the nodes that lead to ``inputs``

    def arrive(edge: Node, contribution: Value) -> None:
        if edge not in sums:
            sums[edge] = contribution
            if not counts_uses:
                heappush(queue, (-edge.number, edge))
        elif sums[edge] is None:
            sums[edge] = contribution
        elif contribution is not None:  # the old sum has no name: it is freed at once
            sums[edge] = sums[edge] + contribution
        if counts_uses:
            uses_left[edge] -= 1
            if not uses_left[edge]:
                heappush(queue, (*task.turn(edge, node), edge))

    def send(index: int, edge: Node | None, rule: Callable[..., Value]) -> None:
        # ``node``, its ``op``, its cotangent ``g`` and what it saved are those of the loop below.
        is_useful = useful is None or edge in useful
        if edge is None or not (is_useful or op.always_calls_rules):
            return
        contribution = result = (node.recorded(rule) if create_graph else rule)(g, out, x, y, rest)
        if not is_useful:
            return
        # Broadcasting copies an input. Each copy has a cotangent of its own: ``sum_to`` adds them.
        if contribution is not None and contribution.shape != edge.shape:
            contribution = OPS["sum_to"].function(contribution, shape=edge.shape)
            if contribution.shape != edge.shape:  # of a rule that is wrong, or after x.data = ...
                raise node.misfit(index, result.shape)
        # A leaf keeps what arrives as its .grad. That lies row by row (``carray``) and shares no
        # memory, but rules of ``x + y`` return one array twice, a Function's backward any array.
        if (
            accumulates
            and edge.op is ACCUMULATE
            and sums.get(edge) is None
            and not create_graph
            and (contribution is g is not None or type(contribution) is ndarray)
            and (
                (contribution is g or contribution.base is not None)
                or (op.always_calls_rules or not contribution.flags.carray)
            )
        ):
            copy = task.copy_of(contribution) if counts_uses else contribution.copy()
            contribution, result = copy, copy if result is contribution else result
        arrive(edge, contribution)
        if observer is not None and result is not None:
            observer.contributed(node, index, edge, result, contribution, sums[edge])

    if observer is not None:
        observer.backward_started(roots)
    node = roots[0][0]  # ``turn`` wants one
    for root, seed in roots:
        arrive(root, seed)
    latest_change = last_change.number
    try:
        while queue:
            node = heappop(queue)[2 if counts_uses else 1]
            g = sums.pop(node)  # None: a Function of the learner's own has returned that
            op = node.op
            if counts_uses:
                if node.whole is not node:  # one of several outputs; else its rule does the same
                    arrive(node.whole, node.by_output(g))
                    continue
                # ``targets`` are the nodes of ``inputs``; the ``carriers`` lead to them.
                is_needed = inputs is None or accumulates or node in task.carriers
                if inputs is not None and is_needed and node in task.targets:
                    cotangents[node] = g  # without its hooks: these change what goes on
                if node.hooks is not None:
                    g = task.run_hooks(node, g, is_needed)
                    latest_change = last_change.number
                if observer is not None and g is not None:
                    observer.visited(node, g)
                if not is_needed:
                    cotangents[node] = g
                    continue  # nothing that was asked for lies behind it
            if op is ACCUMULATE:
                leaf = node._leaf()  # which may be gone, have a .grad, or have changed its node
                if counts_uses or leaf is None or leaf._grad is not None or leaf._node is not node:
                    Task.accumulate(node, g, create_graph)
                    latest_change = last_change.number  # a hook may have changed the leaf
                elif g is not None:
                    leaf._grad = node.grad = wrap(g)
                continue
            if node.number < latest_change or node.out is RELEASED:
                node.check_saved(g is not None)
            if g is None and not op.always_calls_rules:  # then nothing goes on from here
                for edge in (node.edge0, node.edge1, *node.more):
                    if edge is not None and (useful is None or edge in useful):
                        arrive(edge, None)
            else:
                out, x, y, rest = (
                    node.rebuild() if create_graph else (node.out, node.x, node.y, node.rest)
                )
                send(0, node.edge0, op.rule0)
                send(1, node.edge1, op.rule1)
                if op.rules_of_more:
                    further = zip(node.more, op.rules_of_more, strict=False)
                    for index, (edge, rule) in enumerate(further, 0 if op.is_variadic else 2):
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
        if not counts_uses:  # else complete leaves came first, as in PyTorch, and have their .grad
            open_ends = [(n, None) for n in (node, *sums) if n.op is not ACCUMULATE]
            uses = Task(open_ends, None, True).count_uses()
            for leaf, g in sums.items():
                if leaf.op is ACCUMULATE and leaf not in uses and g is not None:
                    Task.accumulate(leaf, g, create_graph)
        raise
    if observer is not None:
        observer.backward_finished()
    return cotangents if inputs is None else task.of_inputs(cotangents)


_IDLE = run.__kwdefaults__ or {}  # its switches, when nothing special is asked for
