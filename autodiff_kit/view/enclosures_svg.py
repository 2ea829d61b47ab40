"""Frames around open parts, as SVG: a line behind all boxes and arrows, and a name over them.

After reading you know what of a frame a click folds: its name, behind a minus sign, and where that
stands. Read next: ``svg.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from autodiff_kit.view.crumbs import OpenParts
from autodiff_kit.view.enclosures import TITLE, Rect
from autodiff_kit.view.layout import Point
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.svg_text import escaped, pixels, text_width

__all__ = ["frames_svg"]

FONT, INSET, BASELINE = 13, 10, 19  # px, of the name
SIGN = "\N{MINUS SIGN} "  # what can be folded


def frames_svg(
    open_parts: OpenParts,
    frames: Sequence[Rect | None],
    routes: Sequence[Sequence[Point]],
    visible: Collection[str] | None,
) -> tuple[list[str], list[str]]:
    """Return the frames of open parts, and their names.

    Parameters
    ----------
    open_parts : OpenParts
    frames : sequence of rectangles, by part
        None where a part has no frame.
    routes : sequence of sequences of (x, y)
        The arrows: a name stands at the left, at the right or between, where fewest go through it.
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
        width = text_width(SIGN + title, bold=True, size=FONT)
        space = max(0.0, right - left - 2 * INSET - width)
        at = min(
            (left + INSET + space * share for share in (0.0, 1.0, 0.5, 0.25, 0.75)),
            key=lambda x: sum(_meets((x, top, x + width, top + TITLE - 4), r) for r in routes),
        )
        names.append(
            f'<text class="adk-part-name"{mark} x="{pixels(at)}" '
            f'y="{pixels(top + BASELINE)}">{sign}{escaped(title)}</text>'
        )
    return lines, names


def _meets(rect: Rect, route: Sequence[Point]) -> bool:
    """Return whether a line that goes down passes through a rectangle."""
    left, top, right, bottom = rect
    for (ax, ay), (bx, by) in pairwise(route):
        upper, lower = max(ay, top), min(by, bottom)
        if upper > lower or max(ax, bx) < left or min(ax, bx) > right:
            continue
        if by <= ay:  # it runs level
            return True
        xs = [ax + (bx - ax) * (y - ay) / (by - ay) for y in (upper, lower)]
        if max(xs) >= left and min(xs) <= right:
            return True
    return False
