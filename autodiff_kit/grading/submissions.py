"""Find the submissions in whatever a teacher has: folders, a zip, loose files.

After reading this file you can say whose work a file is - the outermost folder's, or the one whom
the learning platform names in its own part of the file's name, and never anybody whom the learner
can name below that - which of several files counts, and what becomes of a file that is not what it
seems. Nothing is followed; names are labels only, contents are read up to a limit, a learner's own
zip is unpacked in a process that may be lost, and whatever cannot be read becomes a submission with
a `problem`, so that it ends as a row of the results like any other. Read next: ``store.py``.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import itertools
import os
import re
import stat
import struct
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from autodiff_kit.grading import notebook
from autodiff_kit.grading.calls import Call, Limits, Runner, clean
from autodiff_kit.grading.notebook import Unreadable
from autodiff_kit.grading.worker import Level0

__all__ = ["MAX_FILE", "MAX_FILES", "Submission", "Unreadable", "count", "find"]

# Bytes of one notebook, and of all in a zip, unpacked. Most of a large notebook are stored outputs,
# which are not needed; the code in it has a limit of its own (`notebook.MAX_CODE`).
MAX_FILE = 48 * 2**20
MAX_INSIDE = 500  # files in one learner's own zip
MAX_FILES = 100  # files of one learner that are looked at
MAX_TOGETHER = 2 * MAX_FILE  # bytes of all of them
MAX_ZIPS = 5  # of one learner
MAX_RIVALS = 10  # of one learner for the same exercise that are looked into
MAX_TIED = 3  # of these that are graded
MAX_SEEN = 1_000  # files in one learner's folder
MAX_LEVELS = 40  # folders in one another
UNPACKING = Limits(seconds=10, memory=512, reply=MAX_FILE + 2**20, total=15)
LOOKING = Limits(seconds=3, memory=512, total=3)  # into one of several files
MAX_UNPACKING = 10.0  # seconds, for all zips of one learner
MAX_LOOKING = 6.0  # seconds, into all of one learner's files for an exercise
_CANDIDATES = (".ipynb", ".py")
# Folders around those of the learners, as nbgrader and teachers call them.
_AROUND = ("submitted", "submissions")
# Moodle writes no underscore into its part of a name but the two around the number, and Canvas
# no number between two of them: the first that fits is the platform's own.
_MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<student>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)", re.S
)
_CANVAS = re.compile(r"(?P<name>.+?)_(?:LATE_)?(?P<student>\d+)_\d+_(?P<rest>.+)", re.S)
_CANVAS_UNNAMED = re.compile(r"anon_(?:LATE_)?(?P<student>\w{5})_\d+_(?P<rest>.+)", re.S)


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
    note: str = ""
    """Which other files there were that do not count, or ``""``."""


@dataclass(frozen=True)
class _File:
    """A file, not read yet, under the name that it has in the folder or zip."""

    path: str
    read: Callable[[], bytes]

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix.lower()


def find(
    place: Path,
    exercises: Sequence[str],
    exercise: str = "",
    pattern: str = "",
    runner: Runner | None = None,
    asked: Mapping[str, Collection[str]] | None = None,
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
        paths that are built in another way. It has to fit from a path's beginning on.
    runner : Runner, optional
        Where learners' zips are unpacked, and where several files of one learner for the same
        exercise are looked into; else in a plain process.
    asked : mapping of exercise to names, optional
        What each exercise asks for: it tells a notebook that was worked on from an untouched one.

    Yields
    ------
    Submission - learner by learner, each one's sorted by path; also for what cannot be read (with
    a `problem`).
    """
    names = _Names(exercises, exercise, re.compile(pattern) if pattern else None)
    with contextlib.ExitStack() as stack:
        # Folders with those of the learners in them; where a pattern says so, all may be such.
        around = [*_AROUND, *map(str.casefold, exercises)]
        files = list(_files(place, stack, around, None if pattern else MAX_SEEN))
        tops = {PurePosixPath(_readable(file.path)).parts[:1] for file in files}
        if len(tops) == 1 and all("/" in file.path for file in files):
            (top,) = tops.pop()
            own = "" if place.is_dir() else place.stem.casefold()  # class.zip with class/ in it
            names.around = top if top.casefold() in (*_AROUND, own) else ""
        labels = [names.label(file.path) for file in files]
        written: dict[str, set[str]] = {}
        for file, label in zip(files, labels, strict=True):
            written.setdefault(label.student, set()).add(names.written(file.path))
        learners: dict[str, list[tuple[_File, Submission]]] = {}
        for file, label in zip(files, labels, strict=True):
            if len(written[label.student]) > 1:
                label = _told_apart(label, names.written(file.path))
            learners.setdefault(label.student, []).append((file, label))
        for handed_in in learners.values():
            runner = runner or Level0()
            yield from _chosen(list(_read(handed_in, names, runner)), asked or {}, runner)


