"""The two judges of a performance, in Python and in the browser, beside each other under Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.view.perform import Walk, judge, perform_script
from autodiff_kit.view.perform.context import bare_task
from tests.grading.performers import right_answer
from tests.view.perform.bank import PROGRAMS, run
from tests.view.perform.players import MUTANTS, Player, perform
from tests.view.perform.programs import recording_of

NODE = shutil.which("node")
HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node 20 or newer")


def in_node(stdin: dict[str, Any]) -> Any:
    assert NODE
    process = subprocess.run(
        [NODE, "perform.mjs"],
        input=json.dumps(stdin),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=HERE,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def number(*data: float, shape: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"shape": list(shape), "data": list(data)}


def value_task(answers: list[Any], **more: Any) -> Any:
    return bare_task("1", "backward", "value", "value", "?", [{"at": answers}], **more)


W = [number(1, 2, 3, 4, shape=(2, 2))]
NAMES = {
    "x": [number(2), number(2.5), number(2)],
    "g": [number(3), number(3), number(5)],
    "W": W * 3,
    "v": [number(1, -1, shape=(2,))] * 3,
}
VARIED = [[], ["x"], ["g"]]


# A task: what it asks for, and answers to it with their outcomes, worked out by hand.
CASES: list[tuple[Any, dict[str, str]]] = [
    (
        value_task([number(6), number(7.5), number(10)], names=NAMES, varied=VARIED),
        {
            **dict.fromkeys(
                (
                    "6",
                    "6.",
                    "6.0",
                    "+6",
                    "12/2",
                    "2*3",
                    "6e0",
                    " 6 ",
                    "`6`",
                    "tensor(6.)",
                    "0.6e1",
                    "torch.tensor(6.0)",
                    "(6)",
                    "2 * 3 + 0",
                    "7 - 1",
                    "--6",
                    "2 ** 3 - 2",
                    "36 ** 0.5",
                    "g * x",
                    "x*g",
                    "3 * x",
                    "g * 2",
                    "g * x / 1",
                    "-(-x) * g",
                    "6.001",
                    "sqrt(36)",
                    "x.sqrt() ** 2 * 3",
                    "abs(-6)",
                    "(1 + 1) * 3",
                    "6 × 1",
                    "\u2212(\u22126)",
                ),
                "right",
            ),
            **dict.fromkeys(
                (
                    "7",
                    "-6",
                    "x",
                    "g",
                    "x + 4",
                    "g + 3",
                    "[6]",
                    "[[6]]",
                    "6.1",
                    "x ** 2 + 2",
                    "1/0",
                    "None",
                    "W",
                    "v",
                    "6.02",
                ),
                "wrong",
            ),
            **dict.fromkeys(
                (
                    "",
                    "  ",
                    "2x",
                    "x^2",
                    "(6",
                    "6)",
                    "y",
                    "import os",
                    "6 6",
                    "x.y",
                    "x(2)",
                    "a" * 201,
                    "[[1, 2], [3]]",
                    "W + [1, 2, 3]",
                    "__import__('os')",
                    "lambda: 6",
                    "2(3)",
                    "x.foo()",
                ),
                "unclear",
            ),
        },
    ),
    (
        value_task([number(0.66667)]),
        {"0.67": "right", "2/3": "right", "0.667": "right", "0.7": "wrong", "0.68": "wrong"},
    ),
    (
        value_task([number(3, 7, shape=(2,))], names=NAMES, varied=VARIED),
        {
            **dict.fromkeys(
                (
                    "[3, 7]",
                    "[3., 7.]",
                    "[3,7]",
                    "(3, 7)",
                    "tensor([3., 7.])",
                    "W.sum(1)",
                    "[3, 7,]",
                    "W @ [1, 1]",
                    "W.sum(-1)",
                    "[1, 3] + [2, 4]",
                ),
                "right",
            ),
            **dict.fromkeys(
                ("3", "[[3, 7]]", "[[3], [7]]", "[7, 3]", "W.sum(0)", "W @ v", "W.T @ [1, 1]"),
                "wrong",
            ),
            **dict.fromkeys(("[3 7]", "W @ [1, 2, 3]", "[3, 7", "W.sum(5)"), "unclear"),
        },
    ),
    (
        value_task([number(1, 3, 2, 4, shape=(2, 2))], names=NAMES, varied=VARIED),
        {
            "W.T": "right",
            "W.t()": "right",
            "[[1, 3], [2, 4]]": "right",
            "W": "wrong",
            "W.T.T": "wrong",
            "(W @ [[1, 0], [0, 1]]).T": "right",
        },
    ),
    (
        bare_task("2", "state", "leaf", "value", "?", [{"none": True}]),
        {"None": "right", "`None`": "right", "0": "wrong", "0.": "wrong", "none": "right"},
    ),
]


def test_both_judges_decide_alike_on_one_table_of_cases() -> None:
    cases = [{"task": task, "answer": answer} for task, answers in CASES for answer in answers]
    expected = [outcome for _, answers in CASES for outcome in answers.values()]

    in_python = [judge(case["task"], case["answer"]) for case in cases]
    judged = in_node({"cases": cases, "performances": []})["judged"]

    answers = [case["answer"] for case in cases]
    assert dict(zip(answers, (v.outcome for v in in_python), strict=False)) == dict(
        zip(answers, expected, strict=False)
    )
    assert [v.outcome for v in in_python] == expected
    assert [(v["outcome"], v["misconceptions"]) for v in judged] == [
        (v.outcome, [*v.misconceptions]) for v in in_python
    ]
    for own, other in zip(judged, in_python, strict=True):
        assert own["text"] == other.text or other.outcome == "unclear"


def test_a_performance_goes_the_same_way_in_the_browser() -> None:
    performances, expected = [], []
    for title in PROGRAMS:
        for player in (Player(title, seed=1), *(mutant(title, seed=2) for mutant in MUTANTS)):
            if player.misconception and (len(title) + len(player.misconception)) % 4:
                continue  # a part of them is enough here
            script = perform_script(run(title).recording)
            walk, log = Walk(script), []
            perform(walk, player, log)
            performances.append({"script": script, "answers": [answer for answer, *_ in log]})
            expected.append((log, walk))

    performed = in_node({"cases": [], "performances": performances})["performed"]

    for own, (log, walk) in zip(performed, expected, strict=True):
        assert own["isAtEnd"]
        assert own["order"] == walk.order
        assert own["result"] == walk.result()
        assert [entry[1:] for entry in own["log"]] == [entry[1:] for entry in log]


def test_the_browser_performs_the_other_lines_by_itself_as_python_does() -> None:
    source = "w = torch.tensor(1.5, requires_grad=True)\nh = w * 1.0\nfor _ in range(30):\n"
    source += "    h = h * w\n    h = h + 0.5\na = h * w\nb = a + w\nloss = b * a\nloss.backward()"
    script = perform_script(recording_of(source), lines=(6, 8))
    walk, answers = Walk(script), []
    while walk.task is not None:
        answers.append(right_answer(walk.task))
        walk.answer(answers[-1])

    (performed,) = in_node({"cases": [], "performances": [{"script": script, "answers": answers}]})[
        "performed"
    ]

    assert {outcome for _, outcome, *_ in performed["log"]} == {"right"}
    assert performed["isAtEnd"]
    assert performed["order"] == walk.order
