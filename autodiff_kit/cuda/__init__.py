"""``torch.cuda``, as far as it says that there is none.

After reading this file you know why ``"cuda" if torch.cuda.is_available() else "cpu"`` works here:
the kit computes with NumPy on the CPU. Read next: ``dtypes.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autodiff_kit.outside import absent, modules_below

__all__ = ["device_count", "empty_cache", "is_available", "is_bf16_supported", "is_initialized"]
__all__ += ["manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved"]
__all__ += ["memory_allocated", "memory_reserved"]


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def is_available() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def device_count() -> int:
    """Return 0: the kit uses no GPU."""
    return 0


def is_initialized() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False: the kit uses no GPU."""
    return False


def memory_allocated(device: Any = None) -> int:
    """Return 0: there is no memory of a GPU."""
    return 0


memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated


def manual_seed(seed: int) -> None:
    """Do nothing: there is no GPU whose random numbers could begin anew."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: there is no GPU whose random numbers could begin anew."""


def empty_cache() -> None:
    """Do nothing: there is no memory of a GPU."""


def __getattr__(name: str) -> Any:
    if name == "amp":
        return import_module("autodiff_kit.cuda.amp")
    raise absent(__name__, name)
