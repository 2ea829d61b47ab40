"""A debugger whose commands are given beforehand, so that a lesson can stop and go on by itself.

After reading you know what ``breakpoint()`` calls, and how Python's own debugger gets what
a learner would type. Read next: Python's ``pdb``.
"""

from __future__ import annotations

import contextlib
import io
import pdb
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

__all__ = ["typed"]


@contextlib.contextmanager
def typed(*commands: str) -> Iterator[None]:
    """Answer each ``breakpoint()`` in the block with these commands, then go on.

    Parameters
    ----------
    *commands : str
        What is typed at the prompt of ``pdb``: an expression, ``up``, ``p w``, ... (a name such as
        ``w`` that is also a command of pdb needs the ``p``).

    Examples
    --------
    >>> def area(side):
    ...     breakpoint()
    ...     return side * side
    >>> with typed("side", "side + 1"):
    ...     area(3)
    > area
    (Pdb) side
    3
    (Pdb) side + 1
    4
    9
    """
    hook = sys.breakpointhook
    sys.breakpointhook = lambda *args, **options: _Typing(commands).set_trace(sys._getframe(1))
    try:
        yield
    finally:
        sys.breakpointhook = hook


class _Typing(pdb.Pdb):
    def __init__(self, commands: tuple[str, ...]) -> None:
        super().__init__(stdin=io.StringIO(), stdout=sys.stdout, nosigint=True, readrc=False)
        self.prompt = "(Pdb) "  # Jupyter's debugger has another one
        self._commands = commands
        self.cmdqueue = [*commands, "continue"]

    def set_trace(self, frame: FrameType | None = None, **options: Any) -> None:
        if frame is not None:
            self._show(frame)
        super().set_trace(frame, **options)

    def precmd(self, line: str) -> str:
        if line in self._commands:
            self.message(f"{self.prompt}{line}")
        return super().precmd(line)

    def print_stack_entry(
        self, frame_lineno: tuple[FrameType, int], prompt_prefix: str = ""
    ) -> None:
        if self.lastcmd in ("up", "u", "down", "d"):
            self._show(frame_lineno[0])

    def _show(self, frame: FrameType) -> None:
        """Say which function this is; the file of a cell has another name in each session."""
        name = frame.f_code.co_name
        self.message(f"> {'the cell' if name.startswith('<') else name}")
