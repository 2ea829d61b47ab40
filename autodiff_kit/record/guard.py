"""What guards the learner's code from the recorder: nothing that goes wrong here reaches it.

After reading this file you know why a recorder that fails ends its recording and not the run, and
how it keeps to its limit. Read next: ``notes.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sized
from functools import wraps
from typing import Any, Protocol

from autodiff_kit.record import rounds

__all__ = ["AtWork", "failure", "guarded", "nothing"]


class Guarded(Protocol):
    """What has guarded methods: a recorder."""

    at_work: AtWork
    events: Sized
    limit: int
    is_over: bool

    def end(self, note: str) -> None:
        """Note no more, and say why."""

    def stop(self) -> None:
        """Note no more than the limit allows."""


gettrace, settrace, tracer = sys.gettrace, sys.settrace, rounds.tracer


def guarded(method: Callable[..., None]) -> Callable[..., None]:
    """Let nothing that goes wrong in the recorder reach the learner's code; keep to the limit.

    The recording then ends there and says so; the run goes on as without it. What the method asks
    for is not noted itself, where that would be (see ``AtWork``).
    """

    @wraps(method)
    def guarded(*what: Any) -> None:  # ``self`` among it: Python passes a whole tuple on as it is
        # What the recorder itself does need not be traced (see ``rounds.tracer``), nor noted.
        is_traced = gettrace() is tracer
        if is_traced:
            settrace(None)
        self: Guarded = what[0]
        now = self.at_work
        now.depth += 1
        try:
            if not self.is_over:
                method(*what)
                if len(self.events) > self.limit:
                    self.stop()
        except BaseException as error:  # one more event could be half of one: so none
            self.end(failure(error))
            if not isinstance(error, Exception):
                raise  # the learner pressed Ctrl-C
        finally:
            now.depth -= 1
            if is_traced:
                settrace(tracer)

    return guarded


class AtWork:
    """While the recorder itself asks PyTorch for something; that is not noted."""

    __slots__ = ("depth",)

    def __init__(self) -> None:
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1


def nothing() -> None:
    """Return what a weak reference returns when its object is gone."""


def failure(error: BaseException) -> str:
    """Say that recording ended early because of an error of the recorder, or an interrupt."""
    if not isinstance(error, Exception):
        return f"The recording ends here: it was interrupted ({type(error).__name__})."
    what = str(error).split("\n")[0][:100]
    return (
        f"The recording ends here because the recorder itself failed ({type(error).__name__}: "
        f"{what}). Your code is not to blame, and it ran on; what is shown so far is right."
    )
