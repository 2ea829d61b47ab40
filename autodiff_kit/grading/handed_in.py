"""Read the files in whatever was handed in: a folder, a class's zip, a learner's own zip.

After reading this file you can say what is never followed or entered, up to which limits files are
read, and why no zip can harm the grader: a learner's own is unpacked in a process that may be lost.
Read next: ``submissions.py``, which says which of the files count.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import re
import stat
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from autodiff_kit.grading.calls import Call, Limits, Runner, clean
from autodiff_kit.grading.notebook import Unreadable

__all__ = ["AROUND", "CANDIDATES", "MAX_FILE", "File", "count", "files_in", "unzipped"]

# Bytes of one notebook, and of all in a zip, unpacked. Most of a large notebook are stored outputs,
# which are not needed; the code in it has a limit of its own (`notebook.MAX_CODE`).
MAX_FILE = 48 * 2**20
MAX_INSIDE = 500  # files in one learner's own zip
MAX_LEVELS = 40  # folders in one another
UNPACKING = Limits(seconds=10, memory=512, reply=MAX_FILE + 2**20, total=15)
CANDIDATES = (".ipynb", ".py")
# Folders around those of the learners, as nbgrader and teachers call them.
NBGRADERS = "submitted"  # nbgrader's own name of it
AROUND = (NBGRADERS, "submissions")


@dataclass(frozen=True)
class File:
    """A file, not read yet, under the name that it has in the folder or zip."""

    path: str
    read: Callable[[], bytes]
    time: float = 0.0
    """When it was written, in seconds since 1970; 0 if that is not known."""

    @property
    def suffix(self) -> str:
        """The end of its name, from the last point on."""
        return PurePosixPath(self.path).suffix.lower()


def files_in(
    place: Path,
    stack: contextlib.ExitStack,
    around: Sequence[Collection[str]] = (AROUND,),
    most: int | None = None,
) -> Iterator[File]:
    """Yield the files of a folder or a zip, or the one file that a place is; none is read yet.

    Parameters
    ----------
    place : Path
    stack : ExitStack
        What an open zip is closed with.
    around : sequence of collections of str
        What folders around those of the learners are called, from the outermost inward; each may be
        left out.
    most : int, optional
        No more of the files in each learner's folder.
    """
    if place.is_dir():
        yield from _on_disk(place, around, most)
    elif place.suffix.lower() == ".zip" and place.is_file():
        try:
            archive = stack.enter_context(zipfile.ZipFile(place))
        except _BROKEN_ZIP as error:
            raise Unreadable(
                f"{place} is not a zip that can be read: {clean(str(error), 200)}"
            ) from error
        yield from _in_zip(archive)
    else:
        yield _file(place, place.parent)


def _on_disk(place: Path, around: Sequence[Collection[str]], most: int | None) -> Iterator[File]:
    """Yield the files below a folder; of each learner's folder no more than can be of use."""
    for part in _parts(place, around):
        yield from itertools.islice(_below(part, place), most)


