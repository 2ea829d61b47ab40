"""Windows on an image: what convolution and pooling have in common.

After reading this file you know how many windows fit, and how to visit them all in a few steps:
not window by window, but place by place - the upper left elements of all windows are one slice of
the image. Read next: ``convolution.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints

__all__ = ["Grid", "pad_array"]


class Grid(NamedTuple):
    """How windows lie on an image; one number per dimension of the image each.

    Attributes
    ----------
    kernel, stride, padding, dilation : tuple of int
        The window's size, the step to the next window, the border around the image, and the step
        between the elements of a window.
    reaches_over : bool
        Whether a last window that begins inside may reach over the border: PyTorch's ``ceil_mode``.
    """

    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    reaches_over: bool = False

    def counts(self, size: Ints) -> Ints:
        """Return how many windows fit on an image of this size."""
        counts = []
        for k, s, p, d, n in zip(*self[:4], size, strict=True):
            beyond = n + 2 * p - d * (k - 1) - 1  # where the first window would end, 0 at the end
            count = beyond // s + 1
            if self.reaches_over and beyond % s and count * s < n + p:
                count += 1
            counts.append(count)
        return tuple(counts)

    def border(self, size: Ints) -> Ints:
        """Return the padding of all sides, as ``pad_array`` takes it."""
        sides: list[int] = []
        each = zip(*self[:4], size, self.counts(size), strict=True)
        for k, s, p, d, n, count in each:
            end = (count - 1) * s + d * (k - 1) + 1 - p  # of the last window
            sides = [p, max(p, end - n), *sides]
        return tuple(sides)

    def places(self, counts: Ints) -> Iterator[tuple[Ints, Any]]:
        """Yield each place in a window, and the part of the image that all windows have there."""
        for place in np.ndindex(*self.kernel):
            at = zip(place, self.stride, self.dilation, counts, strict=True)
            where = [slice(i * d, i * d + s * (n - 1) + 1, s) for i, s, d, n in at]
            yield place, (..., *where)


def pad_array(x: Value, pad: Ints, value: float = 0) -> Value:
    """Add elements of one value on both sides of the last dimensions, or cut some off.

    ``pad`` says how many before and after, for the last dimension first, as PyTorch lists them;
    where negative, so many are cut off.
    """
    if not any(pad):
        return x
    sides = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[-2::-2], pad[::-2], strict=True))
    sizes = list(zip(x.shape, sides, strict=True))
    out = np.full([n + a + b for n, (a, b) in sizes], value, x.dtype)
    inside = tuple(slice(max(0, a), max(0, a) + n + min(0, a) + min(0, b)) for n, (a, b) in sizes)
    out[inside] = x[tuple(slice(max(0, -a), n + min(0, b)) for n, (a, b) in sizes)]
    return out
