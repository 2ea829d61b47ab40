"""The backward pass of ``engine.py``, written out for the commonest case.

After reading this file you know where the time of a backward pass goes. Nobody watches, there are
no hooks, the gradient itself is not to be differentiated, and all leaves are wanted: then the
questions about these can be left out, which takes a tenth off, and the two edges of a node need no
call of a function each, which takes another tenth. Nor need contributions be counted: as nobody
sees when a leaf is reached, leaves can come last. Tests run both on the same graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.accumulate import accumulate, accumulate_complete, own, release
from autodiff_kit.autograd.node import Node, Value
from autodiff_kit.autograd.shown import RELEASED
from autodiff_kit.autograd.versions import last_change
from autodiff_kit.ops import OPS
from autodiff_kit.tensor import wrap

__all__ = ["run_unwatched"]


class _Nothing:
    """What waits at a node at which nothing has arrived: added to, it is what arrives."""

    def __add__(self, contribution: Value) -> Value:
        return contribution.copy() if isinstance(contribution, np.ndarray) else contribution


nothing = _Nothing()


def run_unwatched(roots: Sequence[tuple[Node, Value]], retain_graph: bool) -> None:
    """Carry cotangents from the roots back to all leaves; see ``engine.run_backward``."""
    waiting: dict[Node, Value] = {}
    queue: list[tuple[int, Node]] = []
    for root, seed in roots:
        if root in waiting:
            waiting[root] = waiting[root] + seed
        else:
            waiting[root] = seed
            heappush(queue, (-root.number, root))
    accumulate_grad, array, released = nodes.ACCUMULATE, np.ndarray, RELEASED

    def arrives(edge: Node, contribution: Value, g: Value) -> None:
        if contribution is None:  # a Function of the learner's own may send nothing
            if edge not in waiting:
                waiting[edge] = nothing
                heappush(queue, (-edge.number, edge))
            return
        if contribution.shape != edge.shape:
            contribution = unbroadcast(contribution, shape=edge.shape)
        if edge in waiting:
            waiting[edge] = waiting[edge] + contribution
        else:
            if edge.op is accumulate_grad and type(contribution) is array:
                contribution = own(contribution, g)
            waiting[edge] = contribution
            heappush(queue, (-edge.number, edge))

    unbroadcast = OPS["sum_to"].forward
    changed = last_change.number
    node = roots[0][0]
    try:
        while queue:
            node = heappop(queue)[1]
            g = waiting.pop(node)
            op = node.op
            if g is nothing:
                g = None
                if not op.is_whole and op is not accumulate_grad:
                    if node.number < changed or node.out is released:
                        node.check_saved()
                    for edge in (node.edge0, node.edge1, *node.more):
                        if edge is not None:
                            arrives(edge, None, g)
                    if not retain_graph:
                        release(node)
                    continue
            if op is accumulate_grad:
                leaf = node._leaf()  # type: ignore[attr-defined]
                if leaf is not None and leaf._grad is None and leaf._node is node and g is not None:
                    leaf._grad = wrap(g)
                else:
                    accumulate(node, g, False)  # type: ignore[arg-type]
                    changed = last_change.number
                continue
            out = node.out
            if node.number < changed or out is released:
                node.check_saved()
            x, y, rest = node.x, node.y, node.rest

            edge = node.edge0
            if edge is not None:
                contribution = op.rule0(g, out, x, y, rest)
                if contribution is None or contribution.shape != edge.shape:
                    arrives(edge, contribution, g)
                elif edge in waiting:
                    waiting[edge] = waiting[edge] + contribution
                else:
                    if edge.op is accumulate_grad and type(contribution) is array:
                        contribution = own(contribution, g)
                    waiting[edge] = contribution
                    heappush(queue, (-edge.number, edge))
            edge = node.edge1
            if edge is not None:
                contribution = op.rule1(g, out, x, y, rest)
                if contribution is None or contribution.shape != edge.shape:
                    arrives(edge, contribution, g)
                elif edge in waiting:
                    waiting[edge] = waiting[edge] + contribution
                else:
                    if edge.op is accumulate_grad and type(contribution) is array:
                        contribution = own(contribution, g)
                    waiting[edge] = contribution
                    heappush(queue, (-edge.number, edge))
            if op.rules_of_more:
                for edge, rule in zip(node.more, op.rules_of_more, strict=False):
                    if edge is not None:
                        arrives(edge, rule(g, out, x, y, rest), g)

            if not (retain_graph or (x is y is out is None and not op.saves_rest)) and op.saves:
                node.out = released
                node.x = node.y = None
                node.rest = ()
    except BaseException:
        # Leaves come last here: those at which all has arrived would have been reached by now.
        others = [other for _, other in queue if other.op is not accumulate_grad]
        arrived = {other: g for other, g in waiting.items() if g is not nothing}
        accumulate_complete(arrived, [node, *others])
        raise
