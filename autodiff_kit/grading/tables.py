"""Lay out the file of results: its tables, and what turns an older file into one of today.

Rows are only ever added; `checks` alone says what counts now. Read next: ``store.py``.
"""

from __future__ import annotations

import sqlite3

from autodiff_kit.grading.results import file_hash

__all__ = ["ALL", "NUMBERED", "prepare"]

_TABLES = """
create table if not exists facts (name text primary key, value text not null);
create table if not exists attempts (
    number integer primary key autoincrement,
    key text unique not null,
    student text not null, name text not null, exercise text not null, version integer not null,
    origin text not null, hash text not null, checks text not null, seed text not null,
    level text not null, status text not null, marks text not null,
    note text not null default '', draw text not null default '',
    tries integer not null, seconds real not null, at real not null
);
create table if not exists overrides (
    number integer primary key autoincrement,
    student text not null, exercise text not null, step text not null,
    points real not null, author text not null, reason text not null, at real not null,
    withdrawn integer not null default 0, excused integer not null default 0,
    most real not null default -1
);
create table if not exists hand_ins (
    number integer primary key autoincrement,
    student text not null, name text not null, exercise text not null, work text not null,
    origin text not null, suffix text not null, problem text not null, note text not null,
    handed_in real not null, is_late integer,
    unique (student, exercise, work, handed_in)
);
create table if not exists checks (
    exercise text primary key, checks text not null, at real not null
);
create table if not exists own_dates (
    number integer primary key autoincrement,
    student text not null, exercise text not null, date real,
    author text not null, reason text not null, at real not null
);
create table if not exists comments (
    number integer primary key autoincrement,
    student text not null, exercise text not null, step text not null, text text not null,
    author text not null, at real not null
);
create table if not exists manual_marks (
    number integer primary key autoincrement,
    student text not null, exercise text not null, step text not null, answer text not null,
    points real not null, text text not null, author text not null, at real not null
);
create table if not exists runs (
    number integer primary key autoincrement,
    place text not null, hand_ins text not null, author text not null, at real not null
);
create table if not exists run_words (
    number integer primary key autoincrement,
    run integer not null, withdrawn integer not null,
    author text not null, reason text not null, at real not null
);
create index if not exists by_student on attempts (student, exercise);
"""
# Columns that files of older versions do not have.
_LATER = (
    ("overrides", "withdrawn", "integer not null default 0"),
    ("overrides", "excused", "integer not null default 0"),
    ("overrides", "most", "real not null default -1"),
    ("attempts", "note", "text not null default ''"),
    ("attempts", "draw", "text not null default ''"),
)
# Older versions noted only the order, of attempts and of work that came back after others.
_ORDER = """
insert or ignore into hand_ins
select null, student, name, exercise, case when hash = :nothing then origin else hash end,
    origin, '', '', note, 1e-6 * row_number() over (order by place, again), null
from (
    select *, number as place, 0 as again from attempts
    union all
    select attempts.*, after, returns.number from returns join attempts using (key)
) order by place, again
"""
NUMBERED = (
    *("attempts", "overrides", "hand_ins", "own_dates", "comments", "manual_marks"),
    *("runs", "run_words"),
)
ALL = (*NUMBERED, "facts", "checks")


def prepare(base: sqlite3.Connection) -> None:
    """Make the tables that are not there, and bring those of an older version up to date."""
    base.executescript(_TABLES)
    for table, column, kind in _LATER:
        rows = base.execute(f"pragma table_info({table})")
        if column not in {row["name"] for row in rows}:
            base.execute(f"alter table {table} add column {column} {kind}")
    if base.execute("pragma table_info(returns)").fetchone():
        base.execute("begin immediate")
        base.execute(_ORDER, {"nothing": file_hash(b"")})
        base.execute("drop table returns")
        base.execute("commit")
