"""What a picture offers to those who draw it: as SVG, as text."""

from __future__ import annotations

from typing import Any, Protocol

from autodiff_kit.view.chips import Chip
from autodiff_kit.view.crumbs import OpenParts
from autodiff_kit.view.layout import Layout
from autodiff_kit.view.outline import Outline
from autodiff_kit.view.payload import BoxText, Frame, SourceLines, State
from autodiff_kit.view.stop import Stop

__all__ = ["Drawn"]


class Drawn(Protocol):
    """What ``svg.py`` and ``text.py`` read of a ``scene.Picture``, which says what each is."""

    title: str
    note: str
    outline: Outline
    layout: Layout
    texts: list[BoxText]
    sizes: Any
    titles: dict[str, str]
    frames: list[Frame]
    sources: list[SourceLines]
    edge_labels: dict[str, str]
    chips: dict[str, Chip]
    opened_parts: OpenParts
    cuts: dict[str, str]
    stop: Stop | None

    def state(self, step: int) -> State:
        """Return what is drawn differently at a step."""
