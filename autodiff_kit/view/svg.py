"""The drawing itself: boxes and arrows as SVG text.

After reading you can say how a picture in a notebook without a kernel comes to look like the live
one: both are ``base_svg``, the browser toggles classes on it, and ``still_svg`` writes the same
classes for one step and brings along the same rules of ``static/kit.css``. No browser is needed,
nothing has an id, and the same picture gives the same bytes. Read next: ``page.py``.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from textwrap import wrap

from autodiff_kit.view.chips import SLOT, Sides, chip_svg, slot_svg, slot_width
from autodiff_kit.view.cuts import cut_svg
from autodiff_kit.view.drawn import Drawn
from autodiff_kit.view.enclosures_svg import frames_svg
from autodiff_kit.view.explanation import in_sentences, numbers_at
from autodiff_kit.view.heat import map_size
from autodiff_kit.view.layout import Point, Size
from autodiff_kit.view.looks import picture_style
from autodiff_kit.view.payload import GRADIENT, BoxText, Explanation, Fields, State
from autodiff_kit.view.stop import number_marks, stop_svg
from autodiff_kit.view.svg_text import escaped, pixels, text_width
from autodiff_kit.view.training import link_svg

__all__ = ["BoxText", "base_svg", "box_size", "still_svg"]

PADDING = 14  # px between the border of a box and its text
LINE, DENSE_LINE = 22, 19  # px
UNDER = 6  # px between a line and the picture of a matrix below it
GAP = 18  # px between a name and the expression beside it
LEAST_WIDTH = 64
NAME, TEXT, SMALL = 15, 14, 13  # px, fonts
CORNER = 9  # px, radius where an arrow turns
RADIUS = {"leaf": 20, "op": 6, "fold": 6}
WIDE = 280  # px, of a box in which the gradient stands beside the value
STACK = (4, 8)  # px by which the sheets behind a folded box are shifted
PLUS = 20  # px, a sign between two slots
CAPTION_CHARACTER = 6.9  # px, 13 px proportional font, generous


def box_size(text: BoxText) -> tuple[float, float]:
    """Return width and height of a box, with room for every gradient it will show.

    Parameters
    ----------
    text : dict
        ``name``, ``symbol``: first line; ``lines``: those below; ``values``, ``grads``: all that
        the value and the gradient become in the course of the steps (no gradients: no line);
        ``cells``, ``maps``: the same as pictures, if they are small.
    """
    width = _width(text, is_beside=_is_beside(text))
    line, around = (DENSE_LINE, 10) if text["is_dense"] else (LINE, 15)
    height = line * (1 + len(text["lines"])) + around + _room(text["cells"])
    if text["grads"]:
        height += _room(text["maps"])
        height += SLOT + 4 if text["slots"] else 0 if _is_beside(text) else line
    return float(round(max(LEAST_WIDTH, width + 2 * PADDING))), float(height)


def _width(text: BoxText, *, is_beside: bool) -> float:
    """Return how wide the widest line of a box is, with the gradient beside the value or below."""
    gap = GAP if text["name"] and text["symbol"] else 0
    name = text_width(text["name"], bold=True, size=NAME)
    widths = [name + gap + text_width(text["symbol"], size=SMALL)]
    widths += [text_width(line, size=TEXT) for line in (*text["lines"], *text["values"])]
    before = _before_gradient(text, is_beside=is_beside)
    widths += [before + text_width(grad, bold=True, size=TEXT) for grad in text["grads"]]
    widths += [map_size(picture)[0] for picture in (*text["cells"], *text["maps"])]
    return max(widths)


def _room(pictures: Sequence[str]) -> float:
    """Return the height that pictures of a matrix take, one at a time, below their line."""
    return max(map_size(picture)[1] for picture in pictures) + 2 * UNDER if pictures else 0.0


def _before_gradient(text: BoxText, *, is_beside: bool) -> float:
    """Return the room on the gradient's line that its label and the slots take, and the value."""
    width = _label_width(text) + _beside(text, is_beside=is_beside)
    for longest in text["slots"].values():
        width += slot_width(longest) + PLUS
    return width


def _is_beside(text: BoxText) -> bool:
    """Return whether the gradient stands beside the value: not where it is a sum of parts, or wide.

    A box that would be wide for it would take more room in its row than a further line takes.
    """
    if not text["is_dense"] or not text["lines"] or text["slots"]:
        return False
    width = _width(text, is_beside=True)
    return width <= WIDE or width <= _width(text, is_beside=False)


def _beside(text: BoxText, *, is_beside: bool) -> float:
    """Return the room that the value takes on the gradient's line."""
    if not is_beside:
        return 0.0
    return (
        GAP - 4 + max(text_width(line, size=TEXT) for line in (text["lines"][-1], *text["values"]))
    )


