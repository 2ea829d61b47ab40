"""``torch.utils.hooks``: what the registering of a hook returns, for annotations.

Read next: ``../core/hooks.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.core.hooks import RemovableHandle
from autodiff_kit.outside import absent

__all__ = ["RemovableHandle"]


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
