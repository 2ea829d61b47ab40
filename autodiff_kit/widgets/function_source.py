"""Find the source of a learner's function, and the file or cell around it.

Read next: ``function_lab.py``, which shows it beside what was recorded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from tokenize import TokenError
from typing import Any

from autodiff_kit.record.recording import Recording
from autodiff_kit.widgets.value_controls import inner_function

__all__ = ["source_of_function", "text_around"]


def source_of_function(function: Callable[..., Any]) -> tuple[list[str], int]:
    """Return the lines of a function and the number of the first; none if it cannot be read."""
    try:
        described = inner_function(function)
        whole = described.func if isinstance(described, partial) else described
        lines, first = inspect.getsourcelines(inspect.unwrap(whole))
    except (OSError, TypeError, SyntaxError, TokenError):
        return [], 1
    return [line.rstrip() for line in lines], max(first, 1)


def text_around(recording: Recording, lines: list[str], first: int) -> str:
    """Return the source, among those of a recording, in which these lines stand."""
    for source in recording.sources:
        part = source["text"].splitlines()[first - 1 : first - 1 + len(lines)]
        if [line.rstrip() for line in part] == lines:
            return str(source["text"])
    return ""
