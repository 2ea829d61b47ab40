"""The learner's own copy of the lessons: their work is never lost, and no file is half written."""

import json
import os
from pathlib import Path

import pytest

from autodiff_kit.lessons import library
from autodiff_kit.lessons.library import LibraryError, copy_lessons

LESSON = "03_backward_pass.ipynb"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Lessons of version 0.1.0, with what Jupyter leaves behind."""
    folder = tmp_path / "kit" / "notebooks"
    (folder / "images").mkdir(parents=True)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / "00_start_here.ipynb").write_text("start, first edition")
    (folder / LESSON).write_text("backward, first edition")
    (folder / "images" / "graph.svg").write_text("<svg/>")
    (folder / ".ipynb_checkpoints" / "00.ipynb").write_text("left behind")
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "my lessons"


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_the_first_copy_brings_every_lesson_and_image_but_no_leftovers(
    source: Path, mine: Path
) -> None:
    report = copy_lessons(source, mine, "0.1.0")

    assert report.new == ["00_start_here.ipynb", LESSON, "images/graph.svg"]
    assert names(mine) == sorted([library.RECORD, *report.new])
    assert (mine / LESSON).read_text() == "backward, first edition"


def test_links_to_exercises_lead_to_the_learners_own(source: Path, mine: Path) -> None:
    link = "[Control flow](../exercises/release/e08_control_flow/e08_control_flow.ipynb)"
    (source / LESSON).write_text(f"Next: {link}, or [another lesson](04_x.ipynb)")

    copy_lessons(source, mine, "0.1.0")

    own = "[Control flow](autodiff-kit-exercises/e08_control_flow.ipynb)"
    assert (mine / LESSON).read_text() == f"Next: {own}, or [another lesson](04_x.ipynb)"


def test_a_learners_lesson_shows_no_answer_before_it_was_run(source: Path, mine: Path) -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["tensor(6.)\n"]}]
    cell = {"cell_type": "code", "source": ["print(x.grad)"], "metadata": {"tags": ["a"]}}
    words = {"cell_type": "markdown", "source": ["What is the gradient, \u2202y?"], "metadata": {}}
    book = {"cells": [words, {**cell, "outputs": outputs, "execution_count": 4}], "nbformat": 4}
    (source / LESSON).write_text(json.dumps(book), encoding="utf-8")

    copy_lessons(source, mine, "0.1.0")

    copied = json.loads((mine / LESSON).read_text(encoding="utf-8"))
    assert copied == {**book, "cells": [words, {**cell, "outputs": [], "execution_count": None}]}


EXERCISE = "autodiff-kit-exercises/e01.ipynb"


def test_exercises_come_along_and_are_treated_like_lessons(source: Path, mine: Path) -> None:
    copy_lessons(source, mine, "0.1.0", {EXERCISE: b"first"})
    (mine / EXERCISE).write_text("my own work")

    report = copy_lessons(source, mine, "0.2.0", {EXERCISE: b"second"})

    assert report.offered == {EXERCISE: "autodiff-kit-exercises/e01.new-0.2.0.ipynb"}
    assert (mine / EXERCISE).read_text() == "my own work"


def test_an_exercise_begun_before_they_came_along_stays_alone(source: Path, mine: Path) -> None:
    (mine / EXERCISE).parent.mkdir(parents=True)
    (mine / EXERCISE).write_text("my own work")

    report = copy_lessons(source, mine, "0.2.0", {EXERCISE: b"as released"})

    assert report.offered == {}
    assert names(mine / "autodiff-kit-exercises") == ["e01.ipynb"]
    assert (mine / EXERCISE).read_text() == "my own work"


def test_a_second_copy_changes_nothing(source: Path, mine: Path) -> None:
    copy_lessons(source, mine, "0.1.0")
    before = {name: (mine / name).read_bytes() for name in names(mine)}

    report = copy_lessons(source, mine, "0.1.0")

    assert (report.new, report.updated, report.offered) == ([], [], {})
    assert {name: (mine / name).read_bytes() for name in names(mine)} == before


def test_an_unchanged_copy_of_an_older_version_is_updated_in_place(
    source: Path, mine: Path
) -> None:
    copy_lessons(source, mine, "0.1.0")
    (source / LESSON).write_text("backward, second edition")

    report = copy_lessons(source, mine, "0.2.0")

    assert report.updated == [LESSON]
    assert (mine / LESSON).read_text() == "backward, second edition"


def test_a_changed_lesson_stays_when_there_is_nothing_newer(source: Path, mine: Path) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).write_text("my own work")

    report = copy_lessons(source, mine, "0.1.0")

    assert report.offered == {}
    assert (mine / LESSON).read_text() == "my own work"


def test_a_changed_lesson_stays_and_the_new_version_is_put_beside_it(
    source: Path, mine: Path
) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).write_text("my own work")
    (source / LESSON).write_text("backward, second edition")

    report = copy_lessons(source, mine, "0.2.0")

    assert report.offered == {LESSON: "03_backward_pass.new-0.2.0.ipynb"}
    assert (mine / LESSON).read_text() == "my own work"
    beside = mine / "03_backward_pass.new-0.2.0.ipynb"
    assert beside.read_text() == "backward, second edition"


def test_a_new_version_is_never_offered_twice(source: Path, mine: Path) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).write_text("my own work")
    (source / LESSON).write_text("backward, second edition")
    copy_lessons(source, mine, "0.2.0")
    (mine / "03_backward_pass.new-0.2.0.ipynb").unlink()  # the learner did not want it

    report = copy_lessons(source, mine, "0.2.1")

    assert report.offered == {}
    assert not list(mine.glob("*.new-*"))


def test_work_in_an_offered_version_is_not_overwritten_by_the_next_offer(
    source: Path, mine: Path
) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).write_text("my own work")
    (source / LESSON).write_text("backward, second edition")
    copy_lessons(source, mine, "0.2.0")
    (mine / "03_backward_pass.new-0.2.0.ipynb").write_text("work in the offer")
    (source / LESSON).write_text("backward, third edition")

    report = copy_lessons(source, mine, "0.2.0")

    assert report.offered == {LESSON: "03_backward_pass.new-0.2.0-2.ipynb"}
    assert (mine / "03_backward_pass.new-0.2.0.ipynb").read_text() == "work in the offer"


def test_an_offer_that_was_taken_is_updated_like_any_unchanged_lesson(
    source: Path, mine: Path
) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).write_text("my own work")
    (source / LESSON).write_text("backward, second edition")
    copy_lessons(source, mine, "0.2.0")
    (mine / "03_backward_pass.new-0.2.0.ipynb").replace(mine / LESSON)
    (source / LESSON).write_text("backward, third edition")

    report = copy_lessons(source, mine, "0.3.0")

    assert report.updated == [LESSON]


def test_a_deleted_lesson_comes_back_fresh(source: Path, mine: Path) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).unlink()

    report = copy_lessons(source, mine, "0.1.0")

    assert report.new == [LESSON]


def test_a_file_of_the_same_name_that_was_there_before_is_the_learners(
    source: Path, mine: Path
) -> None:
    mine.mkdir()
    (mine / LESSON).write_text("from somewhere else")

    report = copy_lessons(source, mine, "0.1.0")

    assert report.offered == {LESSON: "03_backward_pass.new-0.1.0.ipynb"}
    assert (mine / LESSON).read_text() == "from somewhere else"


def test_a_lesson_of_the_first_edition_goes_unless_it_was_changed(source: Path, mine: Path) -> None:
    for name in ("04_control_flow", "05_no_grad"):
        (source / f"{name}.ipynb").write_text("first edition")
    copy_lessons(source, mine, "0.1.0")
    (mine / "05_no_grad.ipynb").write_text("my own work")
    (source / "04_control_flow.ipynb").rename(source / "05_control_flow.ipynb")
    (source / "05_no_grad.ipynb").rename(source / "06_grad_modes.ipynb")

    for _ in range(2):
        report = copy_lessons(source, mine, "0.2.0")

        assert report.retired == {"05_no_grad.ipynb": "06_grad_modes.ipynb"}
        assert not (mine / "04_control_flow.ipynb").exists()
        assert (mine / "05_no_grad.ipynb").read_text() == "my own work"
        assert (mine / "06_grad_modes.ipynb").exists()


def test_a_learners_own_file_with_the_name_of_an_old_lesson_stays(source: Path, mine: Path) -> None:
    (source / "05_control_flow.ipynb").write_text("second edition")
    mine.mkdir()
    (mine / "04_control_flow.ipynb").write_text("second edition")

    report = copy_lessons(source, mine, "0.2.0")

    assert (mine / "04_control_flow.ipynb").exists()
    assert report.retired == {"04_control_flow.ipynb": "05_control_flow.ipynb"}


def test_a_folder_where_a_lesson_should_be_is_left_alone(source: Path, mine: Path) -> None:
    (mine / LESSON).mkdir(parents=True)

    report = copy_lessons(source, mine, "0.1.0")

    assert report.offered == {LESSON: "03_backward_pass.new-0.1.0.ipynb"}


@pytest.mark.parametrize("record", ["", "{", "[]", '{"files": 3}', '{"files": {"a": 1}}', "\xff"])
def test_a_damaged_record_makes_every_changed_file_count_as_the_learners(
    source: Path, mine: Path, record: str
) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / library.RECORD).write_text(record, encoding="latin-1")
    (source / LESSON).write_text("backward, second edition")

    report = copy_lessons(source, mine, "0.2.0")

    assert report.record_was_damaged
    assert report.offered == {LESSON: "03_backward_pass.new-0.2.0.ipynb"}
    assert json.loads((mine / library.RECORD).read_text())["files"]


@pytest.mark.parametrize("stop_at", [0, 1, 2, 3])
def test_an_interrupted_copy_leaves_whole_files_only_and_the_next_one_finishes_it(
    source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    copy_lessons(source, mine, "0.1.0")
    (mine / LESSON).write_text("my own work")
    for path in (p for p in source.rglob("*") if p.is_file()):
        path.write_text(path.read_text() + ", second edition")
    synced: list[int] = []

    def interrupted(_: int) -> None:
        if len(synced) == stop_at:
            raise KeyboardInterrupt
        synced.append(1)

    # Written, but not yet moved to its place: the worst moment.
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        copy_lessons(source, mine, "0.2.0")
    monkeypatch.undo()

    assert not [name for name in names(mine) if name.endswith(".tmp")]
    assert (mine / LESSON).read_text() == "my own work"
    copy_lessons(source, mine, "0.2.0")
    assert (mine / "00_start_here.ipynb").read_text() == "start, first edition, second edition"
    assert [p.name for p in mine.glob("*.new-*")] == ["03_backward_pass.new-0.2.0.ipynb"]


def test_a_full_disk_is_told_in_words_and_leaves_no_half_file(
    source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device", "00_start_here.ipynb")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(LibraryError, match="No space left on device") as caught:
        copy_lessons(source, mine, "0.1.0")

    assert "Every file there is whole" in str(caught.value)
    assert names(mine) == []


@pytest.mark.parametrize("inside", ["", "new folder"])
def test_a_read_only_folder_is_told_at_once_and_nothing_is_done(
    read_only_place: Path, inside: str
) -> None:
    folder = read_only_place / inside

    with pytest.raises(LibraryError, match="Cannot write in the folder") as caught:
        copy_lessons(Path("any"), folder, "0.1.0")

    assert str(folder) in str(caught.value)
    assert "-> Name a folder of your own" in str(caught.value)
    assert names(read_only_place) == []


def test_a_file_in_the_place_of_the_folder_is_told(source: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")

    with pytest.raises(LibraryError, match="File exists"):
        copy_lessons(source, tmp_path / "taken", "0.1.0")


@pytest.mark.parametrize("inside", ["", "copy"])
def test_the_kits_own_folder_is_refused(source: Path, inside: str) -> None:
    with pytest.raises(LibraryError, match="where the kit keeps its own lessons"):
        copy_lessons(source, source / inside, "0.1.0")


def test_lessons_are_found_in_an_installed_wheel_before_a_strangers_folder(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "autodiff_kit"
    (package / "_notebooks").mkdir(parents=True)
    (tmp_path / "site-packages" / "notebooks").mkdir()

    assert library.find("notebooks", package) == package / "_notebooks"


def test_lessons_are_found_in_a_checkout(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()

    assert library.find("notebooks", tmp_path / "autodiff_kit") == tmp_path / "notebooks"


def test_lessons_that_are_nowhere_give_an_error_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="-> Install it again"):
        library.find("notebooks", tmp_path / "autodiff_kit")


def test_progress_lies_beside_the_lessons_unless_the_environment_names_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ADK_PROGRESS", raising=False)
    beside = library.progress_file(Path("mine"))
    monkeypatch.setenv("ADK_PROGRESS", "elsewhere.json")

    assert beside == Path("mine/.autodiff-kit-progress.json")
    assert library.progress_file(Path("mine")) == Path("elsewhere.json")
