"""Panels of a lab: source lines, a graph and a table, marked and set side by side in one picture.

After reading you can put a learner's source beside its graph: ``listing``, ``graph`` and ``table``
each give a ``Panel``, and ``page`` makes one SVG of them. Signs and words say all that the colours
say. Read next: ``difference.py``, which says what there is to mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.looks import scoped
from autodiff_kit.view.payload import BoxText, Fields, Frame, State
from autodiff_kit.view.scene import Picture
from autodiff_kit.view.svg import still_svg
from autodiff_kit.view.svg_text import text_width
from autodiff_kit.view.values import TIMES

__all__ = ["Line", "Marked", "Panel", "graph", "listing", "page", "table", "words"]

WIDE = 960.0  # px; panels that take more are set below each other
NARROW = 464.0  # px; what lines take, if they can, to fit on a narrow page
LEAST_SCALE = 0.885  # with text of 12.5 px, a picture that shrinks so far is read well
MARGIN, SLIM, GAP, HEAD, ROW = 14.0, 10.0, 22.0, 26.0, 20.0
PROSE, BOLD = 6.9, 7.7  # px, a character of 13 px proportional font, generous
LONGEST = 56  # characters of a source line in one row of a picture: a narrow page shows them
ROWS = 4  # that one source line takes at most


_SYMBOL = re.compile(r"^d.*/d.* = (?=\N{MINUS SIGN}?-?[\d.])")  # of a slope that is a number

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the picture: what is above it, its size in pixels, its drawing."""

    heading: str
    width: float
    height: float
    body: str


@dataclass(slots=True)
class Line:
    """One line of source.

    Attributes
    ----------
    number : int
        As the learner counts: of the cell or the file.
    text : str
    lit : list of (start, end)
        Characters that are marked.
    sign : str
        Before the line: what there is to say in one character.
    note : str
        Behind the line: the way it went.
    look : str
        ``"came"``, ``"went"``, ``"off"`` (not recorded), ``"frozen"`` or ``""``.
    """

    number: int
    text: str
    lit: list[tuple[int, int]] = field(default_factory=list)
    sign: str = ""
    note: str = ""
    look: str = ""


class Marked(Picture):
    """A picture in whose boxes stands one more line: what there is to say of the node.

    Parameters
    ----------
    recording : dict
        With the keys of a ``Recording``, and ``note``.
    marks : dict from int to (str, str)
        By node: the look, and the words; no words, no line.
    hidden : bool
        Leave the values out, except for those of leaves and of marked nodes.
    """

    def __init__(
        self,
        recording: RecordingData,
        marks: Mapping[int, tuple[str, str]],
        *,
        hidden: bool = False,
    ) -> None:
        self._marks, self._hidden = marks, hidden
        super().__init__(recording, None)

    def _told(self) -> tuple[list[Frame], list[int]]:
        """Return the last step alone, with all that stands there by then: it needs less room.

        What a gradient is multiplied by on its way stands there without its symbol: ``× 3.``
        """
        frames, moments = super()._told()
        if not frames:
            return frames, moments
        fields: dict[str, Fields] = {}
        along: dict[str, Fields] = {}
        for frame in frames:
            for name, news in frame["set"].items():
                fields[name] = {**fields.get(name, {}), **news}
            for name, news in frame.get("along", {}).items():
                along[name] = {**along.get(name, {}), **news}
        for marks in along.values():
            if isinstance(slope := marks.get("slope"), str):
                marks["slope"] = _SYMBOL.sub(f"{TIMES} ", slope)
        return [{**frames[-1], "set": fields, "along": along}], moments[-1:]

    def _texts(self) -> list[BoxText]:
        texts = super()._texts()
        for box, text in zip(self.outline.boxes, texts, strict=True):
            words = [self._marks[n][1] for n in box.nodes if n in self._marks]
            words = [word for word in dict.fromkeys(words) if word]
            looks = {self._marks[n][0] for n in box.nodes if n in self._marks}
            if looks == {"went"} and box.kind != "fold":  # it has no value in the run that is shown
                text["lines"] = [f"was {line}" for line in text["lines"]]
            if self._hidden and box.kind == "op" and not words:
                text["lines"] = []
            text["lines"] = [*text["lines"], *words[:2]]
        return texts

    def _edge_labels(self) -> dict[str, str]:
        """Leave out the names where but one argument is there now."""
        name_counts: dict[int, int] = {}
        for (node, _), edge in self.outline.edge_at.items():
            name_counts[node] = name_counts.get(node, 0) + bool(edge.arg)
        alone = {e.id for (n, _), e in self.outline.edge_at.items() if name_counts[n] < 2}
        return {e: label for e, label in super()._edge_labels().items() if e not in alone}

    def state(self, step: int) -> State:
        """Return what a step shows, with nothing that is happening just then."""
        state = super().state(step)
        for fields in (*state["nodes"].values(), *state["edges"].values()):
            fields["active"] = False
        return state

    def looks(self) -> dict[str, str]:
        """Return the look of each box all of whose nodes have the same."""
        result = {}
        for box in self.outline.boxes:
            looks = {self._marks.get(n, ("", ""))[0] for n in box.nodes}
            result[box.id] = looks.pop() if len(looks) == 1 else ""
        return result


