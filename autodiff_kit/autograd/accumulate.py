"""Where gradients arrive: ``.grad`` of leaves, and hooks; and which nodes lead to wanted inputs.

After reading this file you know why a gradient is added in place, and never shares memory.
Read next: ``core/hooks.py``.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, TensorBase, next_number, wrap
from autodiff_kit.core.hooks import (
    as_gradient,
    check_replacement,
    gradient_of,
    separate,
    together,
)
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.node_hooks import as_seen, running, show_as
from autodiff_kit.core.op import ACCUMULATE, Value
from autodiff_kit.core.outputs import cotangent_of
from autodiff_kit.core.versions import writable
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.errors import error
from autodiff_kit.inplace import note, refuse_change
from autodiff_kit.ops.messages import broadcast_message
from autodiff_kit.views import is_stale, node_of, set_grad

__all__ = ["Task", "add_to_grad"]


class Task:
    """A backward pass that counts what arrives, for hooks and inputs that were asked for.

    Attributes
    ----------
    number : int
    roots : sequence of (Node, Value)
        Where it starts.
    inputs : sequence of Node, or None
        What it was asked for.
    targets, carriers : set of Node
        The nodes of ``inputs``, and those on the way to them, which carry gradients there.
    useful : set of Node, or None
        All of these; None: all nodes are visited.
    accumulates : bool
        If not, ``grad`` returns the cotangents of ``inputs``.
    """

    def __init__(
        self,
        roots: Sequence[tuple[Node, Value]],
        inputs: Sequence[Node] | None,
        accumulates: bool,
    ) -> None:
        self.number = next_number()
        self.roots, self.inputs, self.accumulates = roots, inputs, accumulates
        self.useful: set[Node] | None = None
        self._arrivals = itertools.count()
        self._turns: dict[Node, int] = {}
        if inputs is not None:
            self.targets = {node.whole for node in inputs}
            self.carriers = _leading_to(self.targets, [node for node, _ in roots])
            self.useful = self.targets | self.carriers

    def of_inputs(self, cotangents: dict[Node, Value]) -> dict[Node, Value]:
        """Return what was found for each of ``inputs``, which may be one of several outputs."""
        return {node: cotangent_of(node, cotangents) for node in self.inputs or ()}

    def calls_hooks(self) -> None:
        """Say that this is the pass whose hooks are called next."""
        running.task = weakref.ref(self)

    def count_uses(self) -> dict[Node, int]:
        """Return how many contributions will arrive at each node that is visited.

        The cotangent of a root is a contribution, too.
        """
        uses: dict[Node, int] = {}
        stack = [node for node, _ in self.roots]
        useful = None if self.useful is None else self.useful.union(n.whole for n in stack)
        while stack:
            node = stack.pop()
            uses[node] = uses.get(node, 0) + 1
            if uses[node] == 1:
                for edge in (node.edge0, node.edge1, *node.more):
                    if edge is not None and (useful is None or edge in useful):
                        stack.append(edge)
        return uses

    def turn(self, node: Node, sender: Node) -> tuple[float, int]:
        """Return when a node is next to which all has arrived, the last of it from ``sender``.

        A conversion that type promotion inserted is next at once: PyTorch has no node there, and
        what lies behind has arrived where the conversion has.
        """
        arrival = self._turns.get(sender)
        if arrival is None:
            arrival = next(self._arrivals)
        if node.op.name == "promote":
            self._turns[node] = arrival
            return -inf, arrival
        return -inf if node.op is ACCUMULATE or node.op.is_refused else -node.number, arrival

    def count_visited(self, nodes: Sequence[Node]) -> int:
        """Return how many of these nodes the pass comes, or came, to."""
        uses = self.count_uses()
        if len(self.roots) == 1:  # PyTorch does not count the node it starts from, if it is alone
            uses[self.roots[0][0].whole] -= 1
        visited = [node for node in nodes if uses.get(node.whole)]
        for node in visited:
            if isinstance(node, AccumulateGrad) and not self.accumulates and node in self.targets:
                raise error("graph.leaf_of_grad")
        return len(visited)

    @staticmethod
    def copy_of(contribution: Value) -> Value:
        """Return a copy that hooks see as the tensor that was given, if it is of that."""
        copy = contribution.copy()
        if running.inflow:
            show_as(copy, as_seen(contribution))
        return copy

    def run_hooks(self, node: Node, g: Value, is_needed: bool) -> Value:
        """Let the learner's hooks see, and perhaps replace, a node's complete cotangent.

        ``g`` is None where nothing has arrived. If the node is not needed, ``grad`` was asked for
        its cotangent and for nothing behind it: then the hooks of the tensor run, those of the node
        do not.
        """
        hooks = node.hooks
        if hooks is None or isinstance(node, Nowhere):
            return g
        self.calls_hooks()
        parts = separate(g, node.count)
        for index, hook_entry in tuple(hooks.on_gradient.items()):
            for hook in tuple(hook_entry.values()):
                part = parts[index]
                gradient: TensorBase = as_seen(part)
                replacement = hook(gradient)
                if replacement is not None:
                    check_replacement(hook, gradient, replacement)
                    parts[index] = as_gradient(replacement)
        for index, reference in hooks.retain.items():
            retaining, part = reference(), parts[index]
            if retaining is not None and part is not None:
                _retain(retaining, part)
        g = together(parts, node.count)
        if is_needed:
            for prehook in tuple(hooks.before_rules.values()):
                g = prehook(g)
        self.calls_hooks()  # once more: a hook may have begun a pass of its own
        return g

    @staticmethod
    def accumulate(node: AccumulateGrad, g: Value, create_graph: bool) -> None:
        """Add ``g`` to the leaf's ``.grad``, and call the hooks that wait for that."""
        if isinstance(node, Nowhere):
            return
        leaf, arrived = node.variable, g
        observer = local.mode.observer
        if leaf._node is not node or is_stale(leaf):
            if g is not None and not isinstance(node_of(leaf), AccumulateGrad | None):
                raise error("autograd.leaf_inside")
            if not leaf.requires_grad:
                g = None  # but hooks are called
        if g is not None:
            add_to_grad(leaf, g, create_graph)
            if observer is not None:
                observer.accumulated(node, leaf, g, leaf._grad)
        if node.hooks is not None:
            for hook in tuple(node.hooks.on_accumulated.values()):
                result = hook(leaf)
                if result is not None and result is not leaf:
                    check_replacement(hook, leaf, result)
                    raise error("autograd.hook_after_result")
            for posthook in tuple(node.hooks.after_rules.values()):
                posthook((), (as_seen(arrived),))


