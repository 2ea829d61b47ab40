"""A checkpoint's second run: its ops are told, and which of them have been there before.

After reading this file you know how the recorder watches code of the learner's that backward runs
once more. Read next: ``source.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Observer

__all__ = ["Again"]


class Again(Observer):
    """Watches a checkpoint that runs its function once more; its recorder is ``recorder.py``'s."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._latest: tuple[Any, Node | None] = (None, None)  # the latest op: its result, its node
        for name in ("created", "copied", "modified", "branched", "detached"):
            setattr(self, name, getattr(recorder, name))

    def applied(self, *what: Any) -> None:
        """Note an op of the second run."""
        recorder, before = self._recorder, self._recorder.is_again
        recorder.is_again, self._latest = True, what[3:]
        try:
            recorder.applied(*what)
        finally:
            recorder.is_again = before

    def has_enough(self) -> None:
        """Take back the latest op if backward needs no result of it."""
        out, node = self._latest
        if node is not None and "out" not in node.whole.saved():
            self._recorder.withdrawn(out)
