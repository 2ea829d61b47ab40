"""Write the grades as the files that other systems read.

After reading this file you can say what each format holds, and why a learner's name or message can
do nothing there: every text is made harmless for where it goes (formulas in a spreadsheet, control
characters in a terminal, marks in HTML and XML). Read next: ``roster.py``.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from autodiff_kit.files import written_whole
from autodiff_kit.grading.calls import LINES, clean
from autodiff_kit.grading.due import in_words
from autodiff_kit.grading.results import (
    BY_HAND,
    EXCUSED,
    OVERRIDE,
    UNGRADED,
    Grade,
    late_in_words,
)
from autodiff_kit.grading.roster import Matches, Person
from autodiff_kit.grading.roster_columns import COLUMNS, EMAIL, is_participant, own_name

__all__ = [
    "DECIMALS",
    "DELIMITERS",
    "FORMATS",
    "WITH_ROSTER",
    "cell",
    "export",
    "histogram",
    "is_empty",
    "mistakes",
    "sharing",
]

_Titles = Mapping[str, tuple[str, float]]  # exercise -> title and points

# What each is, for people; and the name of the file or folder that it makes.
FORMATS = {
    "csv": ("one line for each step of each learner", "grades.csv"),
    "table": ("one line for each learner, with totals", "table.csv"),
    "canvas": ("Canvas: import in the gradebook", "canvas.csv"),
    "moodle": ("Moodle: import in the gradebook, with feedback", "moodle.csv"),
    "nbgrader": ("the columns of `nbgrader export`", "nbgrader.csv"),
    "gradescope": ("a results.json for each learner and exercise", "gradescope"),
    "junit": ("JUnit XML, for a continuous integration system", "junit.xml"),
}


DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
DECIMALS = {"point": ".", "comma": ","}
WITH_ROSTER = ("table", "canvas", "moodle")


def export(
    grades: Sequence[Grade],
    form: str,
    place: Path,
    titles: Mapping[str, tuple[str, float]],
    *,
    matches: Matches | None = None,
    missing: object = "",
    delimiter: str = ",",
    decimal: str = ".",
) -> Path:
    """Write the grades in one of the `FORMATS`.

    Parameters
    ----------
    grades : sequence of Grade
    form : str
    place : Path
        A folder, made if it is not there.
    titles : mapping of exercise to (title, points)
        In the order of the course.
    matches : Matches, optional
        Who of the learners is who in the course's list: then the file has one line for each of the
        list. Only for forms of `WITH_ROSTER`.
    missing : object
        What stands for a person of that list who handed in nothing. An empty cell changes nothing
        in Canvas and Moodle.
    delimiter : str
        What parts the cells of a table.
    decimal : str
        What stands before the decimals of a number.

    Returns
    -------
    Path - of what was written.
    """
    place.mkdir(parents=True, exist_ok=True)
    target = place / FORMATS[form][1]
    if form == "gradescope":
        _gradescope(grades, target, titles)
        return target
    if form == "junit":
        text = _junit(grades)
    else:
        if form in WITH_ROSTER:
            writer = {"table": _table, "canvas": _canvas, "moodle": _moodle}[form]
            rows = writer(_lines(grades, matches), titles, missing)
        else:
            rows = {"csv": _long, "nbgrader": _nbgrader}[form](grades, titles)
        lines = io.StringIO(newline="")
        csv.writer(lines, delimiter=delimiter).writerows(
            [cell(value, decimal) for value in row] for row in rows
        )
        text = lines.getvalue()
    with written_whole(target) as file:
        file.write(text.encode())
    return target


# What begins a formula in a spreadsheet; and what may part cells there, whatever was agreed on.
_FORMULA = re.compile(r"(^|[,;|\t\"'])(\s*)(?=[=+\-@%|\uff1d\uff0b\uff0d\uff20])")
_UNSEEN = "\u2060"  # WORD JOINER: a formula cannot begin with it, and it cannot be seen


class _Told(str):
    """What learners read, whom an apostrophe in the middle of a sentence would puzzle."""


def cell(value: object, decimal: str = ".") -> object:
    """Return a value for a spreadsheet: no text of a learner's begins a formula there.

    Also not where the file is parted at semicolons, tabs or bars instead of commas.
    """
    if isinstance(value, float) and decimal != ".":
        return str(value).replace(".", decimal)
    if not isinstance(value, str):
        return value
    text = clean(value, 32_000, LINES).replace("\n", " / ").replace("\t", " ")
    mark = _UNSEEN if isinstance(value, _Told) else "'"
    return _FORMULA.sub(rf"\1{mark}\2", text)


def _long(grades: Iterable[Grade], titles: object) -> Iterable[Sequence[object]]:
    yield (
        *("student", "name", "exercise", "step", "points", "max", "status", "message", "level"),
        *("attempts", "key", "file", "note", "handed in", "days late", "points off", "text"),
    )
    for g in grades:
        for m in g.marks:
            yield (
                *(g.student, g.name, g.exercise, m.step, m.points, m.max, m.status, m.message),
                *(g.attempt.level, g.attempts, g.attempt.key, g.attempt.origin, g.attempt.note),
                *(in_words(g.handed_in), g.days_late, g.penalty, m.text),
            )


@dataclass(frozen=True)
class _Line:
    """A learner in a table: of the results, of the course's list, or both."""

    student: str
    name: str
    person: Person | None
    grades: Mapping[str, Grade]

    def points(self, titles: _Titles, excused: object, missing: object) -> list[object]:
        """Return the points in each exercise: empty, not zero, where nothing could be graded."""

        def of(exercise: str, most: float) -> object:
            grade = self.grades.get(exercise)
            if grade is None:
                return missing
            if grade.is_excused:
                return excused
            return "" if grade.is_fault else grade.out_of(most)

        return [of(exercise, most) for exercise, (_, most) in titles.items()]

    def cell(self, column: str, otherwise: str = "") -> str:
        """Return what stands in a column of the list, whatever case it is written in."""
        cells = self.person.cells if self.person else {}
        by_column = {name.casefold(): text for name, text in cells.items()}
        return by_column.get(column.casefold(), otherwise)


