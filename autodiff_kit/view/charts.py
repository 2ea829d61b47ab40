"""Plots as SVG text: what ``plots.py`` describes, drawn for the screen; no plotting library.

After reading you can say how each mark becomes an element, and where the looks are named. The same
description gives the same text. Dashes, shapes and words say all that the colours say. Read next:
``contours.py``, how a surface becomes lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, singledispatch
from html import escape
from itertools import pairwise
from weakref import WeakKeyDictionary

from autodiff_kit.view.looks import scoped
from autodiff_kit.view.plots import (
    PIXELS,
    Area,
    Arrows,
    Bars,
    Curve,
    Dots,
    Drawing,
    Group,
    Handle,
    Key,
    Mark,
    Plot,
    Pointer,
    Sample,
    Words,
)
from autodiff_kit.view.scales import Pair, Scale

__all__ = ["chart_svg", "looks"]


def chart_svg(drawing: Drawing) -> str:
    """Return an SVG that stands alone: plots and what is around them, with all looks it needs.

    Marks that can be picked lie over the others for the mouse, whatever is drawn over them.

    Returns
    -------
    str - the same for the same drawing, character by character.
    """
    style, scope = scoped(_RULES, "adk-c")
    inside = "".join(
        _plot(part) if isinstance(part, Plot) else _mark(part, PIXELS, PIXELS)
        for part in drawing.parts
    )
    wide, high = _px(drawing.width), _px(drawing.height)
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    size += ' pointer-events="none"' * ("data-id=" in inside)
    title, words = escape(drawing.title), escape(drawing.words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-chart {scope}" role="img" {size}>'
        f"<title>{title}</title><desc>{words}</desc><style>{style}</style>"
        f'<rect class="adk-paper" width="100%" height="100%" rx="6"/>{inside}</svg>'
    )


# -- a plot ---------------------------------------------------------------------------------------

_written: WeakKeyDictionary[Plot, str] = WeakKeyDictionary()  # what lies under others, by its plot


def _plot(plot: Plot) -> str:
    """Return axes and marks."""
    left, right, top, bottom = plot.x.start, plot.x.end, plot.y.end, plot.y.start
    parts = [f"<g {_axes(plot)}>"]
    for value, text in plot.x_ticks():
        x = _px(plot.x(value))
        parts.append(f'<path class="adk-grid-line" d="M{x} {_px(top)}V{_px(bottom)}"/>')
        parts.append(_text(plot.x(value), bottom + 17, text, "tick", "middle"))
    for value, text in plot.y_ticks():
        y = plot.y(value)
        parts.append(f'<path class="adk-grid-line" d="M{_px(left)} {_px(y)}H{_px(right)}"/>')
        parts.append(_text(left - 7, y + 4, text, "tick", "end"))
    box = f'x="{_px(left)}" y="{_px(top)}" width="{_px(plot.wide)}" height="{_px(plot.high)}"'
    view = f"{_px(left)} {_px(top)} {_px(plot.wide)} {_px(plot.high)}"
    parts.append(f'<svg {box} viewBox="{view}">{_inside(plot)}</svg>')
    parts.append(f'<rect class="adk-frame" {box}/>')
    if plot.x_label:
        parts.append(_text((left + right) / 2, bottom + 35, plot.x_label, "axis", "middle"))
    if plot.y_label and plot.has_wide_numbers():
        parts.append(_text(2.0, top - 8, plot.y_label, "axis", "start"))
    elif plot.y_label:
        turned = f'transform="rotate(-90 13 {_px((top + bottom) / 2)})"'
        middle = _text(13.0, (top + bottom) / 2, plot.y_label, "axis", "middle")
        parts.append(middle.replace("<text", f"<text {turned}", 1))
    return "".join(parts) + "</g>" + "".join(_mark(mark, plot.x, plot.y) for mark in plot.over)


def _axes(plot: Plot) -> str:
    """Return the class of a plot, and its scale for the canvas if a point can be dragged in it."""
    handle = next((mark for mark in plot.over if isinstance(mark, Handle)), None)
    if handle is None:
        return 'class="adk-plain-axes"'
    data = {
        **{"x0": plot.x.low, "x1": plot.x.high, "y0": plot.y.low, "y1": plot.y.high},
        **{"left": plot.x.start, "right": plot.x.end, "top": plot.y.end, "bottom": plot.y.start},
        **{"step-x": handle.step or plot.x.step, "step-y": plot.y.step},
    }
    return 'class="adk-axes"' + "".join(f' data-{k}="{v:.10g}"' for k, v in data.items())


def _inside(plot: Plot) -> str:
    below = ""
    if plot.under is not None:
        if plot.under not in _written:
            _written[plot.under] = _inside(plot.under)
        below = _written[plot.under]
    return below + "".join(_mark(mark, plot.x, plot.y) for mark in plot.marks)


# -- marks ----------------------------------------------------------------------------------------


@singledispatch
def _mark(mark: Mark, x: Scale, y: Scale) -> str:
    raise TypeError(f"{mark!r} is no mark")


@_mark.register
def _(mark: Curve, x: Scale, y: Scale) -> str:
    lines = ("L".join(_at(x(a), y(b)) for a, b in piece) for piece in mark.pieces(y))
    return _path(mark.look, "".join(f"M{line}" for line in lines))


@_mark.register
def _(mark: Area, x: Scale, y: Scale) -> str:
    rings = ([(x(a), y(b)) for a, b in loop] for loop in mark.loops)
    shapes = (_bent(ring) if mark.is_smooth else ring for ring in rings)
    path = "".join(f"M{'L'.join(_at(*point) for point in shape)}Z" for shape in shapes)
    style = [f"fill-opacity:{mark.opacity:g}"] * (mark.opacity < 1)
    style += [f"stroke-dasharray:{' '.join(f'{d:.3g}' for d in mark.dash)}"] * bool(mark.dash)
    return _path(mark.look, path, f' style="{";".join(style)}"' * bool(style))


@_mark.register
def _(mark: Arrows, x: Scale, y: Scale) -> str:
    parts = []
    for (a, b), (right, up) in mark.arrows:
        length = math.hypot(right, up)
        if length < 1.5:
            parts.append(f"M{_at(x(a), y(b))}h0.1")
            continue
        x0, y0 = x(a) - right / 2, y(b) + up / 2
        x1, y1 = x0 + right, y0 - up
        back, side = min(4.5, 0.6 * length) / length, min(2.6, 0.35 * length) / length
        bx, by = x1 - right * back, y1 + up * back
        parts.append(
            f"M{_at(x0, y0)}L{_at(x1, y1)}"
            f"M{_at(bx - up * side, by - right * side)}L{_at(x1, y1)}"
            f"L{_at(bx + up * side, by + right * side)}"
        )
    return _path(mark.look, "".join(parts))


@_mark.register
def _(mark: Bars, x: Scale, y: Scale) -> str:
    floor, parts = y.start, []
    for i, ((left, right), height) in enumerate(zip(mark.edges, mark.heights, strict=True)):
        top = min(y(height), floor) if height == height else floor
        title = f"<title>{escape(mark.names[i])}</title>" if mark.names else ""
        parts.append(
            f'<rect class="adk-{mark.look}" x="{_px(x(left))}" y="{_px(top)}" '
            f'width="{_px(x(right) - x(left))}" height="{_px(floor - top)}">{title}</rect>'
        )
    return "".join(parts)


@_mark.register
def _(mark: Dots, x: Scale, y: Scale) -> str:
    return "".join(_circle(mark.look, x(a), y(b), mark.radius) for a, b in mark.finite())


@_mark.register
def _(mark: Pointer, x: Scale, y: Scale) -> str:
    corners = (_at(x(mark.x) + right, y(mark.y) + down) for right, down in mark.outline())
    return _path("cursor", f"M{'L'.join(corners)}Z")


@_mark.register
def _(mark: Words, x: Scale, y: Scale) -> str:
    place = x(mark.x) + mark.right, y(mark.y) - mark.up
    return _text(*place, mark.text, mark.look, mark.anchor, is_bold=mark.is_bold)


@_mark.register
def _(mark: Handle, x: Scale, y: Scale) -> str:
    at = x(mark.x), y(mark.y)
    more = f' data-along="{mark.along}"' if mark.along else ""
    return (
        f'<g class="adk-handle" data-x="{mark.x:.10g}" data-y="{mark.y:.10g}"{more} '
        f'aria-label="{escape(mark.name)}">{_circle("reach", *at, 16)}{_circle("grip", *at, 7)}</g>'
    )


@_mark.register
def _(mark: Group, x: Scale, y: Scale) -> str:
    # A picture of a canvas marks what is picked by the outline of its boxes.
    inside = "".join(_mark(part, x, y) for part in mark.marks)
    inside = inside.replace('class="adk-bar"', 'class="adk-bar adk-box"')
    inside = inside.replace('class="adk-level"', 'class="adk-level adk-box"')
    name = f'data-id="{escape(mark.id)}" aria-label="{escape(mark.label)}"'
    return f'<g {name} pointer-events="all">{inside}</g>'


@_mark.register
def _(mark: Key, x: Scale, y: Scale) -> str:
    parts = []
    for sample, left in zip(mark.samples, mark.places(), strict=True):
        parts.append(_sample(sample, left, mark.y))
        parts.append(_text(left + 28, mark.y, sample.text, "note", "start"))
    return f'<g class="adk-key">{"".join(parts)}</g>'


def _sample(sample: Sample, x: float, y: float) -> str:
    """Return a look as a key shows it; y is the line that its words stand on."""
    if sample.look == "point":
        return _circle("grip", x + 11, y - 4, 5)
    if sample.look == "arrow":
        return _path("arrow", f"M{_at(x + 2, y - 4)}h18m-5 -3l5 3l-5 3")
    if sample.look == "pointer":
        return _mark(Pointer(x + 11, y), PIXELS, PIXELS)
    if sample.is_area:
        box = [(x, y), (x + 22, y), (x + 22, y - 9), (x, y - 9)]
        return _mark(Area([box], sample.look, dash=sample.dash), PIXELS, PIXELS)
    return _path(sample.look, f"M{_at(x, y - 4)}h22")


# -- elements -------------------------------------------------------------------------------------


def _path(look: str, path: str, style: str = "") -> str:
    return f'<path class="{_class(look)}"{style} d="{path}"/>'


def _circle(look: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="adk-{look}" cx="{_px(x)}" cy="{_px(y)}" r="{radius:g}"/>'


def _text(x: float, y: float, text: str, look: str, anchor: str, *, is_bold: bool = False) -> str:
    place = f'x="{_px(x)}" y="{_px(y)}" text-anchor="{anchor}"'
    bold = ' style="font-weight:700"' * is_bold
    return f'<text class="{_class(look)}" {place}{bold}>{escape(text)}</text>'


def _class(look: str) -> str:
    return " ".join(f"adk-{name}" for name in look.split())


def _bent(ring: Sequence[Pair]) -> list[Pair]:
    """Leave out the points, in pixels, that hardly bend a line."""
    bends = [ring[0]]
    for (px, py), (qx, qy) in pairwise(ring[1:]):
        dx, dy = qx - bends[-1][0], qy - bends[-1][1]
        off = abs(dx * (py - bends[-1][1]) - dy * (px - bends[-1][0]))
        if off > 0.35 * math.hypot(dx, dy):
            bends.append((px, py))
    return [*bends, ring[-1]]


def _at(x: float, y: float) -> str:
    return f"{_px(x)} {_px(y)}"


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# -- looks ----------------------------------------------------------------------------------------

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
.adk-grad-bar { fill:@backward-soft; stroke:@backward; stroke-width:1.2 }
.adk-grip { fill:@backward; stroke:@paper; stroke-width:2 }
.adk-reach { fill:@paper; fill-opacity:0 }
"""


@cache
def looks() -> Mapping[str, Mapping[str, str]]:
    """Return the CSS of each look for what knows no browser: light colours, all written out.

    Examples
    --------
    >>> looks()["tangent"]["stroke-dasharray"]
    '7 4'
    """
    style, _ = scoped(_RULES, "adk-c")
    properties: dict[str, dict[str, str]] = {}
    for name, body in re.findall(r" (?:\.adk-)?([\w-]+)\{([^{}]*)\}", style):
        pairs = (line.strip().split(":", 1) for line in body.split(";") if ":" in line)
        properties[name] = {key: text for key, text in pairs if "var(" not in text}
    return properties
