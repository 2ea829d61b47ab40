"""``torch.backends.cudnn``: what can be set for GPUs; nothing depends on it.

After reading this file you know the values that PyTorch has before anything is set. Read next:
``cuda.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autodiff_kit.outside import absent

__all__ = ["flags", "is_available", "version"]

enabled, benchmark, benchmark_limit = True, False, None
deterministic, allow_tf32 = False, True


def is_available() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def version() -> None:
    """Return None: there is no cuDNN."""


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Set the values within a ``with`` block."""
    module, values = sys.modules[__name__], dict(locals())
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
