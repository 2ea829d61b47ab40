"""Attacks on what stands around the walls: seeds, times, identity, pages, the files of results.

Each was tried as a learner could: by a name, a file, a cell, a value, or, where code runs without
walls, by what lies beside the results.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import sqlite3
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from autodiff_kit.cli import cli
from autodiff_kit.grading import hand_ins, sandbox, submissions
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_local import seed_of
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.journal import FIRST, replay
from autodiff_kit.grading.results import file_hash, key_of
from autodiff_kit.grading.runs import MOST, numbers_in
from autodiff_kit.grading.store import Store, StoreError
from tests.grading import tiny

GRADE = ("grade", "--allow-level", "0", "--workers", "1")
NOON = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))


def run(*words: str | Path, status: int = 0) -> str:
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == status, result.output
    return result.output


def write(path: Path, data: bytes, when: float = NOON) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (when, when))
    return path


def found(place: Path) -> list[Submission]:
    return list(submissions.find(place, [tiny.NAME, "e02_other"]))


# -- Seeds -----------------------------------------------------------------------------------------

ODD = ['"', '", "', "\\", "\0", ",", "[", " ", "e01_double", "\u2028", "é", "e\u0301"]


def test_no_two_learners_share_inputs_by_how_they_call_themselves() -> None:
    parts = ["", "a", *ODD]
    attempts = [*list(itertools.product(parts, parts, ["h"])), ("a", "h"), ("a", "", "h", "")]

    assert len({seed_of(7, *attempt) for attempt in attempts}) == len(set(attempts))
    assert len({key_of(*attempt) for attempt in attempts}) == len(set(attempts))


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_a_key_can_be_taken_apart_in_one_way(one: list[str], other: list[str]) -> None:
    assert (key_of(*one) == key_of(*other)) == (one == other)


def test_nothing_that_learners_get_holds_a_seed(class_: Path) -> None:
    for form in ("pages", "nbgrader"):
        run("feedback", form, "--to", f"back-{form}")
    for form in ("moodle", "gradescope", "canvas"):
        run("export", form, "--to", "out")
    with Store(Path("results/results.sqlite")) as store:
        seeds = {str(store.secret()), *(attempt.seed for attempt in store.attempts())}

    texts = [p.read_text("utf-8") for f in ("back-pages", "back-nbgrader", "out") for p in files(f)]
    assert len(texts) > 10 and len(seeds) > 3
    assert not [seed for seed in seeds for text in texts if seed in text]


def files(folder: str) -> Iterator[Path]:
    return (path for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("where", ["notebook", "cell"])
def test_a_seed_that_a_notebook_brings_along_counts_for_nothing(where: str, class_: Path) -> None:
    notebook = json.loads(tiny.notebook((tiny.SOLUTION, tiny.SOLVING)))
    wish = {"autodiff_kit": {"seed": 1, "draw": 1}, "seed": 1}
    (notebook if where == "notebook" else notebook["cells"][0])["metadata"] |= wish
    data = json.dumps(notebook).encode()
    write(Path("more/zoe", tiny.NAME, f"{tiny.NAME}.ipynb"), data)

    run(*GRADE, "more")

    with Store(Path("results/results.sqlite")) as store:
        (attempt,) = store.attempts("zoe")
        assert int(attempt.seed) == seed_of(store.secret(), "zoe", tiny.NAME, file_hash(data))


# -- Times -----------------------------------------------------------------------------------------


def packed(name: str, data: bytes, when: tuple[int, int, int, int, int, int]) -> bytes:
    """Return a learner's own zip, with an entry of a time of their choice and a forged receipt."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name, when), data)
        receipt = {"made": "2026-11-01T00:00:00+00:00", "handed_in": 1, "time": 1}
        archive.writestr("receipt.json", json.dumps(receipt))
    return file.getvalue()


@pytest.mark.parametrize("year", [1980, 2026, 2107])
def test_a_time_in_a_learners_own_zip_is_no_time_of_a_hand_in(year: int, tmp_path: Path) -> None:
    data = packed(f"{tiny.NAME}.py", tiny.SOLUTION.encode(), (year, 1, 2, 3, 4, 6))
    write(tmp_path / "eve" / "work.zip", data)

    (submission,) = found(tmp_path)

    assert submission.handed_in == NOON and not submission.problem


STAMPS = {
    "a number without end": b"9" * 5000 + b"-11-29 00:00:00 UTC",
    "figures of another script": "٢٠٢٦-١١-٢٩ 00:00:00 UTC".encode(),  # noqa: RUF001
    "a zone that is a path": b"2026-11-29 00:00:00 ../../../../etc/passwd",
    "a zone that is a file": b"2026-11-29 00:00:00 Europe/../../../etc/hostname",
    "a zone with a zero": b"2026-11-29 00:00:00 Europe/\0Berlin",
    "not text": b"\xff\xfe2026",
    "behind much else": b" " * 200 + b"2026-11-29 00:00:00 UTC",
    "not a number": b"nan",
    "a day that is none": b"2026-02-31 00:00:00 UTC",
}


