"""Tests of ``rows.py``: what goes through all rows at once misses none of them."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from tests import gate, rows
from tests.rows import for_each, with_all_rows

TABLE = [pytest.param(1, "a", id="first"), (2, "b"), (3, "c")]


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "TOGETHER", True)


@pytest.mark.usefixtures("together")
def test_every_row_is_tested_with_the_fixtures_of_the_test() -> None:
    rows = []

    @for_each(("number", "letter"), TABLE)
    def test(place: str, number: int, letter: str) -> None:
        rows.append((place, number, letter))

    assert list(inspect.signature(test).parameters) == ["place"]
    test(place="here")
    assert rows == [("here", 1, "a"), ("here", 2, "b"), ("here", 3, "c")]


@pytest.mark.usefixtures("together")
def test_tables_multiply() -> None:
    rows = []

    @for_each("number", [1, 2])
    @for_each("pair", [(3, 4), (5, 6)])
    def test(number: int, pair: Any) -> None:
        rows.append((number, pair))

    test()
    assert rows == [(1, (3, 4)), (1, (5, 6)), (2, (3, 4)), (2, (5, 6))]


@pytest.mark.usefixtures("together")
@pytest.mark.parametrize("outcome", [pytest.fail, pytest.skip])
def test_each_row_that_fails_is_named_and_one_that_is_skipped_fails(outcome: Any) -> None:
    @for_each(("number", "letter"), TABLE)
    def test(number: int, letter: str) -> None:
        if number != 2:
            outcome("because")

    with pytest.raises(BaseExceptionGroup) as caught:
        test()
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["The row: first"],
        ["The row: (3, 'c')"],
    ]


@pytest.mark.usefixtures("together")
def test_one_row_that_is_skipped_alone_does_not_make_the_test_a_skipped_one() -> None:
    @for_each("number", [1, 2, 3])
    def test(number: int) -> None:
        if number == 2:
            pytest.skip("because")

    with pytest.raises(BaseExceptionGroup) as caught:
        test()
    assert [error.__notes__ for error in caught.value.exceptions] == [["The row: (2,)"]]


@pytest.mark.usefixtures("together")
def test_where_all_rows_are_skipped_the_test_is() -> None:
    @for_each("first", [1, 2])
    @for_each("second", [3, 4])
    def test(first: int, second: int) -> None:
        pytest.skip("because")

    with pytest.raises(pytest.skip.Exception, match="because"):
        test()


def test_where_a_file_is_named_a_row_is_a_test(request: pytest.FixtureRequest) -> None:
    @for_each("letter", ["a", "b"])
    def test(letter: str) -> None: ...

    marks = [mark.name for mark in getattr(test, "pytestmark", [])]
    assert marks == ([] if rows.TOGETHER else ["parametrize"])


def test_a_parametrised_test_goes_through_its_rows_where_they_share_all_fixtures() -> None:
    rows = []
    requests = []

    @pytest.mark.parametrize(("letter", "sign"), [("a", "+"), ("b", "-")])
    @pytest.mark.parametrize("number", [1, 2])
    def test(number: int, letter: str, sign: str) -> None:
        rows.append((number, letter, sign))

    def is_shared(names: set[str]) -> bool:
        requests.append(names)
        return len(requests) > 1

    assert with_all_rows(test, is_shared) is test
    with_all_rows(test, is_shared)()
    assert requests == [{"number", "letter", "sign"}] * 2
    assert sorted(rows) == [(1, "a", "+"), (1, "b", "-"), (2, "a", "+"), (2, "b", "-")]


def test_a_table_stays_where_a_row_has_a_mark_of_its_own() -> None:
    rows = []

    @pytest.mark.parametrize("library", ["kit", pytest.param("torch", marks=pytest.mark.parity)])
    @pytest.mark.parametrize("number", [1, 2])
    def test(number: int, library: str) -> None:
        rows.append((number, library))

    merged = with_all_rows(test, lambda names: names == {"number"})
    assert [mark.args[0] for mark in merged.pytestmark] == ["library"]
    merged(library="kit")
    assert rows == [(1, "kit"), (2, "kit")]


@pytest.mark.parametrize("mark", [pytest.mark.usefixtures("together"), pytest.mark.xfail])
def test_a_table_stays_where_a_mark_is_about_each_row_alone(mark: pytest.MarkDecorator) -> None:
    @mark
    @pytest.mark.parametrize("number", [1, 2])
    def test(number: int) -> None: ...

    assert with_all_rows(test, lambda names: True) is test


@pytest.mark.usefixtures("together")
def test_some_rows_of_a_table_are_spread_over_it_and_the_gate_takes_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for is_gate, is_shared, number in ((False, True, 3), (True, True, 9), (False, False, 9)):
        monkeypatch.setattr(gate, "IN_THE_GATE", is_gate)
        monkeypatch.setattr(rows, "TOGETHER", is_shared)
        assert len(gate.some("aaabbbccc", 3)) == number
        assert {*gate.some("aaabbbccc", 3)} == {"a", "b", "c"}
        assert gate.some("abc", 3) == ["a", "b", "c"]


@pytest.mark.parametrize("is_gate", [False, True])
def test_a_table_stays_in_the_gate_where_processes_share_its_rows(
    is_gate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "IN_THE_GATE", is_gate)

    @gate.row_by_row
    @pytest.mark.parametrize("number", [1, 2])
    def test(number: int) -> None: ...

    assert (with_all_rows(test, lambda names: True) is test) == is_gate


def test_the_files_whose_turn_comes_first_are_there() -> None:
    root = Path(__file__).parents[1]
    named = re.findall(r'"(tests/[\w/]+\.py)"', (root / "conftest.py").read_text(encoding="utf-8"))

    assert len(named) > 5
    assert [name for name in named if not (root / name).exists()] == []
