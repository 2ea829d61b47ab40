"""The backward pass: newest node first, every rule once, contributions added up.

After reading this file you have seen all of reverse-mode differentiation. The rules stand in
``ops/``; here they are only called, in the right order, and what they return is carried on.
Read next: ``grad_mode.py``, or ``ops/arithmetic.py`` for the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import chain, count

import numpy as np

import autodiff_kit.tensor  # noqa: F401 (first: it brings the ops along)
from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.accumulate import Task, accumulate, leading_to, own, release, run_hooks
from autodiff_kit.autograd.fast import run_unwatched
from autodiff_kit.autograd.grad_mode import NO_WARNINGS, NUMPY_WARNINGS, local
from autodiff_kit.autograd.hooks import Hooks
from autodiff_kit.autograd.node import AccumulateGrad, Node, Value
from autodiff_kit.autograd.outputs import OutputNode, cotangent_of
from autodiff_kit.autograd.shown import RELEASED
from autodiff_kit.autograd.versions import last_change
from autodiff_kit.ops import sum_to
from autodiff_kit.ops.apply import rebuilt

__all__ = ["run_backward", "unbroadcast"]


def run_backward(
    roots: Sequence[tuple[Node, Value]],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    inputs: Sequence[Node] | None = None,
    accumulates: bool = True,
) -> dict[Node, Value]:
    """Carry cotangents from the roots back through the graph.

    A node is ready when all contributions to it have arrived; of those that are ready, leaves come
    first and then the newest node. (Without leaves, the newest waiting node is always ready, as a
    consumer is younger than what it consumed. So where nobody can see when a leaf is reached,
    ``fast.py`` counts no contributions.)

    Parameters
    ----------
    roots : sequence of (Node, Value)
        Where to start, each with a cotangent of the node's shape.
    retain_graph : bool
        Keep saved values, so that the graph can be used again.
    create_graph : bool
        Compute with Tensors and record that, so that gradients can be differentiated again.
    inputs : sequence of Node, optional
        Only nodes that lead to these are visited.
    accumulates : bool
        If not, the cotangents of ``inputs`` are returned instead of accumulated into leaves.

    Returns
    -------
    dict from Node to Value - the cotangents of ``inputs``, None for those not reached.

    Raises
    ------
    RuntimeError
        If saved values were released before or changed in place.

    Source: Griewank and Walther, Evaluating Derivatives (2008), ch. 3, reverse mode.
    """
    mode = local.mode
    mode.grad_enabled, before = create_graph, mode.grad_enabled
    silence = NUMPY_WARNINGS.set(NO_WARNINGS)
    try:
        is_watched = mode.observer is not None or Hooks.count
        if inputs is None and not (create_graph or is_watched or mode.inference):
            run_unwatched(roots, retain_graph)
            return {}
        return _run(roots, retain_graph, create_graph, inputs, accumulates)
    finally:
        NUMPY_WARNINGS.reset(silence)
        mode.grad_enabled = before


def _run(
    roots: Sequence[tuple[Node, Value]],
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Node] | None,
    accumulates: bool,
) -> dict[Node, Value]:
    """Do what ``run_backward`` says, in the plain form; ``fast.py`` has the commonest case."""
    waiting: dict[Node, Value] = {}  # node -> sum of the contributions that have arrived, or None
    queue: list[tuple[float, int, Node]] = []  # the heap gives leaves, then the newest
    arrivals = count()  # among leaves, the one that was ready first
    captured: dict[Node, Value] = {}
    targets = None if inputs is None else {node.whole for node in inputs}
    passing = set() if targets is None else leading_to(targets, [node for node, _ in roots])
    useful = None if targets is None else targets | passing
    task = Task(roots, useful, None if accumulates else targets)
    uses = task.count_uses()
    observer = local.mode.observer

    def arrive(node: Node, contribution: Value) -> None:
        total = waiting.get(node)
        if total is None:
            waiting[node] = contribution
        elif contribution is not None:
            waiting[node] = total + contribution
        uses[node] -= 1
        if not uses[node]:
            first = -np.inf if node.op is nodes.ACCUMULATE else -node.number
            heappush(queue, (first, next(arrivals), node))

    if observer is not None:
        observer.backward_started(roots)
    for root, seed in roots:
        arrive(root, seed)
    changed = last_change.number
    while queue:
        node = heappop(queue)[2]
        g = waiting.pop(node)
        if isinstance(node, OutputNode):  # all outputs wait for each other at one node
            arrive(node.whole, node.passed_on(g))
            continue
        op = node.op
        is_needed = targets is None or accumulates or node in passing
        if targets is not None and is_needed and node in targets:
            captured[node] = g  # hooks are for what lies behind it
        if node.hooks is not None:
            g = run_hooks(task, node, g, is_needed)
            changed = last_change.number
        if observer is not None and g is not None:
            observer.visited(node, g)
        if not is_needed:
            captured[node] = g
            continue  # nothing that was asked for lies behind it
        if isinstance(node, AccumulateGrad):
            accumulate(node, g, create_graph)
            changed = last_change.number  # a hook may have changed the leaf
            continue
        if node.number < changed or node.out is RELEASED:
            node.check_saved()
        saved = rebuilt(node) if create_graph else (node.out, node.x, node.y, node.rest)

        rules = chain((op.rule0, op.rule1), op.rules_of_more)
        edges = zip((node.edge0, node.edge1, *node.more), rules, strict=False)
        for index, (edge, rule) in enumerate(edges, -2 if op.is_variadic else 0):
            is_asked = useful is None or edge in useful
            if edge is None or not (is_asked or op.is_whole):
                continue
            # A Function of the learner's own may send nothing: then nothing goes on from here.
            returned = contribution = rule(g, *saved) if g is not None or op.is_whole else None
            if returned is None or not is_asked:
                if is_asked:
                    arrive(edge, None)
                continue
            if returned.shape != edge.shape:
                contribution = unbroadcast(returned, edge.shape)
            if accumulates and edge.op is nodes.ACCUMULATE and type(contribution) is np.ndarray:
                contribution = own(contribution, g)
            arrive(edge, contribution)
            if observer is not None:
                observer.contributed(node, index, edge, returned, contribution, waiting[edge])

        if not retain_graph:
            release(node)
            if observer is not None:
                observer.released(node)
    if observer is not None:
        observer.backward_finished()
    return {node: cotangent_of(node, captured) for node in inputs or ()}


def unbroadcast(g: Value, shape: tuple[int, ...]) -> Value:
    """Sum a cotangent back to the shape its input had before broadcasting.

    Broadcasting copies an input; each copy sends back its own cotangent, and the contributions
    of copies add up (multivariate chain rule).

    Parameters
    ----------
    g : array or Tensor, shape S
        Cotangent with the shape of the op's output.
    shape : tuple of int
        Shape T of the input; T broadcasts to S.

    Returns
    -------
    array or Tensor, shape T - the same kind as ``g``.

    Examples
    --------
    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])

    Source: Griewank and Walther, Evaluating Derivatives (2008), ch. 3.
    """
    return sum_to(g, shape=shape)
