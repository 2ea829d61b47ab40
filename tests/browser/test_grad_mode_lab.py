"""The no_grad lab in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import LabOnPage, fits, height_of_lab, write

pytestmark = pytest.mark.browser

CELLS = (
    """def loss(x, w):
    h = x * w
    s = h.mean()
    y = (h - s) ** 2
    return y.sum()""",
    """lab = GradMode(loss, x=torch.ones(3), w=torch.tensor([1., 2., 4.], requires_grad=True))
lab""",
)


def test_lines_are_switched_by_keyboard_and_by_mouse(jupyter: Any, notebook: Any, axe: str) -> None:
    lab = LabOnPage(notebook(write(jupyter.folder, "grad_mode", *CELLS), width=900))

    lab.root.get_by_label("line 3").focus()
    lab.page.keyboard.press("n")  # no_grad: letters choose, and are not the notebook's
    lab.wait_for("Line 3: no_grad")
    height = height_of_lab(lab.page)
    assert lab.root.get_by_text("not recorded").count() == 1
    assert "µs" in lab.root.inner_text()
    lab.root.get_by_label("line 5").select_option("no_grad")
    lab.wait_for("element 0 of tensors does not require grad")

    assert lab.root.get_by_text("backward()\u00a0fails").count() == 1
    assert height_of_lab(lab.page) == height
    assert lab.is_whole()
    assert fits(lab)
    assert lab.serious(axe) == []
