"""Curves, contours, arrows, bars and their axes, as SVG text; no browser and no plotting library.

After reading you can draw a chart of your own: a ``Scale`` for each axis, a ``Plot`` between them,
its marks, and ``drawing`` around one or several plots. The same numbers give the same text. Dashes,
shapes and words say all that the colours say. Read next: ``contours.py``, how a surface becomes
lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from autodiff_kit.view.looks import scoped
from autodiff_kit.view.scales import MINUS, Pair, Scale, text_width

__all__ = ["Plot", "drawing", "legend", "spread"]

# -- a plot -------------------------------------------------------------------------------------


class Plot:
    """Marks between two axes; what lies outside of the axes is cut off.

    Parameters
    ----------
    x, y : Scale
        ``y.start`` is the lower edge.
    x_label, y_label : str
        Words at the axes; those of y stand at the left edge of the drawing, or above the axis where
        its numbers reach so far.
    x_ticks : sequence of (float, str), optional
        What stands at the lower axis; round numbers by default.
    under : sequence of str
        Marks of another plot between the same axes, to be drawn first: what does not change need
        not be written anew for each picture.

    Attributes
    ----------
    marks : list of str
        What was drawn so far and is cut off at the axes.
    """

    def __init__(
        self,
        x: Scale,
        y: Scale,
        *,
        x_label: str = "",
        y_label: str = "",
        x_ticks: Sequence[tuple[float, str]] | None = None,
        under: Sequence[str] = (),
    ) -> None:
        self.x, self.y = x, y
        self._x_ticks = x_ticks
        self._steps: tuple[float, ...] = ()
        self._labels = x_label, y_label
        self.marks = list(under)
        self._over: list[str] = []  # not cut off

    def curve(self, xs: Sequence[float], ys: Sequence[float], look: str = "curve") -> None:
        """Draw a line through points; nan, inf and leaps from edge to edge are gaps in it."""
        self.marks.append(f'<path class="adk-{look}" d="{self._line(xs, ys)}"/>')

    def _line(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        parts, before = [], math.nan
        for x, y in zip(xs, ys, strict=True):
            if not (abs(x) < math.inf and abs(y) < math.inf):
                before = math.nan
                continue
            low, high = self.y.low, self.y.high
            leaps = min(y, before) < low - (high - low) and max(y, before) > high + (high - low)
            pen = "L" if before == before and not leaps else "M"
            parts.append(f"{pen}{_px(self.x(x))} {_px(self.y(y))}")
            before = y
        return "".join(parts)

    def area(self, loops: Iterable[Sequence[Pair]], look: str = "band") -> None:
        """Fill closed lines of (x, y); a line inside another one cuts a hole."""
        rings = ([(self.x(x), self.y(y)) for x, y in loop] for loop in loops)
        path = "".join(
            f"M{'L'.join(f'{_px(x)} {_px(y)}' for x, y in _bent(ring))}Z" for ring in rings
        )
        self.marks.append(f'<path class="adk-{look}" d="{path}"/>')

    def arrows(self, arrows: Iterable[tuple[Pair, Pair]], look: str = "arrow") -> None:
        """Draw arrows from (x, y) by pixels (right, up): their heads keep their shape."""
        parts = []
        for (x, y), (right, up) in arrows:
            length = math.hypot(right, up)
            if length < 1.5:
                parts.append(f"M{_px(self.x(x))} {_px(self.y(y))}h0.1")
                continue
            x0, y0 = self.x(x) - right / 2, self.y(y) + up / 2
            x1, y1 = x0 + right, y0 - up
            back, side = min(4.5, 0.6 * length) / length, min(2.6, 0.35 * length) / length
            bx, by = x1 - right * back, y1 + up * back
            parts.append(
                f"M{_px(x0)} {_px(y0)}L{_px(x1)} {_px(y1)}"
                f"M{_px(bx - up * side)} {_px(by - right * side)}L{_px(x1)} {_px(y1)}"
                f"L{_px(bx + up * side)} {_px(by + right * side)}"
            )
        self.marks.append(f'<path class="adk-{look}" d="{"".join(parts)}"/>')

    def bars(
        self, edges: Sequence[Pair], heights: Sequence[float], names: Sequence[str] = ()
    ) -> None:
        """Draw bars from the lower edge of the plot; names are said to screen readers."""
        floor = self.y.start
        for i, ((left, right), height) in enumerate(zip(edges, heights, strict=True)):
            top = min(self.y(height), floor) if height == height else floor
            x0, x1 = self.x(left), self.x(right)
            title = f"<title>{escape(names[i])}</title>" if names else ""
            self.marks.append(
                f'<rect class="adk-bar" x="{_px(x0)}" y="{_px(top)}" width="{_px(x1 - x0)}" '
                f'height="{_px(floor - top)}">{title}</rect>'
            )

    def dots(self, points: Iterable[Pair], look: str = "dot", radius: float = 3.0) -> None:
        """Draw small filled circles."""
        for x, y in points:
            if abs(x) < math.inf and abs(y) < math.inf:
                at = f'cx="{_px(self.x(x))}" cy="{_px(self.y(y))}" r="{radius:g}"'
                self.marks.append(f'<circle class="adk-{look}" {at}/>')

    def words(
        self, x: float, y: float, text: str, *, anchor: str = "start", up: float = 0.0
    ) -> None:
        """Write beside a point, `up` pixels above it, without being cut off."""
        self._over.append(_text(self.x(x), self.y(y) - up, text, "note", anchor))

    def level(self, value: float, text: str, *, below: bool = False) -> None:
        """Draw a dashed line at a height, if it is in sight, with words or without.

        The words stand above it, or below it if so asked for and if the plot goes on there.
        """
        if self.y.holds(value):
            y = self.y(value)
            line = f'd="M{_px(self.x.start)} {_px(y)}H{_px(self.x.end)}"'
            self.marks.append(f'<path class="adk-level" {line}/>')
            if text:
                is_under = y + 18 <= self.y.start if below else y - 18 < self.y.end
                at = y + 14 if is_under else y - 5
                self._over.append(_text(self.x.start + 6, at, text, "note", "start"))

    def handle(self, x: float, y: float, name: str, *, along: str = "", step: float = 0.0) -> None:
        """Put a point there that can be dragged on a ``Canvas``; sideways only if along ``x``.

        It moves by so much along x at each press of a key, or by ``x.step``.
        """
        self._steps = step or self.x.step, self.y.step
        px, py = _px(self.x(x)), _px(self.y(y))
        more = f' data-along="{along}"' if along else ""
        self._over.append(
            f'<g class="adk-handle" data-x="{x:.10g}" data-y="{y:.10g}"{more} '
            f'aria-label="{escape(name)}"><circle class="adk-reach" cx="{px}" cy="{py}" r="16"/>'
            f'<circle class="adk-grip" cx="{px}" cy="{py}" r="7"/></g>'
        )

    def svg(self) -> str:
        """Return the plot as SVG elements."""
        left, right, top, bottom = self.x.start, self.x.end, self.y.end, self.y.start
        wide, high = right - left, bottom - top
        data = {
            **{"x0": self.x.low, "x1": self.x.high, "y0": self.y.low, "y1": self.y.high},
            **{"left": left, "right": right, "top": top, "bottom": bottom},
        }
        data |= dict(zip(("step-x", "step-y"), self._steps, strict=False))
        has_handle = any("adk-handle" in part for part in self._over)
        name = "adk-axes" if has_handle else "adk-plain-axes"
        words = "".join(f' data-{key}="{value:.10g}"' for key, value in data.items() if has_handle)
        parts = [f'<g class="{name}"{words}>']
        ticks = self.x.ticks(max(2, int(wide / 70))) if self._x_ticks is None else self._x_ticks
        for value, text in ticks:
            x = _px(self.x(value))
            parts.append(f'<path class="adk-grid-line" d="M{x} {_px(top)}V{_px(bottom)}"/>')
            parts.append(_text(self.x(value), bottom + 17, text, "tick", "middle"))
        heights = self.y.ticks(max(2, int(high / 26)))
        for value, text in heights:
            y = self.y(value)
            parts.append(f'<path class="adk-grid-line" d="M{_px(left)} {_px(y)}H{_px(right)}"/>')
            parts.append(_text(left - 7, y + 4, text, "tick", "end"))
        box = f'x="{_px(left)}" y="{_px(top)}" width="{_px(wide)}" height="{_px(high)}"'
        view = f"{_px(left)} {_px(top)} {_px(wide)} {_px(high)}"
        marks = "".join(self.marks)
        parts.append(f'<svg {box} viewBox="{view}">{marks}</svg><rect class="adk-frame" {box}/>')
        x_label, y_label = self._labels
        if x_label:
            parts.append(_text((left + right) / 2, bottom + 35, x_label, "axis", "middle"))
        if y_label and left - 7 - max((_tick_width(t) for _, t in heights), default=0) < 18:
            parts.append(_text(2.0, top - 8, y_label, "axis", "start"))
        elif y_label:
            turned = f'transform="rotate(-90 13 {_px((top + bottom) / 2)})"'
            middle = _text(13.0, (top + bottom) / 2, y_label, "axis", "middle")
            parts.append(middle.replace("<text", f"<text {turned}", 1))
        return "".join(parts) + "</g>" + "".join(self._over)


def legend(entries: Iterable[tuple[str, str]], x: float, y: float) -> str:
    """Return a line of samples, each a look and its words, from left to right."""
    parts = []
    for look, text in entries:
        if look == "point":
            sample = f'<circle class="adk-grip" cx="{_px(x + 11)}" cy="{_px(y - 4)}" r="5"/>'
        elif look == "arrow":
            tip = f"M{_px(x + 2)} {_px(y - 4)}h18m-5 -3l5 3l-5 3"
            sample = f'<path class="adk-arrow" d="{tip}"/>'
        elif look == "mark":
            sample = f'<path class="adk-cursor" d="M{_px(x + 11)} {_px(y)}l-5 -8h10z"/>'
        else:
            sample = f'<path class="adk-{look}" d="M{_px(x)} {_px(y - 4)}h22"/>'
        parts.append(sample + _text(x + 28, y, text, "note", "start"))
        x += 28 + text_width(text) + 18
    return "".join(parts)


def drawing(
    parts: Iterable[Plot | str], width: float, height: float, *, title: str, words: str = ""
) -> str:
    """Return an SVG that stands alone: plots and other elements, with all looks it needs.

    Parameters
    ----------
    parts : iterable of Plot or str
    width, height : float
        In pixels.
    title, words : str
        What it is and what it shows, for screen readers.

    Returns
    -------
    str - the same for the same marks, character by character.
    """
    style, scope = scoped(_RULES, "adk-c")
    inside = "".join(part.svg() if isinstance(part, Plot) else part for part in parts)
    size = f'width="{_px(width)}" height="{_px(height)}" viewBox="0 0 {_px(width)} {_px(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-chart {scope}" role="img" {size}>'
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{style}</style>"
        f'<rect class="adk-paper" width="100%" height="100%" rx="6"/>{inside}</svg>'
    )


def _text(x: float, y: float, text: str, look: str, anchor: str) -> str:
    place = f'x="{_px(x)}" y="{_px(y)}" text-anchor="{anchor}"'
    return f'<text class="adk-{look}" {place}>{escape(text)}</text>'


def _tick_width(text: str) -> float:
    """Return the width of a number at an axis in pixels, as digits of common fonts have it."""
    return sum({".": 4.0, MINUS: 10.5}.get(c, 5.0 if c in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" else 8.0) for c in text)


def _bent(ring: Sequence[Pair]) -> list[Pair]:
    """Leave out the points, in pixels, that hardly bend a line."""
    kept = [ring[0]]
    for (px, py), (qx, qy) in pairwise(ring[1:]):
        dx, dy = qx - kept[-1][0], qy - kept[-1][1]
        off = abs(dx * (py - kept[-1][1]) - dy * (px - kept[-1][0]))
        if off > 0.35 * math.hypot(dx, dy):
            kept.append((px, py))
    return [*kept, ring[-1]]


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# -- looks --------------------------------------------------------------------------------------

# `@name` is a colour of kit.css; texts are 12.5 px, so that they are 11 px on a narrow page.
_RULES = """
.adk-paper { fill:@paper }
text { font:12.5px system-ui, -apple-system, "Segoe UI", Arial, sans-serif; fill:@ink }
.adk-tick { fill:@quiet }
.adk-axis { fill:@quiet }
.adk-note { stroke:@paper; stroke-width:3.5; stroke-linejoin:round; paint-order:stroke }
.adk-frame { fill:none; stroke:@edge-line }
.adk-grid-line { fill:none; stroke:@hairline }
.adk-curve { fill:none; stroke:@forward; stroke-width:2.2; stroke-linejoin:round }
.adk-middle { fill:none; stroke:@edge-line; stroke-width:1.4; stroke-linejoin:round }
.adk-lead { fill:none; stroke:@edge-line }
.adk-tangent { fill:none; stroke:@backward; stroke-width:2; stroke-dasharray:7 4 }
.adk-parabola { fill:none; stroke:@number; stroke-width:2; stroke-dasharray:2 3 }
.adk-level { fill:none; stroke:@quiet; stroke-width:1.4; stroke-dasharray:5 4 }
.adk-cursor { fill:none; stroke:@ink; stroke-width:1.4 }
.adk-band { fill:@forward; fill-opacity:0.08; fill-rule:evenodd; stroke:@forward;
  stroke-opacity:0.35; stroke-width:0.8 }