def _label_width(text: BoxText) -> float:
    return text_width(max(text["label"], GRADIENT, key=len) + " ", size=SMALL)


def _meet(one: Sides, other: Sides) -> bool:
    return all(one[i] < other[i + 2] and other[i] < one[i + 2] for i in (0, 1))


def _stack_of(picture: Drawn, state: State | None) -> Sides | None:
    """Return where slope and product of this step stand, if that is in the room of others."""
    places = picture.layout.labels or []
    for edge, place in zip(picture.outline.edges, places, strict=False):
        fields = state["edges"][edge.id] if state else None
        chip = picture.chips.get(edge.id)
        if chip and place and fields and fields["active"] and fields.get("sent"):
            return chip.stack(place, fields)
    return None


# -- the base drawing ---------------------------------------------------------------------------


def base_svg(picture: Drawn) -> str:
    """Return the whole graph as one ``<g>``, for the browser to toggle classes on.

    Nodes carry ``data-node``, arrows ``data-edge``; everything is there, nothing is hidden.
    """
    explained = (frame.get("explanation") for frame in picture.frames)
    return graph_svg(picture, None, next(filter(None, explained), None))


def graph_svg(picture: Drawn, state: State | None, explanation: Explanation | None = None) -> str:
    """Return the graph at a step, or at all steps; with the numbers of an error's places."""
    numbers = numbers_at(explanation) if explanation else {}
    visible = (
        None if state is None else {n for n, box in state["nodes"].items() if not box["hidden"]}
    )
    drawing = picture.layout
    behind, titles = frames_svg(picture.opened_parts, drawing.frames, drawing.routes, visible)
    stopped = ' class="adk-stopped"' if state and explanation else ""  # else a browser says when
    parts = [f"<g{stopped}>", *behind]
    labels: list[str] = [*titles]  # they lie over all arrows
    stack = _stack_of(picture, state)
    heads: dict[str, list[float]] = {}  # of each box whose arrows are labelled, from the left
    widest: dict[str, float] = {}  # of their labels
    for edge, route in zip(picture.outline.edges, picture.layout.routes, strict=True):
        if edge.id in picture.edge_labels:
            insort(heads.setdefault(edge.target, []), route[-1][0])
            own = text_width(picture.edge_labels[edge.id], size=SMALL)
            widest[edge.target] = max(own, widest.get(edge.target, 0.0))
    for edge, route in zip(picture.outline.edges, picture.layout.routes, strict=True):
        fields = None if state is None else state["edges"][edge.id]
        if fields and fields["hidden"]:
            continue
        ghost, looks = " adk-ghost" * edge.ghost, _state_classes(fields)
        ghost += " adk-in-time" * bool(edge.code)
        parts.append(
            f'<path class="adk-edge{ghost}{looks}" data-edge="{edge.id}" data-from="{edge.source}" '
            f'data-to="{edge.target}" d="{_line(route)}"/>'
        )
        # Two heads: down where a value goes in; up, seen only while a gradient comes back.
        active = bool(state and fields and fields["active"] and state["phase"] == "backward")
        against = active or bool(fields and fields.get("sent"))
        if not against:
            parts.append(_head("adk-tip", edge.id, looks, route[-1], route[-2]))
        if not edge.ghost and (state is None or against):
            hidden = "" if against else ' visibility="hidden"'
            parts.append(_head("adk-back", edge.id, looks, route[0], route[1], hidden))
        if edge.id in picture.edge_labels:
            classes = "adk-arg" + _state_classes(fields)
            x, y = route[-1]
            side, anchor = (6, "start") if route[-2][0] <= x else (-6, "end")  # the free side
            rank, last = heads[edge.target].index(x), len(heads[edge.target]) - 1
            label = escaped(picture.edge_labels[edge.id])
            room = 2 * widest[edge.target] + 14  # two that face each other
            near = [other for other in heads[edge.target] if 0 < abs(other - x) < room]
            if last and near:  # outermost labels stand outside, the others above each other
                side, anchor = (6, "start") if rank else (-6, "end")
                y -= LINE * rank if rank < last else 0
            left, own = x + side, text_width(picture.edge_labels[edge.id], size=SMALL)
            left -= own * (anchor == "end")
            if stack and _meet(stack, (left, y - 15, left + own, y - 2)):
                continue
            labels.append(
                f'<text class="{classes}" data-edge-label="{edge.id}" x="{pixels(x + side)}" '
                f'y="{pixels(y - 5)}" text-anchor="{anchor}">{label}</text>'
            )
    parts += labels
    places = picture.layout.labels or [None] * len(picture.layout.routes)
    parts += [
        link_svg(edge, place, None if state is None else state["edges"][edge.id])
        for edge, place in zip(picture.outline.edges, places, strict=True)
        if edge.code and place
    ]
    parts += [
        cut_svg(edge.id, words, place, None if state is None else state["edges"][edge.id])
        for edge, place in zip(picture.outline.edges, places, strict=True)
        if (words := picture.cuts.get(edge.id)) and place
    ]
    over: list[str] = []  # marks that no room is kept for lie over the boxes
    for edge, route, place in zip(
        picture.outline.edges, picture.layout.routes, places, strict=True
    ):
        if chip := picture.chips.get(edge.id):
            fields = None if state is None else state["edges"][edge.id]
            into = parts if chip.is_kept else over
            into.append(chip_svg(edge.id, chip, place, route, fields))
    for box, (x, y), size, text in zip(
        picture.outline.boxes, picture.layout.positions, picture.sizes, picture.texts, strict=True
    ):
        fields = None if state is None else state["nodes"][box.id]
        if not (fields and fields["hidden"]):
            ghost = " adk-ghost" * text["ghost"]
            fault = " adk-fault" * (box.id in numbers)
            classes = f"adk-node adk-{box.kind}{ghost}{fault}{_state_classes(fields)}"
            at = f'transform="translate({pixels(x)},{pixels(y)})"'
            inside = _box(box.kind, box.id, size, text, state)
            parts.append(f'<g class="{classes}" data-node="{box.id}" {at}>{inside}</g>')
            if fault:
                over.append(number_marks(x, y, numbers[box.id]))
    if explanation and picture.stop and picture.layout.stop:
        lines = picture.layout.stop_lines
        ends = [_points(_wings(line[-1], line[-2], 11.0, 6.0), line[-1]) for line in lines]
        over.append(stop_svg(picture.stop, picture.layout.stop, [*map(_line, lines)], ends))
    return "".join((*parts, *over, "</g>"))


