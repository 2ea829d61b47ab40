"""Write what goes back to a learner: one page that needs nothing else, and zips for platforms.

After reading this file you can say what stands on a page (points, what was wrong and on which
example, a hint, the teacher's comment) and what never does (hidden inputs, solutions), and under
which name a platform takes a page back. Read next: ``feedback_command.py``.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from autodiff_kit.files import written_whole
from autodiff_kit.grading.calls import LINES, clean
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.feedback_card import inline
from autodiff_kit.grading.identity import Platform, platform_of
from autodiff_kit.grading.pictures import without_right
from autodiff_kit.grading.results import (
    BY_HAND,
    EXCUSED,
    UNGRADED,
    Comment,
    Grade,
    Mark,
    late_in_words,
)
from autodiff_kit.grading.wording import without_right_lines
from autodiff_kit.html_page import html_page

__all__ = ["Page", "page_of", "pages_of", "safe_names", "write_folder", "write_zip"]

Words = Mapping[str, Comment]  # step -> what the teacher says, "" for the whole exercise

_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; line-height: 1.5;
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.points { font-weight: 600; white-space: nowrap; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; }
.hint, .comment { margin: .5rem 0; padding: .5rem .75rem; border-left: 4px solid currentColor; }
.hint { opacity: .85; } svg { max-width: 100%; height: auto; }
code { font-family: ui-monospace, monospace; }
@media print { h2 { break-after: avoid; } .step { break-inside: avoid; } }
"""


class Page:
    """One learner's page, and the names that platforms know it by.

    Parameters
    ----------
    grade : Grade
        Any of the learner's.
    text : str
        The page.
    """

    def __init__(self, grade: Grade, text: str) -> None:
        self.grade = grade
        self.text = text

    def name_in(self, form: str) -> str:
        """Return its path in a zip for "moodle" or "canvas", "" if its file did not come from it.

        Both know a learner by the beginning of the name under which they gave out the file.
        """
        platform, begin = platform_of(self.grade.attempt.origin, self.grade.student)
        is_there = platform.name.lower() == form and platform is not Platform.OTHER
        return f"{begin}feedback.html" if is_there else ""


def pages_of(
    grades: Sequence[Grade],
    exercises: Sequence[Exercise],
    comments: Mapping[tuple[str, str], Words],
    title: str,
    not_yet_due: Collection[str] = (),
) -> list[Page]:
    """Return a page for each learner, with all exercises of theirs that are given.

    Parameters
    ----------
    grades : sequence of Grade
    exercises : sequence of Exercise
        In the order of the course; others are left out.
    comments : mapping of (student, exercise) to step to Comment
    title : str
        Of the course.
    not_yet_due : collection of str
        The folders' names of exercises whose right answers are not to be on the page.

    Who has a page finds on it, too, what was said of an exercise that they did not hand in.
    """
    by_student: dict[str, dict[str, Grade]] = {}
    for grade in grades:
        by_student.setdefault(grade.student, {})[grade.exercise] = grade
    pages = []
    for student, by_name in by_student.items():
        parts = [
            (e, by_name.get(e.name), comments.get((student, e.name), {}))
            for e in exercises
            if not (e.name in by_name and by_name[e.name].is_fault)
        ]
        parts = [part for part in parts if part[1] or part[2]]
        first = next((grade for _, grade, _ in parts if grade), None)
        if first:
            pages.append(Page(first, page_of(parts, title, not_yet_due)))
    return pages


def page_of(
    parts: Sequence[tuple[Exercise, Grade | None, Words]],
    title: str,
    not_yet_due: Collection[str] = (),
) -> str:
    """Return a learner's page as HTML that fetches nothing and runs nothing."""
    title = html.escape(clean(title, 200))
    grades = [grade for _, grade, _ in parts if grade]
    name = html.escape(clean(grades[0].name, 200))
    points = sum(grade.points for grade in grades)
    most = sum(grade.max for grade in grades)
    heading = f"<h1>{title}</h1>\n<p>{name}"
    if len(grades) > 1:
        heading += f": <span class=points>{points:g} of {most:g} points</span> in all"
    body = "\n".join(_exercise(*part, part[0].name not in not_yet_due) for part in parts)
    whole = f"{heading}</p>\n{body}"
    # Pictures bring styles of their own.
    return html_page(f"{title}: {name}", whole, style=_STYLE, is_strict=False)