def _lines(grades: Iterable[Grade], matches: Matches | None) -> list[_Line]:
    """Return the learners of the results, or those of the course's list, in its order."""
    by_student: dict[str, dict[str, Grade]] = {}
    for grade in grades:
        by_student.setdefault(grade.student, {})[grade.exercise] = grade
    names = {student: next(iter(own.values())).name for student, own in by_student.items()}
    if matches is None:
        return [_Line(who, names[who], None, own) for who, own in by_student.items()]
    lines = [
        _Line(who, person.name, person, by_student.get(who, {}))
        for who, person in matches.people.items()
    ]
    lines += [_Line("", person.name, person, {}) for person in matches.missing]
    return sorted(lines, key=lambda line: line.person.line if line.person else 0)


def _table(lines: Iterable[_Line], titles: _Titles, missing: object) -> Iterable[Sequence[object]]:
    yield ("student", "name", *(title for title, _ in titles.values()), "total", "of", "percent")
    for line in lines:
        left_out = [key for key, grade in line.grades.items() if grade.is_excused]
        most = sum(points for key, (_, points) in titles.items() if key not in left_out)
        points = line.points(titles, EXCUSED, missing)
        total = round(sum(p for p in points if isinstance(p, int | float)), 2)
        student = line.student or (line.person.key if line.person else "")
        percent = round(100 * total / most, 1) if most else ""
        yield (student, line.name, *points, total, most, percent)


def _canvas(lines: Sequence[_Line], titles: _Titles, missing: object) -> Iterable[Sequence[object]]:
    who = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
    columns = next((list(line.person.cells) for line in lines if line.person), [])
    yield (*who, *(_own_column(columns, title) for title, _ in titles.values()))
    yield ("    Points Possible", "", "", "", "", *(points for _, points in titles.values()))
    for line in lines:
        number, login = (line.student, "") if line.student.isdecimal() else ("", line.student)
        by_hand = {"Student": line.name, "ID": number, "SIS Login ID": login}
        cells = [line.cell(column, by_hand.get(column, "")) for column in who]
        # "EX" is Canvas' word. Moodle has none for a file: there, an empty cell changes nothing.
        yield (*cells, *line.points(titles, "EX", missing))


