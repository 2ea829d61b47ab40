"""How much stands in a drawing: pictures of matrices, and how close its lines are.

After reading you can say what gives way, and in which order, where a small graph does not fit.
Read next: ``scene.py``, which tries them.
"""

from enum import IntEnum

__all__ = ["Detail"]


class Detail(IntEnum):
    """How much stands in a drawing; with less, it is smaller."""

    DENSE = 0  # lines are closer; the gradient beside the value, the slope beside what goes on
    PLAIN = 1
    SUMS = 2  # small matrices on arrows, where they add up
    PICTURES = 3  # small matrices in boxes, too
