"""What a browser gets of a performance, and the page that needs no kernel.

After reading you know what travels: the picture with all its steps, as the Stepper has it, and the
script beside it. Read next: ``view/static/kit/performing.mjs``.
"""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Sequence
from pathlib import Path

from autodiff_kit.files import written_whole
from autodiff_kit.record.events import RecordingData, Where
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.page import whole_page
from autodiff_kit.view.payload import Payload, deflate
from autodiff_kit.view.perform.context import Context, Lines
from autodiff_kit.view.perform.making import script_of
from autodiff_kit.view.perform.script import Script
from autodiff_kit.view.scene import Picture
from autodiff_kit.view.viewer import performing_script, static

__all__ = ["LEVELS", "PerformPayload", "perform_payload", "perform_to_html"]

LEVELS = ("worked", "guided", "free", "exam")


class PerformPayload(Payload):
    """A picture with its steps, and what is asked about it."""

    script: Script
    places: list[Where]  # in the code, that an answer can mark


def perform_payload(
    recording: Recording | RecordingData,
    only: str | Sequence[str] | None = None,
    lines: Lines | None = None,
) -> tuple[PerformPayload, Picture]:
    """Return what the browser needs to let the learner perform a recording, and its picture.

    Parameters
    ----------
    recording : Recording or dict
    only : str or sequence of str, optional
        Parts that are asked for; else all.
    lines : (int, int), optional
        The first and the last line whose nodes are asked about; else all.

    Raises
    ------
    PerformError
        If the recording cannot be performed.
    ValueError
        If ``only`` names no part.
    """
    context = Context(recording, lines)
    script = script_of(context, only)
    slips = (slip for task in script["tasks"].values() for slip in task["slips"])
    places = [mark["line"] for slip in slips for mark in slip["marks"] if mark.get("line")]
    payload = context.picture.payload()
    return {**payload, "script": script, "places": places}, context.picture


def perform_to_html(
    payload: PerformPayload, path: str | os.PathLike[str], *, level: str = "guided"
) -> Path:
    """Write a page on which a recording is performed; it needs a browser and nothing else.

    Parameters
    ----------
    payload : dict
        As ``perform_payload`` returns it.
    path : path
        File to write. It is replaced as a whole or not at all.
    level : str
        ``"worked"``, ``"guided"``, ``"free"`` or ``"exam"``: the one it begins with.

    Returns
    -------
    Path - the file written.
    """
    title = html.escape(f"Be the engine: {payload['title']}")
    tasks = "\n".join(
        f"<li>{html.escape(task['prompt'])}</li>" for task in payload["script"]["tasks"].values()
    )
    encoded = base64.b64encode(deflate(payload)).decode("ascii")
    body = f"""<main id="adk-engine" data-level="{html.escape(level)}"></main>
<noscript><h1>{title}</h1><ol>{tasks}</ol></noscript>
<script type="application/octet-stream" id="adk-payload">{encoded}</script>"""
    code, style = performing_script() + _START, static("engine.css")
    with written_whole(path) as file:
        file.write(whole_page(title, body, style=style, code=code).encode())
    return Path(path)


_START = """
const decoded = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const place = document.getElementById("adk-engine");
mount(place, decoded(document.getElementById("adk-payload").textContent), place.dataset.level);
"""
