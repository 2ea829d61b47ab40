"""The backward pass: newest node first, every rule once, contributions added up.

After reading this file you have seen all of reverse-mode differentiation. The rules stand in
``ops/``; here they are only called, in the right order, and what they return is carried on.
Read next: ``grad_mode.py``, or ``ops/arithmetic.py`` for the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from operator import attrgetter
from typing import Any

import numpy as np

from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.grad_mode import enable_grad, local, no_grad
from autodiff_kit.autograd.hooks import check_replacement, refuse_result
from autodiff_kit.autograd.node import (
    RELEASED,
    AccumulateGrad,
    LastChange,
    Node,
    Value,
    note_change,
)
from autodiff_kit.ops import sum_to
from autodiff_kit.ops.table import ARRAYS
from autodiff_kit.tensor import Tensor, version_cell, wrap

__all__ = ["accumulate", "add_to_grad", "run_backward", "unbroadcast"]


def run_backward(
    roots: Sequence[tuple[Node, Value]],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    inputs: Sequence[Node] | None = None,
) -> dict[Node, Value]:
    """Carry cotangents from the roots back through the graph.

    The newest waiting node is taken first. A consumer is always younger than what it consumed,
    so all contributions to a node have arrived when its turn comes: this *is* a reverse
    topological order, without recursion and without sorting the graph beforehand.

    Parameters
    ----------
    roots : sequence of (Node, Value)
        Where to start, each with a cotangent of the node's shape.
    retain_graph : bool
        Keep saved values, so that the graph can be used again.
    create_graph : bool
        Compute with Tensors and record that, so that gradients can be differentiated again.
    inputs : sequence of Node, optional
        Return the cotangents of these nodes instead of accumulating into leaves; only nodes that
        lead to them are visited.

    Returns
    -------
    dict from Node to Value - the cotangents of ``inputs`` that were reached.

    Raises
    ------
    RuntimeError
        If saved values were released before or changed in place.

    Source: Griewank and Walther, Evaluating Derivatives (2008), ch. 3, reverse mode.
    """
    waiting: dict[Node, Value] = {}  # node -> sum of the contributions that have arrived
    queue: list[tuple[int, Node]] = []  # creation numbers, negated: the heap gives the newest
    found: dict[Node, Value] = {}
    wanted = None if inputs is None else set(inputs)
    passing = set() if wanted is None else _leading_to(wanted, [node for node, _ in roots])
    useful = None if wanted is None else wanted | passing
    observer = local.mode.observer
    accumulate_grad = nodes.ACCUMULATE

    if observer is not None:
        observer.backward_started(roots)
    for root, seed in roots:
        if root in waiting:
            waiting[root] = waiting[root] + seed
        else:
            waiting[root] = seed
            heappush(queue, (-root.number, root))
    last_change = LastChange.number
    with enable_grad() if create_graph else no_grad(), np.errstate(all="ignore"):
        while queue:
            node = heappop(queue)[1]
            g = waiting.pop(node)
            op = node.op
            if node.hooks is not None:
                g = _run_hooks(node, g)
                last_change = LastChange.number
            if observer is not None:
                observer.visited(node, g)
            if wanted is not None:
                if node in wanted:
                    found[node] = g
                if node not in passing:
                    continue  # nothing that is wanted lies behind it
            if op is accumulate_grad:
                accumulate(node, g, create_graph)  # type: ignore[arg-type]
                if node.hooks is not None:  # a hook may have changed the leaf
                    last_change = LastChange.number
                continue
            if node.number < last_change or node.out is RELEASED:
                node.check_saved()
            out, x, y, rest = node.out, node.x, node.y, node.rest
            if create_graph:
                out, x, y, rest = op.as_tensors(node)

            edges: tuple[Any, ...] = ((0, node.edge0, op.rule0), (1, node.edge1, op.rule1))
            if op.rules_of_more:
                edges += tuple(zip(count(op.first_of_more), node.more, op.rules_of_more))
            for index, edge, rule in edges:
                if edge is None or (useful is not None and edge not in useful):
                    continue
                contribution = rule(g, out, x, y, rest)
                returned = contribution
                if contribution.shape != edge.shape:
                    contribution = unbroadcast(contribution, edge.shape)
                if edge in waiting:
                    waiting[edge] = waiting[edge] + contribution
                else:
                    if edge.op is accumulate_grad and type(contribution) is np.ndarray:
                        contribution = _own(contribution, g)
                    waiting[edge] = contribution
                    heappush(queue, (-edge.number, edge))
                if observer is not None:
                    observer.contributed(node, index, edge, returned, contribution, waiting[edge])

            if not retain_graph:
                # A node that saved nothing may be visited again: (x + 1).sum() goes back twice.
                if (
                    node.x is not None
                    or node.y is not None
                    or node.out is not None
                    or op.saves_more
                ):
                    node.out = RELEASED
                    node.x = node.y = None
                    node.cells = node.rest = ()
                if observer is not None:
                    observer.released(node)
    if observer is not None:
        observer.backward_finished()
    return found


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


def _own(contribution: Value, g: Value) -> Value:
    # A leaf keeps what arrives as its .grad, and the learner may change that in place. So it
    # must not be memory that a neighbour holds too: `x + y` sends the same array both ways.
    if contribution is g or contribution.base is not None or not contribution.flags.writeable:
        return contribution.copy()
    return contribution


def accumulate(node: AccumulateGrad, g: Value, create_graph: bool) -> None:
    """Add ``g`` to the leaf's ``.grad``, and call the hooks that wait for that."""
    leaf = node.leaf
    observer = local.mode.observer
    if leaf is not None:
        add_to_grad(leaf, g, create_graph)
        if node.hooks is not None:
            for hook in tuple(node.hooks.on_accumulated.values()):
                result = hook(leaf)
                if result is not None:
                    refuse_result(result)
    if observer is not None:
        observer.accumulated(node, leaf, g, None if leaf is None else leaf._grad)


