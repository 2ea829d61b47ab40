"""``torch.cuda``, as far as it says that there is none.

After reading this file you know why ``"cuda" if torch.cuda.is_available() else "cpu"`` works here:
the kit computes with NumPy on the CPU. Read next: ``dtypes.py``.
"""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: the kit uses no GPU."""
    return False