def _box(kind: str, name: str, size: Size, text: BoxText, state: State | None) -> str:
    fields = None if state is None else state["nodes"][name]
    width, height = size
    parts = []
    if kind == "fold":  # two more sheets behind
        for d in STACK:
            sheet = f"M{width:g} {d}h{d}v{height:g}h-{width:g}v-{d}"
            parts.append(f'<path class="adk-stack" fill="none" stroke="#8592a1" d="{sheet}"/>')
    radius = RADIUS[kind]
    parts.append(f'<rect class="adk-box" width="{width:g}" height="{height:g}" rx="{radius}"/>')
    pitch = DENSE_LINE if text["is_dense"] else LINE
    y = float(pitch)
    left, right = PADDING, f"{width - PADDING:g}"
    if text["name"]:
        parts.append(
            f'<text class="adk-name" x="{left}" y="{pixels(y)}">{escaped(text["name"])}</text>'
        )
    if text["symbol"]:
        at = (
            f'x="{right}" y="{pitch}" text-anchor="end"'
            if text["name"]
            else f'x="{left}" y="{pitch}"'
        )
        parts.append(f'<text class="adk-op-label" {at}>{escaped(text["symbol"])}</text>')
    for i, line in enumerate(text["lines"]):
        y += pitch
        if i == 0 and fields and "value" in fields:
            line = fields["value"]
        parts.append(f'<text class="adk-value" x="{left}" y="{pixels(y)}">{escaped(line)}</text>')
        if i == 0 and text["cells"]:
            picture = (fields or {}).get("cells", text["cells"][0])
            parts.append(_picture("adk-cells", y, picture))
            y += _room(text["cells"])
    if text["grads"]:
        parts.append(_gradient(name, text, y, state))
    return "".join(parts)


def _picture(name: str, y: float, picture: str) -> str:
    """Return the picture of a matrix below a line; a browser replaces it."""
    place = f'transform="translate({PADDING},{pixels(y + UNDER + 2)})"'
    return f'<g class="adk-map {name}" {place}>{picture}</g>'


