"""Know the columns of course lists: what Canvas, Moodle and people call them.

After reading this file you can say which columns hold a number, a login, an address or a name, in
English and in German, and how a list shows which platform exported it. Read next: ``roster.py``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from autodiff_kit.grading.identity import Platform

__all__ = [
    *("COLUMNS", "EMAIL", "FIRST", "LAST", "LOGIN", "NAME", "NUMBER"),
    *("folded", "forms_of", "is_participant", "kinds_of", "own_name", "platform_of_list"),
]

# In the order in which they decide: a number that a platform gave cannot be chosen by a learner, a
# name can.
NUMBER, LOGIN, EMAIL, NAME = "number", "login", "address", "name"
COLUMNS = {
    NUMBER: ("id", "identifier", "user id", "userid", "canvas id", "number", "nummer"),
    LOGIN: (
        *("sis login id", "login", "login id", "username", "user name", "student", "student id"),
        *("student_id", "sis user id", "id number", "matriculation number"),
        *("anmeldename", "benutzername", "kennung", "id-nummer", "matrikelnummer"),
    ),
    EMAIL: (
        *("email", "email address", "e-mail", "mail", "institutional email"),
        *("e-mail-adresse", "e-mailadresse", "emailadresse"),
    ),
    NAME: (
        *("name", "full name", "student name", "student"),
        "vollständiger name",
    ),
}
FIRST = ("first name", "first_name", "given name", "firstname", "vorname")
LAST = ("last name", "last_name", "surname", "family name", "lastname", "nachname", "familienname")
# The columns that are in every gradebook of Canvas, and what Moodle's grading table calls people.
_CANVAS = frozenset({"student", "id", "sis login id", "section"})
_PARTICIPANT = re.compile(r"(?:participant|teilnehmer(?:[/*:_]?in)?) ?(\d+)", re.A)


def folded(text: str) -> str:
    """Return a text as it is compared: case, width and blanks do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def forms_of(text: str) -> dict[str, frozenset[str]]:
    """Return in which ways a text may name a person, by kind."""
    whole = folded(text)
    participant = _PARTICIPANT.fullmatch(whole)  # Moodle's identifier
    digits = participant[1] if participant else whole
    local = whole.partition("@")[0]
    last, comma, first = (part.strip() for part in whole.partition(","))
    name = f"{first} {last}" if comma and "," not in first else whole
    words = re.sub(r"[\s_.]+", " ", name).strip()
    return {
        NUMBER: frozenset({digits} if digits.isdecimal() else ()),
        LOGIN: frozenset({whole} - {""}),
        EMAIL: frozenset({whole, local} - {""}),
        NAME: frozenset({words} - {""}),
    }


def kinds_of(columns: Iterable[str]) -> dict[str, list[str]]:
    """Return which of a list's columns hold a number, a login, an address or a name."""
    named = {**COLUMNS, NAME: (*FIRST, *LAST, *COLUMNS[NAME])}
    kinds = {kind: [c for c in columns if folded(c) in names] for kind, names in named.items()}
    return {kind: names for kind, names in kinds.items() if names}


def own_name(columns: Iterable[str], names: Iterable[str], default: str) -> str:
    """Return what a list calls a column of one of these names; the default if it has none."""
    known = frozenset(names)
    return next((column for column in columns if folded(column) in known), default)


def is_participant(text: str) -> bool:
    """Tell whether a cell is a person's identifier in Moodle's grading table."""
    return _PARTICIPANT.fullmatch(folded(text)) is not None


def platform_of_list(columns: Iterable[str], rows: Sequence[Mapping[str, str]]) -> Platform:
    """Return which platform exported a list: in a teacher's own table, too, a column may be ID."""
    if {folded(column) for column in columns} >= _CANVAS:
        return Platform.CANVAS
    numbers = [
        text
        for cells in rows
        for column, text in cells.items()
        if folded(column) in ("identifier", "id")
    ]
    is_moodles = bool(numbers) and all(map(is_participant, numbers))
    return Platform.MOODLE if is_moodles else Platform.OTHER
