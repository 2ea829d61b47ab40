"""Read what Canvas writes in front of a file's name: NAME_[LATE_]USER_ATTACHMENT_FILE.

After reading this file you can say why a learner who calls himself ``foo_13`` hands in nothing for
user 13. Name and file are the learner's to choose; the two numbers between them are Canvas' own.
Canvas takes out numbers between underscores from a name, but one may stay at its end, and a file's
name may begin with one: then three numbers in a row can be read in two ways. Which of them is right
only Canvas' own numbers say, those of all files together; if they do not, the teacher is asked.
Read next: ``submissions.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["COPY", "CanvasNames", "Reading", "readings_of"]

# What browsers and Jupyter write behind the name of a file of which there is one already.
COPY = re.compile(r"(\s*\(\d+\)|-Copy\d*|\s-\sCopy|\scopy(\s\d+)?)+$", re.I)
_NAMED = re.compile(
    r"(?P<name>.+?)_(?P<late>LATE_)?(?P<numbers>\d+(_\d+)+)_(?P<rest>.+)", re.S | re.A
)
_ANONYMOUS = re.compile(
    r"anon_(?P<late>LATE_)?(?P<user>[A-Za-z0-9]{5})_(?P<attachment>\d+)_(?P<rest>.+)", re.S | re.A
)
_TAKEN_OUT = re.compile(r"_\d+_", re.A)  # never in a name that Canvas wrote
FEWER = 2  # digits that a number has less than any attachment's, and so is none


@dataclass(frozen=True)
class Reading:
    """One way to read a file's name."""

    user: str
    name: str
    attachment: str
    rest: str
    """What the learner called the file."""
    is_late: bool

    @property
    def file(self) -> tuple[str, str]:
        """What one attachment is of: a user and a file, however often it was downloaded."""
        stem, point, suffix = self.rest.rpartition(".")
        return self.user, f"{COPY.sub('', stem)}{point}{suffix}"


def readings_of(file: str) -> list[Reading]:
    """Return the ways to read a name, that of the first two numbers first; none if not Canvas'."""
    readings = []
    if fits := _ANONYMOUS.fullmatch(file):
        number, rest = fits["attachment"], fits["rest"]
        readings.append(Reading(fits["user"], "anon", number, rest, bool(fits["late"])))
    if fits := _NAMED.fullmatch(file):
        name, late, rest, numbers = *fits.group("name", "late", "rest"), fits["numbers"].split("_")
        after = "_".join([*numbers[2:], rest])
        readings.append(Reading(numbers[0], name, numbers[1], after, bool(late)))
        if len(numbers) > 2:  # the first may be the end of the name
            name, after = f"{name}_{late or ''}{numbers[0]}", "_".join([*numbers[3:], rest])
            readings.append(Reading(numbers[1], name, numbers[2], after, is_late=False))
    by_user: dict[str, Reading] = {}
    for reading in readings:
        if not _TAKEN_OUT.search(reading.name):
            by_user.setdefault(reading.user, reading)
    return list(by_user.values())


class CanvasNames:
    """The names of all files of Canvas that were handed in, read together.

    Parameters
    ----------
    files : iterable of str
    """

    def __init__(self, files: Iterable[str] = ()) -> None:
        self._readings = {file: readings_of(file) for file in files}
        sure = [readings[0] for readings in self._readings.values() if len(readings) == 1]
        self._names = {(reading.user, reading.name) for reading in sure}
        self._digits = min((len(reading.attachment) for reading in sure), default=0)
        # By attachment: the files that it would be, were each name read as its first numbers say.
        self._files: dict[str, set[object]] = {}
        for first, *_ in filter(None, self._readings.values()):
            self._files.setdefault(first.attachment, set()).add(first.file)

    def readings(self, file: str) -> list[Reading]:
        """Return how a name is read: one way, none if it is not Canvas', or two that are open."""
        readings = self._readings.get(file)
        if readings is None:
            readings = readings_of(file)
        if len(readings) != 2:
            return readings
        first, last = readings
        digits = len(last.attachment) + FEWER
        is_first = last.attachment.startswith("0") or digits <= self._digits <= len(
            first.attachment
        )
        is_last = (
            first.attachment.startswith("0")
            or len(self._files.get(first.attachment, ())) > 1
            or (last.user, last.name) in self._names
        )
        if is_first == is_last:
            return readings
        return [first] if is_first else [last]
