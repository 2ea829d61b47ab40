"""Inference mode: ``no_grad`` whose results can never take part in a graph again.

Read next: ``grad_mode.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.grad_mode import Switch

__all__ = ["inference_mode"]


class inference_mode(Switch):
    """Like ``no_grad``, and stricter: results can never take part in a graph again.

    Parameters
    ----------
    mode : bool, default True
        False records again, also inside of a surrounding inference mode.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """Make a switch, or wrap the function that stands below ``@inference_mode``."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._grad, self._inference = not mode, mode

    def _fresh(self) -> Switch:
        return type(self)(bool(self._inference))
