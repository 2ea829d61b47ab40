"""Where gradients arrive: ``.grad`` of leaves, and hooks; and which nodes lead to wanted inputs.

After reading this file you know why a gradient is added in place, and never shares memory.
Read next: ``hooks.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

import autodiff_kit.tensor  # noqa: F401 (first: it brings the ops along)
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.hooks import check_replacement, refuse_result
from autodiff_kit.autograd.node import AccumulateGrad, Node, Value
from autodiff_kit.autograd.versions import note_change
from autodiff_kit.errors import error
from autodiff_kit.ops.apply import ARRAYS
from autodiff_kit.tensor import Tensor, share, wrap

__all__ = ["accumulate", "accumulate_complete", "add_to_grad", "count_uses", "leading_to", "own"]
__all__ += ["run_hooks"]


def own(contribution: Value, g: Value) -> Value:
    """Return a contribution that arrives at a leaf as an array that nobody else has."""
    # A leaf keeps what arrives as its .grad, and the learner may change that in place. So it
    # must not be memory that a neighbour holds too: `x + y` sends the same array both ways.
    if contribution is g or contribution.base is not None or not contribution.flags.writeable:
        return contribution.copy()
    return contribution


def accumulate(node: AccumulateGrad, g: Value, create_graph: bool) -> None:
    """Add ``g`` to the leaf's ``.grad``, and call the hooks that wait for that."""
    leaf = node.leaf
    observer = local.mode.observer
    if leaf is not None and leaf._node is not node:
        if not leaf.is_leaf:
            raise error("autograd.leaf_inside")
        if not leaf.requires_grad:
            return
    if leaf is not None:
        if g is not None:
            add_to_grad(leaf, g, create_graph)
        if node.hooks is not None:
            for hook in tuple(node.hooks.on_accumulated.values()):
                result = hook(leaf)
                if result is not None:
                    refuse_result(result)
    if observer is not None and g is not None:
        observer.accumulated(node, leaf, g, None if leaf is None else leaf._grad)
    if node.hooks is not None:
        for posthook in tuple(node.hooks.after_rules.values()):
            posthook((), (wrap(g) if isinstance(g, ARRAYS) else g,))


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
        memory = share(old)
        memory += g
        note_change(memory)


def run_hooks(node: Node, g: Value, is_needed: bool = True) -> Value:
    """Let the learner's hooks see, and perhaps replace, a node's complete cotangent.

    ``g`` is None where nothing has arrived. If the node is not needed, ``grad`` was asked for its
    cotangent and for nothing behind it: then the hooks of the tensor run, those of the node do not.
    """
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
    if kept is not None and result is not None:
        old = kept._grad
        if as_array:
            kept._grad = wrap(result.copy() if old is None else old._array + result)
        else:
            kept._grad = result if old is None else old + result
    if is_needed:
        for prehook in tuple(hooks.before_rules.values()):
            result = prehook(result)
    return result.copy() if as_array and result is not g else result  # it is the learner's own


def count_uses(roots: Sequence[tuple[Node, Value]], useful: set[Node] | None) -> dict[Node, int]:
    """Return how many contributions will arrive at each node that a backward pass visits.

    Parameters
    ----------
    roots : sequence of (Node, Value)
        The cotangent of each is a contribution, too.
    useful : set of Node, optional
        No others are visited.
    """
    uses: dict[Node, int] = {}
    stack = [node for node, _ in roots]
    while stack:
        node = stack.pop()
        uses[node] = uses.get(node, 0) + 1
        if uses[node] == 1:
            for edge in (node.edge0, node.edge1, *node.more):
                if edge is not None and (useful is None or edge in useful):
                    stack.append(edge)
    return uses


def accumulate_complete(waiting: dict[Node, Value], unfinished: Sequence[Node]) -> None:
    """Accumulate, when a backward pass has failed, what has arrived at leaves in full.

    ``unfinished`` are the nodes from which more would have come.
    """
    reached, stack = set(unfinished), list(unfinished)
    while stack:
        node = stack.pop()
        for edge in (node.edge0, node.edge1, *node.more):
            if edge is not None and edge not in reached:
                reached.add(edge)
                stack.append(edge)
    for node, g in waiting.items():
        if isinstance(node, AccumulateGrad) and node not in reached:
            accumulate(node, g, False)


def leading_to(inputs: set[Node], roots: Sequence[Node]) -> set[Node]:
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
    useful = set(inputs)
    order.sort(key=attrgetter("number"))  # inputs before their consumers
    passing = set()
    for node in order:
        if node.edge0 in useful or node.edge1 in useful or not useful.isdisjoint(node.more):
            passing.add(node)
            useful.add(node)
    return passing
