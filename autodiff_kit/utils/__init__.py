"""What does not belong elsewhere, as in PyTorch's ``torch.utils``.

Read ``checkpoint.py`` and ``data/dataset.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autodiff_kit.outside import absent, modules_below

__all__ = ["checkpoint", "data", "hooks"]


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"autodiff_kit.utils.{name}")
    raise absent(__name__, name)
