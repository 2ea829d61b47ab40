"""The static/dynamic lab in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import FUNCTION, LabOnPage, fits, write

pytestmark = pytest.mark.browser

LAB = "lab = Compare(f, x=torch.tensor(2., requires_grad=True))\nlab"


def test_the_frozen_answer_stands_beside_the_right_one(
    jupyter: Any, notebook: Any, axe: str
) -> None:
    path = write(jupyter.folder, "static", FUNCTION, LAB)
    lab = LabOnPage(notebook(path, width=900, dark=True))
    slider = lab.root.get_by_role("slider", name="x")

    lab.wait_for("Both answer 8.")
    slider.focus()
    for _ in range(3):  # 2.3 cubed is more than 10
        lab.page.keyboard.press("ArrowRight")
    lab.wait_for("The static graph answers 12.167")
    assert "That is wrong: it is 2.167." in lab.caption
    lab.root.get_by_role("button", name="trace again, at these values").click()
    lab.wait_for("Both answer 2.167")

    assert lab.is_whole()
    assert fits(lab)
    assert lab.serious(axe) == []
