"""Keep what was handed in: who, when, and the file itself, so that all of it can be graded again.

After reading this file you can say what is one hand-in (the same work at another time is another
one), and how a file is kept so that nothing is half written. Read next: ``store.py``.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

from autodiff_kit.files import written_whole
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.results import file_hash, work_of

__all__ = ["FOLDER", "HandIn", "hand_in_of", "keep", "kept"]

FOLDER = "hand-ins"
MAX_KEPT = 2**28  # bytes of one, unpacked: far above what can have been read


@dataclass(frozen=True)
class HandIn:
    """That a learner handed in a piece of work at some time."""

    student: str
    name: str
    exercise: str
    work: str
    """What was handed in: the hash of the file, or, where there was nothing to read, which file."""
    origin: str
    suffix: str
    problem: str
    note: str
    handed_in: float
    """Seconds since 1970, or 0 if nothing says when."""
    is_late: bool | None
    """What the learning platform says, if it says anything."""

    def submission(self, data: bytes) -> Submission:
        """Return the work as it was handed in."""
        who = (self.student, self.name, self.exercise, self.origin)
        when = (self.handed_in, self.is_late)
        return Submission(*who, data, self.suffix, self.problem, self.note, *when)


def hand_in_of(submission: Submission) -> HandIn:
    """Return that work was handed in, without the work itself."""
    s = submission
    work = work_of(file_hash(s.data), s.origin)
    return HandIn(
        *(s.student, s.name, s.exercise, work, s.origin, s.suffix, s.problem, s.note),
        handed_in=s.handed_in,
        is_late=s.is_late,
    )


def _place(results: Path, work: str) -> Path:
    return results / FOLDER / work[:2] / work[2:]


def keep(results: Path, data: bytes) -> None:
    """Keep a file, packed, under its hash; the same one is kept once.

    Raises
    ------
    OSError
        If there is no room for it.
    """
    place = _place(results, file_hash(data))
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(place) as file:
        file.write(zlib.compress(data, 1))


def kept(results: Path, work: str) -> bytes | None:
    """Return a file that was kept, or None if it is not there or not what it was."""
    try:
        data = zlib.decompressobj().decompress(_place(results, work).read_bytes(), MAX_KEPT)
    except (OSError, zlib.error, ValueError):
        return None
    return data if file_hash(data) == work else None
