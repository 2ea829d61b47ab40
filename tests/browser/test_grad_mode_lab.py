"""The no_grad lab in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import Seen, fits, write

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
    seen = Seen(notebook(write(jupyter.folder, "grad_mode", *CELLS), width=900))

    seen.root.get_by_label("line 3").focus()
    seen.page.keyboard.press("n")  # no_grad: letters choose, and are not the notebook's
    seen.wait_for("Line 3: no_grad")
    assert seen.root.get_by_text("not recorded").count() == 1
    assert "µs" in seen.root.inner_text()
    seen.root.get_by_label("line 5").select_option("no_grad")
    seen.wait_for("element 0 of tensors does not require grad")

    assert seen.root.get_by_text("backward()\u00a0fails").count() == 1
    assert seen.is_whole()
    assert fits(seen)
    assert seen.serious(axe) == []
