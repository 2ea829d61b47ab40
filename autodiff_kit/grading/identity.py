"""Say whose work a file is, and for which exercise.

After reading this file you can say why nothing that a learner can name changes that: the outermost
folder counts, or the learning platform's own part of a file's name; names that only look the same
are kept apart. Read next: ``canvas_names.py``.
"""

from __future__ import annotations

import enum
import hashlib
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.canvas_names import COPY, CanvasNames, readings_of

__all__ = ["Names", "Platform", "Submission", "platform_of", "readable", "several_in", "told_apart"]

# Moodle writes no underscore into its part of a name but the two around the number: the first that
# fits is the platform's own.
_MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<student>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)", re.S | re.A
)


_EXAMPLE = "name it like ada_e02_rules.ipynb, or put it in a folder of the learner's name"


def several_in(origins: Iterable[str]) -> int:
    """Return how many people Moodle names below the outermost folder of some files.

    It names one in each folder that it gives out: more than one in a learner's own folder means
    that the folder is none, but the class's.
    """
    names = (part for origin in origins for part in PurePosixPath(origin).parts[1:])
    return len({match["student"] for name in names if (match := _MOODLE.fullmatch(name))})


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
    """Whether it came late, and which other files there were that do not count, or ``""``."""
    handed_in: float = 0.0
    """Seconds since 1970, or 0 if nothing says when."""
    is_late: bool | None = None
    """What the learning platform says, if it says anything."""


class Names:
    """Reads learner and exercise out of paths; `around` is a folder that all files lie in."""

    def __init__(
        self, exercises: Sequence[str], default: str, pattern: re.Pattern[str] | None
    ) -> None:
        self.exercises = sorted(exercises, key=len, reverse=True)
        # Teachers call a folder by an exercise's id, too: 04.accumulate for e04_accumulate.
        self.words = {re.sub(r"^e(\d+)_", r"\1.", name): name for name in self.exercises}
        self.words |= {name: name for name in self.exercises}
        self.default = default
        self.pattern = pattern
        self.around = ""
        self.is_nbgraders = False  # whether the learners' folders lie in one that nbgrader made
        self.is_alone = False
        """Whether all there is is one file: then its name is as good as a learner's."""
        self.canvas = CanvasNames()
        """Of all files: see `read_together`."""

    def read_together(self, paths: Iterable[str]) -> None:
        """Let names that can be read in two ways be read by what the others say."""
        outermost = (self.parts(readable(path))[2] for path in paths)
        loose = (parts[0] for parts in outermost if len(parts) == 1)
        self.canvas = CanvasNames(name for name in loose if not _MOODLE.fullmatch(name))

    def written(self, path: str) -> str:
        """Return whose a path is, with the name's characters as they are: some look the same."""
        groups, _, parts = self.parts(path)
        return self.whose(groups, parts)[0] or parts[-1]

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
        whole = readable(path)
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
        # A file without a learner's name ends as a row under its own name.
        problem = "" if student else self.why_unknown(parts[0])
        student, name = student or parts[-1], name or student or parts[-1]
        is_late = None if groups.get("student") else self.is_late(parts)
        note = "Handed in late." if is_late else ""
        who = (_short(student), _short(name), exercise, origin)
        return Submission(*who, b"", "", problem, note, is_late=is_late)

    def is_exercise(self, part: str) -> bool:
        """Return whether a part of a path is the name of an exercise."""
        return part.casefold() in map(str.casefold, self.words)

    def exercise(self, text: str) -> str:
        """Return the exercise that is named last in a path."""
        places = {word: text.casefold().rfind(word.casefold()) for word in self.words}
        best = max(places, key=lambda word: places[word], default="")
        return self.words[best] if places.get(best, -1) >= 0 else ""

    def is_late(self, parts: list[str]) -> bool | None:
        """Return what Canvas wrote into a file's name: whether it was handed in late.

        None where it is no file of Canvas'.
        """
        if len(parts) > 1 or _MOODLE.fullmatch(parts[0]):
            return None
        readings = self.canvas.readings(parts[0])
        return readings[0].is_late if len(readings) == 1 else None

    def is_timestamp(self, path: str) -> bool:
        """Return whether a file is nbgrader's word on when an exercise was handed in.

        Only at submitted/STUDENT/EXERCISE: elsewhere a learner may have written it.
        """
        _, above, parts = self.parts(path)
        is_nbgrader = self.is_nbgraders and not above
        is_nbgrader = is_nbgrader and len(parts) == 3 and self.is_exercise(parts[1])
        return is_nbgrader and parts[2] == "timestamp.txt" and not _MOODLE.fullmatch(parts[0])

    def student(self, parts: list[str]) -> tuple[str, str]:
        """Return number and name out of a path's outermost part: all below it is the learner's.

        Both are empty if they are not in it.
        """
        first = parts[0]
        if fits := _MOODLE.fullmatch(first):
            return fits["student"], fits["name"]
        if len(parts) > 1:
            return first, first
        if readings := self.canvas.readings(first):
            return (readings[0].user, readings[0].name) if len(readings) == 1 else ("", "")
        whole = COPY.sub("", PurePosixPath(first).stem)
        stem = whole
        for name in self.exercises:
            stem = re.sub(re.escape(name), "", stem, flags=re.I)
        student = stem.strip(" _-.") or (whole if self.is_alone else "")
        return student, student

    def why_unknown(self, first: str) -> str:
        """Return what a teacher is told of a file whose learner is not known."""
        readings = self.canvas.readings(first)
        if len(readings) < 2:
            return f"Whose is it? No learner's name is in it: {_EXAMPLE}."
        users = " or ".join(f"{r.user} ({clean(r.name, 40)})" for r in readings)
        return (
            f"Whose is it? The numbers in its name can be read as Canvas' number {users}. Look in "
            "Canvas, and put the file in a folder that is called by the right number."
        )


