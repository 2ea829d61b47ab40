"""The design of the widgets on one page: ``python -m autodiff_kit.widgets.gallery FILE.html``.

After reading the page you know the sizes of text, the spaces, the colours and what each means, each
control in each of its states, and how a card, a plot, a table, a caption, a message, an empty and a
busy lab look, in light and in dark. All of it is drawn by the styles and the script that the
widgets use: colours are read out of ``kit.css``, and the cards are real labs. Every lab of the kit
comes after them (``lessons/programs/labs.py``).
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from autodiff_kit.files import written_whole
from autodiff_kit.free_form import Json
from autodiff_kit.view.page import whole_page
from autodiff_kit.view.panels import page, table
from autodiff_kit.view.viewer import lab_script, static
from autodiff_kit.widgets.controls import (
    Button,
    Choice,
    CodeLine,
    Control,
    Number,
    SelectionSlider,
    Slider,
    Switch,
    Text,
)
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.running import Refused
from autodiff_kit.widgets.slope import Slope

__all__ = ["gallery"]

LABS = Path(__file__).parents[1] / "lessons" / "programs" / "labs.py"
TITLE = "The design of the widgets"
# What a colour says; shape, sign or words always say the same once more.
MEANINGS = {
    "paper": "surface of a card",
    "shade": "sunken: controls, code",
    "ink": "text, controls, positions, focus",
    "quiet": "roles, axis and line numbers",
    "hairline": "divides sections; border of a card",
    "op-line": "border of a control, and of an operation",
    "edge-line": "edge of a graph",
    "forward": "forward: values, local slopes (square chip)",
    "forward-soft": "forward, as a surface",
    "forward-line": "forward, as a line",
    "backward": "backward: gradients, contributions (pill)",
    "backward-soft": "backward, as a surface",
    "backward-line": "backward, as a line",
    "leaf-line": "leaf (rounded box); added (+)",
    "bad": "wrong, error (sign and words)",
    "bad-soft": "message",
    "good-line": "right (sign and words)",
}
SIZES = (
    ("13 px", "roles, axis and line numbers, tracebacks"),
    ("14 px", "code, contents of boxes, controls"),
    ("16 px", "titles of cards, captions of labs"),
    ("18 px", "caption of a step of the Stepper"),
)
SPACES = (4, 8, 12, 16, 24, 28)
RULES = (
    "Colour says when a number was computed: blue forward, orange backward. Both stay apart for "
    "all common forms of colour blindness, and nothing is said by colour alone.",
    "A control is 36 px high, 44 px in a narrow card, and keeps its width whatever it is set to.",
    "Nothing around a lab moves when a control does: its pictures keep their height, a larger one "
    "is scrolled, and a message lies over the last good picture, which turns grey.",
    "A caption has room for two lines. It says what happened, with the numbers.",
    "Controls stand above the picture; beside a plot, with the caption, where there is room.",
    "Each control says what it changes: in a tooltip, and in the help that “?” opens.",
)


class _Sample(Lab):
    """A lab whose picture is given."""

    def __init__(
        self, title: str, controls: dict[str, Control], svg: str, caption: str, error: str = ""
    ) -> None:
        self._parts, self._error = (svg, caption), error
        super().__init__(controls, title=title)
        if error:
            self.turn({name: not control.value for name, control in controls.items()})

    def draw(self) -> None:
        if self._error and self.svg:
            raise Refused(self._error)
        self.svg, self.caption = self._parts


def gallery(path: str | Path, *, labs: Iterable[Lab] = ()) -> Path:
    """Write the page; it needs a browser and nothing else.

    Parameters
    ----------
    path : path
    labs : iterable of Lab
        More labs to show; what only Python can answer does not change there.

    Returns
    -------
    Path - the file written.
    """
    body = "".join(
        (
            f"<main><h1>{TITLE}</h1>",
            "".join(f"<p>{escape(rule)}</p>" for rule in RULES),
            "<h2>Text</h2>",
            *(
                f"<p style='font-size:{size[:2]}px;margin:4px 0'>{size}: {use}</p>"
                for size, use in SIZES
            ),
            "<h2>Space: multiples of 4 px</h2>",
            *(f"{n} <span class='gallery-space' style='width:{n}px'></span>" for n in SPACES),
            "<h2>Colours</h2>",
            _pair(_colours(0), _colours(1)),
            *(f"<h2>{escape(words)}</h2>{_card(lab, busy)}" for words, lab, busy in _cards()),
            *(f"<h2>{type(lab).__name__}</h2>{_card(lab, look='gallery-wide')}" for lab in labs),
            "</main>",
        )
    )
    code = lab_script().replace("export default { render };", "const lab = { render };")
    code += static("labs/gallery.mjs")
    style = str(Lab._css).replace(static("kit.css"), "") + static("labs/gallery.css")
    with written_whole(path) as file:
        # Pictures and colours have styles of their own, so this page is none of the strict ones.
        text = whole_page(TITLE, body, style=style, code=code, look="gallery", is_strict=False)
        file.write(text.encode())
    return Path(path)


def _pair(day: str, night: str, look: str = "") -> str:
    return (
        f"<div class='gallery-pair {look}'><div class='gallery-day'>{day}</div>"
        f"<div class='gallery-night'>{night}</div></div>"
    )


def _colours(night: int) -> str:
    """Return the colours of a theme, as ``kit.css`` has them."""
    rows = []
    for name, meaning in MEANINGS.items():
        match = re.search(rf"--adk-{name}: .*?light-dark\(([^,]+), ([^)]+)\)", str(Lab._css))
        assert match is not None, name
        colour = match[1 + night]
        rows.append(
            f"<span class='gallery-swatch' style='background:{colour}'></span>"
            f"<code>{name} {colour}</code><span>{escape(meaning)}</span>"
        )
    return f"<div class='gallery-colours'>{''.join(rows)}</div>"


def _card(lab: Lab, busy: bool = False, look: str = "") -> str:
    no_part = ("_esm", "_css", "_model", "_view", "layout", "tabbable", "tooltip", "payload")
    state: Json = {n: v for n, v in lab.get_state().items() if not n.startswith(no_part)}
    if busy:
        state["_moves"] = {name: [1, state["state"][name]] for name in list(state["state"])[:1]}
    data = escape(json.dumps(state), quote=True)
    part = f'<div data-lab="{data}"{" data-busy" * busy}></div>'
    return _pair(part, part, look)


def _cards() -> Sequence[tuple[str, Lab, bool]]:
    rows = [["", "dynamic", "static"], ["answer", "8.0", "8.0"], ["nodes built", "2", "0"]]
    tables = page([[table("Measured", rows)]], title="A table", description="A table.")
    button = Button(description="measure again")
    controls: dict[str, Control] = {
        "x": Slider(2.0, -4.0, 4.0, 0.1, mark=1.0, help="A number between two others."),
        "rounds": Slider(2, 0, 8),
        "time": Slider(0.5, 0.0, 2.0, 0.1, unit="s"),
        "lr": SelectionSlider([(f"{v:g}", v) for v in (0.001, 0.01, 0.1, 1.0)], 0.1),
        "optimizer": Choice(["SGD", "Adam"]),
        "tangent": Switch(True),
        "frozen": Switch(),
        "seed": Number(7, 0, 1_000_000),
        "lengths": Text("5, 2, 3"),
        "again": button,
    }
    ways = ["as written", "no_grad", "detach"]
    lines: dict[str, Control] = {
        f"line {n}": CodeLine(ways, way, number=n, code=code)
        for n, code, way in ((2, "    h = x * w", ways[0]), (3, "    s = h.mean()", ways[1]))
    }
    wrong = "ValueError: too large\nIt came from line 7 of your code: raise ValueError(...)"
    words = "2 nodes, saving 8 bytes."
    return [
        ("Controls, a table and a caption", _Sample("A lab", controls, tables, words), False),
        ("Lines of code with switches", _Sample("Line by line", lines, tables, words), False),
        ("A plot with a point to drag", Slope(lambda x: x * x, -2, 2, x=1.5), False),
        (
            "A message: what happened, where, what to do",
            _Sample("A lab", {"flag": Switch()}, tables, words, wrong),
            False,
        ),
        ("Empty: nothing could be drawn", _Sample("A lab", {"flag": Switch()}, "", ""), False),
        (
            "Busy: Python is still running",
            _Sample("A lab", {"rounds": Slider(3, 0, 8)}, tables, words),
            True,
        ),
    ]


def main(arguments: Sequence[str]) -> None:
    """Write the page, and say where."""
    labs = runpy.run_path(str(LABS))["sample_labs"]
    print(gallery(arguments[0] if arguments else "gallery.html", labs=labs()))


if __name__ == "__main__":
    main(sys.argv[1:])
