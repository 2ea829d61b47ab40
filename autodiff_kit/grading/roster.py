"""Read the list of a course's learners, and find in it those who handed something in.

After reading this file you can say which columns of Canvas, Moodle and plain tables are read, what
makes a learner of the results a person of the list (a number before a login, a login before a
name), why a platform's number counts alone only in that platform's own list, and why no choice is
made where two could be meant. Read next: ``export_command.py``.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from autodiff_kit.files import written_whole
from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.identity import Platform
from autodiff_kit.grading.roster_columns import (
    COLUMNS,
    EMAIL,
    FIRST,
    LAST,
    NAME,
    NUMBER,
    folded,
    forms_of,
    kinds_of,
    platform_of_list,
)

__all__ = [
    *("Learner", "Matches", "Person", "Roster", "RosterError"),
    *("answers_in", "keep", "match", "read"),
]

MAX_FILE = 16 * 2**20
ANSWERS = "roster.json"  # in the folder of the results: what the teacher said about names


class RosterError(ValueError):
    """A list of learners that cannot be read; the message says why."""


@dataclass(frozen=True)
class Learner:
    """Who handed something in, as the results know them.

    Attributes
    ----------
    student : str
        A platform's number, or the name.
    name : str
    platform : Platform
        Which one gave the number.
    """

    student: str
    name: str
    platform: Platform = Platform.OTHER


@dataclass(frozen=True)
class Person:
    """One line of the list.

    Attributes
    ----------
    line : int
        In the file, from 1.
    name : str
        For people.
    keys : mapping of kind to set of str
        By what a learner is known, folded: numbers, logins, addresses, names.
    cells : mapping of column to str
        The line as it stands.
    """

    line: int
    name: str
    keys: Mapping[str, frozenset[str]]
    cells: Mapping[str, str]

    @property
    def key(self) -> str:
        """What tells this person best: a number, else a login, an address or the name."""
        return next((min(self.keys[kind]) for kind in COLUMNS if self.keys[kind]), self.name)

    def __str__(self) -> str:
        return f"{self.name} ({self.key})" if self.key != folded(self.name) else self.name


@dataclass(frozen=True)
class Roster:
    """The learners of a course, as a platform or a person listed them.

    Attributes
    ----------
    columns : tuple of str
    people : tuple of Person
    platform : Platform
        Which one exported it, by its columns; ``OTHER`` for a teacher's own table.
    """

    columns: tuple[str, ...]
    people: tuple[Person, ...]
    platform: Platform = Platform.OTHER

    def named(self, given: str) -> tuple[str, list[Person]]:
        """Return who may be meant by a number, login, address or name, and by which of these.

        The first kind by which a person is found decides.
        """
        forms = forms_of(given)
        for kind in COLUMNS:
            people = [person for person in self.people if person.keys[kind] & forms[kind]]
            if people:
                return kind, people
        return NAME, []

    def of(self, learner: Learner) -> tuple[str | None, list[Person]]:
        """Return who a learner of the results may be, and by what kind: None if that is open.

        A platform's number counts alone in the list that this platform exported. In any other list
        the same figures may be another person's: there the name has to agree, too. Where number
        and name do not lead to the same person, nothing is decided. What stands before the @ of an
        address is a login only where all addresses end alike: else it may be anybody's.
        """
        kind, people = self.named(learner.student)
        if kind == EMAIL and "@" not in learner.student and not self._is_of_one_domain:
            return None, people
        if learner.student == learner.name:
            return kind, people
        namesakes = self._called(learner.name)
        if not people:
            return NAME, namesakes
        is_own = learner.platform is not Platform.OTHER and learner.platform is self.platform
        if not learner.student.isdecimal() or (is_own and kind == NUMBER):
            return kind, people
        both = [person for person in people if person in namesakes]
        others = [person for person in namesakes if person not in people]
        return (kind, both) if both else (None, [*people, *others])

    @property
    def taken(self) -> dict[str, list[str]]:
        """The columns by which people are known here: kind -> columns, as the list calls them."""
        return kinds_of(self.columns)

    @property
    def _is_of_one_domain(self) -> bool:
        ends = {
            key.rpartition("@")[2]
            for person in self.people
            for key in person.keys[EMAIL]
            if "@" in key
        }
        return len(ends) == 1

    def _called(self, name: str) -> list[Person]:
        """Return who has a name; a name that a learner chose never counts as a login."""
        forms = forms_of(name)[NAME]
        return [person for person in self.people if person.keys[NAME] & forms]

    def near(self, given: str, others: Iterable[Person]) -> list[Person]:
        """Return those of some people whose names are most like a learner's."""
        by_name = {folded(person.name): person for person in others}
        names = difflib.get_close_matches(folded(given), list(by_name), n=5, cutoff=0.5)
        return [by_name[name] for name in names]


