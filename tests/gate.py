"""What the gate does, which also runs the proofs that take minutes, and what other runs do.

After reading this file you can say which rows of a large table a run goes through.
"""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

from tests import rows

IN_THE_GATE = os.environ.get("ADK_REQUIRE_GATE") == "1"
Row = TypeVar("Row")


def some(table: Iterable[Row], number: int) -> list[Row]:
    """Return so many rows of a table, spread over it evenly: tables are in order of their kinds.

    The gate takes all rows, and so does a run in which files alone are named, or ``-k``.
    """
    every = list(table)
    if IN_THE_GATE or not rows.TOGETHER or number >= len(every):
        return every
    return [every[place * len(every) // number] for place in range(number)]


def row_by_row(test: Callable[..., None]) -> Callable[..., None]:
    """Let each row of a test be one of its own in the gate: its processes share them."""
    test.is_row_by_row = IN_THE_GATE  # type: ignore[attr-defined]
    return test
