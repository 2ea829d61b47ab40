"""A test for every row of a table, at the cost of one test where nobody asks for single rows.

Where files alone are named, or ``-k``, each row of ``pytest.mark.parametrize`` is a test of its
own, with an id. A run of folders would spend more time on counting and reporting such tests than
in them: there, one test goes through all rows, and its failure names each row that fails.
``conftest.py`` asks ``with_all_rows`` for it, where each row would have the same fixtures.
``for_each`` is ``parametrize`` where rows may share what else is made anew for each test.
"""

import inspect
from collections.abc import Callable, Iterable, Sized
from functools import partial, wraps
from typing import Any

import pytest
from _pytest.mark import ParameterSet

TOGETHER = False  # conftest.py sets it, before tests are collected

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], rows: Iterable[Any], ids: Any = None) -> Any:
    """Parametrise a test with the rows of a table.

    In a run of folders, the rows share the test's fixtures, and none may be skipped alone.
    """
    rows = list(rows)
    if not TOGETHER:
        return pytest.mark.parametrize(names, rows, ids=ids)
    return partial(_in_a_loop, (names,) if isinstance(names, str) else names, rows)


def _in_a_loop(arguments: tuple[str, ...], rows: Iterable[Any], test: Test) -> Test:
    sets = [ParameterSet.extract_from(row, force_tuple=len(arguments) == 1) for row in rows]
    assert not any(row.marks for row in sets)

    @wraps(test)
    def test_all(**fixtures: Any) -> None:
        failures = []
        for row in sets:
            try:
                test(**dict(zip(arguments, row.values, strict=True)), **fixtures)
            except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                error.add_note(f"The row: {row.id or row.values}")
                failures.append(error)
        if len(failures) == len(sets) and all(
            isinstance(e, pytest.skip.Exception) for e in failures
        ):
            raise failures[0]  # what is missing is missing for all
        if len(failures) == 1 and not isinstance(failures[0], pytest.skip.Exception):
            raise failures[0]
        if failures:  # also where one row alone is skipped: the others' result is not "skipped"
            raise BaseExceptionGroup("Rows", failures)

    signature = inspect.signature(test)
    fixtures = [p for name, p in signature.parameters.items() if name not in arguments]
    test_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
    return test_all


def with_all_rows(test: Test, is_shared: Callable[[set[str]], bool]) -> Test:
    """Return a test of all rows of the tables that a test is parametrised with.

    Parameters
    ----------
    test : function
    is_shared : function
        Whether rows that differ in these arguments would share all fixtures.

    Returns
    -------
    function: the test itself if it has no table, or a mark that is about each row alone: a fixture
    that it uses, a failure that it expects. A table stays where rows have marks of their own, and
    where the gate shares rows out (``row_by_row`` in ``gate.py``).
    """
    marks = [*getattr(test, "pytestmark", [])]
    if any(mark.name in ("usefixtures", "xfail") for mark in marks):
        return test
    if getattr(test, "is_row_by_row", False):
        return test
    tables = [mark for mark in marks if mark.name == "parametrize" and _is_plain(mark)]
    if not tables or not is_shared({name for table in tables for name in _names(table)}):
        return test
    for table in tables:
        test = _in_a_loop(_names(table), table.args[1], test)
    test.pytestmark = [mark for mark in marks if mark not in tables]  # type: ignore[attr-defined]
    return test


def _names(table: pytest.Mark) -> tuple[str, ...]:
    names = table.args[0]
    return (names,) if isinstance(names, str) else tuple(names)


def _is_plain(table: pytest.Mark) -> bool:
    rows = table.args[1]
    return (
        isinstance(rows, Sized)
        and not table.kwargs.keys() - {"ids"}
        and not any(isinstance(row, ParameterSet) and row.marks for row in rows)
    )
