"""Hooks of nodes, and calling a node: what ``grad_fn`` offers besides its place in a graph.

After reading this file you know how a hook of a node gets to see what its rules send, and what the
engine says of a rule that sends a wrong shape. Read next: ``node.py``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from autodiff_kit.core.base import ARRAYS
from autodiff_kit.core.hooks import (
    Hooks,
    RemovableHandle,
    as_gradient,
    check_replacement,
    gradient_of,
    hooks_of,
    separate,
    together,
)
from autodiff_kit.core.mode import local, thread_local
from autodiff_kit.core.op import Op, Value
from autodiff_kit.core.versions import memory_of, share
from autodiff_kit.errors import error
from autodiff_kit.late import late

__all__ = ["NodeHooks", "as_tensors", "contributions", "hooked"]
__all__ += ["OpOfOneNode", "Visit", "as_seen", "current_task", "inputs_shown", "looked_into"]
__all__ += ["registered", "running", "show_as"]


class _Local(thread_local):
    task: Callable[[], Any] = staticmethod(lambda: None)
    inflow: Sequence[tuple[Value, Any]] = ()  # what flows in, with the tensors that it is of


class _Registered:
    """What ``view_nodes.py`` registers, whose nodes can have hooks themselves."""

    note_view: Callable[[Any, Any], None]


running, registered = _Local(), _Registered()


def current_task() -> Any:
    """Return the backward pass of this thread that has called a hook."""
    return running.task()


def as_seen(g: Value) -> Any:
    """Return a cotangent as the Tensor that hooks and Functions see."""
    if not isinstance(g, ARRAYS):
        return g
    for array, tensor in running.inflow:
        if array is g:
            return tensor
    return looked_into(g, [tensor for _, tensor in running.inflow])


def show_as(array: Value, tensor: Any) -> None:
    """Let hooks see an array, a copy of what was given to flow in, as that."""
    if running.inflow and tensor.requires_grad:
        running.inflow = [*running.inflow, (array, tensor)]


def looked_into(g: Value, owned_by: Sequence[Any]) -> Any:
    """Return an array as a Tensor; one that looks into another's memory is a view, as in PyTorch.

    So no in-place change reaches, for example, what the rule of a sum has repeated without copying.
    The other may be one of ``owned_by``, tensors that were passed to flow in.
    """
    gradient = gradient_of(g)
    base = getattr(g, "base", None)
    if isinstance(base, np.ndarray) and base.dtype == g.dtype:  # else bits, see ops.masked
        memory = memory_of(g)
        owners = (tensor for tensor in owned_by if memory_of(share(tensor)) is memory)
        enabled, local.mode.grad_enabled = local.mode.grad_enabled, False
        registered.note_view(gradient, next(owners, gradient_of(base)))
        local.mode.grad_enabled = enabled
    return gradient


class NodeHooks:
    """Mixed into ``Node``: to note something at it, hang hooks on it, call it."""

    __slots__ = ()
    output_nr = 0
    count: int | None = None  # of outputs, where there are several

    op: Any
    hooks: Hooks | None

    @property
    def whole(self) -> Any:
        """The node of all outputs, where this one stands for one of several."""
        return self

    def by_output(self, g: Any) -> Any:
        """Return the cotangent ``g`` as ``whole`` takes it: by the number of the output."""
        return g

    @property
    def shown(self) -> Any:
        """The node that stands for this one in ``grad_fn`` and ``next_functions``."""
        return self.whole

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for notes, such as the anomaly mode's."""
        return hooks_of(self).metadata

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the rules; a tuple it returns replaces them."""
        count = self.count

        def before(g: Any) -> Any:
            grad_outputs = as_tensors(g, count)
            result = hook(grad_outputs)
            if result is None:
                return g
            part: Any
            for part, replacement in zip(grad_outputs, result, strict=False):
                if replacement is not None:
                    check_replacement(hook, part, replacement)
            return together([*map(as_gradient, result)], count)

        return RemovableHandle(hooks_of(self).before_rules, before)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the rules.

        A tuple it returns replaces what goes to the inputs; at a leaf's node ``grad_inputs`` is
        empty, and the hook is called after ``.grad`` is set.
        """
        if self.op.name == "accumulate_grad":
            return RemovableHandle(hooks_of(self).after_rules, hook)
        if not hasattr(self.op, "after"):
            hooks_of(self)  # which counts, so that hooks are told of the pass that calls them
            self.op = hooked(self.op, self._all_edges(), self.count)
        return RemovableHandle(self.op.after, hook)

    def __call__(self, *gradients: Any) -> Any:
        """Return what the rules send to the inputs for these gradients of the outputs."""
        node: Any = self
        node.check_saved()
        expected = 1 if node.count is None else node.count
        if len(gradients) != expected:
            raise error("graph.call_count", expected=expected, got=len(gradients))
        g = together(gradients, node.count)
        edges = self._all_edges()
        grad_inputs = node.recorded(contributions)(node.op, edges, g, node.rebuild())
        result = tuple(grad_inputs[i] for i in inputs_shown(node.op, len(edges)))
        return result[0] if len(result) == 1 else result

    def misfit(self, index: int, new_shape: tuple[int, ...]) -> Exception:
        """Return the error for a contribution that has not the shape of the input it belongs to."""
        edges, node = self._all_edges(), cast(Any, self)
        number, shape = inputs_shown(node.op, len(edges)).index(index), list(edges[index].shape)
        return error(
            "function.gradient_shape",
            name=node.name(),
            index=number,
            got=list(new_shape),
            shape=shape,
        )

    def _all_edges(self) -> tuple[Any, ...]:
        node: Any = self
        return (node.edge0, node.edge1, *node.more)