def _read(
    files: list[tuple[_File, Submission]], names: _Names, runner: Runner
) -> Iterator[Submission]:
    """Yield what one learner has handed in, zips unpacked; those of no use have a `problem`."""
    size = zips = 0
    unpacking = 0.0
    for file, label in files[:MAX_FILES]:
        try:
            if size > MAX_TOGETHER:
                raise Unreadable(f"All files together have more than {MAX_TOGETHER // 2**20} MiB.")
            data = file.read()
            size += len(data) * (file.suffix in _CANDIDATES)
            zips += file.suffix == ".zip"
            if file.suffix == ".zip" and zips > MAX_ZIPS:
                raise Unreadable(f"More than {MAX_ZIPS} zips: this one is not read.")
            if file.suffix == ".zip" and unpacking > MAX_UNPACKING:
                raise Unreadable("Other zips took too long: this one is not read.")
            if file.suffix == ".zip":
                begun = time.monotonic()
                try:
                    unpacked = _inside(data, runner)
                finally:
                    unpacking += time.monotonic() - begun
                for path, inside in unpacked:
                    inner = names.label(f"{file.path}/{path}", label)
                    suffix = PurePosixPath(path).suffix.lower()
                    size += len(inside)
                    yield replace(inner, data=inside, suffix=suffix)
            elif file.suffix in _CANDIDATES:
                yield replace(label, data=data, suffix=file.suffix)
            else:
                problem = f"Not a notebook or .py file: {clean(file.suffix, 20)}"
                yield replace(label, problem=problem)
        except Unreadable as problem:
            yield replace(label, suffix=file.suffix, problem=clean(str(problem), 300))
    if len(files) > MAX_FILES:
        yield replace(files[0][1], problem=f"More than {MAX_FILES} files: the others are not read.")


def _chosen(
    handed_in: list[Submission], asked: Mapping[str, Collection[str]], runner: Runner
) -> Iterator[Submission]:
    """Yield those of a learner's files that count.

    What can be read counts before what cannot: a picture beside a notebook is no submission, and a
    picture alone is all that was submitted. Then the file in which most was done counts: browsers
    and JupyterLab write finished work to ``name (1).ipynb`` or ``name-Copy1.ipynb``, beside the
    untouched notebook. Where that is equal, a notebook counts before a script, and one with the
    exercise's own name before others.
    """
    known = [s for s in handed_in if s.exercise]
    by_exercise: dict[str, list[Submission]] = {}
    for submission in known or handed_in:
        by_exercise.setdefault(submission.exercise, []).append(submission)
    for exercise, rivals in by_exercise.items():
        if not exercise:
            words = "Which exercise is this? Its name stands nowhere in the path (see --exercise)."
            rivals = [replace(rival, problem=rival.problem or words) for rival in rivals]
        best = [rival for rival in rivals if not rival.problem] or rivals
        best = _most_done(best, asked.get(exercise, ()), runner)
        best = [rival for rival in best if rival.suffix == ".ipynb"] or best
        named = [r for r in best if PurePosixPath(r.origin).stem.casefold() == exercise.casefold()]
        depth = min((rival.origin.count("/") for rival in named), default=0)
        best = [rival for rival in named if rival.origin.count("/") == depth] or best
        if len(best) > MAX_RIVALS or len({rival.data for rival in best}) > MAX_TIED:
            words = f"Which of these {len(best)} files is it? Its name should be {exercise}.ipynb."
            best = [replace(best[0], data=b"", problem=words)]
        counted = {submission.origin for submission in best}
        others = [s.origin for s in handed_in if s.exercise in (exercise, "") and _is_work(s)]
        yield from (replace(s, note=_note(s, counted, others)) for s in best)


def _is_work(submission: Submission) -> bool:
    return submission.suffix in (*_CANDIDATES, ".zip")


def _note(submission: Submission, counted: set[str], others: list[str]) -> str:
    """Say which files do not count because of this one, or which ones do so beside it."""
    left_out = [origin for origin in others if origin not in counted]
    beside = [origin for origin in others if origin in counted - {submission.origin}]
    parts = []
    for words, origins in (("not counted", left_out), ("also graded", beside)):
        if origins:
            more = f" and {len(origins) - 3} more" if len(origins) > 3 else ""
            parts.append(f"{words}: {', '.join(origins[:3])}{more}")
    return clean(f"One of several files; {'; '.join(parts)}.") if parts else ""


