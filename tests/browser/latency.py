"""How long a step takes in the browser: ``python -m tests.browser.latency``.

Measured in the page itself, from the moment a key arrives to the last change of the document it
leads to, and to the frame painted after it: on a graph of 300 nodes (goal: under 16 ms in the
median), and on a training step of 5,000 operations (goal: under 50 ms, and a page under 5 MB).
Nothing here is a test: figures depend on the machine.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import autodiff_kit as ak
from autodiff_kit.record import Recording, record
from autodiff_kit.view.page import to_html
from autodiff_kit.view.scene import Picture, build

STEPS = 150  # each way, or as many as there are

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


def training_step() -> Recording:
    """Record a recurrent network over 1,250 inputs: loss, backward and update, 5,000 operations."""
    with record() as recording:
        w, u = (ak.tensor(v, requires_grad=True) for v in (0.5, -0.3))
        optimizer = ak.optim.SGD([w, u], lr=0.01)
        x = ak.randn(4)
        h = ak.zeros(4)
        for _ in range(1250):
            h = (h * u + x * w).tanh()
        loss = (h**2).mean()
        loss.backward()
        optimizer.step()
    return recording


def opened(picture: Picture) -> Picture:
    """Open folds until there is no more room."""
    while len(picture.since) < 240:
        folds = (node["opens"] for node in picture.payload()["nodes"].values() if "opens" in node)
        picture = picture.opened(next(folds))
    return picture


def main() -> None:
    """Print the figures."""
    large = build(training_step())
    for title, picture in {
        "300 nodes": build(graph()),
        "5,000 operations, folded": large,
        "5,000 operations, opened as far as it goes": opened(large),
    }.items():
        print(title)
        measure(picture)


def measure(picture: Picture) -> None:
    """Print the figures of one picture."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = to_html(picture, Path(folder) / "steps.html")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(file.as_uri())
        page.locator(".adk-range").focus()
        page.evaluate(WATCH)
        size = file.stat().st_size / 1e6
        print(f"{len(picture.since)} boxes, {len(picture.frames)} steps, {size:.2f} MB; in ms:")
        steps = min(STEPS, len(picture.frames) - 1)
        print(f"{'':28}{'median':>8}{'95 %':>8}{'most':>8}")
        for way, keys in {
            "forward phase": ["n"] * steps,
            "forward phase, back": ["p"] * steps,
            "to the end and to the start": ["End", "Home"] * 5,
            "backward phase, back": ["End", *["p"] * steps],
            "backward phase": ["n"] * steps,
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
