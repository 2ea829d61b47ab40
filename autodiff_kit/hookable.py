"""How hooks are registered with a tensor.

After reading this file you know what ``x.register_hook`` and ``x.retain_grad`` ask for. Read next:
``core/hooks.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from autodiff_kit.calls import check_calls
from autodiff_kit.core.hooks import RemovableHandle, hooks_of, retains
from autodiff_kit.errors import error
from autodiff_kit.views import latest_node, node_of, seems_leaf

__all__ = ["Hookable"]


class Hookable:
    """Mixed into ``Tensor``: how hooks are registered."""

    __slots__ = ()

    def retain_grad(self: Any) -> None:
        """Keep the gradient of this non-leaf tensor in ``.grad``; does nothing on leaves."""
        if not self.requires_grad:
            raise error("autograd.retain_grad_without_grad")
        if not seems_leaf(self):
            hooks_of(node_of(self)).retain[self.output_nr] = weakref.ref(self)

    @property
    def retains_grad(self: Any) -> bool:
        """Whether ``retain_grad`` was asked for."""
        return not seems_leaf(self) and retains(latest_node(self), self)

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(gradient)`` in every backward; what it returns replaces the gradient."""
        if not self.requires_grad:
            raise error("autograd.hook_without_grad")
        node, number = latest_node(self), self.output_nr
        if node is None or node.whole.hooks is None or number not in node.whole.hooks.on_gradient:
            node = node_of(self)  # later ones go where the first is, though a view may lag behind
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
