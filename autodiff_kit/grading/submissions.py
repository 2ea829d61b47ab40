"""Find the submissions in whatever a teacher has: folders, a zip, loose files.

After reading this file you can say whose work a file is, and what becomes of a file that is not
what it seems. Nothing is unpacked or followed: names are labels only, contents are read up to a
limit, and whatever cannot be read becomes a submission with a `problem`, so that it ends as a row
of the results like any other. Read next: ``store.py``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autodiff_kit.grading.worker import clean

__all__ = ["MAX_FILE", "Submission", "Unreadable", "count", "find"]

MAX_FILE = 20 * 2**20  # bytes of one notebook, unpacked
MAX_INSIDE = 500  # files in one learner's own zip
_WANTED = (".ipynb", ".py")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<student>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)", re.S)
_CANVAS = re.compile(r"(?P<name>[^_\W]+)_(?:LATE_)?(?P<student>\d+)_\d+_(?P<rest>.+)", re.S)


@dataclass(frozen=True)
class Submission:
    """One learner's work on one exercise, as it was handed in."""

    student: str
    """The number or name that the exports need: Moodle's and Canvas' number, else the name."""
    name: str
    exercise: str
    """The exercise's folder name, or ``""`` if it is not known."""
    origin: str
    """Where it was found, for people."""
    data: bytes
    suffix: str
    problem: str = ""
    """Why there is nothing to grade, or ``""``."""


class Unreadable(Exception):
    """A file that is not read, and why."""


@dataclass(frozen=True)
class _File:
    """A file, not read yet, under the name that it has in the folder or zip."""

    path: str
    read: Callable[[], bytes]


def find(
    place: Path, exercises: Sequence[str], exercise: str = "", pattern: str = ""
) -> Iterator[Submission]:
    """Yield the submissions in a folder, a zip, or a single file.

    Parameters
    ----------
    place : Path
        nbgrader's ``student/exercise/file``, Moodle's or Canvas' zip (packed or unpacked), or files
        with the learner's name; a learner's own zip (``autodiff-kit submit``) stands for a file.
    exercises : sequence of str
        The folder names of the course's exercises; one of them in the path says which it is.
    exercise : str
        Which it is where no path says so.
    pattern : str
        A regular expression with the groups ``student`` and perhaps ``name`` and ``exercise``, for
        paths that are built in another way.

    Yields
    ------
    Submission - sorted by path; also for what cannot be read (with a `problem`).
    """
    names = _Names(exercises, exercise, re.compile(pattern) if pattern else None)
    useful: set[str] = set()
    useless: list[Submission] = []
    for file in _files(place):
        submission = names.label(file.path)
        suffix = PurePosixPath(file.path).suffix.lower()
        try:
            if suffix not in (*_WANTED, ".zip"):
                file.read()  # a link or a path that escapes is worth saying
                useless.append(_with(submission, problem=f"Not a notebook or .py file: {suffix}"))
                continue
            data = file.read()
            if suffix == ".zip":
                for inner in _inside(data):
                    path = f"{file.path}/{inner.path}"
                    found = names.label(path, submission)
                    useful.add(found.student)
                    yield _with(
                        found, data=inner.read(), suffix=PurePosixPath(inner.path).suffix.lower()
                    )
            else:
                useful.add(submission.student)
                yield _with(submission, data=data, suffix=suffix)
        except Unreadable as problem:
            useful.add(submission.student)
            yield _with(submission, suffix=suffix, problem=str(problem))
    # A picture beside a notebook is no submission; a picture alone is all that somebody sent.
    for submission in useless:
        if submission.student not in useful:
            yield submission


def _with(
    submission: Submission, data: bytes = b"", suffix: str = "", problem: str = ""
) -> Submission:
    if not (problem or submission.exercise):
        problem = "Which exercise is this? Its name stands nowhere in the path (see --exercise)."
    name, exercise = submission.name, submission.exercise
    return Submission(submission.student, name, exercise, submission.origin, data, suffix, problem)


