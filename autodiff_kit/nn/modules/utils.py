"""Numbers of layers for each dimension: ``_pair(3)`` is ``(3, 3)``, as programs import it.

After reading this file you know where programs have ``_pair`` from. Read next: ``__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autodiff_kit.outside import absent_in

__all__: list[str] = []  # as in PyTorch, private names are all that there is


def _ntuple(count: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that makes a tuple of ``count`` numbers of one; several it leaves."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * count

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple[Any, ...]:
    """Return the elements from the last to the first, each ``n`` times."""
    return tuple(x for x in reversed(tuple(t)) for _ in range(n))


__getattr__ = absent_in(__name__)
