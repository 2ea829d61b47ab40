"""The backward pass: newest node first, every rule once, contributions added up.

After reading this file you have seen all of reverse-mode differentiation. The rules stand in
``ops/``; here they are only called, in the right order, and what they return is carried on.
``run`` is what runs, less what a pass never does: ``forms.py`` leaves that out of its text, and
``print(text_of(form_of()))`` shows what is left for the commonest pass. Read next:
``grad_mode.py``, or ``ops/arithmetic.py`` for the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any

from numpy import ndarray

from autodiff_kit.autograd.accumulate import (
    NOTHING,
    Task,
    accumulate,
    accumulate_complete,
    leading_to,
    misfit,
    own,
    release,
    run_hooks,
)
from autodiff_kit.core.base import last_change, wrap
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Observer
from autodiff_kit.core.op import ACCUMULATE, RELEASED, Value
from autodiff_kit.core.outputs import OutputNode, cotangent_of
from autodiff_kit.ops import sum_to

__all__ = ["run", "unbroadcast"]


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
    """Carry cotangents from the roots back through the graph; ``forms.run_backward`` says more.

    ``counted`` tells whether anybody can see when a leaf is reached. If not, contributions need not
    be counted: without leaves, the newest waiting node is always ready, as a consumer is younger
    than what it consumed; and leaves, the oldest, come last.
    """
    waiting: dict[Node, Value] = {}  # node -> sum of the contributions that have arrived
    queue: list[Any] = []  # the heap gives leaves if they are counted, then the newest
    found: dict[Node, Value] = {}
    targets: Any = None if inputs is None else {node.whole for node in inputs}
    passing: Any = None if inputs is None else leading_to(targets, [node for node, _ in roots])
    useful: Any = None if inputs is None else targets | passing
    if counted:
        task = Task(roots, useful, None if accumulates else targets)
        missing, arrivals = task.count_uses(), count()

    def arrive(node: Node, contribution: Value) -> None:
        if node not in waiting:
            waiting[node] = contribution
            if not counted:
                heappush(queue, (-node.number, node))
        elif contribution is not NOTHING:
            waiting[node] = waiting[node] + contribution
        if counted:
            missing[node] -= 1
            if not missing[node]:
                first = -inf if node.op is ACCUMULATE else -node.number
                heappush(queue, (first, next(arrivals), node))

    def send(index: int, edge: Node | None, rule: Callable[..., Value]) -> None:
        is_asked = useful is None or edge in useful
        if edge is None or not (is_asked or op.is_whole):
            return
        contribution = rule(g, out, x, y, rest)
        if not is_asked:
            return
        if observer is not None:
            returned = contribution
        if contribution is None:  # a Function of the learner's own may send nothing
            contribution = NOTHING
        elif contribution.shape != edge.shape:
            contribution = unbroadcast(contribution, shape=edge.shape)
            if contribution.shape != edge.shape:  # of a rule that is wrong, or after x.data = ...
                raise misfit(node, index, contribution.shape)
        if (
            accumulates
            and edge.op is ACCUMULATE
            and edge not in waiting
            and type(contribution) is ndarray
        ):
            contribution = own(contribution, g)
        arrive(edge, contribution)
        if observer is not None and returned is not None:
            observer.contributed(node, index, edge, returned, contribution, waiting[edge])

    if observer is not None:
        observer.backward_started(roots)
    for root, seed in roots:
        arrive(root, seed)
    changed = last_change.number
    node = roots[0][0]
    try:
        while queue:
            node = heappop(queue)[2 if counted else 1]
            g = waiting.pop(node)
            if g is NOTHING:
                g = None
            op = node.op
            if counted:
                if isinstance(node, OutputNode):  # all outputs wait for each other at one node
                    arrive(node.whole, NOTHING if g is None else node.passed_on(g))
                    continue
                is_needed = targets is None or accumulates or node in passing
                if targets is not None and is_needed and node in targets:
                    found[node] = g  # hooks are for what lies behind it
                if node.hooks is not None:
                    g = run_hooks(task, node, g, is_needed)
                    changed = last_change.number
                if observer is not None and g is not None:
                    observer.visited(node, g)
                if not is_needed:
                    found[node] = g
                    continue  # nothing that was asked for lies behind it
            if op is ACCUMULATE:
                leaf = node._leaf()
                if counted or leaf is None or leaf._grad is not None or leaf._node is not node:
                    accumulate(node, g, create_graph)
                    changed = last_change.number  # a hook may have changed the leaf
                elif g is not None:
                    leaf._grad = node.grad = wrap(g)
                continue
            if node.number < changed or node.out is RELEASED:
                node.check_saved()
            if g is None and not op.is_whole:  # then nothing goes on from here
                for edge in (node.edge0, node.edge1, *node.more):
                    if edge is not None and (useful is None or edge in useful):
                        arrive(edge, NOTHING)
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
            if not retain_graph and op.saves:
                release(node)
            if observer is not None and not retain_graph:
                observer.released(node)
    except BaseException:
        if not counted:  # leaves at which all has arrived would have been reached by now
            others = [item[1] for item in queue if item[1].op is not ACCUMULATE]
            arrived = {other: g for other, g in waiting.items() if g is not NOTHING}
            accumulate_complete(arrived, [node, *others])
        raise
    if observer is not None:
        observer.backward_finished()
    return {node: cotangent_of(node, found) for node in inputs} if inputs is not None else found


def unbroadcast(g: Value, shape: tuple[int, ...]) -> Value:
    """Sum a cotangent back to the shape its input had before broadcasting.

    Broadcasting copies an input; each copy contributes its own cotangent, and the contributions
    of copies add up (multivariate chain rule).

    Parameters
    ----------
    g : array or Tensor, shape S
        Cotangent with the shape of the op's output.
    shape : tuple of int
        Shape T of the input, and of the result; T broadcasts to S.

    Examples
    --------
    >>> import numpy as np
    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])

    Source: Griewank and Walther, Evaluating Derivatives (2008), ch. 3.
    """
    return sum_to(g, shape=shape)
