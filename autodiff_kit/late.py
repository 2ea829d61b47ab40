"""What a lower floor needs from a higher one, registered by the package's face.

``record/`` knows no picture, but a recording shows itself in a notebook; a tensor has methods whose
files are loaded when they are first called. So the face, which knows all, says here how these are
loaded, and who needs them asks by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["LOADERS", "late"]

LOADERS: dict[str, Callable[[], Any]] = {}


def late(name: str) -> Any:
    """Load and return the module that was registered under this name."""
    return LOADERS[name]()
