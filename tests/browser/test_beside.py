"""The kit's answers beside PyTorch's, in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import LabOnPage, write

pytestmark = [pytest.mark.browser, pytest.mark.parity]

PROGRAM = """%%beside
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
y.backward()
print(x.grad)"""


def test_both_answers_are_read_on_a_narrow_page_at_night(
    jupyter: Any, notebook: Any, axe: str
) -> None:
    path = write(jupyter.folder, "beside", PROGRAM)

    lab = LabOnPage(notebook(path, width=900, dark=True))

    lab.wait_for("all 3 are equal, character by character")
    text = lab.root.locator(".adk-board-picture").inner_text().replace("\xa0", " ")
    assert "=\ntensor([2., 4.])" in text  # once, for both
    assert lab.is_whole()
    assert lab.serious(axe) == []