def graph(heading: str, picture: Marked, edges: Mapping[str, str] | None = None) -> Panel:
    """Draw a graph with its marks.

    Parameters
    ----------
    heading : str
    picture : Marked
    edges : dict from str to str, optional
        Looks of arrows, by their id in the outline.
    """
    text = still_svg(picture)
    size = re.search(r' width="([\d.]+)" height="([\d.]+)"', text)
    width, height = map(float, size.groups()) if size else (60.0, 60.0)
    text = re.sub(r"<title>.*?</title><desc>.*?</desc>", "", text, count=1, flags=re.DOTALL)
    text = text.replace(' role="img"', "", 1)
    # Inside of a lab, colours are the lab's own, whatever theme a page has given it.
    text = re.sub(r"(\.adk-s[0-9a-f]{8})\{(?=--adk-)", r"\1:not(.adk-root *){", text)
    looks = picture.looks()

    def of_node(match: re.Match[str]) -> str:
        look = looks.get(match[2])
        return f"{match[1]} adk-is-{look}{match[3]}" if look else match[0]

    def of_edge(match: re.Match[str]) -> str:
        look = (edges or {}).get(match[3])
        return f"{match[1]} adk-is-{look}{match[2]}" if look else match[0]

    text = re.sub(r'(<g class="adk-node[^"]*)(?=" data-node="([^"]*)")()', of_node, text)
    text = re.sub(r'(<path class="adk-[^"]*)(" data-edge(?:-label)?="([^"]*)")', of_edge, text)
    return Panel(heading, width, height, text)


def listing(heading: str, lines: Sequence[Line]) -> Panel:
    """Draw source lines with their numbers, signs, marks and notes."""
    width, row, parts = 120.0, 0, []
    first = min((len(x.text) - len(x.text.lstrip()) for x in lines if x.text.strip()), default=0)
    for line in lines:
        y = row * ROW + 15
        text = line.text[first:]
        lit = [(max(a - first, 0), max(b - first, 0)) for a, b in line.lit]
        code, ends = _code(text, lit)
        note, below = line.note, []
        if note and ends[-1] + 16 + text_width(note) + 8 > NARROW:
            note, below = "", wrap(note, int((NARROW - 66) / text_width("0")))
        full = ends[-1] + (16 + text_width(note) if note else 0)
        width = max(width, full + 8, *(66 + text_width(part) + 8 for part in below))
        width = max(width, *(end + 8 for end in ends))
        height = ROW * (len(ends) + len(below))
        row += len(ends) + len(below)
        parts.append(
            f'<g class="adk-line-of-source adk-is-{line.look or "plain"}">'
            f'<rect class="adk-stripe" x="0" y="{y - 15:g}" width="WIDTH" height="{height:g}"/>'
            f'<text class="adk-quiet" x="24" y="{y:g}" text-anchor="end">{line.number}</text>'
            f'<text class="adk-sign" x="38" y="{y:g}" text-anchor="middle">'
            f"{escape(line.sign)}</text>"
            f'<text class="adk-code" x="50" y="{y:g}">{code}'
            + (f'<tspan class="adk-note" dx="16">{_kept(note)}</tspan>' if note else "")
            + "".join(
                f'<tspan class="adk-note" x="66" dy="{ROW:g}">{_kept(part)}</tspan>'
                for part in below
            )
            + "</text></g>"
        )
    body = "".join(parts).replace("WIDTH", f"{width:.0f}")
    return Panel(heading, round(width), row * ROW + 4, body)


