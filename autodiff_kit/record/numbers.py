"""The elements of a value: an array until they are read, and Python's numbers from then on.

A recording of 30,000 ops holds millions of numbers, of which a picture shows some hundreds. After
reading this file you know why only what a picture reads is converted, and why what is read
whole, to be saved for example, is converted together, at a tenth of what it costs one by one.
Read next: ``values.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np

from autodiff_kit.record.events import Numeral, Value

__all__ = ["Elements", "Unread", "as_arrays", "number", "numbers", "read_together"]

_FEW = 1_000  # arrays that are converted one by one; then all that are left
_FLOATS = (float, np.floating)
_TENS = np.array([float(f"1e{i}") for i in range(23)])  # those that are exact


def number(x: Any) -> Any:
    """Return a number as the shortest Python number that means the same."""
    if not isinstance(x, _FLOATS):
        return x.item()
    value = float(x)
    if value - value != 0:
        return str(value)  # JSON has no nan and no inf
    if isinstance(x, float) or (value.is_integer() and -1e6 < value < 1e6):
        return value
    return float(str(x))  # 0.1 in float32 is 0.10000000149 in Python's float64


def numbers(array: Any) -> list[Any]:
    """Return the numbers of a flat array, each as ``number`` does."""
    if array.dtype.kind != "f":
        return list(array.tolist())
    wide = array.astype(np.float64)
    odd = ~np.isfinite(wide)
    if array.dtype.itemsize < 8:
        # 0.1 is wanted and not 0.10000000149: the fewest digits that mean the same float32.
        size = np.abs(wide)
        left = np.flatnonzero(~odd & ((np.rint(wide) != wide) | (size >= 1e6)))
        far = (size[left] < 1e-12) | (size[left] > 1e15)  # powers of ten that floats have not
        odd[left[far]] = True
        left = left[~far]
        exponent = np.floor(np.log10(size[left])).astype(np.int64)
        # Six digits survive in float32: if fewer are enough, the others come out as zeros.
        for digits in range(6 if array.dtype.itemsize == 4 else 1, 10):
            power = digits - 1 - exponent
            up, down = _TENS[np.maximum(power, 0)], _TENS[np.maximum(-power, 0)]
            rounded = np.rint(wide[left] * up / down) / up * down
            done = rounded.astype(array.dtype) == array[left]
            wide[left[done]] = rounded[done]
            left, exponent = left[~done], exponent[~done]
        odd[left] = True
    result: list[Any] = wide.tolist()
    for i in np.flatnonzero(odd).tolist():
        result[i] = number(array[i])
    return result


class Unread:
    """The elements of a recording that were not read yet."""

    def __init__(self) -> None:
        self._waiting: list[Elements] = []
        self._count = 0

    def hold(self, array: Any) -> Elements:
        """Return the elements of an array, which must not change from now on."""
        elements = Elements()
        elements.array, elements.unread = array, self
        self._waiting.append(elements)
        return elements

    def read(self, elements: Elements) -> None:
        """Convert these elements, and all others if so many were asked for."""
        self._count += 1
        if self._count > _FEW:
            self._read_all()
        elif elements.array is not None:
            elements.fill(numbers(np.ravel(elements.array)))

    def _read_all(self) -> None:
        _fill(self._waiting)
        self._waiting.clear()


def read_together(values: Iterable[Value]) -> None:
    """Convert the elements of many values, which are about to be read."""
    _fill([value["data"] for value in values if isinstance(value["data"], Elements)])


def as_arrays(values: Sequence[Value]) -> list[Any]:
    """Return the elements of each value as an array of 64-bit floats, and leave them unread."""
    unread = [getattr(value["data"], "array", None) for value in values]
    return [
        np.asarray(value["data"] if array is None else array, dtype=np.float64).ravel()
        for value, array in zip(values, unread, strict=True)
    ]


def _fill(waiting: Iterable[Elements]) -> None:
    by_kind: dict[Any, dict[int, Elements]] = {}
    for elements in waiting:
        if elements.array is not None:
            by_kind.setdefault(elements.array.dtype, {})[id(elements)] = elements
    for alike in by_kind.values():
        together = numbers(np.concatenate([one.array for one in alike.values()], axis=None))
        at = 0
        for elements in alike.values():
            end = at + elements.array.size
            elements.fill(together[at:end])
            at = end


def _reading(method: Any) -> Callable[..., Any]:
    @wraps(method)
    def read(self: Elements, *arguments: Any) -> Any:
        for one in (self, *arguments):  # what it is compared with or joined to as well
            if isinstance(one, Elements) and one.array is not None:
                one.unread.read(one)
        return method(self, *arguments)

    return read


class Elements(list[Numeral]):
    """A list of numbers, which is filled when it is read for the first time.

    Attributes
    ----------
    array : numpy.ndarray or None
        The numbers, until they are read.
    unread : Unread
        Those that are read together with these.
    """

    __slots__ = ("array", "unread")
    array: Any
    unread: Unread

    def fill(self, elements: list[Numeral]) -> None:
        """Be a list of these from now on."""
        self.array = None
        list.extend(self, elements)

    def __len__(self) -> int:
        return list.__len__(self) if self.array is None else int(self.array.size)

    def __reduce__(self) -> Any:
        return list, ([*self],)  # a copy is a plain list

    def __radd__(self, other: list[Any]) -> list[Any]:
        return [*other, *self]

    __hash__ = None  # as that of any list
    __iter__: Callable[..., Iterator[Numeral]] = _reading(list.__iter__)
    __reversed__ = _reading(list.__reversed__)
    __getitem__, __contains__ = _reading(list.__getitem__), _reading(list.__contains__)
    __setitem__, __delitem__ = _reading(list.__setitem__), _reading(list.__delitem__)
    __eq__, __ne__ = _reading(list.__eq__), _reading(list.__ne__)
    __lt__, __le__ = _reading(list.__lt__), _reading(list.__le__)
    __gt__, __ge__ = _reading(list.__gt__), _reading(list.__ge__)
    __add__, __mul__, __rmul__ = map(_reading, (list.__add__, list.__mul__, list.__rmul__))
    __iadd__, __imul__ = _reading(list.__iadd__), _reading(list.__imul__)
    __repr__ = _reading(list.__repr__)
    append, extend, insert = map(_reading, (list.append, list.extend, list.insert))
    pop, remove, clear = map(_reading, (list.pop, list.remove, list.clear))
    sort, reverse, copy = map(_reading, (list.sort, list.reverse, list.copy))
    index, count = _reading(list.index), _reading(list.count)
