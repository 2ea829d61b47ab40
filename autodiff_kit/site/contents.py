"""The notebooks that learners get in the browser: the lessons, the exercises, and a teacher's own.

After reading you can say how these differ from the copy that ``autodiff-kit lab`` makes: in
nothing but the name of the kernel, as the browser's Python is another one. Read next:
``first_look.py``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import autodiff_kit
from autodiff_kit.lessons import library
from autodiff_kit.site import SiteError

__all__ = ["KERNELSPEC", "title_of", "write_contents"]

KERNELSPEC = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
OTHERS = 20_000_000  # bytes: a larger file of a course is no part of a page


def write_contents(
    folder: Path,
    exercises: Mapping[str, bytes],
    course: Path | None = None,
    *,
    without: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the learner's files; return the notebooks of lessons, in order.

    Parameters
    ----------
    folder : Path
        Where to; made if missing.
    exercises : mapping of str to bytes
        Path in the folder -> notebook.
    course : Path, optional
        A teacher's own notebooks, with what lies beside them. They come first.
    without : Path, optional
        A folder that is left out of the course: the site itself may lie there.
    say : callable, optional
        Is told what is left out of the course because of its size.

    Raises
    ------
    SiteError
        If the course has no notebook, or one that cannot be read.
    """
    own = _copied(course, folder, without, say) if course else []
    library.copy_lessons(library.find(), folder, autodiff_kit.__version__, exercises)
    (folder / library.RECORD).unlink()  # says what may be replaced in a folder; there is none
    for path in folder.rglob("*.ipynb"):
        _for_browser(path)
    lessons = sorted(path for path in folder.glob("*.ipynb"))
    return [*own, *(path for path in lessons if path not in own)]


def title_of(notebook: Path) -> str:
    """Return the first heading of a notebook; its file's name, if it has none."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for line in "".join(cell["source"]).splitlines():
                if line.startswith("# "):
                    return line.removeprefix("# ").strip()
    return notebook.stem.replace("_", " ")


def _copied(
    course: Path, folder: Path, without: Path | None, say: Callable[[str], None]
) -> list[Path]:
    """Copy a teacher's folder, without what is hidden, into one of the same name."""
    if not course.is_dir():
        raise SiteError(f"{course} is no folder.\n-> Name the folder with your notebooks.")
    target = folder / course.resolve().name
    notebooks = []
    for path in sorted(course.rglob("*")):
        inner = path.relative_to(course)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inner.parts)
        if hidden or not path.is_file() or (without and path.resolve().is_relative_to(without)):
            continue
        if path.stat().st_size > OTHERS:
            say(f"Left out, as it is larger than {OTHERS // 1_000_000} MB: {path}")
        else:
            (target / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / inner)
            if path.suffix == ".ipynb":
                notebooks.append(target / inner)
    if not notebooks:
        raise SiteError(
            f"There is no notebook in {course}.\n-> Lessons are files that end in .ipynb."
        )
    return notebooks


def _for_browser(path: Path) -> None:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = notebook["cells"]
        notebook["metadata"]["kernelspec"] = KERNELSPEC
    except (ValueError, KeyError, TypeError) as error:
        raise SiteError(f"{path.name} is no notebook that can be read ({error}).") from error
    for cell in cells:
        for output in cell.get("outputs", ()):  # a server would join the lines, a file does not
            if "text" in output:
                output["text"] = _joined(output["text"])
            data = output.get("data", {})
            data.update({kind: _joined(value) for kind, value in data.items()})
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False), encoding="utf-8")


def _joined(value: Any) -> Any:
    lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
    return "".join(value) if lines else value
