"""``torch.cuda.amp``: early names of what is in ``torch.amp``.

After reading this file you know what older training loops import. Read next: ``../amp.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

from autodiff_kit import amp
from autodiff_kit.outside import absent

__all__ = ["GradScaler", "autocast"]


def _deprecate(name: str, stacklevel: int = 3) -> None:
    words = f"`torch.cuda.amp.{name}(args...)` is deprecated. "
    words += f"Please use `torch.amp.{name}('cuda', args...)` instead."
    warnings.warn(words, FutureWarning, stacklevel=stacklevel)


class autocast(amp.autocast):
    """``torch.amp.autocast("cuda")``."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _deprecate("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``torch.amp.GradScaler("cuda")``."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecate("GradScaler")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
