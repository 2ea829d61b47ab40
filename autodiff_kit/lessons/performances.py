"""Be the engine in a lesson: the lab of the widgets, with a result that is kept.

After reading you can put a performance into a notebook, ask what of it was mastered, and choose
recall questions by it. Read next: ``progress.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from autodiff_kit.lessons import progress
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.perform.script import CONCEPTS, MISCONCEPTIONS
from autodiff_kit.widgets.base import Message
from autodiff_kit.widgets.be_the_engine import BeTheEngine

__all__ = ["perform", "to_try_again"]


def perform(
    recording: Recording,
    key: str,
    *,
    only: str | Sequence[str] | None = None,
    level: str = "guided",
    lines: tuple[int, int] | None = None,
) -> BeTheEngine:
    """Let the learner perform a recording, and keep the result in their progress file.

    Parameters
    ----------
    recording : Recording
        What to perform.
    key : str
        Name under which the result is kept, such as ``"03.engine"``.
    only, level, lines
        As for ``BeTheEngine``.

    Returns
    -------
    BeTheEngine - shown when it is the last line of a cell.
    """
    lab = BeTheEngine(recording, only=only, level=level, lines=lines)

    def keep(change: Message) -> None:
        if change["new"]:
            lab.note = progress.keep_performance(key, change["new"])[1]

    lab.observe(keep, "result")
    return lab


def to_try_again() -> dict[str, str]:
    """Return what went wrong in the last performances, each with what is to be learnt from it.

    Returns
    -------
    dict from str to str - the names of mistakes and tasks, those of the most performances first.
    """
    performances, _ = progress.read_performances()
    counts: dict[str, int] = {}
    for performance in performances.values():
        for name in performance.again:
            counts[name] = counts.get(name, 0) + 1
    known = {**CONCEPTS, **MISCONCEPTIONS}
    names = sorted((name for name in counts if name in known), key=lambda name: -counts[name])
    return {name: known[name] for name in names}