@pytest.mark.parametrize("name", STAMPS)
def test_a_time_stamp_made_to_harm_is_none_and_the_files_own_counts(
    name: str, tmp_path: Path
) -> None:
    place = tmp_path / "submitted" / "eve" / tiny.NAME
    write(place / "timestamp.txt", STAMPS[name])
    write(place / f"{tiny.NAME}.py", tiny.SOLUTION.encode())

    (submission,) = found(tmp_path)

    assert submission.handed_in == NOON and not submission.problem


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "device"])
def test_a_time_stamp_that_is_no_file_is_neither_waited_for_nor_followed(
    kind: str, tmp_path: Path
) -> None:
    place = tmp_path / "submitted" / "eve" / tiny.NAME
    write(place / f"{tiny.NAME}.py", tiny.SOLUTION.encode())
    stamp = place / "timestamp.txt"
    other = write(tmp_path / "bobs.txt", b"2026-11-29 00:00:00 UTC")
    if kind == "pipe":
        os.mkfifo(stamp)
    elif kind == "folder":
        stamp.mkdir()
        write(stamp / "timestamp.txt", b"2026-11-29 00:00:00 UTC")
    else:
        stamp.symlink_to(other if kind == "link" else "/dev/zero")

    times = {s.handed_in for s in found(tmp_path) if s.origin.endswith(f"{tiny.NAME}.py")}

    assert times == {NOON}


# -- Whose work it is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        f"eve/{tiny.NAME}/carl/{tiny.NAME}/{tiny.NAME}.py",
        f"eve/01.double/carl/{tiny.NAME}.py",
        f"eve/submitted/carl/{tiny.NAME}/{tiny.NAME}.py",
        f"eve/Carl C_13_assignsubmission_file_/{tiny.NAME}.py",
        f"eve/{tiny.NAME}/carl_13_100_{tiny.NAME}.py",
        f"eve/01.double/01.double/carl_{tiny.NAME}.py",
    ],
)
def test_no_folder_of_a_learner_makes_work_anothers(path: str, tmp_path: Path) -> None:
    write(tmp_path / "carl" / tiny.NAME / f"{tiny.NAME}.py", tiny.WRONG.encode())
    write(tmp_path / path, tiny.SOLUTION.encode())

    by_student = {s.student: s.data for s in found(tmp_path)}

    assert by_student == {"carl": tiny.WRONG.encode(), "eve": tiny.SOLUTION.encode()}


@pytest.mark.parametrize(
    "inside",
    [
        f"submitted/carl/{tiny.NAME}/{tiny.NAME}.py",
        f"Carl C_13_assignsubmission_file_{tiny.NAME}.py",
        f"01.double/carl/{tiny.NAME}.py",
    ],
)
def test_no_path_in_a_learners_zip_makes_work_anothers(inside: str, tmp_path: Path) -> None:
    data = packed(inside, tiny.SOLUTION.encode(), (2026, 1, 2, 3, 4, 6))
    write(tmp_path / "eve" / "all.zip", data)

    assert {s.student for s in found(tmp_path)} == {"eve"}