class Platform(enum.Enum):
    """Who gave out a file."""

    MOODLE = enum.auto()
    CANVAS = enum.auto()
    OTHER = enum.auto()


def platform_of(origin: str, student: str) -> tuple[Platform, str]:
    """Return which platform gave a learner's file out, and where what belongs to it goes back to.

    That is what the platform wrote before the learner's own name of the file; with a slash behind
    it if it is a folder. A name that says another user than the one the file counts for is a
    learner's, within their own folder. Canvas itself reads the first two numbers of a name, also
    where the first is the end of a learner's.
    """
    for part in PurePosixPath(origin).parts:
        if fits := _MOODLE.fullmatch(part):
            begin = part[: fits.start("rest")]
            begin = begin if fits["rest"] else f"{begin}/"
            return (Platform.MOODLE, begin) if fits["student"] == student else (Platform.OTHER, "")
        if readings := readings_of(part):
            begin = part.removesuffix(readings[0].rest)
            is_own = readings[0].user == student
            return (Platform.CANVAS, begin) if is_own else (Platform.OTHER, "")
    return Platform.OTHER, ""


def told_apart(label: Submission, written: str, forms: Collection[str]) -> Submission:
    """Return another learner for a name that only looks like that of one.

    Parameters
    ----------
    label : Submission
    written : str
        The name with its characters as they are.
    forms : collection of str
        All names that are read as this one. The plain one always keeps its id.
    """
    if written == _exact(written) or (
        _exact(written) not in forms and _is_composed(written, forms)
    ):
        return label
    mark = hashlib.sha256(os.fsencode(written)).hexdigest()[:6]
    words = f"Its name only looks like {label.name}: other characters are in it."
    return replace(
        label,
        student=f"{label.student}~{mark}",
        name=f"{label.name}~{mark}",
        note=f"{label.note} {words}".strip(),
    )


def _exact(written: str) -> str:
    """Return the form of a name in which nothing is left to be read."""
    text = readable(written)
    return clean(text, len(text))


def _is_composed(written: str, forms: Collection[str]) -> bool:
    """Tell whether a name has no sign that becomes another one, and is the only such among some.

    Letters and accents in parts are as macOS writes them; a sign for kelvin is a disguise of K.
    """
    return written in forms and [name for name in forms if _is_in_parts(name)] == [written]


def _is_in_parts(written: str) -> bool:
    return all(unicodedata.normalize("NFC", sign) == sign for sign in written)


def _short(text: str) -> str:
    """Return a name of bounded length, and another one for another name."""
    if len(text) <= 120:
        return clean(text, 4 * 120)
    return f"{clean(text[:100], 400)}~{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def readable(text: str) -> str:
    """Return a name as one form of valid text: what no encoding can tell becomes ``?``."""
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
