"""Hooks: what the learner wants to be called when a gradient is complete.

After reading this file you know what a hook may return, and what the handle is that registering
one gives. Read next: ``engine.py``, which calls them.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["Hooks", "RemovableHandle", "check_replacement", "refuse_result"]


class Hooks:
    """What the learner asked to be called when a node's gradient is complete.

    Attributes
    ----------
    on_gradient : dict
        ``Tensor.register_hook``: number -> function; may replace the gradient, in order.
    retain : weakref or None
        ``Tensor.retain_grad``: the tensor that wants to keep the gradient, after all hooks.
    on_accumulated : dict
        ``Tensor.register_post_accumulate_grad_hook``.
    """

    __slots__ = ("on_accumulated", "on_gradient", "retain")

    def __init__(self) -> None:
        self.on_gradient: dict[int, Callable[[Tensor], Tensor | None]] = {}
        self.on_accumulated: dict[int, Callable[[Tensor], None]] = {}
        self.retain: weakref.ref[Tensor] | None = None


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


def check_replacement(hook: Any, gradient: Tensor, replaced: Any) -> None:
    """Refuse what a hook returned if it cannot stand for the gradient.

    Raises
    ------
    TypeError, RuntimeError
        If it is not a tensor, or one of another dtype or shape.
    """
    name = getattr(hook, "__name__", "<unknown>")
    if not hasattr(replaced, "_array"):
        refuse_result(replaced)
    if replaced.dtype is not gradient.dtype:
        was, got = (tensor_type(t._array.dtype) for t in (gradient, replaced))
        raise RuntimeError(
            teach(
                f"hook '{name}' has changed the type of value (was torch.{was}Tensor got "
                f"torch.{got}Tensor)",
                "A gradient has its tensor's dtype: return g.to(x.dtype).",
            )
        )
    if replaced.shape != gradient.shape:
        raise RuntimeError(
            teach(
                f"hook '{name}' has changed the size of value",
                f"The gradient has shape {list(gradient.shape)}, the hook returned "
                f"{list(replaced.shape)}.",
            )
        )


def refuse_result(result: Any) -> None:
    """Raise TypeError for something that no hook may return."""
    raise TypeError(
        teach(
            f"expected Variable, but hook returned '{type(result).__name__}'",
            "A hook returns nothing, or a tensor that replaces the gradient.",
        )
    )
