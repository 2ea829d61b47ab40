"""Stepping through a function in a real JupyterLab, and turning what goes in."""

from typing import Any

import pytest

from tests.browser.labs import height_of_lab, serious, write

pytestmark = pytest.mark.browser

FUNCTION = """def power(x, times=3):
    h = x
    for _ in range(times):
        h = h * x
    if h > 100:
        raise ValueError("too large")
    return h"""
LAB = "lab = StepThrough(power, x=torch.tensor(2., requires_grad=True))\nlab"


def test_an_argument_is_turned_and_the_stepper_stays_at_its_step(
    jupyter: Any, notebook: Any, axe: str
) -> None:
    page = notebook(write(jupyter.folder, "step_through", FUNCTION, LAB), width=900, dark=True)
    counter = page.locator(".adk-counter")
    caption = page.locator(".adk-caption")
    page.locator(".adk-graph svg").first.wait_for()

    for _ in range(2):
        page.get_by_role("button", name="Step forward", exact=True).click()
    before, height = counter.inner_text(), height_of_lab(page)
    page.get_by_role("slider", name="times").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "was => document.querySelector('.adk-counter').innerText !== was", arg=before
    )
    assert before.startswith("3 of ")
    assert counter.inner_text().startswith("3 of ")

    page.get_by_role("button", name="Last step", exact=True).click()
    caption.get_by_text("x.grad is 80").wait_for()  # 5 x^4
    page.get_by_role("slider", name="times").focus()
    page.keyboard.press("ArrowLeft")
    caption.get_by_text("x.grad is 32").wait_for()  # 4 x^3, at the end again
    assert height_of_lab(page) == height

    page.get_by_role("slider", name="times").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    message = page.locator(".adk-lab-message", has_text="ValueError: too large")
    message.get_by_text("The Stepper shows how far this run came.").wait_for()
    assert serious(page, ".adk-lab", axe) == []
