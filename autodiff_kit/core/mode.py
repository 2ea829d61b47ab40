"""What one thread is doing: whether operations are recorded, and who watches.

After reading this file you know the flags behind ``no_grad`` and ``inference_mode``, which these
only set and put back. Every thread has its own. Read next: ``ops/apply.py``.
"""

from __future__ import annotations

from _thread import _local as thread_local  # loading ``threading`` takes 1 % of NumPy's import
from typing import Any

from autodiff_kit.core.quiet import quiet

__all__ = ["Mode", "Switch", "local", "recording", "thread_local"]


class Mode:
    """What one thread is doing: ``local.mode``.

    Attributes
    ----------
    grad_enabled : bool or None
        Whether what is computed is recorded; None: it would be, but for inference mode.
    inference : bool
        Whether results are inference tensors: never recorded, no version counter.
    inside : bool
        Whether a rule is recorded, as PyTorch's functions in C++ are.
    observer : Observer or None
        Told about every step when there is one (``observer.py``).
    quietly : callable
        Calls a function so that NumPy does not warn about ``1 / 0`` or overflow (``quiet.py``).
    """

    __slots__ = ("grad_enabled", "inference", "inside", "observer", "quietly")

    def __init__(self) -> None:
        self.grad_enabled: bool | None = True
        self.inference = self.inside = False
        self.observer: Any = None
        self.quietly = quiet.caller()


class _Local(thread_local):
    def __init__(self) -> None:
        self.mode = Mode()
        self.fresh: Any = None  # the leaves made by ``torch.func``, if it differentiates what runs


local = _Local()


class Switch:
    """Set the flags on entry, put the old ones back on exit."""

    _grad: bool
    _inference: bool | None = None  # None: leave as it is
    # What to put back, and what to put back after that: the same object may be entered twice.
    _before: tuple[Any, ...] | None = None

    def __enter__(self) -> None:
        mode = local.mode
        self._before = mode.grad_enabled, mode.inference, self._before
        if self._inference is not None:
            mode.inference = self._inference
        mode.grad_enabled = self._grad and (not mode.inference or None)

    def __exit__(self, *exc: object) -> None:
        mode = local.mode
        assert self._before is not None
        mode.grad_enabled, mode.inference, self._before = self._before


class recording(Switch):
    """Record operations inside, in whatever mode the thread is."""

    _grad, _inference = True, False