def _gradient(name: str, text: BoxText, y: float, state: State | None) -> str:
    """Return the last line of a box: a slot for each part of the gradient, and what it is."""
    fields = None if state is None else state["nodes"][name]
    grad = ""
    is_held = False
    if fields:
        of_pass = fields.get("g")
        is_held = of_pass is None and fields.get("grad") is not None
        grad = (fields.get("grad") if of_pass is None else of_pass) or ""
        grad = fields.get("total") or "" if text["slots"] else grad
    grad = grad or "= ?" * bool(text["slots"])
    top = y + 8
    if text["slots"]:
        y += SLOT * 0.5 + 13
    elif not _is_beside(text):
        y += DENSE_LINE if text["is_dense"] else LINE
    label, data_attribute = escaped(text["label"] if is_held else GRADIENT), ""
    if state is None and text["label"] != GRADIENT:
        data_attribute = f' data-held="{escaped(text["label"])}"'
    start = PADDING + _beside(text, is_beside=_is_beside(text))
    at = f'x="{pixels(start)}" y="{pixels(y)}"'
    parts = []
    if state is None or grad:  # a browser hides it where nothing follows
        parts.append(f'<text class="adk-grad-label"{data_attribute} {at}>{label}</text>')
    x = start + _label_width(text)
    slots = list(text["slots"].items())
    for number, (edge, longest) in enumerate(slots, 1):
        own = None if state is None else state["edges"][edge]
        parts.append(slot_svg(edge, x, top, longest, own))
        x += slot_width(longest) + PLUS
        if number < len(slots):
            parts.append(
                f'<text class="adk-sign" x="{pixels(x - PLUS / 2)}" y="{pixels(y)}" '
                'text-anchor="middle">+</text>'
            )
    if slots:
        x -= PLUS - 6
    parts.append(
        f'<text class="adk-grad" data-grad="{name}" x="{pixels(x)}" y="{pixels(y)}">'
        f"{escaped(grad)}</text>"
    )
    if text["maps"]:
        picture = (fields.get("map") or "") * bool(grad) if fields else ""
        parts.append(_picture("adk-grad-map", y, picture))
    return "".join(parts)


def _state_classes(fields: Fields | None) -> str:
    if not fields:
        return ""
    classes = " adk-active" if fields.get("active") else ""
    if fields.get("grad") is not None or fields.get("g") is not None:
        classes += " adk-has-grad"
    if fields.get("sent"):
        classes += " adk-passed" + " adk-earlier" * bool(fields.get("earlier"))
    for name in ("released", "visited"):
        if fields.get(name):
            classes += f" adk-{name}"
    return classes


def _line(route: Sequence[Point]) -> str:
    """Return a line with rounded corners."""
    parts = [f"M{pixels(route[0][0])} {pixels(route[0][1])}"]
    before = route[0]
    for corner, after in pairwise(route[1:]):
        bend = _bend(before, corner, after)
        if bend:
            parts.append(bend)
            before = corner
    parts.append(f"L{pixels(route[-1][0])} {pixels(route[-1][1])}")
    return "".join(parts)


@lru_cache(maxsize=4096)  # the arrows of one node share their first part
def _bend(before: Point, corner: Point, after: Point) -> str:
    """Return the way round one corner; nothing where it goes straight on."""
    (ax, ay), (bx, by), (cx, cy) = before, corner, after
    if abs((bx - ax) * (cy - by) - (by - ay) * (cx - bx)) < 1e-6:
        return ""
    (px, py), (qx, qy) = _toward(corner, before), _toward(corner, after)
    return f"L{pixels(px)} {pixels(py)}Q{pixels(bx)} {pixels(by)} {pixels(qx)} {pixels(qy)}"


def _head(kind: str, edge: str, classes: str, tip: Point, tail: Point, more: str = "") -> str:
    """Return an arrow head; its attributes count only where kit.css says nothing of it."""
    long, wide = (7.0, 3.6) if kind == "adk-tip" else (11.0, 6.0)
    points = _points(_wings(tip, tail, long, wide), tip)
    plain = ' fill="none" stroke="#8592a1"' if kind == "adk-tip" else ""
    return f'<path class="{kind}{classes}" data-edge-label="{edge}"{plain}{more} d="{points}"/>'


def _points(wings: tuple[Point, Point], tip: Point) -> str:
    """Return the outline of an arrow head."""
    return "M" + "L".join(f"{pixels(x)} {pixels(y)}" for x, y in (wings[0], tip, wings[1]))


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
    style, scope = picture_style()
    explanation = state["explanation"]
    sentences = [state["caption"], *(in_sentences(explanation) if explanation else ())]
    words = sentences if caption else [picture.note] * bool(picture.note)
    width = max(picture.layout.width, 220.0 if words else 60.0)
    height = picture.layout.height
    body = graph_svg(picture, state, explanation)
    if words:
        room = max(20, int((width - 24) / CAPTION_CHARACTER))
        for line in (line for text in words for line in wrap(text, room)):
            place = f'x="12" y="{pixels(height + 10)}"'
            body += f'<text class="adk-caption-line" {place}>{escaped(line)}</text>'
            height += 18
        height += 8
    size = f'width="{pixels(width)}" height="{pixels(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-picture {scope}" role="img" '
        f'data-phase="{state["phase"]}" {size} viewBox="0 0 {pixels(width)} {pixels(height)}">'
        f"<title>{escaped(picture.title)}</title><desc>{escaped(' '.join(sentences))}</desc>"
        f'<style>{style}</style><rect class="adk-paper" width="100%" height="100%" rx="6"/>'
        f"{body}</svg>"
    )
