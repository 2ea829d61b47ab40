"""What came of each claim, read from the lessons themselves.

After reading you know where the table at the end of the course comes from: each lesson that puts
claims of an article to the test ends with a small table, and this one is made of those, row by row.
So it cannot say anything that no lesson found, and each row names the section whose experiment
decides. Read next: ``predict.py``.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from autodiff_kit.lessons import library
from autodiff_kit.lessons.questions import inline

__all__ = ["Verdict", "Verdicts", "verdicts"]

_TABLE = re.compile(r"^\| (?:the|an) article says \|")
_ROW = re.compile(r"^\| (?P<claim>.+?) \| (?P<finding>.+) \| (?P<where>.+?) \|$")


class Verdict(NamedTuple):
    """A claim, and what a lesson found.

    Attributes
    ----------
    lesson : str
        The lesson's number.
    claim, finding : str
        The two cells of the lesson's table, in Markdown.
    kind : str
        ``"holds"``, ``"does not hold"`` or ``"in part"``, by the first word of `finding`.
    where : str
        The heading of the section with the experiment that decides; ``"lesson 09: Until when?"``
        for one of another lesson.
    """

    lesson: str
    claim: str
    finding: str
    kind: str
    where: str


def verdicts(folder: Path | None = None) -> Verdicts:
    """Read the verdicts out of the lessons.

    Parameters
    ----------
    folder : Path, optional
        Where the lessons lie; by default the ones that came with the kit.

    Returns
    -------
    Verdicts - a table when it is the last line of a cell.
    """
    paths = sorted((folder or library.find()).glob("[0-9][0-9]_*.ipynb"))
    return Verdicts(verdict for path in paths for verdict in _verdicts_of(path))


def _verdicts_of(path: Path) -> Iterator[Verdict]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        is_in_table = False
        for line in "".join(cell["source"]).split("\n"):
            if _TABLE.match(line):
                is_in_table = True
            elif is_in_table and (row := _ROW.match(line)):
                if set(row["claim"]) != {"-"}:
                    claim, finding, where = row["claim"], row["finding"], row["where"]
                    yield Verdict(path.name[:2], claim, finding, _kind(finding), where)
            else:
                is_in_table = False


def _kind(finding: str) -> str:
    word = re.match(r"\*\*(\w+)([,.]?\*\*)?", finding)
    if word is None:
        raise ValueError(f"A verdict begins with one in bold, such as **Yes**: {finding[:60]!r}")
    if word[2] and word[1] in ("Yes", "No"):
        return {"Yes": "holds", "No": "does not hold"}[word[1]]
    return "in part"


class Verdicts(tuple[Verdict, ...]):
    """All claims with their verdicts, shown as a table."""

    def _repr_html_(self) -> str:
        rows, before = [], ""
        for verdict in self:
            lesson = verdict.lesson if verdict.lesson != before else ""
            before = verdict.lesson
            rows.append(
                _row("td", lesson, *map(_inline, (verdict.claim, verdict.finding, verdict.where)))
            )
        return (
            # Jupyter aligns the cells of an output's table to the right, and lets it be wider.
            f'<p>{html.escape(repr(self))}</p><table style="width: 100%; table-layout: auto">'
            f"<thead>{_row('th', 'lesson', 'claimed', 'what you saw', 'where')}</thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )

    def __repr__(self) -> str:
        """Count the verdicts."""
        counts = Counter(verdict.kind for verdict in self)
        parts = [f"{counts[kind]} {words}" for kind, words in _WORDS.items()]
        return f"{len(self)} claims: {', '.join(parts)}"


_WIDTHS = (34, 40, 20)  # in percent, of the columns after the first one
_WORDS = {"holds": "hold", "in part": "hold in part", "does not hold": "do not hold"}


def _row(tag: str, lesson: str, *cells: str) -> str:
    left = "text-align: left; white-space"
    style = f"{left}: normal; overflow-wrap: anywhere; width:"
    widths = zip(_WIDTHS, cells, strict=True)
    rest = "".join(f'<{tag} style="{style} {wide}%">{cell}</{tag}>' for wide, cell in widths)
    return f'<tr><{tag} style="{left}: nowrap">{lesson}</{tag}>{rest}</tr>'


def _inline(markdown: str) -> str:
    marked = re.sub(r"\*\*(\w.*?)\*\*", "\x02\\1\x03", markdown)  # else it would be emphasis twice
    return inline(marked).replace("\x02", "<strong>").replace("\x03", "</strong>")
