"""Results that are damaged, old or in use are explained, and nothing in them is lost."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading import sandbox
from autodiff_kit.grading.results import Attempt, Mark
from autodiff_kit.grading.store import Store, StoreError
from tests.grading import tiny

MARKS = (Mark("numbers", 0, 1, "wrong", "m", "text " * 200), Mark("arrays", 2, 2, "right"))


def attempt(number: int, **changed: object) -> Attempt:
    fields = {
        **{"key": f"k{number}", "student": f"s{number:03}", "name": "", "exercise": tiny.NAME},
        **{"version": 1, "origin": "o", "hash": f"h{number}", "checks": "c", "seed": "1"},
        **{"level": "2 sandboxed", "status": "graded", "marks": MARKS, **changed},
    }
    return Attempt(**fields)  # type: ignore[arg-type]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with results of a hundred learners, and work handed in; the current folder."""
    folder = tmp_path / "course"
    tiny.make_course(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sandbox, "probe", list)
    with Store(folder / "results" / "results.sqlite") as store:
        store.secret(77)
        store.add(attempt(number) for number in range(100))
        store.override("s001", tiny.NAME, "arrays", 1, "me", "why")
    (folder / "in").mkdir()
    (folder / "in" / f"ada_{tiny.NAME}.py").write_text(tiny.SOLUTION)
    return folder


def pages(data: bytearray, first: int) -> None:
    data[first:] = b"\xa5" * (len(data) - first)


