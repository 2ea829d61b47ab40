"""The picture of a story: code, graph and words, with the same numbers at the same places.

After reading you can say where each number stands and why: beside its line of code, at its box of
the graph, and before its sentence. Drawn like any graph of the kit (``svg.py``), with no browser,
and the same for the same story. Read next: ``widgets/stories.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.looks import picture_style
from autodiff_kit.view.scene import Picture
from autodiff_kit.view.story_facts import Chapter, Story
from autodiff_kit.view.svg import graph_svg
from autodiff_kit.view.svg_text import escaped, pixels, text_width
from autodiff_kit.view.words import sentence

__all__ = ["draw", "draw_parts"]

Part = tuple[str, float, float]  # SVG text, width, height

MARGIN = 14.0  # px around everything
GAP = 22.0  # px between the columns, and between the parts
LINE = 20.0  # px, of code
PROSE = 19.0  # px, of words
RADIUS = 9.0  # px, of a number's disk
STEP = 21.0  # px from one disk to the next
LETTER = 6.9  # px, of 13 px proportional text, generous
BOLD = 8.6  # px, of 15 px bold text
WORDS = 410.0  # px, width of the words and the code, at least
WIDE = 860.0  # px; what is wider than that goes below
NEAR = 2  # unmarked lines that are shown between marked ones; more are left out


def draw(recording: RecordingData, story: Story) -> str:
    """Return the picture of a story as an SVG that stands alone.

    Parameters
    ----------
    recording : dict
        The run.
    story : Story
        What went wrong in it.

    Returns
    -------
    str - the same for the same story, character by character.
    """
    words, graph = _words(recording, story), _graph(recording, story.chapters)
    if graph[1] and MARGIN * 2 + GAP + words[1] + graph[1] <= WIDE:
        return _page(story, _beside(words, graph))
    return _page(story, _below(words, graph))


def draw_parts(recording: RecordingData, story: Story) -> tuple[str, str]:
    """Return code and words, and the graph, as two pictures for a page that sets them itself.

    The second is "" where there is no graph.
    """
    words, graph = _words(recording, story), _graph(recording, story.chapters)
    return _page(story, words), _page(story, graph) if graph[1] else ""


def _beside(left: Part, right: Part) -> Part:
    x = left[1] + GAP
    return left[0] + _at(x, 0, right[0]), x + right[1], max(left[2], right[2])


def _below(above: Part, below: Part) -> Part:
    y = above[2] + GAP if below[2] else above[2]
    return above[0] + _at(0, y, below[0]), max(above[1], below[1]), y + below[2]


def _page(story: Story, part: Part) -> str:
    inside, width, height = part
    style, scope = picture_style()
    rules = re.sub(r"\s+", " ", _RULES).strip().replace("%", f".{scope}")
    wide, high = pixels(width + 2 * MARGIN), pixels(height + 2 * MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-picture adk-story {scope}" '
        f'role="img" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">'
        f"<title>{escaped(story.title)}</title><desc>{escaped(str(story))}</desc>"
        f'<style>{style}{rules}</style><rect class="adk-paper" width="100%" height="100%" rx="6"/>'
        f"{_at(MARGIN, MARGIN, inside)}</svg>"
    )


def _words(recording: RecordingData, story: Story) -> Part:
    """Return the title, the error, the code and the words."""
    code, code_width, code_height = _code(recording, story.chapters)
    width = max(WORDS, code_width)
    parts: list[str] = []
    y = 0.0
    for look, text, letter in (("title", story.title, BOLD), ("error", story.error, LETTER)):
        for line in wrap(text, int(width / letter)):
            parts.append(
                f'<text class="adk-story-{look}" x="0" y="{y + 13:g}">{escaped(line)}</text>'
            )
            y += PROSE
    y += 8
    parts.append(_at(0, y, code))
    prose, prose_height = _prose(story, width)
    y += code_height + GAP - 6
    parts.append(_at(0, y, prose))
    return "".join(parts), width, y + prose_height


def _at(x: float, y: float, inside: str) -> str:
    return f'<g transform="translate({pixels(x)},{pixels(y)})">{inside}</g>'


def _disk(number: int, x: float, y: float, last: int) -> str:
    """Return a number on a disk; the place where the error came up has a square."""
    kind = "adk-place adk-place-end" if number == last else "adk-place"
    side = 2 * RADIUS
    corner = 4 if number == last else RADIUS
    return (
        f'<g class="{kind}" data-place="{number}"><rect x="{pixels(x - RADIUS)}" '
        f'y="{pixels(y - RADIUS)}" width="{side:g}" height="{side:g}" rx="{corner:g}"/>'
        f'<text x="{pixels(x)}" y="{pixels(y + 4.2)}" text-anchor="middle">{number} </text></g>'
    )


# -- the code -----------------------------------------------------------------------------------


def _code(recording: RecordingData, chapters: Sequence[Chapter]) -> Part:
    """Return the lines that the story is about, and their width and height."""
    places = [(n, c.where) for n, c in enumerate(chapters, 1) if c.where is not None]
    lines_of: dict[int, set[int]] = {}
    for where in (*(where for _, where in places), *_loops(recording, chapters)):
        lines_of.setdefault(where[0], set()).add(where[1])
    most = max(
        (sum(w[0] == s and w[1] == i for _, w in places) for s, i in _lines(lines_of)), default=0
    )
    indent = 8 + STEP * max(most, 1)
    parts: list[str] = []
    y, width = 4.0, 0.0
    for source, lines in sorted(lines_of.items()):
        text = recording["sources"][source]["text"].splitlines()
        numbers = _shown(lines)
        skip = min((_indent(text[i - 1]) for i in numbers if i), default=0)
        for i in numbers:
            if not i:
                parts.append(f'<text class="adk-story-gap" x="{indent:g}" y="{y + 14:g}">…</text>')
                y += LINE
                continue
            line = text[i - 1].expandtabs(4).rstrip()
            here = [(n, where) for n, where in places if [*where[:2]] == [source, i]]
            for k, (n, where) in enumerate(here):
                end = where[4] if where[3] == i else len(line)
                start = indent + text_width(line[skip : where[2]])
                long = text_width(line[where[2] : end])
                parts.append(
                    f'<rect class="adk-story-lit" x="{pixels(start - 2)}" y="{pixels(y + 1)}" '
                    f'width="{pixels(long + 4)}" height="{LINE - 2:g}" rx="3"/>'
                )
                parts.append(_disk(n, 4 + RADIUS + STEP * k, y + LINE / 2, len(chapters)))
            code = escaped(line[skip:]).replace(" ", "\u00a0")
            parts.append(
                f'<text class="adk-story-code" x="{indent:g}" y="{y + 14:g}" textLength='
                f'"{pixels(text_width(line[skip:]))}" lengthAdjust="spacingAndGlyphs">{code}</text>'
            )
            width = max(width, indent + text_width(line[skip:]))
            y += LINE
    size = f'width="{pixels(max(width + 10, WORDS))}" height="{y + 4:g}"'
    box = f'<rect class="adk-story-paper" {size} rx="5"/>'
    return box + "".join(parts), width + 10, y + 4


def _loops(recording: RecordingData, chapters: Sequence[Chapter]) -> list[Sequence[int]]:
    """Return the heads of the loops around the places: without them a story has no rounds."""
    scopes, spans = recording["scopes"], list[Sequence[int]]()
    for chapter in chapters:
        at = None if chapter.node is None else recording["nodes"][chapter.node]["scope"]
        while at is not None:
            where = scopes[at]["where"]
            if scopes[at]["kind"] == "loop" and where is not None:
                spans.append(where)
            at = scopes[at]["parent"]
    return spans


def _lines(by_source: Mapping[int, Iterable[int]]) -> list[tuple[int, int]]:
    return [(source, line) for source, lines in by_source.items() for line in lines]


def _shown(lines: Iterable[int]) -> list[int]:
    """Return the numbers of the lines to show; 0 where some are left out."""
    numbers: list[int] = []
    for line in sorted(lines):
        before = numbers[-1] if numbers else line - 1
        if line - before - 1 <= NEAR:
            numbers += range(before + 1, line)
        else:
            numbers.append(0)
        numbers.append(line)
    return numbers


def _indent(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip()) if line.strip() else 99


# -- the graph ----------------------------------------------------------------------------------


def _graph(recording: RecordingData, chapters: Sequence[Chapter]) -> Part:
    """Return the graph at its last step, with numbers at its boxes."""
    # The words beside it tell of the error: no room is kept for its box.
    events = [event for event in recording["events"] if event["kind"] != "error"]
    picture = Picture({**recording, "events": events, "error": None, "note": None}, None)
    if not picture.outline.boxes:
        return "", 0.0, 0.0
    state = picture.state(-1)
    at = dict(zip((box.id for box in picture.outline.boxes), picture.layout.positions, strict=True))
    numbers: dict[str, list[int]] = {}
    for n, chapter in enumerate(chapters, 1):
        if chapter.node is not None:
            numbers.setdefault(picture.outline.box_of[chapter.node].id, []).append(n)
    heights = {b.id: size[1] for b, size in zip(picture.outline.boxes, picture.sizes, strict=True)}
    parts = [graph_svg(picture, state)]
    right, bottom = picture.layout.width, picture.layout.height
    for box, nodes in numbers.items():
        x, y = at[box]
        for k, n in enumerate(nodes):
            low = y + heights[box] + 3  # where arrows leave; names of arguments are above a box
            parts.append(_disk(n, x + 2 + STEP * k, low, len(chapters)))
            bottom = max(bottom, low + RADIUS)
            right = max(right, x + 2 + STEP * k + RADIUS)
    return "".join(parts), right, bottom


# -- the words ----------------------------------------------------------------------------------


def _prose(story: Story, width: float) -> tuple[str, float]:
    """Return the sentences, numbered, and what fixes it; and their height."""
    parts: list[str] = []
    y = 0.0
    indent = 2 * RADIUS + 14
    room = width - indent
    for n, chapter in enumerate(story.chapters, 1):
        label = escaped(f"{n} {chapter.words.replace('`', '')}")
        parts.append(f'<g data-id="{n}" aria-label="{label}">')
        parts.append(_disk(n, 4 + RADIUS, y + 9, len(story.chapters)))
        y = _sentences(parts, chapter.words, indent, y, room) + 7
        parts.append("</g>")
    if story.fix:
        parts.append(f'<text class="adk-story-fix" x="4" y="{y + 15:g}">How to fix it</text>')
        fix = sentence(story.fix[0].upper() + story.fix[1:])
        y = _sentences(parts, fix, indent, y + PROSE, room)
    return "".join(parts), y


def _sentences(parts: list[str], words: str, x: float, y: float, width: float) -> float:
    """Set words in lines no longer than ``width``; code between backticks stays in one piece."""
    line: list[str] = []
    filled = 0.0
    for piece in re.findall(r"(?:`[^`]*`|[^\s`])+", words):
        runs = re.findall(r"`[^`]*`|[^`]+", piece)
        long = sum(text_width(r) * 0.96 if r[0] == "`" else len(r) * LETTER for r in runs)
        if line and filled + long > width:
            y = _put_line(parts, line, x, y)
            line, filled = [], 0.0
        spans = (
            f'<tspan class="adk-story-in">{escaped(r[1:-1])}</tspan>' if r[0] == "`" else escaped(r)
            for r in runs
        )
        line.append("".join(spans))
        filled += long + LETTER
    return _put_line(parts, line, x, y) if line else y


def _put_line(parts: list[str], line: list[str], x: float, y: float) -> float:
    inside = " ".join(line) + " "  # for those who have it read out
    parts.append(f'<text class="adk-story-words" x="{x:g}" y="{y + 14:g}">{inside}</text>')
    return y + PROSE


_RULES = """
% .adk-node { cursor: default }
% .adk-story-title { font: 600 15px var(--adk-sans, sans-serif); fill: var(--adk-ink, #1d2530) }
% .adk-story-error { fill: var(--adk-backward, #a04208) }
% .adk-story-fix { font-weight: 600; fill: var(--adk-leaf-line, #588349) }
% .adk-story-words, % .adk-story-code, % .adk-story-gap { fill: var(--adk-ink, #1d2530) }
% .adk-story-words, % .adk-story-error, % .adk-story-fix {
  font-size: 13px; font-family: var(--adk-sans, sans-serif) }
% .adk-story-in { font: 12px var(--adk-mono, monospace) }
% .adk-story-code, % .adk-story-gap { font: 12px var(--adk-mono, monospace) }
% .adk-story-paper { fill: var(--adk-ink, #1d2530); fill-opacity: .05 }
% .adk-story-lit { fill: var(--adk-forward, #1259ad); fill-opacity: .16 }
% .adk-place rect {
  fill: var(--adk-ink, #1d2530); stroke: var(--adk-paper, #ffffff); stroke-width: 1.5 }
% .adk-place-picked rect { stroke: var(--adk-forward, #1259ad); stroke-width: 4 }
% .adk-place-end rect { fill: var(--adk-backward, #a04208) }
% .adk-place text { font: 700 12px var(--adk-sans, sans-serif); fill: var(--adk-paper, #ffffff) }
"""
