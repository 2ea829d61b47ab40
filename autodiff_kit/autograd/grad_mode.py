"""Grad modes: when operations are recorded, and when not.

After reading this file you know why ``with torch.no_grad():`` is nothing more than a flag that
is put back afterwards. Every thread has its own flag. Read next: ``more_modes.py`` for
the rarer ones, or ``core/node.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.decorators import AsDecorator
from autodiff_kit.core.mode import local

__all__ = ["Switch", "enable_grad", "is_grad_enabled", "is_inference_mode_enabled", "no_grad"]


def is_grad_enabled() -> bool:
    """Return whether operations are being recorded in this thread."""
    return local.mode.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is in inference mode."""
    return local.mode.inference


class Switch(AsDecorator):
    """Set the flags on entry, put the old ones back on exit; also works as a decorator."""

    _grad: bool
    _inference: bool | None = None  # None: leave as it is

    # What to put back, and what to put back after that: the same object may be entered twice.
    _before: tuple[Any, ...] | None = None

    def __enter__(self) -> None:
        mode = local.mode
        self._before = mode.grad_enabled, mode.inference, self._before
        if self._inference is not None:
            mode.inference = self._inference
        mode.grad_enabled = self._grad and not mode.inference

    def __exit__(self, *exc: object) -> None:
        mode = local.mode
        assert self._before is not None
        mode.grad_enabled, mode.inference, self._before = self._before

    def _fresh(self) -> Switch:
        return type(self)()


class _BareSwitch(Switch):
    """A switch without arguments, usable as ``@no_grad`` and as ``@no_grad()``."""

    def __new__(cls, function: Any = None) -> Any:
        """Make a switch, or wrap the function that stands below ``@no_grad``."""
        return object.__new__(cls) if function is None else cls()(function)


class no_grad(_BareSwitch):
    """Do not record operations inside: no graph, no saved values, no gradient.

    Works as a context manager and as a decorator (of generator functions too). Results inside
    have ``requires_grad=False``; tensors made there with ``requires_grad=True`` keep it.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 3
    >>> y.requires_grad
    False
    """

    _grad = False


class enable_grad(_BareSwitch):
    """Record operations inside, also within a surrounding ``no_grad``."""

    _grad = True
