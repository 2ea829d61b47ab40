"""Write a teacher's report on a class: one page that needs nothing else and names no learner.

After reading this file you can say what stands on it: how many points were earned, which steps were
hard and which tell the strong from the weak, what went wrong most with an example, when work came
in, and what learners' own progress adds. Read next: ``report_command.py``.
"""

from __future__ import annotations

import html
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from autodiff_kit.grading.calls import LINES, clean
from autodiff_kit.grading.class_figures import FEWEST, Mistake, Overview, Own, StepFigures
from autodiff_kit.grading.due import Due, in_words
from autodiff_kit.grading.feedback_card import inline
from autodiff_kit.html_page import html_page

__all__ = ["report_page"]

_STYLE = """
:root { color-scheme: light dark; --bar: #2a78d6; --line: #8886; --faint: #667; }
@media (prefers-color-scheme: dark) { :root { --bar: #6aa9f0; --faint: #aab; } }
body { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem;
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; }
figure { margin: .5rem 0; overflow-x: auto; }
figcaption, .note { color: var(--faint); font-size: .9rem; }
svg { width: 100%; min-width: 36rem; max-width: 44rem; height: auto; display: block; }
svg rect { fill: var(--bar); } svg line { stroke: currentColor; }
svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0 .75rem;
  padding: .5rem .75rem; border-left: 4px solid var(--line); font: inherit; }
code { font-family: ui-monospace, monospace; }
@media print { h2 { break-after: avoid; } figure, table { break-inside: avoid; } }
"""

_DISCRIMINATION = (
    "Below, the discrimination of a step is the correlation of its points with those of all other "
    "steps of the course: near 1, who solves it is strong elsewhere; near 0 or below, look at the "
    f"step. It needs {FEWEST} learners or more, and differences among them."
)


def report_page(
    title: str,
    overviews: Sequence[Overview],
    due: Mapping[str, Due],
    words: Mapping[str, Mapping[str, str]],
    own: Own | None = None,
    now: float = 0.0,
) -> str:
    """Return the report as HTML that fetches nothing and runs nothing.

    Parameters
    ----------
    title : str
        Of the course.
    overviews : sequence of Overview
        In the order of the course.
    due : mapping of exercise to Due
    words : mapping of exercise to message id to text
    own : Own, optional
        What learners handed in of their own progress.
    now : float
        When it is made, in seconds since 1970.
    """
    heading = html.escape(clean(title, 200))
    parts = [f"<h1>{heading}</h1>"]
    when = f" Made {html.escape(in_words(now))}." if in_words(now) else ""
    parts.append(f"<p class=note>No learner is named on this page.{when}</p>")
    parts += [_summary(overviews), f"<p class=note>{_DISCRIMINATION}</p>"]
    for facts in overviews:
        parts.append(
            _exercise(facts, due.get(facts.exercise.name), words.get(facts.exercise.name, {}))
        )
    if own is not None:
        parts.append(_own(own, {facts.exercise.id: facts.exercise.title for facts in overviews}))
    return html_page(f"{heading}: report", "\n".join(parts), style=_STYLE)


