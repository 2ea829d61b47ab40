"""A whole course's hand-ins, as nbgrader, Canvas, Moodle and the site's `submit` files have them.

Each learner hands in each exercise in one of the `KINDS`, so that in a class of some size each
known mistake, each way to be late and each cheat comes up. What has to come of it is known.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autodiff_kit.grading.course import Course
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.questions import TO_ANSWER
from tests.grading.pupils import BROKEN, CHEATS

PLATFORMS = ("nbgrader", "canvas", "moodle", "site")
# Of twenty: how often each kind comes up.
KINDS = (
    *("right", "mistake", "right", "cheat", "mistake", "right", "late", "mistake", "double"),
    *("right", "untouched", "mistake", "right", "mixed", "missing", "mistake", "right"),
    *("renamed", "broken", "mistake"),
)
FIRST = ("Ada", "Jürgen", "Zoë", "Ana María", "Øyvind", "Łukasz", "Nguyễn", "Éa", "Çağla", "Bo")
LAST = ("Groß", "O'Neil", "Müller", "García-Ruiz", "Å", "Đặng", "Lee", "=1+1", "Štěpánová")
DUE = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Learner:
    """Who learns, and how the platform calls them."""

    place: int
    name: str
    number: int
    platform: str

    @property
    def login(self) -> str:
        return f"u{self.place:04}"

    @property
    def student(self) -> str:
        """What the results have to call them."""
        return str(self.number) if self.platform in ("canvas", "moodle") else self.login


@dataclass(frozen=True)
class HandIn:
    """What a learner handed in for an exercise, and what has to come of it."""

    learner: Learner
    exercise: Exercise
    kind: str
    message: str = ""
    """What a mistake has to be told."""
    files: tuple[tuple[str, bytes], ...] = ()
    """Name and content, in the order in which they came."""
    days_late: int = 0


@dataclass
class Classroom:
    """A class and its work.

    Parameters
    ----------
    course : Course
    count : int
        Learners.
    answers : sequence of str
        To questions that are answered in words, in turn.
    """

    course: Course
    count: int
    answers: tuple[str, ...] = ("It is so.", TO_ANSWER, "<b>=1+1</b>\x1b[2J", "Why not?")
    learners: list[Learner] = field(default_factory=list)
    hand_ins: list[HandIn] = field(default_factory=list)

    def __post_init__(self) -> None:
        for place in range(self.count):
            # Two of each platform have one name.
            last = place // 80 + 2 * (place % len(PLATFORMS))
            name = f"{FIRST[place // 8 % len(FIRST)]} {LAST[last % len(LAST)]}"
            form = (
                "NFD" if place // 8 % 2 else "NFC"
            )  # as macOS and others write letters with marks
            name = unicodedata.normalize(form, name)
            platform = PLATFORMS[place % len(PLATFORMS)]
            self.learners.append(Learner(place, name, 4000 + place, platform))
        for place, exercise in enumerate(self.course.exercises()):
            makers = _makers(self.course, exercise, self.answers)
            for learner in self.learners:
                turn = learner.place // len(KINDS)  # so each kind comes from each platform
                kind = KINDS[(learner.place + turn + 7 * place) % len(KINDS)]
                self.hand_ins.append(makers.hand_in(learner, kind))

    def write(self, folder: Path) -> dict[str, Path]:
        """Write all of it; return where the files of each platform are."""
        places = {platform: folder / platform for platform in PLATFORMS}
        places["nbgrader"] /= "submitted"
        by_zip: dict[Path, list[tuple[str, bytes, datetime.datetime]]] = {}
        attachment = 90_000
        for hand_in in self.hand_ins:
            who, exercise = hand_in.learner, hand_in.exercise.name
            base = places[who.platform]
            for turn, (file, data) in enumerate(hand_in.files):
                time = DUE + datetime.timedelta(days=hand_in.days_late, hours=turn - 6)
                if who.platform == "nbgrader":
                    place = base / who.login / exercise
                    place.mkdir(parents=True, exist_ok=True)
                    (place / file).write_bytes(data)
                    (place / "timestamp.txt").write_text(f"{time:%Y-%m-%d %H:%M:%S} UTC")
                elif who.platform == "canvas":
                    attachment += 1
                    late = "LATE_" if hand_in.days_late else ""
                    word = "".join(c for c in who.name.casefold() if c.isalnum())
                    path = f"{word}_{late}{who.number}_{attachment}_{file}"
                    by_zip.setdefault(base / f"{exercise}.zip", []).append((path, data, time))
                elif who.platform == "moodle":
                    path = f"{who.name}_{who.number}_assignsubmission_file_/{file}"
                    by_zip.setdefault(base / f"{exercise}.zip", []).append((path, data, time))
                else:
                    place = base / who.login
                    place.mkdir(parents=True, exist_ok=True)
                    archive = place / f"{exercise}-submit.zip"
                    archive.write_bytes(_zip([(file, data, time), ("receipt.json", b"{}", time)]))
                    # What a learner's own zip says of its files is the learner's word.
                    os.utime(archive, (time.timestamp(), time.timestamp()))
        for target, entries in by_zip.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_zip(entries))
        return places

    def rosters(self, folder: Path) -> dict[str, Path]:
        """Write the list of learners as each platform exports it; a teacher's own for the rest."""
        canvas = [["Student", "ID", "SIS Login ID", "Section"], ["    Points Possible", "", "", ""]]
        moodle = [["Identifier", "Full name", "Email address"]]
        own = [["Name", "Login"]]
        for one in self.learners:
            if one.platform == "canvas":
                canvas.append([one.name, str(one.number), one.login, "A"])
            elif one.platform == "moodle":
                moodle.append([f"Participant {one.number}", one.name, f"{one.login}@uni.example"])
            else:
                own.append([one.name, one.login])
        paths = {}
        for name, rows in (("canvas", canvas), ("moodle", moodle), ("table", own)):
            text = io.StringIO(newline="")
            csv.writer(text).writerows(rows)
            paths[name] = folder / f"{name}-list.csv"
            paths[name].write_text(text.getvalue(), encoding="utf-8")
        return paths


