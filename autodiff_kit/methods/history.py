"""The methods that concern the graph: who requires grad, whose gradient is kept, hooks.

After reading this file you know what ``requires_grad_``, ``retain_grad`` and ``register_hook`` do,
and that a view is asked for its history only where it must be. Read next: ``../core/hooks.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from autodiff_kit import views
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import TensorBase
from autodiff_kit.core.hooks import RemovableHandle, hooks_of, retains
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import c_type, tensor_type
from autodiff_kit.errors import error, warn_of_grad

__all__ = ["History"]


def _check_grad(tensor: Any, value: Any) -> None:
    """Refuse a value for ``tensor.grad`` that is not a tensor of the same shape and dtype."""
    if not isinstance(value, TensorBase):
        raise error("autograd.grad_type", kind=type(value).__name__)
    if value is tensor:
        raise error("autograd.grad_is_itself")
    own, g = tensor._array, value._array
    if own.dtype != g.dtype:
        kinds = c_type(g.dtype), tensor_type(own.dtype)
        raise error("autograd.grad_dtype", given=kinds[0], own=kinds[1])
    if own.shape != g.shape:
        raise error("autograd.grad_shape", given=list(g.shape), own=list(own.shape))


class History:
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _stale_node: Any
    _grad: Any
    _base: Any

    def _latest_node(self: Any) -> Any:
        """Return the node, that of a view made anew where its base has changed."""
        return views.node_of(self)

    def _has_node(self: Any) -> bool:
        """Return whether the tensor has a node; a view is not asked for its history for that."""
        if views.is_stale(self):
            return self._stale_node is not None or self._base._node is not None
        return self._node is not None

    def _require_grad(self: Any, value: bool) -> None:
        """Give a leaf a node that accumulates into it, or take that away."""
        if isinstance(value, bool) and not views.seems_leaf(self):
            key = "autograd.flag_of_non_leaf_set" if value else "autograd.flag_of_non_leaf"
            raise error(key, node=views.latest_node(self).name())
        views.require_grad(self, value, "floating point and complex")

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        """Set ``requires_grad`` and return the tensor itself."""
        if local.fresh is not None:
            raise error("func.requires_grad")
        if not requires_grad and not views.seems_leaf(self):
            raise error("autograd.flag_of_non_leaf", node=views.latest_node(self).name())
        if views.seems_leaf(self) or not self.is_floating_point():
            views.require_grad(self, requires_grad, "floating point")
        return self

    def _warn_of_grad(self: Any) -> None:
        """Warn that ``.grad``, which is None, stays so unless ``retain_grad`` is called."""
        if not self.is_leaf and not self.retains_grad:
            warn_of_grad(stacklevel=4)

    _check_grad, _set_grad = _check_grad, views.set_grad

    def retain_grad(self: Any) -> None:
        """Keep the gradient of this non-leaf tensor in ``.grad``; does nothing on leaves."""
        if not self.requires_grad:
            raise error("autograd.retain_grad_without_grad")
        if not views.seems_leaf(self):
            hooks_of(views.node_of(self)).retain[self.output_nr] = weakref.ref(self)

    @property
    def retains_grad(self: Any) -> bool:
        """Whether ``retain_grad`` was asked for."""
        return not views.seems_leaf(self) and retains(views.latest_node(self), self)

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(gradient)`` in every backward; what it returns replaces the gradient."""
        if not self.requires_grad:
            raise error("autograd.hook_without_grad")
        node, number = views.latest_node(self), self.output_nr
        if node is None or node.whole.hooks is None or number not in node.whole.hooks.on_gradient:
            node = views.node_of(self)  # later ones go where the first is, if a view lags, too
        return RemovableHandle(hooks_of(node).on_gradient.setdefault(self.output_nr, {}), hook)

    def register_post_accumulate_grad_hook(
        self: Any, hook: Callable[[Any], None]
    ) -> RemovableHandle:
        """Call ``hook(leaf)`` each time after backward has added to ``.grad``."""
        if not self.requires_grad:
            raise error("autograd.hook_without_grad")
        if not self.is_leaf:
            raise error("autograd.accumulation_hook_on_non_leaf")
        return RemovableHandle(hooks_of(self._node).on_accumulated, hook)

    check_calls(vars())
