"""What a picture offers to those who draw it: as SVG, as text."""

from __future__ import annotations

from typing import Any, Protocol

from autodiff_kit.view.layout import Layout
from autodiff_kit.view.outline import Outline

__all__ = ["Drawn"]


class Drawn(Protocol):
    """What ``svg.py`` and ``text.py`` read of a ``scene.Picture``, which says what each is."""

    title: str
    note: str
    outline: Outline
    layout: Layout
    texts: Any
    sizes: Any
    titles: dict[str, str]
    frames: Any
    sources: Any
    edge_labels: Any

    def state(self, step: int) -> dict[str, Any]:
        """Return what is drawn differently at a step."""
