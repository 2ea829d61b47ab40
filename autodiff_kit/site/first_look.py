"""For each lesson a program to step through while Python starts in the browser.

After reading you can say which program that is: the first one of the lesson before, as a recall.
The lesson's own would show the answers to the questions that come first in it. Read next:
``pages.py``.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Sequence
from pathlib import Path

import nbformat

from autodiff_kit.lessons import programs
from autodiff_kit.lessons.normalise import execute
from autodiff_kit.record import record

__all__ = ["first_looks"]

_STEP = re.compile(r"\A%%step\b[ \t]*(\w*)[^\n]*\n")
_NAME = "first_look_of_this_lesson"
PROGRAM = Path(programs.__file__).with_name("first_look.py")


def first_looks(lessons: Sequence[Path], source: Path, folder: Path) -> dict[Path, str]:
    """Write the pages to step through; return lesson -> name of its page in the folder.

    Parameters
    ----------
    lessons : sequence of Path
        As learners get them, in order.
    source : Path
        Where the same notebooks can be run, as the kit came with them.
    folder : Path
        For the pages; made if missing.

    Raises
    ------
    NotebookError
        If a lesson does not run up to its first ``%%step``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page = "first.html"
    _write_opening(folder / page)
    pages: dict[Path, str] = {}
    for lesson in lessons:
        pages[lesson] = page
        own = source / lesson.name
        if own.is_file() and _write_first_step(own, folder / f"{lesson.stem}.html"):
            page = f"{lesson.stem}.html"
    return pages


def _write_opening(path: Path) -> None:
    """Write the page for the first lesson: it has none before it."""
    with record() as recording:
        runpy.run_path(str(PROGRAM))
    recording.to_html(path, title="What z.backward() does")


def _write_first_step(lesson: Path, page: Path) -> bool:
    """Run a lesson up to its first ``%%step``, and write what that shows; False if it has none."""
    notebook = nbformat.read(lesson, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    steps = ((k, match) for k, cell in enumerate(cells) if (match := _STEP.match(cell.source)))
    at, match = next(steps, (0, None))
    if match is None:
        return False
    step, name = cells[at], match[1] or _NAME
    step.source = _STEP.sub(f"%%step {name}\n", step.source)
    writing = f"{name}.to_html({str(page.resolve())!r})"
    notebook.cells = [*cells[: at + 1], nbformat.v4.new_code_cell(writing)]
    execute(notebook, lesson)
    return page.is_file()