@dataclass
class Matches:
    """Who of the results is who in the list.

    Attributes
    ----------
    people : dict of learner to Person
    doubtful : dict of learner to list of Person
        Learners of the results who are not found in the list, and who might be meant.
    missing : list of Person
        Who handed in nothing.
    answers : dict of learner to Person or None
        What the teacher said, now or before, and what came of it; None for who is left out.
    """

    people: dict[str, Person] = field(default_factory=dict)
    doubtful: dict[str, list[Person]] = field(default_factory=dict)
    missing: list[Person] = field(default_factory=list)
    answers: dict[str, Person | None] = field(default_factory=dict)


def read(path: Path) -> Roster:
    """Read a list of learners: Canvas' gradebook, Moodle's grades or participants, or a table.

    Cells may be parted by commas, semicolons or tabs; the first line names the columns.

    Raises
    ------
    RosterError
        If it is no such list; the message says which columns are looked for.
    """
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise RosterError(f"{path} is no table: {error}.") from error
    places = [place for place, row in enumerate(rows) if any(cell.strip() for cell in row)]
    if not places:
        raise RosterError(f"{path} is empty.\n-> Export the list of participants once more.")
    columns = tuple(cell.strip() for cell in rows[places[0]])
    people = []
    for place in places[1:]:
        cells = dict(zip(columns, (cell.strip() for cell in rows[place]), strict=False))
        person = _person(place + 1, cells)
        if person is not None:
            people.append(person)
    if not people:
        raise RosterError(
            f"No learner is found in {path}. Its columns are: {clean(', '.join(columns), 400)}\n"
            "-> Looked for are those of Canvas (Student, ID, SIS Login ID), of Moodle (First name, "
            "Last name, ID number, Email address), or name, login, email in a table of your own."
        )
    platform = platform_of_list(columns, [person.cells for person in people])
    return Roster(columns, tuple(people), platform)


