"""The viewer that runs in a browser: its scripts and styles, as they lie in ``static``.

After reading you know how the script of a widget or a page is made: ES modules are joined into one
that imports nothing. Read next: ``static/kit/steps.mjs``.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["joined", "lab_script", "performing_script", "script", "static"]


def static(name: str) -> str:
    """Return the text of a file in ``view/static``: ``"kit.css"``."""
    return (Path(__file__).with_name("static") / name).read_text(encoding="utf-8")


_MODULES = (  # each after those that it imports
    *("steps", "code", "panning", "keys", "dom", "error_pane", "help_panel", "help_box"),
    "source_pane",
    *("matrix", "inspector_pane", "overview", "enclosures", "graph_pane", "transport"),
    *("find", "find_box", "crumbs", "divider", "alone", "kit"),
)


_PERFORMING = (  # of the lab in which the learner performs
    *("steps", "code", "panning", "keys", "dom", "help_panel", "source_pane", "overview"),
    *(
        "graph_pane",
        "divider",
        "expressions",
        "judge",
        "walk",
        "marks",
        "question",
        "alone",
        "performing",
    ),
)


def performing_script() -> str:
    """Return the viewer of "Be the engine" as one ES module that imports nothing."""
    return joined(*(static(f"kit/{name}.mjs") for name in _PERFORMING))


def lab_script(*, stepper: bool = False) -> str:
    """Return a lab's card as one ES module that imports nothing; with the Stepper in it or without.

    Picture and Stepper are whole viewers of their own, each in a scope of its own.
    """
    board = _enclosed("board", joined(static("kit/keys.mjs"), static("canvas.js")))
    viewer = _enclosed("viewer", script()) if stepper else "const viewer = null;"
    names = ("kit/keys", "kit/dom", "kit/help_panel", "labs/controls", "labs/lab")
    return "\n".join([board, viewer, joined(*(static(f"{name}.mjs") for name in names))])


def _enclosed(name: str, module: str) -> str:
    """Return a constant that is what a module exports by default, with all else of it inside."""
    inner = re.sub(r"^export (?!default)", "", module, flags=re.MULTILINE)
    inner = re.sub(r"^export default", "return", inner, flags=re.MULTILINE)
    return f"const {name} = (() => {{\n{inner}\n}})();"


def script() -> str:
    """Return the viewer as one ES module that imports nothing."""
    return joined(*(static(f"kit/{name}.mjs") for name in _MODULES))


def joined(*modules: str) -> str:
    """Return the texts of ES modules as one that imports nothing, each after those it imports.

    A notebook's widget and a page of its own take one file each. All share one scope there, so
    ``export`` stays only where the page and the widget come in: in the last one.
    """
    *inner, last = (re.sub(r"^import .*;\n", "", text, flags=re.MULTILINE) for text in modules)
    return "\n".join([*(re.sub(r"^export ", "", text, flags=re.MULTILINE) for text in inner), last])