.adk-arrow { fill:none; stroke:@quiet; stroke-width:1.2; stroke-linecap:round }
.adk-path { fill:none; stroke:@backward; stroke-width:2; stroke-linejoin:round }
.adk-path-under { fill:none; stroke:@paper; stroke-width:4.5; stroke-linejoin:round }
.adk-dot { fill:@backward }
.adk-bar { fill:@forward-soft; stroke:@forward; stroke-width:1.2 }
.adk-grip { fill:@backward; stroke:@paper; stroke-width:2 }
.adk-reach { fill:@paper; fill-opacity:0 }
"""


def spread(places: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Move labels at these pixels apart, no nearer than `room`, and keep them from low to high.

    Examples
    --------
    >>> spread([10.0, 12.0, 50.0], 14.0, 0.0, 100.0)
    [4.0, 18.0, 50.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[float]] = []  # each is [sum of wishes, count]
    for i in order:
        groups.append([places[i], 1.0])
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], room):
            wish, count = groups.pop()
            groups[-1][0] += wish
            groups[-1][1] += count
    found: list[float] = []
    for wish, count in groups:
        first = wish / count - room * (count - 1) / 2
        found += [first + room * k for k in range(int(count))]
    for k, _ in enumerate(found):
        found[k] = max(found[k], found[k - 1] + room if k else low)
    shift = max(0.0, found[-1] - high) if found else 0.0
    placed = [0.0] * len(places)
    for k, i in enumerate(order):
        placed[i] = found[k]
    if shift:
        limit = high
        for i in reversed(order):
            placed[i] = limit = min(placed[i], limit)
            limit -= room
    return placed


def _overlap(above: Sequence[float], below: Sequence[float], room: float) -> bool:
    end = above[0] / above[1] + room * (above[1] - 1) / 2
    return below[0] / below[1] - room * (below[1] - 1) / 2 < end + room - 1e-9
