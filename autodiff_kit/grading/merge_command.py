"""The command `merge`: the results of several shards, put together.

After reading this file you can say why it may be done twice: a row that is there already is not
added again. Read next: ``store.py``.
"""

from __future__ import annotations

from pathlib import Path

import click

from autodiff_kit.grading.command_options import RESULTS, explained
from autodiff_kit.grading.runs import numbers_in, ranges_of
from autodiff_kit.grading.store import Store, StoreError

__all__ = ["merge", "merged"]


@click.command()
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--results",
    "--out",
    "results",
    default="results",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that they are put into.",
)
def merge(parts: tuple[Path, ...], results: Path) -> None:
    """Put the results of several shards (PARTS, folders that `grade` wrote) together."""
    with explained(), Store(results / RESULTS) as store:
        for part in parts:
            with Store(part / RESULTS) as other:
                click.echo(f"{part}: {merged(store, other)} new rows")


def merged(store: Store, other: Store) -> int:
    """Add what another file of results has; return how many attempts were new.

    Raises
    ------
    StoreError
        If the two were graded from different seeds.
    """
    ours, theirs = (
        dict(tuple(row) for row in s.rows("select name, value from facts")) for s in (store, other)
    )
    if "seed" in ours and "seed" in theirs and ours["seed"] != theirs["seed"]:
        raise StoreError(
            f"{store.path} and {other.path} were graded from different seeds.\n"
            "-> Give all shards the same one: --seed NUMBER"
        )
    for name, value in theirs.items():
        store.fact(name, value)
    new = store.add(other.attempts())
    with store.explained(), store.together():
        store.insert("hand_ins", [vars(hand_in) for hand_in in other.hand_ins()])
        for checks in other.rows("select * from checks"):
            store.write(
                "insert into checks values (:exercise, :checks, :at) on conflict (exercise) do "
                "update set checks = excluded.checks, at = excluded.at "
                "where excluded.at > checks.at",
                dict(checks),
            )
        for table in ("overrides", "own_dates", "comments", "manual_marks"):
            _add_rows(store, other, table)
        _add_runs(store, other)
    return new


def _add_rows(store: Store, other: Store, table: str) -> None:
    known = {tuple(row)[1:] for row in store.rows(f"select * from {table}")}
    rows = [dict(row) for row in other.rows(f"select * from {table} order by number")]
    for row in rows:
        del row["number"]
    store.insert(table, [row for row in rows if tuple(row.values()) not in known])


def _add_runs(store: Store, other: Store) -> None:
    """Add the runs, and what was said of them; hand-ins and runs have other numbers here."""
    columns = "number, student, exercise, work, handed_in"
    ours, theirs = (
        {row[0]: tuple(row)[1:] for row in s.rows(f"select {columns} from hand_ins")}
        for s in (store, other)
    )
    number_of = {hand_in: number for number, hand_in in ours.items()}
    runs = {tuple(row)[1:]: row["number"] for row in store.rows("select * from runs")}
    new_number: dict[int, int] = {}
    for row in other.rows("select * from runs order by number"):
        old, place, hand_ins, author, at = tuple(row)
        ranges = ranges_of(
            number_of[theirs[number]] for number in numbers_in(hand_ins) if number in theirs
        )
        run = (place, ranges, author, at)
        if run not in runs:
            sql = "insert into runs (place, hand_ins, author, at) values (?, ?, ?, ?)"
            store.write(sql, run)
            runs[run] = store.last_numbers()["runs"]
        new_number[old] = runs[run]
    known = {tuple(row)[1:] for row in store.rows("select * from run_words")}
    for row in other.rows("select * from run_words order by number"):
        _, run_number, *rest = tuple(row)
        word = (new_number.get(run_number, 0), *rest)
        if word not in known:
            store.write(
                "insert into run_words (run, withdrawn, author, reason, at) values (?, ?, ?, ?, ?)",
                word,
            )
