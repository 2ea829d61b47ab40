"""How long a step takes in the browser: ``python -m tests.browser.latency``.

Measured in the page itself, on a graph of 300 nodes: from the moment a key arrives to the last
change of the document it leads to (goal: under 16 ms in the median), and to the frame painted
after it. Nothing here is a test: figures depend on the machine.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import autodiff_kit as ak
from autodiff_kit.record import Recording, record
from autodiff_kit.view.page import to_html
from autodiff_kit.view.scene import build

STEPS = 150  # each way

# `arrived`: before anything else happens to a key; `settled`: after the next frame is painted.
WATCH = """() => {
  let changed = 0;
  new MutationObserver(() => { changed = performance.now(); }).observe(document.body, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });
  addEventListener('keydown', () => {
    const arrived = performance.now();
    window.settled = new Promise((done) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done([changed - arrived, performance.now() - arrived]);
      channel.port2.postMessage(0);
    }));
  }, true);
}"""


def graph() -> Recording:
    """Record a recurrent network of 300 nodes, forward and backward."""
    with record() as recording:
        w, u, b = (ak.tensor(v, requires_grad=True) for v in (0.5, -0.3, 0.1))
        h = ak.tensor(0.0)
        for _ in range(74):
            h = (h * u + w * b).tanh()
        h.backward()
    return recording


def main() -> None:
    """Print the figures."""
    from playwright.sync_api import sync_playwright

    picture = build(graph())
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = to_html(picture, Path(folder) / "steps.html")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(file.as_uri())
        page.locator(".adk-range").focus()
        page.evaluate(WATCH)
        print(f"{len(picture.since)} nodes, {len(picture.frames)} steps; milliseconds")
        print(f"{'':28}{'median':>8}{'95 %':>8}{'most':>8}")
        for way, keys in {
            "forward phase": ["n"] * STEPS,
            "forward phase, back": ["p"] * STEPS,
            "to the end and to the start": ["End", "Home"] * 5,
            "backward phase, back": ["End", *["p"] * STEPS],
            "backward phase": ["n"] * STEPS,
        }.items():
            times = []
            for key in keys:
                page.keyboard.press(key)
                times.append(page.evaluate("() => window.settled"))
            if keys[0] == "End" and len(keys) > 10:
                del times[0]
            for what, taken in zip(("change", "painted"), zip(*times, strict=True), strict=True):
                taken = sorted(taken)
                median, most = statistics.median(taken), taken[-1]
                late = taken[int(0.95 * (len(taken) - 1))]
                print(f"{f'{way}, {what}':38}{median:8.1f}{late:8.1f}{most:8.1f}")
        browser.close()


if __name__ == "__main__":
    main()
