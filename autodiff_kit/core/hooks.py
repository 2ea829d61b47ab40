"""Hooks: what the learner wants to be called when a gradient is complete.

After reading this file you know what a hook may return, and what the handle is that registering
one gives. Read next: ``autograd/engine.py``, which calls them.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from autodiff_kit.core.base import INFERENCE, hook_count, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error

__all__ = ["Gradients", "Hooks", "RemovableHandle", "as_gradient", "check_replacement"]
__all__ += ["gradient_of", "hooks_of", "move_retained", "retains", "separate", "together"]


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

    def __init__(self) -> None:
        hook_count.number += 1
        # AccumulateGrad.register_hook: after the sum is there.
        self.after_rules: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}  # free for notes of the user at the node
        # Node.register_prehook: returns the cotangent to go on with.
        self.before_rules: dict[int, Callable[[Any], Any]] = {}
        # Tensor.register_hook, by number of the output: may replace the gradient, in order.
        self.on_gradient: dict[int, dict[int, Callable[[Any], Any]]] = {}
        # Tensor.register_post_accumulate_grad_hook.
        self.on_accumulated: dict[int, Callable[[Any], None]] = {}
        # Tensor.retain_grad: the tensors that want to keep the gradient, after all hooks.
        self.retain: dict[int, weakref.ref[Any]] = {}

    def __del__(self) -> None:
        hook_count.number -= 1


def move_retained(tensor: Any, old: Any, new: Any) -> None:
    """Let the node ``new`` retain the gradient for a tensor as ``old``, its node before, did."""
    if retains(old, tensor):
        del old.whole.hooks.retain[old.output_nr]
        if new is not None:
            hooks_of(new).retain[new.output_nr] = weakref.ref(tensor)


def retains(node: Any, tensor: Any) -> bool:
    """Return whether a node retains the gradient for this tensor."""
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


def hooks_of(node: Any) -> Hooks:
    """Return the hooks of a node, made when they are first asked for."""
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
        """Add what else arrives: only the engine has these."""
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
    by_index = {index: g for index, g in enumerate(parts) if g is not None}
    return Gradients(by_index) if by_index else None


def gradient_of(array: Any) -> Any:
    """Return an array that a rule has made as a tensor."""
    gradient = wrap(array)
    if local.mode.inference:
        gradient._changes = INFERENCE
    return gradient


def as_gradient(tensor: Any) -> Any:
    """Return what a hook has returned as the engine carries it: an array, or a Tensor."""
    if tensor is None or local.mode.grad_enabled:  # under create_graph
        return tensor
    return tensor._array.copy()  # the learner may hold it, and a leaf would keep the array


def check_replacement(hook: Any, gradient: Any, replacement: Any) -> None:
    """Refuse what a hook returned if it is no tensor, or one of another dtype or shape."""
    name = getattr(hook, "__name__", "<unknown>")
    if not hasattr(replacement, "_array"):
        raise error("autograd.hook_result", kind=type(replacement).__name__)
    if gradient is None:
        raise error("autograd.hook_of_nothing")
    if replacement.dtype is not gradient.dtype:
        was, new = (tensor_type(t._array.dtype) for t in (gradient, replacement))
        raise error("autograd.hook_dtype", name=name, was=was, got=new)
    if replacement.shape != gradient.shape:
        raise error("autograd.hook_shape", name=name, was=gradient.shape, got=replacement.shape)
