"""A test for every row of a table, at the cost of one test where nobody asks for single rows.

``for_each`` is ``pytest.mark.parametrize`` for tables of hundreds of rows. Where files alone are
named, or ``-k``, each row is a test of its own, with an id. A run of folders would spend more time
on counting and reporting such tests than in them: there, one test goes through all rows, and its
failure names each row that fails.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
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
    arguments = (names,) if isinstance(names, str) else names
    sets = [ParameterSet.extract_from(row, force_tuple=len(arguments) == 1) for row in rows]
    assert not any(row.marks for row in sets)

    def together(test: Test) -> Test:
        @wraps(test)
        def test_all(**fixtures: Any) -> None:
            failures = []
            for row in sets:
                try:
                    test(**dict(zip(arguments, row.values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    error.add_note(f"The row: {row.id or row.values}")
                    failures.append(error)
            if failures:
                raise failures[0] if len(failures) == 1 else BaseExceptionGroup("Rows", failures)

        signature = inspect.signature(test)
        fixtures = [p for name, p in signature.parameters.items() if name not in arguments]
        test_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return test_all

    return together
