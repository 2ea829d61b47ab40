"""Two questions from earlier lessons: which, for whom, and what of it is kept."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.lessons import predict, progress, recall
from autodiff_kit.lessons.bank import QUESTIONS
from autodiff_kit.lessons.recalling import REPEATED, choose
from autodiff_kit.view.perform.script import CONCEPTS, MISCONCEPTIONS


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADK_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def test_what_was_wrong_comes_back_until_it_is_recalled() -> None:
    progress.keep("01.leaf", "No", False)
    progress.keep("02.when", "while Python runs this line", True)
    progress.keep("05.jump", "3", False)

    assert choose("07") == ["01.leaf", "05.jump"]
    assert choose("05")[1:] != ["05.jump"]  # only from earlier ones

    (leaf,) = (card for card in recall("07") if card.question.key == "01.leaf")
    assert leaf.answer(str(QUESTIONS["01.leaf"].answer)) == "right"
    assert "01.leaf" not in choose("07")
    assert "05.jump" in choose("07")
    assert progress.read()[0]["01.leaf"].first == "No"  # the first prediction stays


def test_a_mistake_in_a_performance_brings_its_question() -> None:
    result = {"mastered": [], "misconceptions": ["overwrites"], "practise": ["freed"]}
    progress.keep_performance("03.engine", result)

    assert choose("05")[-1:] == ["03.adds"]
    assert choose("14") == ["03.adds", "13.twice"]


def test_a_mistake_made_since_opens_a_question_that_was_recalled() -> None:
    progress.keep("03.adds", "6", True)
    progress.keep_recalled("03.adds", True)
    for key in [*REPEATED][:2]:
        progress.keep_recalled(key, True)
        progress.keep_recalled(key, True)
    assert "03.adds" not in choose("04")

    result = {"mastered": [], "misconceptions": ["overwrites"], "practise": []}
    progress.keep_performance("03.engine", result)
    assert "03.adds" in choose("04")

    progress.keep_recalled("03.adds", True)
    assert "03.adds" not in choose("04")

    progress.keep_performance("03.engine", result)
    progress.keep_performance(
        "03.engine", {"mastered": ["sum"], "misconceptions": [], "practise": []}
    )
    assert "03.adds" not in choose("04")  # performed without it since


def test_what_is_recalled_wrongly_comes_back() -> None:
    progress.keep("05.jump", "2", True)
    progress.keep_recalled("05.jump", True)
    assert "05.jump" not in choose("14")

    progress.keep_recalled("05.jump", False)
    assert "05.jump" in choose("14")


def test_the_card_asks_to_recall_and_not_to_predict() -> None:
    (card,) = recall("01")
    assert card.form["words"] == {"heading": "Recall", "check": "Check my answer"}

    assert predict("00.slope").form["words"]["check"] == "Check my prediction"


def test_of_what_was_right_the_oldest_and_least_recalled_come_first() -> None:
    assert choose("00") == []
    assert choose("01") == ["00.slope"]
    assert choose("06") == [*REPEATED][:2]

    for key in choose("06"):
        progress.keep_recalled(key, True)

    assert choose("06") == [*REPEATED][2:4]


def test_whoever_looks_has_not_recalled_it() -> None:
    progress.keep("01.leaf", "No", False)
    (leaf,) = (card for card in recall("02") if card.question.key == "01.leaf")
    leaf.answer(QUESTIONS["01.leaf"].choices[1])
    leaf.look()

    assert "01.leaf" in choose("07")
    assert "first prediction" not in leaf.state["note"]


def test_every_mistake_and_task_of_a_performance_has_at_most_one_question() -> None:
    names = [name for mistakes in REPEATED.values() for name in mistakes]

    assert len(names) == len(set(names))
    assert set(names) <= {*CONCEPTS, *MISCONCEPTIONS}
    assert set(REPEATED) <= set(QUESTIONS)
    assert [*REPEATED] == [key for key in QUESTIONS if key in REPEATED]


def test_stored_pages_show_no_question_for_it_depends_on_the_learner() -> None:
    (card,) = recall("01")

    assert "y = x * x" in card.body
    assert "From lesson 00" in card.body
    assert "y" not in re.sub("<.*?>", "", card.still()).split()
    assert "x * x" not in repr(card)


def test_a_file_of_an_earlier_kit_is_read(file: Path) -> None:
    entries: dict[str, Any] = {"recalled": {"03.adds": {"times": 1, "right": True}}, "version": 1}
    engine = {"times": 1, "mastered": [], "again": ["overwrites", "counts_once"]}
    file.write_text(json.dumps({**entries, "performances": {"03.engine": engine}}))

    assert choose("04") == ["00.slope", "01.twice"]

    progress.keep_performance(
        "03.engine", {"misconceptions": ["overwrites"], "mastered": [], "practise": []}
    )
    assert choose("04") == ["00.slope", "03.adds"]


@pytest.mark.parametrize("damage", ["[1]", '{"version": 1, "recalled": [3]}'])
def test_a_damaged_file_begins_anew(damage: str, file: Path) -> None:
    file.write_text(damage)

    assert choose("06") == [*REPEATED][:2]
    assert progress.keep_recalled("01.leaf", True)[0]
    assert json.loads(file.read_text())["recalled"] == {
        "01.leaf": {"times": 1, "right": True, "at": 1}
    }
