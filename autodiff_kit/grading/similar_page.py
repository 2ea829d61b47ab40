"""Show hand-ins that are alike side by side, and say what that does not prove.

Read next: ``similar_command.py``.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence

from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.similarity import Pair, Work
from autodiff_kit.html_page import html_page

__all__ = ["CAUTION", "similar_page"]

CAUTION = (
    "That two are alike proves nothing by itself: who learned together, from the same lecture, "
    "book or assistant, writes alike, and a short answer has few ways to be written. It does not "
    "say who wrote first. Talk to both before you decide."
)
_MOST_LINES = 600
_STYLE = """
:root { color-scheme: light dark; --same: #ffe9a8; --line: #8886; --faint: #667; }
@media (prefers-color-scheme: dark) { :root { --same: #574300; --faint: #aab; } }
body { max-width: 90rem; margin: 0 auto; padding: 1.5rem 1rem 4rem;
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; } .note { color: var(--faint); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.pair > div { min-width: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line);
  padding: .5rem; margin: 0; font: .875rem/1.45 ui-monospace, monospace; }
pre span { display: block; min-height: 1.45em; }
pre .same { background: var(--same); box-shadow: -4px 0 0 currentColor; }
@media (max-width: 44rem) { .pair { grid-template-columns: 1fr; } }
"""


def similar_page(title: str, pairs_by_exercise: Mapping[str, Sequence[Pair]]) -> str:
    """Return the page as HTML that fetches nothing and runs nothing.

    Parameters
    ----------
    title : str
        Of the course.
    pairs_by_exercise : mapping of title to sequence of Pair
    """
    heading = html.escape(clean(title, 200))
    parts = [
        f"<h1>{heading}: hand-ins that are alike</h1>",
        f"<p>{html.escape(CAUTION)}</p>",
        "<p class=note>Compared is what is left without names, comments and layout, without what "
        "was handed out, and without what many learners wrote. A bar and a colour mark the lines "
        "that two have in common.</p>",
    ]
    for exercise, pairs in pairs_by_exercise.items():
        parts.append(f"<h2>{html.escape(clean(exercise, 200))}</h2>")
        parts += [_pair(pair) for pair in pairs] or ["<p>None.</p>"]
    return html_page(f"{heading}: alike", "\n".join(parts), style=_STYLE)


def _pair(pair: Pair) -> str:
    names = [html.escape(clean(called(work), 200)) for work in (pair.first, pair.second)]
    sides = "".join(
        f"<div><h4>{name}</h4>{_code(work.code, lines)}</div>"
        for name, work, lines in zip(names, (pair.first, pair.second), pair.lines, strict=True)
    )
    return (
        f"<section><h3>{' and '.join(names)}: {100 * pair.share:.0f} % alike, "
        f"{100 * pair.exact:.0f} % with the same names</h3><div class=pair>{sides}</div></section>"
    )


def _code(code: str, same: Collection[int]) -> str:
    lines = code.splitlines()
    spans = [
        f"<span{' class=same' if number in same else ''}>{html.escape(clean(line, 400))}</span>"
        for number, line in enumerate(lines[:_MOST_LINES], 1)
    ]
    if len(lines) > _MOST_LINES:
        spans.append(f"<span>... and {len(lines) - _MOST_LINES} more lines</span>")
    return f"<pre tabindex=0>{''.join(spans)}</pre>"


def called(work: Work) -> str:
    """Return a learner's name, and their number if that is another."""
    return work.name if work.name == work.student else f"{work.name} ({work.student})"
