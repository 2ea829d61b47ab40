"""What the tests of widgets share."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the clock of a lab strike at any moment.

    It ends a learner's loop by an exception, and sends another one if that had no effect. When it
    comes in the middle of a callback of Python's own, as that of the garbage collector, Python
    says that it was ignored there, which pytest would take for a failure.
    """
    mark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(mark)