class _Names:
    def __init__(
        self, exercises: Sequence[str], default: str, pattern: re.Pattern[str] | None
    ) -> None:
        self.exercises = sorted(exercises, key=len, reverse=True)
        self.default = default
        self.pattern = pattern

    def label(self, path: str, outer: Submission | None = None) -> Submission:
        """Read student and exercise out of a path; within a learner's zip, only the exercise."""
        origin = clean(_readable(path), 300)
        found = self.pattern.search(origin) if self.pattern else None
        groups = found.groupdict() if found else {}
        exercise = self.exercise(groups.get("exercise") or origin) or self.default
        if outer is not None:
            return Submission(outer.student, outer.name, exercise, origin, b"", "")
        student, name = groups.get("student") or "", groups.get("name") or ""
        if not student:
            student, name = self.student(PurePosixPath(origin))
        return Submission(student[:120], (name or student)[:120], exercise, origin, b"", "")

    def exercise(self, text: str) -> str:
        """Return the exercise that is named last in a path."""
        places = {name: text.casefold().rfind(name.casefold()) for name in self.exercises}
        best = max(places, key=lambda name: places[name], default="")
        return best if places.get(best, -1) >= 0 else ""

    def student(self, path: PurePosixPath) -> tuple[str, str]:
        for part in path.parts:
            if found := _MOODLE.fullmatch(part) or _CANVAS.fullmatch(part):
                return found["student"], found["name"]
        if len(path.parts) >= 2 and path.parts[-2] in self.exercises:  # nbgrader's
            folder = path.parts[-3] if len(path.parts) >= 3 else ""
            if folder:
                return folder, folder
        stem = path.stem
        for name in self.exercises:
            stem = re.sub(re.escape(name), "", stem, flags=re.I)
        stem = stem.strip(" _-.")
        student = stem or (path.parts[-2] if len(path.parts) >= 2 else "") or path.stem
        return student, student


def _readable(text: str) -> str:
    """Return a name as one form of valid text: what no encoding can tell becomes ``?``."""
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())


def _files(place: Path) -> Iterator[_File]:
    if place.is_dir():
        yield from _on_disk(place)
    elif place.suffix.lower() == ".zip" and place.is_file():
        with contextlib.ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(place))
            except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
                raise Unreadable(f"{place} is not a zip that can be read: {error}") from error
            yield from _in_zip(archive)
    else:
        yield _File(place.name, lambda: _read_file(str(place)))


def _on_disk(place: Path) -> Iterator[_File]:
    for folder, folders, files in os.walk(place):  # links to folders are listed, not entered
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in [name for name in folders if os.path.islink(os.path.join(folder, name))]:
            files.append(name)
        for name in sorted(files):
            full = os.path.join(folder, name)
            if name.startswith(".") or (name == "receipt.json"):
                continue
            path = os.path.relpath(full, place).replace(os.sep, "/")
            yield _File(path, lambda full=full: _read_file(full))  # type: ignore[misc]


def _read_file(path: str) -> bytes:
    """Return the bytes of a plain file; not of what a link points to, nor of a device or pipe."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Unreadable("A link or a special file is not followed.")
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, os.O_RDONLY | flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            return _limited(file.read(MAX_FILE + 1))
    except OSError as error:
        raise Unreadable(f"It cannot be read: {error.strerror}") from error


def _in_zip(archive: zipfile.ZipFile) -> Iterator[_File]:
    entries = sorted(archive.infolist(), key=lambda entry: entry.filename)
    for entry in entries:
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        if entry.is_dir() or any(p.startswith("__MACOSX") for p in parts):
            continue
        if parts and (parts[-1].startswith("._") or parts[-1] in (".DS_Store", "receipt.json")):
            continue
        path = "/".join(part for part in parts if part not in ("/", "..", "."))
        yield _File(path, lambda entry=entry: _read_entry(archive, entry))  # type: ignore[misc]


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
    if ".." in parts or entry.filename.startswith(("/", "\\")) or re.match(r"\w:", entry.filename):
        raise Unreadable("Its path leads out of the zip.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Unreadable("A link is not followed.")
    try:
        with archive.open(entry) as file:  # the sizes in the zip's head may lie
            return _limited(file.read(MAX_FILE + 1))
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
        raise Unreadable(f"It cannot be unpacked: {clean(str(error), 200)}") from error
    except (RuntimeError, NotImplementedError) as error:  # encrypted; an unknown packing
        raise Unreadable(f"It cannot be unpacked: {clean(str(error), 200)}") from error


def _limited(data: bytes) -> bytes:
    if len(data) > MAX_FILE:
        raise Unreadable(f"It has more than {MAX_FILE // 2**20} MiB.")
    return data


def _inside(data: bytes) -> list[_File]:
    """Return the notebooks and .py files in a learner's own zip."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"Not a zip that can be read: {clean(str(error), 200)}") from error
    if len(archive.infolist()) > MAX_INSIDE:
        raise Unreadable(f"A zip with more than {MAX_INSIDE} files.")
    found = [
        file for file in _in_zip(archive) if PurePosixPath(file.path).suffix.lower() in _WANTED
    ]
    if not found:
        raise Unreadable("A zip without a notebook or .py file in it.")
    return found


def count(place: Path) -> int:
    """Return about how many submissions there are, for an estimate; nothing is opened."""
    return sum(
        PurePosixPath(file.path).suffix.lower() in (*_WANTED, ".zip") for file in _files(place)
    )
