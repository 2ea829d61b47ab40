"""Which nodes that a run has made are still there: all but those that it has freed.

After reading you know where Python's garbage collector has what is new. Read next: ``memory.py``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from itertools import compress

from autodiff_kit.core.node import Node

__all__ = ["collections", "nodes_since"]


def collections() -> list[int]:
    """Return how often the collector has gone through each generation of objects."""
    return [int(generation["collections"]) for generation in gc.get_stats()]


def nodes_since(before: list[int]) -> list[Node]:
    """Return all nodes that were made since then and are there, and maybe older ones.

    What is new is in the first generation, or up to that after the oldest one that was collected
    since then. All others of a notebook take longer to go through than a small program runs.
    """
    kinds = set(_kinds(Node))

    def nodes_of(**which: int) -> Iterator[Node]:
        objects = gc.get_objects(**which)  # maybe millions, so no line of Python runs for each
        return compress(objects, map(kinds.__contains__, map(type, objects)))

    if sys.version_info >= (3, 14):  # collects in steps: a generation says nothing of the age
        return list(nodes_of())
    nodes: list[Node] = []
    for generation in range(len(before)):
        nodes += nodes_of(generation=generation)
        # A collection goes through all younger generations, too. Asked afterwards: a list as long
        # as that may have the collector begin just then.
        if collections()[generation:] == before[generation:]:
            break
    return nodes


def _kinds(kind: type[Node]) -> Iterator[type[Node]]:
    """Yield a class and all that are derived from it."""
    yield kind
    for derived in kind.__subclasses__():
        yield from _kinds(derived)