def _parts(folder: Path, around: Sequence[Collection[str]]) -> Iterator[Path]:
    """Yield what belongs to one learner each: a folder, or a loose file."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        levels = (n for n, names in enumerate(around) if path.name.casefold() in names)
        level = next(levels, None)
        is_around = level is not None and path.is_dir() and not path.is_symlink()
        if level is None or not is_around or not os.access(path, os.R_OK | os.X_OK):
            yield path  # also a folder that cannot be read, which is a row
        else:
            yield from _parts(path, around[level + 1 :])


def _below(path: Path, place: Path) -> Iterator[File]:
    def is_seen(name: str) -> bool:
        return not name.startswith((".", "__MACOSX"))

    if path.is_symlink() or not path.is_dir():
        if not path.name.startswith(".") and path.name != "receipt.json":
            yield _file(path, place)
        return
    if not is_seen(path.name):
        return
    waiting = [(path, 1)]
    while waiting:
        folder, levels = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield _unread(folder, place, f"The folder cannot be read: {error.strerror}.")
            continue
        folders = [entry for entry in inside if entry.is_dir(follow_symlinks=False)]
        for entry in inside:  # links to folders are listed, not entered
            is_file = entry not in folders
            if is_file and not entry.name.startswith(".") and entry.name != "receipt.json":
                yield _file(folder / entry.name, place)
        names = [entry.name for entry in folders if is_seen(entry.name)]
        if names and levels == MAX_LEVELS:
            yield _unread(folder / names[0], place, f"It lies in more than {MAX_LEVELS} folders.")
        else:
            waiting += [(folder / name, levels + 1) for name in reversed(names)]


def _unread(path: Path, place: Path, problem: str) -> File:
    def read() -> bytes:
        raise Unreadable(problem)

    return replace(_file(path, place), read=read)


def _file(path: Path, place: Path) -> File:
    name = os.path.relpath(path, place).replace(os.sep, "/")
    time = 0.0
    with contextlib.suppress(OSError):
        time = os.lstat(path).st_mtime
    return File(name, lambda: _read_file(str(path)), time)


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


def _in_zip(archive: zipfile.ZipFile) -> Iterator[File]:
    entries = sorted(archive.infolist(), key=lambda entry: entry.filename)
    for entry in entries:
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        if entry.is_dir() or any(p.startswith("__MACOSX") for p in parts):
            continue
        if parts and (parts[-1].startswith("._") or parts[-1] in (".DS_Store", "receipt.json")):
            continue
        path = "/".join(part for part in parts if part not in ("/", "..", ".")) or "a file"
        read = functools.partial(_read_entry, archive, entry)
        yield File(path, read, _time_of(entry))


def _time_of(entry: zipfile.ZipInfo) -> float:
    """Return when a file in a zip was written; a zip knows no time zone, and no year before 1980.

    What is said to be of the first second of 1980 was packed by a program that knew no time.
    """
    if entry.date_time[:3] == (1980, 1, 1):
        return 0.0
    try:
        return time.mktime((*entry.date_time, 0, 0, -1))
    except (OverflowError, ValueError, TypeError):  # no such day
        return 0.0


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
    if ".." in parts or entry.filename.startswith(("/", "\\")) or re.match(r"\w:", entry.filename):
        raise Unreadable("Its path leads out of the zip.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Unreadable("A link is not followed.")
    if entry.compress_type not in _BOUNDED:
        raise Unreadable(_UNUSUAL)
    try:
        with archive.open(entry) as file:  # the sizes in the zip's head may lie
            return _limited(file.read(MAX_FILE + 1))
    except (*_BROKEN_ZIP, RuntimeError) as error:  # also encrypted, or an unknown packing
        raise Unreadable(f"It cannot be unpacked: {clean(str(error), 200)}") from error


# Only of these two packings can be had as many bytes as one wants, and no more.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNUSUAL = "It is packed in an unusual way: pack it as an ordinary zip."
_BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError),
    *(NotImplementedError, OverflowError, KeyError, IndexError),
)


def _limited(data: bytes) -> bytes:
    if len(data) > MAX_FILE:
        raise Unreadable(
            f"It has more than {MAX_FILE // 2**20} MiB. Of a notebook, clear the outputs: they are "
            "not needed."
        )
    return data


def unzipped(data: bytes, runner: Runner) -> list[tuple[str, bytes]]:
    """Return the notebooks and .py files in a learner's own zip: (path, bytes)."""
    limits = {"files": MAX_INSIDE, "bytes": MAX_FILE, "suffixes": list(CANDIDATES)}
    limits |= {"packings": list(_BOUNDED), "unusual": _UNUSUAL}
    question = {"data": np.frombuffer(data, np.uint8), **limits}
    driver = f"{inspect.getsource(_unpack)}\n\ndrive = _unpack\n"
    (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], UNPACKING)
    if reply.status != "ok":
        why = {
            "memory": f"Unpacking it takes more than {UNPACKING.memory} MiB of memory.",
            "timeout": f"Unpacking it takes more than {UNPACKING.seconds:g} s.",
        }
        words = why.get(reply.status, clean(reply.error, 200))
        raise Unreadable(f"Not a zip that can be read: {words}")
    if isinstance(reply.value, str):
        raise Unreadable(reply.value)
    return [(path, inside.tobytes()) for path, inside in reply.value]


def _unpack(step: Any, data: Any) -> Any:
    """Return [path, bytes] of each file, or what is wrong: run where a zip bomb does no harm."""
    import io
    import pathlib
    import zipfile

    import numpy as np

    try:
        archive = zipfile.ZipFile(io.BytesIO(data["data"].tobytes()))
        entries = archive.infolist()
        if len(entries) > data["files"]:
            return f"A zip with more than {data['files']} files."
        if sum(entry.compress_size for entry in entries) > len(data["data"]):
            return "A zip whose files lie on top of one another."
        files, inner, size = [], "", 0
        for entry in sorted(entries, key=lambda entry: entry.filename):
            path = pathlib.PurePosixPath(entry.filename.replace("\\", "/"))
            odd = path.name.startswith("._") or "__MACOSX" in path.parts
            inner = inner or (str(path)[:150] if path.suffix.lower() == ".zip" else "")
            if entry.is_dir() or odd or path.suffix.lower() not in data["suffixes"]:
                continue
            if ".." in path.parts or path.is_absolute() or entry.external_attr >> 28 == 0xA:
                return f"It has a link in it, or a path that leads out of it: {str(path)[:150]!r}"
            if entry.compress_type not in data["packings"]:
                return str(data["unusual"])
            with archive.open(entry) as file:
                content = file.read(data["bytes"] + 1 - size)
            size += len(content)
            if size > data["bytes"]:
                return f"It has more than {data['bytes'] // 2**20} MiB."
            name = str(path).encode("utf-8", "replace").decode()
            files.append([name, np.frombuffer(content, np.uint8)])
    except MemoryError:
        raise
    except Exception as error:
        return f"Not a zip that can be read: {type(error).__name__}: {str(error)[:150]}"
    if inner and not files:
        return f"A zip with another zip in it, {inner!r}: unpack that one first."
    return files or "A zip without a notebook or .py file in it."


def count(place: Path) -> int:
    """Return about how many submissions there are, for an estimate; nothing is opened."""
    with contextlib.ExitStack() as stack:
        files = files_in(place, stack)
        return sum(file.suffix in (*CANDIDATES, ".zip") for file in files)
