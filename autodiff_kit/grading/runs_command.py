"""The command `runs`: what `grade` was run on, and how a wrong run is withdrawn.

Read next: ``runs.py``, which says what a run is.
"""

from __future__ import annotations

import getpass
from pathlib import Path

import click

from autodiff_kit.grading.calls import clean
from autodiff_kit.grading.command_options import (
    COURSE,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
)
from autodiff_kit.grading.due import in_words
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store

__all__ = ["runs"]


@click.command()
@click.argument("number", type=click.IntRange(1), required=False)
@click.option("--withdraw", is_flag=True, help="What this run alone has found counts no more.")
@click.option("--restore", is_flag=True, help="A run that was withdrawn counts again.")
@click.option("--reason", default="", help="Why; it is kept with the run.")
@click.option("--author", help="Who says so; else the user who runs this.")
@RESULTS_FOLDER
@COURSE
def runs(
    number: int | None,
    withdraw: bool,
    restore: bool,
    reason: str,
    author: str | None,
    results: Path,
    folder: Path | None,
) -> None:
    """List the runs of `grade`; withdraw the one with this NUMBER, or let it count again.

    For a folder that should not have been graded: the wrong course's, one in which all work lies
    under one name, an older copy. What other runs have found as well still counts. Nothing is
    removed, and you see whose grades change.

    \b
    Examples:
      autodiff-kit runs
      autodiff-kit runs 3 --withdraw --reason "the folder of last year"
      autodiff-kit runs 3 --restore --reason "it was the right one"
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if withdraw + restore != (number is not None):
        raise click.UsageError("Give the NUMBER of a run, with --withdraw or --restore.")
    if number is not None and not reason.strip():
        raise click.UsageError("Say why (--reason): it is kept with the run.")
    with explained(), Store(results / RESULTS) as store:
        if number is None:
            _list(store)
            return
        by_number = {run.number: run for run in store.runs()}
        if number not in by_number:
            raise click.ClickException(f"There is no run {number}.\n-> See: autodiff-kit runs")
        is_withdrawn = by_number[number].withdrawn is not None
        if is_withdrawn == withdraw:
            raise click.ClickException(
                f"Run {number} is {'withdrawn already' if withdraw else 'not withdrawn'}."
            )
        due = course_in(folder).due
        before = store.grades(due=due)
        store.withdraw(number, author or getpass.getuser(), reason, withdrawn=withdraw)
        _tell_changes(before, store.grades(due=due))
    undo = "--restore" if withdraw else "--withdraw"
    state = "withdrawn" if withdraw else "counts again"
    click.echo(f"Run {number}: {state}. To undo it: autodiff-kit runs {number} {undo} --reason WHY")


def _list(store: Store) -> None:
    all_runs = store.runs()
    for run in all_runs:
        count = len(run.hand_ins)
        state = "" if run.withdrawn is None else f"\n     withdrawn: {clean(run.withdrawn, 200)}"
        click.echo(
            f"{run.number:4} {in_words(run.at)}, {clean(run.author, 100)}: "
            f"{count} hand-in{'' if count == 1 else 's'} in {clean(run.place, 300)}{state}"
        )
    if not all_runs:
        click.echo("No run is known: these results are older than this list.")


def _tell_changes(before: list[Grade], after: list[Grade]) -> None:
    """Say whose grades differ, and who has none any more, or has one again."""
    old, new = ({(g.student, g.exercise): g for g in grades} for grades in (before, after))
    changes = 0
    for who in sorted(old.keys() | new.keys()):
        words = [f"{g[who].points:g}" if who in g else "none" for g in (old, new)]
        if words[0] != words[1]:
            grade = old.get(who) or new[who]
            name = grade.name if grade.name == who[0] else f"{grade.name} ({who[0]})"
            click.echo(f"  {who[1] or 'unknown'}  {clean(name, 200)}: {words[0]} -> {words[1]}")
            changes += 1
    click.echo(f"Grades that change: {changes}.")
