"""A small real data set for the lessons: handwritten digits, on this machine, without any download.

After reading you know what stands in ``digits()``, where it comes from and under which licence it
may be used; ``data/README.md`` says more. Read next: the notebook of lesson 12, which trains on it.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["digits"]

TRAIN = 1347  # three quarters; the rest is for the test


def digits() -> tuple[
    NDArray[np.float32], NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]
]:
    """Return 1797 handwritten digits of 8 by 8 pixels, split into training and test.

    NumPy arrays, so that the kit and PyTorch take them alike:
    ``x_train, y_train, x_test, y_test = map(torch.tensor, digits())``. The first three
    quarters of the source are for training and the rest is for the test, without shuffling: the
    harder test.

    Returns
    -------
    x_train, y_train, x_test, y_test : arrays, shapes (1347, 64), (1347,), (450, 64), (450,)
        Ink in each pixel, from 0 to 1, row by row; and which digit it is, 0 to 9.

    Examples
    --------
    >>> x_train, y_train, x_test, y_test = digits()
    >>> x_train.shape, x_test.shape
    ((1347, 64), (450, 64))
    >>> y_train[:10]
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])

    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine
    Learning Repository (1998), test set. Licence: CC BY 4.0.
    """
    file = Path(__file__).with_name("data") / "digits.csv.gz"
    with gzip.open(file, "rt", encoding="ascii") as rows:
        table = np.loadtxt(rows, delimiter=",", dtype="uint8")
    images, labels = np.divide(table[:, :-1], 16, dtype="float32"), table[:, -1].astype("int64")
    return images[:TRAIN], labels[:TRAIN], images[TRAIN:], labels[TRAIN:]
