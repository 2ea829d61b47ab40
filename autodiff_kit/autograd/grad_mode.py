"""Grad modes by name: ``no_grad`` and ``enable_grad``, as context managers and as decorators.

What they set, and how it is put back, is in ``core/mode.py``. Read next: ``more_modes.py`` for the
rarer ones.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.decorators import AsDecorator
from autodiff_kit.core.mode import Switch, local

__all__ = ["enable_grad", "is_grad_enabled", "is_inference_mode_enabled", "no_grad"]


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread, if inference mode does not forbid."""
    return local.mode.grad_enabled is not False


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is in inference mode."""
    return local.mode.inference


class _BareSwitch(AsDecorator, Switch):
    """A switch without arguments, usable as ``@no_grad`` and as ``@no_grad()``."""

    def __new__(cls, function: Any = None) -> Any:
        """Make a switch, or wrap the function that stands below ``@no_grad``."""
        return object.__new__(cls) if function is None else cls()(function)

    def _fresh(self) -> Switch:
        return type(self)()


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
