"""Hooks: what the learner wants to be called when a gradient is complete.

After reading this file you know what a hook may return, and what the handle is that registering
one gives. Read next: ``engine.py``, which calls them.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["Gradients", "Hookable", "Hooks", "NodeHooks", "RemovableHandle", "check_replacement"]
__all__ += ["move_retained", "refuse_result"]


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
        # Tensor.register_hook: may replace the gradient, in order.
        self.on_gradient: dict[int, Callable[[Tensor], Tensor | None]] = {}
        # Tensor.register_post_accumulate_grad_hook.
        self.on_accumulated: dict[int, Callable[[Tensor], None]] = {}
        # Tensor.retain_grad: the tensor that wants to keep the gradient, after all hooks.
        self.retain: weakref.ref[Tensor] | None = None

    def __del__(self) -> None:
        Hooks.count -= 1


def move_retained(tensor: Tensor, old: Any, new: Any) -> None:
    """Let the node ``new`` retain the gradient for a tensor as ``old``, its node before, did."""
    hooks = None if old is None else old.hooks
    if hooks is not None and hooks.retain is not None and hooks.retain() is tensor:
        hooks.retain = None
        if new is not None:
            _of(new).retain = weakref.ref(tensor)


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
        if not self.is_leaf:
            _of(self._node).retain = weakref.ref(self)

    @property
    def retains_grad(self: Any) -> bool:
        """Whether ``retain_grad`` was asked for."""
        hooks = None if self.is_leaf else self._node.hooks
        return hooks is not None and hooks.retain is not None and hooks.retain() is self

    def register_hook(self: Any, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(gradient)`` in every backward; what it returns replaces the gradient."""
        if not self.requires_grad:
            raise error("autograd.hook_without_grad")
        return RemovableHandle(_of(self._node).on_gradient, hook)

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
    hooks: Hooks | None = node.hooks
    if hooks is None:
        hooks = node.hooks = Hooks()
    return hooks


class Gradients:
    """The cotangents of several outputs, on their way to the node that has made them all.

    ``parts`` has one for each output, None where nothing has arrived; ``shape`` is as if they were
    one vector: so is the node's.
    """

    __slots__ = ("parts", "shape", "shapes")

    def __init__(self, parts: tuple[Any, ...], shapes: tuple[Any, ...]) -> None:
        self.parts, self.shapes, self.shape = parts, shapes, self.shape_of(shapes)

    @staticmethod
    def shape_of(shapes: tuple[Any, ...]) -> tuple[int]:
        """Return the shape of outputs of these shapes; None stands for one that is no tensor."""
        return (sum(math.prod(shape) for shape in shapes if shape is not None),)

    @classmethod
    def only(cls, g: Any, index: int, shapes: tuple[Any, ...]) -> Gradients:
        """Make the cotangents of outputs of which one has arrived."""
        return cls(tuple(g if i == index else None for i in range(len(shapes))), shapes)

    def __add__(self, other: Gradients) -> Gradients:
        pairs = zip(self.parts, other.parts, strict=True)
        return Gradients(tuple(_sum(a, b) for a, b in pairs), self.shapes)

    @property
    def _array(self) -> Any:
        """The vector, for whoever watches."""
        whole = zip(self.parts, self.shapes, strict=True)
        filled = [
            np.zeros(s) if g is None else getattr(g, "_array", g) for g, s in whole if s is not None
        ]
        return np.concatenate([np.ravel(g) for g in filled])


class NodeHooks:
    """Mixed into ``Node``: to note something at it, hang hooks on it, call it."""

    __slots__ = ()
    output_nr = 0

    op: Any
    hooks: Hooks | None

    @property
    def shown(self) -> Any:
        """The node that stands for this one when somebody looks."""
        return self

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for notes, such as the anomaly mode's."""
        return _of(self).metadata

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the rules; a tuple it returns replaces them."""
        from autodiff_kit.autograd.graph import as_tensors

        def before(g: Any) -> Any:
            result = hook(as_tensors(g))
            if result is None:
                return g
            if isinstance(g, Gradients):
                return Gradients(result, g.shapes)
            return result[0] if hasattr(g, "_array") else result[0]._array

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
            self.op = hooked(self.op, self._all_edges())
        return RemovableHandle(self.op.after, hook)

    def __call__(self, *gradients: Any) -> Any:
        """Return what the rules send to the inputs for these gradients of the outputs."""
        from autodiff_kit.autograd.graph import contributions, inputs_shown
        from autodiff_kit.ops.apply import rebuilt

        node: Any = self
        node.check_saved()
        g = gradients[0]
        if len(gradients) > 1:
            g = Gradients(gradients, tuple(g and g.shape for g in gradients))
        edges = self._all_edges()
        sent = contributions(node.op, edges, g, rebuilt(node))
        result = tuple(sent[i] for i in inputs_shown(node.op, len(edges)))
        return result[0] if len(result) == 1 else result

    def _all_edges(self) -> tuple[Any, ...]:
        node: Any = self
        return (node.edge0, node.edge1, *node.more)


def check_replacement(hook: Any, gradient: Tensor, replaced: Any) -> None:
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


def _sum(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b
