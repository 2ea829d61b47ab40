"""``torch.backends``, as far as programs set and ask it before they train.

After reading this file you know that ``torch.backends.cudnn.deterministic = True`` does no harm
here: on the CPU the kit computes the same numbers in any case. Read next: ``../cuda/__init__.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.outside import absent, modules_below

__all__ = ["cudnn", "mps"]


class _Cudnn:
    """What can be set for GPUs; nothing depends on it."""

    benchmark, deterministic, enabled = False, False, True

    def is_available(self) -> bool:
        """Return False: the kit uses no GPU."""
        return False


class _Mps:
    """The GPUs of Apple."""

    def is_available(self) -> bool:
        """Return False: the kit uses no GPU."""
        return False

    def is_built(self) -> bool:
        """Return False: the kit uses no GPU."""
        return False


cudnn, mps = _Cudnn(), _Mps()


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
