"""The engine that a learner builds: ``my_engine.py`` beside the exercises, one part for each.

After reading this file you can say when a part is written (when its check finds it right), what is
done for an exercise that was left out (the kit's part stands there, and is named in
``KITS_PARTS``), and why nothing that a learner wrote in the file is lost: a part that was changed
by hand is replaced only by other code, after a copy of the whole file was made. Read next:
``engine_parts.py``, where the kit's parts come from.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autodiff_kit.files import written_whole
from autodiff_kit.grading.calls import Work
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_parts import Part, engine_of, header, statements
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.marking import Result
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.notebook import Unreadable, binding, bound_by, cells_of, read_by

__all__ = ["FILE", "engine_before", "keep_part", "load_engine"]

FILE = "my_engine.py"
OWN = "# --- your own code: what stands below this line is left as it is ---"
_MARKER = re.compile(r"(?m)^# --- (\S+): (you|the kit) \((\w+)\) ---\n")
_KITS = re.compile(r"(?m)^KITS_PARTS = .*$")


@dataclass(frozen=True)
class _Section:
    id: str
    is_kits: bool
    code: str
    written: str  # hash of the code as it was written: another one now is a learner's change

    @property
    def is_changed(self) -> bool:
        return _hash(self.code) != self.written


@dataclass(frozen=True)
class _Engine:
    """What stands in a file: lines above all parts, the parts, and lines below."""

    above: str
    sections: tuple[_Section, ...]
    below: str

    def section(self, id: str) -> _Section | None:
        return next((s for s in self.sections if s.id == id), None)

    def with_section(self, new: _Section, ids: Sequence[str]) -> _Engine:
        """Return the engine with one part put in, in the order of these ids."""
        others = [s for s in self.sections if s.id != new.id]
        place = ids.index(new.id)
        at = sum(s.id not in ids or ids.index(s.id) < place for s in others)
        return replace(self, sections=(*others[:at], new, *others[at:]))

    def text(self, before: str = "") -> str:
        """Return the file; with an id, only what stands before that part."""
        kits = [s.id for s in self.sections if s.is_kits]
        line = header(kits).splitlines()[-1]
        above, count = _KITS.subn(line, self.above, count=1)
        parts = [above if count else f"{above.rstrip()}\n\n{line}".lstrip()]
        for section in self.sections:
            if before and section.id == before:
                return _joined(parts)
            who = "the kit" if section.is_kits else "you"
            parts.append(f"# --- {section.id}: {who} ({section.written}) ---\n{section.code}")
        return _joined([*parts, f"{OWN}\n{self.below}".rstrip()])


def _joined(parts: Sequence[str]) -> str:
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def _hash(code: str) -> str:
    return hashlib.sha256(code.strip().encode()).hexdigest()[:8]


def _parsed(text: str) -> _Engine:
    text, _, below = text.partition(f"{OWN}\n")
    above, *rest = _MARKER.split(text.removesuffix(OWN))
    sections = [
        _Section(id, who == "the kit", code.strip("\n"), written)
        for id, who, written, code in zip(*(rest[i::4] for i in range(4)), strict=True)
    ]
    return _Engine(above.strip("\n"), tuple(sections), below.strip("\n"))


def _read(folder: Path) -> _Engine:
    try:
        return _parsed((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return _Engine(header([]), (), "")


def _write(folder: Path, engine: _Engine) -> None:
    with written_whole(folder / FILE) as file:
        file.write(engine.text().encode())


def _is_for_learners(course: Course, folder: Path) -> bool:
    """Tell whether a folder is one for work: nothing is written among the teacher's notebooks."""
    return not folder.resolve().is_relative_to(course.folder.resolve())


def engine_before(course: Course, exercise: Exercise, folder: Path) -> tuple[str, list[_Section]]:
    """Return the engine that an exercise begins with, as source, and its parts.

    What is missing in the file is the kit's, and is written there: an exercise may be left out.

    Parameters
    ----------
    course : Course
    exercise : Exercise
    folder : Path
        Of the notebook.

    Raises
    ------
    OSError
        If the file is there and cannot be read.
    """
    parts = engine_of(course.folder)
    ids = [part.id for part in parts]
    before = parts[: ids.index(exercise.id)]
    engine = _read(folder)
    missing = [part for part in before if engine.section(part.id) is None]
    for part in missing:
        engine = engine.with_section(_section(part, is_kits=True, code=part.whole), ids)
    is_new = not (folder / FILE).exists()
    if (missing or is_new) and _is_for_learners(course, folder):
        _write(folder, engine)
    ids_before = ids[: len(before)]
    after = next((s.id for s in engine.sections if s.id in ids[len(before) :]), "")
    return engine.text(after), [s for s in engine.sections if s.id in ids_before]


