"""Names and archives that want to stop the search, to last, or to be somebody else."""

import io
import os
import unicodedata
import zipfile
import zlib
from pathlib import Path

import pytest

from autodiff_kit.grading import engine_local, submissions
from autodiff_kit.grading.engine_local import Local, grade
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.judging import Job, Judge
from autodiff_kit.grading.store import Store
from autodiff_kit.grading.submissions import find
from tests.grading import tiny

COURSE = [f"e{n:02}_double" for n in range(1, 17)]


def put(place: Path, name: str, data: bytes = b"def double(x): return 0\n") -> None:
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_folders_without_bottom_are_a_row_and_all_others_are_found(tmp_path: Path) -> None:
    put(tmp_path, "bob/e01_double/e01_double.py")
    (tmp_path / "eve/e01_double").mkdir(parents=True)
    before = os.getcwd()
    os.chdir(tmp_path / "eve/e01_double")
    try:
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        by_student = {s.student: s for s in find(tmp_path, COURSE)}
        for _ in range(1500):  # what others clear up in vain
            os.chdir("..")
            os.rmdir("d")
    finally:
        os.chdir(before)

    assert not by_student["bob"].problem
    assert "more than 40 folders" in by_student["eve"].problem


def test_a_zip_of_many_files_for_each_exercise_is_one_row_for_each(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for number in range(10):
            for name in COURSE:
                archive.writestr(f"{number}/{name}.py", f"double = {number}\n")
    put(tmp_path, "eve/all.zip", data.getvalue())

    hand_ins = list(find(tmp_path, COURSE))

    assert sorted(s.exercise for s in hand_ins) == COURSE
    assert all("Which of these 10 files is it?" in s.problem for s in hand_ins)


def test_files_on_top_of_one_another_in_a_zip_are_not_unpacked(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("e01_double.py", os.urandom(2000))
        (entry,) = archive.infolist()
        archive.filelist += [entry] * 20
    put(tmp_path, "eve/e01_double/work.zip", data.getvalue())

    (submission,) = find(tmp_path, COURSE)

    assert "on top of one another" in submission.problem


def test_all_zips_of_one_learner_have_one_limit_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_UNPACKING", 0.0)
    for number in range(3):
        put(tmp_path, f"eve/e01_double/{number}.zip", zlib.compress(b"no zip"))

    problems = [s.problem for s in find(tmp_path, COURSE)]

    assert sum("Other zips took too long" in problem for problem in problems) == 2


def test_an_entry_without_a_name_in_the_class_zip_is_a_row(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("ada/e01_double/e01_double.py", "x = 1\n")
        archive.writestr("..", "x = 1\n")

    hand_ins = list(find(tmp_path / "class.zip", COURSE))

    assert [s.problem == "" for s in hand_ins if s.student == "ada"] == [True]
    assert [bool(s.problem) for s in hand_ins if s.student != "ada"] == [True]


@pytest.mark.parametrize(
    "names",
    [
        ("Kim", "\N{KELVIN SIGN}im"),
        tuple(unicodedata.normalize(form, "José") for form in ("NFC", "NFD")),
        ("a\udce9", "a\udce8"),
    ],
    ids=["a sign that is a letter", "composed and not", "bytes that are no text"],
)
def test_names_that_look_the_same_are_two_learners(names: tuple[str, str], tmp_path: Path) -> None:
    for name in names:
        put(tmp_path, f"{name}/e01_double/e01_double.py", ascii(name).encode())

    hand_ins = list(find(tmp_path, COURSE))

    assert len({s.student for s in hand_ins}) == 2
    assert sorted(s.data for s in hand_ins) == sorted(ascii(name).encode() for name in names)
    assert [s.student for s in hand_ins] == [s.student for s in find(tmp_path, COURSE)]


def test_a_path_begins_no_line_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, "eve/e01_double/e01_double\n04.accumulate  10 of 10/e01_double.py")

    (submission,) = find(tmp_path, COURSE)

    assert (
        "\n"
        not in submission.origin
        + submission.student
        + submission.name
        + submission.problem
        + submission.note
    )


def test_a_judge_does_not_load_checks_that_were_changed_during_the_run(tmp_path: Path) -> None:
    course = tiny.make_course(tmp_path)
    judge = Judge(course.folder, None)
    with (course.folder / "checks" / tiny.NAME / "checks.py").open("a") as file:
        file.write("\nNumbers.__dict__['expected']\n")
    work = Submission("eve", "eve", tiny.NAME, "eve", tiny.SOLUTION.encode(), ".py")

    try:
        attempt = judge.grade(Job("key", work, "", 1))
    finally:
        judge.close()

    assert (attempt.status, attempt.points) == ("fault", 0)
    assert all("changed" in mark.text for mark in attempt.marks)


def test_all_files_of_one_learner_have_one_limit_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_local, "MAX_LEARNER", 0.0)
    course = tiny.make_course(tmp_path / "course")
    work = [
        Submission(who, who, tiny.NAME, f"{who}{n}", f"{tiny.SOLUTION}#{n}".encode(), ".py")
        for who, count in (("eve", 8), ("bob", 1))
        for n in range(count)
    ]

    with Store(tmp_path / "results.sqlite") as store:
        grade(work, course, store, Local(course, None, 1), secret=1)
        rows = list(store.attempts())

    assert [row.points for row in rows if row.student == "bob"] == [3]
    refused = [row for row in rows if "took more than" in row.marks[0].text]
    assert len(refused) >= 4 and {row.student for row in refused} == {"eve"}
