"""The drawing itself: boxes, arrows and heat maps as SVG text.

After reading you can say how a picture in a notebook without a kernel comes to look like the live
one: both are ``base_svg``, the browser toggles classes on it, and ``still_svg`` writes the same
classes for one step and brings along the same rules of ``static/kit.css``. No browser is needed,
nothing has an id, and the same picture gives the same bytes. Read next: ``page.py``.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from html import escape
from itertools import pairwise
from math import prod, sqrt
from textwrap import wrap
from typing import Any
from unicodedata import combining, east_asian_width

from autodiff_kit.view.drawn import Drawn
from autodiff_kit.view.layout import Point, Size
from autodiff_kit.view.page import static
from autodiff_kit.view.values import number

__all__ = ["BoxText", "base_svg", "box_size", "heat", "still_svg", "text_width"]

CHARACTER = 7.35  # px, advance of a 12 px monospaced font; the widest in use have 7.3
BOLD = 1.02  # some fonts are wider in bold
PADDING = 11  # px between the border of a box and its text
LINE = 17  # px
GAP = 14  # px between a name and the symbol beside it
LEAST_WIDTH = 54
CORNER = 9  # px, radius where an arrow turns
RADIUS = {"leaf": 17, "op": 3, "fold": 3}
STACK = (4, 8)  # px by which the sheets behind a folded box are shifted
CAPTION_CHARACTER = 6.9  # px, 13 px proportional font, generous

# A box is known by its texts: name, symbol, lines below, and what its gradient becomes.
BoxText = Mapping[str, Any]


def text_width(text: str, bold: bool = False) -> float:
    """Return the width of monospaced text in pixels, generously, without a browser.

    Examples
    --------
    >>> text_width("abc") < text_width("abcd") < text_width("\u8a08\u7b97")+20
    True
    """
    if text.isascii():
        cells = float(len(text))
    else:
        # Outside ASCII another font may have to help out, so leave some room.
        cells = sum(
            0 if combining(c) else 1 if c.isascii() else 2 if east_asian_width(c) in "WF" else 1.15
            for c in text
        )
    return cells * CHARACTER * (BOLD if bold else 1)


def box_size(text: BoxText) -> tuple[float, float]:
    """Return width and height of a box, with room for every gradient it will show.

    Parameters
    ----------
    text : dict
        ``name``, ``symbol``: first line; ``lines``: those below; ``values``, ``grads``: all that
        the value and the gradient become in the course of the steps (no gradients: no line).
    """
    gap = GAP if text["name"] and text["symbol"] else 0
    widths = [text_width(text["name"], bold=True) + gap + text_width(text["symbol"])]
    widths += [text_width(line) for line in (*text["lines"], *text["values"])]
    label = text_width("grad ")
    widths += [label + text_width(grad, bold=True) for grad in text["grads"]]
    rows = 1 + len(text["lines"]) + bool(text["grads"])
    width = max(LEAST_WIDTH, max(widths) + 2 * PADDING)
    return float(round(width)), float(LINE * rows + 11)


# -- the base drawing ---------------------------------------------------------------------------


def base_svg(picture: Drawn) -> str:
    """Return the whole graph as one ``<g>``, for the browser to toggle classes on.

    Nodes carry ``data-node``, arrows ``data-edge``; everything is there, nothing is hidden.
    """
    return _drawing(picture, None)


def _drawing(picture: Drawn, state: Mapping[str, Any] | None) -> str:
    parts = ["<g>"]
    heads: dict[str, list[float]] = {}  # of each box whose arrows are labelled, from the left
    for edge, route in zip(picture.outline.edges, picture.layout.routes, strict=True):
        if edge.id in picture.edge_labels:
            insort(heads.setdefault(edge.target, []), route[-1][0])
    for edge, route in zip(picture.outline.edges, picture.layout.routes, strict=True):
        shown = None if state is None else state["edges"][edge.id]
        if shown and shown["hidden"]:
            continue
        ghost, seen = " adk-ghost" * edge.ghost, _state_classes(shown)
        parts.append(
            f'<path class="adk-edge{ghost}{seen}" data-edge="{edge.id}" data-from="{edge.source}" '
            f'data-to="{edge.target}" d="{_line(route)}"/>'
        )
        # Two heads: down where a value goes in; up, seen only while a gradient comes back.
        against = bool(state and shown and shown["active"] and state["phase"] == "backward")
        if not against:
            parts.append(_head("adk-tip", edge.id, seen, route[-1], route[-2]))
        if not edge.ghost and (state is None or against):
            hidden = "" if against else ' visibility="hidden"'
            parts.append(_head("adk-back", edge.id, seen, route[0], route[1], hidden))
        if edge.id in picture.edge_labels:
            classes = "adk-arg" + _state_classes(shown)
            x, y = route[-1]
            side, anchor = (6, "start") if route[-2][0] <= x else (-6, "end")  # the free side
            rank, last = heads[edge.target].index(x), len(heads[edge.target]) - 1
            if last:  # outermost labels stand outside, the others above each other
                side, anchor = (6, "start") if rank else (-6, "end")
                y -= LINE * rank if rank < last else 0
            label = _text(picture.edge_labels[edge.id])
            parts.append(
                f'<text class="{classes}" data-edge-label="{edge.id}" x="{_px(x + side)}" '
                f'y="{_px(y - 5)}" text-anchor="{anchor}">{label}</text>'
            )
    for box, (x, y), size, text in zip(
        picture.outline.boxes, picture.layout.positions, picture.sizes, picture.texts, strict=True
    ):
        shown = None if state is None else state["nodes"][box.id]
        if not (shown and shown["hidden"]):
            ghost = " adk-ghost" * text["ghost"]
            classes = f"adk-node adk-{box.kind}{ghost}{_state_classes(shown)}"
            at = f'transform="translate({_px(x)},{_px(y)})"'
            inside = _box(box.kind, box.id, size, text, shown)
            parts.append(f'<g class="{classes}" data-node="{box.id}" {at}>{inside}</g>')
    parts.append("</g>")
    return "".join(parts)


def _box(kind: str, name: str, size: Size, text: BoxText, shown: Mapping[str, Any] | None) -> str:
    width, height = size
    parts = []
    if kind == "fold":  # two more sheets behind
        for d in STACK:
            sheet = f"M{width:g} {d}h{d}v{height:g}h-{width:g}v-{d}"
            parts.append(f'<path class="adk-stack" fill="none" stroke="#8592a1" d="{sheet}"/>')
    radius = RADIUS[kind]
    parts.append(f'<rect class="adk-box" width="{width:g}" height="{height:g}" rx="{radius}"/>')
    y = LINE
    left, right = PADDING, f"{width - PADDING:g}"
    if text["name"]:
        parts.append(f'<text class="adk-name" x="{left}" y="{y}">{_text(text["name"])}</text>')
    if text["symbol"]:
        at = f'x="{right}" y="{y}" text-anchor="end"' if text["name"] else f'x="{left}" y="{y}"'
        parts.append(f'<text class="adk-op-label" {at}>{_text(text["symbol"])}</text>')
    for i, line in enumerate(text["lines"]):
        y += LINE
        if i == 0 and shown and "value" in shown:
            line = shown["value"]
        parts.append(f'<text class="adk-value" x="{left}" y="{y}">{_text(line)}</text>')
    if text["grads"]:
        y += LINE
        grad = ""
        if shown:
            found = shown.get("grad")
            grad = (shown.get("g") if found is None else found) or ""
        parts.append(f'<text class="adk-op-label" x="{left}" y="{y}">grad</text>')
        parts.append(
            f'<text class="adk-grad" data-grad="{name}" x="{_px(left + text_width("grad "))}" '
            f'y="{y}">{_text(grad)}</text>'
        )
    return "".join(parts)


def _state_classes(shown: Mapping[str, Any] | None) -> str:
    if not shown:
        return ""
    classes = " adk-active" if shown.get("active") else ""
    if shown.get("grad") is not None or shown.get("g") is not None:
        classes += " adk-has-grad"
    for name in ("released", "visited"):
        if shown.get(name):
            classes += f" adk-{name}"
    return classes


def _line(route: Sequence[Point]) -> str:
    """Return a line with rounded corners."""
    parts = [f"M{_px(route[0][0])} {_px(route[0][1])}"]
    before = route[0]
    for corner, after in pairwise(route[1:]):
        bend = _bend(before, corner, after)
        if bend:
            parts.append(bend)
            before = corner
    parts.append(f"L{_px(route[-1][0])} {_px(route[-1][1])}")
    return "".join(parts)


@lru_cache(maxsize=4096)  # the arrows of one node share their first part
def _bend(before: Point, corner: Point, after: Point) -> str:
    """Return the way round one corner; nothing where it goes straight on."""
    (ax, ay), (bx, by), (cx, cy) = before, corner, after
    if abs((bx - ax) * (cy - by) - (by - ay) * (cx - bx)) < 1e-6:
        return ""
    (px, py), (qx, qy) = _toward(corner, before), _toward(corner, after)
    return f"L{_px(px)} {_px(py)}Q{_px(bx)} {_px(by)} {_px(qx)} {_px(qy)}"


def _head(kind: str, edge: str, seen: str, tip: Point, tail: Point, more: str = "") -> str:
    """Return an arrow head; its attributes count only where kit.css says nothing of it."""
    long, wide = (7.0, 3.6) if kind == "adk-tip" else (10.0, 5.5)
    (lx, ly), (rx, ry) = _wings(tip, tail, long, wide)
    points = f"M{_px(lx)} {_px(ly)}L{_px(tip[0])} {_px(tip[1])}L{_px(rx)} {_px(ry)}"
    plain = ' fill="none" stroke="#8592a1"' if kind == "adk-tip" else ""
    return f'<path class="{kind}{seen}" data-edge-label="{edge}"{plain}{more} d="{points}"/>'


def _wings(tip: Point, tail: Point, long: float, wide: float) -> tuple[Point, Point]:
    dx, dy = tail[0] - tip[0], tail[1] - tip[1]
    length = sqrt(dx * dx + dy * dy) or 1.0
    dx, dy = dx / length, dy / length
    x, y = tip[0] + dx * long, tip[1] + dy * long
    return (x - dy * wide, y + dx * wide), (x + dy * wide, y - dx * wide)


def _toward(corner: Point, end: Point) -> Point:
    """Return the point where the line leaves straight for the corner."""
    dx, dy = end[0] - corner[0], end[1] - corner[1]
    length = sqrt(dx * dx + dy * dy) or 1.0
    part = min(CORNER, length / 2) / length
    return corner[0] + dx * part, corner[1] + dy * part


@lru_cache(maxsize=16384)  # boxes in a column, arrows at a row: most places occur many times
def _px(value: float) -> str:
    return f"{round(value, 1):g}" if abs(value) < 1e5 else f"{value:.1f}"


_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _text(text: str) -> str:
    """Escape text for XML, which has no way at all to write some characters."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


