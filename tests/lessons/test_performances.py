"""Be the engine in a lesson: what came of it is kept, and can be asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.lessons import progress
from autodiff_kit.lessons.performances import perform, to_try_again
from autodiff_kit.view.perform import Walk
from tests.view.perform.bank import run
from tests.view.perform.players import LocalSlope, Player
from tests.view.perform.players import perform as play


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADK_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def result_of(lab: Any, player: Player) -> Any:
    walk = Walk(lab.script)
    play(walk, player)
    return walk.result()


def test_a_result_is_kept_beside_the_answers(file: Path) -> None:
    progress.keep("03.order", "b", True)
    lab = perform(run("the mock").recording, "03.engine", only="backward")

    lab.result = result_of(lab, Player("the mock"))

    performances, note = progress.read_performances()
    assert note == "" == lab.note
    assert performances["03.engine"].times == 1
    assert "value" in performances["03.engine"].mastered
    assert performances["03.engine"].again == []
    assert progress.read()[0]["03.order"].right
    assert to_try_again() == {}


def test_what_went_wrong_is_to_be_tried_again_until_it_is_right() -> None:
    lab = perform(run("the mock").recording, "03.engine", only="backward")
    lab.result = result_of(lab, LocalSlope("the mock"))

    again = to_try_again()

    assert list(again) == ["local_slope", "value"]
    assert again["local_slope"].startswith("A contribution is the local slope times")
    lab.result = {}  # performed again
    lab.result = result_of(lab, Player("the mock"))
    assert to_try_again() == {}
    assert progress.read_performances()[0]["03.engine"].times == 2


def test_an_entry_that_is_not_whole_is_left_out_and_the_rest_stays(file: Path) -> None:
    progress.keep_performance("01.a", {"mastered": ["value"], "misconceptions": [], "practise": []})
    data = json.loads(file.read_text())
    data["performances"]["02.b"] = {"times": "many"}
    file.write_text(json.dumps(data))

    performances, _ = progress.read_performances()

    assert list(performances) == ["01.a"]


def test_a_result_that_cannot_be_kept_is_told_in_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_file").write_text("")
    monkeypatch.setenv("ADK_PROGRESS", str(tmp_path / "a_file" / "progress.json"))
    lab = perform(run("the mock").recording, "03.engine", only="backward")

    lab.result = result_of(lab, Player("the mock"))

    assert lab.note.startswith("This result cannot be kept")


@pytest.mark.parametrize("damaged", [[], None, "", 3, [["01.a", 1]]], ids=repr)
def test_a_part_that_is_no_object_does_not_stop_a_result(file: Path, damaged: Any) -> None:
    progress.keep("03.order", "b", True)
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "performances": damaged}))

    is_stored = progress.keep_performance(
        "03.engine", {"mastered": ["value"], "misconceptions": [], "practise": []}
    )

    assert is_stored == (True, "")
    assert progress.read_performances()[0]["03.engine"].mastered == ["value"]
    assert progress.read()[0]["03.order"].right
