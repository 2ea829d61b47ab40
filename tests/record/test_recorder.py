"""The recorder: places, names, scopes, values, backward events, errors; nothing kept alive."""

from __future__ import annotations

import gc
import json
import weakref

import pytest

import autodiff_kit as torch
from autodiff_kit.record import Recording, RecordingError


def names(rec: Recording) -> list[str | None]:
    return [node["name"] for node in rec.nodes]


def kinds(rec: Recording) -> list[str]:
    return [event["kind"] for event in rec.events]


def lit(rec: Recording, node: dict) -> str:
    """Return the characters of the source that belong to a node."""
    source, line, column, end_line, end_column = node["where"]
    lines = rec.sources[source]["text"].splitlines()
    assert line == end_line
    return lines[line - 1][column:end_column]


def test_each_op_is_found_at_its_exact_sub_expression() -> None:
    x = torch.tensor(2.0, requires_grad=True)

    with torch.record() as rec:
        y = 2 * x + 3
        π = (y * x).tanh()

    assert [lit(rec, node) for node in rec.nodes[1:]] == [
        "2 * x",
        "2 * x + 3",
        "y * x",
        "(y * x).tanh()",
    ]
    assert names(rec) == ["x", None, "y", None, "π"]
    del π


def test_columns_count_characters_not_bytes() -> None:
    λ = torch.tensor(2.0, requires_grad=True)

    with torch.record() as rec:
        y = λ * λ + λ

    assert lit(rec, rec.nodes[1]) == "λ * λ"
    del y


def test_a_name_bound_in_a_loop_is_numbered() -> None:
    w = torch.tensor(0.5, requires_grad=True)

    with torch.record() as rec:
        h = w
        for _ in range(3):
            h = h * w

    assert names(rec) == ["w", "h1", "h2", "h3"]


def test_what_a_call_returns_is_named_by_its_variable() -> None:
    def square(a):
        return a * a

    x = torch.tensor(3.0, requires_grad=True)

    with torch.record() as rec:
        z = square(x)

    assert names(rec) == ["x", "z"]
    del z


def test_loops_and_calls_make_a_tree_of_scopes() -> None:
    def double(a):
        return a * 2

    x = torch.tensor(1.0, requires_grad=True)

    with torch.record() as rec:
        for _i in range(2):
            for _j in range(2):
                x = double(x)
        y = x + 1

    def path(node):
        words, scope = [], rec.scopes[node["scope"]]
        while scope["kind"] != "root":
            if scope["kind"] != "loop":
                words.append(f"{scope['index']}" if scope["kind"] == "iteration" else scope["name"])
            scope = rec.scopes[scope["parent"]]
        return "/".join(reversed(words))

    ops = [node for node in rec.nodes if node["kind"] == "op"]
    assert [path(node) for node in ops] == [
        "0/0/double",
        "0/1/double",
        "1/0/double",
        "1/1/double",
        "",
    ]
    del y


def test_a_while_loop_counts_its_rounds() -> None:
    x = torch.tensor(1.0, requires_grad=True)

    with torch.record() as rec:
        while x < 8:
            x = x * 2

    rounds = [scope["index"] for scope in rec.scopes if scope["kind"] == "iteration"]
    assert rounds[:3] == [0, 1, 2]
    assert kinds(rec).count("branch") == 4  # 1, 2, 4 go on; 8 ends it


def test_saved_values_name_the_rules_that_read_them() -> None:
    x = torch.tensor(3.0, requires_grad=True)

    with torch.record() as rec:
        y = x * 2.0
        z = y.exp()

    by_two, exp = rec.nodes[1:]
    assert by_two["saved"] == [{"name": "y", "for": ["x"], "bytes": 8}]  # the number 2
    assert exp["saved"] == [{"name": "out", "for": ["x"], "bytes": 4}]
    del z


def test_values_are_copied_at_once() -> None:
    x = torch.tensor([1.0, 2.0])

    with torch.record() as rec:
        y = x * 3
        y.zero_()

    assert rec.nodes[1]["value"]["data"] == [3.0, 6.0]


def test_not_a_number_and_infinity_survive_json() -> None:
    with torch.record() as rec:
        torch.tensor([float("nan"), float("inf"), 0.1])

    assert json.loads(json.dumps(rec.to_dict(), allow_nan=False))["nodes"][0]["value"]["data"] == [
        "nan",
        "inf",
        0.1,
    ]


def test_large_values_are_kept_as_statistics() -> None:
    with torch.record() as rec:
        torch.arange(100).float() * 1

    value = rec.nodes[-1]["value"]
    assert value["stats"]["max"] == 99.0
    assert value["stats"]["mean"] == 49.5  # (0 + 99) / 2
    assert value["data"] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_backward_is_told_down_to_single_contributions() -> None:
    with torch.record() as rec:
        x = torch.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()

    assert kinds(rec) == [
        "leaf",
        "op",
        "backward",
        "visit",
        "contribution",
        "contribution",
        "release",
        "visit",
        "accumulate",
        "finish",
    ]
    first, second = (event for event in rec.events if event["kind"] == "contribution")
    assert (first["arg"], first["after"]["data"], first["total"]) == ("x", [3.0], None)
    assert (second["arg"], second["after"]["data"]) == ("y", [3.0])
    assert second["total"]["data"] == [6.0]  # 3 + 3


