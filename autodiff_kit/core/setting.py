"""An attribute that has another value for the time of a ``with`` block.

After reading this file you know why that is a class: a clock may stop a learner's code at any
moment; what the code has set is put back then, and nothing may do that once more, later. Read next:
``observer.py``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Setting"]


class Setting:
    """Give an attribute another value on entry, and the old one back on exit.

    A class and no generator: where an exception strikes on the way out, before anything was put
    back, a generator would wait, and put the old value back when the garbage collector comes to it.
    """

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        self._owner, self._name, self._value = owner, name, value

    def __enter__(self) -> None:
        self._before = getattr(self._owner, self._name)
        setattr(self._owner, self._name, self._value)

    def __exit__(self, *error: object) -> None:
        setattr(self._owner, self._name, self._before)
        del self._before, self._value  # an observer knows frames, and they know tensors
