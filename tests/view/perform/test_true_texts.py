"""What is said of branches, axes and refused passes is true of the run that was recorded."""

from __future__ import annotations

import json
import re

import pytest

from autodiff_kit.view.perform import PerformError, judge, perform_script
from tests.view.perform.bank import PROGRAMS, run
from tests.view.perform.programs import LEAVES, script_of, tasks

BOTH = """y = w
for i in range(2):
    if y < 7:
        y = y * 3
    else:
        y = y + 1
y.backward()"""


def test_where_both_branches_run_in_a_loop_neither_is_said_to_be_outside_of_the_graph() -> None:
    every = tasks(script_of(LEAVES + BOTH), "branch")

    assert [task["part"] for task in every] == ["build", "build"]
    assert [task["answers"] for task in every] == [[{"one": "ran"}]] * 2
    for task in every:
        (slip,) = task["slips"]
        assert slip["marks"] == []
        assert "this time" in slip["text"]
        assert "graph" not in slip["text"]


def test_the_body_of_a_loop_that_ends_has_run_before() -> None:
    every = tasks(script_of(LEAVES + "y = w\nwhile y < 7:\n    y = y * 2\ny.backward()"), "branch")

    assert len(every) == 3
    assert not any("not in the graph" in s["text"] for task in every for s in task["slips"])


def test_where_one_branch_runs_the_other_one_is_struck() -> None:
    one = BOTH.replace("range(2)", "range(1)")

    every = tasks(script_of(LEAVES + one), "branch")

    assert [task["part"] for task in every] == ["build", "backward"]
    for task in every:
        assert [mark["kind"] for slip in task["slips"] for mark in slip["marks"]] == ["struck"]


@pytest.mark.parametrize("condition", ["not y < 7", "0 < y < 7", "y < 7 and y > 5", "any([y > 7])"])
def test_a_condition_that_a_tensor_does_not_decide_alone_is_not_asked_about(condition: str) -> None:
    source = f"y = w * x\nif {condition}:\n    y = y * 3\nelse:\n    y = y + 1\ny.backward()"

    assert tasks(script_of(LEAVES + source), "branch") == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("y = w ** 3\ntorch.autograd.grad(y, w, create_graph=True)", ["create_graph=True"]),
        (
            "w.register_hook(lambda g: g * 2)\ny = w * x\ny.backward()",
            ["`g * 2` in line 3", "hook"],
        ),
        (
            "from autodiff_kit.utils.checkpoint import checkpoint\n"
            "y = checkpoint(lambda a: (a * 2).exp().sin(), w, use_reentrant=False)\ny.backward()",
            ["`a * 2` in line 4", "checkpoint"],
        ),
        (
            "with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 1):\n"
            "    y = w * x\ny.backward()",
            ["`t * 1` in line 3", "saved_tensors_hooks"],
        ),
    ],
)
def test_what_runs_during_a_pass_is_named_with_what_to_do(source: str, words: list[str]) -> None:
    with pytest.raises(PerformError) as error:
        script_of(LEAVES + source)

    message = str(error.value)
    assert all(word in message for word in words)
    assert "\n-> " in message
    assert ("create_graph" in message) == ("create_graph" in source)


def axis_texts(operand: str) -> dict[str, str]:
    source = f"{operand}\nloss = (h * h).sum()\nloss.backward()"
    (task,) = tasks(script_of(source), "axes")
    assert task["answers"] == [{"one": "[0]"}]
    return {slip["answer"]["one"]: slip["text"] for slip in task["slips"]}


def test_a_wrong_axis_of_a_square_array_gives_the_right_shape_and_the_wrong_sums() -> None:
    texts = axis_texts(
        "x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])\n"
        "b = torch.tensor([0.5, -1.0], requires_grad=True)\nh = x + b"
    )

    assert texts["[1]"].startswith("The shape would be right, (2,), but along axis 1 lie different")
    assert "the shape (2, 2), and `b` has (2,)" in texts["[]"]
    assert "the shape (), and `b` has (2,)" in texts["[0, 1]"]


def test_a_wrong_axis_of_another_array_gives_another_shape() -> None:
    texts = axis_texts(
        "x = torch.ones(3, 2)\nb = torch.tensor([0.5, -1.0], requires_grad=True)\nh = x + b"
    )

    assert "the shape (3,), and `b` has (2,)" in texts["[1]"]


def test_what_a_variable_holds_now_is_told_from_what_the_rule_reads() -> None:
    source = "h = 3 * w\ny = h * w\nh = h + 1\ny.backward()"  # dy/dw directly: h as it was

    by_prompt = {task["prompt"]: task for task in tasks(script_of(LEAVES + source), "value")}
    task = by_prompt["What does `y` pass to `w`?"]
    (slip,) = (slip for slip in task["slips"] if "stale_value" in slip["is"])

    assert "that `h` has now" in slip["text"]


@pytest.mark.parametrize("title", PROGRAMS)
def test_no_text_holds_a_placeholder_or_a_number_whose_point_ends_the_sentence(title: str) -> None:
    script = json.dumps(perform_script(run(title).recording), ensure_ascii=False)

    assert re.findall(r"\{\w+\}", script) == []
    assert re.findall(r"`-?\d+\.`[.,:;]", script) == []


def test_what_is_saved_is_told_with_the_rules_that_read_it() -> None:
    product, total = tasks(script_of(LEAVES + "k = w * x\ny = k.sum()\ny.backward()"), "saved")

    assert product["right"] == (
        "It saves `w` and `x`. The backward rule for `w` gives `(gradient of k) × x`, and the one "
        "for `x` gives `(gradient of k) × w`."
    )
    assert total["right"].startswith("It saves nothing. The backward rule for `k` gives the grad")


def test_a_question_about_one_of_several_ways_speaks_of_that_way_alone() -> None:
    script = script_of(LEAVES + "y = w * x + w\ny.backward()")

    (task,) = [t for t in tasks(script, "value") if t["prompt"] == "What does `y` pass to `w`?"]

    assert "`w * x` is made from `w`, too" in task["hint"]
    assert "the local slope of `6. + w` with respect to `w`" in task["otherwise"]
    assert judge(task, "1").outcome == "right"
    for whole in ("3", "x + 1"):  # dy/dw, the sum over both ways
        verdict = judge(task, whole)
        assert verdict.outcome == "wrong"
        assert verdict.text.startswith("That is what arrives at `w` in all, on every way.")
    assert "What is d(6. + w)/dw" in task["smaller"]["prompt"]
    assert judge(task["smaller"], "1").outcome == "right"
    assert "Differentiate `6. + w`, with the rest held" in judge(task["smaller"], "3").text
