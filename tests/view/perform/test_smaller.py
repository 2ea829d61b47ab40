"""After two wrong answers a smaller question is offered, whatever was asked."""

from __future__ import annotations

from typing import Any

import pytest

from autodiff_kit.view.perform import Walk, judge, perform_script
from tests.view.perform.bank import PROGRAMS, run
from tests.view.perform.programs import LEAVES, script_of, tasks

WRONG = {"choice": "none of these", "several": ["none"], "node": "none", "nodes": ["none"]}


def right_answer(task: Any) -> Any:
    """Return what a script takes for right."""
    answer = task["answers"][0]
    if "at" in answer:
        numbers = answer["at"][0]
        assert not numbers["shape"]
        return str(numbers["data"][0])
    return answer.get("one") or answer["all"]


@pytest.mark.parametrize("title", PROGRAMS)
def test_two_wrong_answers_to_any_question_lead_to_a_smaller_one_and_back(title: str) -> None:
    walk = Walk(perform_script(run(title).recording))
    while walk.task is not None:
        task = walk.task
        wrong: Any = WRONG.get(task["kind"], "987654")
        if task["about"] == "next":
            assert walk.plan
            rights = [answer["one"] for answer in task["answers"]]
            boxes = [*walk.plan["closed"], *walk.plan["nodes"]]
            wrong = next(box for box in boxes if box not in rights)
        assert walk.answer(wrong).outcome == "wrong"
        assert not walk.offers_smaller
        walk.answer(wrong)
        assert walk.offers_smaller, task["prompt"]

        walk.ask_smaller()
        smaller = walk.task
        assert smaller is not task
        assert smaller["prompt"] != task["prompt"]
        assert walk.answer("none of these").outcome != "right"
        verdict = walk.answer(right_answer(smaller))
        assert verdict.outcome == "right"
        assert verdict.text, smaller["prompt"]
        assert walk.task is task
        walk.show()


# Worked out by hand: what is asked about, how the smaller question begins, and its answer.
SQUARE = "y = w * w\nz = y * 2 + x\nz.backward()"
TWICE = "y = w * x\ny.backward(retain_graph=True)\ny.backward()"
RELU = "y = (w * x).relu()\ny.sum().backward()"


@pytest.mark.parametrize(
    ("source", "about", "number", "beginning", "answer"),
    [
        (SQUARE, "recorded", 0, "Is `requires_grad` set for `w`?", "yes"),
        (SQUARE, "edges", 0, "At how many places does `w * w` read a tensor?", "2"),
        (SQUARE, "inputs", -1, "How many different tensors does `y * 2 + x` read?", "2"),
        (SQUARE, "saved", 0, "The backward rule for `w` gives `(gradient of y) × w`.", "yes"),
        (SQUARE, "saved", 1, "The backward rule for `y` gives `(gradient of y * 2) × 2`.", "no"),
        (RELU, "saved", -1, "The backward rule for `y` gives the gradient of y.sum()", "no"),
        (SQUARE, "begin", 0, "Which tensor is differentiated by the line", "z"),
        (SQUARE, "seed", 0, "What is the derivative of f(t) = t", "1"),
        (SQUARE, "count", 0, "At how many places does `w * w` read a tensor?", "2"),
        (SQUARE, "leaf", 0, "How many contributions has `w` got?", "2"),
        (SQUARE, "leaf", 1, "How many contributions has `x` got?", "1"),
        (SQUARE, "freed", 0, "Does the call say `retain_graph=True`", "no"),
        (TWICE, "grad", 0, "What does a backward pass do with a number", "adds"),
        (TWICE, "leaf", 0, "What does a backward pass do with a number", "adds"),
        ("y = w * 2\ny.backward()", "leaf", 1, "Does `x` require a gradient, and does", "no"),
        ("y = w * x\ny.backward()\nw.grad = None", "leaf", 0, "Has a backward pass added to", "no"),
        ("y = w\nif y > 1:\n    y = y * 3\nelse:\n    y = y * x\ny.backward()",
         "branch", 0, "What is `y > 1` here?", "True"),
    ],
)  # fmt: skip
def test_the_answer_to_a_smaller_question(
    source: str, about: str, number: int, beginning: str, answer: str
) -> None:
    task = tasks(script_of(LEAVES + source), about)[number]

    assert task["smaller"]["prompt"].startswith(beginning)
    assert judge(task["smaller"], answer).outcome == "right"


def test_a_derivative_by_an_expression_has_parentheses() -> None:
    (task,) = (
        task
        for task in tasks(script_of(LEAVES + "y = w * x + w\ny.backward()"), "value")
        if task["prompt"] == "What does `y` pass to `w * x`?"
    )

    assert "What is dy/d(w * x), the change" in task["smaller"]["prompt"]
