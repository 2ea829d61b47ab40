"""``torch.version``: it says that there is no GPU, as in PyTorch's build for the CPU.

After reading this file you know what ``torch.version.cuda`` is here. Read next: ``accelerator.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.outside import absent

__all__ = ["cuda", "hip"]

cuda: str | None = None
hip: str | None = None


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
