"""``torch.backends``, as far as programs set and ask it before they train.

After reading this file you know that ``torch.backends.cudnn.deterministic = True`` does no harm
here: on the CPU the kit computes the same numbers in any case. Read next: ``cudnn.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.backends import cuda, cudnn, mps
from autodiff_kit.outside import absent, modules_below

__all__ = ["cuda", "cudnn", "mps"]

__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
