"""Whose work a file is, in each layout; and what becomes of files that are not what they seem."""

import io
import os
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

from autodiff_kit.grading import handed_in, submissions
from autodiff_kit.grading.handed_in import MAX_FILE
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.submissions import find
from autodiff_kit.grading.worker import InProcess
from tests.grading import tiny

EXERCISES = ("e01_double", "e02_triple")


def zipped(entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return data.getvalue()


def in_zip(folder: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> list[Submission]:
    path = folder / "class.zip"
    path.write_bytes(zipped(entries))
    return list(find(path, EXERCISES))


def on_disk(folder: Path, *names: str, exercise: str = "", pattern: str = "") -> list[Submission]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x = 1")
    return list(find(folder, EXERCISES, exercise, pattern))


def said(hand_ins: list[Submission]) -> list[tuple[str, str, str]]:
    return [(s.student, s.name, s.exercise) for s in hand_ins]


@pytest.mark.parametrize(
    ("path", "student", "name", "exercise"),
    [
        ("ada/e01_double/e01_double.ipynb", "ada", "ada", "e01_double"),
        ("submitted/ada/e01_double/work.py", "ada", "ada", "e01_double"),
        ("Ada L_4711_assignsubmission_file_/e01_double.ipynb", "4711", "Ada L", "e01_double"),
        ("Ada L_4711_assignsubmission_file_e02_triple.py", "4711", "Ada L", "e02_triple"),
        ("Group A-Ada L_4711_assignsubmission_file/x/e01_double.ipynb", "4711", None, "e01_double"),
        ("Participant_17_assignsubmission_file_/e01_double.py", "17", "Participant", "e01_double"),
        ("lovelaceada_31_99_e01_double.ipynb", "31", "lovelaceada", "e01_double"),
        ("love_lace_ada_31_99_e01_double.ipynb", "31", "love_lace_ada", "e01_double"),
        ("anon_x7Yz2_99_e01_double.py", "x7Yz2", "anon", "e01_double"),
        ("e01_double/lovelaceada_31_99_my work.py", "31", "lovelaceada", "e01_double"),
        ("e01_double/ada/work.py", "ada", "ada", "e01_double"),
        ("submissions/ada_e01_double.py", "ada", "ada", "e01_double"),
        ("lovelaceada_LATE_31_99_e01_double-2.ipynb", "31", "lovelaceada", "e01_double"),
        ("ada_e01_double.ipynb", "ada", "ada", "e01_double"),
        ("E01_Double - Ada.py", "Ada", "Ada", "e01_double"),
        ("ada/e02_triple.py", "ada", "ada", "e02_triple"),
        ("ada-e01_double (1).ipynb", "ada", "ada", "e01_double"),
        ("ada_e01_double(1).ipynb", "ada", "ada", "e01_double"),
        ("ada_e01_double-Copy1.ipynb", "ada", "ada", "e01_double"),
        ("ada_e01_double-Copy.ipynb", "ada", "ada", "e01_double"),
        ("ada e01_double - Copy (2).py", "ada", "ada", "e01_double"),
        ("ada_e01_double copy.ipynb", "ada", "ada", "e01_double"),
        ("e01_double_ada copy 2.ipynb", "ada", "ada", "e01_double"),
    ],
)
def test_a_path_says_whose_work_it_is(
    path: str, student: str, name: str, exercise: str, tmp_path: Path
) -> None:
    name = path.partition("_")[0] if name is None else name

    on = on_disk(tmp_path / "a", path)
    assert said(on) == [(student, name, exercise)]
    assert said(in_zip(tmp_path, (path, b"x = 1"))) == [(student, name, exercise)]
    assert on[0].note == ("Handed in late." if "_LATE_" in path else "")


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("eve/e01_double/more/carl/e01_double/e01_double.ipynb", "eve"),
        ("eve/e01_double/carl_4711_1_e01_double.ipynb", "eve"),
        ("eve/e01_double/Carl_4711_assignsubmission_file_/e01_double.ipynb", "eve"),
        ("eve/carl_4711_1_e01_double.ipynb", "eve"),
        ("eve/Carl_4711_assignsubmission_file_e01_double.ipynb", "eve"),
        ("eve/submitted/carl/e01_double/e01_double.ipynb", "eve"),
        ("eve/class/carl/e01_double/e01_double.ipynb", "eve"),
        ("eve/e01_double/carl/e01_double.ipynb", "eve"),
        ("submitted/eve/carl/e01_double/e01_double.ipynb", "eve"),
        ("e01_double/eve/carl/e01_double.ipynb", "eve"),
        ("Eve_31_assignsubmission_file_/Carl_4711_assignsubmission_file_/e01_double.py", "31"),
        ("Eve_31_assignsubmission_file_Carl_4711_assignsubmission_file_e01_double.py", "31"),
        ("Eve_31_assignsubmission_file_/carl/e01_double/e01_double.py", "31"),
        ("eve_31_99_carl_4711_1_e01_double.py", "31"),
        ("eve_31_99_Carl_4711_assignsubmission_file_e01_double.py", "31"),
        ("eve_LATE_31_99_LATE_4711_1_e01_double.py", "31"),
        ("anon_x7Yz2_99_carl_4711_1_e01_double.py", "x7Yz2"),
    ],
)
def test_below_the_platforms_own_part_of_a_path_nobody_can_be_named(
    path: str, student: str, tmp_path: Path
) -> None:
    around = "submitted/" if path.startswith("submitted") else ""
    beside = f"{around}bob/e01_double/e01_double.py"

    hand_ins = in_zip(tmp_path, (path, b"x = 1"), (beside, b"x = 1"))
    on = on_disk(tmp_path / "alone", path)

    assert [s.student for s in hand_ins if s.origin != beside] == [student]
    assert [s.student for s in on] == [student]