def _own_column(columns: Iterable[str], title: str) -> str:
    """Return what Canvas calls an assignment, ``Title (4711)``, if its list has it."""
    own = re.compile(re.escape(title) + r" \(\d+\)")
    return next((column for column in columns if own.fullmatch(column)), title)


def _moodle(lines: Sequence[_Line], titles: _Titles, missing: object) -> Iterable[Sequence[object]]:
    own = next((line.person.cells for line in lines if line.person), {})
    is_listed = any(line.person for line in lines)
    identifier = next(
        (column for column, text in own.items() if is_participant(text)), "Identifier"
    )
    names = [
        identifier,
        own_name(own, ("id number", "id-nummer"), "ID number"),
        own_name(own, ("full name", "vollständiger name"), "Full name"),
        *([own_name(own, COLUMNS[EMAIL], "Email address")] if is_listed else []),
    ]
    feedback = (f"{title} (feedback)" for title, _ in titles.values())
    yield (*names, *(title for title, _ in titles.values()), *feedback)
    for line in lines:
        participant = f"Participant {line.student}" if line.student.isdecimal() else ""
        number = "" if line.person else line.student
        cells = [line.cell(names[0], participant), line.cell(names[1], number), line.name]
        cells += [line.cell(names[3])] if is_listed else []
        grades = line.grades
        texts = (_Told(_feedback(grades[key])) if key in grades else "" for key in titles)
        yield (*cells, *line.points(titles, "", missing), *texts)


def _feedback(grade: Grade) -> str:
    """Return what a learner is told of an exercise, step by step."""
    late = [f"[{late_in_words(grade)}]"] if grade.days_late else []
    steps = [
        f"[{m.step}: {m.status}]"
        if m.status in (UNGRADED, EXCUSED)
        else f"[{m.step}: {m.points:g} of {m.max:g}] {m.text}"
        for m in grade.marks
    ]
    return "\n".join(late + steps)


def _nbgrader(grades: Iterable[Grade], titles: object) -> Iterable[Sequence[object]]:
    yield (
        *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
        *("raw_score", "late_submission_penalty", "score", "max_score"),
    )
    for g in grades:
        raw = "" if g.is_excused else sum(mark.points for mark in g.marks)
        points = "" if g.is_excused else g.points
        when = in_words(g.handed_in)
        yield (g.exercise, "", when, g.student, g.name, "", "", raw, g.penalty, points, g.max)


def _gradescope(
    grades: Iterable[Grade], folder: Path, titles: Mapping[str, tuple[str, float]]
) -> None:
    for g in grades:
        if g.is_excused:  # a file would count
            continue
        tests = [
            {
                "name": m.step,
                "score": m.points,
                "max_score": m.max,
                "output": clean(m.text, 4000, LINES),
                "output_format": "text",
                "visibility": "visible",
            }
            for m in g.marks
        ]
        # A learner's name becomes the name of a folder: letters and figures, and its key behind.
        safe = re.sub(r"[^\w-]", "_", g.student)[:60] + "-" + g.attempt.key[:8]
        place = folder / safe / (g.exercise or "unknown")
        place.mkdir(parents=True, exist_ok=True)
        words = [titles.get(g.exercise, ("",))[0], *([late_in_words(g)] if g.days_late else [])]
        result = {"score": g.points, "output": ", ".join(words), "tests": tests}
        (place / "results.json").write_text(json.dumps(result, indent=1), encoding="utf-8")


def _junit(grades: Iterable[Grade]) -> str:
    suites = ElementTree.Element("testsuites")
    by_exercise: dict[str, list[Grade]] = {}
    for grade in grades:
        by_exercise.setdefault(grade.exercise, []).append(grade)
    for exercise, members in by_exercise.items():
        suite = ElementTree.SubElement(suites, "testsuite", name=_xml(exercise))
        for g in members:
            for m in g.marks:
                test = ElementTree.SubElement(
                    suite, "testcase", classname=_xml(g.student), name=_xml(m.step)
                )
                if m.status == EXCUSED:
                    ElementTree.SubElement(test, "skipped", message=EXCUSED)
                elif m.points < m.max or not m.max:
                    kind = "error" if m.status in ("fault", "unreadable") else "failure"
                    note = ElementTree.SubElement(test, kind, message=_xml(m.message))
                    note.text = _xml(m.text)
        cases = suite.findall("testcase")
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(c.find("failure") is not None for c in cases)))
        suite.set("errors", str(sum(c.find("error") is not None for c in cases)))
        suite.set("skipped", str(sum(c.find("skipped") is not None for c in cases)))
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)