def _most_done(
    rivals: list[Submission], asked: Collection[str], runner: Runner
) -> list[Submission]:
    """Return those rivals in which most of what is asked for was worked on."""
    if len(rivals) < 2 or not asked:
        return rivals
    reader = inspect.getsource(notebook)
    driver = f"{inspect.getsource(_look)}\n\ndrive = _look\n"
    latest = time.monotonic() + MAX_LOOKING
    done: dict[bytes, int] = {}
    for rival in sorted(rivals, key=lambda rival: (rival.suffix, len(rival.origin), rival.origin)):
        if rival.data not in done and len(done) < MAX_RIVALS and time.monotonic() < latest:
            data = np.frombuffer(rival.data, np.uint8)
            question = {"data": data, "suffix": rival.suffix, "names": [*asked], "reader": reader}
            (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], LOOKING)
            done[rival.data] = reply.value if isinstance(reply.value, int) else 0
    most = max(done.values())
    return [rival for rival in rivals if done.get(rival.data, 0) == most]


def _look(step: Any, data: Any) -> Any:
    """Return how much was worked on in a file: read where a harmful file does no harm."""
    import sys
    import types

    module = sys.modules["reader"] = types.ModuleType("reader")
    exec(data["reader"], module.__dict__)
    return module.worked_on(data["data"].tobytes(), data["suffix"], data["names"])


class _Names:
    def __init__(
        self, exercises: Sequence[str], default: str, pattern: re.Pattern[str] | None
    ) -> None:
        self.exercises = sorted(exercises, key=len, reverse=True)
        self.default = default
        self.pattern = pattern
        self.around = ""

    def written(self, path: str) -> str:
        """Return whose a path is, with the name's characters as they are: some look the same."""
        groups, _, parts = self.parts(path)
        return self.whose(groups, parts)[0]

    def parts(self, path: str) -> tuple[dict[str, str | None], str, list[str]]:
        """Return what the pattern finds in a path, the exercise's folder around, and the rest."""
        fits = self.pattern.match(path) if self.pattern else None
        parts = list(PurePosixPath(path).parts)
        if len(parts) > 1 and parts[0] == self.around:
            del parts[0]
        # A folder for each exercise.
        above = parts.pop(0) if len(parts) > 1 and self.is_exercise(parts[0]) else ""
        return fits.groupdict() if fits else {}, above, parts

    def whose(self, groups: dict[str, str | None], parts: list[str]) -> tuple[str, str]:
        """Return a learner's number and name."""
        student = groups.get("student")
        return (student, groups.get("name") or "") if student else self.student(parts)

    def label(self, path: str, outer: Submission | None = None) -> Submission:
        """Read student and exercise out of a path; within a learner's zip, only the exercise."""
        whole = _readable(path)
        origin = clean(whole, 300)
        if outer is not None:
            inner = self.exercise(whole) or self.default
            return replace(outer, exercise=inner, origin=origin)
        groups, above, parts = self.parts(whole)
        student, name = self.whose(groups, parts)
        if len(parts) > 2 and self.is_exercise(parts[1]):  # nbgrader's
            exercise = self.exercise(parts[1])
        else:
            exercise = self.exercise("/".join(parts[1:])) or self.exercise(parts[-1])
        exercise = self.exercise(groups.get("exercise") or "") or exercise or self.exercise(above)
        exercise = exercise or self.default
        return Submission(_short(student), _short(name or student), exercise, origin, b"", "")

    def is_exercise(self, part: str) -> bool:
        return part.casefold() in map(str.casefold, self.exercises)

    def exercise(self, text: str) -> str:
        """Return the exercise that is named last in a path."""
        places = {name: text.casefold().rfind(name.casefold()) for name in self.exercises}
        best = max(places, key=lambda name: places[name], default="")
        return best if places.get(best, -1) >= 0 else ""

    def student(self, parts: list[str]) -> tuple[str, str]:
        """Return number and name out of a path's outermost part: all below it is the learner's."""
        first = parts[0]
        if fits := _MOODLE.fullmatch(first):
            return fits["student"], fits["name"]
        if len(parts) > 1:
            return first, first
        if fits := _CANVAS_UNNAMED.fullmatch(first):
            return fits["student"], "anon"
        if fits := _CANVAS.fullmatch(first):
            return fits["student"], fits["name"]
        stem = PurePosixPath(first).stem
        for name in self.exercises:
            stem = re.sub(re.escape(name), "", stem, flags=re.I)
        student = stem.strip(" _-.") or PurePosixPath(first).stem
        return student, student


def _told_apart(label: Submission, written: str) -> Submission:
    """Return another learner for each way to write a name that looks the same."""
    mark = hashlib.sha256(os.fsencode(written)).hexdigest()[:6]
    return replace(label, student=f"{label.student}~{mark}", name=f"{label.name}~{mark}")