# -- stills -------------------------------------------------------------------------------------


def still_svg(picture: Drawn, step: int = -1, *, caption: bool = False) -> str:
    """Return one step as an SVG that stands alone: for GitHub, a README, a closed notebook.

    It brings its own style, scoped to itself, follows light and dark, and says in words what it
    shows (``<title>`` and ``<desc>``, for screen readers).

    Parameters
    ----------
    picture : Picture
    step : int
        Which step; negative ones count from the end.
    caption : bool
        Write the step's caption below the graph; without, only why a recording is incomplete.

    Returns
    -------
    str - the same for the same picture and step, byte by byte.

    Raises
    ------
    IndexError
        If there is no such step; the message says how many there are.
    """
    state = picture.state(step)
    style, scope = _style()
    words = state["caption"] if caption else picture.note
    width = max(picture.layout.width, 220.0 if words else 60.0)
    height = picture.layout.height
    body = _drawing(picture, state)
    if words:
        lines = wrap(words, max(20, int((width - 24) / CAPTION_CHARACTER)))
        for line in lines:
            body += (
                f'<text class="adk-caption-line" x="12" y="{_px(height + 10)}">{_text(line)}</text>'
            )
            height += 18
        height += 8
    size = f'width="{_px(width)}" height="{_px(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-picture {scope}" role="img" '
        f'data-phase="{state["phase"]}" {size} viewBox="0 0 {_px(width)} {_px(height)}">'
        f"<title>{_text(picture.title)}</title><desc>{_text(state['caption'])}</desc>"
        f'<style>{style}</style><rect class="adk-paper" width="100%" height="100%" rx="6"/>'
        f"{body}</svg>"
    )


