"""The parts of the engine that the exercises build: what each adds to it, as the kit writes it.

After reading this file you can say which code stands around a part when it is judged (the kit's
parts before it), and what of an exercise goes into the learner's ``my_engine.py``. Read next:
``my_engine.py``, which writes that file.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autodiff_kit.free_form import Json
from autodiff_kit.grading.course_files import is_packed, text_of
from autodiff_kit.grading.practice_pack import PACK

__all__ = ["Part", "engine_of", "header", "is_engine", "parts_before", "statements", "whole"]

_MARKS = re.compile(r"(?m)^\s*### (BEGIN|END) SOLUTION\n?")


@dataclass(frozen=True)
class Part:
    """What one exercise adds to the engine.

    Attributes
    ----------
    name : str
        Folder name of the exercise.
    id, title : str
    names : tuple of str
        The functions and classes that the learner writes and that go into the engine.
    given : str
        Code that the exercise brings along: it connects what the learner writes with the engine.
    code : str
        The kit's own `names`.
    """

    name: str
    id: str
    title: str
    names: tuple[str, ...]
    given: str
    code: str

    @property
    def whole(self) -> str:
        """The part as it stands in an engine, if it is the kit's."""
        return "\n\n\n".join(filter(None, (self.given, self.code)))


def engine_of(folder: Path) -> list[Part]:
    """Return the parts that the exercises of a course build, in order; most courses have none.

    Parameters
    ----------
    folder : Path
        Of the course; its ``course.toml`` names the exercises as ``engine``, and each says in its
        ``exercise.toml`` which names go into the engine.

    Raises
    ------
    OSError, ValueError, KeyError
        If a file is missing or damaged.
    """
    path = folder / "course.toml"
    if not path.is_file():
        return []
    names = tomllib.loads(path.read_text(encoding="utf-8")).get("engine", [])
    return [_part(folder, name, _stamps(folder, name)) for name in names]


def parts_before(folder: Path, name: str) -> list[Part]:
    """Return the parts of the engine that an exercise begins with; none if it is no part of it."""
    parts = engine_of(folder)
    names = [part.name for part in parts]
    return parts[: names.index(name)] if name in names else []


def whole(parts: Sequence[Part]) -> str:
    """Return the engine made of the kit's parts, as the file of a learner who wrote all of them."""
    sections = [f"# --- {part.id} ---\n{part.whole}" for part in parts]
    return "\n\n\n".join([header([]), *sections])


def header(kits_parts: Sequence[str]) -> str:
    """Return the first lines of an engine; the parts that are the kit's stand there as data."""
    names = ", ".join(f'"{name}"' for name in kits_parts)
    return f'"""My own engine, built in the exercises of autodiff_kit."""\n\nKITS_PARTS = [{names}]'


def is_engine(cell: Json) -> bool:
    """Tell whether a cell of a notebook is for the whole engine."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", "")).endswith("-engine")


def _stamps(folder: Path, name: str) -> tuple[int, ...]:
    paths = (folder / "checks" / name / "exercise.toml", folder / "source" / name / f"{name}.ipynb")
    if is_packed(folder):
        paths = (folder / PACK, folder / PACK)
    return tuple(path.stat().st_mtime_ns for path in paths)


@lru_cache(maxsize=64)
def _part(folder: Path, name: str, _stamps: tuple[int, ...]) -> Part:
    facts = tomllib.loads(text_of(folder, "checks", name, "exercise.toml"))
    notebook = json.loads(text_of(folder, "source", name, f"{name}.ipynb"))
    given, written = [], []
    for cell in notebook["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        source = _MARKS.sub("", "".join(cell["source"]))
        if str(grading.get("grade_id", "")).endswith("-given"):
            given.append(source)
        elif grading.get("solution") and cell["cell_type"] == "code" and not is_engine(cell):
            written.append(source)
    names = tuple(facts["engine"])
    code = statements("\n\n\n".join(written), names)
    return Part(name, facts["id"], facts["title"], names, "\n\n\n".join(given), code)


def statements(source: str, names: Collection[str]) -> str:
    """Return the source of the functions, classes and values with these names, last ones only.

    A comment right above a statement belongs to it.
    """
    return _statements(source, frozenset(names))


@lru_cache(maxsize=64)
def _statements(source: str, names: frozenset[str]) -> str:
    lines = source.splitlines()
    last: dict[str, tuple[int, str]] = {}
    for part in ast.parse(source).body:
        bound = _bound(part) & names
        if bound:
            first = min(p.lineno for p in (part, *getattr(part, "decorator_list", [])))
            while first > 1 and lines[first - 2].startswith("#"):
                first -= 1
            text = "\n".join(line.rstrip() for line in lines[first - 1 : part.end_lineno])
            last |= dict.fromkeys(bound, (first, text))
    return "\n\n\n".join(text for _, text in sorted(set(last.values())))


def _bound(part: ast.stmt) -> set[str]:
    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {part.name}
    if isinstance(part, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in part.names}
    targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
    return {n.id for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)}
