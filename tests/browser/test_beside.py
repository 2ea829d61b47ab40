"""The kit's answers beside PyTorch's, in a real JupyterLab."""

from typing import Any

import pytest

from tests.browser.labs import Seen, write

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

    seen = Seen(notebook(path, width=900, dark=True))

    seen.wait_for("all 3 are equal, character by character")
    shown = seen.root.locator(".adk-board-picture").inner_text().replace("\xa0", " ")
    assert "=\ntensor([2., 4.])" in shown  # once, for both
    assert seen.is_whole()
    assert seen.serious(axe) == []
