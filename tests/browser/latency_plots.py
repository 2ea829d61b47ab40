"""How long a gradient plot takes from key to picture: ``python -m tests.browser.latency_plots``.

Two parts, as the learner waits for their sum: Python alone (from the changed number to the finished
SVG text), and all of it in a real JupyterLab (from the key press, by way of the kernel, to the last
change of the picture; goal: under 100 ms in the median). Nothing here is a test: figures depend on
the machine.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.browser import conftest
from tests.browser.labs import write_cells

PRESSES = 40

CODE = """import autodiff_kit as torch
from autodiff_kit.widgets import Descent, GradientFlow, GradientHistogram, Slope

x = torch.linspace(-1, 1, 1000, requires_grad=True)
(x ** 3).sum().backward()
sizes = {f"layer {i}": [10.0 ** -i] * 200 for i in range(8)}
labs = [
    Slope(lambda x: (2 * x).sin() + x * x / 5),
    Descent(lambda x, y: (1 - x) ** 2 + 10 * (y - x * x) ** 2, optimizer="Adam", steps=40),
    GradientFlow(sizes),
    GradientHistogram(x),
]"""

# `arrived`: when the key comes; `settled`: at the last change of a picture before 150 ms of rest.
WATCH = """() => {
  window.measure = () => new Promise((done) => {
    let arrived = 0, changed = 0;
    const board = document.querySelectorAll('.adk-board')[window.number];
    const watch = new MutationObserver((all) => {
      if (all.some((one) => [...one.addedNodes].some((node) => node.localName === 'svg'))) {
        changed = performance.now();
      }
    });
    watch.observe(board, { subtree: true, childList: true });
    const keyed = () => { arrived = performance.now(); };
    addEventListener('keydown', keyed, { once: true, capture: true });
    const wait = () => {
      if (!changed || performance.now() - changed < 150) return setTimeout(wait, 20);
      watch.disconnect();
      done(changed - arrived);
    };
    wait();
  });
}"""


class Folders:
    """Temporary folders, as pytest would make them."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def mktemp(self, name: str) -> Path:
        """Make a folder of this name."""
        folder = self.home / name
        folder.mkdir()
        return folder


def show(name: str, times: Sequence[float]) -> None:
    """Print median, 95 % and most, in milliseconds."""
    times = sorted(times)
    late = times[int(0.95 * (len(times) - 1))]
    print(f"{name:46}{statistics.median(times):8.1f}{late:8.1f}{times[-1]:8.1f}")


def python_alone() -> None:
    """Measure from the changed number to the SVG text."""
    space: dict[str, Any] = {}
    exec(CODE, space)
    slope, descent, flow, histogram = space["labs"]
    turns = {
        "Slope, point": (slope.controls["x"], [k / 50 for k in range(-60, 60)]),
        "Descent, steps": (descent.controls["steps"], range(10, 70)),
        "GradientFlow, step": (flow.controls["step"], range(100)),
        "GradientHistogram, bars": (histogram.controls["bins"], range(5, 75)),
    }
    for name, (control, values) in turns.items():
        times = []
        for value in values:
            begin = perf_counter()
            control.value = value
            times.append(1000 * (perf_counter() - begin))
        show(f"{name}: Python alone", times)


def in_jupyterlab() -> None:
    """Measure from the key press to the new picture, in a real JupyterLab."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)))
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = conftest.jupyter.__wrapped__(Folders(Path(home)))
        jupyter = next(server)
        try:
            cells = [CODE, *(f"labs[{k}]" for k in range(4))]
            write_cells(jupyter.folder / "labs.ipynb", *cells)
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(f"{jupyter.url}/lab/tree/labs.ipynb?reset")
            page.wait_for_selector(".jp-Notebook")
            page.wait_for_function("() => window.jupyterapp")
            page.evaluate(conftest.READY)
            page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
            page.locator(".adk-board svg").nth(3).wait_for()
            page.evaluate(WATCH)
            for number, name in enumerate(("Slope", "Descent", "GradientFlow")):
                page.evaluate("number => { window.number = number; }", number)
                handle = page.locator(".adk-board").nth(number).locator(".adk-handle")
                handle.focus()
                times = []
                for k in range(PRESSES):
                    page.evaluate("() => { window.asked = window.measure(); }")
                    page.keyboard.press("ArrowLeft" if k % 20 < 10 else "ArrowRight")
                    times.append(page.evaluate("() => window.asked"))
                show(f"{name}, point: key to picture", times)
            browser.close()
        finally:
            next(server, None)


def main() -> None:
    """Print the figures."""
    print(f"{'milliseconds':46}{'median':>8}{'95 %':>8}{'most':>8}")
    python_alone()
    in_jupyterlab()


if __name__ == "__main__":
    main()
