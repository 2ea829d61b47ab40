"""Progress: first answers stay, nothing is lost, and no question fails because of its file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff_kit.lessons import progress, renamed
from autodiff_kit.lessons.bank import QUESTIONS
from autodiff_kit.lessons.predict import predict
from autodiff_kit.lessons.progress import Answer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the answers of this test are kept; the file is not there yet."""
    file = tmp_path / "mine" / "progress.json"
    monkeypatch.setenv("ADK_PROGRESS", str(file))
    return file


def test_the_file_lies_beside_the_notebook_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADK_PROGRESS", raising=False)
    monkeypatch.chdir(tmp_path)

    assert progress.path() == tmp_path / ".autodiff-kit-progress.json"


def test_without_a_file_there_are_no_answers_and_none_is_made(file: Path) -> None:
    assert progress.read() == ({}, "")
    assert not file.parent.exists()


def test_an_answer_that_was_kept_is_read_again(file: Path) -> None:
    is_stored, note = progress.keep("03.adds", "4", False)

    assert (is_stored, note) == (True, "")
    assert progress.read() == ({"03.adds": Answer("4", right=False)}, "")


def test_the_first_answer_never_changes(file: Path) -> None:
    progress.keep("03.adds", "4", False)
    progress.keep("03.adds", "5", True)

    answers, _ = progress.read()
    assert answers["03.adds"] == Answer("4", right=False, tries=2, solved=True)


def test_looking_is_no_try_and_solves_nothing(file: Path) -> None:
    progress.keep("03.adds", "4", False)
    progress.keep("03.adds", "", False, looked=True)

    answers, _ = progress.read()
    assert answers["03.adds"] == Answer("4", right=False, looked=True)


def test_a_question_once_solved_stays_solved(file: Path) -> None:
    progress.keep("03.adds", "5", True)
    progress.keep("03.adds", "4", False)

    answers, _ = progress.read()
    assert answers["03.adds"] == Answer("5", right=True, tries=2, solved=True)


def test_any_text_can_be_an_answer(file: Path) -> None:
    text = 'λ "quoted"\n\\ \ud800'

    is_stored, _ = progress.keep("own.text", text, False)

    assert is_stored
    assert progress.read()[0]["own.text"].first.startswith('λ "quoted"\n\\ ')


def test_the_file_can_be_read_by_people(file: Path) -> None:
    progress.keep("03.adds", "4", False)

    text = file.read_text(encoding="utf-8")
    assert '"about": "Your answers in the lessons of autodiff_kit."' in text
    assert text.endswith("}\n")
    assert "answers" in json.loads(text)


def test_what_was_added_to_the_file_by_hand_stays(file: Path) -> None:
    progress.keep("03.adds", "4", False)
    data = json.loads(file.read_text())
    data["my notes"] = "contributions add up"
    data["answers"]["03.adds"]["thought"] = "forgot + w"
    file.write_text(json.dumps(data))

    progress.keep("03.adds", "5", True)

    data = json.loads(file.read_text())
    assert data["my notes"] == "contributions add up"
    assert data["answers"]["03.adds"]["thought"] == "forgot + w"


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"\xff\xfe\x00",
    b'{"version": "one"}',
    b'{"version": 1, "answers": 3}',
    b'{"version": 1, "answers": {"03.adds": {"first": "4"}}}',
    b'{"version": 1, "answers": {"03.adds": "4"}}',
    b'{"version": 1, "answers": {"a": {"first": 4, "right": 1, "tries": "", "solved": 0}}}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("damage", DAMAGED, ids=lambda damage: repr(damage[:24]))
def test_a_damaged_file_is_set_aside_whole_and_the_learner_is_told(
    file: Path, damage: bytes
) -> None:
    file.parent.mkdir()
    file.write_bytes(damage)

    before, warning = progress.read()
    untouched = file.read_bytes()
    is_stored, note = progress.keep("03.adds", "4", False)

    assert before == {}
    assert "damaged" in warning
    assert str(file) in warning
    assert untouched == damage
    assert is_stored
    assert "It was set aside as progress.damaged-1.json" in note
    assert (file.parent / "progress.damaged-1.json").read_bytes() == damage
    assert progress.read() == ({"03.adds": Answer("4", right=False)}, "")


def test_a_second_damaged_file_does_not_replace_the_first_one(file: Path) -> None:
    for damage in (b"first", b"second"):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(damage)
        progress.keep("03.adds", "4", False)

    assert (file.parent / "progress.damaged-1.json").read_bytes() == b"first"
    assert (file.parent / "progress.damaged-2.json").read_bytes() == b"second"


def test_a_file_of_a_newer_kit_is_left_as_it_is(file: Path) -> None:
    file.parent.mkdir()
    newer = b'{"version": 3, "answers": {"03.adds": "something new"}}'
    file.write_bytes(newer)

    answers, warning = progress.read()
    is_stored, note = progress.keep("03.adds", "4", False)

    assert answers == {}
    assert "newer autodiff_kit" in warning
    assert not is_stored
    assert "This answer was not kept, so that nothing in it is lost." in note
    assert file.read_bytes() == newer


