"""The page that shows the design, in a real Chromium: every state is drawn, and nothing moves."""

from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.widgets.gallery import gallery

pytestmark = pytest.mark.browser

PLACES = """() => [
  ...document.querySelectorAll('.adk-lab, h2, .adk-c, .adk-c-line > *'),
].map((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  return [x, y + scrollY, width, height];
})"""


@pytest.mark.parametrize("width", [1400, 400])
def test_every_control_works_by_keyboard_and_nothing_moves(
    desk: Any, tmp_path: Path, width: int, axe: str
) -> None:
    page = desk(width=width).page
    page.goto(gallery(tmp_path / "design.html").as_uri())
    card = page.locator(".adk-lab").first
    card.locator("svg").first.wait_for()
    page.get_by_role("status").get_by_text("Running").first.wait_for()
    before = page.evaluate(PLACES)

    x = card.get_by_role("slider", name="x")
    x.focus()
    page.keyboard.press("End")
    assert x.get_attribute("aria-valuetext") == "4"
    card.get_by_label("Value of x").fill("-1.5")
    page.keyboard.press("Enter")
    assert x.get_attribute("aria-valuetext") == "\N{MINUS SIGN}1.5"
    card.get_by_role("slider", name="lr").press("End")
    assert card.get_by_role("slider", name="lr").get_attribute("aria-valuetext") == "1"
    card.get_by_label("optimizer").press("a")
    assert card.get_by_label("optimizer").input_value() == "Adam"
    card.get_by_label("frozen").press(" ")
    assert card.get_by_label("frozen").is_checked()
    card.get_by_label("seed").fill("2000000")
    page.keyboard.press("Enter")
    assert card.get_by_label("seed").input_value() == "1000000"
    card.get_by_role("button", name="Reset").press("Enter")
    assert x.get_attribute("aria-valuetext") == "2"
    assert not card.get_by_label("frozen").is_checked()
    assert page.evaluate(PLACES) == before

    page.evaluate(axe)
    report = page.evaluate("() => axe.run('.adk-lab', { resultTypes: ['violations'] })")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []
