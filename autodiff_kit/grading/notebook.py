"""Get the learner's code out of what was handed in, without running or believing any of it.

After reading this file you can say which cells of a notebook count: those that the learner may
write in. What the teacher's notebook had locked (given code, tests) is left out, because the
grader has its own; stored outputs and settings are ignored; cells may be moved, copied, retyped or
gone. Read next: ``exercise.py``, which runs the code.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import PurePath
from typing import Any

from autodiff_kit.grading.exercise import Exercise, ExerciseError, defined

__all__ = ["code_of"]

MAX_CODE = 2**20  # characters
_MAGIC = re.compile(r"(?m)^(?=[ \t]*[%!?])")
_CELL_MAGIC = re.compile(r"\s*%%(?!time|capture|prun)\w")


def code_of(data: bytes, name: str, exercise: Exercise) -> str:
    """Return the learner's code.

    Parameters
    ----------
    data : bytes
        A notebook, or Python source.
    name : str
        The file's name; ``.py`` tells that it is source.
    exercise : Exercise
        Its names say which of several copies of a cell holds the solution: the last that was
        worked on.

    Returns
    -------
    str - cells parted by ``# %%`` lines.

    Raises
    ------
    ExerciseError
        If it is neither, or too long.
    """
    if PurePath(name).suffix.lower() == ".py":
        return _checked(_text(data))
    wanted = {n for step in exercise.steps for n in step.names}
    sources = [_plain(source) for source in _sources(data)]
    names = [defined(source) & wanted for source in sources]
    done = [names[i] - _stubs(source) for i, source in enumerate(sources)]
    solved = set[str]().union(*done)
    kept = [
        source
        for i, source in enumerate(sources)
        if done[i] or not names[i] or not names[i] <= solved
    ]
    return _checked("".join(f"# %%\n{source}\n" for source in kept))


def _sources(data: bytes) -> list[str]:
    """Return the sources of the code cells that are the learner's."""
    try:
        notebook = json.loads(_text(data))
    except (ValueError, RecursionError) as error:
        raise ExerciseError(f"The file is not a notebook: {error}") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ExerciseError("The file is not a notebook: it has no cells.")
    sources = []
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        metadata: Any = cell.get("metadata")
        grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        if isinstance(grading, dict) and grading.get("locked") and not grading.get("solution"):
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str):
            sources.append(source)
    return sources


def _plain(source: str) -> str:
    """Return a cell with its magics as comments; one for another language is nothing at all."""
    if _CELL_MAGIC.match(source):
        return "\n" * source.count("\n")
    if _compiles(source):  # a line that begins with % may go on from the line before
        return source
    return _MAGIC.sub("# ", source)


def _compiles(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _stubs(source: str) -> set[str]:
    """Return the functions, and classes with functions, that are still as they were handed out."""

    def is_stub(part: ast.AST) -> bool:
        return (
            isinstance(part, ast.FunctionDef)
            and len(part.body) <= 2  # words on top, and the line that says "not yet"
            and isinstance(part.body[-1], ast.Raise)
            and "NotImplementedError" in ast.unparse(part.body[-1])
        )

    return {
        part.name
        for part in (ast.parse(source).body if _compiles(source) else ())
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and any(map(is_stub, ast.walk(part)))
    }


def _text(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ExerciseError("The file is no text: it was not saved as UTF-8.")


def _checked(code: str) -> str:
    if len(code) > MAX_CODE:
        raise ExerciseError(f"The code has more than {MAX_CODE:,} characters.")
    # Half characters cannot be sent, and no Python source has them.
    return code.encode("utf-8", "replace").decode()
