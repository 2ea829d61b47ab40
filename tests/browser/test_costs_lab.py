"""The costs lab in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import LabOnPage, write

pytestmark = pytest.mark.browser

LAB = """inputs = [torch.ones(size, requires_grad=True) for size in (1, 100_000)]
Costs(inputs, recorded=torch.sin, no_grad=torch.no_grad()(torch.sin))"""


def test_times_stand_below_the_counts_and_are_taken_again(
    jupyter: Any, notebook: Any, axe: str
) -> None:
    lab = LabOnPage(notebook(write(jupyter.folder, "costs", LAB), width=900, dark=True))
    times = lab.root.locator(".adk-board-picture").nth(1)

    lab.wait_for("recorded: 1 node, saving 4 bytes or 400 kB.")
    lab.wait_for("Measured just now")
    assert "Compared with recorded" in times.inner_html().replace("&nbsp;", " ")
    again = lab.root.get_by_role("button", name="measure again")
    for press in (lambda: again.press("Enter"), again.click):
        before = times.inner_html()
        press()
        changed = "([it, was]) => it.innerHTML !== was"
        lab.page.wait_for_function(changed, arg=[times.element_handle(), before])

    assert lab.is_whole()
    assert lab.serious(axe) == []
