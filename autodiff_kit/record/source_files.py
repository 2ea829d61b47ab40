"""Which files are the learner's, and what stands in them.

After reading this file you know why the kit, Python and installed packages never show up in a
recording, and what a notebook calls its cells. Read next: ``source_tree.py``.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from functools import cache

__all__ = ["LearnersFiles", "cell_name", "is_foreign", "read_lines"]

_KIT = os.path.dirname(os.path.dirname(__file__))
_FOREIGN = tuple(os.path.join(folder, "") for folder in (_KIT, sysconfig.get_path("stdlib")))
_PROGRAMS = os.path.join(_KIT, "lessons", "programs", "")  # to be stepped through
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def cell_name(filename: str) -> str:
    """Return what a notebook calls the cell of this file name, ``"cell [3]"``; else ``""``."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    label = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(filename)
    return f"cell {label[1].removeprefix('In ').removeprefix('In')}" if label else ""


@cache
def is_foreign(filename: str) -> bool:
    """Return whether a file is not the learner's: the kit's own, Python's, or a package's.

    The kit's ``lessons/programs`` are there to be watched: they count as the learner's.
    """
    # All that is compiled from a string, as by dataclasses, has one name; since Python 3.13 there
    # may be lines of that name, those of `python -c`.
    if filename.startswith(_PROGRAMS):
        return False
    starts = (*_FOREIGN, "<frozen ", "<string>")
    return filename.startswith(starts) or any(part in filename for part in _PACKAGES)


class LearnersFiles(dict[str, bool]):
    """Whether a file is the learner's and can be shown; it knows every file."""

    def __missing__(self, filename: str) -> bool:
        is_learners = self[filename] = not is_foreign(filename) and bool(read_lines(filename))
        return is_learners


def read_lines(filename: str) -> list[str]:
    """Return the lines of a file or cell as they are now."""
    linecache.checkcache(filename)  # a file may have been edited since
    return linecache.getlines(filename)
