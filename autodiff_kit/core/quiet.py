"""NumPy without its warnings: PyTorch answers ``1 / 0`` and overflow by inf or nan, without a word.

After reading this file you know how that takes 25 ns instead of the 1,700 of ``np.errstate``: since
NumPy 2.0, what to warn about belongs to the running context, so a call in a context of its own is
quiet. Should a NumPy keep it elsewhere one day, ``np.errstate`` takes over. Read next: ``mode.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, copy_context
from functools import partial
from typing import Any

import numpy as np

from autodiff_kit.free_form import Keywords

__all__ = ["Warnings", "quiet", "quiet_caller", "variable_of_warnings"]


class Warnings:
    """What NumPy warns about, to be set and put back as a context variable is."""

    def set(self, value: Keywords) -> Keywords:
        """Warn about that; return what to put back."""
        return dict(np.seterr(**value))

    def reset(self, before: Keywords) -> None:
        """Warn as before."""
        np.seterr(**before)


def _kinds() -> set[Any]:
    return set(np.geterr().values())


def quiet_caller() -> Callable[..., Any]:
    """Return what calls a function so that NumPy does not warn; each thread needs its own."""
    with np.errstate(all="warn"):
        run = Context().run
        run(np.seterr, all="ignore")
        if _kinds() == {"warn"} and run(_kinds) == {"ignore"}:
            return run
    return _call_quietly


def _call_quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)


def variable_of_warnings() -> tuple[Any, Any]:
    """Return where NumPy keeps what to warn about, and what it keeps there if that is nothing."""
    for variable, nothing in quiet_caller()(copy_context).items():
        with np.errstate(all="warn"):
            before = variable.set(nothing)
            is_quiet = _kinds() == {"ignore"}
            variable.reset(before)
        if is_quiet:
            return variable, nothing
    return Warnings(), {"all": "ignore"}


class _Quiet:
    """For calls that shall be quiet, and for backward passes, in which hooks of the learner run.

    ``begin()`` returns what ``end`` is to be given, to warn as before.
    """

    def __init__(self) -> None:
        variable, nothing = variable_of_warnings()
        self.caller, self.begin, self.end = (
            quiet_caller,
            partial(variable.set, nothing),
            variable.reset,
        )


quiet = _Quiet()
