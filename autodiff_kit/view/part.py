"""A part of a run: operations in a row that can be drawn as one box.

After reading you know what a fold is told by. Read next: ``fold.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Key", "Part"]

Key = tuple[int, int]  # of a part: its first and last operation, by their nodes


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Operations in a row, by rank among the operations, both ends included: one box if folded.

    Attributes
    ----------
    title, of : str
        ``"iterations 2 to 499"`` and ``"for i in range(500)"``; of a module its path and its class.
    count : str
        How many times, as shown beside the title.
    scope : int
        The scope that it is; -1 for a group of several parts.
    members : tuple of Part or int
        Of a group: the parts that it is made of, and single operations.
    """

    first: int
    last: int
    kind: str
    title: str
    of: str = ""
    count: str = ""
    where: list[Any] | None = None
    scope: int = -1
    members: tuple[Part | int, ...] = ()

    @property
    def size(self) -> int:
        """Return of how many operations it is made."""
        return self.last - self.first + 1

    @property
    def is_group(self) -> bool:
        """Return whether it stands for several parts alike: rounds, equal modules, operations."""
        return self.scope < 0