DAMAGES: dict[str, Callable[[bytearray], None]] = {
    "all pages but the first": lambda data: pages(data, 4096),
    "the last half": lambda data: pages(data, len(data) // 2),
    "the head": lambda data: data.__setitem__(slice(0, 100), b"\xff" * 100),
    "the list of tables": lambda data: data.__setitem__(slice(100, 4096), bytes(3996)),
    "every tenth page": lambda data: (
        [
            data.__setitem__(slice(at, at + 4096), b"\x05" * 4096)
            for at in range(4096, len(data) - 4096, 40960)
        ]
        and None
    ),
    "cut in the middle of a page": lambda data: data.__delitem__(slice(len(data) // 2 + 100, None)),
}
COMMANDS = {
    "grade": ("grade", "in", "--allow-level", "0", "--workers", "1"),
    "show": ("show", "s001"),
    "export": ("export", "csv", "--to", "out"),
    "override": ("override", "s001", "01.double", "arrays", "1", "--reason", "x"),
    "merge": ("merge", "results", "--out", "whole"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("command", COMMANDS)
def test_damaged_results_are_explained_and_stay_as_they_are(
    command: str, damage: str, place: Path
) -> None:
    path = place / "results" / "results.sqlite"
    data = bytearray(path.read_bytes())
    DAMAGES[damage](data)
    path.write_bytes(data)

    result = CliRunner().invoke(cli, list(COMMANDS[command]))

    assert (result.exit_code, type(result.exception)) == (1, SystemExit), result.exception
    assert "results.sqlite" in result.output and "damaged" in result.output
    assert "Nothing in it was changed." in result.output and ".recover" in result.output
    assert path.read_bytes() == bytes(data)


@pytest.mark.parametrize(
    "damage",
    [
        "update attempts set marks = '[{\"step\": 1' where student = 's003'",
        """update attempts set marks = '[{"step": "a", "points": "x", "max": 1, "status": ""}]'
        where student = 's003'""",
        "update attempts set student = x'ff00' where student = 's003'",
        "update overrides set points = 'two'",
    ],
)
def test_a_damaged_row_is_explained_too(place: Path, damage: str) -> None:
    with sqlite3.connect(place / "results" / "results.sqlite") as base:
        assert base.execute(damage).rowcount == 1
    base.close()

    result = CliRunner().invoke(cli, ["export", "csv", "--to", "out"])

    assert (result.exit_code, type(result.exception)) == (1, SystemExit)
    assert "damaged" in result.output
    assert "the same inputs: 77." in " ".join(result.output.split())


def test_results_of_an_exercise_that_the_course_has_no_more_stop_no_command(place: Path) -> None:
    with sqlite3.connect(place / "results" / "results.sqlite") as base:
        base.execute("update attempts set exercise = 'e09_gone'")
    base.close()

    for command in ("grade", "show", "export"):
        result = CliRunner().invoke(cli, list(COMMANDS[command]))
        assert result.exit_code == 0, result.output


def test_results_that_another_program_holds_say_so(place: Path) -> None:
    path = place / "results" / "results.sqlite"
    with sqlite3.connect(path, isolation_level=None) as other, Store(path) as store:
        store.base.execute("pragma busy_timeout = 10")
        other.execute("begin exclusive")

        with pytest.raises(StoreError, match="in use by another program"):
            store.override("s001", tiny.NAME, "arrays", 1, "me", "why")

        other.execute("rollback")
    other.close()


def test_results_of_an_older_version_are_read_and_their_overrides_count(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        store.add([attempt(1)])
        store.base.execute("drop table overrides")
        store.base.execute(
            "create table overrides (number integer primary key autoincrement, student text not "
            "null, exercise text not null, step text not null, points real not null, author text "
            "not null, reason text not null, at real not null)"
        )
        store.base.execute(
            f"insert into overrides values (1, 's001', '{tiny.NAME}', 'arrays', 1, 'me', 'x', 0)"
        )

    with Store(path) as store:
        assert [grade.points for grade in store.grades()] == [1]
        store.override("s001", tiny.NAME, "arrays", None, "me", "was a mistake")
        assert [grade.points for grade in store.grades()] == [2]


def test_a_secret_stays_and_another_one_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        secret = store.secret()

        assert (store.secret(), store.secret(secret)) == (secret, secret)
        with pytest.raises(StoreError, match=f"--seed {secret}"):
            store.secret(secret + 1)
    with Store(tmp_path / "others.sqlite") as others:
        assert others.secret() != secret
        assert max(secret, others.secret()) > 2**64  # not to be found by trying


def test_the_best_attempt_is_chosen_with_the_overrides_on_top(tmp_path: Path) -> None:
    first = attempt(1, student="ann", marks=(Mark("a", 3, 3, "right"), Mark("b", 4, 7, "wrong")))
    second = attempt(2, student="ann", marks=(Mark("a", 0, 3, "wrong"), Mark("b", 6, 7, "wrong")))
    least = attempt(0, student="ann", marks=(Mark("a", 0, 3, "wrong"), Mark("b", 0, 7, "wrong")))
    with Store(tmp_path / "results.sqlite") as store:
        store.add([least, first, second])
        (plain,) = store.grades()
        store.override("ann", tiny.NAME, "a", 3, "me", "talked it through")
        (grade,) = store.grades()
        store.override("ann", tiny.NAME, "b", 5, "me", "and this")
        (equal,) = store.grades()

    assert (plain.points, plain.attempt.key) == (7, "k1")
    assert (grade.points, grade.attempt.key) == (9, "k2")  # 3 for `a` in both, so 6 beats 4
    assert (equal.points, equal.attempt.key) == (8, "k1")  # all have 8 now; most were earned there


def test_a_file_that_is_graded_again_with_other_checks_counts_once_and_as_it_was_graded_last(
    tmp_path: Path,
) -> None:
    def graded(number: int, points: float, **changed: object) -> Attempt:
        marks = (Mark("a", points, 10, "wrong"),)
        return attempt(number, **{"student": "ann", "marks": marks, "hash": "same", **changed})

    def grade_of(store: Store) -> tuple[float, str, int]:
        (grade,) = store.grades()
        assert store.grades("last") == [grade]
        return grade.points, grade.attempt.key, grade.attempts

    with Store(tmp_path / "results.sqlite") as store:
        store.add([graded(1, 8, checks="lenient"), graded(2, 5, checks="strict")])
        strict = grade_of(store)
        store.add([graded(3, 0, checks="broken", status="fault")])
        failed = grade_of(store)
        store.note_hand_ins([], {tiny.NAME: "lenient"})  # the old checks are back
        back = grade_of(store)
        store.add([graded(4, 6, hash="other work")])
        two = store.grades()[0]

    assert strict == failed == (5, "k2", 1)
    assert back == (8, "k1", 1)
    assert (two.points, two.attempts) == (8, 2)


@pytest.mark.parametrize(
    ("points", "then", "now", "expected", "fits"),
    [
        (3, 3, 3, 3, True),
        (3, 3, 6, 3, False),  # 3 of 3 are not 6 of 6: nobody said so
        (3, 3, 2, 2, False),
        (4, 3, 2, 4, False),  # a bonus, given as one
        (4, 3, 3, 4, True),
        (3, -1, 2, 3, True),  # of older results it is not known
    ],
)
def test_an_override_is_within_the_points_that_its_step_has_now_and_told_if_they_changed(
    points: float, then: float, now: float, expected: float, fits: bool, tmp_path: Path
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        store.add([attempt(1, marks=(Mark("a", 1, now, "wrong"),))])
        store.override("s001", tiny.NAME, "a", points, "me", "why", most=then)
        store.override("s001", tiny.NAME, "gone", 1, "me", "why", most=1)
        store.override("s001", tiny.NAME, "taken back", 1, "me", "why", most=1)
        store.override("s001", tiny.NAME, "taken back", None, "me", "why", most=1)
        (grade,) = store.grades()

    assert grade.points == expected
    assert [word.step for word in grade.misfits] == ([] if fits else ["a"]) + ["gone"]
