"""The Stepper by the rules of axe-core, and the contrast of its drawing, which axe does not see."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view.page import to_html

pytestmark = pytest.mark.browser

# Contrast of every text in the drawing with what is painted behind it, by the formula of WCAG 2.2.
CONTRAST = """root => {
  const light = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const paper = getComputedStyle(root).backgroundColor;
  return [...root.querySelectorAll(".adk-canvas text")]
    .filter((text) => text.textContent.trim() && getComputedStyle(text).visibility !== "hidden")
    .map((text) => {
      const own = text.closest("[data-chip], [data-slot]") && text.previousElementSibling;
      const box = own || text.closest("[data-node]")?.querySelector(".adk-box");
      const fill = box ? getComputedStyle(box).fill : "none";
      const pair = [getComputedStyle(text).fill, fill === "none" ? paper : fill];
      const [a, b] = pair.map(colour).map(light);
      return [text.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    });
}"""


@pytest.fixture(params=["light", "dark"])
def stepper(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    desk: Callable[..., Any],
    board: Callable[..., Any],
    payload: dict[str, Any],
) -> Any:
    """A Stepper of a page, by day and by night."""
    page = desk(dark=request.param == "dark").page
    page.goto(to_html(payload, tmp_path / "steps.html").as_uri())
    return board(page)


def test_axe_finds_nothing_at_any_step(stepper: Any, axe: str) -> None:
    stepper.root.page.evaluate(f"() => {{ {axe} }}")

    for step in (0, stepper.last // 3, stepper.last // 2, stepper.last):
        stepper.go(step)
        report = stepper.root.evaluate("root => axe.run(root)")
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []


def test_axe_finds_nothing_when_a_node_is_pinned(stepper: Any, axe: str) -> None:
    stepper.root.page.evaluate(f"() => {{ {axe} }}")
    stepper.go(stepper.last)

    stepper.nodes.nth(1).click()

    report = stepper.root.evaluate("root => axe.run(root)")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]] == []


def test_every_text_of_the_drawing_has_a_contrast_of_at_least_4_5(stepper: Any) -> None:
    for step in range(0, stepper.last + 1, 3):
        stepper.go(step)
        weak = [pair for pair in stepper.root.evaluate(CONTRAST) if pair[1] < 4.5]
        assert weak == [], f"step {step}"


def test_the_words_of_a_step_are_spoken_politely(stepper: Any) -> None:
    caption = stepper.root.locator("[aria-live]")

    assert caption.get_attribute("aria-live") == "polite"
    assert caption.count() == 1
    assert caption.inner_text() == stepper.caption


def test_every_node_says_name_operation_and_gradient(stepper: Any, payload: dict[str, Any]) -> None:
    stepper.go(stepper.last)

    for label in stepper.nodes.evaluate_all("boxes => boxes.map(box => box.ariaLabel)"):
        assert any(label.startswith(node["aria"]) for node in payload["nodes"].values())
        assert "gradient" in label