_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"--adk-([\w-]+):\s*([^;]+);")
_PAIR = re.compile(r"light-dark\(([^,]+),\s*([^)]+)\)")


@lru_cache(maxsize=1)
def _style() -> tuple[str, str]:
    """Take the colours and the rules for the drawing out of kit.css, for one svg only.

    Old browsers and converters that know no variables get the light colours written out. The
    class that scopes the rules is made from their text: stills of two versions of the kit on one
    page leave each other alone.

    Returns
    -------
    tuple of str - the style, and the class.
    """
    sheet = re.sub(r"/\*(?!\s*----).*?\*/", "", static("kit.css"), flags=re.DOTALL)
    colours, drawing = re.split(r"/\*\s*---- \d\. .*?\*/", sheet, flags=re.DOTALL)[1:3]
    blocks = {selector.strip(): text for selector, text in _RULE.findall(colours)}
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for name, value in _VARIABLE.findall(blocks[".adk-root"]):
        light[name], dark[name] = _PAIR.sub(r"\1", value), _PAIR.sub(r"\2", value)
    used: dict[str, None] = {}
    rules = []
    for selectors, declarations in (*_RULE.findall(drawing), *_OWN_RULES):
        if re.search(r"ring|hidden|selected|adk-root", selectors):
            continue
        done = []
        for declaration in declarations.split(";"):
            name, _, value = (part.strip() for part in declaration.partition(":"))
            if not value or name in ("cursor", "outline", "transition"):
                continue
            if "var(" in value:
                used |= dict.fromkeys(re.findall(r"var\(--adk-([\w-]+)", value))
                done.append(f"{name}:{_written_out(value, light)}")
            done.append(f"{name}:{value}")
        if done:
            scoped = ",".join(f"%s {selector.strip()}" for selector in selectors.split(","))
            rules.append(f"{scoped}{{{';'.join(done)}}}")
    wanted = dict.fromkeys(used)
    for name in used:
        wanted |= dict.fromkeys(re.findall(r"var\(--adk-([\w-]+)", light[name]))
    phase = dict(_VARIABLE.findall(blocks['.adk-root[data-phase="backward"]']))
    for value in phase.values():
        wanted |= dict.fromkeys(re.findall(r"var\(--adk-([\w-]+)", value))

    def block(values: Mapping[str, str]) -> str:
        return "".join(f"--adk-{n}:{values[n]};" for n in wanted if n in values)

    only_dark = {n: v for n, v in dark.items() if v != light[n]}
    only_light = {n: light[n] for n in only_dark}
    backward = "".join(f"--adk-{n}:{v};" for n, v in phase.items())
    text = (
        f"%s{{{block(light)}}}"
        f"@media (prefers-color-scheme:dark){{%s{{{block(only_dark)}}}}}"
        f'[data-jp-theme-light="true"] %s{{{block(only_light)}}}'
        f'[data-jp-theme-light="false"] %s{{{block(only_dark)}}}'
        f'%s[data-phase="backward"]{{{backward}}}' + "".join(rules)
    )
    text = re.sub(r"\s+", " ", text)
    scope = "adk-s" + sha256(text.encode()).hexdigest()[:8]
    return text.replace("%s", f".{scope}"), scope


_OWN_RULES = (
    (".adk-paper", "fill: var(--adk-paper)"),
    (".adk-caption-line", "fill: var(--adk-ink); font: 13px var(--adk-sans)"),
)


def _written_out(value: str, colours: Mapping[str, str]) -> str:
    """Replace ``var(--adk-x)`` by its colour, and a variable of the host by its fallback."""
    for _ in range(4):
        value = re.sub(r"var\(--adk-([\w-]+)\)", lambda m: colours[m[1]], value)
        value = re.sub(r"var\(--jp-[\w-]+,\s*((?:[^()]|\([^()]*\))*)\)", r"\1", value)
    return value


# -- heat maps ----------------------------------------------------------------------------------

CELLS = 64  # more are not drawn
WITH_NUMBERS = 16  # so many fit with their numbers
SQUARE = 14  # px of a cell without a number
UP, DOWN = "#c2570c", "#2f6fb3"  # orange and blue: told apart with any kind of colour blindness


def heat(value: Mapping[str, Any]) -> str | None:
    """Draw a small matrix or vector, the colour turning at 0; None for anything else.

    Up to 16 cells show their numbers on a tint. Without numbers the size of a square tells the
    magnitude, and negative ones are hollow: nothing is said by colour alone.

    Parameters
    ----------
    value : dict
        A VALUE of a recording; of 1 or 2 dimensions and at most 64 elements, or there is no map.

    Returns
    -------
    str or None
    """
    shape = value["shape"]
    count = prod(shape)
    if len(shape) not in (1, 2) or not 1 < count <= CELLS or "stats" in value:
        return None
    columns = shape[-1]
    numbers = [float(v) for v in value["data"]]
    largest = max((abs(v) for v in numbers if abs(v) < float("inf")), default=0.0) or 1.0
    if count <= WITH_NUMBERS:
        return _tinted(value, numbers, columns, largest)
    return _squares(numbers, columns, largest)


