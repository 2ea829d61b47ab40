"""A mark for the tests in which the clock of a lab strikes."""

import pytest

# It ends a learner's loop by an exception, at any moment, and sends another one if that had no
# effect. When one comes in the middle of a callback of Python's own, as that of the garbage
# collector, Python says that it was ignored there, which pytest would take for a failure.
the_clock_strikes = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
