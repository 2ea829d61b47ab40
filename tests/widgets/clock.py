"""The clock of a lab in tests: a mark for those in which it strikes, and one that a test moves."""

import math
from typing import Any

import pytest

from autodiff_kit.clock import Clock
from autodiff_kit.widgets import at_points

# It ends a learner's loop by an exception, at any moment, and sends another one if that had no
# effect. When one comes in the middle of a callback of Python's own, as that of the garbage
# collector, Python says that it was ignored there, which pytest would take for a failure.
the_clock_strikes = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class OwnTime:
    """Time that passes only where a learner's function spends some, however busy the machine is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.end = 0.0, math.inf
        self.stop: type[BaseException] = BaseException
        time = self

        class Moved(Clock):
            def __enter__(self) -> None:
                time.end, time.stop = time.now + self._seconds, self._stop

            def __exit__(self, *error: Any) -> None:
                time.end = math.inf

        monkeypatch.setattr(at_points, "Clock", Moved)
        monkeypatch.setattr(at_points, "perf_counter", lambda: self.now)

    def spend(self, seconds: float) -> None:
        """Let time pass; the lab's clock strikes if there is none left."""
        self.now += seconds
        if self.now >= self.end:
            raise self.stop
