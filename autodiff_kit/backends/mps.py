"""``torch.backends.mps``: the GPUs of Apple, of which the kit uses none.

After reading this file you know why programs that ask for one go on with the CPU. Read next:
``../cuda/__init__.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.outside import absent

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def is_built() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
