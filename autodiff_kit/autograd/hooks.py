"""Hooks: what the learner wants to be called when a gradient is complete.

After reading this file you know what a hook may return, and what the handle is that registering
one gives. Read next: ``engine.py``, which calls them.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["Gradients", "Hookable", "Hooks", "NodeHooks", "RemovableHandle", "as_gradient"]
__all__ += ["check_replacement", "move_retained", "refuse_result", "separate", "together"]


class Hooks:
    """What the learner asked to be called when a node's gradient is complete, by number."""

    __slots__ = (
        "after_rules",
        "before_rules",
        "metadata",
        "on_accumulated",
        "on_gradient",
        "retain",
    )

    count = 0  # of all that there are: without any, nobody sees in which order leaves are reached

    def __init__(self) -> None:
        Hooks.count += 1
        # AccumulateGrad.register_hook: after the sum is there.
        self.after_rules: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}  # whatever somebody wants to note at the node
        # Node.register_prehook: returns the cotangent to go on with.
        self.before_rules: dict[int, Callable[[Any], Any]] = {}
        # Tensor.register_hook, by number of the output: may replace the gradient, in order.
        self.on_gradient: dict[int, dict[int, Callable[[Tensor], Tensor | None]]] = {}
        # Tensor.register_post_accumulate_grad_hook.
        self.on_accumulated: dict[int, Callable[[Tensor], None]] = {}
        # Tensor.retain_grad: the tensors that want to keep the gradient, after all hooks.
        self.retain: dict[int, weakref.ref[Tensor]] = {}

    def __del__(self) -> None:
        Hooks.count -= 1


def move_retained(tensor: Tensor, old: Any, new: Any) -> None:
    """Let the node ``new`` retain the gradient for a tensor as ``old``, its node before, did."""
    if _retains(old, tensor):
        del old.whole.hooks.retain[old.output_nr]
        if new is not None:
            _of(new).retain[new.output_nr] = weakref.ref(tensor)


def _retains(node: Any, tensor: Tensor) -> bool:
    hooks = None if node is None else node.whole.hooks
    reference = None if hooks is None else hooks.retain.get(node.output_nr)
    return reference is not None and reference() is tensor


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook back, also when called twice."""

    _numbers = itertools.count()

    def __init__(self, hooks: dict[int, Any], hook: Callable[..., Any]) -> None:
        self.id = next(self._numbers)
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook back."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Hookable:
    """Mixed into ``Tensor``: how hooks are registered."""

    __slots__ = ()

    def retain_grad(self: Any) -> None:
        """Keep the gradient of this non-leaf tensor in ``.grad``; does nothing on leaves."""
        if not self.requires_grad:
            raise error("autograd.retain_grad_without_grad")
        from autodiff_kit.views import seems_leaf

        if not seems_leaf(self):
            _of(self._node).retain[self.output_nr] = weakref.ref(self)

    @property
    def retains_grad(self: Any) -> bool:
        """Whether ``retain_grad`` was asked for."""
        from autodiff_kit.views import latest_node, seems_leaf

        return not seems_leaf(self) and _retains(latest_node(self), self)

    def register_hook(self: Any, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(gradient)`` in every backward; what it returns replaces the gradient."""
        if not self.requires_grad:
            raise error("autograd.hook_without_grad")
        return RemovableHandle(_of(self._node).on_gradient.setdefault(self.output_nr, {}), hook)

    def register_post_accumulate_grad_hook(
        self: Any, hook: Callable[[Tensor], None]
    ) -> RemovableHandle:
        """Call ``hook(leaf)`` each time after backward has added to ``.grad``."""
        if not self.requires_grad:
            raise error("autograd.hook_without_grad")
        if not self.is_leaf:
            raise error("autograd.accumulation_hook_on_non_leaf")
        return RemovableHandle(_of(self._node).on_accumulated, hook)


def _of(node: Any) -> Hooks:
    node = node.whole
    hooks: Hooks | None = node.hooks
    if hooks is None:
        hooks = node.hooks = Hooks()
    return hooks


