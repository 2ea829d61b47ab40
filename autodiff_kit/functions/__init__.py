"""Functions of tensors, at the top of the namespace and as methods: how they are found.

After reading this file you know that a file is loaded when one of its functions is first asked for.
Which file has which, ``function_files.py`` says: ``torch.tril``, which is ``x.tril`` too, is in
``diagonals.py``. Read next: ``declared.py``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autodiff_kit.function_files import FILE_OF

if TYPE_CHECKING:
    from autodiff_kit.functions.basic import *  # noqa: F403

__all__ = ["find"]


@cache
def find(name: str) -> Any:
    """Return a function; AttributeError if there is none of this name."""
    if name not in FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"autodiff_kit.functions.{FILE_OF[name]}"), name)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return find(name)
