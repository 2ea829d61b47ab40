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


def numerical_along(
    function: Callable[..., float], arrays: Sequence[Any], wrt: int, along: Any
) -> float:
    """Return the slope of ``function(*arrays)`` where one array moves in a direction.

    That is the inner product of the gradient with the direction, which has the length 1: a mistake
    in one element of many shows in the slope along a direction drawn at random.
    """
    values = [
        function(
            *arrays[:wrt], np.asarray(arrays[wrt], "float64") + step * along, *arrays[wrt + 1 :]
        )
        for step in (STEP, -STEP)
    ]
    return (values[0] - values[1]) / (2 * STEP)