def _exercise(exercise: Exercise, grade: Grade | None, words: Words, has_answers: bool) -> str:
    heading = html.escape(f"{exercise.id} {exercise.title}")
    if grade is None:
        texts = "".join(map(_comment, words.values()))
        return f"<section><h2>{heading}: nothing was handed in</h2>{texts}</section>"
    points = "excused" if grade.is_excused else f"{grade.points:g} of {grade.max:g} points"
    parts = [f"<h2>{heading}: <span class=points>{points}</span></h2>"]
    if grade.days_late:
        parts.append(f"<p>{html.escape(late_in_words(grade))}</p>")
    if words.get(""):
        parts.append(_comment(words[""]))
    shared = {mark.text for mark in grade.marks}
    is_one_text = len(shared) == 1 and len(grade.marks) > 1 and not grade.points
    if is_one_text:  # a file that cannot be read says so once
        parts.append(_text(shared.pop()))
    for mark in grade.marks:
        comment = words.get(mark.step)
        parts.append(_step(exercise, mark, comment, is_short=is_one_text, has_answers=has_answers))
    return f"<section>{''.join(parts)}</section>"


def _step(
    exercise: Exercise, mark: Mark, comment: Comment | None, *, is_short: bool, has_answers: bool
) -> str:
    sign, word = _state(mark)
    points = (
        "" if mark.status in (EXCUSED, UNGRADED) else f" {mark.points:g} of {mark.max:g} points,"
    )
    parts = [f"<h3>{sign} {html.escape(mark.step or 'file')}:{points} {html.escape(word)}</h3>"]
    is_full = mark.max > 0 and mark.points >= mark.max
    if mark.answer:
        parts.append(f"<p class=text><b>Your answer.</b> {html.escape(mark.answer)}</p>")
    if mark.status == BY_HAND:  # what earned the points, and what cost some
        parts.append(_text(mark.text))
    elif not is_full and not is_short:
        parts.append(_text(mark.text if has_answers else without_right_lines(mark.text)))
        parts.append(mark.picture if has_answers else without_right(mark.picture))
        hints = [exercise.hints[n] for n in exercise.helpful_hints(mark.failures.split())]
        own = [hint for hint in hints if hint.step in (mark.step, "")]
        if mark.failures and own:
            parts.append(f"<p class=hint><b>A hint.</b> {inline(own[0].text)}</p>")
    if comment:
        parts.append(_comment(comment))
    return f'<div class="step">{"".join(parts)}</div>'


def _state(mark: Mark) -> tuple[str, str]:
    """Return a sign and a word: a sign alone does not tell everybody."""
    if mark.status in (EXCUSED, UNGRADED):
        return "&ndash;", mark.status
    if mark.max and mark.points >= mark.max:
        return "&#10003;", "right"
    if mark.points:
        return "&#9680;", "partly right"
    words = {"wrong": "not right", "unreadable": "not read", "timeout": "not ready in time"}
    return "&#10007;", words.get(mark.status, mark.status)


def _text(text: str) -> str:
    lines = "\n".join(map(inline, clean(text, 4000, LINES).splitlines()))
    return f"<p class=text>{lines}</p>" if lines else ""


def _comment(comment: Comment) -> str:
    text = _text(comment.text).removeprefix("<p class=text>").removesuffix("</p>")
    return f"<p class='comment text'><b>{html.escape(clean(comment.author, 100))}:</b> {text}</p>"


def safe_names(pages: Sequence[Page]) -> list[str]:
    """Return each learner's number or name as the name of a file, different for different ones.

    Some file systems take capital letters for small ones: who differs in these only has a mark.
    """
    plain_names = [re.sub(r"[^\w-]", "_", page.grade.student)[:60] for page in pages]
    counts = Counter(plain.casefold() for plain in plain_names)
    return [
        plain
        if plain == page.grade.student and counts[plain.casefold()] == 1
        else f"{plain}-{page.grade.attempt.key[:8]}"
        for plain, page in zip(plain_names, pages, strict=True)
    ]


def write_folder(pages: Sequence[Page], place: Path) -> int:
    """Write one file for each learner; return how many."""
    place.mkdir(parents=True, exist_ok=True)
    for name, page in zip(safe_names(pages), pages, strict=True):
        with written_whole(place / f"{name}.html") as file:
            file.write(page.text.encode())
    return len(pages)


def write_zip(pages: Iterable[Page], form: str, path: Path) -> tuple[int, list[str]]:
    """Write a zip that "moodle" or "canvas" takes back.

    Returns
    -------
    int, list of str - how many pages are in it, and whose have no place there, as their files did
    not come from that platform, or from Canvas under a name that it reads as another's.
    """
    texts, others = {}, []
    for page in pages:
        if name := page.name_in(form):
            texts[name] = page.text
        else:
            others.append(page.grade.name)
    if texts:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            written_whole(path) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name, text in texts.items():
                archive.writestr(name, text)
    return len(texts), others
