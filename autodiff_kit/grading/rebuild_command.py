"""The command `rebuild`: make damaged results again, from the journal beside them.

Read next: ``commands.py``.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from pathlib import Path

import click

from autodiff_kit.grading.command_options import RESULTS, RESULTS_FOLDER, explained
from autodiff_kit.grading.journal import replay
from autodiff_kit.grading.store import Store, StoreError

__all__ = ["rebuild"]

_BESIDE = ("", "-wal", "-shm")  # what SQLite keeps beside a file


@click.command()
@RESULTS_FOLDER
def rebuild(results: Path) -> None:
    """Make the file of results again, from the journal of all that was written to it.

    For a file that is damaged. It is put aside under another name, not deleted. What a full disk
    or the loss of power has cut off the journal, the next `grade` does again.
    """
    path = results / RESULTS
    journal = path.with_suffix(".journal")
    draft = path.with_name(f".{secrets.token_hex(8)}.sqlite")
    try:
        with explained():
            done, damaged = _replayed(journal, draft)
            with Store(draft, journal=False) as store:
                count = len(list(store.attempts()))
                store.base.execute("pragma journal_mode = delete")  # all of it in one file
        aside = _put_aside(path)
        os.replace(draft, path)
    finally:
        for end in _BESIDE:
            draft.with_name(draft.name + end).unlink(missing_ok=True)
    if aside:
        click.echo(f"What was there is now {aside.name}.")
    if damaged:
        click.echo(
            f"{damaged} lines of {journal.name} cannot be read: what they told is not in it.\n"
            "-> Run the same `grade` again: it goes on where it was."
        )
    click.echo(f"Made {path} again: {done} transactions, {count} attempts.")


def _replayed(journal: Path, draft: Path) -> tuple[int, int]:
    """Do again what the journal tells, in a new file."""
    if not journal.exists():
        raise StoreError(
            f"There is no {journal} to make results of.\n"
            "-> Take them from your backup, or grade into a new folder: --out"
        )
    with Store(draft, journal=False) as store:
        try:
            return replay(journal, store.base)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise StoreError(f"Cannot make results of {journal}: {error}") from error


def _put_aside(path: Path) -> Path | None:
    """Give a file of results, and what belongs to it, a name that is free."""
    if not path.exists():
        return None
    number = 1
    while (aside := path.with_name(f"{path.stem}-damaged-{number}{path.suffix}")).exists():
        number += 1
    for end in _BESIDE:
        part = path.with_name(path.name + end)
        if part.exists():
            os.replace(part, aside.with_name(aside.name + end))
    return aside