def add_to_grad(tensor: TensorBase, g: Value, create_graph: bool) -> None:
    """Add a cotangent to ``tensor.grad``: in place, so that other references to it see the sum.

    Parameters
    ----------
    tensor : Tensor
    g : array or Tensor, shape of ``tensor``
        The tensor keeps an array as it is: it must not be in use elsewhere.
    create_graph : bool
        ``g`` is a Tensor with a history that ``.grad`` must keep; then the sum is a new tensor.
    """
    old = tensor._grad
    like = (tensor if old is None else old)._array
    if g.shape != like.shape:
        g = _fitted(g, like, old is None and not create_graph)
    if create_graph:
        total = wrap(_memory_for(g._array, like)[()]).copy_(g) if old is None else old + g
        if total._node is None:
            set_grad(tensor, total, by_backward=True)
        else:  # the leaf's node does not know it: that leads back there, and they would be a cycle
            tensor._grad = total
    elif old is None:
        if g.ndim > 1 and g.shape == like.shape and g.strides != like.strides:
            memory = _memory_for(g, like)
            memory[...] = g
            g = memory
        set_grad(tensor, gradient_of(g), by_backward=True)
    elif local.mode.grad_enabled is None:  # as under create_graph, but in inference mode
        tensor._grad = gradient_of(old._array + g)
    else:
        refuse_change(old, "add_")
        memory = writable(old)  # also where it is an expanded tensor
        memory += g
        note(old, next_number())


def _memory_for(g: Value, like: Value) -> np.ndarray[Any, Any]:
    """Return memory in which a gradient lies in the order of its leaf, as PyTorch has it."""
    return np.empty_like(like, g.dtype, "C" if 0 in like.strides else "K")


def _fitted(g: Value, like: Value, is_kept: bool) -> Value:
    """Return what arrives at a leaf that ``x.data = ...`` has given another size, expanded.

    If it is to be ``kept`` as the gradient, PyTorch only looks at how the elements lie.
    """
    shape = like.shape
    if is_kept and g.ndim <= like.ndim:
        steps = zip(g.shape, g.strides, like.strides, strict=False)
        is_alike = all(n == 1 or own == step for n, own, step in steps)
        if g.flags.c_contiguous if 0 in like.strides else is_alike:  # expanded: row by row
            return g
    try:
        together = np.broadcast_shapes(g.shape, shape)
    except ValueError:
        raise RuntimeError(broadcast_message("add", (shape, g.shape))) from None
    if together != shape:
        raise error("inplace.shape", old=list(shape), new=list(together))
    return np.broadcast_to(g, shape).copy() if isinstance(g, ARRAYS) else g.expand(shape)


def _retain(tensor: TensorBase, g: Value) -> None:
    """Add to the ``.grad`` of a tensor that is no leaf and wants to keep its gradient."""
    old = tensor._grad
    if not isinstance(g, ARRAYS):
        tensor._grad = g.clone() if old is None else old + g
    else:
        tensor._grad = gradient_of(g.copy() if old is None else old._array + g)


def _leading_to(inputs: set[Node], roots: Sequence[Node]) -> set[Node]:
    """Return the nodes that pass gradients on from a root to one of ``inputs``."""
    oldest = min((node.number for node in inputs), default=0)
    order: list[Node] = []
    visited = set(roots)
    stack = list(visited)
    while stack:
        node = stack.pop()
        order.append(node)
        for edge in (node.edge0, node.edge1, *node.more):
            if edge is not None and edge not in visited and edge.number >= oldest:
                visited.add(edge)
                stack.append(edge)
    useful = set(inputs)
    order.sort(key=attrgetter("number"))  # inputs before their consumers
    carriers = set()
    for node in order:
        if node.edge0 in useful or node.edge1 in useful or not useful.isdisjoint(node.more):
            carriers.add(node)
            useful.add(node)
    return carriers
