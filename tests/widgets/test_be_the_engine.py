"""Be the engine: what it takes, what it refuses, and what stands for it where no widget runs."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest
import traitlets

import autodiff_kit as ak
from autodiff_kit.view.perform import PerformError
from autodiff_kit.widgets import BeTheEngine
from tests.view.perform.bank import run


def test_all_that_the_browser_needs_is_sent_once() -> None:
    lab = BeTheEngine(run("the mock").recording)

    payload = json.loads(zlib.decompress(lab.payload))

    assert payload["script"] == json.loads(json.dumps(lab.script))
    assert payload["script"]["parts"] == ["build", "backward", "state"]
    assert payload["frames"] and payload["svg"]


def test_a_part_can_be_asked_for_alone() -> None:
    lab = BeTheEngine(run("the mock").recording, only="backward")

    assert {task["part"] for task in lab.script["tasks"].values()} == {"backward"}
    assert repr(lab).startswith("BeTheEngine(backward: w, x, a = w * x, b = a + w")


def test_what_runs_in_code_that_cannot_be_read_is_refused_and_says_where_it_runs() -> None:
    with ak.record() as rec:
        exec("x = ak.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()", {"ak": ak})

    with pytest.raises(PerformError, match="it runs inside of `exec`, and no line"):
        BeTheEngine(rec)


def test_a_performance_of_very_many_questions_says_so_and_how_to_ask_for_less() -> None:
    with ak.record() as rec:
        x = h = ak.tensor(1.5, requires_grad=True)
        for _ in range(12):
            h = (h * x).tanh()
        h.backward()

    everything, part = BeTheEngine(rec), BeTheEngine(rec, only="state")

    assert re.match(r"There are up to \d{3} questions", everything.note)
    assert "%%engine --backward" in everything.note
    assert (part.note, BeTheEngine(run("the mock").recording).note) == ("", "")
    assert BeTheEngine(rec, log=[["show"]]).note == ""  # it is under way


def test_the_repr_and_the_still_are_the_same_each_time_and_hold_no_gradient() -> None:
    recording = run("the mock").recording
    one, other = BeTheEngine(recording), BeTheEngine(recording)

    assert repr(one) == repr(other)
    assert one.still() == other.still()
    assert one.still().startswith("<svg")
    assert "adk-passed" not in one.still().partition("</style>")[2]  # the answers


def test_what_is_no_recording_is_refused_with_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"this is an int.*\n.*ak\.record\(\) as rec"):
        BeTheEngine(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("only", ["forward", [], ["build", "back"]])
def test_an_unknown_part_is_refused_with_those_there_are(only: object) -> None:
    with pytest.raises(ValueError, match="'build', 'backward', 'state'"):
        BeTheEngine(run("the mock").recording, only=only)  # type: ignore[arg-type]


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(traitlets.TraitError):
        BeTheEngine(run("the mock").recording, level="hard")


def test_a_recording_that_is_too_large_says_how_many_nodes_there_may_be() -> None:
    with ak.record() as rec:
        h = x = ak.tensor(1.0, requires_grad=True)
        for _ in range(80):
            h = h * x

    with pytest.raises(PerformError, match=r"81 nodes, and a performance has at most 60"):
        BeTheEngine(rec)


def test_a_recording_without_an_operation_is_refused() -> None:
    with ak.record() as rec:
        ak.tensor(1.0, requires_grad=True)

    with pytest.raises(PerformError, match="nothing to perform"):
        BeTheEngine(rec)


def test_a_recording_without_a_backward_pass_has_none_to_perform() -> None:
    with ak.record() as rec:
        x = ak.tensor(1.0, requires_grad=True)
        x * x

    assert BeTheEngine(rec).script["parts"] == ["build"]
    with pytest.raises(PerformError, match=r"loss\.backward\(\) stands inside"):
        BeTheEngine(rec, only="backward")


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
@pytest.mark.parametrize(
    "code",
    ["a, b = x.split(1)\n(a * b).sum().backward()", "(x * x).sum().backward(create_graph=True)"],
)
def test_what_cannot_be_performed_says_why(code: str) -> None:
    with ak.record() as rec:
        exec(code, {"x": ak.tensor([1.0, 2.0], requires_grad=True)})

    with pytest.raises(PerformError, match="cannot be performed"):
        BeTheEngine(rec)


def test_programs_of_pytorch_can_be_performed() -> None:
    torch = pytest.importorskip("torch")
    with ak.record(torch) as rec:
        w = torch.tensor(3.0, requires_grad=True)
        x = torch.tensor(2.0, requires_grad=True)
        loss = (w * x + w) * x
        loss.backward()

    tasks = BeTheEngine(rec, only=["backward", "state"]).script["tasks"].values()

    values = [task["answers"][0]["at"][0]["data"] for task in tasks if task["about"] == "leaf"]
    assert values == [[w.grad.item()], [x.grad.item()]]


def test_a_page_holds_the_lab_and_asks_nothing_of_the_network(tmp_path: Path) -> None:
    page = BeTheEngine(run("the mock").recording, level="free").to_html(tmp_path / "lab.html")

    text = page.read_text("utf-8")
    assert 'data-level="free"' in text
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=", text.partition("<script type=")[0])
