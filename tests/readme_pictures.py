"""Draw the README's pictures with the kit: python -m tests.readme_pictures

The strip of steps is SVG and comes out the same every time (`test_readme.py` checks that). The
picture of the Stepper is a screenshot of the HTML page and needs Chromium and playwright.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import autodiff_kit as torch
from autodiff_kit.view import build, still_svg

FOLDER = Path(__file__).parent.parent / "notebooks" / "images"
GAP = 24
EXAMPLE = """\
x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
y = w * x + w
y.backward()
"""


def record() -> torch.record.Recording:
    """Record the example, from a file of its own that the pictures can quote."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "example.py"
        path.write_text(EXAMPLE, encoding="utf-8")
        with torch.record() as rec:
            exec(compile(EXAMPLE, path, "exec"), {"torch": torch})
    return rec


def strip() -> str:
    """Return four steps side by side as one SVG."""
    picture = build(record())
    frames = picture.payload()["frames"]
    turn = picture.payload()["turn"]
    adding = next(i for i, frame in enumerate(frames) if frame["kind"] == "add")
    steps = (2, turn - 1, adding, len(frames) - 1)
    parts, left, tallest = [], 0, 0
    for step in steps:
        svg = still_svg(picture, step=step, caption=True)
        width, height = (int(float(n)) for n in re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
        parts.append(svg.replace("<svg ", f'<svg x="{left}" ', 1))
        left += width + GAP
        tallest = max(tallest, height)
    size = f'width="{left - GAP}" height="{tallest}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>\n'


def screenshot(path: Path) -> None:
    """Write a picture of the Stepper in the middle of the backward pass."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "steps.html"
        record().to_html(page_file)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(
            viewport={"width": 1100, "height": 690},
            device_scale_factor=1.5,
            reduced_motion="reduce",
        )
        page.goto(page_file.as_uri())
        slider = page.get_by_role("slider")
        slider.focus()
        for _ in range(9):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        page.locator(".adk-root").screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "steps.svg").write_text(strip(), encoding="utf-8")
    screenshot(FOLDER / "stepper.png")
