"""The learner's own answers: one small JSON file beside the lessons, sent nowhere.

After reading this file you can say what is kept of an answer, and why neither two notebooks at
once nor a damaged file nor a read-only folder can lose what was kept before. Deleting the file is
how to start afresh. Read next: ``predict.py``, which asks the questions.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from autodiff_kit.free_form import Json
from autodiff_kit.lessons import library
from autodiff_kit.lessons.renamed import renamed

__all__ = ["Answer", "Performance", "RecalledAnswer", "keep", "keep_performance", "keep_recalled"]
__all__ += ["path", "read", "read_performances", "read_recalled"]

VERSION = 2  # 1: the keys of the lessons' first edition
LOCK_SECONDS = 5.0


@dataclass(frozen=True)
class Answer:
    """What is kept about one question.

    Attributes
    ----------
    first : str
        The first answer, in the learner's words. It never changes.
    right : bool
        Whether the first answer was right.
    tries : int
        How many answers there were.
    solved : bool
        Whether one of them was right.
    looked : bool
        Whether the learner asked for the answer.
    """

    first: str
    right: bool
    tries: int = 1
    solved: bool = False
    looked: bool = False


@dataclass(frozen=True)
class Performance:
    """What is kept about one performance of a graph, "Be the engine".

    Attributes
    ----------
    times : int
        How often it was performed to its end.
    mastered : list of str
        What was asked for and right at once, by the names of ``view/perform/script.py``.
    again : list of str
        What went wrong the last time: mistakes of a known kind first, then what was asked for.
    at : int
        When that was: later performances and recalled answers have larger numbers.
    """

    times: int
    mastered: list[str]
    again: list[str]
    at: int = 0


@dataclass(frozen=True)
class RecalledAnswer:
    """What is kept about a question that was asked again in a later lesson.

    Attributes
    ----------
    times : int
        How often it was answered there.
    right : bool
        Whether the last answer was right.
    at : int
        When that was, as for a performance.
    """

    times: int
    right: bool
    at: int = 0


class _DamagedError(Exception):
    """The file is there and can be read, but it is not a progress file."""


class _NewerError(Exception):
    """A newer kit wrote the file; writing over it might lose what only that one knows."""


def path() -> Path:
    """Return where the answers are kept: beside the notebook that runs, or in ``ADK_PROGRESS``."""
    return library.progress_file().absolute()


def read() -> tuple[dict[str, Answer], str]:
    """Read the answers kept so far; change nothing.

    Returns
    -------
    (dict of str to Answer, str) - by the questions' keys; and what the learner should know, ``""``
    if all is well. Without a file, or with one that cannot be read, there are no answers.
    """
    file = path()
    try:
        return _parse(_load(file)), ""
    except _DamagedError:
        return {}, (
            f"Your progress file {file} is damaged and could not be read. "
            "With your next answer it is set aside under another name, not deleted."
        )
    except _NewerError as error:
        return {}, str(error)
    except OSError as error:
        return {}, f"Your earlier answers could not be read: {file} ({error.strerror})."


def keep(key: str, response: str, right: bool, *, looked: bool = False) -> tuple[bool, str]:
    """Add one answer to the file: read it again, merge, write it whole, under a lock.

    Parameters
    ----------
    key : str
        The question's key, such as ``"03.source_claim"``.
    response : str
        The answer in the learner's words; only the first one is kept.
    right : bool
        Whether it is right.
    looked : bool
        The learner asked for the answer: this is no try of their own.

    Returns
    -------
    (bool, str) - whether it was kept; and what the learner should know, ``""`` if all is well.
    Nothing is raised: a question must work in a folder where nothing can be kept.
    """

    def add(data: Json) -> None:
        answer = _merge(_parse(data).get(key), response, right, looked)
        # What is not understood here (fields that were added by hand, say) stays as it is.
        entries = {**data.get("answers", {})}
        entries[key] = {**entries.get(key, {}), **asdict(answer)}
        data["answers"] = dict(sorted(entries.items()))

    return _change(add, "answer")


def keep_performance(key: str, result: Json) -> tuple[bool, str]:
    """Add what came of a performance to the file, as ``keep`` adds an answer.

    Parameters
    ----------
    key : str
        The performance's key, such as ``"03.engine"``.
    result : dict
        As ``BeTheEngine.result`` has it: what was mastered, and what to try again.

    Returns
    -------
    (bool, str) - whether it was kept; and what the learner should know, ``""`` if all is well.
    """

    def add(data: Json) -> None:
        before = _performances(data)
        performance = _merged(before.get(key), result, _next(data))
        entries = {**_entries(data), key: asdict(performance)}
        data["performances"] = dict(sorted(entries.items()))

    return _change(add, "result")


def read_performances() -> tuple[dict[str, Performance], str]:
    """Read what came of the performances so far; change nothing.

    Returns
    -------
    (dict of str to Performance, str) - by their keys; and what the learner should know, ``""`` if
    all is well.
    """
    _, note = read()
    if note:
        return {}, note
    try:
        return _performances(_load(path())), ""
    except (_DamagedError, _NewerError, OSError):  # changed just now: the next reading tells
        return {}, ""


def keep_recalled(key: str, right: bool) -> tuple[bool, str]:
    """Add the answer to a question that was asked again in a later lesson.

    Parameters
    ----------
    key : str
        The question's key.
    right : bool
        Whether this try is right.

    Returns
    -------
    (bool, str) - whether it was kept; and what the learner should know, ``""`` if all is well.
    """

    def add(data: Json) -> None:
        before = _recalled(data).get(key)
        answer = RecalledAnswer((before.times if before else 0) + 1, right, _next(data))
        entries = data.get("recalled")
        entries = {**(entries if isinstance(entries, dict) else {}), key: asdict(answer)}
        data["recalled"] = dict(sorted(entries.items()))

    return _change(add, "answer")


def read_recalled() -> dict[str, RecalledAnswer]:
    """Read which questions were recalled; change nothing.

    Returns
    -------
    dict from str to RecalledAnswer - by the questions' keys. Of a file that cannot be read,
    nothing.
    """
    try:
        return _recalled(_load(path()))
    except (_DamagedError, _NewerError, OSError):
        return {}


def _recalled(data: Json) -> dict[str, RecalledAnswer]:
    """Take what was recalled out of a file's content; an entry that is not whole is left out."""
    recalled = {}
    entries = data.get("recalled")
    for key, entry in entries.items() if isinstance(entries, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("times"), int):
            right = entry.get("right") is True
            recalled[key] = RecalledAnswer(entry["times"], right, _number(entry.get("at")))
    return recalled


