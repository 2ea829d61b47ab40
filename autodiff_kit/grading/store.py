"""Keep results so that nothing is lost and nothing counts twice.

After reading this file you can say why a grader that was killed goes on where it was, and what a
teacher's override is: one more row. Rows are only ever added; a grade is a view on them. Read
next: ``engine_local.py``, the one that writes.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from autodiff_kit.grading.grades import grades_of
from autodiff_kit.grading.results import (
    Attempt,
    Grade,
    Override,
    attempt_of,
    file_hash,
    override_of,
)

__all__ = ["Store", "StoreError"]

_TABLES = """
create table if not exists facts (name text primary key, value text not null);
create table if not exists attempts (
    number integer primary key autoincrement,
    key text unique not null,
    student text not null, name text not null, exercise text not null, version integer not null,
    origin text not null, hash text not null, checks text not null, seed text not null,
    level text not null, status text not null, marks text not null,
    note text not null default '',
    tries integer not null, seconds real not null, at real not null
);
create table if not exists overrides (
    number integer primary key autoincrement,
    student text not null, exercise text not null, step text not null,
    points real not null, author text not null, reason text not null, at real not null,
    withdrawn integer not null default 0, excused integer not null default 0
);
create table if not exists returns (
    number integer primary key autoincrement,
    key text not null, after integer not null, at real not null
);
create index if not exists by_student on attempts (student, exercise);
"""
# Columns that files of older versions do not have.
_LATER = (
    ("overrides", "withdrawn", "integer not null default 0"),
    ("overrides", "excused", "integer not null default 0"),
    ("attempts", "note", "text not null default ''"),
)
# What each learner handed in last: attempts in their order, and work that came back after others.
_LAST = """
select student, exercise, key from (
    select student, exercise, key, number as place, 0 as again from attempts
    union all
    select student, exercise, key, after, returns.number from returns join attempts using (key)
) order by place, again
"""
# How files whose exercise is known can be told again: by their place, and by what is in them.
_PLACED = """
select student, origin from attempts where exercise != ''
union select student, hash from attempts where exercise != '' and hash != ?
"""
_OVERRIDE = "student, exercise, step, points, author, reason, at, withdrawn, excused"
_OVERRIDES = f"select {_OVERRIDE} from overrides order by number"


class StoreError(Exception):
    """Results that cannot be read or written; says what to do."""


class Store:
    """The results of a class, in one SQLite file.

    Parameters
    ----------
    path : Path
        Made if it is not there.

    Raises
    ------
    StoreError
        If it cannot be opened or is no file of results.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.base = sqlite3.connect(path, timeout=30, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"Cannot use {path} for results: {error}") from error
        try:
            with self._explained():
                self.base.row_factory = sqlite3.Row
                # Before anything is written: what is damaged stays as it is.
                (state,) = self.base.execute("pragma quick_check(1)").fetchone()
                if state != "ok":
                    raise sqlite3.DatabaseError(state)
                self.base.execute("pragma journal_mode = wal")
                self.base.execute("pragma synchronous = normal")
                self.base.executescript(_TABLES)
                for table, column, kind in _LATER:
                    rows = self.base.execute(f"pragma table_info({table})")
                    if column not in {row["name"] for row in rows}:  # a file of an older version
                        self.base.execute(f"alter table {table} add column {column} {kind}")
        except StoreError:
            self.close()
            raise

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what SQLite says about a damaged file, or one in use, into words that help."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError, LookupError) as error:
            if self.base.in_transaction:
                self.base.rollback()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise StoreError(
                    f"{self.path} is in use by another program, which holds on to it.\n"
                    "-> Wait until that has ended, then run the same command again."
                ) from error
            shown = " ".join(str(error).split())[:200]
            raise StoreError(
                f"Cannot use {self.path} for results: it is damaged, or none ({shown}).\n"
                "Nothing in it was changed.\n"
                "-> Take it from your backup. Or keep a copy, and let SQLite's own program save "
                f"what can be read:\n     sqlite3 {self.path.name} .recover | sqlite3 new.sqlite\n"
                "   Or grade into a new folder (--out), with the same --seed for the same inputs"
                f"{self._seed_in_words()}."
            ) from error

    def _seed_in_words(self) -> str:
        try:
            row = self.base.execute("select value from facts where name = 'seed'").fetchone()
            return f": {int(row[0])}"
        except (sqlite3.Error, ValueError, TypeError):
            return ""

    def close(self) -> None:
        """Close the file."""
        self.base.close()

    def __enter__(self) -> Store:
        """Return itself."""
        return self

    def __exit__(self, *ignored: object) -> None:
        """Close the file."""
        self.close()

    def fact(self, name: str, value: str) -> str:
        """Return a fact about these results; the first value that was given stays."""
        with self._explained():
            self.base.execute("insert or ignore into facts values (?, ?)", (name, value))
            row = self.base.execute("select value from facts where name = ?", (name,)).fetchone()
            return str(row[0])

    def secret(self, seed: int | None = None) -> int:
        """Return the secret that the inputs of all attempts are drawn from; it never changes.

        Parameters
        ----------
        seed : int, optional
            The one to use; else a new one that cannot be guessed.

        Raises
        ------
        StoreError
            If these results have another one already.
        """
        seed_text = self.fact("seed", str(secrets.randbits(128) if seed is None else seed))
        with self._explained():
            number = int(seed_text)
        if seed not in (None, number):
            raise StoreError(
                f"The results in {self.path.parent} have another seed: their inputs were drawn "
                f"with --seed {number}.\n-> Leave --seed out to go on with them, or begin other "
                "results with --out FOLDER."
            )
        return number

    def keys(self) -> set[str]:
        """Return the keys of all submissions that have their result."""
        sql = "select key from attempts where status != 'fault'"
        with self._explained():
            return {row[0] for row in self.base.execute(sql)}

    def add(self, attempts: Iterable[Attempt]) -> int:
        """Write results, all or none of them; return how many were new.

        Raises
        ------
        StoreError
            If the disk is full or gone: what was written before stays.
        """
        with self._explained():
            return self._add(attempts)

    def _add(self, attempts: Iterable[Attempt]) -> int:
        new = 0
        try:
            self.base.execute("begin immediate")
            for attempt in attempts:
                row = {**vars(attempt), "at": time.time()}
                row["marks"] = json.dumps([vars(mark) for mark in attempt.marks])
                names = ", ".join(row)
                places = ", ".join(f":{name}" for name in row)
                # The first result stays; only the machine's own failure gives way to a result.
                changed = ", ".join(f"{name} = excluded.{name}" for name in row if name != "key")
                new += self.base.execute(
                    f"insert into attempts ({names}) values ({places}) on conflict (key) do "
                    f"update set {changed} where attempts.status = 'fault'",
                    row,
                ).rowcount
            self.base.execute("commit")
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"Cannot write to {self.path}: {error}\n-> Make room, then run the same command "
                "again: it goes on where it was."
            ) from error
        finally:
            if self.base.in_transaction:
                self.base.rollback()
        return new

    def last_keys(self) -> dict[tuple[str, str], str]:
        """Return, for each student and exercise, the key of what was handed in last."""
        return {(row["student"], row["exercise"]): row["key"] for row in self._rows(_LAST)}

    def places(self) -> dict[str, int]:
        """Return for each key its place in the order in which work was handed in or graded."""
        return {row["key"]: place for place, row in enumerate(self._rows(_LAST))}

    def note_returns(self, handed_in: Mapping[tuple[str, str], str]) -> None:
        """Note what was handed in last, where it is work that was graded before other work.

        Parameters
        ----------
        handed_in : mapping of (student, exercise) to key
            The last of each that a run has found. Its row is there and is not graded again.
        """
        known = self.last_keys()
        back = [(key, time.time()) for who, key in handed_in.items() if known.get(who, key) != key]
        self._add_returns(back)

    def _add_returns(self, back: Iterable[tuple[Any, ...]]) -> None:
        sql = "insert into returns (key, after, at) select ?, max(number), ? from attempts"
        with self._explained():
            self.base.executemany(sql, back)

    def last_numbers(self) -> tuple[int, int, int]:
        """Return the numbers of the last attempt, the last override and the last return."""
        sql = "select coalesce(max(number), 0) from "
        with self._explained():
            first, second, third = (
                self.base.execute(sql + table).fetchone()[0]
                for table in ("attempts", "overrides", "returns")
            )
            return first, second, third

    def set_right(self, written: dict[str, Attempt], before: tuple[int, int, int]) -> int:
        """Undo what another program did to the file while a run was writing to it.

        Code that runs without walls can reach whatever its user can, this file included.

        Parameters
        ----------
        written : dict of key to Attempt
            All that the run has written.
        before : (int, int, int)
            What `last_numbers` said when it began.

        Returns
        -------
        int - how many rows had been changed, added or removed.
        """
        stored = {attempt.key: attempt for attempt in self.attempts()}
        wrong = [key for key, attempt in written.items() if stored.get(key) != attempt]
        sql = "select key from attempts where number > ?"
        with self._explained():
            foreign = [r[0] for r in self.base.execute(sql, before[:1]) if r[0] not in written]
        with self._explained():
            for key in [*wrong, *foreign]:
                self.base.execute("delete from attempts where key = ?", (key,))
            added = sum(
                self.base.execute(f"delete from {table} where number > ?", (number,)).rowcount
                for table, number in (("overrides", before[1]), ("returns", before[2]))
            )
        self.add(written[key] for key in wrong)
        return len(wrong) + len(foreign) + added

    def forget(self, keys: Iterable[str]) -> None:
        """Remove attempts: only for a run that turned out to be worth nothing."""
        with self._explained():
            self.base.executemany("delete from attempts where key = ?", [(key,) for key in keys])

    def override(
        self,
        student: str,
        exercise: str,
        step: str,
        points: float | None,
        author: str,
        reason: str,
        *,
        excused: bool = False,
    ) -> None:
        """Add a teacher's word on a step, which counts from now on; the attempts stay.

        None for the points withdraws the words before it: what was graded counts again. A step that
        is excused has no points, neither to earn nor to lose.
        """
        withdrawn = points is None and not excused
        row = (student, exercise, step, points or 0, author, reason, time.time(), withdrawn)
        self._override((*row, excused))

    def _override(self, row: tuple[Any, ...]) -> None:
        places = ", ".join("?" * len(row))
        with self._explained():
            self.base.execute(f"insert into overrides ({_OVERRIDE}) values ({places})", row)

    def overrides(self, student: str) -> list[Override]:
        """Return all overrides for a student, the oldest first."""
        rows = self._rows(_OVERRIDES)
        return [self._read_override(row) for row in rows if row["student"] == student]

    def attempts(self, student: str | None = None) -> Iterator[Attempt]:
        """Yield all attempts, or those of one student, in the order in which they were added."""
        where, values = ("where student = ?", (student,)) if student is not None else ("", ())
        sql = f"select * from attempts {where} order by student, exercise, number"
        rows = self._rows(sql, values)
        while True:
            with self._explained():
                row = next(rows, None)
                if row is None:
                    return
                attempt = attempt_of(dict(row))
            yield attempt

    def _rows(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[sqlite3.Row]:
        with self._explained():
            for row in self.base.execute(sql, values):  # noqa: UP028 - it would close the cursor
                yield row

    def learner(self, given: str, *, may_be_new: bool = False) -> str:
        """Return the number or name by which the results know a learner, who may be called by both.

        StoreError if there is none, unless it may be a new one, or if there is more than one of
        that name; says who may be meant.
        """
        sql = "select distinct student, name from attempts order by name, student"
        known: list[tuple[str, str]] = [tuple(row) for row in self._rows(sql)]
        if any(given == student for student, _ in known):
            return given
        folded = given.casefold()
        named = {student for student, name in known if name.casefold() == folded}
        if len(named) == 1:
            return named.pop()
        if may_be_new and not named:
            return given
        near = [
            f"{student} ({name})" if name != student else student
            for student, name in known
            if folded in student.casefold() or folded in name.casefold()
        ]
        hint = f"\n-> Did you mean: {', '.join(dict.fromkeys(near[:10]))}" if near else ""
        many = f"There is more than one {given!r} in" if named else f"No results for {given!r} in"
        raise StoreError(f"{many} {self.path.parent}.{hint}")

    def grades(self, policy: str = "best") -> list[Grade]:
        """Return the grade of each student in each exercise, sorted by both.

        A file whose exercise was not known does not count once it has a row with its exercise; nor
        does the row of a file that was graded again because the checks had changed.

        Parameters
        ----------
        policy : {"best", "last"}
            Which of several attempts counts.
        """
        overrides = [self._read_override(row) for row in self._rows(_OVERRIDES)]
        placed = {tuple(row) for row in self._rows(_PLACED, (file_hash(b""),))}
        last = self.last_keys() if policy == "last" else {}
        return grades_of(self.attempts(), overrides, self.places(), placed, last)

    def _read_override(self, row: sqlite3.Row) -> Override:
        with self._explained():
            return override_of(dict(row))

    def merge(self, other: Store) -> int:
        """Add what another file of results has; return how many attempts were new.

        Raises
        ------
        StoreError
            If the two were graded from different seeds.
        """
        ours, theirs = (
            dict(tuple(row) for row in s._rows("select name, value from facts"))
            for s in (self, other)
        )
        if "seed" in ours and "seed" in theirs and ours["seed"] != theirs["seed"]:
            raise StoreError(
                f"{self.path} and {other.path} were graded from different seeds.\n"
                "-> Give all shards the same one: --seed NUMBER"
            )
        for name, value in theirs.items():
            self.fact(name, value)
        new = self.add(other.attempts())
        sql = "select key, at from returns order by number"
        known = {tuple(row) for row in self._rows(sql)}
        back = [tuple(row) for row in other._rows(sql) if tuple(row) not in known]
        self._add_returns(back)
        known = {tuple(row) for row in self._rows(_OVERRIDES)}
        for row in other._rows(_OVERRIDES):
            if tuple(row) not in known:
                self._override(tuple(row))
        return new
