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
from autodiff_kit.grading.judging import Judge
from autodiff_kit.grading.one_submission import Job
from autodiff_kit.grading.store import Store
from autodiff_kit.grading.submissions import find
from tests.grading import tiny

COURSE = [f"e{n:02}_double" for n in range(1, 17)]
RIGHT, WRONG = b"def double(x): return 2 * x\n", b"def double(x): return 0\n"


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
    for name in ("MAX_UNPACKING", "UNPACKING_EACH"):
        monkeypatch.setattr(submissions, name, 0.0)
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


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ("Kim", "\N{KELVIN SIGN}im"),
        tuple(unicodedata.normalize(form, "José") for form in ("NFC", "NFD")),
        ("a?", "a\udce8"),
        ("Å", "\N{ANGSTROM SIGN}"),
    ],
)
def test_the_plain_name_keeps_its_id_and_the_other_is_told(
    plain: str, other: str, tmp_path: Path
) -> None:
    for name, code in ((plain, RIGHT), (other, WRONG)):
        put(tmp_path, f"{name}_e01_double.py", code)

    by_data = {s.data: s for s in find(tmp_path, COURSE)}

    own, alike = by_data[RIGHT], by_data[WRONG]
    assert (own.student, own.name, own.note) == (plain, plain, "")
    assert alike.student.startswith(f"{plain}~")
    assert "only looks like" in alike.note


def test_a_disguise_is_none_of_the_plain_name_also_where_it_comes_alone(tmp_path: Path) -> None:
    put(tmp_path / "a", "\N{KELVIN SIGN}im_e01_double.py")
    put(tmp_path / "b", f"{unicodedata.normalize('NFD', 'José')}_e01_double.py")

    assert next(find(tmp_path / "a", COURSE)).student != "Kim"
    assert next(find(tmp_path / "b", COURSE)).student == unicodedata.normalize("NFC", "José")


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        # Files that cannot be told from those of 13 with numbers in front: each is its own row.
        (["foo_13_777_888_e01_double.py"], {"foo_13_777_888_e01_double.py": True}),
        (["foo_13_777_888_e01_double.ipynb"], {"foo_13_777_888_e01_double.ipynb": True}),
        (["bob_13_777_888_e01_double.py"], {"bob_13_777_888_e01_double.py": True}),
        (["foo_LATE_13_777_888_e01_double.py"], {"foo_LATE_13_777_888_e01_double.py": True}),
        # One attachment is one file: 777 is none, and so a user.
        ([f"foo_13_777_{n}_e01_double.py" for n in (888, 889, 890)], {"777": False}),
        # Canvas writes nothing between its two numbers.
        (["foo_13_LATE_777_888_e01_double.py"], {"777": False}),
        (
            ["foo_13_LATE_777_888_e01_double.py", "foo_13_777_889_e01_double.py"],
            {"777": False},
        ),
        # Not from Canvas as it is: one attachment of two users.
        (
            ["foo_13_LATE_777_888_e01_double.py", "foo_13_779_888_e01_double.py"],
            {"777": False, "foo_13_779_888_e01_double.py": True},
        ),
        # Digits of another alphabet are no numbers to Canvas.
        (["foo_\uff11\uff13_777_888_e01_double.py"], {"777": False}),
        (["foo_\uff11\uff13_\uff17_888_e01_double.py"], {"foo_\uff11\uff13_\uff17_888": False}),
    ],
)
def test_whoever_has_a_number_in_a_name_at_canvas_hands_in_for_no_other(
    names: list[str], rows: dict[str, bool], tmp_path: Path
) -> None:
    put(tmp_path, "bob_13_100_e01_double.py", RIGHT)
    for name in names:
        put(tmp_path, name, WRONG)

    by_student = {s.student: s for s in find(tmp_path, COURSE)}

    bob = by_student.pop("13")
    assert (bob.name, bob.data, bob.problem, bob.note) == ("bob", RIGHT, "", "")
    assert {who: bool(s.problem) for who, s in by_student.items()} == rows
    if rows.get(names[0]):
        problem = by_student[names[0]].problem
        assert "number 13 (" in problem and "777 (" in problem and "by the right number" in problem


def test_anonymous_files_of_canvas_are_no_others_either(tmp_path: Path) -> None:
    put(tmp_path, "anon_x7Yz2_100_e01_double.py", RIGHT)
    put(tmp_path, "anon_x7Yz2_777_888_e01_double.py", WRONG)

    anonymous, unclear = find(tmp_path, COURSE)

    assert (anonymous.student, anonymous.data, anonymous.note) == ("x7Yz2", RIGHT, "")
    assert "number x7Yz2 (anon) or 777 (anon_x7Yz2)" in unclear.problem


@pytest.mark.parametrize("file", ["1_e01_double.py", "2026_e01_double.py", "01_02_e01_double.py"])
def test_an_honest_number_before_a_files_own_name_is_read_by_the_other_numbers(
    file: str, tmp_path: Path
) -> None:
    put(tmp_path, "bob_314159_99123456_e01_double.py")
    put(tmp_path, f"ada_271828_99123999_{file}")

    assert [(s.student, s.name, s.problem) for s in find(tmp_path, COURSE)] == [
        ("271828", "ada", ""),
        ("314159", "bob", ""),
    ]


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