def _number(value: object) -> int:
    """Return the place of a change among the others; 0 where an earlier kit kept none."""
    return value if isinstance(value, int) else 0


def _next(data: Json) -> int:
    """Return a number larger than those of all performances and recalled answers so far."""
    numbers = [entry.at for entry in _performances(data).values()]
    numbers += [entry.at for entry in _recalled(data).values()]
    return 1 + max(numbers, default=0)


def _change(change: Callable[[Json], None], what: str) -> tuple[bool, str]:
    """Read the file, change its content and write it whole, under a lock."""
    file, note = path(), ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _locked(file.with_suffix(".lock")):
            try:
                data = _load(file)
                _parse(data)
            except _DamagedError:
                data = {}
                note = (
                    f"Your progress file was damaged. It was set aside as {_set_aside(file).name}, "
                    f"and a new one was begun with this {what}."
                )
            data = {**data, "about": "Your answers in the lessons of autodiff_kit."}
            data |= {"version": VERSION, "answers": data.get("answers", {})}
            change(data)
            text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
            library.write_atomically(file, text.encode("utf-8", "replace"))
    except _NewerError as error:
        return False, f"{error} This {what} was not kept, so that nothing in it is lost."
    except OSError as error:
        return False, (
            f"This {what} cannot be kept: {file} ({error.strerror or error}). "
            "To keep your answers, work in a folder of your own: autodiff-kit lab FOLDER"
        )
    return True, note


