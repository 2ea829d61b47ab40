"""Show as a card what is said of one try: the steps, what is wrong, and its picture beside it.

After reading this file you can say how a line of feedback looks in a notebook. The colours are the
Stepper's; each is told by a sign and a word as well. Read next: ``pictures.py``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from autodiff_kit.view.looks import scoped

__all__ = ["CheckLine", "StepLine", "card", "inline"]

_RULES = """
.adk-card { max-width: 860px; border: 1px solid @hairline; border-radius: 12px; background: @paper;
  color: @ink; font: 14px/1.5 @sans; overflow-wrap: anywhere }
p, ul { margin: 0; padding: 0; list-style: none }
.adk-head { padding: 10px 16px; border-bottom: 1px solid @hairline; font-size: 16px }
.adk-quiet { color: @quiet; font-size: 13px; font-weight: 400 }
.adk-step { padding: 8px 16px; border-bottom: 1px solid @hairline }
.adk-row { display: flex; gap: 10px; align-items: baseline }
.adk-row .adk-points { margin-left: auto; white-space: nowrap; color: @quiet; font-size: 13px }
.adk-sign { flex: none; width: 16px; text-align: center; font-weight: 700; color: @quiet }
.adk-is-right { color: @good-line }
.adk-is-wrong { color: @bad }
.adk-checks { margin: 4px 0 0 26px; font-size: 13px }
.adk-body { display: flex; flex-wrap: wrap; gap: 8px 24px; margin: 6px 0 4px 26px }
.adk-what { flex: 1 1 340px; min-width: 0 }
.adk-what p { margin-bottom: 6px }
.adk-seen { padding: 6px 10px; border-left: 3px solid @bad-line; background: @shade }
.adk-last { padding: 8px 16px 10px }
.adk-last p { margin: 2px 0 }
.adk-hint { padding: 6px 10px; border-left: 3px solid @forward-line; background: @shade }
code { padding: 0 3px; border-radius: 3px; background: @shade; color: inherit; font: 13px @mono }
"""
_RIGHT, _WRONG, _OPEN = "\N{CHECK MARK}", "\N{MULTIPLICATION X}", "\N{DOTTED CIRCLE}"
_SEEN_LOOKS = ' class="adk-seen"'
_SEEN = re.compile(
    r"For |your code |The first number |right is"
)  # what can be seen on an example begins so


@dataclass(frozen=True)
class CheckLine:
    """What became of one check: passed or not, or None if others have to be passed before."""

    concept: str
    passed: bool | None


@dataclass(frozen=True)
class StepLine:
    """What became of one step.

    Attributes
    ----------
    name : str
    points : str
        ``"2 of 4 points"``.
    status : str
        As it is said: ``"partly right"``.
    lines : sequence of str
        What is wrong, and where it shows.
    picture : str
        HTML, or nothing.
    checks : sequence of CheckLine
        Its checks, where they are worth a list.
    """

    name: str
    points: str
    status: str
    lines: Sequence[str] = ()
    picture: str = ""
    checks: Sequence[CheckLine] = ()


def card(
    heading: str, note: str, steps: Iterable[StepLine], lines: Sequence[str], link: str = ""
) -> str:
    """Return the card as HTML.

    Parameters
    ----------
    heading, note : str
        The first line, and what is said behind it.
    steps : iterable of StepLine
    lines : sequence of str
        What is said at the end.
    link : str
        Where the last of these lines leads to.

    Returns
    -------
    str
    """
    style, scope = scoped(_RULES, "adk-e")
    last = [f"<p{_looks_of(line)}>{inline(line)}</p>" for line in lines]
    if link:
        last[-1] = f'<p><a href="{html.escape(link)}">{inline(lines[-1])}</a></p>'
    quiet = f' <span class="adk-quiet">{html.escape(note)}</span>' if note else ""
    return (
        f'<div class="adk-feedback {scope}"><style>{style}</style><div class="adk-card">'
        f'<p class="adk-head"><b>{html.escape(heading)}</b>{quiet}</p>'
        f"{''.join(map(_step, steps))}"
        f'<div class="adk-last">{"".join(last)}</div></div></div>'
    )


def inline(text: str) -> str:
    """Return one line as HTML; what stands between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _step(step: StepLine) -> str:
    signs = {"right": (_RIGHT, "adk-is-right"), "not attempted": (_OPEN, ""), "missing": ("?", "")}
    sign, kind = signs.get(step.status, (_WRONG, "adk-is-wrong"))
    row = (
        f'<p class="adk-row">{_sign(sign, kind)}'
        f'<span><b>{html.escape(step.name)}</b> <span class="adk-quiet">{step.status}</span></span>'
        f'<span class="adk-points">{step.points}</span></p>'
    )
    checks = "".join(map(_check, step.checks))
    checks = f'<ul class="adk-checks">{checks}</ul>' if checks else ""
    body = ""
    if step.lines:
        paragraphs = [
            f"<p{_SEEN_LOOKS * is_seen}>{'<br>'.join(map(inline, lines))}</p>"
            for is_seen, lines in groupby(step.lines, lambda line: bool(_SEEN.match(line)))
        ]
        words = f'<div class="adk-what">{"".join(paragraphs)}</div>'
        body = f'<div class="adk-body">{words}{step.picture}</div>'
    return f'<div class="adk-step">{row}{checks}{body}</div>'


def _check(line: CheckLine) -> str:
    sign = _sign(_WRONG, "adk-is-wrong", "wrong")
    if line.passed is None:
        sign = _sign(_OPEN, "", "asked when the others are right")
    elif line.passed:
        sign = _sign(_RIGHT, "adk-is-right", "right")
    return f'<li class="adk-row">{sign}<span>{inline(line.concept)}</span></li>'


def _sign(sign: str, kind: str, word: str = "") -> str:
    spoken = f'role="img" aria-label="{word}"' if word else 'aria-hidden="true"'
    return f'<span class="adk-sign {kind}" {spoken}>{sign}</span>'


def _looks_of(line: str) -> str:
    return ' class="adk-hint"' if re.match(r"Hint \d", line) else ""
