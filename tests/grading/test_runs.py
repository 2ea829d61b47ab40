"""A run of `grade` that should not have been is withdrawn, and nothing is lost by it."""

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from autodiff_kit.cli import cli
from autodiff_kit.grading import sandbox
from autodiff_kit.grading.runs import Run, fallen, numbers_in, ranges_of
from autodiff_kit.grading.store import Store
from tests.grading import tiny

GRADE = ("grade", "--allow-level", "0", "--workers", "1")
WHY = ("--reason", "the wrong folder")


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == status, result.output
    return result.output


def hand_in(folder: str, **codes: str) -> None:
    for student, code in codes.items():
        place = Path(folder, student, tiny.NAME)
        place.mkdir(parents=True)
        path = place / f"{tiny.NAME}.py"
        path.write_text(code, encoding="utf-8")
        os.utime(path, (1.8e9, 1.8e9))


def points(results: str = "results") -> dict[str, float]:
    with Store(Path(results, "results.sqlite")) as store:
        return {grade.student: grade.points for grade in store.grades()}


HALF = "def double(x): return 2 * x + 1 if isinstance(x, float) else x\n"


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that was graded right, and then from a folder in which all work is carl's."""
    folder = tmp_path_factory.mktemp("graded")
    tiny.make_course(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "probe", list)
        patch.chdir(folder)
        hand_in("in", ada=tiny.SOLUTION, bob=HALF, carl=tiny.WRONG)
        hand_in("wrong", carl=tiny.SOLUTION, eve=HALF)
        hand_in("wrong/sub", bob=HALF)
        shutil.move("wrong/sub/bob", "wrong/bob")  # the same hand-in as in the right folder
        run(*GRADE, "in")
        run(*GRADE, "wrong")
    return folder


@pytest.fixture
def graded(graded_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sandbox, "probe", list)
    shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


RIGHT = {"ada": 3, "bob": 1, "carl": 0}
TOO_HIGH = {"ada": 3, "bob": 1, "carl": 3, "eve": 1}


def test_a_wrong_run_is_withdrawn_and_what_others_found_still_counts(graded: Path) -> None:
    listed = run("runs")
    assert points() == TOO_HIGH
    assert listed.count("3 hand-ins in ") == 2 and listed.splitlines()[1].endswith("wrong")

    output = run("runs", "2", "--withdraw", *WHY)

    assert points() == RIGHT
    assert "e01_double  carl: 3 -> 0" in output and "e01_double  eve: 1 -> none" in output
    assert "Grades that change: 2." in output
    assert "withdrawn: the wrong folder" in run("runs")
    assert "The runs that found it were withdrawn" in run("show", "carl")
    run("export", "csv")
    assert "eve," not in Path("grades.csv").read_text(encoding="utf-8")


def test_it_is_undone_and_the_journal_knows_of_both(graded: Path) -> None:
    run("runs", "2", "--withdraw", *WHY)
    Path("results/results.sqlite").write_bytes(b"damaged" * 1000)
    run("rebuild")
    rebuilt = points()

    output = run("runs", "2", "--restore", "--reason", "it was right")

    assert (rebuilt, points()) == (RIGHT, TOO_HIGH)
    assert "e01_double  eve: none -> 1" in output
    with Store(Path("results/results.sqlite")) as store:  # nothing was removed
        assert [row["reason"] for row in store.rows("select reason from run_words")] == [
            *("the wrong folder", "it was right")
        ]


