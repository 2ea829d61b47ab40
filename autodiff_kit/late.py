"""What a lower floor needs from a higher one, registered by the package's face.

``record/`` knows no picture, but a recording shows itself in a notebook; a tensor has methods whose
files are loaded when they are first called. So the face, which knows all, says here how these are
loaded, and who needs them asks by name. ``keep`` is for the packages that load what is below them
when it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["LOADERS", "Later", "keep", "late"]

LOADERS: dict[str, Callable[[], Any]] = {}


def late(name: str) -> Any:
    """Load and return the module that was registered under this name."""
    return LOADERS[name]()


def keep(module: str, name: str, value: Any) -> Any:
    """Return what a module's ``__getattr__`` has found; next time Python finds it by itself.

    What a package loads so, it also imports under ``TYPE_CHECKING``: editors and mypy know it.
    """
    setattr(sys.modules[module], name, value)
    return value


class Later(tuple[str, Callable[[str], Any]]):
    """Stands for a method, as (name, make), until it is asked for: then ``make(name)`` makes it.

    There are hundreds; a tuple is made without a call of Python's.
    """

    __slots__ = ()

    def made(self) -> Any:
        """Return the method."""
        name, make = self
        return make(name)

    def __get__(self, tensor: Any, owner: Any) -> Any:
        name, method = self[0], self.made()
        place = next(kind for kind in owner.__mro__ if vars(kind).get(name) is self)
        setattr(place, name, method)
        return method if tensor is None else method.__get__(tensor, owner)