class Gradients(dict[int, Any]):
    """The cotangents that have arrived at a node with several outputs, by number of the output."""

    __slots__ = ()
    shape = None  # as the node's: of several outputs, each has its own

    def __add__(self, others: dict[int, Any]) -> Gradients:
        """Put in what else arrives: nobody but the engine has these."""
        for index, g in others.items():
            self[index] = self[index] + g if index in self else g
        return self


def separate(g: Any, count: int | None) -> list[Any]:
    """Return the cotangents of a node's outputs, None where nothing has arrived.

    ``count`` is how many outputs there are, of a node that has several.
    """
    if count is None:
        return [g]
    return [None if g is None else g.get(index) for index in range(count)]


def together(parts: Sequence[Any], count: int | None) -> Any:
    """Return what ``separate`` has taken apart."""
    if count is None:
        return parts[0]
    arrived = {index: g for index, g in enumerate(parts) if g is not None}
    return Gradients(arrived) if arrived else None


def as_gradient(tensor: Any) -> Any:
    """Return what a hook has returned as the engine carries it: an array, or a Tensor."""
    if tensor is None or local.mode.grad_enabled:  # under create_graph
        return tensor
    return tensor._array.copy()  # the learner may hold it, and a leaf would keep the array


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

    @property
    def shown(self) -> Any:
        """The node that stands for this one when somebody looks."""
        return self.whole

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for notes, such as the anomaly mode's."""
        return _of(self).metadata

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the rules; a tuple it returns replaces them."""
        from autodiff_kit.autograd.graph import as_tensors

        count = self.count

        def before(g: Any) -> Any:
            given = as_tensors(g, count)
            result = hook(given)
            if result is None:
                return g
            part: Any
            for part, replaced in zip(given, result, strict=False):
                if replaced is not None:
                    check_replacement(hook, part, replaced)
            return together([*map(as_gradient, result)], count)

        return RemovableHandle(_of(self).before_rules, before)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the rules.

        A tuple it returns replaces what goes to the inputs; at a leaf's node ``grad_inputs`` is
        empty, and the hook is called after ``.grad`` is set.
        """
        from autodiff_kit.autograd.graph import hooked

        if self.op.name == "accumulate_grad":
            return RemovableHandle(_of(self).after_rules, hook)
        if not hasattr(self.op, "after"):
            _of(self)  # which counts, so that hooks are told of the pass that calls them
            self.op = hooked(self.op, self._all_edges(), self.count)
        return RemovableHandle(self.op.after, hook)

    def __call__(self, *gradients: Any) -> Any:
        """Return what the rules send to the inputs for these gradients of the outputs."""
        from autodiff_kit.autograd.graph import contributions, inputs_shown
        from autodiff_kit.ops.apply import rebuilt

        node: Any = self
        node.check_saved()
        expected = 1 if node.count is None else node.count
        if len(gradients) != expected:
            raise error("graph.call_count", expected=expected, got=len(gradients))
        g = together(gradients, node.count)
        edges = self._all_edges()
        sent = contributions(node.op, edges, g, rebuilt(node))
        result = tuple(sent[i] for i in inputs_shown(node.op, len(edges)))
        return result[0] if len(result) == 1 else result

    def _all_edges(self) -> tuple[Any, ...]:
        node: Any = self
        return (node.edge0, node.edge1, *node.more)


def check_replacement(hook: Any, gradient: Tensor | None, replaced: Any) -> None:
    """Refuse what a hook returned if it is no tensor, or one of another dtype or shape."""
    name = getattr(hook, "__name__", "<unknown>")
    if not hasattr(replaced, "_array"):
        refuse_result(replaced)
    if gradient is None:
        raise error("autograd.hook_of_nothing")
    if replaced.dtype is not gradient.dtype:
        was, got = (tensor_type(t._array.dtype) for t in (gradient, replaced))
        raise error("autograd.hook_dtype", name=name, was=was, got=got)
    if replaced.shape != gradient.shape:
        raise error("autograd.hook_shape", name=name, was=gradient.shape, got=replaced.shape)


def refuse_result(result: Any) -> None:
    """Raise TypeError for something that no hook may return."""
    raise error("autograd.hook_result", kind=type(result).__name__)
