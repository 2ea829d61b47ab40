"""The command `regrade`: judge again all that was handed in, and show who moves before it counts.

After reading this file you can say what is judged again (what was kept, and had no result of the
current checks) and what stays (every earlier result). Read next: ``commands.py``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from autodiff_kit.grading import engine_local
from autodiff_kit.grading.command_options import (
    COURSE,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
)
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.course_files import checks_hash
from autodiff_kit.grading.grade_command import LEVEL, WORKERS, named, progress_on, walls_of
from autodiff_kit.grading.hand_ins import HandIn, kept
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store

__all__ = ["Move", "moves", "regrade"]


@dataclass(frozen=True)
class Move:
    """A grade that would change."""

    student: str
    name: str
    exercise: str
    before: float
    after: float


def moves(before: list[Grade], after: list[Grade]) -> list[Move]:
    """Return whose grades differ: the largest loss first, then by name."""
    points = {(grade.student, grade.exercise): grade.points for grade in before}
    changes = [
        Move(g.student, g.name, g.exercise, points.get((g.student, g.exercise), 0.0), g.points)
        for g in after
    ]
    differing = [change for change in changes if abs(change.after - change.before) > 1e-9]
    return sorted(differing, key=lambda c: (c.after - c.before, c.exercise, c.name, c.student))


@click.command()
@click.argument("keys", metavar="[EXERCISE]...", nargs=-1)
@RESULTS_FOLDER
@COURSE
@WORKERS
@LEVEL
@click.option(
    "--despite-faults",
    is_flag=True,
    help="Go on where some cannot be judged by the machine: their earlier results stay.",
)
@click.option("--yes", is_flag=True, help="Let the new results count, and do not ask.")
def regrade(
    keys: tuple[str, ...],
    results: Path,
    folder: Path | None,
    workers: int | None,
    allow_level: int,
    despite_faults: bool,
    yes: bool,
) -> None:
    """Judge again what was handed in, after you have changed a check: of all EXERCISEs, or some.

    Each file that `grade` has read is kept beside the results; the folder or zip it came in is not
    needed. You see who moves up or down, and are asked before it counts. Earlier results stay, and
    so does what you said with `override`. Say no, and nothing has changed.
    """
    console = Console(highlight=False, emoji=False)
    plain = functools.partial(console.print, markup=False, soft_wrap=True)
    with explained():
        course = course_in(folder)
        names = [course.exercise(key).name for key in keys] or list(course.names)
        with Store(results / RESULTS) as store:
            checks = {name: checks_hash(course.folder, name) for name in names}
            before = store.grades(due=course.due)
            absent: list[str] = []
            works = _works(store, names)
            if works:
                walls = walls_of(console, allow_level)
                run = engine_local.Local(course, walls, workers or os.cpu_count() or 1)
                with progress_on(console, len(works)) as progress:
                    summary = engine_local.grade(
                        _read(works, store.path.parent, absent),
                        course,
                        store,
                        run,
                        secret=store.secret(),
                        guard=walls is None,
                        counts=False,
                        progress=progress,
                    )
                for origin in absent:
                    plain(f"not kept, so not judged again: {origin}")
                plain(f"{summary.graded} judged again, {summary.known} known already.")
                if summary.faults:
                    words = (
                        f"{summary.faults} could not be judged for reasons that are not theirs: "
                        f"{named(summary.at_fault)}."
                    )
                    if not despite_faults:
                        raise click.ClickException(
                            f"{words} Nothing counts yet.\n-> Run the same command again, or let "
                            "the others' results count: --despite-faults"
                        )
                    plain(f"{words} Their earlier results count.")
            after = store.grades(due=course.due, checks=checks)
            _tell(plain, course, before, after)
            current = store.checks()
            if all(current.get(name) == digest for name, digest in checks.items()):
                plain("These checks count already.")
            elif yes or click.confirm("Let the new results count?"):
                used = {hand_in.exercise for hand_in in store.hand_ins()}
                store.note_hand_ins([], {n: d for n, d in checks.items() if n in used})
                plain("They count from now on.")
            else:
                plain("Nothing has changed: the earlier results count.")


def _works(store: Store, names: list[str]) -> list[HandIn]:
    """Return each piece of work for these exercises once."""
    works = {
        (hand_in.student, hand_in.exercise, hand_in.work): hand_in
        for hand_in in reversed(store.hand_ins(standing=True))
        if hand_in.exercise in names
    }
    return list(works.values())[::-1]


def _read(works: list[HandIn], results: Path, absent: list[str]) -> Iterator[Submission]:
    """Yield the work with its file, one at a time; name in `absent` what was not kept."""
    for hand_in in works:
        is_file = hand_in.work != hand_in.origin
        data = kept(results, hand_in.work) if is_file else b""
        if data is None:
            absent.append(f"{hand_in.student}, {hand_in.origin}")
        else:
            yield hand_in.submission(data)


def _tell(
    plain: functools.partial[None], course: Course, before: list[Grade], after: list[Grade]
) -> None:
    changes = moves(before, after)
    ids = {name: course.exercise(name).id for name in course.names}
    for change in changes:
        who = change.name if change.name == change.student else f"{change.name} ({change.student})"
        plain(
            f"  {ids.get(change.exercise, change.exercise)}  {who}: {change.before:g} -> "
            f"{change.after:g} ({change.after - change.before:+g})"
        )
    up = sum(change.after > change.before for change in changes)
    plain(f"{up} move up, {len(changes) - up} down, {len(after) - len(changes)} stay.")