def match(
    roster: Roster,
    learners: Sequence[Learner],
    answers: Mapping[str, str],
    earlier: Mapping[str, str] = MappingProxyType({}),
) -> Matches:
    """Find out who is who.

    Parameters
    ----------
    roster : Roster
    learners : sequence of Learner
    answers : mapping of learner to number, login, address or name
        What the teacher says: it decides; "" says that a learner is not in the list.
    earlier : mapping of learner to number, login, address or name
        What the teacher said of this list or of another one. Of who is not in this list, it says
        nothing here; and "" does not count against a number or a login.

    Raises
    ------
    RosterError
        If an answer names no person of the list, or more than one.
    """
    order = list(COLUMNS)
    claims: dict[int, list[tuple[int, str]]] = {}  # line -> by what, and who
    matches, possible = Matches(), dict[str, list[Person]]()
    exact = range(order.index(EMAIL) + 1)  # what a person has alone, unlike a name
    for learner in learners:
        student = learner.student
        kind, possible[student] = roster.of(learner)
        is_exact = kind is not None and order.index(kind) in exact and len(possible[student]) == 1
        answer = answers.get(student)
        if answer is None and student in earlier:
            answer = earlier[student]
            if len(roster.named(answer)[1]) != 1 if answer else is_exact:
                answer = None
        if answer is not None:
            matches.answers[student] = person = _the(roster, answer) if answer else None
            if person is not None:
                claims.setdefault(person.line, []).append((-1, student))
        elif kind is not None and len(possible[student]) == 1:
            (person,) = possible[student]
            claims.setdefault(person.line, []).append((order.index(kind), student))
    by_line = {person.line: person for person in roster.people}
    for line, claimants in claims.items():
        best = min(claimants)[0]
        (first, *others) = [student for rank, student in claimants if rank == best]
        if not others:  # two learners of equal right: neither, until the teacher has decided
            matches.people[first] = by_line[line]
    taken = {person.line for person in matches.people.values()}
    matches.missing = [person for person in roster.people if person.line not in taken]
    for learner in learners:
        student, name = learner.student, learner.name
        is_left_out = student in matches.answers and matches.answers[student] is None
        if student not in matches.people and not is_left_out:
            likely = possible.get(student, []) or roster.near(name or student, matches.missing)
            matches.doubtful[student] = likely
    return matches


def answers_in(folder: Path) -> dict[str, str]:
    """Return what the teacher said about names before.

    Raises
    ------
    RosterError
        If the file cannot be read.
    """
    path = folder / ANSWERS
    if not path.exists():
        return {}
    try:
        answers = json.loads(path.read_text(encoding="utf-8"))["is"]
        return {str(student): str(key) for student, key in answers.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RosterError(
            f"{path} cannot be read: {error!r}.\n-> Put it aside; you will be asked again."
        ) from error


def keep(folder: Path, answers: Mapping[str, str]) -> None:
    """Keep what the teacher said about names, for the next export."""
    with written_whole(folder / ANSWERS) as file:
        file.write(json.dumps({"is": dict(answers)}, indent=1, ensure_ascii=False).encode())


def _the(roster: Roster, given: str) -> Person:
    _, people = roster.named(given)
    if len(people) == 1:
        return people[0]
    several = "; ".join(f"line {p.line}: {p}" for p in people)
    words = f"more than one: {several}" if people else "not"
    raise RosterError(f"{given!r} is {words} in the list.\n-> Write a number or login of one.")


def _text(path: Path) -> str:
    """Return a file's text, as spreadsheets on several systems write it."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise RosterError(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_FILE:
        raise RosterError(f"{path} is larger than {MAX_FILE // 2**20} MB: that is no list.")
    if data.startswith((b"PK", b"\xd0\xcf")):
        raise RosterError(
            f"{path} is a spreadsheet's own file.\n-> Save it as CSV, and give that file."
        )
    encodings = ("utf-16",) if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig",)
    for encoding in (*encodings, "cp1252", "latin-1"):  # the last one reads everything
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError


def _person(line: int, cells: Mapping[str, str]) -> Person | None:
    """Return who a line is; None for one of points possible, or without a name."""
    by_column = {folded(column): text for column, text in cells.items() if text}
    first, last = (
        next((by_column[c] for c in columns if c in by_column), "") for columns in (FIRST, LAST)
    )
    names = [f"{first} {last}".strip()]
    names += [by_column[column] for column in COLUMNS[NAME] if column in by_column]
    name = next(filter(None, names), "")
    keys = {
        kind: frozenset(
            form
            for column in columns
            if column in by_column
            for form in forms_of(by_column[column])[kind]
        )
        for kind, columns in COLUMNS.items()
        if kind != NAME
    }
    keys[NAME] = frozenset(form for text in names if text for form in forms_of(text)[NAME])
    name = name or next((min(keys[kind]) for kind in COLUMNS if keys[kind]), "")
    is_heading = folded(name) in ("points possible", "student, test")
    return None if is_heading or not name else Person(line, name, keys, cells)