def test_a_notebook_with_any_name_is_of_the_exercise_that_its_cells_are_of(tmp_path: Path) -> None:
    both = tiny.notebook((tiny.SOLUTION, tiny.SOLVING), ("x = 1", {"grade_id": "e02-triple"}))
    for who, data in (
        ("ada", tiny.notebook((tiny.SOLUTION, tiny.SOLVING))),
        ("bob", both),
        ("cy", b"[" * 100_000),
        ("di", tiny.notebook("x = 1")),
    ):
        (tmp_path / who).mkdir()
        (tmp_path / who / "meine Lösung (endgültig).ipynb").write_bytes(data)

    ada, *others = find(tmp_path, EXERCISES)

    assert (ada.exercise, ada.problem, ada.note) == ("e01_double", "", "Known by its cells.")
    assert all(s.exercise == "" and "Which exercise is this?" in s.problem for s in others)


def test_a_learners_zip_is_the_learners_whatever_its_paths_say(tmp_path: Path) -> None:
    names = ("carl/e01_double/e01_double.py", "Carl_4711_assignsubmission_file_e02_triple.py")
    own = zipped([(name, b"x = 1") for name in names])

    hand_ins = in_zip(tmp_path, ("eve/e01_double/work.zip", own), ("bob/e01_double/a.py", b""))

    assert {(s.student, s.exercise) for s in hand_ins} == {
        ("eve", "e01_double"),
        ("eve", "e02_triple"),
        ("bob", "e01_double"),
    }


def test_long_names_that_begin_alike_are_two_learners(tmp_path: Path) -> None:
    hand_ins = in_zip(tmp_path, *((f"{'a' * 200}{n}/e01_double/a.py", b"x") for n in "bc"))

    assert len({s.student for s in hand_ins}) == 2


