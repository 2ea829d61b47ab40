"""A program and what two libraries answer to it, line by line, as a picture.

After reading you can say when two answers count as equal: character by character, but for the lines
with an arrow that the kit adds to PyTorch's messages. Read next: ``widgets/beside.py``, which runs
the program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from autodiff_kit.view.looks import picture_style
from autodiff_kit.view.svg_text import escaped, pixels, text_width

__all__ = ["Line", "agree", "draw"]

MARGIN = 14.0  # px around everything
LINE = 19.0  # px
INDENT = 30.0  # px, of an answer below its line of code
MOST = 12  # lines of one answer that are shown
WIDTH = 430.0  # px, at least
COLUMNS = 60  # characters of an answer in one line


@dataclass(frozen=True)
class Line:
    """One statement and what came of it.

    Attributes
    ----------
    code : str
        The statement.
    kit : str
        What the kit answers: the value, what was printed, or the error; "" if nothing is to be
        seen of it.
    torch : str or None
        The same of PyTorch; None if it was not asked.
    """

    code: str
    kit: str
    torch: str | None = None


def agree(line: Line) -> bool:
    """Return whether both say the same.

    Examples
    --------
    >>> agree(Line("y", "tensor(1.)", "tensor(1.)")), agree(Line("y", "1", "2"))
    (True, False)
    """
    return line.torch is not None and _message(line.kit) == _message(line.torch)


def _message(answer: str) -> str:
    return "\n".join(row for row in answer.split("\n") if not row.startswith("-> "))


def draw(lines: Sequence[Line], title: str) -> str:
    """Return the picture: each statement, and below it the answer, or both if they differ.

    Parameters
    ----------
    lines : sequence of Line
    title : str
        What it is, for screen readers.

    Returns
    -------
    str - SVG, the same for the same answers, character by character.
    """
    parts: list[str] = []
    y, width = 4.0, WIDTH

    def put(look: str, x: float, text: str) -> None:
        nonlocal width
        width = max(width, x + text_width(text) + 6)
        content = escaped(text).replace(" ", "\u00a0")
        parts.append(
            f'<text class="adk-beside-{look}" x="{x:g}" y="{pixels(y + 14)}">{content}</text>'
        )

    for line in lines:
        for row in _rows(line.code, COLUMNS + 4, "        "):
            put("code", 0, row)
            y += LINE
        answers = [("", _message(line.kit) if agree(line) else line.kit)]
        if line.torch is not None and not agree(line):
            answers = [("the kit: ", line.kit), ("PyTorch: ", line.torch)]
        for name, answer in answers if any(text for _, text in answers) else ():
            mark = "" if line.torch is None else "=" if agree(line) else "\u2260"
            if mark and answer is answers[0][1]:
                put("equal" if mark == "=" else "other", 9, mark)
            rows = _rows(answer, COLUMNS - len(name), "")
            rows = rows if len(rows) <= MOST else [*rows[: MOST - 1], "\u2026"]
            for i, row in enumerate(rows):
                put("answer", INDENT, (name if not i else " " * len(name)) + row)
                y += LINE
        y += 5
    style, scope = picture_style()
    rules = re.sub(r"\s+", " ", _RULES).strip().replace("%", f".{scope}")
    wide, high = pixels(width + 2 * MARGIN), pixels(y + 2 * MARGIN - 5)
    description = "; ".join(f"{line.code}: {line.kit}" for line in lines if line.kit)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="adk-picture adk-beside {scope}" '
        f'role="img" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">'
        f"<title>{escaped(title)}</title><desc>{escaped(description)}</desc><style>{style}{rules}</style>"
        f'<rect class="adk-paper" width="100%" height="100%" rx="6"/>'
        f'<g transform="translate({MARGIN:g},{MARGIN:g})">{"".join(parts)}</g></svg>'
    )


def _rows(text: str, columns: int, indent: str) -> list[str]:
    """Break lines that are longer than so many characters."""
    return [
        piece
        for row in text.split("\n")
        for piece in (
            wrap(row, columns, subsequent_indent=indent, drop_whitespace=False) or [""]
            if len(row) > columns
            else [row]
        )
    ]


_RULES = """
% [class^="adk-beside-"] { font: 12px var(--adk-mono, monospace); fill: var(--adk-ink, #1d2530) }
% .adk-beside-code { font-weight: 700 }
% .adk-beside-equal { font-weight: 700; fill: var(--adk-leaf-line, #588349) }
% .adk-beside-other { font-weight: 700; fill: var(--adk-backward, #a04208) }
"""
