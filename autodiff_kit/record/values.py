"""Values as plain data: small arrays whole, large ones by their statistics.

After reading this file you know what a recording keeps of a tensor: numbers, copied at once, so
that what happens to the tensor later does not change them. Read next: ``recorder.py``.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, cast

import numpy as np

from autodiff_kit.record.events import Statistics, Value
from autodiff_kit.record.numbers import Unread, number, numbers, read_together

__all__ = ["Values", "parameter", "shape_of_noted", "summary"]

SMALL = 64  # arrays of at most this many elements are kept whole
HEAD = 8  # of larger ones, this many elements

Array = Any  # numpy.ndarray or NumPy scalar
_SCALAR: list[int] = []  # the shape of every 0-d value
_STATISTICS = ("min", "max", "mean", "std", "nan", "inf")


def summary(array: Any) -> Value:
    """Describe an array as plain data.

    Parameters
    ----------
    array : numpy.ndarray or NumPy scalar

    Returns
    -------
    dict with ``shape``, ``dtype`` and ``data`` (all elements, row by row; of large arrays the
    first 8) and, for large arrays, ``stats``.

    Examples
    --------
    >>> summary(np.float32(0.1))
    {'shape': [], 'dtype': 'float32', 'data': [0.1]}
    """
    value = _begun(array)
    raw: Any = value["data"]
    value["data"] = [number(x) for x in ((raw,) if isinstance(raw, np.generic) else raw.flat)]
    return value


class Values:
    """Describes arrays; their numbers wait as copies until ``finish``, or until they are read."""

    def __init__(self) -> None:
        self._begun: list[Any] = []  # values whose data are still arrays
        self._arrays: list[Any] = []  # others whose data are elements of arrays
        self._is_finished = False
        self._unread = Unread()
        self._scalars: dict[type, tuple[str, list[Any]]] = {}  # by type: its name, and values

    def of(self, array: Array) -> Value:
        """Return what ``summary`` returns, but with an array as its ``data`` until ``finish``."""
        scalars = self._scalars.get(type(array))
        if scalars is not None:  # at once: the commonest in small graphs
            value: Any = {"shape": _SCALAR, "dtype": scalars[0], "data": array}
            scalars[1].append(value)
            return value
        value = _begun(array)
        if isinstance(array, np.generic):
            self._scalars[type(array)] = value["dtype"], [value]
        else:
            self._begun.append(value)
        return value

    def note(self, array: Array) -> Any:
        """Return what ``kept`` needs to describe an array as it is now: it, a copy, or statistics.

        Unlike the description, that is nothing that a garbage collector looks into.
        """
        if isinstance(array, np.generic):
            return array
        if array.size <= SMALL:
            return array.copy()
        return array.flat[:HEAD], array.shape, *_statistics(array).values()

    def kept(self, note: Any) -> Value:
        """Return the description of what was noted, as ``of`` does."""
        if isinstance(note, np.generic):
            return summary(note) if self._is_finished else self.of(note)
        if type(note) is dict:
            return cast(Value, note)  # it was not seen
        array, shape, *stats = note if type(note) is tuple else (note, note.shape)
        value: Any = {"shape": _shape(shape), "dtype": _name(array.dtype.char), "data": array}
        if stats:
            value["stats"] = dict(zip(_STATISTICS, stats, strict=True))
        if self._is_finished:
            value["data"] = self._unread.hold(value["data"])
            self._arrays.append(value)
        else:
            self._begun.append(value)
        return cast(Value, value)

    def go_on(self) -> None:
        """Let values be described together once more, until ``finish``."""
        self._is_finished = False

    def finish(self) -> None:
        """Make plain data of all values; of arrays, once they are read."""
        self._is_finished = True
        for kind, (_, values) in self._scalars.items():
            elements = numbers(np.array([value["data"] for value in values], kind))
            for value, element in zip(values, elements, strict=True):
                value["data"] = [element]
        for value in self._begun:
            value["data"] = self._unread.hold(value["data"])
        self._arrays += self._begun
        self._begun.clear()
        self._scalars.clear()

    def plain(self) -> None:
        """Make lists of the elements of all values, as for a file."""
        read_together(self._arrays)
        for value in self._arrays:
            value["data"] = [*value["data"]]
        self._arrays.clear()


def _begun(array: Array) -> Value:
    """Return the description of an array with a copy of its numbers as ``data``."""
    if isinstance(array, np.generic):  # a 0-d value: the commonest in small graphs
        kind: Any = type(array)
        return {"shape": _SCALAR, "dtype": _name(kind), "data": cast(Any, array)}
    value: Any = {"shape": _shape(array.shape), "dtype": _name(array.dtype.char)}
    if array.size > SMALL:
        value["stats"], array = _statistics(array), array.flat[:HEAD]
    value["data"] = array.copy()
    return cast(Value, value)


def shape_of_noted(note: Any) -> list[int]:
    """Return the shape of what ``Values.note`` has noted."""
    if type(note) is dict:
        return cast(list[int], note["shape"])
    return _shape(note[1] if type(note) is tuple else note.shape)


@cache
def _shape(shape: tuple[int, ...]) -> list[int]:
    return list(shape)  # one list for all values of that shape


def parameter(value: Any) -> Any:
    """Return a number or a keyword parameter as JSON can hold it."""
    if type(value) is float and value - value == 0:
        return value
    if type(value) is float or isinstance(value, np.generic):
        return number(value)
    if value is None or type(value) in (int, bool, str):
        return value
    if isinstance(value, np.ndarray):  # such as the positions that an index takes
        return value.tolist() if value.size <= SMALL else f"array of shape {value.shape}"
    if isinstance(value, tuple | list):
        return [parameter(item) for item in value]
    return str(value)


def _statistics(array: Any) -> Statistics:
    """Return what can be said of many numbers; of those that are finite, but for the counts."""
    low, high = np.minimum.reduce(array, axis=None), np.maximum.reduce(array, axis=None)
    if max(-float(low), float(high)) < 1e100:  # as nearly always; it is not so of nan
        mean = np.add.reduce(array, axis=None, dtype=np.float64) / array.size
        off = array - mean
        std = math.sqrt(np.add.reduce(off * off, axis=None) / array.size)  # as NumPy does it
        values = {"min": number(low), "max": number(high), "mean": float(mean), "std": std}
        return cast(Statistics, values | {"nan": 0, "inf": 0})
    finite, nan, inf = array, 0, 0
    if not np.isfinite(array).all():
        finite = array[np.isfinite(array)]
        nan, inf = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    if not finite.size:
        return {"min": "nan", "max": "nan", "mean": "nan", "std": "nan", "nan": nan, "inf": inf}
    low, high = finite.min(), finite.max()
    size = max(-float(low), float(high))
    scale = size if size > 1e100 else 1.0  # the sum of such numbers, or of squares, may be inf
    with np.errstate(all="ignore"):
        scaled = finite if scale == 1 else finite / scale
        mean, std = (scale * f(scaled, dtype="float64") for f in (np.mean, np.std))
    return {
        "min": number(low),
        "max": number(high),
        "mean": number(mean),
        "std": number(std),
        "nan": nan,
        "inf": inf,
    }


@cache
def _name(kind: Any) -> str:
    return str(np.dtype(kind).name)  # worked out anew by NumPy at every call
