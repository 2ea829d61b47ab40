"""Begin an exercise with the engine so far: its code is run in the notebook, and can be seen there.

After reading this file you can say what the first cell of an exercise shows. Read next:
``my_engine.py``, which keeps the file that is run.
"""

from __future__ import annotations

import html
import sys
from pathlib import Path

from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.feedback import Part, in_cell
from autodiff_kit.grading.feedback_card import inline
from autodiff_kit.grading.my_engine import FILE, load_engine

__all__ = ["EngineSoFar", "use_engine"]


class EngineSoFar(Part):
    """What a notebook begins with: whose the parts of the engine are, and its code to be opened.

    Parameters
    ----------
    message, source : str
    """

    def __init__(self, message: str, source: str) -> None:
        self._message, self._source = message, source

    def words(self) -> str:
        """Return what is said as plain text."""
        return self._message

    def markup(self) -> str:
        """Return what is said as HTML, with the code."""
        lines = "".join(f"<p>{inline(line)}</p>" for line in self._message.splitlines())
        if not self._source:
            return lines
        count = len(self._source.splitlines())
        return (
            f"{lines}<details><summary>{FILE}, the {count} lines that were run here</summary>"
            f"<pre>{html.escape(self._source)}</pre></details>"
        )


def use_engine(key: str, *, course: Course | None = None) -> EngineSoFar:
    """Run the engine that the learner has built so far in the notebook that calls this.

    Parameters
    ----------
    key : str
        Id of the exercise that begins with it; parts before it that were left out are the kit's.
    course : Course, optional
        As in :func:`check`.

    Returns
    -------
    EngineSoFar - shown when it is the last line of a cell.

    Raises
    ------
    ExerciseError
        If there is no such exercise.
    """
    course = course or open_course(find_course(Path.cwd()))
    namespace = sys._getframe(1).f_globals
    message, source = load_engine(course, course.exercise(key), namespace)
    return in_cell(namespace, EngineSoFar(message, source))