def _tinted(
    value: Mapping[str, Any], numbers: Sequence[float], columns: int, largest: float
) -> str:
    floats = str(value["dtype"]).startswith("float")
    texts = [number(v if floats or v != v else int(v)) for v in numbers]
    width = round(max(map(text_width, texts))) + 10
    height = 20
    parts = []
    for i, (v, text) in enumerate(zip(numbers, texts, strict=True)):
        x, y = i % columns * width, i // columns * height
        if v == v:
            tint = min(abs(v) / largest, 1.0) * 0.38
            colour = UP if v > 0 else DOWN
            cell = f"M{x} {y}h{width}v{height}h-{width}z"
            parts.append(f'<path fill="{colour}" fill-opacity="{tint:.2f}" d="{cell}"/>')
        parts.append(f'<text x="{x + width - 5}" y="{y + 14}">{text}</text>')
    rows = len(numbers) // columns
    return (
        f'<svg width="{width * columns}" height="{height * rows}" '
        f'viewBox="0 0 {width * columns} {height * rows}" font-size="12" text-anchor="end" '
        f'font-family="monospace" fill="currentColor">{"".join(parts)}</svg>'
    )


def _squares(numbers: Sequence[float], columns: int, largest: float) -> str:
    """Draw squares whose area is the magnitude: full above 0, hollow below, a cross for nan."""
    full, hollow, crosses = [], [], []
    for i, v in enumerate(numbers):
        x, y = i % columns * SQUARE, i // columns * SQUARE
        if v != v:
            crosses.append(f"M{x + 4} {y + 4}l6 6m0-6l-6 6")
            continue
        side = round(sqrt(min(abs(v) / largest, 1.0)) * (SQUARE - 2) / 2) * 2
        if v and not side:
            side = 2
        at = f"{x + (SQUARE - side) // 2} {y + (SQUARE - side) // 2}"
        if v > 0:
            full.append(f"M{at}h{side}v{side}h-{side}z")
        elif side:
            inner = side - 2
            hollow.append(
                f"M{at}h{side}v{side}h-{side}z"
                + (f"m1 1v{inner}h{inner}v-{inner}z" if inner > 0 else "")
            )
    rows = len(numbers) // columns
    width, height = columns * SQUARE, rows * SQUARE
    frame = f'<path fill="currentColor" fill-opacity=".07" d="M0 0h{width}v{height}h-{width}z"/>'
    marks = (
        f'<path fill="{UP}" d="{"".join(full)}"/>' * bool(full)
        + f'<path fill="{DOWN}" d="{"".join(hollow)}"/>' * bool(hollow)
        + f'<path fill="none" stroke="currentColor" d="{"".join(crosses)}"/>' * bool(crosses)
    )
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f"<svg {size}>{frame}{marks}</svg>"
