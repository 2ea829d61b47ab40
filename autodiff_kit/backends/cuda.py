"""``torch.backends.cuda``: the precision of products on GPUs, which may be set and is not read.

After reading this file you know why ``torch.backends.cuda.matmul.allow_tf32 = True`` changes
nothing here. Read next: ``mps.py``.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from autodiff_kit.outside import absent

__all__ = ["is_built", "matmul"]

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)


def is_built() -> bool:
    """Return False: the kit uses no GPU."""
    return False


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
