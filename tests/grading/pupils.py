"""A class of made-up learners: right answers, known mistakes, cheats, and files that are none."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from autodiff_kit.grading.course import Course
from autodiff_kit.grading.exercise import Exercise

# Names that mean something to a spreadsheet, a terminal, a page or a file system.
NAMES = ("=1+1", "+cmd", "-2", "@sum", "<b>bo", "Zoë", "o'neil", "a b", "Ünal, Ay", "\x1b[2Jx")
CHEATS = (
    "import os\nos._exit(0)",
    "raise SystemExit",
    "while True: pass",
    "print('x' * 10**7)",
    "import numpy as np\nnp.allclose = np.array_equal = lambda *a, **k: True",
    "class Yes:\n    def __eq__(self, other): return True\ndef {name}(*a, **k): return Yes()",
    "def {name}(*a, **k): return 'passed'",
    "def {name}(*a, **k):\n    import os\n    os.kill(os.getpid(), 9)",
    "import numpy as np\ndef {name}(*a, **k): return np.full((3, 3), np.nan)",
)
BROKEN = (b'{"cells": [', b"", b"\x89PNG\r\n\x1a\n", b"[]", b"\xff\xfe\x00", b'{"cells": 7}')


@dataclass(frozen=True)
class Pupil:
    """Who handed in what, and what has to come of it."""

    student: str
    exercise: Exercise
    kind: str
    """"right", "mistake", "untouched", "cheat" or "broken"."""
    message: str = ""
    """What a mistake has to be told."""


def make(course: Course, place: Path, count: int, keys: tuple[str, ...] = ()) -> list[Pupil]:
    """Write `count` submissions into nbgrader's folders; the same ones every time.

    Of ten, four are right (one as written by the teacher, three in other ways), three have a known
    mistake, and one each is untouched, a cheat and a broken file.
    """
    exercises = [course.exercise(key) for key in keys] if keys else course.exercises()
    dice = random.Random(1)
    pupils = []
    for number in range(count):
        exercise = exercises[number // 10 % len(exercises)]
        turn = number % 10
        name = NAMES[number] if number < len(NAMES) else ""
        student = f"{name}{number:04}"
        folder = place / student / exercise.name
        folder.mkdir(parents=True)
        file = folder / f"{exercise.name}.ipynb"
        if turn == 9:
            file.write_bytes(BROKEN[number // 10 % len(BROKEN)])
            pupils.append(Pupil(student, exercise, "broken"))
            continue
        code, kind, message = "", "untouched", ""
        if turn < 4:
            others = ["", *(way.code for way in exercise.alternatives)]
            code, kind = f"{exercise.solution}\n\n{others[turn % len(others)]}", "right"
        elif turn < 7:
            mutant = dice.choice(exercise.mutants)
            code, kind, message = f"{exercise.solution}\n\n{mutant.code}", "mistake", mutant.message
        elif turn == 8:
            cheat = CHEATS[number // 10 % len(CHEATS)]
            names = [name for step in exercise.steps for name in step.names]
            code = "\n\n".join(dict.fromkeys(cheat.replace("{name}", name) for name in names))
            kind = "cheat"
        file.write_text(_filled_in(course, exercise, code), encoding="utf-8")
        pupils.append(Pupil(student, exercise, kind, message))
    return pupils


def _filled_in(course: Course, exercise: Exercise, code: str) -> str:
    """Return the learners' notebook with `code` in the first of the cells to be filled in."""
    path = course.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
    for cell in cells if code else ():
        cell["source"] = ""
    if code:
        cells[0]["source"] = code
    return json.dumps(notebook)