def _zip(entries: Iterable[tuple[str, bytes, datetime.datetime]]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content, time in entries:
            when = (time.year, time.month, time.day, time.hour, time.minute, time.second)
            archive.writestr(zipfile.ZipInfo(path, when), content)
    return data.getvalue()


@dataclass
class _Makers:
    exercise: Exercise
    notebook: str
    answers: tuple[str, ...]
    turns: Iterator[int]

    def hand_in(self, learner: Learner, kind: str) -> HandIn:
        exercise, file = self.exercise, f"{self.exercise.name}.ipynb"
        rights = [
            exercise.solution,
            *(f"{exercise.solution}\n\n{v.code}" for v in exercise.alternatives),
        ]
        right = rights[learner.place % len(rights)] + f"\n# {learner.login}"
        if kind in ("mistake", "mixed", "double"):
            mutant = exercise.mutants[next(self.turns) % len(exercise.mutants)]
            wrong = f"{exercise.solution}\n\n{mutant.code}\n# {learner.login}"
        if kind == "missing":
            return HandIn(learner, exercise, kind)
        if kind == "broken":
            return HandIn(
                learner, exercise, kind, files=((file, BROKEN[learner.place % len(BROKEN)]),)
            )
        if kind == "mistake":
            return HandIn(learner, exercise, kind, mutant.message, ((file, self.filled(wrong)),))
        if kind == "double":  # Canvas and Moodle keep the last one; browsers number the file
            second = "(1)" if learner.platform in ("canvas", "moodle") else ""
            other = f"{exercise.name}{f' {second}' if second else ''}.ipynb"
            files = ((file, self.notebook.encode()), (other, self.filled(right)))
            return HandIn(learner, exercise, kind, files=files)
        if kind == "untouched":
            return HandIn(learner, exercise, kind, files=((file, self.notebook.encode()),))
        if kind == "cheat":
            cheat = CHEATS[learner.place % len(CHEATS)]
            names = [name for step in exercise.steps for name in step.names]
            code = "\n\n".join(dict.fromkeys(cheat.replace("{name}", name) for name in names))
            return HandIn(learner, exercise, kind, files=((file, self.filled(code)),))
        if kind == "mixed":
            code = f"{wrong}\nthis is no Python ("
            return HandIn(learner, exercise, kind, files=((file, self.filled(code, split=True)),))
        if kind == "renamed":
            return HandIn(
                learner, exercise, kind, files=(("final version.ipynb", self.filled(right)),)
            )
        late = 1 + learner.place % 3 if kind == "late" else 0
        return HandIn(learner, exercise, kind, files=((file, self.filled(right)),), days_late=late)

    def filled(self, code: str, *, split: bool = False) -> bytes:
        """Return the learners' notebook with code in its first cell, and answers in words."""
        notebook = json.loads(self.notebook)
        cells = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
        coded = [cell for cell in cells if cell["cell_type"] == "code"]
        for cell in coded:
            cell["source"] = ""
        coded[0]["source"] = code
        if split:  # what does not run is a cell of its own
            first, _, second = code.rpartition("\n")
            coded[0]["source"] = first
            notebook["cells"].append({**coded[0], "source": second, "id": "more", "metadata": {}})
        for cell in cells:
            if cell["cell_type"] != "code":
                cell["source"] = self.answers[len(code) % len(self.answers)]
        return json.dumps(notebook).encode()


def _makers(course: Course, exercise: Exercise, answers: tuple[str, ...]) -> _Makers:
    path = course.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
    return _Makers(exercise, path.read_text(encoding="utf-8"), answers, iter(range(10**6)))
