"""Results are made again from their journal, and a kill at any moment costs no row."""

import multiprocessing
import os
import random
import signal
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading import engine_local
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_local import grade
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.one_submission import Job, grade_one
from autodiff_kit.grading.results import Attempt, Comment
from autodiff_kit.grading.store import Store, StoreError
from autodiff_kit.grading.worker import InProcess
from tests.gate import IN_THE_GATE
from tests.grading import tiny

CODES = (tiny.SOLUTION, tiny.WRONG, tiny.STUB)
CLASS = [
    Submission(f"s{k:02}", f"s{k:02}", tiny.NAME, f"s{k:02}.py", code.encode(), ".py")
    for k in range(60)
    for code in [f"{CODES[k % 3]}# {k}\n"]
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return tiny.make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def judged(course: Course) -> dict[str, Attempt]:
    """Attempts by learner, so that a kill hits the writing and not the judging."""
    attempts: dict[str, Attempt] = {}

    def engine(jobs: Iterable[Job]) -> Iterator[Attempt]:
        for job in jobs:
            attempts[job.submission.student] = grade_one(job, course, InProcess())
            yield attempts[job.submission.student]

    with Store(course.folder.parent / "first" / "results.sqlite") as store:
        grade(CLASS, course, store, engine, secret=1)
    return attempts


def run(course: Course, path: Path, judged: dict[str, Attempt], pause: float = 0.0) -> None:
    def engine(jobs: Iterable[Job]) -> Iterator[Attempt]:
        for job in jobs:
            time.sleep(pause)
            yield judged[job.submission.student]

    with Store(path) as store:
        grade(CLASS, course, store, engine, secret=1)


def facts(path: Path) -> tuple[list[tuple[str, float, int]], list[tuple[str, ...]]]:
    with Store(path) as store:
        grades = [(g.student, g.points, g.attempts) for g in store.grades()]
        keys = [tuple(row) for row in store.rows("select student, key from attempts")]
    return grades, sorted(keys)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is copied, then killed")
def test_a_kill_at_any_moment_costs_no_row(
    course: Course, judged: dict[str, Attempt], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_local, "WRITE_EVERY", 0.004)  # seconds, so that a run has many parts
    whole = tmp_path / "whole" / "results.sqlite"
    run(course, whole, judged)
    expected = facts(whole)
    fork = multiprocessing.get_context("fork")
    moments = random.Random(7)
    counts, folder = set[int](), 0
    for number in range(200 if IN_THE_GATE else 20):
        path = tmp_path / f"run{folder}" / "results.sqlite"
        process = fork.Process(target=run, args=(course, path, judged, 0.0005))
        process.start()
        time.sleep(moments.uniform(0.0, 0.09))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        if path.exists():
            counts.add(len(facts(path)[1]))
        if number % 4 == 3:  # the others are killed again where they were
            run(course, path, judged)
            assert facts(path) == expected
            assert sorted(rebuilt(path)) == expected[1]
            folder += 1

    assert len(counts) > 9 or not IN_THE_GATE  # it hit at different moments


def rebuilt(path: Path) -> list[tuple[str, ...]]:
    """Return the attempts that the journal alone tells of."""
    path.write_bytes(b"\0" * 4096)
    result = CliRunner().invoke(cli, ["rebuild", "--results", str(path.parent)])
    assert result.exit_code == 0, result.output
    return facts(path)[1]


@pytest.fixture
def results(course: Course, judged: dict[str, Attempt], tmp_path: Path) -> Path:
    """Results with something of every kind in them."""
    path = tmp_path / "results" / "results.sqlite"
    run(course, path, judged)
    with Store(path) as store:
        store.secret(5)
        store.override("s01", tiny.NAME, "arrays", 1.5, "me", "why; 'quoted' \" \n and 1/3")
        store.override("s02", tiny.NAME, "arrays", None, "me", "taken back")
        store.put_off("s03", tiny.NAME, 1_795_000_000.123456, "me", "ill")
        store.comment(Comment("s04", tiny.NAME, "", "Ünïcode ✓", "me", 1 / 3))
        store.forget([next(iter(store.keys()))])
    return path


def dump(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as base:
        tables = [row[0] for row in base.execute("select name from sqlite_master order by 1")]
        rows = [
            (table, *row)
            for table in tables
            if not table.startswith(("sqlite_", "by_"))
            for row in base.execute(f"select * from {table}")
        ]
    base.close()
    return rows


def test_damaged_results_are_put_aside_and_made_again_bit_by_bit(results: Path) -> None:
    before = dump(results)
    results.write_bytes(b"damaged" * 1000)

    shows = CliRunner().invoke(cli, ["show", "s01", "--results", str(results.parent)])
    done = CliRunner().invoke(cli, ["rebuild", "--results", str(results.parent)])
    again = CliRunner().invoke(cli, ["rebuild", "--results", str(results.parent)])

    assert shows.exit_code == 1 and "autodiff-kit rebuild" in shows.output
    assert done.exit_code == 0, done.output
    assert "What was there is now results-damaged-1.sqlite." in done.output
    assert (results.parent / "results-damaged-1.sqlite").read_bytes() == b"damaged" * 1000
    assert dump(results) == before
    assert "results-damaged-2.sqlite" in again.output and dump(results) == before
    assert not list(results.parent.glob(".*"))


def test_lines_that_were_cut_off_take_no_other_line_with_them(results: Path) -> None:
    before = dump(results)
    journal = results.with_suffix(".journal")
    text = journal.read_bytes()
    journal.write_bytes(text[:-40])  # as a full disk leaves it
    with Store(results) as store:
        store.override("s05", tiny.NAME, "arrays", 1, "me", "later")

    done = CliRunner().invoke(cli, ["rebuild", "--results", str(results.parent)])

    assert "1 lines of results.journal cannot be read" in done.output
    assert len(dump(results)) == len(before) + 2  # what was forgotten last is there again
    assert [row for row in dump(results) if "later" in row]


def test_results_of_before_there_was_a_journal_are_in_it_from_the_next_line_on(
    results: Path,
) -> None:
    results.with_suffix(".journal").unlink()
    none = CliRunner().invoke(cli, ["rebuild", "--results", str(results.parent)])
    with Store(results) as store:
        store.override("s05", tiny.NAME, "arrays", 1, "me", "later")
    before = dump(results)

    done = CliRunner().invoke(cli, ["rebuild", "--results", str(results.parent)])

    assert none.exit_code == 1 and "There is no" in none.output
    assert done.exit_code == 0, done.output
    assert dump(results) == before


def test_what_cannot_be_told_to_the_journal_is_not_written(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(results)

    def full(*ignored: object) -> int:
        raise OSError(28, "No space left on device")

    with Store(results) as store, monkeypatch.context() as patch:
        patch.setattr("autodiff_kit.grading.journal.os.write", full)
        with pytest.raises(StoreError, match="No space left"):
            store.override("s05", tiny.NAME, "arrays", 1, "me", "later")

    assert dump(results) == before


def test_another_file_is_no_journal(results: Path) -> None:
    results.with_suffix(".journal").write_text("hello\n" * 3)
    before = results.read_bytes()

    done = CliRunner().invoke(cli, ["rebuild", "--results", str(results.parent)])

    assert done.exit_code == 1 and "is no journal of results" in done.output
    assert results.read_bytes() == before
