"""What does not belong elsewhere, as in PyTorch's ``torch.utils``.

Read ``checkpoint.py`` and ``data/dataset.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autodiff_kit.errors import absent

__all__ = ["checkpoint", "data"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"autodiff_kit.utils.{name}")
    raise absent("autodiff_kit.utils", name)
