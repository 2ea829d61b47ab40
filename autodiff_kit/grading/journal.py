"""Keep beside the results how they came about, so that a damaged file can be made again.

After reading this file you can say what a line of the journal is (all that one transaction wrote),
why it is written before the transaction ends, and what a kill in between can cost: nothing, as the
same rows are written again. Read next: ``database.py``.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autodiff_kit.free_form import Json

__all__ = ["Journal", "replay"]

Values = Sequence[Any] | Json
FIRST = "journal of autodiff_kit's results, version 1"
MAX_LINE = 2**30  # characters


class Journal:
    """The file to which each transaction adds a line.

    Parameters
    ----------
    path : Path
        Of the journal; it is begun with the first line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._head: list[Any] = []  # of a journal that begins with the next line
        self._waiting: list[tuple[str, Values]] = []

    def begin(self, base: sqlite3.Connection, tables: Sequence[str]) -> None:
        """Begin a transaction.

        Parameters
        ----------
        base : Connection
            For results of before there was a journal: their rows are its first lines.
        tables : sequence of str
            Where such rows are.
        """
        if not self.path.exists():
            self._head = [FIRST, *_rows(base, tables)]

    def note(self, sql: str, values: Values) -> None:
        """Remember a statement of the transaction that is open."""
        self._waiting.append((sql, dict(values) if isinstance(values, dict) else list(values)))

    def forget(self) -> None:
        """Forget a transaction that is undone, or done."""
        self._head, self._waiting = [], []

    def write(self) -> None:
        """Write what is remembered as a line.

        Raises
        ------
        OSError
            If there is no room for it, or it must not be written.
        """
        if not self._waiting:
            return
        text = "".join(f"\n{json.dumps(line)}" for line in [*self._head, self._waiting])
        # In one piece at the end of the file, where another command may write, too. A line that a
        # full disk has cut off ends where the next one begins.
        place = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            data = memoryview(text.encode())
            while data:
                data = data[os.write(place, data) :]
        finally:
            os.close(place)


def _rows(base: sqlite3.Connection, tables: Sequence[str]) -> Iterator[list[tuple[str, Values]]]:
    """Yield lines that write the rows which are there already."""
    for table in tables:
        for row in base.execute(f"select * from {table}"):
            names, places = ", ".join(row.keys()), ", ".join("?" * len(row))
            yield [(f"insert or ignore into {table} ({names}) values ({places})", tuple(row))]


# A journal tells of rows, and of nothing else: who can write to it makes no file by it, and no
# table. (It lies beside the results, which code without walls can reach.)
_ROWS = frozenset(
    {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_READ}
)
_OTHERS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_FUNCTION})
_NO_TABLES = ("sqlite_master", "sqlite_schema")
_OF_FILES = ("load_extension", "readfile", "writefile", "edit")


def _allowed(action: int, first: str | None, second: str | None, *where: str | None) -> int:
    """Tell SQLite whether a statement of a journal may do something."""
    is_row = action in _ROWS and first not in _NO_TABLES
    is_file = action == sqlite3.SQLITE_FUNCTION and second in _OF_FILES
    return (
        sqlite3.SQLITE_OK if (is_row or action in _OTHERS) and not is_file else sqlite3.SQLITE_DENY
    )


def replay(path: Path, base: sqlite3.Connection) -> tuple[int, int]:
    """Do again all that a journal tells.

    Parameters
    ----------
    path : Path
    base : Connection
        To an empty file of results.

    Returns
    -------
    (int, int) - how many transactions were done again; how many lines were cut off or damaged, as
    a full disk or the loss of power leaves them.

    Raises
    ------
    OSError
        If the journal cannot be read.
    ValueError
        If it is no journal of results.
    """
    base.set_authorizer(_allowed)
    try:
        return _replayed(path, base)
    finally:
        base.set_authorizer(None)


def _replayed(path: Path, base: sqlite3.Connection) -> tuple[int, int]:
    done = damaged = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        head = file.readline(MAX_LINE).strip() or file.readline(MAX_LINE).strip()
        if head != json.dumps(FIRST):
            raise ValueError(f"{path} is no journal of results")
        for line in file:
            if not line.strip():
                continue
            try:
                statements = [(str(sql), values) for sql, values in json.loads(line)]
            except (ValueError, TypeError, RecursionError):
                damaged += 1
                continue
            base.execute("begin immediate")
            try:
                for sql, values in statements:
                    base.execute(sql, values)
            except sqlite3.Error:
                base.rollback()
                damaged += 1
            else:
                base.execute("commit")
                done += 1
    return done, damaged