def _summary(overviews: Sequence[Overview]) -> str:
    head = ("exercise", "began", "median", "all points", "empty", "unreadable", "late", "excused")
    rows = []
    for facts in overviews:
        full = sum(share >= 1 for share in facts.shares)
        median = "" if facts.median is None else f"{100 * facts.median:.0f} %"
        name = f"{facts.exercise.id} {facts.exercise.title}"
        counts = (facts.empty, facts.unreadable, facts.late, facts.excused)
        rows.append((name, len(facts.shares), median, full, *counts))
    return _rows(head, rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[object]], texts: int = 1) -> str:
    """Return a table whose first columns are text, and the others numbers."""
    kinds = ["" if k < texts else " class=number" for k in range(len(head))]
    first = "".join(
        f"<th scope=col{k}>{html.escape(name)}</th>" for k, name in zip(kinds, head, strict=True)
    )
    lines = [
        "".join(
            f"<td{k}>{html.escape(clean(str(cell), 300))}</td>"
            for k, cell in zip(kinds, row, strict=True)
        )
        for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return (
        f"<div class=wide tabindex=0 role=region aria-label=table><table><thead><tr>{first}</tr>"
        f"</thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def _exercise(facts: Overview, due: Due | None, words: Mapping[str, str]) -> str:
    name = html.escape(clean(f"{facts.exercise.id} {facts.exercise.title}", 200))
    parts = [f"<section><h2>{name}</h2>"]
    if not facts.shares:
        return "".join([*parts, "<p>No learner has begun it.</p></section>"])
    tenths = Counter(min(int(10 * share + 1e-9), 10) for share in facts.shares)
    labels = [f"{10 * k} %" for k in range(11)]
    parts.append(
        _bars(
            [tenths[k] for k in range(11)],
            labels,
            f"How many of {len(facts.shares)} learners earned which share of "
            f"{facts.most:g} points; 90 % is from 90 to below 100.",
        )
    )
    if facts.ungraded:
        parts.append(
            f"<p>Answers in words that wait for a mark, and count 0 above: {facts.ungraded}.</p>"
        )
    parts += ["<h3>Steps</h3>", _steps(facts.steps)]
    if facts.mistakes:
        parts.append("<h3>The commonest mistakes</h3>")
        parts += [_mistake(mistake, words) for mistake in facts.mistakes]
    if len(facts.times) > 1:
        parts += ["<h3>When it was handed in</h3>", _times(facts.times, due)]
    return "".join([*parts, "</section>"])


def _steps(steps: Sequence[StepFigures]) -> str:
    rows = []
    for figures in steps:
        r = figures.discrimination
        share = f"{100 * figures.share:.0f} %" if figures.count else ""
        rows.append(
            (
                figures.step,
                _judged(figures),
                *(figures.count, share, figures.full, "" if r is None else f"{r:.2f}"),
            )
        )
    head = ("step", "", "learners", "mean", "all points", "discrimination")
    return _rows(head, rows, texts=2)


def _judged(figures: StepFigures) -> str:
    """Say in words what stands out."""
    if figures.count < FEWEST:
        return ""
    if figures.discrimination is not None and figures.discrimination < 0.1:
        return "tells nothing of a learner"
    if figures.share < 0.3:
        return "hard"
    return "easy" if figures.share > 0.95 else ""


def _mistake(mistake: Mistake, words: Mapping[str, str]) -> str:
    text = words.get(mistake.message, mistake.message.replace("_", " "))
    learners = "learner" if mistake.count == 1 else "learners"
    first = f"<p><b>{mistake.count} {learners}:</b> {inline(clean(text, 400))}</p>"
    example = mistake.example.removeprefix(text).strip()
    lines = "\n".join(map(inline, clean(example, 1500, LINES).splitlines()))
    return f"{first}<pre>{lines}</pre>" if lines else first


def _times(times: Sequence[float], due: Due | None) -> str:
    """Draw when work came in: by days, or by hours if it was within two days."""
    span = times[-1] - times[0]
    unit, form = (3600.0, "%d %b %H:00") if span <= 2 * 86400 else (86400.0, "%d %b")
    while span / unit > 40:
        unit *= 2
    first = time.localtime(times[0])
    hour = first.tm_hour if unit < 86400 else 0
    start = time.mktime((first.tm_year, first.tm_mon, first.tm_mday, hour, 0, 0, 0, 0, -1))
    count = int((times[-1] - start) // unit) + 1
    counts = Counter(int((moment - start) // unit) for moment in times)
    labels = [time.strftime(form, time.localtime(start + k * unit)) for k in range(count)]
    caption = f"{len(times)} hand-ins that count, by {'hour' if unit < 86400 else 'day'}."
    mark = None
    if due is not None:
        caption += f" It was due {in_words(due.date)}."
        place = (due.date - start) / unit
        mark = place if 0 <= place <= count else None
    return _bars([counts[k] for k in range(count)], labels, caption, mark)


def _bars(
    counts: Sequence[int], labels: Sequence[str], caption: str, mark: float | None = None
) -> str:
    """Return a picture of counts, and of a moment among them."""
    width, high = 660 / len(counts), max([*counts, 1])
    every = -(-len(labels) * 62 // 660)  # a label takes so much room
    parts = []
    for k, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall, middle = 110 * count / high, 20 + width * (k + 0.5)
        parts.append(
            f'<rect x="{20 + width * k + 1:.1f}" y="{140 - tall:.1f}" '
            f'width="{max(width - 2, 1):.1f}" height="{tall:.1f}"/>'
        )
        if count and width >= 14:
            parts.append(
                f'<text x="{middle:.1f}" y="{135 - tall:.1f}" text-anchor="middle">{count}</text>'
            )
        if k % every == 0:
            parts.append(
                f'<text x="{middle:.1f}" y="158" text-anchor="middle">{html.escape(label)}</text>'
            )
    parts.append('<line x1="20" y1="140.5" x2="680" y2="140.5"/>')
    if mark is not None:
        x = f"{20 + width * mark:.1f}"
        parts.append(f'<line x1="{x}" y1="4" x2="{x}" y2="140" stroke-dasharray="4 3"/>')
        anchor = "end" if mark > len(counts) / 2 else "start"
        shift = -6 if anchor == "end" else 6
        parts.append(f'<text x="{x}" dx="{shift}" y="14" text-anchor="{anchor}">due</text>')
    caption = html.escape(caption)
    label = html.escape(
        ", ".join(f"{name}: {n}" for name, n in zip(labels, counts, strict=True) if n)
    )
    return (
        f'<figure tabindex=0><svg viewBox="0 0 700 168" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _own(own: Own, titles: Mapping[str, str]) -> str:
    parts = [
        "<section><h2>What learners handed in of their own progress</h2>"
        f"<p>{own.files} files. Handing them in is a learner's choice: they say nothing of the "
        "others.</p>"
    ]
    if own.unread:
        names = clean(", ".join(own.unread[:5]), 300)
        more = f" and {len(own.unread) - 5} more" if len(own.unread) > 5 else ""
        parts.append(f"<p>Not read: {html.escape(names + more)}</p>")
    if own.hints:
        rows = [  # a file may name any number of exercises: those of the course count
            (f"{key} {title}", number + 1, count)
            for key, title in titles.items()
            for number, count in sorted(own.hints.get(key, {}).items())
        ]
        parts += ["<h3>Hints that were asked for</h3>", _rows(("exercise", "hint", "files"), rows)]
    if own.questions:
        by_share = sorted(own.questions.items(), key=lambda item: item[1][0] / item[1][1])
        shares = [
            (key, f"{100 * right / count:.0f} %", count) for key, (right, count) in by_share[:20]
        ]
        head = ("question", "right at first", "answers")
        parts += ["<h3>Questions of lessons, the hardest first</h3>", _rows(head, shares)]
    return "".join([*parts, "</section>"])
