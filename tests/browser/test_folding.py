"""Opening a stack of modules by mouse and key, and folding it again: what one looks at stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.labs import CORNER, box, path_of, top, write_cells

pytestmark = pytest.mark.browser

CELLS = [
    "import autodiff_kit as torch\nfrom autodiff_kit import nn\n"
    "from autodiff_kit.widgets import Stepper\n"
    "class Residual(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.fc = nn.Linear(4, 4)\n"
    "    def forward(self, x):\n"
    "        return x + torch.relu(self.fc(x))\n"
    "torch.manual_seed(0)\n"
    "net = nn.Sequential(nn.Linear(2, 4), *(Residual() for _ in range(12)), nn.Linear(4, 1))\n"
    "x = torch.randn(3, 2)",
    "with torch.record() as rec:\n"
    "    loss = net(x).square().mean()\n"
    "    loss.backward()\n"
    "stepper = Stepper(rec, step=-1)\nstepper",
]


def test_a_stack_opens_and_folds_again_and_what_one_looks_at_stays(
    jupyter: Any, notebook: Any, board: Any, axe: str
) -> None:
    page = notebook(write_cells(jupyter.folder / "folding.ipynb", *CELLS), width=1400)
    stepper = board(page)
    box(stepper, "net.1 … net.12").scroll_into_view_if_needed()
    before, moment = top(stepper, "net.1 … net.12"), stepper.caption

    box(stepper, "net.1 … net.12").dblclick(position=CORNER)
    box(stepper, "net.7").wait_for()

    assert top(stepper, "net.1") == pytest.approx(before, abs=1.5)
    assert stepper.caption == moment

    box(stepper, "net.1").click(position=CORNER)
    assert path_of(stepper) == ["whole run", "net", "net.1 … net.12", "net.1"]
    there = top(stepper, "net.1")
    page.keyboard.press("Enter")  # the focus is on it
    box(stepper, "net.1.fc").wait_for()
    assert top(stepper, "net.1.fc") >= there - 1.5
    page.evaluate(axe)
    report = page.evaluate("() => axe.run('.adk-root', {resultTypes: ['violations']})")
    assert [v["id"] for v in report["violations"] if v["impact"] in ("serious", "critical")] == []

    page.keyboard.press("f")  # what is around it: net.1
    box(stepper, "net.1").wait_for()
    assert top(stepper, "net.1") == pytest.approx(there, abs=1.5)
    box(stepper, "net.1").click(position=CORNER)
    stepper.press("Fold net.1 … net.12 again")
    box(stepper, "net.1 … net.12").wait_for()
    assert path_of(stepper)[:1] == ["whole run"]
    assert top(stepper, "net.1 … net.12") == pytest.approx(before, abs=1.5)
    assert stepper.caption == moment

    box(stepper, "net.1 … net.12").dblclick(position=CORNER)
    box(stepper, "net.7").wait_for()
    stepper.root.locator(".adk-folds", has_text="net.1 … net.12").click()
    box(stepper, "net.1 … net.12").wait_for()
    assert top(stepper, "net.1 … net.12") == pytest.approx(before, abs=1.5)
