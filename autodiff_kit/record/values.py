"""Values as plain data: small arrays whole, large ones by their statistics.

After reading this file you know what a recording keeps of a tensor: numbers, copied at once, so
that what happens to the tensor later does not change them. Read next: ``recorder.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__ = ["parameter", "summary"]

SMALL = 64  # arrays of at most this many elements are kept whole
HEAD = 8  # of larger ones, this many elements

Value = dict[str, Any]
_FLOATS = (float, np.floating)
_SCALAR: list[int] = []  # the shape of every 0-d value


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
    if isinstance(array, np.generic):  # a 0-d value: the commonest in small graphs
        kind: Any = type(array)
        return {"shape": _SCALAR, "dtype": _name(kind), "data": [_number(array)]}
    value: Value = {"shape": list(array.shape), "dtype": _name(array.dtype.type)}
    if array.size > SMALL:
        value["stats"] = _statistics(array)
    value["data"] = [_number(x) for x in array.flat[: HEAD if array.size > SMALL else SMALL]]
    return value


def parameter(value: Any) -> Any:
    """Return a number or a keyword parameter as JSON can hold it."""
    if type(value) is float or isinstance(value, np.generic):
        return _number(value)
    if value is None or type(value) in (int, bool, str):
        return value
    if isinstance(value, np.ndarray):  # such as the positions that an index takes
        return value.tolist() if value.size <= SMALL else f"array of shape {value.shape}"
    if isinstance(value, tuple | list):
        return [parameter(item) for item in value]
    return str(value)


def _statistics(array: Any) -> dict[str, Any]:
    """Return what can be said of many numbers; of those that are finite, but for the counts."""
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
        "min": _number(low),
        "max": _number(high),
        "mean": _number(mean),
        "std": _number(std),
        "nan": nan,
        "inf": inf,
    }


@cache
def _name(kind: Any) -> str:
    return str(np.dtype(kind).name)  # worked out anew by NumPy at every call


def _number(x: Any) -> Any:
    """Return a number as the shortest Python number that means the same."""
    if not isinstance(x, _FLOATS):
        return x.item()
    number = float(x)
    if number - number != 0:
        return str(number)  # JSON has no nan and no inf
    if isinstance(x, float) or (number.is_integer() and -1e6 < number < 1e6):
        return number
    return float(str(x))  # 0.1 in float32 is 0.10000000149 in Python's float64
