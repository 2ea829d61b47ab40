"""The box that says in the picture that an error has ended the run: which one, and why.

After reading you know why nothing needs to be read beside a picture to see that the code failed,
and at which boxes: a crimson line leads from them to this one. An operation that never ran is drawn
as what it would have been, with an arrow from each of its operands. Read next: ``svg.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from autodiff_kit.record.events import RecordingData, Where
from autodiff_kit.view.explanation import ADVICE, numbers_at
from autodiff_kit.view.layout import Point, Size
from autodiff_kit.view.payload import Explanation
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.svg_text import escaped, pixels, text_width

__all__ = ["Stop", "number_marks", "stop_of", "stop_svg"]

PADDING, LINE = 14, 22  # px
CROSS = 24  # px, the sign before the first line, with the room after it
WORDS, CODE = 36, 34  # characters in a line
CHARACTER = 8.3  # px, of a 14 px proportional font, generous
MOST = 4  # lines
DISK, NEXT = 20, 23  # px: the disk of a place's number, and from one to the next


@dataclass(frozen=True)
class Stop:
    """What the box says, and from which boxes lines lead to it.

    Attributes
    ----------
    code : str
        The expression that failed.
    error : str
        The class of the error.
    reason : list of str
        Why, in lines.
    sources : list of str
        Boxes: the one that it is about, as where backward stopped; or the operands of what failed.
    number : int or None
        Which place of the explanation this is, if no other box is.
    is_op : bool
        Whether an operation failed, so that arrows lead into it.
    """

    code: str
    error: str
    reason: list[str]
    sources: list[str]
    number: int | None
    is_op: bool

    @property
    def size(self) -> Size:
        """Return the room that it takes, in pixels."""
        widths = [CROSS + len(f"stopped: {self.error}") * CHARACTER * 1.1]
        widths += [len(line) * CHARACTER for line in self.reason]
        widths.append(text_width(self.code, bold=True, size=15))
        rows = bool(self.code) + 1 + len(self.reason)
        return float(round(max(widths) + 2 * PADDING)), rows * LINE + 15.0


def stop_of(
    explanation: Explanation, recording: RecordingData, inputs: Sequence[tuple[str, str]]
) -> Stop:
    """Return what is drawn of the error that has ended a run.

    Parameters
    ----------
    explanation : Explanation
    recording : dict
    inputs : sequence of (box, box)
        From which box an arrow leads to which.
    """
    places = explanation["places"]
    last = places[-1]
    message = explanation["message"].split(ADVICE)[0].split("\n")[0].split(". ")[0]
    reason = (explanation["title"] or message).replace("`", "")
    lines = wrap(reason, WORDS)
    if len(lines) > MOST:
        lines = [*lines[: MOST - 1], f"{lines[MOST - 1][: WORDS - 2]} …"]
    code = in_short(_text(recording, last["where"]), CODE)
    if last["node"] is not None:
        return Stop(code, explanation["error"], lines, [last["node"]], None, is_op=False)
    boxes = list(dict.fromkeys(p["node"] for p in places if p["node"] is not None))
    operands = [box for box in boxes if not any((box, other) in inputs for other in boxes)]
    number = len(places) if numbers_at(explanation) else None
    return Stop(code, explanation["error"], lines, operands, number, is_op=True)


def _text(recording: RecordingData, where: Where | None) -> str:
    """Return what stands at a place of the source, in one line."""
    if where is None:
        return ""
    lines = str(recording["sources"][where[0]]["text"]).splitlines()[where[1] - 1 : where[3]]
    if not lines:
        return ""
    lines[-1] = lines[-1][: where[4]]
    lines[0] = lines[0][where[2] :]
    return " ".join(" ".join(lines).split())


def stop_svg(stop: Stop, corner: Point, lines: Sequence[str], heads: Sequence[str]) -> str:
    """Return the box with its lines, as ``d`` of paths; seen only at the step that stops."""
    (x, y), (width, height) = corner, stop.size
    parts = [f'<path class="adk-stop-line" d="{line}"/>' for line in lines]
    parts += [f'<path class="adk-stop-head" d="{head}"/>' for head in heads if stop.is_op]
    parts.append(
        f'<rect class="adk-stop-box" x="{pixels(x)}" y="{pixels(y)}" width="{width:g}" '
        f'height="{height:g}" rx="6"/>'
    )
    left, base = x + PADDING, y + LINE
    if stop.code:
        parts.append(
            f'<text class="adk-stop-code" x="{pixels(left)}" y="{pixels(base)}">'
            f"{escaped(stop.code)}</text>"
        )
        base += LINE
    middle = base - 5
    parts.append(
        f'<path class="adk-stop-cross" d="M{pixels(left + 1)} {pixels(middle - 6)}l12 12m0 -12'
        f'l-12 12"/><text class="adk-stop-error" x="{pixels(left + CROSS)}" y="{pixels(base)}">'
        f"stopped: {escaped(stop.error)}</text>"
    )
    for line in stop.reason:
        base += LINE
        parts.append(
            f'<text class="adk-stop-reason" x="{pixels(left)}" y="{pixels(base)}">'
            f"{escaped(line)}</text>"
        )
    if stop.number is not None:
        parts.append(number_marks(x, y, [stop.number]))
    return f'<g class="adk-stop" aria-hidden="true">{"".join(parts)}</g>'


def number_marks(x: float, y: float, numbers: Sequence[int]) -> str:
    """Return the numbers of an error's places at the corner of a box, each on its own disk."""
    left, top = max(1.0, x + 8 - DISK - NEXT * (len(numbers) - 1)), max(1.0, y - 16)
    parts = []
    for k, number in enumerate(numbers):
        at = left + k * NEXT
        parts.append(
            f'<rect x="{pixels(at)}" y="{pixels(top)}" width="{DISK}" height="{DISK}" '
            f'rx="{DISK / 2:g}"/><text x="{pixels(at + DISK / 2)}" y="{pixels(top + 14.5)}" '
            f'text-anchor="middle">{number}</text>'
        )
    return f'<g class="adk-fault-mark" aria-hidden="true">{"".join(parts)}</g>'
