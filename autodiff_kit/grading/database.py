"""Open the file of results, read and write its rows, and explain what SQLite says.

After reading this file you can say what happens to a damaged file (nothing: it stays as it is), and
what is done together or not at all. Read next: ``store.py``.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from autodiff_kit.grading.journal import Journal
from autodiff_kit.grading.messages import Fields
from autodiff_kit.grading.tables import ALL, prepare

__all__ = ["Database", "StoreError"]


class StoreError(Exception):
    """Results that cannot be read or written; says what to do."""


class Database:
    """One SQLite file, whose errors are told in words.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    journal : bool
        Whether what is written is told to the journal beside it, too: see ``journal.py``.

    Raises
    ------
    StoreError
        If it cannot be opened or is no file of results.
    """

    def __init__(self, path: Path, *, journal: bool = True) -> None:
        self.path = path
        self._journal = Journal(path.with_suffix(".journal")) if journal else None
        self._is_together = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.base = sqlite3.connect(path, timeout=30, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"Cannot use {path} for results: {error}") from error
        try:
            with self.explained():
                self.base.row_factory = sqlite3.Row
                # Before anything is written: what is damaged stays as it is.
                (state,) = self.base.execute("pragma quick_check(1)").fetchone()
                if state != "ok":
                    raise sqlite3.DatabaseError(state)
                self.base.execute("pragma journal_mode = wal")
                self.base.execute("pragma synchronous = normal")
                prepare(self.base)
        except StoreError:
            self.close()
            raise

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what SQLite says about a damaged file, or one in use, into words that help."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError, LookupError) as error:
            self._undo()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise StoreError(
                    f"{self.path} is in use by another program, which holds on to it.\n"
                    "-> Wait until that has ended, then run the same command again."
                ) from error
            reason = " ".join(str(error).split())[:200]
            raise StoreError(
                f"Cannot use {self.path} for results: it is damaged, or none ({reason}).\n"
                f"Nothing in it was changed.\n{self._rebuilding()}"
                "-> Take it from your backup. Or keep a copy, and let SQLite's own program save "
                f"what can be read:\n     sqlite3 {self.path.name} .recover | sqlite3 new.sqlite\n"
                "   Or grade into a new folder (--out), with the same --seed for the same inputs"
                f"{self._seed_in_words()}."
            ) from error

    def _rebuilding(self) -> str:
        if self._journal is None or not self._journal.path.exists():
            return ""  # results of before there was one
        return (
            f"-> {self._journal.path.name} beside it tells all that was written. This puts the "
            "damaged file aside and makes it again:\n     autodiff-kit rebuild\n"
        )

    def _seed_in_words(self) -> str:
        try:
            row = self.base.execute("select value from facts where name = 'seed'").fetchone()
            return f": {int(row[0])}"
        except (sqlite3.Error, ValueError, TypeError):
            return ""

    def close(self) -> None:
        """Close the file."""
        self.base.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *ignored: object) -> None:
        """Close the file."""
        self.close()

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[sqlite3.Row]:
        """Yield what a question gives, row by row."""
        with self.explained():
            for row in self.base.execute(sql, values):  # noqa: UP028 - it would close the cursor
                yield row

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Write all of it, or nothing; the journal knows of it before it counts."""
        self.base.execute("begin immediate")
        self._is_together = True
        try:
            if self._journal is not None:
                self._journal.begin(self.base, ALL)
            yield
            if self._journal is not None:
                self._journal.write()
            self.base.execute("commit")
        finally:
            self._undo()

    def _undo(self) -> None:
        """Undo what is not done in whole."""
        self._is_together = False
        if self._journal is not None:
            self._journal.forget()
        if self.base.in_transaction:
            self.base.rollback()

    def write(self, sql: str, values: Sequence[Any] | Fields = ()) -> int:
        """Write rows; return how many. Outside of ``together`` it is a transaction of its own."""
        if not self._is_together:
            with self.together():
                return self.write(sql, values)
        if self._journal is not None:
            self._journal.note(sql, values)
        return self.base.execute(sql, values).rowcount

    def insert(self, table: str, rows: Sequence[Fields]) -> None:
        """Insert rows where there are no equal ones yet."""
        for row in rows:
            places = ", ".join(f":{name}" for name in row)
            self.write(f"insert or ignore into {table} ({', '.join(row)}) values ({places})", row)
