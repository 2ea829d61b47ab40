"""Keep results so that nothing is lost and nothing counts twice.

After reading this file you can say why a grader that was killed goes on where it was, and what a
teacher's override is: one more row. Rows are only ever added; a grade is a view on them. Read
next: ``engine_local.py``, the one that writes.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from autodiff_kit.grading.database import Database, StoreError
from autodiff_kit.grading.due import Due
from autodiff_kit.grading.grades import Choice, Evidence, choices_of
from autodiff_kit.grading.hand_ins import HandIn
from autodiff_kit.grading.results import (
    Attempt,
    Comment,
    Grade,
    ManualMark,
    Override,
    attempt_of,
    file_hash,
    override_of,
)
from autodiff_kit.grading.runs import Run, fallen, numbers_in, ranges_of
from autodiff_kit.grading.tables import NUMBERED

__all__ = ["Store", "StoreError"]

# How files whose exercise is known can be told again: by their place, and by what is in them.
_PLACED = """
select student, origin from attempts where exercise != ''
union select student, hash from attempts where exercise != '' and hash != ?
"""
_OVERRIDE = "student, exercise, step, points, author, reason, at, withdrawn, excused, most"
_OVERRIDES = f"select {_OVERRIDE} from overrides order by number"


class Store(Database):
    """The results of a class, in one SQLite file; parameters and errors as for `Database`."""

    def fact(self, name: str, value: str) -> str:
        """Return a fact about these results; the first value that was given stays."""
        with self.explained():
            if not self.base.execute("select 1 from facts where name = ?", (name,)).fetchone():
                self.write("insert or ignore into facts values (?, ?)", (name, value))
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
        with self.explained():
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
        with self.explained():
            return {row[0] for row in self.base.execute(sql)}

    def add(self, attempts: Iterable[Attempt]) -> int:
        """Write results, all or none of them; return how many were new.

        Raises
        ------
        StoreError
            If the disk is full or gone: what was written before stays.
        """
        with self.explained():
            return self._add(attempts)

    def _add(self, attempts: Iterable[Attempt]) -> int:
        new = 0
        try:
            with self.together():
                for attempt in attempts:
                    row = {**vars(attempt), "at": time.time()}
                    row["marks"] = json.dumps([vars(mark) for mark in attempt.marks])
                    names = ", ".join(row)
                    places = ", ".join(f":{name}" for name in row)
                    # The first result stays; only the machine's own failure gives way to a result.
                    columns = [name for name in row if name != "key"]
                    changed = ", ".join(f"{name} = excluded.{name}" for name in columns)
                    new += self.write(
                        f"insert into attempts ({names}) values ({places}) on conflict (key) do "
                        f"update set {changed} where attempts.status = 'fault'",
                        row,
                    )
        except (sqlite3.OperationalError, OSError) as error:
            raise StoreError(
                f"Cannot write to {self.path}: {error}\n-> Make room, then run the same command "
                "again: it goes on where it was."
            ) from error
        return new

    def note_hand_ins(
        self,
        hand_ins: Sequence[HandIn],
        checks: Mapping[str, str],
        *,
        place: str = "",
        author: str = "",
    ) -> None:
        """Note what a run has found, and by which checks work is judged from now on.

        Parameters
        ----------
        hand_ins : sequence of HandIn
            In the order in which they were found. Where nothing says when it was (a time of 0), the
            last of each learner's is noted unless it was handed in last before; others once.
        checks : mapping of exercise to hash
        place, author : str
            What was graded and by whom, if it is a run that can be withdrawn.
        """
        times: dict[tuple[str, str], dict[str, float]] = {}
        for known in self.hand_ins():
            works = times.setdefault((known.student, known.exercise), {})
            works[known.work] = max(known.handed_in, works.get(known.work, 0.0))
        last = {(hand_in.student, hand_in.exercise): hand_in.work for hand_in in hand_ins}
        rows = []
        now = time.time()
        for number, hand_in in enumerate(hand_ins):
            works = times.setdefault((hand_in.student, hand_in.exercise), {})
            if not hand_in.handed_in:
                is_last = last[hand_in.student, hand_in.exercise] == hand_in.work
                latest = max(works, key=lambda work: works[work], default="")
                if hand_in.work in works and (not is_last or latest == hand_in.work):
                    continue
                hand_in = replace(hand_in, handed_in=now + 1e-6 * number)
            works[hand_in.work] = max(hand_in.handed_in, works.get(hand_in.work, 0.0))
            rows.append(vars(hand_in))
        with self.explained(), self.together():
            # Numbers are written with what has them, and none is given twice: a run is a list of
            # numbers, and means the same where a damaged journal has lost some of the rows.
            given = self.last_numbers()
            highest = max([given["hand_ins"], *(n for run in self.runs() for n in run.hand_ins)])
            numbered = enumerate(rows, highest + 1)
            self.insert("hand_ins", [{"number": number, **row} for number, row in numbered])
            if place and hand_ins:
                words = [row["run"] for row in self.rows("select run from run_words")]
                new = {"number": max([given["runs"], *words]) + 1, "place": place}
                new["hand_ins"] = ranges_of(self._numbers_of(hand_ins))
                self.insert("runs", [{**new, "author": author, "at": now}])
            for exercise, digest in checks.items():
                self.write(
                    "insert into checks values (?, ?, ?) on conflict (exercise) do update "
                    "set checks = excluded.checks, at = excluded.at",
                    (exercise, digest, now),
                )

    def _numbers_of(self, hand_ins: Sequence[HandIn]) -> set[int]:
        """Return the numbers of the rows of hand-ins; of one without a time, that of its last."""
        timed, latest = dict[tuple[object, ...], int](), dict[tuple[object, ...], int]()
        columns = "student, exercise, work, handed_in, number"
        for row in self.base.execute(f"select {columns} from hand_ins order by number"):
            *work, handed_in, number = row
            timed[(*work, handed_in)] = latest[(*work,)] = number
        numbers = set()
        for hand_in in hand_ins:
            work = (hand_in.student, hand_in.exercise, hand_in.work)
            is_timed = bool(hand_in.handed_in)
            number = timed.get((*work, hand_in.handed_in)) if is_timed else latest.get(work)
            numbers |= {number} if number is not None else set()
        return numbers

    def hand_ins(self, student: str | None = None, *, standing: bool = False) -> list[HandIn]:
        """Return what was handed in, in the order in which it was found.

        Parameters
        ----------
        student : str, optional
            That of one learner alone.
        standing : bool
            Leave out what only withdrawn runs have found.
        """
        where, values = ("where student = ?", (student,)) if student is not None else ("", ())
        withdrawn = fallen(self.runs()) if standing else frozenset[int]()
        names = ", ".join(field.name for field in fields(HandIn))
        hand_ins = []
        sql = f"select number, {names} from hand_ins {where} order by number"
        for row in self.rows(sql, values):
            columns = dict(row)
            if columns.pop("number") not in withdrawn:
                is_late = columns["is_late"]
                columns["is_late"] = is_late if is_late is None else bool(is_late)
                hand_ins.append(HandIn(**columns))
        return hand_ins

    def runs(self) -> list[Run]:
        """Return the runs of `grade`, the first one first, with the last word on each."""
        words = {row["run"]: row for row in self.rows("select * from run_words order by number")}
        runs = []
        for row in self.rows("select * from runs order by number"):
            word = words.get(row["number"])
            is_withdrawn = word is not None and bool(word["withdrawn"])
            with self.explained():
                numbers = numbers_in(row["hand_ins"])
            run = Run(row["number"], row["place"], numbers, row["author"], row["at"])
            runs.append(replace(run, withdrawn=word["reason"]) if word and is_withdrawn else run)
        return runs

    def withdraw(self, run: int, author: str, reason: str, *, withdrawn: bool = True) -> None:
        """Let what a run alone has found count no more, or again; nothing is removed."""
        row = (run, withdrawn, author, reason, time.time())
        with self.explained():
            self.write(
                "insert into run_words (run, withdrawn, author, reason, at) values (?, ?, ?, ?, ?)",
                row,
            )

    def withdrawn_works(self) -> set[tuple[str, str, str]]:
        """Return (student, exercise, work) of what only withdrawn runs have found."""
        standing, whole = self.hand_ins(standing=True), self.hand_ins()
        works = ({(h.student, h.exercise, h.work) for h in part} for part in (whole, standing))
        return next(works) - next(works)

    def checks(self) -> dict[str, str]:
        """Return by which checks each exercise is judged now: their hash."""
        return {row["exercise"]: row["checks"] for row in self.rows("select * from checks")}

    def put_off(
        self, student: str, exercise: str, date: float | None, author: str, reason: str
    ) -> None:
        """Give a learner another date for an exercise; None for the course's own again."""
        row = (student, exercise, date, author, reason, time.time())
        with self.explained():
            self.write(
                "insert into own_dates (student, exercise, date, author, reason, at) "
                "values (?, ?, ?, ?, ?, ?)",
                row,
            )

    def own_dates(self) -> dict[tuple[str, str], float]:
        """Return the dates that count for single learners: (student, exercise) -> seconds."""
        rows = self.rows("select student, exercise, date from own_dates order by number")
        dates = {(row["student"], row["exercise"]): row["date"] for row in rows}
        return {who: date for who, date in dates.items() if date is not None}

    def comment(self, comment: Comment) -> None:
        """Add what a teacher says to a learner, in place of what was said there before."""
        with self.explained():
            self.insert("comments", [vars(comment)])

    def comments(self) -> dict[tuple[str, str], dict[str, Comment]]:
        """Return what is said now: (student, exercise) -> step -> Comment."""
        names = ", ".join(field.name for field in fields(Comment))
        by_work: dict[tuple[str, str], dict[str, Comment]] = {}
        for row in self.rows(f"select {names} from comments order by number"):
            comment = Comment(**dict(row))
            by_step = by_work.setdefault((comment.student, comment.exercise), {})
            by_step.pop(comment.step, None)
            if comment.text:
                by_step[comment.step] = comment
        return by_work

    def mark(self, mark: ManualMark) -> None:
        """Add what a person gives for an answer, in place of what was given for it before."""
        with self.explained():
            self.insert("manual_marks", [vars(mark)])

    def manual_marks(self) -> list[ManualMark]:
        """Return what persons gave for answers, the oldest first."""
        names = ", ".join(field.name for field in fields(ManualMark))
        rows = self.rows(f"select {names} from manual_marks order by number")
        return [ManualMark(**dict(row)) for row in rows]

    def last_numbers(self) -> dict[str, int]:
        """Return the number of the last row of each table."""
        with self.explained():
            return {
                table: self.base.execute(
                    f"select coalesce(max(number), 0) from {table}"
                ).fetchone()[0]
                for table in NUMBERED
            }

    def set_right(self, written: dict[str, Attempt], before: Mapping[str, int]) -> int:
        """Undo what another program did to the file while a run was writing to it.

        Code that runs without walls can reach whatever its user can, this file included.

        Parameters
        ----------
        written : dict of key to Attempt
            All that the run has written.
        before : mapping of table to int
            What `last_numbers` said when it began.

        Returns
        -------
        int - how many rows had been changed, added or removed.
        """
        stored = {attempt.key: attempt for attempt in self.attempts()}
        wrong = [key for key, attempt in written.items() if stored.get(key) != attempt]
        sql = "select key from attempts where number > ?"
        with self.explained():
            rows = self.base.execute(sql, (before["attempts"],))
            foreign = [row[0] for row in rows if row[0] not in written]
        with self.explained():
            for key in [*wrong, *foreign]:
                self.write("delete from attempts where key = ?", (key,))
            added = sum(
                self.write(f"delete from {table} where number > ?", (before[table],))
                for table in NUMBERED
                if table != "attempts"
            )
        self.add(written[key] for key in wrong)
        return len(wrong) + len(foreign) + added

    def forget(self, keys: Iterable[str]) -> None:
        """Remove attempts: only for a run that turned out to be worth nothing."""
        with self.explained(), self.together():
            for key in keys:
                self.write("delete from attempts where key = ?", (key,))

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
        most: float = -1.0,
    ) -> None:
        """Add a teacher's word on a step, which counts from now on; the attempts stay.

        None for the points withdraws the words before it: what was graded counts again. A step that
        is excused has no points, neither to earn nor to lose. What the step has now is kept with
        it (`most`): if that changes, the word is told to the teacher before grades go out.
        """
        withdrawn = points is None and not excused
        row = (student, exercise, step, points or 0, author, reason, time.time(), withdrawn)
        self._override((*row, excused, most))

    def _override(self, row: tuple[Any, ...]) -> None:
        places = ", ".join("?" * len(row))
        with self.explained():
            self.write(f"insert into overrides ({_OVERRIDE}) values ({places})", row)

    def overrides(self, student: str) -> list[Override]:
        """Return all overrides for a student, the oldest first."""
        rows = self.rows(_OVERRIDES)
        return [self._read_override(row) for row in rows if row["student"] == student]

    def attempts(self, student: str | None = None) -> Iterator[Attempt]:
        """Yield all attempts, or those of one student, in the order in which they were added."""
        where, values = ("where student = ?", (student,)) if student is not None else ("", ())
        sql = f"select * from attempts {where} order by student, exercise, number"
        rows = self.rows(sql, values)
        while True:
            with self.explained():
                row = next(rows, None)
                if row is None:
                    return
                attempt = attempt_of(dict(row))
            yield attempt

    def learners(self) -> list[tuple[str, str]]:
        """Return number and name of each learner who has a result, by name."""
        sql = "select distinct student, name from attempts order by name, student"
        return [tuple(row) for row in self.rows(sql)]

    def grades(
        self,
        policy: str = "best",
        due: Mapping[str, Due] = MappingProxyType({}),
        checks: Mapping[str, str] = MappingProxyType({}),
    ) -> list[Grade]:
        """Return the grade of each student in each exercise, sorted by both; see `choices`."""
        return [choice.grade for choice in self.choices(policy, due, checks)]

    def choices(
        self,
        policy: str = "best",
        due: Mapping[str, Due] = MappingProxyType({}),
        checks: Mapping[str, str] = MappingProxyType({}),
    ) -> list[Choice]:
        """Return what counts for each student in each exercise, sorted by both.

        A file whose exercise was not known does not count once it has a row with its exercise; nor
        does the row of a file that was graded again because the checks had changed.

        Parameters
        ----------
        policy : {"best", "last", "first"}
            Which of several attempts counts.
        due : mapping of exercise to Due
            The dates of the course.
        checks : mapping of exercise to hash
            Instead of those that count now.
        """
        known = Evidence(
            manual_marks=self.manual_marks(),
            overrides=[self._read_override(row) for row in self.rows(_OVERRIDES)],
            hand_ins=self.hand_ins(standing=True),
            withdrawn=self.withdrawn_works(),
            placed={tuple(row) for row in self.rows(_PLACED, (file_hash(b""),))},
            checks={**self.checks(), **checks},
            due=due,
            own_dates=self.own_dates(),
        )
        return choices_of(self.attempts(), known, policy)

    def _read_override(self, row: sqlite3.Row) -> Override:
        with self.explained():
            return override_of(dict(row))