def _code(text: str, lit: Sequence[tuple[int, int]]) -> tuple[str, list[float]]:
    """Return a source line in rows, and where each ends in pixels; long ones break at a space."""
    indent = len(text) - len(text.lstrip())
    deep = min(indent + 4, LONGEST // 2)
    start, code = 0, ""
    ends: list[float] = []
    while not ends or start < len(text):
        room = LONGEST - deep * bool(ends)
        end = min(start + room, len(text))
        if end < len(text):
            space = text.rfind(" ", max(start, indent) + 1, end)
            end = space + 1 if space > 0 else end
        is_cut = len(ends) == ROWS - 1 and end < len(text)
        row = f"{text[start:end].rstrip()} …" if is_cut else text[start:end].rstrip()
        spans = [
            (max(a, start) - start, min(b, end) - start) for a, b in lit if a < end > start < b
        ]
        left = 50 + text_width(" " * deep) * bool(ends)
        inside = _lit(row, spans)
        code += f'<tspan x="{left:g}" dy="{ROW:g}">{inside}</tspan>' if ends else inside
        ends.append(left + text_width(row))
        start = len(text) if is_cut else end
    return code, ends


def table(heading: str, rows: Sequence[Sequence[str]], looks: Sequence[str] = ()) -> Panel:
    """Draw rows of texts; the first one is the heads of the columns.

    Parameters
    ----------
    heading : str
    rows : sequence of sequence of str
    looks : sequence of str
        Of each row, as of a ``Line``.
    """
    widths = [max(text_width(row[i], bold=True) for row in rows) + 18 for i in range(len(rows[0]))]
    parts = []
    for number, row in enumerate(rows):
        look = looks[number] if number < len(looks) else ""
        x, y = 8.0, number * ROW + 15
        inside = ""
        for text, width in zip(row, widths, strict=True):
            style = "adk-code adk-strong" if number == 0 else "adk-code"
            inside += f'<text class="{style}" x="{x:.0f}" y="{y:g}">{_kept(text)}</text>'
            x += width
        parts.append(
            f'<g class="adk-line-of-source adk-is-{look or "plain"}">'
            f'<rect class="adk-stripe" x="0" y="{y - 15:g}" width="{sum(widths):.0f}" '
            f'height="{ROW:g}"/>{inside}</g>'
        )
    return Panel(heading, round(sum(widths)), len(rows) * ROW + 4, "".join(parts))


def words(heading: str, text: str, width: float = 340.0, look: str = "") -> Panel:
    """Set a few sentences in lines."""
    lines = [
        line
        for part in text.split("\n")
        for line in (wrap(part, int((width - 16) / PROSE)) if part else [""])
    ]
    body = "".join(
        f'<text class="adk-prose" x="8" y="{i * 18 + 15}">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    height = len(lines) * 18 + 6
    stripe = f'<rect class="adk-stripe" width="{width:g}" height="{height}"/>'
    inside = f'<g class="adk-line-of-source adk-is-{look or "plain"}">{stripe}{body}</g>'
    return Panel(heading, width, height, inside)


def page(columns: Iterable[Sequence[Panel]], *, title: str, description: str) -> str:
    """Return one SVG of panels: columns side by side, or below each other where they are wide.

    Parameters
    ----------
    columns : iterable of sequence of Panel
        Panels of one column stand below each other.
    title, said : str
        What it is and what it shows, for screen readers.

    Returns
    -------
    str - the same for the same panels, character by character. Each panel says in ``data-narrow``
    where it stands if all are below each other, and the whole says its size then: ``canvas.js``
    puts them there where the page is too narrow.
    """
    style, scope = scoped(_RULES, "adk-p")
    stacks = [list(column) for column in columns if column]
    panels = [panel for stack in stacks for panel in stack]
    narrow, (slim, tall) = _arranged([panels], SLIM)
    if sum(max(map(_width, stack)) + GAP for stack in stacks) + 2 * MARGIN - GAP > WIDE:
        stacks = [[panel] for panel in panels]
    places, (width, height) = _arranged(stacks)
    parts = []
    for panel, (x, y), (left, down) in zip(panels, places, narrow, strict=True):
        body = panel.body
        if panel.heading:
            heading = f'<text class="adk-heading" y="13">{escape(panel.heading)}</text>'
            body = f"{heading}{_placed(body, 0, HEAD)}"
        parts.append(
            f'<g class="adk-panel" transform="translate({x:g},{y:g})" '
            f'data-narrow="translate({left:g},{down:g})">{body}</g>'
        )
    size = f'role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    less = f'data-least="{LEAST_SCALE}" data-narrow="{slim} {tall}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-page {scope}" {size} {less}>'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{style}</style>"
        f'<rect class="adk-paper" width="100%" height="100%" rx="6"/>{"".join(parts)}</svg>'
    )


def _arranged(
    stacks: Sequence[Sequence[Panel]], margin: float = MARGIN
) -> tuple[list[Place], tuple[int, int]]:
    """Return where each panel begins, and the size of all: no wider than ``WIDE`` if it can be."""
    x = y = right = bottom = margin
    places = []
    for stack in stacks:
        width = max(map(_width, stack))
        if x > margin and x + width + margin > WIDE:
            x, y = margin, bottom + GAP
        down = y
        for panel in stack:
            places.append((x, down))
            down += panel.height + GAP + (HEAD if panel.heading else 0)
        right, bottom = max(right, x + width), max(bottom, down - GAP)
        x += width + GAP
    return places, (round(right + margin), round(bottom + margin))


def _width(panel: Panel) -> float:
    return max(panel.width, BOLD * len(panel.heading))


def _placed(body: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:g},{y:g})">{body}</g>'