NAMES = ["--help", "-h", "results", "id:ada", "all", "con", "ada.", "ada~", "$(ada)", "ada;ls", "*"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_option_no_command_and_nobody_else(name: str, class_: Path) -> None:
    write(Path("odd", name, tiny.NAME, f"{tiny.NAME}.py"), tiny.SOLUTION.encode())
    run(*GRADE, "odd")

    with Store(Path("results/results.sqlite")) as store:
        points = {g.student: g.points for g in store.grades()}
    assert points == {"ada": 3, "bob": 0, "<b>cy": 0, name: 3}
    run("override", "ada", "01.double", "arrays", "0", "--reason", "copied")
    run("override", "--reason", "x", "--", f"id:{name}", "01.double", "arrays", "1")
    with Store(Path("results/results.sqlite")) as store:
        assert {g.student: g.points for g in store.grades()} == points | {"ada": 1, name: 2}
    run("feedback")
    assert len(list(files("feedback"))) == 4


# -- Pages -----------------------------------------------------------------------------------------

VALUES = [
    "'</svg><script>alert(1)</script>'",
    "{'<img src=x onerror=alert(1)>': \"' onload='alert(1)\"}",
    "['\\x1b[2J\\x1b]0;x\\x07', '\\u202e\\u2066', '\\0']",
    "'=cmd|\\' /C calc\\'!A0'",
    "type('<script>', (), {})()",
    "(_ for _ in ()).throw(type('<img src=x onerror=alert(1)>', (ValueError,), {})('<script>'))",
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_text_on_every_page_and_in_every_table(value: str, class_: Path) -> None:
    write(Path("odd/zoe", tiny.NAME, f"{tiny.NAME}.py"), f"def double(x): return {value}".encode())
    output = run(*GRADE, "odd") + run("show", "zoe")
    run("feedback")
    run("report")
    run("export", "csv")

    page = next(files_of("zoe")).read_text("utf-8")
    for text in (page, Path("report.html").read_text("utf-8")):
        low = text.casefold()
        assert not [tag for tag in ("<script", "<img", "onload='a", "\x1b", "\u202e") if tag in low]
    assert "\x1b" not in output and "\u202e" not in output
    table = Path("grades.csv").read_text("utf-8")
    assert not [cell for cell in table.replace('"', ",").split(",") if cell.startswith(("=", "@"))]


def files_of(student: str) -> Iterator[Path]:
    return (path for path in files("feedback") if path.stem == student)


def test_a_page_says_nothing_of_any_other_learner(class_: Path) -> None:
    run("comment", "bob", "01.double", "--text", "Only for Bob.")
    run("feedback")

    pages = {path.stem: path.read_text("utf-8") for path in files("feedback")}
    assert "Only for Bob." in pages["bob"] and len(pages) == 3
    assert not [n for n, page in pages.items() if n != "bob" and ("bob" in page or "Only" in page)]


# -- The results' files ----------------------------------------------------------------------------

STATEMENTS = {
    "a file of its own": "attach database '{0}/stolen.sqlite' as other",
    "another's table": "create table evil (x)",
    "no table": "drop table attempts",
    "a trigger": "create trigger t after insert on attempts begin delete from attempts; end",
    "the schema": "update sqlite_master set sql = ''",
    "a setting": "pragma writable_schema = 1",
    "a copy": "vacuum into '{0}/stolen.sqlite'",
    "a library": "select load_extension('{0}/evil.so')",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_journal_writes_rows_and_does_nothing_else(name: str, tmp_path: Path) -> None:
    journal = tmp_path / "results.journal"
    row = ["insert into facts (name, value) values (?, ?)", ["seed", "7"]]
    lines = [FIRST, [[STATEMENTS[name].format(tmp_path), []]], [row]]
    journal.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    with Store(tmp_path / "draft.sqlite", journal=False) as store:
        before = list(store.rows("select type, name, sql from sqlite_master"))
        done = replay(journal, store.base)
        assert list(store.rows("select type, name, sql from sqlite_master")) == before
        assert store.secret() == 7

    assert done == (1, 1)  # what is honest is done; the rest counts as damaged
    assert not (tmp_path / "stolen.sqlite").exists()


def test_a_run_of_endless_numbers_fills_no_memory(class_: Path) -> None:
    for ranges in ("1-99999999999999", f"1-{MOST} 1-{MOST}", "1-2-3", "x", "-5"):
        with pytest.raises(ValueError):
            numbers_in(ranges)
    with sqlite3.connect("results/results.sqlite") as base:
        base.execute("update runs set hand_ins = '1-99999999999999'")
    base.close()

    with Store(Path("results/results.sqlite")) as store, pytest.raises(StoreError, match="damaged"):
        store.grades()
    assert "autodiff-kit rebuild" in run("show", "ada", status=1)
    run("rebuild")
    assert "3 of 3" in run("show", "ada")


def test_a_kept_file_that_became_a_bomb_is_not_unpacked(
    class_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_ins, "MAX_KEPT", 2**20)
    work = file_hash(tiny.SOLUTION.encode())
    (path,) = Path("results", hand_ins.FOLDER).rglob(work[2:])
    path.write_bytes(zlib.compress(bytes(2**25), 9))
    change_a_check(class_)
    tracemalloc.start()
    assert hand_ins.kept(Path("results"), work) is None
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    output = run("regrade", "--allow-level", "0", "--workers", "1", "--yes")

    assert most < 2**23
    assert "not kept, so not judged again: ada" in output
    with Store(Path("results/results.sqlite")) as store:
        assert {g.student: g.points for g in store.grades()}["ada"] == 3


def change_a_check(course: Path) -> None:
    path = course / "checks" / tiny.NAME / "checks.py"
    path.write_text(path.read_text("utf-8") + "# changed\n", encoding="utf-8")


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of three, graded."""
    course: Course = tiny.make_course(tmp_path_factory.mktemp("class"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "probe", list)
        patch.chdir(course.folder)
        for name, code in {"ada": tiny.SOLUTION, "bob": tiny.WRONG, "<b>cy": tiny.WRONG}.items():
            write(Path("in", name, tiny.NAME, f"{tiny.NAME}.py"), code.encode())
        run(*GRADE, "in")
    return course.folder


@pytest.fixture
def class_(graded_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; the current folder."""
    monkeypatch.setattr(sandbox, "probe", list)
    shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"
