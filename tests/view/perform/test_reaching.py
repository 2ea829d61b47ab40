"""Why ``.grad`` is None: cleared, returned, not asked for, or no path; each is told as it is."""

from __future__ import annotations

import pytest

from autodiff_kit.view.perform import Task
from tests.view.perform.programs import LEAVES, script_of, tasks


def leaf(source: str, name: str) -> Task:
    every = tasks(script_of(LEAVES + source), "leaf")
    (task,) = [task for task in every if f"`{name}.grad`" in task["prompt"]]
    assert task["answers"] == [{"none": True}]
    return task


@pytest.mark.parametrize(
    "clearing",
    [
        "w.grad = None",
        "torch.optim.SGD([w], lr=0.1).zero_grad()",
    ],
)
def test_a_gradient_that_was_cleared_is_told_with_its_line(clearing: str) -> None:
    task = leaf(f"y = w * x\ny.backward()\n{clearing}", "w")

    assert "Line 5: `w.grad` is set to `None`" in task["right"]
    assert "No path" not in task["right"]
    assert "path" not in task["smaller"]["prompt"]  # w requires a gradient, and a path leads to it


def test_what_was_cleared_before_it_was_there_is_no_reason() -> None:
    task = leaf("x.grad = None\ny = w * 2\ny.backward()", "x")

    assert "No path leads from `y` to `x`." in task["right"]
    assert task["smaller"]["prompt"].endswith("does a path lead from `y` to it?")


def test_a_gradient_that_autograd_grad_returns_is_not_accumulated() -> None:
    source = "y = w * x\n(g,) = torch.autograd.grad(y, w)"

    own, other = leaf(source, "w"), leaf(source, "x")

    assert "`autograd.grad` returns the gradient of `w`, and adds nothing" in own["right"]
    assert "`autograd.grad` computes the gradient of `w` alone here" in other["right"]
    assert "path" not in own["smaller"]["prompt"] + other["smaller"]["prompt"]


def test_a_leaf_that_is_not_among_the_inputs_gets_nothing() -> None:
    source = "a = x * 2\ny = w * a\ny.backward(inputs=[w])"

    task = leaf(source, "x")

    assert "With `inputs=`, the pass fills the `.grad` of `w` alone" in task["right"]
    assert "path" not in task["smaller"]["prompt"]
    (targets,) = tasks(script_of(LEAVES + source), "targets")
    assert targets["answers"] == [{"all": ["0"]}]
    assert "each input that requires a gradient" not in targets["otherwise"]
    texts = [slip["text"] for slip in targets["slips"] if slip["answer"] == {"one": "2"}]
    assert texts and not any("No path" in text for text in texts)


def test_after_a_pass_that_fills_no_grad_none_is_said_to_grow() -> None:
    source = "y = w * x\ntorch.autograd.grad(y, [w, x], retain_graph=True)"

    assert tasks(script_of(LEAVES + source), "again") == []


def test_a_gradient_that_was_set_to_zero_is_not_all_that_has_arrived() -> None:
    source = "y = w * x\ny.backward()\nw.grad.zero_()"
    every = tasks(script_of(LEAVES + source), "leaf")

    assert every[0]["answers"][0]["at"][0]["data"] == [0.0]
    assert every[0]["otherwise"].startswith("Line 5: `w.grad` is changed.")