def test_undone_broadcasting_is_told_with_both_shapes() -> None:
    b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = torch.ones(2, 3)

    with torch.record() as rec:
        (x + b).sum().backward()

    (to_b,) = [e for e in rec.events if e["kind"] == "contribution" and e["arg"] == "y"]
    assert to_b["before"]["shape"] == [2, 3]
    assert to_b["after"] == {"shape": [3], "dtype": "float32", "data": [2.0, 2.0, 2.0]}


def test_a_second_backward_tells_what_grad_was_before() -> None:
    x = torch.tensor(3.0, requires_grad=True)

    with torch.record() as rec:
        for _ in range(2):
            (x * 2).backward()

    first, second = (event for event in rec.events if event["kind"] == "accumulate")
    assert first["before"] is None
    assert second["before"]["data"] == [2.0]
    assert second["grad"]["data"] == [4.0]


def test_the_graph_of_the_gradient_is_recorded_too() -> None:
    x = torch.tensor(3.0, requires_grad=True)

    with torch.record() as rec:
        (g,) = torch.autograd.grad(x * x * x, x, create_graph=True)
        g.backward()

    assert x.grad is not None
    assert x.grad.item() == 18.0  # the second derivative of x ** 3 is 6 x
    assert kinds(rec).count("backward") == 2


def test_an_error_ends_the_recording_at_its_place_and_goes_on() -> None:
    x = torch.tensor(3.0, requires_grad=True)

    with pytest.raises(ZeroDivisionError), torch.record() as rec:
        y = x * 2
        1 / 0  # noqa: B018

    assert kinds(rec) == ["leaf", "op", "error"]
    assert rec.error["type"] == "ZeroDivisionError"
    line = rec.sources[rec.error["where"][0]]["text"].splitlines()[rec.error["where"][1] - 1]
    assert "1 / 0" in line
    del y


def test_an_interrupted_endless_loop_keeps_what_was_recorded() -> None:
    x = torch.tensor(1.0, requires_grad=True)

    with pytest.raises(KeyboardInterrupt), torch.record() as rec:
        for i in range(10**9):
            x = x * 1.0
            if i == 5:
                raise KeyboardInterrupt

    assert len(rec.nodes) == 7
    assert rec.error["type"] == "KeyboardInterrupt"


def test_a_recording_stops_at_its_limit_and_says_so() -> None:
    x = torch.tensor(1.0, requires_grad=True)

    with torch.record(limit=10) as rec:
        for _ in range(100):
            x = x * 1.0

    assert len(rec.events) == 10
    assert "stopped after 10 events" in rec.note
    assert x.item() == 1.0


def test_nested_recordings_both_record() -> None:
    with torch.record() as outer:
        x = torch.tensor(1.0, requires_grad=True)
        with torch.record() as inner:
            y = x * 2
        z = y * 3

    assert len(inner.nodes) == 2
    assert len(outer.nodes) == 3
    del z


def test_a_recording_holds_no_tensor_and_no_graph_alive() -> None:
    def run():
        with torch.record() as rec:
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            y = (x * x).sum()
        return rec, [weakref.ref(x), weakref.ref(y)]

    gc.disable()
    try:
        rec, watched = run()

        assert [ref() for ref in watched] == [None, None]
        assert len(rec.nodes) == 3
    finally:
        gc.enable()


def test_tensors_that_took_a_dead_ones_address_are_told_apart() -> None:
    x = torch.tensor(1.0)

    with torch.record() as rec:
        for _ in range(500):
            x + 1.0

    for node in rec.nodes[1:]:
        assert node["inputs"][0] == {"arg": "x", "node": 0}


def test_two_runs_give_the_same_recording() -> None:
    def run():
        with torch.record() as rec:
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            (x * x).sum().backward()
        return json.dumps(rec.to_dict())

    assert run() == run()


def test_saved_and_loaded_recordings_are_equal(tmp_path) -> None:
    with torch.record() as rec:
        (torch.tensor(2.0, requires_grad=True) * 3).backward()

    rec.save(tmp_path / "run.json")

    assert Recording.load(tmp_path / "run.json").to_dict() == rec.to_dict()
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"format": "autodiff_kit recor', "cut short"),
        ('{"format": "autodiff_kit recording", "version": 2}', "Upgrade autodiff_kit"),
        ('{"format": "autodiff_kit recording", "version": 1}', "its part 'sources' is missing"),
        ("[1, 2]", "is not a recording"),
    ],
)
def test_a_file_that_is_no_whole_recording_is_refused_and_left_alone(tmp_path, text, words) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)

    with pytest.raises(RecordingError, match=words) as refused:
        Recording.load(path)

    assert "run.json" in str(refused.value)
    assert path.read_text() == text