@pytest.mark.parametrize(
    "names",
    [
        ("e01_double.ipynb", "utils.py"),
        ("e01_double.ipynb", "e01_double.py"),
        ("e01_double.ipynb", "zz.ipynb"),
        ("e01_double.ipynb", "e01_double-old1.ipynb"),
        ("e01_double.ipynb", "z/e01_double.ipynb"),
        ("my work.ipynb", "utils.py"),
        ("e01_double.py", "utils.py"),
    ],
)
def test_of_several_files_the_one_with_the_work_counts(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    for student in ("Ada_4711_assignsubmission_file_", "ada/e01_double"):
        place = tmp_path / student[:4]
        hand_ins = on_disk(place, *(f"{student}/{name}" for name in names), exercise="e01_double")

        assert [PurePosixPath(s.origin).name for s in hand_ins] == [names[0]]
        assert hand_ins[0].origin == f"{student}/{names[0]}"


UNTOUCHED = tiny.notebook(tiny.STUB, "double(1)")
DONE = tiny.notebook(tiny.SOLUTION, "double(1)")
BROKEN = tiny.notebook("def double(x:\n    return 2 * x")


@pytest.mark.parametrize(
    ("files", "work_file"),
    [
        ({"e01_double.ipynb": UNTOUCHED, "e01_double (1).ipynb": DONE}, "e01_double (1).ipynb"),
        ({"e01_double.ipynb": UNTOUCHED, "e01_double-Copy1.ipynb": DONE}, "e01_double-Copy1.ipynb"),
        ({"e01_double.ipynb": DONE, "e01_double (1).ipynb": UNTOUCHED}, "e01_double.ipynb"),
        ({"e01_double.ipynb": DONE, "e01_double (1).ipynb": DONE}, "e01_double.ipynb"),
        ({"e01_double.ipynb": UNTOUCHED, "e01_double (1).ipynb": UNTOUCHED}, "e01_double.ipynb"),
        ({"e01_double.ipynb": UNTOUCHED, "e01_double.py": tiny.SOLUTION.encode()}, "e01_double.py"),
        ({"e01_double.ipynb": UNTOUCHED, "e01_double-1.ipynb": BROKEN}, "e01_double-1.ipynb"),
        ({"e01_double.ipynb": UNTOUCHED, "e01_double-1.ipynb": b"{]"}, "e01_double.ipynb"),
        ({"e01_double.ipynb": DONE, "utils.py": b"def helper(): pass"}, "e01_double.ipynb"),
        ({"e01_double.ipynb": UNTOUCHED, "x/e01_double.ipynb": DONE}, "x/e01_double.ipynb"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_file_that_was_worked_on_counts_and_the_others_are_named(
    files: dict[str, bytes], work_file: str, packed: bool, tmp_path: Path
) -> None:
    tasks = {"e01_double": ["double"]}
    place = tmp_path / "class"
    if packed:
        (place / "ada").mkdir(parents=True)
        (place / "ada" / "e01_double.zip").write_bytes(zipped(files.items()))
    for name, content in () if packed else files.items():
        (place / "ada" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "ada" / name).write_bytes(content)

    (submission,) = find(place, EXERCISES, "e01_double", runner=InProcess(), tasks=tasks)
    folder = f"ada/{'e01_double.zip/' if packed else ''}"
    (other,) = set(files) - {work_file}

    assert (submission.student, submission.exercise) == ("ada", "e01_double")
    assert (submission.origin, submission.data) == (folder + work_file, files[work_file])
    assert submission.note == f"One of several files; not counted: {folder}{other}."


@pytest.mark.parametrize(
    ("around", "suffix"),
    [
        *(("", "py"), ("", "ipynb"), ("", "zip"), ("submitted/", "py"), ("e01_double/", "txt")),
        ("submitted/e01_double/", "txt"),
    ],
)
def test_very_many_files_of_one_learner_are_few_rows_and_cost_nobody_else(
    suffix: str, around: str, tmp_path: Path
) -> None:
    names = [f"{around}eve/e01_double/{n:04}.{suffix}" for n in range(submissions.MAX_SEEN + 50)]

    hand_ins = on_disk(tmp_path, *names, f"{around}bob/e01_double/a.py")

    eve = [s for s in hand_ins if s.student == "eve"]
    assert 1 <= len(eve) <= submissions.MAX_RIVALS and all(s.problem for s in eve)
    assert all("the others are not read" in s.note for s in eve)
    assert [s.problem for s in hand_ins if s.student == "bob"] == [""]


@pytest.mark.parametrize("around", ["", "submitted/", "e01_double/"])
def test_very_many_learners_are_all_found(
    around: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_SEEN", 5)

    hand_ins = on_disk(tmp_path, *(f"{around}s{n}_e01_double.py" for n in range(20)))

    assert {s.student for s in hand_ins} == {f"s{n}" for n in range(20)}


def test_a_zip_with_very_many_notebooks_is_one_row_that_asks_which_it_is(tmp_path: Path) -> None:
    own = zipped((f"{n}.ipynb", b"{}") for n in range(400))

    (submission,) = in_zip(tmp_path, ("ada_e01_double.zip", own))

    assert "Which of these 400 files is it?" in submission.problem


def test_all_files_of_one_learner_have_a_limit_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_TOGETHER", 10)
    names = [f"eve/e01_double/{n}.py" for n in range(8)]

    hand_ins = on_disk(tmp_path, *names)

    assert sum(len(s.data) for s in hand_ins) <= 15


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_class_zip_is_read_only_as_far_as_its_packing_can_be_bounded(
    method: int, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("ada_e01_double.py", b"x = 1", compress_type=method)
        archive.writestr("bob_e01_double.py", b"x = 1")

    ada, bob = find(tmp_path / "class.zip", EXERCISES)

    assert ("ordinary zip" in ada.problem, ada.data, bob.data) == (True, b"", b"x = 1")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_learners_zip_in_another_packing_is_told_how_to_pack(method: int, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ada_e01_double.zip", "w") as archive:
        archive.writestr("e01_double.py", b"x = 1", compress_type=method)

    (ada,) = find(tmp_path, EXERCISES)

    assert ada.problem == "It is packed in an unusual way: pack it as an ordinary zip."


def test_the_exercise_can_be_told_where_no_path_says_so(tmp_path: Path) -> None:
    assert said(on_disk(tmp_path, "ada.py", exercise="e02_triple")) == [
        ("ada", "ada", "e02_triple")
    ]


def test_without_any_word_on_the_exercise_there_is_a_row_that_asks(tmp_path: Path) -> None:
    (submission,) = on_disk(tmp_path, "ada.py")

    assert "Which exercise" in submission.problem


def test_a_pattern_reads_paths_of_any_other_form(tmp_path: Path) -> None:
    pattern = r"(?P<exercise>e\d\d_\w+)/group-(?P<student>\d+)-(?P<name>\w+)"

    hand_ins = on_disk(tmp_path, "e01_double/group-7-owls.py", pattern=pattern)

    assert said(hand_ins) == [("7", "owls", "e01_double")]


def test_a_single_file_is_a_class_of_one(tmp_path: Path) -> None:
    path = tmp_path / "ada_e01_double.py"
    path.write_text("x = 1")

    assert said(list(find(path, EXERCISES))) == [("ada", "ada", "e01_double")]


@pytest.mark.parametrize(
    "path",
    ["e01_double.py", "e01_double (1).ipynb", "E01_double-Copy1.ipynb", "_e01_double copy.py"],
)
def test_a_file_without_a_learners_name_is_a_row_that_asks_whose_it_is(
    path: str, tmp_path: Path
) -> None:
    rows = [on_disk(tmp_path / "a", path), in_zip(tmp_path, (path, b"x = 1"))]

    for (submission,) in rows:
        assert (submission.student, submission.exercise) == (path, "e01_double")
        assert "Whose is it?" in submission.problem


def test_a_learners_own_zip_stands_for_the_notebook_in_it(tmp_path: Path) -> None:
    own = zipped([("e01_double.ipynb", b"{}"), ("receipt.json", b"{}"), ("picture.png", b"")])

    (submission,) = in_zip(tmp_path, ("Ada L_4711_assignsubmission_file_work.zip", own))

    assert (submission.student, submission.exercise, submission.data) == (
        "4711",
        "e01_double",
        b"{}",
    )
    assert submission.suffix == ".ipynb"


def test_a_learner_may_hand_in_a_zip_for_each_exercise_and_a_few_for_one(tmp_path: Path) -> None:
    course = [f"e{number:02}_part" for number in range(18)]
    for name in course:
        path = tmp_path / "ada" / f"{name}-submit.zip"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zipped([(f"{name}.ipynb", name.encode()), ("receipt.json", b"{}")]))
    for number in range(8):
        path = tmp_path / "eve" / f"e00_part ({number}).zip"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zipped([("e00_part.ipynb", b"%d" % number)]))

    hand_ins = list(find(tmp_path, course, runner=InProcess()))

    ada = {s.exercise: s.data.decode() for s in hand_ins if s.student == "ada" and not s.problem}
    assert ada == {name: name for name in course}
    eve = [s for s in hand_ins if s.student == "eve"]
    assert "Which of these 5 files is it?" in eve[0].problem and len(eve) == 1


def test_files_of_the_system_are_no_submissions(tmp_path: Path) -> None:
    names = [
        "__MACOSX/ada_e01_double.py",
        "._ada_e01_double.py",
        ".DS_Store",
    ]
    on = [*names, ".ipynb_checkpoints/ada_e01_double.py"]

    assert in_zip(tmp_path, *((name, b"") for name in names)) == []
    assert on_disk(tmp_path / "a", *on) == []


def test_a_picture_beside_the_work_is_ignored_and_a_picture_alone_is_a_row(tmp_path: Path) -> None:
    hand_ins = on_disk(
        tmp_path, "ada/e01_double/a.py", "ada/e01_double/a.png", "bob/e01_double/b.docx"
    )

    assert [(s.student, bool(s.problem)) for s in hand_ins] == [("ada", False), ("bob", True)]
    assert ".docx" in hand_ins[1].problem


# -- What is not what it seems -----------------------------------------------------------------


def test_a_path_that_leads_out_of_its_zip_is_a_row_and_no_file(tmp_path: Path) -> None:
    hand_ins = in_zip(
        tmp_path,
        ("../../ada_e01_double.py", b"x"),
        ("/etc/bob_e01_double.py", b"x"),
        ("C:\\eve_e01_double.py", b"x"),
        ("good_e01_double.py", b"x"),
    )

    assert [bool(s.problem) for s in hand_ins] == [True, True, True, False]
    assert "leads out" in hand_ins[0].problem
    assert sorted(os.listdir(tmp_path)) == ["class.zip"]


def test_a_link_in_a_zip_is_not_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("ada_e01_double.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    (submission,) = in_zip(tmp_path, (link, b"/etc/passwd"))

    assert (submission.data, "link" in submission.problem) == (b"", True)


def test_links_and_pipes_on_disk_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("secret")
    folder = tmp_path / "class"
    (folder / "inner").mkdir(parents=True)
    (folder / "ada_e01_double.py").symlink_to(secret)
    (folder / "bob_e01_double.py").symlink_to(tmp_path)
    (folder / "eve_e01_double").symlink_to(tmp_path)
    os.mkfifo(folder / "kim_e01_double.py")

    hand_ins = list(find(folder, EXERCISES))

    assert [(s.data, "link" in s.problem) for s in hand_ins] == [(b"", True)] * 4


def test_a_bomb_is_unpacked_no_further_than_the_limit(tmp_path: Path) -> None:
    bomb = zipped([("e01_double.py", bytes(MAX_FILE + 1))])

    outer, inner = in_zip(
        tmp_path, ("ada_e01_double.py", bytes(MAX_FILE + 1)), ("bob_e01_double.zip", bomb)
    )

    assert len(bomb) < 100_000
    assert "48 MiB" in outer.problem
    assert "48 MiB" in inner.problem


def test_a_zip_of_very_many_files_is_one_row(tmp_path: Path) -> None:
    many = zipped((f"{number}.py", b"") for number in range(handed_in.MAX_INSIDE + 1))

    (submission,) = in_zip(tmp_path, ("ada_e01_double.zip", many))

    assert "more than 500 files" in submission.problem


@pytest.mark.parametrize("inner", [b"PK\3\4 cut short", b"", zipped([("notes.txt", b"")])])
def test_a_learners_zip_that_cannot_be_used_is_one_row(inner: bytes, tmp_path: Path) -> None:
    hand_ins = in_zip(tmp_path, ("ada_e01_double.zip", inner), ("bob_e01_double.py", b"x"))

    assert [(s.student, bool(s.problem)) for s in hand_ins] == [("ada", True), ("bob", False)]


def test_a_zip_in_a_zip_in_a_zip_is_not_opened(tmp_path: Path) -> None:
    inner = zipped([("e01_double.zip", zipped([("e01_double.py", b"x")]))])

    (submission,) = in_zip(tmp_path, ("ada_e01_double.zip", inner))

    assert "another zip in it" in submission.problem


def test_damaged_bytes_in_a_zip_are_one_row(tmp_path: Path) -> None:
    data = bytearray(zipped([("ada_e01_double.py", os.urandom(500)), ("bob_e01_double.py", b"x")]))
    data[100] ^= 0xFF
    path = tmp_path / "class.zip"
    path.write_bytes(data)

    hand_ins = list(find(path, EXERCISES))

    assert [(s.student, bool(s.problem)) for s in hand_ins] == [("ada", True), ("bob", False)]


def test_a_class_zip_that_is_none_says_so(tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    path.write_bytes(b"no zip")

    with pytest.raises(Unreadable, match="not a zip"):
        list(find(path, EXERCISES))


def test_odd_names_become_text_that_a_terminal_can_show(tmp_path: Path) -> None:
    hand_ins = in_zip(
        tmp_path,
        ("\x1b[2J_e01_double.py", b"x"),
        ("A\u030a\u202e_e01_double.py", b"x"),
        ("=cmd()_e01_double.py", b"x"),
    )

    assert all(s.student.isprintable() for s in hand_ins)
    assert {s.student for s in hand_ins} == {"\\x1b[2J", "Å\\u202e", "=cmd()"}


@pytest.mark.skipif(os.name != "posix", reason="names of any bytes are POSIX")
def test_a_name_in_no_encoding_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff\xfe_e01_double.py")).write_text("x = 1")

    (submission,) = find(tmp_path, EXERCISES)

    assert (submission.student, submission.data) == ("??", b"x = 1")


def test_counting_opens_nothing(tmp_path: Path) -> None:
    on_disk(tmp_path, "ada_e01_double.py", "bob_e01_double.ipynb", "notes.txt")
    (tmp_path / "eve_e01_double.zip").write_bytes(b"no zip")

    assert handed_in.count(tmp_path) == 3


@pytest.mark.parametrize("inner", ["deep/work.zip", "../e01_double.ipynb"])
def test_what_is_wrong_in_a_learners_zip_is_named(inner: str, tmp_path: Path) -> None:
    own = zipped([(inner, b"{}")])

    (submission,) = in_zip(tmp_path, ("Ada L_4711_assignsubmission_file_work.zip", own))

    assert inner in submission.problem


def test_a_notebook_with_another_ending_is_to_be_renamed(tmp_path: Path) -> None:
    (submission,) = on_disk(tmp_path, "ada/e01_double.ipynb.txt")

    assert "rename it to e01_double.ipynb" in submission.problem
