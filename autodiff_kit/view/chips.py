"""What an arrow says while a gradient comes back along it, and the room for it.

After reading you can say how large the two marks on an arrow are - the local slope, and above it
what goes on - and where they stand. Read next: ``svg.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.ledger import events_of
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.heat import map_size
from autodiff_kit.view.layout import Point, Size
from autodiff_kit.view.outline import Edge, Outline
from autodiff_kit.view.payload import Fields, Frame
from autodiff_kit.view.svg_text import escaped, pixels, text_width

__all__ = ["ROOM", "SLOT", "Chip", "Sides", "Slots", "chip_svg", "chips"]
__all__ += ["parts_of", "slot_svg", "slot_width", "slots"]

Sides = tuple[float, float, float, float]  # left, upper, right and lower
Slots = dict[str, dict[str, str]]

# Boxes: in a larger drawing only the arrow of the step says what it carries, as at a fold.
ROOM = 60
FONT = 14  # px
ROW, INSET, GAP = 24, 9, 2  # px: height of a mark, beside its text, between two marks
DENSE_ROW = 20  # two are as high as the room between boxes, see ``DENSE_GAPS``
NEAR = 8  # px between a box and a mark that no room is kept for
WIDE = 240  # px, of a slope beside what goes on
SLOT = 28  # px, height of a slot
_END: Any = {"kind": "end"}
MOST = 4  # slots in a box; a sum of more parts is told as a sum


class Chip(NamedTuple):
    """The marks on one arrow: all texts they will have, and whether room is kept for them."""

    slopes: list[str]
    sent: list[str]
    arrived: list[str]
    is_kept: bool
    maps: list[str]
    spreads: list[str]  # what stands there before a gradient has come back
    is_row: bool = False  # the slope stands beside what goes on, not below it

    @property
    def size(self) -> Size:
        """Return the room that the marks take, in pixels."""
        if self.is_row:
            left, right = self.columns
            others = max(map(_width, (*self.sent, *self.spreads)))
            return float(round(max(left + right + GAP * bool(left), others))), float(DENSE_ROW)
        widest = max(map(_width, (*self.slopes, *self.sent, *self.spreads)))
        rows = bool(self.slopes) + bool(self.sent)
        widest = max(widest, self.of_map[0])
        return float(round(widest)), rows * (ROW + GAP) - GAP + self.of_map[1]

    @property
    def columns(self) -> Size:
        """Return the widths of slope and contribution where they stand beside each other."""
        left, right = (max(map(_width, own), default=0.0) for own in (self.slopes, self.arrived))
        return 0.0 if self.is_alone else left, right

    @property
    def is_alone(self) -> bool:
        """Return whether a row would be wide: then a slope is there only in the step about it."""
        both = (max(map(_width, own), default=0.0) for own in (self.slopes, self.arrived))
        return self.is_row and sum(both) > WIDE

    def middles(self, name: str, is_active: bool) -> Point:
        """Return where the slope, or what is ``"sent"``, stands: its middle, and its upper side.

        In a row, they stand below each other only while the step is about them: then the product
        is written out. It takes the room that is free between the boxes.
        """
        is_sent = name == "sent"
        if not self.is_row:
            return 0.0, 0.0 if is_sent else ROW + GAP + self.of_map[1]
        left, right = self.columns
        if is_active and self.slopes:
            return 0.0, DENSE_ROW / (-2 if is_sent else 2)
        if not left:
            return 0.0, 0.0
        return (left + GAP if is_sent else -right - GAP) / 2, 0.0

    def stack(self, middle: Point, fields: Fields) -> Sides | None:
        """Return the left, upper, right and lower side of marks that stand below each other now.

        None where they always do, and have room of their own.
        """
        if not (self.is_row and self.is_kept and self.slopes and fields["active"]):
            return None
        half = max(_width(str(fields.get(name) or "")) for name in ("sent", "slope")) / 2
        (x, y), (_, height) = middle, self.size
        tall = (height + DENSE_ROW) / 2
        return x - half, y - tall, x + half, y + tall

    @property
    def of_map(self) -> Size:
        """Return the room that the picture of a matrix takes, with what is kept free around it."""
        sizes = [map_size(picture) for picture in self.maps if self.is_kept]
        if not sizes:
            return 0.0, 0.0
        return max(w for w, _ in sizes), max(h for _, h in sizes) + 2 * GAP


def _width(text: str) -> float:
    return text_width(text, size=FONT, bold=True) + 2 * INSET


def chips(frames: Iterable[Frame], outline: Outline) -> dict[str, Chip]:
    """Return the marks of each arrow that a gradient comes back along."""
    texts: dict[str, Chip] = {}
    folds = {box.id for box in outline.boxes if box.kind == "fold"}
    lasting = {e.id for e in outline.edges if not {e.source, e.target} & folds}
    lasting = lasting if len(outline.boxes) <= ROOM else set()
    for frame in frames:
        for edge, fields in frame.get("along", {}).items():
            is_row = outline.detail == Detail.DENSE
            chip = texts.setdefault(edge, Chip([], [], [], edge in lasting, [], [], is_row))
            names = ("slope", "sent", "arrived", "map", "spread")
            texts_of = (chip.slopes, chip.sent, chip.arrived, chip.maps, chip.spreads)
            for name, into in zip(names, texts_of, strict=True):
                text = fields.get(name)
                if text and text not in into:
                    into.append(str(text))
    return {edge: chip for edge, chip in texts.items() if chip.sent}


def chip_svg(
    edge: str, chip: Chip, middle: Point | None, route: Sequence[Point], fields: Fields | None
) -> str:
    """Return the marks of one arrow; without ``fields`` those of no step, for a browser to fill.

    What goes on stands above the slope: it has come further back.
    """
    if middle is None and route[-1][1] - route[0][1] < chip.size[1] + NEAR:
        chip = chip._replace(slopes=[])  # it would cover the box below
    width, height = chip.size
    tall_row, base_line = (DENSE_ROW, 15) if chip.is_row else (ROW, 17)
    if middle is None:
        x, y = route[0]
        middle = (x, min(y + NEAR + height / 2, max(y, (y + route[-1][1]) / 2)))
    spread = ""
    if chip.spreads and chip.is_kept and not (fields and fields.get("sent")):
        own = _width(chip.spreads[0])
        spread = (
            f'<g class="adk-spread" data-edge-label="{edge}" '
            f'transform="translate({pixels(middle[0])},{pixels(middle[1] - tall_row / 2)})">'
            f'<rect class="adk-chip-paper" x="{pixels(-own / 2)}" width="{pixels(own)}" '
            f'height="{tall_row}"/><text y="{base_line}" text-anchor="middle">'
            f"{escaped(chip.spreads[0])}</text></g>"
        )
    active = bool(fields and fields.get("active"))
    if fields is not None and not (fields.get("sent") and (chip.is_kept or active)):
        return spread
    look = " adk-active" * active + " adk-hidden" * (fields is None)
    look += " adk-earlier" * bool(fields and fields.get("earlier"))
    only_now = "" if chip.is_kept else " adk-passing"
    in_row = f' data-row="{"alone" * chip.is_alone}"'
    in_row *= fields is None and chip.is_row and bool(chip.slopes)
    at = f"translate({pixels(middle[0])},{pixels(middle[1] - height / 2)})"
    parts = [
        f'<g class="adk-chip{only_now}{look}" data-chip="{edge}"{in_row} transform="{at}">'
        f'<rect class="adk-chip-paper" x="{-width / 2:g}" width="{width:g}" height="{height:g}"/>'
    ]
    _, tall = chip.of_map
    if tall:
        picture = (fields or {}).get("map") or ""
        left = -map_size(picture)[0] / 2
        parts.append(
            f'<g class="adk-map adk-grad-map" transform="translate({pixels(left)},{ROW + GAP})">'
            f"{picture}</g>"
        )
    rows = [("sent", tall_row / 2)] + [("slope", 4.0)] * bool(chip.slopes)
    for name, corner in rows:
        by_name: Any = fields or {}
        text = by_name.get("arrived" if name == "sent" and not active else name) or ""
        text *= active or name == "sent" or not chip.is_alone
        if fields is not None and not text:
            continue
        own = _width(text) if text else 0.0
        x, y = chip.middles(name, active)
        top, base = pixels(y), pixels(y + base_line)
        parts.append(
            f'<rect class="adk-{name}" x="{pixels(x - own / 2)}" y="{top}" width="{pixels(own)}" '
            f'height="{tall_row}" rx="{corner:g}"/><text class="adk-{name}-text" x="{pixels(x)}" '
            f'y="{base}" text-anchor="middle">{escaped(text)}</text>'
        )
    return "".join(parts) + "</g>" + spread


def parts_of(outline: Outline, recording: RecordingData) -> dict[str, list[str]]:
    """Return, by box, the arrows that may each bring a part of its gradient, a number.

    Boxes where some parts come otherwise, or not in every pass, or more than a few, have none.
    """
    out: dict[str, list[Edge]] = {}
    for edge in outline.edges:
        if not edge.ghost:
            out.setdefault(edge.source, []).append(edge)
    kinds = {box.id: box.kind for box in outline.boxes}
    candidates: dict[str, int] = {}
    for box in outline.boxes:
        edges = out.get(box.id, [])
        is_number = len(box.nodes) == 1 and not recording["nodes"][box.nodes[0]]["value"]["shape"]
        is_plain = box.kind != "fold" and all(kinds[e.target] != "fold" for e in edges)
        if is_number and is_plain and 1 < len(edges) <= MOST:
            candidates[box.id] = box.nodes[0]
    if not candidates:
        return {}
    starts: set[int] = set()
    counts: dict[int, set[int]] = {}  # node -> how many contributions each pass brings
    arrivals: Counter[int] = Counter()
    for event in (*events_of(recording["events"], "contribution", "backward"), _END):
        if event["kind"] == "contribution":
            arrivals[event["to"]] += 1
        elif event["kind"] in ("backward", "end"):
            for node, count in arrivals.items():
                counts.setdefault(node, set()).add(count)
            arrivals.clear()
            starts.update(event.get("roots", ()))
    return {
        box: [edge.id for edge in out[box]]
        for box, node in candidates.items()
        if counts.get(node) == {len(out[box])} and node not in starts
    }


def slots(parts: Mapping[str, Sequence[str]], marks: Mapping[str, Chip]) -> Slots:
    """Return the slots of each box: by arrow, the longest text that it brings."""
    return {
        box: {edge: max(marks[edge].arrived, key=len) for edge in edges}
        for box, edges in parts.items()
        if all(edge in marks for edge in edges)
    }


def slot_svg(edge: str, left: float, top: float, longest: str, fields: Fields | None) -> str:
    """Return the slot of one arrow in the box it leads back to; "?" until a number is there."""
    width = slot_width(longest)
    text = (fields or {}).get("arrived") or ""
    look = " adk-active" * bool(fields and fields.get("active") and text) + " adk-full" * bool(text)
    return (
        f'<g class="adk-slot{look}" data-slot="{edge}"><rect x="{pixels(left)}" y="{pixels(top)}" '
        f'width="{pixels(width)}" height="{SLOT}" rx="5"/><text class="adk-slot-text" '
        f'x="{pixels(left + width / 2)}" y="{pixels(top + 19)}" text-anchor="middle">'
        f"{escaped(str(text or '?'))}</text></g>"
    )


def slot_width(longest: str) -> float:
    """Return how wide a slot is, in pixels."""
    return max(34.0, text_width(longest, size=FONT, bold=True) + 14)