def _short(text: str) -> str:
    """Return a name of bounded length, and another one for another name."""
    if len(text) <= 120:
        return clean(text, 4 * 120)
    return f"{clean(text[:100], 400)}~{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _readable(text: str) -> str:
    """Return a name as one form of valid text: what no encoding can tell becomes ``?``."""
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())


def _files(
    place: Path,
    stack: contextlib.ExitStack,
    around: Sequence[str] = _AROUND,
    most: int | None = None,
) -> Iterator[_File]:
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
        yield _File(place.name, lambda: _read_file(str(place)))


def _on_disk(place: Path, around: Sequence[str], most: int | None) -> Iterator[_File]:
    """Yield the files below a folder; of each learner's folder no more than can be of use."""
    for path in sorted(place.iterdir(), key=lambda path: path.name):
        is_around = path.name.casefold() in around and path.is_dir() and not path.is_symlink()
        for part in sorted(path.iterdir(), key=lambda path: path.name) if is_around else [path]:
            yield from itertools.islice(_below(part, place), most)


def _below(path: Path, place: Path) -> Iterator[_File]:
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
        seen = [entry.name for entry in folders if is_seen(entry.name)]
        if seen and levels == MAX_LEVELS:
            yield _unread(folder / seen[0], place, f"It lies in more than {MAX_LEVELS} folders.")
        else:
            waiting += [(folder / name, levels + 1) for name in reversed(seen)]


def _unread(path: Path, place: Path, problem: str) -> _File:
    def read() -> bytes:
        raise Unreadable(problem)

    return replace(_file(path, place), read=read)


def _file(path: Path, place: Path) -> _File:
    name = os.path.relpath(path, place).replace(os.sep, "/")
    return _File(name, lambda: _read_file(str(path)))


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
        path = "/".join(part for part in parts if part not in ("/", "..", ".")) or "a file"
        yield _File(path, lambda entry=entry: _read_entry(archive, entry))  # type: ignore[misc]


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
    if ".." in parts or entry.filename.startswith(("/", "\\")) or re.match(r"\w:", entry.filename):
        raise Unreadable("Its path leads out of the zip.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Unreadable("A link is not followed.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # Only of these two can be had as many bytes as one wants, and no more.
        raise Unreadable("It is packed in an unusual way: pack it as an ordinary zip.")
    try:
        with archive.open(entry) as file:  # the sizes in the zip's head may lie
            return _limited(file.read(MAX_FILE + 1))
    except (*_BROKEN_ZIP, RuntimeError) as error:  # also encrypted, or an unknown packing
        raise Unreadable(f"It cannot be unpacked: {clean(str(error), 200)}") from error


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


def _inside(data: bytes, runner: Runner) -> list[tuple[str, bytes]]:
    """Return the notebooks and .py files in a learner's own zip: (path, bytes)."""
    limits = {"files": MAX_INSIDE, "bytes": MAX_FILE, "suffixes": list(_CANDIDATES)}
    question = {"data": np.frombuffer(data, np.uint8), **limits}
    driver = f"{inspect.getsource(_unpack)}\n\ndrive = _unpack\n"
    (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], UNPACKING)
    if reply.status != "ok":
        why = {"memory": "It needs more memory than there is.", "timeout": "It takes too long."}
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
        found, size = [], 0
        for entry in sorted(entries, key=lambda entry: entry.filename):
            path = pathlib.PurePosixPath(entry.filename.replace("\\", "/"))
            odd = path.name.startswith("._") or "__MACOSX" in path.parts
            if entry.is_dir() or odd or path.suffix.lower() not in data["suffixes"]:
                continue
            if ".." in path.parts or path.is_absolute() or entry.external_attr >> 28 == 0xA:
                return "It has a link in it, or a path that leads out of it."
            with archive.open(entry) as file:
                content = file.read(data["bytes"] + 1 - size)
            size += len(content)
            if size > data["bytes"]:
                return f"It has more than {data['bytes'] // 2**20} MiB."
            name = str(path).encode("utf-8", "replace").decode()
            found.append([name, np.frombuffer(content, np.uint8)])
    except MemoryError:
        return "Not a zip that can be read: it needs more memory than there is."
    except Exception as error:
        return f"Not a zip that can be read: {type(error).__name__}: {str(error)[:150]}"
    return found or "A zip without a notebook or .py file in it."


def count(place: Path) -> int:
    """Return about how many submissions there are, for an estimate; nothing is opened."""
    with contextlib.ExitStack() as stack:
        files = _files(place, stack)
        return sum(file.suffix in (*_CANDIDATES, ".zip") for file in files)
