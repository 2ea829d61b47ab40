"""What is made, or loaded, when it is first used: attributes of packages, and methods.

After reading this file you know why ``torch.nn`` costs nothing until a program has a layer. What a
lower floor loads of a higher one is in ``late.py``. Read next: that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Later", "keep"]


def keep(module: str, name: str, value: Any) -> Any:
    """Return what a module's ``__getattr__`` returns; next time Python finds it by itself.

    What a package loads so, it also imports under ``TYPE_CHECKING``: editors and mypy know it.
    """
    setattr(sys.modules[module], name, value)
    return value


class Later(tuple[str, Callable[[str], Any]]):
    """Stands for a method, as (name, make), until it is first used: ``make(name)`` makes it.

    There are hundreds; a tuple is made without a call of Python's.
    """

    __slots__ = ()

    def make(self) -> Any:
        """Make the method."""
        name, make = self
        return make(name)

    def __get__(self, tensor: Any, owner: Any) -> Any:
        name, method = self[0], self.make()
        place = next(kind for kind in owner.__mro__ if vars(kind).get(name) is self)
        setattr(place, name, method)
        return method if tensor is None else method.__get__(tensor, owner)
