"""What functions with several results return: PyTorch's ``torch.return_types``.

After reading this file you know why ``x.max(0)`` can be unpacked, and asked for ``.values``. Read
next: ``methods/__init__.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, NoReturn

from autodiff_kit.core.base import TensorBase, wrap
from autodiff_kit.errors import error
from autodiff_kit.outside import absent_in

__all__ = ["ValuesAndIndices", "pair", "written_pair"]


class ValuesAndIndices(NamedTuple):
    """What ``max``, ``min``, ``sort`` and ``topk`` return along a dimension."""

    values: TensorBase
    indices: TensorBase

    def __repr__(self) -> str:
        names = type(self).__name__, *self
        return "torch.return_types.{}(\nvalues={!r},\nindices={!r})".format(*names)

    def __reduce__(self) -> Any:
        return _pair, (type(self).__name__, *self)

    def __getattr__(self, name: str) -> NoReturn:
        raise error("tensor.pair_without", kind=type(self).__name__, name=name)

    def __setitem__(self, *_: Any) -> NoReturn:
        raise error("tensor.pair_changed", name=type(self).__name__)

    def __delitem__(self, _: Any) -> NoReturn:
        raise error("tensor.pair_cut", name=type(self).__name__)


@cache
def _pair_of(name: str) -> Any:
    """Return a class for each function, as PyTorch has: they differ in their name."""
    return type(name, (ValuesAndIndices,), {})


def _pair(name: str, values: Any, indices: Any) -> Any:
    """Return what was pickled."""
    return _pair_of(name)(values, indices)


def written_pair(result: Any, outs: Any) -> Any:
    """Return tensors that a function wrote to as what it returns, with PyTorch's name for that."""
    kind = type(result)
    return type(f"{kind.__name__}_out", (kind,), {})(*outs)


def pair(name: str, values: Any, indices: Any) -> Any:
    """Return what the function of this name returns: its values, and where they were."""
    places = wrap(indices)
    places._changes = values._changes  # both are made under inference_mode, or none is
    return _pair_of(name)(values, places)


__getattr__ = absent_in(__name__)
