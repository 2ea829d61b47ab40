"""The control-flow lab in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import Seen, write

pytestmark = pytest.mark.browser

FUNCTION = """def f(x, rounds=2):
    y = x
    for i in range(rounds):
        y = y * x
    if y > 10:
        y = y - 10
    return y"""
LAB = "lab = ControlFlow(f, x=torch.tensor(2., requires_grad=True))\nlab"


def test_by_mouse_and_by_keyboard(jupyter: Any, notebook: Any, axe: str) -> None:
    path = write(jupyter.folder, "control_flow", FUNCTION, LAB)
    seen = Seen(notebook(path, width=900))
    rounds = seen.root.get_by_role("slider", name="rounds")

    seen.root.get_by_label("frozen trace beside it").check()
    seen.wait_for("the same")
    rounds.focus()
    seen.page.keyboard.press("ArrowRight")
    seen.wait_for("2 operations came")

    assert "Wrong: the function gives 6." in seen.caption
    assert rounds.evaluate("slider => slider === document.activeElement")
    assert seen.is_whole()
    assert seen.serious(axe) == []


def test_an_endless_loop_ends_and_the_picture_stays(jupyter: Any, notebook: Any) -> None:
    endless = FUNCTION.replace("    if y", "    while rounds == 3:\n        pass\n    if y")
    path = write(jupyter.folder, "endless", endless, LAB)
    seen = Seen(notebook(path, dark=True))
    before = seen.caption

    seen.root.get_by_role("slider", name="rounds").focus()
    seen.page.keyboard.press("ArrowRight")
    seen.root.get_by_text("still running after 5 seconds").wait_for()

    assert seen.caption == before
    assert "in grey" in seen.message.inner_text()
    seen.page.keyboard.press("ArrowRight")
    seen.wait_for("came")
    assert seen.message.is_hidden()