def _xml(text: str) -> str:
    """Return text with nothing in it that XML cannot hold."""
    return re.sub(
        r"[^\n\t\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", clean(text, 4000, LINES)
    )


_NOTHING = ("missing", "not attempted")


def is_empty(grade: Grade) -> bool:
    """Tell whether nothing was tried: the notebook as it was handed out, or without its cells."""
    return bool(grade.marks) and all(mark.status in _NOTHING for mark in grade.marks)


def sharing(grades: Iterable[Grade]) -> list[list[str]]:
    """Return the learners who handed in a performance of the same graph.

    Programs are drawn of so many (`exercises/checks/*/checks.py`) that two do not meet by chance.
    """
    students: dict[str, list[str]] = {}
    for grade in grades:
        if grade.attempt.draw:
            students.setdefault(grade.attempt.draw, []).append(grade.student)
    return [sorted(names) for names in students.values() if len(names) > 1]


def mistakes(grades: Iterable[Grade]) -> Counter[str]:
    """Return how many learners were told what: message id, or "timeout" or "memory" -> number."""
    learners = Counter[str]()
    for grade in grades:
        messages = {
            mark.status if mark.status in ("timeout", "memory") else mark.message
            for mark in grade.marks
            if mark.points < mark.max
            and mark.status not in (*_NOTHING, "unreadable", "fault", OVERRIDE, UNGRADED, BY_HAND)
        }
        learners.update(sorted(messages))
    return learners


def histogram(grades: Iterable[Grade], exercise: str, title: str, words: Mapping[str, str]) -> str:
    """Return a picture (SVG) of an exercise: how many reached what, and the commonest mistakes.

    Parameters
    ----------
    grades : iterable of Grade
    exercise, title : str
    words : mapping of message id to text
    """
    here = [g for g in grades if g.exercise == exercise and g.max]
    shares = Counter(min(int(10 * g.points / g.max), 10) for g in here)  # 10: all points
    wrong = mistakes(here)
    empty = sum(map(is_empty, here))
    unread = sum(g.attempt.status == "unreadable" for g in here)
    top = max([*shares.values(), 1])
    parts = []
    for tenth in range(11):
        tall = 110 * shares[tenth] / top
        x, middle = 20 + 42 * tenth, 37 + 42 * tenth
        parts.append(
            f'<rect x="{x}" y="{160 - tall:.1f}" width="34" height="{tall:.1f}" fill="#4477aa"/>'
            f'<text x="{middle}" y="{155 - tall:.1f}" text-anchor="middle">{shares[tenth]}</text>'
            f'<text x="{middle}" y="176" text-anchor="middle">{10 * tenth} %</text>'
        )
    for place, (message, count) in enumerate(wrong.most_common(8)):
        y = 226 + 22 * place
        text = textwrap.shorten(words.get(message, message), 105, placeholder=" ...")
        text = html.escape(clean(text, 105))
        parts.append(f'<text x="44" y="{y}" text-anchor="end">{count}</text>')
        parts.append(f'<text x="56" y="{y}">{text}</text>')
    height = 216 + 22 * min(len(wrong), 8)
    heading = html.escape(clean(f"{title}: points of {len(here)} learners", 100))
    below = "commonest mistakes (learners)" if wrong else "no mistakes"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" viewBox="0 0 720 {height}" '
        f'style="max-width: 100%; height: auto" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>'
        f'<text x="20" y="22" font-size="14" font-weight="bold">{heading}</text>'
        f'<text x="500" y="60">{empty} with no step begun, or found</text>'
        f'<text x="500" y="78">{unread} with no file that can be read</text>'
        f'<text x="20" y="204" font-weight="bold">{below}</text>'
        f"{''.join(parts)}</svg>\n"
    )