class Visit:
    """What the first rule of a visit found out, until the last rule has had it, too."""

    __slots__ = ("g", "left", "readers", "result")

    def __init__(self, edges: tuple[Any, ...]) -> None:
        self.readers = sum(edge is not None for edge in edges)
        self.left, self.g, self.result = 0, None, None

    def once(self, g: Value, find: Callable[[], Any]) -> Any:
        """Return what ``find()`` returns; call it for the first rule only."""
        if not self.left or self.g is not g:
            self.g, self.result, self.left = g, find(), self.readers
        result = self.result
        self.left -= 1
        if not self.left:
            self.g = self.result = None
        return result


class OpOfOneNode:
    """An op whose rules are one node's own: they unpack what it has saved, or call its hooks."""

    # Unpacked also where PyTorch then computes nothing; hooks are always called.
    always_calls_rules = True

    def __init__(self, op: Op, rules: Sequence[Callable[..., Value]], **own: Any) -> None:
        self.op = op
        self.sends_all = op.sends_all if isinstance(op, OpOfOneNode) else op.always_calls_rules
        self.rule0, self.rule1, *self.rules_of_more = rules
        for name, value in own.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.op, name)  # no copy: there is one for each node


def hooked(op: Op, edges: tuple[Any, ...], count: int | None) -> Any:
    """Return an op for one node, after whose rules the hooks in its ``after`` are called.

    ``count`` is how many outputs the node has, if several.
    """
    visit = Visit(edges)
    after: dict[int, Callable[..., Any]] = {}

    def rule_of(index: int) -> Callable[..., Value]:
        def rule(g: Value, *values: Any) -> Value:
            return visit.once(g, lambda: _hooked(after, op, edges, g, values, count))[index]

        return rule

    return OpOfOneNode(op, [rule_of(i) for i in range(max(2, len(edges)))], after=after)


def contributions(op: Op, edges: tuple[Any, ...], g: Value, values: Any) -> list[Any]:
    """Call the rules for all inputs; return what they send, un-broadcast, None without an edge.

    Where one of any number of tensors is to have its part, each has: PyTorch cuts them at once.
    """
    rules: Iterable[Any] = itertools.chain((op.rule0, op.rule1), op.rules_of_more)
    task = current_task()
    useful = None if task is None else task.useful
    sends_all = op.sends_all if isinstance(op, OpOfOneNode) else op.always_calls_rules
    grad_inputs: list[Any] = []
    is_one_useful = useful is None or not useful.isdisjoint(edges)
    if local.mode.inside and type(op) is Op:
        rules = (late("ops").second.recorded_rule(op, rule) for rule in rules)
    for index, (edge, rule) in enumerate(zip(edges, rules, strict=False)):
        is_useful = g is not None and (useful is None or edge in useful)
        is_edge = edge is not None and edge.shown is not None  # else one that leads nowhere
        if op.is_variadic and index > 1:
            is_edge, is_useful = True, g is not None and is_one_useful
        part = rule(g, *values) if is_edge and (is_useful or op.always_calls_rules) else None
        if not (is_useful or sends_all):
            part = None  # computed only because what it reads had to be unpacked
        if edge is not None and part is not None and part.shape != edge.shape:
            part = late("ops").sum_to(part, shape=edge.shape)
        grad_inputs.append(part)
    return grad_inputs


def inputs_shown(op: Op, count: int) -> list[int]:
    """Return which of ``count`` edges PyTorch shows: those with a rule."""
    if op.is_variadic:
        return list(range(2, count))
    return [i for i, name in enumerate(op.inputs) if name in op.rules]


def _hooked(
    after: dict[int, Callable[..., Any]],
    op: Op,
    edges: Any,
    g: Value,
    values: Any,
    count: int | None,
) -> list[Any]:
    grad_inputs = contributions(op, edges, g, values)
    if any(
        edge is not None and part is not None and part.shape != edge.shape
        for edge, part in zip(edges, grad_inputs, strict=False)
    ):
        return grad_inputs  # which the engine refuses; no hook is called before
    indices = inputs_shown(op, len(edges))
    grad_outputs = as_tensors(g, count)
    local.mode.inside = False  # hooks are the learner's own
    for hook in tuple(after.values()):
        result = hook(tuple(map(as_seen, (grad_inputs[i] for i in indices))), grad_outputs)
        if result is None:
            continue
        if not isinstance(result, tuple):
            raise error("graph.hook_result", kind=type(result).__name__)
        if len(result) != len(indices):
            name = getattr(hook, "__name__", "<unknown>")
            raise error("graph.hook_count", name=name, got=len(result), expected=len(indices))
        for i, part in zip(indices, result, strict=True):
            grad_inputs[i] = as_gradient(part)
    return grad_inputs


def as_tensors(g: Any, count: int | None = None) -> tuple[Any, ...]:
    """Return a node's cotangent, or those of its ``count`` outputs, as Tensors."""
    return tuple(map(as_seen, separate(g, count)))
