"""What a lab says of an error: its words, the learner's line, and what to do.

After reading you know how an exception of the learner's code becomes a message in the lab. Read
next: ``lab.py``.
"""

from __future__ import annotations

import linecache
import re
import sys
from types import FrameType

from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.widgets.running import OTHER_TENSORS, Refused

__all__ = ["in_words", "mixed_libraries"]


def in_words(error: BaseException, *, has_run: bool, controls: bool) -> str:
    """Return what is to be said of an error: its class, its words, the learner's line."""
    if isinstance(error, Refused):
        words = str(error)
        return f"T{words[1:]}" if words.startswith("the lambda ") else words
    if isinstance(error, KeyboardInterrupt):
        again = "Change a control to run it again." if controls else "Run the cell again."
        return f"You stopped the run.\n-> {again}"
    _, line = _place_of(error)
    words = mixed_libraries(error) or f"{type(error).__name__}: {error}".rstrip(": ")
    if line and OTHER_TENSORS not in words:
        words += f"\nIt came from line {line}"
    if OTHER_TENSORS in words:
        return words
    if has_run and controls:  # else no control has led here
        return f"{words}\n-> Change the control back, or fix the code and run its cell."
    return f"{words}\n-> Fix the code and run its cell again."


def _place_of(error: BaseException) -> tuple[FrameType | None, str]:
    """Return the learner's innermost frame that an error came through, and its line in words."""
    traceback, frame, words = error.__traceback__, None, ""
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        line = linecache.getline(name, traceback.tb_lineno).strip()
        module = traceback.tb_frame.f_globals.get("__name__", "autodiff_kit")
        if line and not is_foreign(name) and not module.startswith("autodiff_kit"):
            frame, words = traceback.tb_frame, f"{traceback.tb_lineno} of your code: {line}"
        traceback = traceback.tb_next
    return frame, words


_BETWEEN_TENSORS = re.compile(r"for (\+|-|\*|@|/|//|%|\*\* or pow\(\)): 'Tensor' and 'Tensor'")


def mixed_libraries(error: BaseException) -> str:
    """Say that a line mixes tensors of PyTorch with those of the kit; ``""`` if it does not.

    PyTorch's own words, "must be Tensor, not Tensor", do not tell the two apart.
    """
    frame, line = _place_of(error)
    pytorch = sys.modules.get("torch")
    if frame is None or pytorch is None or not isinstance(error, TypeError):
        return ""
    values = [frame.f_globals.get(name) for name in frame.f_code.co_names]
    is_between = _BETWEEN_TENSORS.search(str(error))  # which the kit can do, with its own
    if "Tensor" not in str(error) or not (is_between or any(v is pytorch for v in values)):
        return ""
    return (
        "PyTorch itself and tensors of the kit are mixed in your code.\n"
        f"It came from line {line}\n{OTHER_TENSORS}"
    )
