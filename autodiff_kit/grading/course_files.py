"""Read the files of a course: from its folder, or from the one file that an installation has.

After reading this file you can say where a check comes from, and what identifies the checks of an
exercise. Read next: ``loading.py``.
"""

from __future__ import annotations

import hashlib
import linecache
import os
from functools import lru_cache
from pathlib import Path, PurePosixPath

from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.practice_pack import PACK, unpack

__all__ = ["bytes_of", "checks_hash", "files_in", "for_teachers", "is_packed", "run", "text_of"]

_NOT_JUDGING = "alternatives"  # other right answers: `verify` alone reads them


def is_packed(folder: Path) -> bool:
    """Tell whether a course is there as learners have it, without the files of its teacher."""
    return not (folder / "checks").is_dir() and (folder / PACK).is_file()


def for_teachers(folder: Path) -> Path:
    """Return the folder of a course; ExerciseError if its teacher's files are not there."""
    if is_packed(folder):
        raise ExerciseError(
            f"{folder} has the exercises as learners get them.\n"
            "-> A clone of the kit has the teacher's files, and so has the archive that "
            "`autodiff-kit build --teacher FILE` makes there: unpack it, and say where it is with "
            "--course FOLDER"
        )
    return folder


def bytes_of(folder: Path, *parts: str) -> bytes:
    """Return a file of a course.

    Raises
    ------
    OSError
        If it is not there.
    ValueError
        If the installation's file is damaged.
    """
    if is_packed(folder):
        path = "/".join(parts)
        files = _unpacked(folder / PACK, (folder / PACK).stat().st_mtime_ns)
        if path not in files:
            raise FileNotFoundError(f"{folder / PACK} has no {path}")
        return files[path]
    return folder.joinpath(*parts).read_bytes()


def text_of(folder: Path, *parts: str) -> str:
    """Return a file of a course as text; errors as for `bytes_of`."""
    return bytes_of(folder, *parts).decode("utf-8").replace("\r\n", "\n")


def files_in(folder: Path, *parts: str) -> dict[str, bytes]:
    """Return all files of a folder in a course, by their paths in that folder."""
    if is_packed(folder):
        begin = "/".join(parts) + "/"
        files = _unpacked(folder / PACK, (folder / PACK).stat().st_mtime_ns)
        return {p.removeprefix(begin): data for p, data in files.items() if p.startswith(begin)}
    home = folder.joinpath(*parts)
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def run(folder: Path, *parts: str) -> Space:
    """Run a Python file of a course, and return what it defines; its sources can be found."""
    path, source = folder.joinpath(*parts), text_of(folder, *parts)
    if not path.is_file():
        lines = source.splitlines(keepends=True)
        linecache.cache[str(path)] = (len(source), None, lines, str(path))
    space: Space = {"__name__": ".".join(parts[:-1]), "__file__": str(path)}
    exec(compile(source, str(path), "exec", dont_inherit=True), space)
    return space


def checks_hash(folder: Path, name: str) -> str:
    """Return the hash of all that decides about an exercise: the files of its checks."""
    whole = hashlib.sha256()
    for path, data in sorted(files_in(folder, "checks", name).items()):
        if _NOT_JUDGING not in PurePosixPath(path).parts:
            whole.update(os.fsencode(path) + b"\0")
            whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()[:32]


@lru_cache(maxsize=4)
def _unpacked(path: Path, _stamp: int) -> dict[str, bytes]:
    return unpack(path.read_bytes())
