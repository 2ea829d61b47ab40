"""What the journeys through the labs share: a notebook with one lab, its parts, and axe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat import v4

# JupyterLab's body is 0 px high, and axe would take everything in it for hidden.
AXE = """async (part) => {
  document.body.style.height = '100vh';
  const found = await axe.run(part, { resultTypes: ['violations'] });
  return found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}"""
FUNCTION = """def f(x, rounds=2):
    y = x
    for i in range(rounds):
        y = y * x
    if y > 10:
        y = y - 10
    return y"""
# Whether nothing has to be scrolled sideways, and how large the smallest text is, in pixels.
FITS = """pane => {
  const texts = [...pane.querySelectorAll('svg text')];
  const sizes = texts.map(
    (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
  return [pane.scrollWidth <= pane.clientWidth, Math.min(...sizes)];
}"""


def write(folder: Path, name: str, *cells: str) -> Path:
    """Write a notebook; its first cell brings the kit."""
    begin = "import autodiff_kit as torch\nfrom autodiff_kit.widgets import *"
    return write_cells(folder / f"{name}.ipynb", begin, *cells)


def write_cells(path: Path, *cells: str) -> Path:
    """Write a notebook of these cells; one that begins with ``#`` and a space is a heading."""
    notebook = v4.new_notebook(
        cells=[
            (v4.new_markdown_cell if cell.startswith("# ") else v4.new_code_cell)(cell)
            for cell in cells
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, path)
    return path


def serious(page: Any, part: str, axe: str) -> list[str]:
    """Return what axe-core finds in a part of the page, by a selector."""
    page.evaluate(f"() => {{ {axe} }}")
    return list(page.evaluate(AXE, part))


class LabOnPage:
    """A lab as a learner sees it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.root = page.locator(".adk-lab")
        self.root.locator(".adk-board-picture svg").first.wait_for()
        self.root.scroll_into_view_if_needed()

    @property
    def caption(self) -> str:
        return str(self.root.locator(".adk-board-caption").inner_text())

    @property
    def message(self) -> Any:
        return self.root.locator(".adk-lab-message")

    def wait_for(self, words: str) -> None:
        """Wait until the line below the picture says this."""
        self.root.locator(".adk-board-caption", has_text=words).wait_for()

    def serious(self, axe: str) -> list[str]:
        """Return what axe-core finds."""
        return serious(self.page, ".adk-lab", axe)

    def is_whole(self) -> bool:
        """Return whether no text of the picture reaches over its edge."""
        return bool(
            self.root.locator(".adk-board-picture > svg").first.evaluate(
                """svg => { const outer = svg.getBoundingClientRect();
                  return [...svg.querySelectorAll('text')].every(text => {
                    const { left, right, top, bottom } = text.getBoundingClientRect();
                    return left >= outer.left - 1 && right <= outer.right + 1
                      && top >= outer.top - 1 && bottom <= outer.bottom + 1; }); }"""
            )
        )


def box(stepper: Any, name: str) -> Any:
    """The box with this name in its first line."""
    group = stepper.root.locator("[data-node]", has=stepper.root.page.get_by_text(name, exact=True))
    return group.locator(".adk-box").first


CORNER = {"x": 5, "y": 5}  # of a box, where no text is


def top(stepper: Any, name: str) -> float:
    """Where the upper side of a box is on the screen; a narrow graph is centred sideways."""
    return float(box(stepper, name).bounding_box()["y"])


def path_of(stepper: Any) -> list[str]:
    """What the line above the graph says."""
    return str(stepper.root.locator(".adk-path").inner_text()).split("/")


def height_of_lab(page: Any) -> float:
    """Return how much room the first lab takes: what stands below it moves when this changes."""
    return float(page.locator(".adk-lab").first.bounding_box()["height"])


def fits(lab: LabOnPage) -> bool:
    """Return whether the picture is seen whole, in letters that can be read."""
    whole, smallest = lab.root.locator(".adk-board-picture").evaluate(FITS)
    return bool(whole) and smallest >= 11
