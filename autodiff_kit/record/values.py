"""Values as plain data: small arrays whole, large ones by their statistics.

After reading this file you know what a recording keeps of a tensor. Read next: ``recorder.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__ = ["SMALL", "Snapshot", "snapshot", "summary"]

SMALL = 64  # arrays of at most this many elements are kept whole
HEAD = 8  # of larger ones, this many elements

Value = dict[str, Any]


class Snapshot:
    """A value as it was at one moment; turned into plain data when the recording is done.

    A copy of a small array costs a tenth of turning its numbers into text at once.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def plain(self) -> Value:
        """Return the value as JSON can hold it."""
        array = self.array
        if isinstance(array, np.generic):  # a 0-d value: the commonest in small graphs
            return {"shape": [], "dtype": _name(array.dtype), "data": [_number(array)]}
        return summary(array)


def snapshot(array: Any) -> Snapshot | Value:
    """Copy a small value, or describe a large one at once."""
    if isinstance(array, np.ndarray):
        return Snapshot(array.copy()) if array.size <= SMALL else summary(array)
    return Snapshot(array)


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
    array = np.asarray(array)
    value: Value = {"shape": list(array.shape), "dtype": _name(array.dtype)}
    flat = array.ravel()
    if array.size <= SMALL:
        value["data"] = [_number(x) for x in flat]
        return value
    finite = flat[np.isfinite(flat)].astype("float64")
    some = finite.size > 0
    value["stats"] = {
        "min": _number(flat.dtype.type(finite.min())) if some else "nan",
        "max": _number(flat.dtype.type(finite.max())) if some else "nan",
        "mean": float(finite.mean()) if some else "nan",
        "std": float(finite.std()) if some else "nan",
        "nan": int(np.isnan(flat).sum()),
        "inf": int(np.isinf(flat).sum()),
    }
    value["data"] = [_number(x) for x in flat[:HEAD]]
    return value


@cache
def _name(dtype: Any) -> str:
    return str(dtype.name)  # worked out anew by NumPy at every call


def _number(x: Any) -> Any:
    """Return a NumPy number as the shortest Python number that means the same."""
    if isinstance(x, np.float64):
        number = float(x)
    elif isinstance(x, np.floating):
        number = float(str(x))  # 0.1 in float32 is 0.10000000149 in Python's float64
    else:
        return x.item()
    return number if number - number == 0 else str(number)