def _section(part: Part, *, is_kits: bool, code: str) -> _Section:
    return _Section(part.id, is_kits, code, _hash(code))


def load_engine(course: Course, exercise: Exercise, namespace: Space) -> tuple[str, str]:
    """Run the engine so far in a notebook's namespace; say whose its parts are.

    Returns
    -------
    str, str - what to say, and the source that was run: none for the exercise that brings the file
    itself.
    """
    folder = Path.cwd()
    source, sections = engine_before(course, exercise, folder)
    if exercise.whole_engine or not sections:
        source = ""
    exec(compile(source, str(folder / FILE), "exec"), namespace)
    yours = [s.id for s in sections if not s.is_kits]
    kits = [s.id for s in sections if s.is_kits]
    lines = (
        [] if sections else [f"Here your engine begins: {FILE}, in the folder of this notebook."]
    )
    if yours:
        lines.append(f"{FILE} has your {_listed(yours)}.")
    if kits:
        lines.append(
            f"{_listed(kits)} {'is' if len(kits) == 1 else 'are'} the kit's, and worth nothing: "
            "solve the exercise, and yours takes its place."
        )
    return "\n".join(lines), source


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def keep_part(
    course: Course, exercise: Exercise, work: Work, result: Result, folder: Path | None
) -> str:
    """Put the learner's part into the engine if all that belongs to it is right; say so.

    Parameters
    ----------
    course : Course
    exercise : Exercise
    work : Work
        The learner's code, as it was judged.
    result : Result
    folder : Path, optional
        Where the work lies. The default is the current folder, if an engine was begun there.

    Returns
    -------
    str - empty if nothing was written.
    """
    if folder is None and not Path(FILE).is_file():
        return ""  # no folder for exercises, and none in which an engine was begun
    folder = folder or Path.cwd()
    steps = {step.id for step in exercise.steps if {*step.names} & {*exercise.engine}}
    rows = [row for row in result.rows if row.step in steps]
    is_right = bool(rows) and all(row.points == row.max for row in rows)
    if not exercise.engine or not is_right or not _is_for_learners(course, folder):
        return ""
    parts = engine_of(course.folder)
    part = next((part for part in parts if part.name == exercise.name), None)
    if part is None:
        return ""
    try:
        _, before = engine_before(course, exercise, folder)
        code = _written_for(part, exercise, work, before)
        engine = _read(folder)
        old = engine.section(part.id)
        new = _section(part, is_kits=False, code=code)
        if old and (old.written == new.written or old.code.strip() == code.strip()):
            return ""
        copy = ""
        if old and old.is_changed:
            copy = f" The file as it was, with your changes, is {_copied(folder)}."
        _write(folder, engine.with_section(new, [part.id for part in parts]))
    except (OSError, UnicodeDecodeError, SyntaxError, Unreadable) as error:
        return f"{FILE} was not changed: {error}"
    return f"{FILE} now has your {part.id}.{copy}"


def _copied(folder: Path) -> str:
    number = 1
    while (path := folder / f"my_engine-old{number}.py").exists():
        number += 1
    with written_whole(path) as file:
        file.write((folder / FILE).read_bytes())
    return path.name


def _written_for(part: Part, exercise: Exercise, work: Work, before: Sequence[_Section]) -> str:
    """Return a part as the learner wrote it: what is asked, and the helpers that it uses."""
    known = set[str]().union(*(binding(s.code) for s in before), binding(part.given))
    tasks = {name for step in exercise.steps for name in step.names}
    cells = cells_of(work.data, work.suffix, tuple(tasks), exercise.locked)
    runs = [cell for cell in cells if cell.tree is not None]
    source = "\n\n\n".join(cell.source for cell in runs)
    names, waiting = set(part.names), list(part.names)
    bound = set[str]().union(*(bound_by(cell) for cell in runs))
    while waiting:
        text = statements(source, [waiting.pop()])
        new = (read_by(text) & bound) - names - known
        names |= new
        waiting += new
    return "\n\n\n".join(filter(None, (part.given, statements(source, names))))