def add_to_grad(tensor: Tensor, g: Value, create_graph: bool) -> None:
    """Add a cotangent to ``tensor.grad``: in place, so that whoever holds the old one sees it.

    Parameters
    ----------
    tensor : Tensor
    g : array or Tensor, shape of ``tensor``
        The tensor keeps an array as it is: it must not be in use elsewhere.
    create_graph : bool
        ``g`` is a Tensor with a history that ``.grad`` must keep; then the sum is a new tensor.
    """
    old = tensor._grad
    if create_graph:
        tensor._grad = wrap(np.empty_like(g._array)[()]).copy_(g) if old is None else old + g
    elif old is None:
        tensor._grad = wrap(g)
    else:
        if isinstance(old._array, np.ndarray):
            old._array += g
        else:
            old._array = old._array + g
        note_change(version_cell(old))


def _run_hooks(node: Node, g: Value) -> Value:
    """Let the learner's hooks see, and perhaps replace, a node's complete cotangent."""
    hooks = node.hooks
    assert hooks is not None
    as_array = isinstance(g, ARRAYS)
    gradient: Tensor = wrap(g) if as_array else g
    for hook in tuple(hooks.on_gradient.values()):
        replaced = hook(gradient)
        if replaced is not None:
            check_replacement(hook, gradient, replaced)
            gradient = replaced
    result: Value = gradient._array if as_array else gradient
    kept = None if hooks.retain is None else hooks.retain()
    if kept is not None:
        add_to_grad(kept, result.copy() if as_array else result, not as_array)
    return result.copy() if as_array and result is not g else result  # it is the learner's own


def _leading_to(inputs: set[Node], roots: Sequence[Node]) -> set[Node]:
    """Return the nodes that pass gradients on from a root to one of ``inputs``."""
    oldest = min(node.number for node in inputs)
    order: list[Node] = []
    seen = set(roots)
    stack = list(seen)
    while stack:
        node = stack.pop()
        order.append(node)
        for edge in (node.edge0, node.edge1, *node.more):
            if edge is not None and edge not in seen and edge.number >= oldest:
                seen.add(edge)
                stack.append(edge)
    passing: set[Node] = set()
    useful = set(inputs)
    for node in sorted(order, key=attrgetter("number")):  # inputs before their consumers
        if node.edge0 in useful or node.edge1 in useful or not useful.isdisjoint(node.more):
            passing.add(node)
            useful.add(node)
    return passing
