"""The page with all lessons, and the page around an open one.

After reading you can say what stands in the two pages: words and links here, what they do in
``static/lesson.mjs`` and ``static/work.mjs``. Read next: ``build.py``.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from autodiff_kit.site import STATIC

__all__ = ["Lesson", "write_pages"]

# JupyterLite looks for its settings in the first page of a site, too, and insists on a place there.
_PLACE = "<script id='jupyter-config-data' type='application/json' data-jupyter-lite-root='.'>"
SETTINGS = f"{_PLACE}{{}}</script>"


class Lesson(NamedTuple):
    """A notebook that a learner can open.

    Attributes
    ----------
    path : str
        In the learner's folder.
    title : str
    look : str
        Name of the page to step through while Python starts.
    """

    path: str
    title: str
    look: str


def write_pages(
    folder: Path,
    title: str,
    lessons: Sequence[Lesson],
    exercises: Sequence[Lesson],
    files: Sequence[str],
) -> None:
    """Write the two pages, and what they load.

    Parameters
    ----------
    folder : Path
        The site.
    title : str
        Of the course.
    lessons, exercises : sequence of Lesson
    files : sequence of str
        What the site needs without a network, besides what a page has loaded by itself.
    """
    for name in ("site.css", "lesson.mjs", "work.mjs"):
        (folder / name).write_bytes((STATIC / name).read_bytes())
    (folder / "offline.json").write_text(json.dumps(list(files)), encoding="utf-8")
    (folder / "index.html").write_text(_home(title, lessons, exercises), encoding="utf-8")
    (folder / "lesson.html").write_text(_frame(title, [*lessons, *exercises]), encoding="utf-8")


def _home(title: str, lessons: Sequence[Lesson], exercises: Sequence[Lesson]) -> str:
    listed = f"<h2>Lessons</h2>\n<ol>{''.join(map(_item, lessons))}</ol>"
    if exercises:
        listed += f"\n<h2>Exercises</h2>\n<ol>{''.join(map(_item, exercises))}</ol>"
    first = html.escape(_link(lessons[0]))
    return _page(
        title,
        f"""<main class="home">
<h1>{html.escape(title)}</h1>
<p>Everything runs in this browser tab: there is nothing to install, and nothing is sent anywhere.
Your answers and notebooks stay in this browser, also when you close the tab.</p>
<div class="buttons">
<a class="start" href="{first}">Begin: {html.escape(lessons[0].title)}</a>
</div>
{listed}
<h2>Your work</h2>
<p>In each lesson, <b>Take my work with me</b> saves all that you did as one file, and
<b>Bring work back</b> reads it again, here or on another computer. Do that before you clear the
browser's data, and do not work in a private window: what it keeps is gone when you close it.</p>
<p><a href="lab/index.html">All files, in JupyterLab</a></p>
</main>
{SETTINGS}""",
    )


def _item(lesson: Lesson) -> str:
    number, _, name = lesson.title.partition(" ")
    if not number.rstrip(".").isdigit():
        number, name = "", lesson.title
    return (
        f'<li><a href="{html.escape(_link(lesson))}"><span class="number">'
        f"{html.escape(number.rstrip('.'))}</span><span>{html.escape(name)}</span></a></li>"
    )


def _link(lesson: Lesson) -> str:
    return f"lesson.html?path={quote(lesson.path)}"


def _frame(title: str, lessons: Sequence[Lesson]) -> str:
    data = json.dumps([lesson._asdict() for lesson in lessons]).replace("<", "\\u003c")
    return _page(
        title,
        f"""<div class="lesson">
<header class="bar">
<a href="index.html">All lessons</a>
<h1 id="title"></h1>
<button id="again" type="button" hidden>First look</button>
<button id="take" type="button">Take my work with me</button>
<button id="bring" type="button">Bring work back</button>
<input id="file" type="file" accept=".json" hidden aria-label="File with your work">
<span id="status" class="status" role="status"><span id="words"></span>
<progress id="bar" max="3" aria-label="Start of Python"></progress></span>
<span id="news" class="news" role="status" hidden>
This lesson has a new version. Yours stays as it is.
<button id="open-new" type="button">Open the new one beside mine</button></span>
</header>
<main class="stage">
<iframe id="notebook" title="The notebook"></iframe>
<section id="look" class="look" aria-label="A first look">
<header>
<p id="wait">While Python starts in your browser, step through this program: press ▶, or n.</p>
<button id="go" class="main" type="button" disabled>Go to the lesson</button>
</header>
<div><iframe id="first" title="A program to step through"></iframe></div>
</section>
</main>
<dialog id="told" aria-labelledby="headline">
<h2 id="headline"></h2>
<p id="text"></p>
<ul id="names"></ul>
<button id="close" class="main" type="button">Close</button>
</dialog>
</div>
<script type="application/json" id="lessons">{data}</script>
<script type="module" src="lesson.mjs"></script>""",
    )


def _page(title: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="autodiff_kit">
<title>{html.escape(title)}</title>
<link rel="stylesheet" href="site.css">
<link rel="icon" href="lab/favicon.ico">
</head>
<body>
{body}
</body>
</html>
"""
