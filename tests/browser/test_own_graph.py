"""The graph of a learner's own engine in the Stepper, in a real JupyterLab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.engine_parts import engine_of, whole
from tests.browser.labs import write_cells

pytestmark = pytest.mark.browser
PROGRAM = """
from autodiff_kit.puzzles import show_graph
x, w = Node(3.0, requires_grad=True), Node(2.0, requires_grad=True)
y = x * w + x
show_graph(y)
"""


def test_the_stepper_goes_through_the_learners_own_backward(
    jupyter: Any, notebook: Callable[..., Any], board: Callable[..., Any]
) -> None:
    engine = whole(engine_of(open_course().folder))
    path = write_cells(jupyter.folder / "own_graph.ipynb", engine, PROGRAM)
    page = notebook(path)
    stepper = board(page)
    stepper.go(stepper.last)

    assert stepper.caption == "Backward is done: x.grad is 3.0 and w.grad is 3.0."
    assert stepper.gradients()["w"].endswith("3.")
    assert "show_graph(y)" in stepper.root.inner_text()