def _lit(text: str, spans: Sequence[tuple[int, int]]) -> str:
    result, at = "", 0
    for start, end in sorted(spans):
        if start < at or start >= len(text):
            continue
        lit = f'<tspan class="adk-lit">{_kept(text[start:end])}</tspan>'
        result, at = result + _kept(text[at:start]) + lit, end
    return result + _kept(text[at:])


def _kept(text: str) -> str:
    """Escape text; SVG would make one space of many."""
    return escape(text).replace(" ", "\u00a0")


# `@name` is a colour of kit.css.
_RULES = """
.adk-paper { fill: @paper }
text { font: 12.5px @mono; fill: @ink }
.adk-heading { font: 600 13px @sans; fill: @ink }
.adk-prose { font: 13px @sans }
.adk-quiet { fill: @quiet }
.adk-strong { font-weight: 700 }
.adk-sign { font-weight: 700; fill: @ink }
.adk-stripe { fill: @shade; fill-opacity: 0 }
.adk-lit { fill: @forward; font-weight: 700; text-decoration: underline }
.adk-note { fill: @forward; font-weight: 700 }
.adk-is-came .adk-code { font-weight: 700 }
.adk-is-came > .adk-stripe { fill-opacity: 1 }
.adk-is-went > .adk-stripe { fill-opacity: 1 }
.adk-is-went .adk-code { fill: @quiet }
.adk-is-off > .adk-stripe { fill: @hover; fill-opacity: 1 }
.adk-is-frozen > .adk-stripe { fill: @forward-soft; fill-opacity: 1 }
.adk-is-wrong > .adk-stripe { fill: @bad-soft; fill-opacity: 1 }
.adk-node.adk-is-came .adk-box { stroke: @ink; stroke-width: 3 }
.adk-node.adk-is-went .adk-box { fill: none; stroke: @quiet; stroke-dasharray: 2 3;
  stroke-width: 1.6 }
.adk-node.adk-is-went text { fill: @quiet }
.adk-node.adk-is-frozen .adk-box { fill: @forward-soft; stroke: @forward; stroke-width: 2.2 }
.adk-node.adk-is-wrong .adk-box { fill: @bad-soft; stroke: @bad-line; stroke-width: 2.6 }
.adk-edge.adk-is-went { stroke: @quiet; stroke-dasharray: 2 3 }
.adk-tip.adk-is-went { stroke: @quiet }
svg .adk-arg { font-size: 12.5px; stroke: @paper; stroke-width: 3; paint-order: stroke }
"""
