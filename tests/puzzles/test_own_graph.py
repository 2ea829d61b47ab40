"""The graph of a learner's own engine: what the Stepper shows of it is what that engine did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.engine_parts import engine_of, whole
from autodiff_kit.puzzles import show_graph
from autodiff_kit.puzzles.own_graph import recorded
from autodiff_kit.view import build, to_text

ENGINE = whole(engine_of(open_course().folder))
PROGRAM = """
x = Node(3.0, requires_grad=True)
w = Node(np.array([1.0, 2.0]), requires_grad=True)
y = x * w + x
z = y * 2.0
"""


@pytest.fixture
def names() -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(ENGINE + PROGRAM, space)
    return space


def data_of(events: list[Any], kind: str, key: str) -> list[Any]:
    return [event[key]["data"] for event in events if event["kind"] == kind]


def test_the_numbers_are_those_of_the_nodes_and_of_backward(names: dict[str, Any]) -> None:
    recording = recorded(names["z"], names, names["backward"])

    # z = 2 * (x * w + x): dz/dx = 2 * (w + 1), added up, and dz/dw = 2 * x.
    assert [node["name"] for node in recording.nodes] == ["x", "w", None, "y", None, "z"]
    assert [node["value"]["data"] for node in recording.nodes] == [
        *([3.0], [1.0, 2.0], [3.0, 6.0], [6.0, 9.0], [2.0], [12.0, 18.0]),
    ]
    assert data_of(recording.events, "accumulate", "grad") == [[10.0], [6.0, 6.0]]
    assert "x.grad is 10" in build(recording).state(-1)["caption"]


def test_a_node_is_told_as_the_program_says_it(names: dict[str, Any]) -> None:
    exec("t = relu(x * (w + x)) / 2.0 @ w", names)
    texts = [node["text"] for node in recorded(names["t"], names).nodes]

    assert texts[-1] == "(relu(x * (w + x)) / 2.0) @ w"


def test_a_wrong_backward_is_shown_as_it_is(names: dict[str, Any]) -> None:
    wrong = ENGINE.replace(
        "contribution if before is None else before + contribution", "contribution"
    )
    assert wrong != ENGINE
    exec(wrong + PROGRAM, names)

    recording = recorded(names["z"], names, names["backward"])

    assert data_of(recording.events, "accumulate", "grad")[0] != [10.0]
    assert to_text(build(recording))


def test_each_gradient_and_each_rule_is_afterwards_what_it_was(names: dict[str, Any]) -> None:
    names["backward"](names["z"])
    before = [names["x"].grad, names["w"].grad]

    recorded(names["z"], names, names["backward"])

    assert names["x"].grad is before[0] and names["w"].grad is before[1]
    assert "rule" not in vars(names["z"])
    names["backward"](names["z"])
    np.testing.assert_array_equal(names["w"].grad, [12.0, 12.0])


def test_without_a_backward_only_the_graph_is_shown(names: dict[str, Any]) -> None:
    def stub(root: object) -> None:
        raise NotImplementedError

    for backward in (None, stub):
        kinds = {event["kind"] for event in recorded(names["z"], names, backward).events}
        assert kinds == {"leaf", "op"}


def test_the_stepper_finds_the_backward_of_the_notebook(names: dict[str, Any]) -> None:
    names["show_graph"] = show_graph
    stepper = eval("show_graph(z)", names)

    assert any(frame["kind"] == "backward" for frame in stepper.picture.frames)


def test_what_is_no_node_is_told_so() -> None:
    with pytest.raises(TypeError, match=r"A graph is made of nodes, and this is 3\.0"):
        show_graph(3.0)  # type: ignore[arg-type]
