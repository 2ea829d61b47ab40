"""A Stepper inside of another page: its HTML, and the script that all of a page share.

After reading you know what documentation that embeds a Stepper consists of: per page one script and
one style sheet, and per Stepper a still picture with the packed steps beside it. The script
replaces the picture; where there is none, and on paper, the picture stays. Read next:
``static/embed.mjs``.
"""

from __future__ import annotations

import json
import re

from autodiff_kit.view.looks import picture_style
from autodiff_kit.view.page import encoded, opening_step
from autodiff_kit.view.scene import Picture
from autodiff_kit.view.svg import still_svg
from autodiff_kit.view.unfolded import unfolded
from autodiff_kit.view.viewer import joined, script, static

__all__ = ["embed_script", "embed_style", "embedded"]

ROOM = 56_000  # characters for a Stepper, with as many parts to open as find room in it


def embedded(picture: Picture, *, step: int | None = None, has_code: bool = True) -> str:
    """Return the HTML of a Stepper, for a page that has ``embed_script`` and ``embed_style``.

    Parameters
    ----------
    picture : Picture
    step : int, optional
        At which it opens; negative ones count from the end. By default the first one, or that
        which explains the error that ended the run.
    has_code : bool, default True
        Show the source beside the graph.

    Raises
    ------
    IndexError
        If there is no such step; the message says how many there are.
    """
    still = _without_style(still_svg(picture, -1 if step is None else step, caption=True))
    payload, parts = unfolded(picture, max(ROOM - len(still) - len(encoded(picture.payload())), 0))
    opens_at = opening_step(payload) if step is None else picture.state(step)["step"]
    if not has_code:
        payload = {**payload, "sources": []}
    data = json.dumps(
        {
            "payload": encoded(payload),
            "parts": {key: [part.outer, encoded(part.payload)] for key, part in parts.items()},
            "step": opens_at,
        },
        separators=(",", ":"),
    )
    codeless = " autodiff-step-codeless" * (not has_code)
    return (
        f'<div class="autodiff-step{codeless}"><div class="autodiff-step-still">{still}</div>'
        f'<script type="application/json">{data}</script></div>'
    )


def embed_script() -> str:
    """Return the viewer with what finds the Steppers of a page, as one script of its own scope.

    No module: browsers do not load these from a folder of files.
    """
    viewer = re.sub(r"^export default .*\n", "", script(), flags=re.MULTILINE)
    looks = f"const LOOKS = {json.dumps(static('kit.css'))};"
    return f'(() => {{\n"use strict";\n{joined(viewer, looks, static("embed.mjs"))}}})();\n'


def embed_style() -> str:
    """Return what is around Steppers in a page, and the looks that their still pictures share."""
    return f"{static('embed.css')}{picture_style()[0]}\n"


def _without_style(still: str) -> str:
    return still.replace(f"<style>{picture_style()[0]}</style>", "", 1)
