"""``torch.accelerator``, as far as it says that there is none: as in PyTorch's build for the CPU.

After reading this file you know what a program that asks for any kind of GPU is told here.
Read next: ``cuda/__init__.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.outside import absent, modules_below

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """Return None: the kit uses no GPU."""


def device_count() -> int:
    """Return 0: the kit uses no GPU."""
    return 0


__path__ = [modules_below(__name__)]  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