def _entries(data: Json) -> Json:
    """Return the part about performances; of a damaged one, nothing."""
    entries = data.get("performances")
    return entries if isinstance(entries, dict) else {}


def _performances(data: Json) -> dict[str, Performance]:
    """Take the performances out of a file's content; one that is not whole is left out."""
    performances = {}
    for key, entry in _entries(data).items():
        names = ("mastered", "again")
        is_whole = isinstance(entry, dict) and isinstance(entry.get("times"), int)
        if is_whole and all(isinstance(entry.get(name), list) for name in names):
            lists = {name: [str(word) for word in entry[name]] for name in names}
            performances[key] = Performance(entry["times"], **lists, at=_number(entry.get("at")))
    return performances


def _merged(before: Performance | None, result: Json, at: int) -> Performance:
    """Keep what was mastered once; what is to be tried again is what went wrong last."""
    mastered = [*dict.fromkeys([*(before.mastered if before else ()), *result["mastered"]])]
    again = [*result["misconceptions"], *result["practise"]]
    mastered = [concept for concept in mastered if concept not in again]
    return Performance((before.times if before else 0) + 1, mastered, again, at)


def _merge(before: Answer | None, response: str, right: bool, looked: bool) -> Answer:
    if before is None:
        return Answer(response, right, tries=0 if looked else 1, solved=right, looked=looked)
    return Answer(
        first=before.first,
        right=before.right,
        tries=before.tries + (not looked),
        solved=before.solved or right,
        looked=before.looked or looked,
    )


def _load(file: Path) -> Json:
    """Return the file's content, ``{}`` if there is no file."""
    try:
        data = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:  # broken JSON, or bytes that are not UTF-8
        raise _DamagedError from error
    if not isinstance(data, dict) or not isinstance(data.get("version"), int):
        raise _DamagedError
    if data["version"] > VERSION:
        raise _NewerError(f"{file} was written by a newer autodiff_kit: please upgrade.")
    if data["version"] == 1:
        for part in ("answers", "performances", "recalled"):
            if isinstance(data.get(part), dict):
                data[part] = renamed(data[part])
    return data


def _parse(data: Json) -> dict[str, Answer]:
    """Take the answers out of a file's content; one that is not whole makes the file damaged."""
    kinds = {"first": str, "right": bool, "tries": int, "solved": bool, "looked": bool}
    answers = {}
    try:
        for key, entry in data.get("answers", {}).items():
            values = {name: entry[name] for name in kinds}
            if not all(isinstance(values[name], kind) for name, kind in kinds.items()):
                raise _DamagedError
            answers[key] = Answer(**values)
    except (AttributeError, KeyError, TypeError) as error:
        raise _DamagedError from error
    return answers


def _set_aside(file: Path) -> Path:
    """Rename a damaged file, never over another one."""
    number = 1
    while (aside := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    return file.rename(aside)


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Let one process at a time through; the lock goes with the process, so none can be left over.

    Raises
    ------
    OSError
        If the lock cannot be had within five seconds, or its file cannot be made.
    """
    with file.open("a+b") as handle:
        until = time.monotonic() + LOCK_SECONDS
        while not _try_lock(handle.fileno()):
            if time.monotonic() > until:
                raise OSError("another notebook holds the file")
            time.sleep(0.02)
        yield  # closing the file gives the lock back


if sys.platform == "win32":

    def _try_lock(number: int) -> bool:
        import msvcrt

        try:
            os.lseek(number, 0, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:

    def _try_lock(number: int) -> bool:
        import fcntl

        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # this file system knows no locks: then two writers at once must be rare
        return True
