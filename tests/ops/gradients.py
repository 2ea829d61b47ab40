"""Derivatives by finite differences: slow, blunt, and independent of every rule."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEP = 1e-6


def numerical(function: Callable[..., float], arrays: Sequence[Any], wrt: int) -> Any:
    """Return the gradient of ``function(*arrays)`` with respect to one array.

    Central differences in float64: the error is about 1e-10 for functions of moderate size.

    Parameters
    ----------
    function : callable
        Takes arrays, returns a number.
    arrays : sequence of float64 arrays or scalars
    wrt : int
        Which of them.

    Returns
    -------
    array, shape of ``arrays[wrt]``
    """
    point = np.array(arrays[wrt], "float64")
    gradient = np.empty_like(point)
    for i in np.ndindex(point.shape):
        values = []
        for step in (STEP, -STEP):
            moved = point.copy()
            moved[i] += step
            values.append(function(*arrays[:wrt], moved[()], *arrays[wrt + 1 :]))
        gradient[i] = (values[0] - values[1]) / (2 * STEP)
    return gradient[()]
