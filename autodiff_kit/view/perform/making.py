"""From a recording to a script: ``perform_script(recording)``.

After reading you know in which order the parts of a performance come. Read next: ``context.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.perform.afterwards import state_stages
from autodiff_kit.view.perform.backward import backward_stages
from autodiff_kit.view.perform.building import build_stages
from autodiff_kit.view.perform.context import Context, Lines, PerformError
from autodiff_kit.view.perform.script import CONCEPTS, MISCONCEPTIONS, Part, Script
from autodiff_kit.view.words import readable

__all__ = ["PARTS", "perform_script", "script_of"]

PARTS: tuple[Part, ...] = ("build", "backward", "state")
_MAKERS = {"build": build_stages, "backward": backward_stages, "state": state_stages}


def perform_script(
    recording: Recording | RecordingData,
    only: str | Sequence[str] | None = None,
    lines: Lines | None = None,
) -> Script:
    """Return the tasks of a performance, with the answers and what each mistake says.

    Parameters
    ----------
    recording : Recording or dict
        What was recorded.
    only : str or sequence of str, optional
        ``"build"``, ``"backward"`` or ``"state"``, or several; by default all three.
    lines : (int, int), optional
        The first and the last line whose nodes are asked about; by default all.

    Returns
    -------
    Script - plain data, which can be written as JSON.

    Raises
    ------
    PerformError
        If the recording cannot be performed, or has nothing of the part that is asked for.
    ValueError
        If ``only`` names no part.

    Examples
    --------
    >>> import autodiff_kit as ak
    >>> with ak.record() as rec:
    ...     x = ak.tensor(3.0, requires_grad=True)
    ...     y = x * x
    ...     y.backward()
    >>> script = perform_script(rec, only="backward")
    >>> [task["prompt"] for task in script["tasks"].values()][:2]
    ['Where does the backward pass begin?', 'With which gradient does it begin at `y`?']
    """
    return script_of(Context(recording, lines), only)


def script_of(context: Context, only: str | Sequence[str] | None = None) -> Script:
    """Return the script of a recording whose picture is made already."""
    parts = parts_of(only)
    stages = [stage for part in parts for stage in _MAKERS[part](context)]
    if not stages:
        raise PerformError(
            f"There is nothing to perform of {' and '.join(parts)}: the recording holds no such "
            "step.\n-> A backward pass is recorded if loss.backward() stands inside of the block."
        )
    return {
        "version": 1,
        "title": context.picture.title,
        "parts": [part for part in parts if any(stage["part"] == part for stage in stages)],
        "stages": _readable(stages),
        "tasks": _readable(context.tasks),
        "lessons": MISCONCEPTIONS,
        "concepts": CONCEPTS,
    }


TEXTS = {"prompt", "hint", "otherwise", "right", "text"}  # keys whose values are sentences


def _readable(part: Any, key: str = "") -> Any:
    """Return a part of a script with its sentences made readable."""
    if isinstance(part, dict):
        return {name: _readable(value, name) for name, value in part.items()}
    if isinstance(part, list):
        return [_readable(value) for value in part]
    return readable(part) if key in TEXTS and isinstance(part, str) else part


def parts_of(only: str | Sequence[str] | None) -> list[Part]:
    """Return the parts that are asked for, in their order."""
    names = [*PARTS] if only is None else [only] if isinstance(only, str) else [*only]
    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        raise ValueError(
            f"only={only!r} is no part of a performance.\n"
            f"-> The parts are {', '.join(map(repr, PARTS))}; without only=, all are asked."
        )
    return [part for part in PARTS if part in names]
