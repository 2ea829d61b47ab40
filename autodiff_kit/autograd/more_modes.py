"""Two more modes: ``set_grad_enabled``, which takes the answer as an argument, and inference mode.

Read ``grad_mode.py`` first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autodiff_kit.autograd.grad_mode import AsDecorator
from autodiff_kit.core.mode import Switch, local
from autodiff_kit.errors import error

__all__ = ["inference_mode", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])


class set_grad_enabled(AsDecorator, Switch):
    """Switch recording on or off at once; as a context manager, put it back on exit."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise error("autograd.set_grad_enabled", kind=type(mode).__name__)
        self._grad = mode
        self._at_once = local.mode.grad_enabled
        local.mode.grad_enabled = self._grad and (not local.mode.inference or None)

    def __enter__(self) -> None:
        # What must come back is the mode before the call, not the one it has set already.
        local.mode.grad_enabled = self._at_once
        super().__enter__()

    def __call__(self, function: F) -> F:
        """Return ``function`` as one that runs in this mode; the mode itself is put back."""
        local.mode.grad_enabled = self._at_once
        return super().__call__(function)

    def _fresh(self) -> Switch:
        switch = Switch()
        switch._grad = self._grad
        return switch


class inference_mode(AsDecorator, Switch):
    """Like ``no_grad``, and stricter: results can never take part in a graph again.

    A ``mode`` of False records again, also inside of a surrounding inference mode.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """Make a switch, or wrap the function that stands below ``@inference_mode``."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._grad, self._inference = not mode, mode

    def _fresh(self) -> Switch:
        return type(self)(bool(self._inference))