@pytest.mark.parametrize("lost", [0, 1])
def test_a_damaged_journal_moves_no_hand_in_to_another_run(lost: int, graded: Path) -> None:
    run("runs", "2", "--withdraw", *WHY)
    journal = Path("results/results.journal")
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    place = [n for n, line in enumerate(lines) if "into hand_ins" in line][lost]
    lines[place] = lines[place][: len(lines[place]) // 2] + "\n"  # a run's, cut off
    journal.write_text("".join(lines), encoding="utf-8")

    run("rebuild")
    run(*GRADE, "in")  # as it says
    hand_in("more", dora=tiny.SOLUTION)
    run(*GRADE, "more")  # neither a run nor a hand-in gets a number that was given before

    assert points() == {**(RIGHT if lost == 0 else TOO_HIGH), "dora": 3}


def test_work_that_is_handed_in_again_counts_although_a_run_was_withdrawn(graded: Path) -> None:
    run("runs", "2", "--withdraw", *WHY)
    run("runs", "1", "--withdraw", *WHY)
    assert points() == {}

    assert "0 graded now" in run(*GRADE, "in")  # all have their row

    assert points() == RIGHT
    assert "Nothing" not in run("regrade", "--allow-level", "0", "--workers", "1", "--yes")
    assert points() == RIGHT


def test_parts_put_together_know_their_runs(graded: Path) -> None:
    hand_in("more", dora=tiny.SOLUTION)
    with Store(Path("results/results.sqlite")) as store:
        seed = str(store.secret())
    run(*GRADE, "more", "--results", "part", "--seed", seed)
    run("runs", "2", "--withdraw", *WHY)

    for _ in range(2):
        run("merge", "part", "results", "--results", "whole")

    assert points("whole") == {**RIGHT, "dora": 3}
    assert len(run("runs", "--results", "whole").splitlines()) == 4  # three, one with a reason
    run("runs", "1", "--withdraw", *WHY, "--results", "whole")
    assert points("whole") == RIGHT


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("1",), "with --withdraw or --restore"),
        (("--withdraw",), "with --withdraw or --restore"),
        (("1", "--withdraw", "--restore", *WHY), "with --withdraw or --restore"),
        (("1", "--withdraw"), "Say why"),
        (("9", "--withdraw", *WHY), "There is no run 9"),
        (("1", "--restore", *WHY), "Run 1 is not withdrawn"),
    ],
)
def test_what_cannot_be_meant_changes_nothing(
    words: tuple[str, ...], message: str, graded: Path
) -> None:
    result = CliRunner().invoke(cli, ["runs", *words])

    assert result.exit_code != 0 and message in result.output
    assert points() == TOO_HIGH


def test_results_of_before_runs_were_kept_stay_as_they_are(graded: Path) -> None:
    with Store(Path("results/results.sqlite")) as store:
        store.write("delete from runs")

    assert points() == TOO_HIGH
    assert "older than this list" in run("runs")
    run(*GRADE, "wrong")  # now the run is known; what was there before is not only its own
    assert points() == TOO_HIGH


@given(st.frozensets(st.integers(1, 60)))
def test_numbers_are_written_and_read(numbers: frozenset[int]) -> None:
    assert numbers_in(ranges_of(numbers)) == numbers


def test_numbers_in_a_row_are_one_range() -> None:
    assert ranges_of([3, 1, 2, 7, 9, 10, 2]) == "1-3 7 9-10"


def test_what_one_standing_run_has_found_does_not_fall() -> None:
    first = Run(1, "a", frozenset({1, 2}), "me", 0.0, "wrong")
    second = Run(2, "b", frozenset({2, 3}), "me", 0.0)

    assert fallen([first, second]) == {1}


def test_a_folder_that_holds_a_class_and_is_read_as_one_learner_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "probe", list)
    monkeypatch.chdir(tiny.make_course(tmp_path / "course").folder)
    for folder in ("week 3", "01.double"):
        for name, code in (("Ada_1", tiny.SOLUTION), ("Bob_2", tiny.WRONG)):
            place = Path("in", folder, f"{name}_assignsubmission_file_")
            place.mkdir(parents=True)
            (place / f"{tiny.NAME}.py").write_text(f"{code}# {folder}\n", encoding="utf-8")

    output = run(*GRADE, "in")

    # The exercise's own folder, by whichever of its names, is nobody's.
    assert points() == {"1": 3, "2": 0, "week 3": 3}
    assert "by Moodle's names of several: week 3." in output
    assert "autodiff-kit grade in/week 3" in output
    run("runs", "1", "--withdraw", *WHY)
    assert "Moodle's names" not in run(*GRADE, "in/week 3")
    assert points() == {"1": 3, "2": 0}
