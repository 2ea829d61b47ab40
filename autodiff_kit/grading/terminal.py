"""Feedback on a terminal, where lines are as long as its window is wide.

After reading this file you know how a long line keeps its place. Read next: ``learner.py``.
"""

from __future__ import annotations

import textwrap

__all__ = ["wrapped"]


def wrapped(text: str, width: int) -> str:
    r"""Break lines that are too long; what is left goes on below the line's own beginning.

    Examples
    --------
    >>> print(wrapped("step 1\n    w has two edges, not one", 20))
    step 1
        w has two edges,
        not one
    """
    return "\n".join(
        line if len(line) <= width else _broken(line, width) for line in text.splitlines()
    )


def _broken(line: str, width: int) -> str:
    words = line.lstrip()
    start = line[: len(line) - len(words)]
    return textwrap.fill(
        words,
        width,
        initial_indent=start,
        subsequent_indent=start,
        break_long_words=False,
        break_on_hyphens=False,
    )
