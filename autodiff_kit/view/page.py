"""One HTML file that steps through a recording with no kernel, no install and no network.

After reading you can say what is in the file and why it is safe to open: the viewer
(``static/kit`` and ``static/kit.css``), the payload, and a policy that forbids the browser to
fetch anything or to run any other script. Read next: ``static/kit/steps.mjs``.
"""

from __future__ import annotations

import base64
import html
import json
import os
from pathlib import Path

from autodiff_kit.files import written_whole
from autodiff_kit.html_page import html_page
from autodiff_kit.view.payload import Payload, deflate
from autodiff_kit.view.scene import Picture
from autodiff_kit.view.unfolded import OpenedPart, unfolded
from autodiff_kit.view.viewer import script, static

__all__ = ["encoded", "opening_step", "to_html", "whole_page"]

ROOM = 145_000  # bytes for what can be opened: a page stays below 300 kB


def to_html(
    source: Picture | Payload,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    slides: bool = False,
) -> Path:
    """Write a page that steps through a picture; it needs a browser and nothing else.

    Parameters
    ----------
    source : Picture or dict
        What to show: a picture, or the payload it gives.
    path : path
        File to write. It is replaced as a whole or not at all.
    title : str, optional
        Title of the page; that of the picture by default.
    slides : bool
        Fill the window with large code, graph and caption, and step by arrow keys, the space bar
        and what a presenter's remote control sends (Page Up and Page Down).

    Returns
    -------
    Path - the file written.

    Raises
    ------
    OSError
        If the file cannot be written; an older file of that name is then untouched.
    """
    parts: dict[str, OpenedPart] = {}
    if isinstance(source, Picture):
        payload, parts = unfolded(source, ROOM)
    else:
        payload = source
    if title is not None:
        payload = {**payload, "title": title}
        parts = {k: OpenedPart(o, {**inner, "title": title}) for k, (o, inner) in parts.items()}
    with written_whole(path) as file:
        file.write(_page(payload, parts, slides).encode())
    return Path(path)


def whole_page(
    title: str,
    body: str,
    *,
    style: str = "",
    code: str = "",
    look: str = "",
    is_strict: bool | None = None,
) -> str:
    """Return a whole HTML page in the kit's colours that fetches nothing.

    Parameters
    ----------
    title, body : str
        As HTML.
    style, code : str
        CSS, and an ES module that the page runs. Without code, pictures bring styles of their own.
    look : str
        A class of the page's own, for its CSS.
    is_strict : bool, optional
        Whether the body may bring no CSS of its own; by default, where there is code.
    """
    is_strict = bool(code) if is_strict is None else is_strict
    style = static("kit.css") * bool(code) + _PAGE_STYLE + style
    look = f"adk-page {look}".strip()
    return html_page(title, body, style=style, code=code, look=look, is_strict=is_strict)


def _page(payload: Payload, parts: dict[str, OpenedPart], slides: bool) -> str:
    title = html.escape(payload.get("title") or "Computation graph")
    inner = {key: [part.outer, encoded(part.payload)] for key, part in parts.items()}
    step = 0 if slides else opening_step(payload)
    body = f"""<main id="adk-stepper" data-step="{step}"></main>
<noscript>{_still(payload, title)}</noscript>
<script type="application/octet-stream" id="adk-payload">{encoded(payload)}</script>
<script type="application/json" id="adk-parts">{json.dumps(inner)}</script>"""
    code, style, look = script() + _START, "", ""
    if slides:
        code, style, look = code + static("slides.mjs"), static("slides.css"), "adk-slides"
    return whole_page(title, body, style=style, code=code, look=look)


def opening_step(payload: Payload) -> int:
    """Return the step to begin with: the first one, or that which explains an error."""
    frames = payload["frames"]
    return len(frames) - 1 if frames and frames[-1]["kind"] == "error" else 0


def encoded(payload: Payload) -> str:
    """Return the steps as a page has them: packed, and in letters and digits."""
    return base64.b64encode(deflate(payload)).decode("ascii")


def _still(payload: Payload, title: str) -> str:
    """Return what is left without scripts: the code, the whole graph, every step in words."""
    codes = "\n".join(
        f"<pre>{html.escape(chr(10).join(source['lines']))}</pre>" for source in payload["sources"]
    )
    steps = "\n".join(f"<li>{html.escape(frame['caption'])}</li>" for frame in payload["frames"])
    width, height = payload["width"], payload["height"]
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f"""<div class="adk-root adk-still">
<h1>{title}</h1>
{codes}
<svg {size} role="img" aria-label="{title}">
{payload["svg"]}
</svg>
<ol>
{steps}
</ol>
</div>"""


_START = """
const element = (name) => document.getElementById(`adk-${name}`);
const decoded = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const parts = Object.entries(JSON.parse(element("parts").textContent));
const opened = parts.map(([key, [outer, text]]) => [key, { outer, bytes: decoded(text) }]);
const { step } = element("stepper").dataset;
const bytes = decoded(element("payload").textContent);
mount(element("stepper"), bytes, Object.fromEntries(opened), { step: Number(step) });
"""

_PAGE_STYLE = """
.adk-page { margin: 0; padding: min(16px, 2vw); }
.adk-page { color-scheme: light dark; background: light-dark(#ffffff, #14181d); }
.adk-page > main, .adk-still { max-width: 1400px; margin: 0 auto; }
.adk-still { padding: 8px 20px; }
.adk-still svg { display: block; max-width: 100%; height: auto; }
.adk-still pre { overflow: auto; font: 12.5px/20px var(--adk-mono); }
"""
