"""Frames around open parts, as SVG: a line behind all boxes and arrows, and a name over them.

After reading you know what of a frame a click folds: its name, behind a minus sign. Read next:
``svg.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autodiff_kit.view.crumbs import OpenParts
from autodiff_kit.view.enclosures import Rect
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.svg_text import escaped, pixels, text_width

__all__ = ["frames_svg"]

FONT, INSET, BASELINE = 13, 10, 19  # px, of the name
SIGN = "\N{MINUS SIGN} "  # what can be folded


def frames_svg(
    open_parts: OpenParts, frames: Sequence[Rect | None], visible: Collection[str] | None
) -> tuple[list[str], list[str]]:
    """Return the frames of open parts, and their names.

    Parameters
    ----------
    open_parts : OpenParts
    frames : sequence of rectangles, by part
        None where a part has no frame.
    visible : collection of str or None
        Boxes that are there; a frame without any is not drawn. None for a picture that a browser
        steps through: all frames, with a sign that they can be folded.
    """
    lines: list[str] = []
    names: list[str] = []
    for k, (part, group, frame) in enumerate(
        zip(open_parts.parts, open_parts.groups, frames, strict=True)
    ):
        if frame is None or (visible is not None and not any(box in visible for box in group)):
            continue
        left, top, right, bottom = frame
        sign = SIGN if visible is None else ""
        room = int((right - left - 2 * INSET) / text_width("0", size=FONT)) - len(sign)
        title = in_short(part["title"], room)
        mark = f' data-part="{k}"' if visible is None else ""
        lines.append(
            f'<rect class="adk-part"{mark} x="{pixels(left)}" y="{pixels(top)}" '
            f'width="{pixels(right - left)}" height="{pixels(bottom - top)}" rx="8"/>'
        )
        sign = f"<tspan>{sign}</tspan>" if sign else ""
        names.append(
            f'<text class="adk-part-name"{mark} x="{pixels(left + INSET)}" '
            f'y="{pixels(top + BASELINE)}">{sign}{escaped(title)}</text>'
        )
    return lines, names
