"""Where work on exercises is looked for: one place, from anywhere, and old places are not lost."""

import datetime
import os
from pathlib import Path

import pytest

from autodiff_kit.grading.places import (
    EXERCISES,
    MARK,
    is_begun,
    of_several,
    place_of,
    places,
    remember,
)
from autodiff_kit.lessons import library
from tests.grading import tiny

RELEASED = tiny.notebook((tiny.STUB, tiny.SOLVING))


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADK_HOME", str(tmp_path / "memory"))
    return tmp_path / "memory"


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """A copy of the lessons under a name of the learner's own."""
    folder = tmp_path / "home" / "graphs"
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    return folder


def work(place: Path, code: str = tiny.WRONG) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{tiny.NAME}.ipynb").write_bytes(tiny.notebook((code, tiny.SOLVING)))


def test_the_mark_of_a_copy_is_the_record_that_the_copy_leaves() -> None:
    assert library.RECORD == MARK


@pytest.mark.parametrize("inside", ["", EXERCISES, "images/more"])
def test_inside_of_the_lessons_the_place_is_beside_them(lessons: Path, inside: str) -> None:
    assert places(lessons / inside)[0] == lessons / EXERCISES


def test_above_lessons_of_the_usual_name_the_place_is_beside_them(tmp_path: Path) -> None:
    (tmp_path / "autodiff-kit-lessons").mkdir()
    (tmp_path / "autodiff-kit-lessons" / MARK).touch()

    assert places(tmp_path) == [tmp_path / "autodiff-kit-lessons" / EXERCISES]


def test_elsewhere_it_is_beside_the_lessons_opened_last(tmp_path: Path, lessons: Path) -> None:
    remember(lessons)

    assert places(tmp_path / "elsewhere") == [lessons / EXERCISES]


def test_without_any_lessons_it_is_in_the_current_folder(tmp_path: Path, lessons: Path) -> None:
    remember(lessons)
    (lessons / MARK).unlink()  # taken away since

    assert places(tmp_path) == [tmp_path / EXERCISES]


def test_where_nothing_can_be_remembered_nothing_fails(memory: Path, lessons: Path) -> None:
    memory.write_text("a file where the folder should be")

    remember(lessons)

    assert places(memory.parent) == [memory.parent / EXERCISES]


def test_work_begun_where_earlier_versions_put_it_stays_in_use(
    tmp_path: Path, lessons: Path
) -> None:
    old = tmp_path / "home" / EXERCISES
    work(old)
    remember(lessons)
    work(lessons / EXERCISES, tiny.STUB)
    among = places(tmp_path / "home")

    assert place_of(tiny.NAME, RELEASED, among) == old
    work(lessons / EXERCISES)
    assert place_of(tiny.NAME, RELEASED, places(lessons)) == lessons / EXERCISES


def test_of_an_exercise_begun_nowhere_the_place_is_that_of_the_lessons(
    tmp_path: Path, lessons: Path
) -> None:
    work(tmp_path / "home" / EXERCISES, tiny.STUB)

    assert place_of(tiny.NAME, RELEASED, places(lessons)) == lessons / EXERCISES


def test_only_other_code_than_was_handed_out_counts_as_begun(tmp_path: Path) -> None:
    path = tmp_path / f"{tiny.NAME}.ipynb"
    absent = is_begun(tiny.NAME, RELEASED, tmp_path)
    run_only = RELEASED.replace(b'"execution_count": null', b'"execution_count": 7')
    path.write_bytes(run_only)
    untouched = is_begun(tiny.NAME, RELEASED, tmp_path)
    path.write_bytes(RELEASED[:50])
    damaged = is_begun(tiny.NAME, RELEASED, tmp_path)

    assert run_only != RELEASED
    assert (absent, untouched, damaged) == (False, False, True)


def test_of_two_copies_with_work_the_other_one_is_named(tmp_path: Path) -> None:
    here, there, untouched = (tmp_path / name for name in ("here", "there", "untouched"))
    for place in (here, there):
        work(place)
    work(untouched, tiny.STUB)
    path = here / f"{tiny.NAME}.ipynb"
    os.utime(path, (0, 1_700_000_000))
    saved = datetime.datetime.fromtimestamp(1_700_000_000)

    text = of_several(path, RELEASED, [here, untouched])
    assert text == f"Your work: {path}, as it was saved at {saved:%H:%M:%S} on {saved:%Y-%m-%d}"
    assert f"another copy as well, in {there};" in of_several(path, RELEASED, [here, there])