def test_an_interrupted_write_leaves_the_earlier_answers(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress.keep("03.adds", "4", False)

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        progress.keep("03.again", "6", True)

    assert list(progress.read()[0]) == ["03.adds"]
    assert sorted(p.name for p in file.parent.iterdir()) == ["progress.json", "progress.lock"]


def test_a_full_disk_is_told_in_words_and_the_earlier_answers_stay(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress.keep("03.adds", "4", False)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    is_stored, note = progress.keep("03.again", "6", True)

    assert not is_stored
    assert "This answer cannot be kept" in note
    assert "No space left on device" in note
    assert list(progress.read()[0]) == ["03.adds"]


def test_a_folder_in_the_place_of_the_file_is_told_in_words(file: Path) -> None:
    file.mkdir(parents=True)

    answers, warning = progress.read()
    is_stored, note = progress.keep("03.adds", "4", False)

    assert answers == {}
    assert "could not be read" in warning
    assert not is_stored
    assert "cannot be kept" in note


def test_in_a_read_only_folder_the_learner_is_told_where_to_go(
    read_only_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADK_PROGRESS", str(read_only_place / "progress.json"))

    is_stored, note = progress.keep("03.adds", "4", False)

    assert not is_stored
    assert "This answer cannot be kept" in note
    assert "Permission denied" in note
    assert "autodiff-kit lab FOLDER" in note
    assert progress.read() == ({}, "")


KEEP_MANY = """
import sys
from autodiff_kit.lessons import progress, renamed
from autodiff_kit.lessons.bank import QUESTIONS
from autodiff_kit.lessons.predict import predict
for i in range(20):
    kept, note = progress.keep(f"{sys.argv[1]}.{i}", "an answer", True)
    assert kept, note
    kept, note = progress.keep("both.at_once", sys.argv[1], True)
    assert kept, note
"""


def test_notebooks_that_answer_at_the_same_time_lose_nothing(file: Path) -> None:
    file.parent.mkdir()
    writers = [
        subprocess.Popen([sys.executable, "-c", KEEP_MANY, name], cwd=ROOT)
        for name in ("first", "second", "third")
    ]

    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    answers, note = progress.read()
    assert note == ""
    assert len(answers) == 3 * 20 + 1
    assert answers["both.at_once"].tries == 60


def test_a_lock_that_is_never_given_back_is_told_and_waits_no_longer_than_it_says(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LOCK_SECONDS", 0.05)
    progress.keep("03.adds", "4", False)

    with progress._locked(file.with_suffix(".lock")):
        is_stored, note = progress.keep("03.adds", "5", True)

    assert not is_stored
    assert "another notebook holds the file" in note
    assert progress.read()[0]["03.adds"].tries == 1


def test_a_lock_file_left_by_a_process_that_died_stops_nobody(file: Path) -> None:
    file.parent.mkdir()
    file.with_suffix(".lock").touch()

    assert progress.keep("03.adds", "4", False) == (True, "")


def test_a_file_of_the_first_edition_is_read_under_todays_keys_and_loses_nothing(
    file: Path,
) -> None:
    def answer(first: str) -> dict[str, object]:
        return {"first": first, "right": True, "tries": 1, "solved": True, "looked": False}

    keys = ["03.order", "05.task", "06.task", "08.checkpoint", "09.task", "my.own", "04.own"]
    performance = {"times": 1, "mastered": ["next"], "again": []}
    data = {
        "version": 1,
        "answers": {key: {**answer(key), "by hand": key} for key in keys},
        "performances": {"04.engine": performance, "03.engine": performance},
        "recalled": {"04.jump": {"times": 1, "right": False}},
    }
    file.parent.mkdir()
    file.write_text(json.dumps(data))
    today = {
        "03.order": "03.order",
        "06.task": "05.task",
        "07.task": "06.task",
        "10.checkpoint": "08.checkpoint",
        "11.task": "09.task",
        "my.own": "my.own",
        "04.own": "04.own",
    }

    for _ in range(2):  # as it was written then, and as it is written today
        answers, note = progress.read()
        assert ({key: answers[key].first for key in today}, note) == (today, "")
        assert set(progress.read_performances()[0]) == {"03.engine", "05.engine"}
        assert progress.read_recalled() == {"05.jump": progress.RecalledAnswer(1, right=False)}
        progress.keep("01.leaf", "x", True)

    content = json.loads(file.read_text())
    assert content["version"] == 2
    assert content["answers"]["11.task"]["by hand"] == "09.task"


# The questions of the first edition, as its lessons asked them.
FIRST_EDITION = {
    "00": "slope task",
    "01": "operations last leaf twice task",
    "02": "when spread twice branch grows task",
    "03": "order adds again source_claim mend task",
    "04": "loop while jump many task",
    "05": "inside memory speed silent detach task",
    "06": "branch loop calls faster task",
    "07": "nodes cells mean shrinks task",
    "08": "who when holds checkpoint task",
    "09": "first grad hook alter task",
    "10": "start deep slopes race task",
    "11": "cut twice changed leaf result task",
    "12": "rule check second without task",
    "13": "change train error graph task",
}


def test_every_question_of_the_first_edition_has_its_place_in_the_second() -> None:
    keys = [f"{number}.{name}" for number, names in FIRST_EDITION.items() for name in names.split()]
    today = [renamed.QUESTIONS.get(key, key) for key in keys]

    assert len(set(today)) == len(today)
    assert set(today) <= set(QUESTIONS)
    performances = [key for key in renamed.QUESTIONS if key not in keys]
    assert [key.partition(".")[2] for key in performances] == ["engine"] * len(performances)


def test_a_notebook_of_the_first_edition_still_asks_its_questions(file: Path) -> None:
    assert predict("04.jump").question is QUESTIONS["05.jump"]


def test_every_lesson_of_the_first_edition_has_its_notebook_in_the_second() -> None:
    for name in renamed.LESSONS.values():
        assert (ROOT / "notebooks" / f"{name}.ipynb").is_file()
