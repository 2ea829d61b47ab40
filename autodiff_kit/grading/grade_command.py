"""The command `grade`: from a folder of submissions to rows of results and a summary.

After reading this file you can say what it does before it runs a learner's code: it finds out how
well that code can be shut in here, and refuses to go on below a level. Read next: ``commands.py``.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autodiff_kit.grading import engine_dask, engine_local, export, handed_in, sandbox, submissions
from autodiff_kit.grading.calls import Runner
from autodiff_kit.grading.class_figures import in_short
from autodiff_kit.grading.command_options import COURSE, RESULTS, course_apart, explained
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.identity import several_in
from autodiff_kit.grading.one_submission import runner_for
from autodiff_kit.grading.sandbox import LEVELS, Walls
from autodiff_kit.grading.store import Store
from autodiff_kit.grading.submissions import UNREADABLE_TIME

__all__ = ["LEVEL", "WORKERS", "grade", "progress_on", "unpacking", "walls_of"]

LOG_EVERY = 30  # seconds
MAX_NAMED = 20  # unreadable files of one exercise that the summary names


def _parts(context: Any, parameter: Any, text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    raise click.BadParameter("Give a part and the number of parts, such as 2/5.")


WORKERS = click.option(
    "--workers", type=click.IntRange(1, 256), help="Processes; else one per processor."
)
LEVEL = click.option(
    "--allow-level",
    type=click.IntRange(0, 2),
    default=1,
    show_default=True,
    help="The lowest isolation to accept: see `autodiff-kit doctor`.",
)


@click.command()
@click.argument("place", metavar="SUBMISSIONS", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--results",
    "--out",
    "results",
    default="results",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the results; those that are there are gone on with.",
)
@COURSE
@click.option("--exercise", default="", help="Which one it is, where no path says so.")
@click.option("--pattern", default="", help="Regular expression with (?P<student>...) for paths.")
@WORKERS
@LEVEL
@click.option("--engine", type=click.Choice(["local", "dask"]), default="local", show_default=True)
@click.option("--scheduler", default="", help="Address of a Dask scheduler, tcp://...")
@click.option(
    "--shard", default="1/1", callback=_parts, help="Grade one part of several, such as 2/5."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="What the inputs are drawn from, as an earlier run or another part has named it.",
)
def grade(
    place: Path,
    results: Path,
    folder: Path | None,
    exercise: str,
    pattern: str,
    workers: int | None,
    allow_level: int,
    engine: str,
    scheduler: str,
    shard: tuple[int, int],
    seed: int | None,
) -> None:
    """Grade all SUBMISSIONS: nbgrader's folders, a zip from Moodle or Canvas, loose files.

    Run it again after an interruption, or when more has come in: what has its row is not graded
    twice, and nothing that was graded is lost: each file is kept with its time. After you have
    changed a check, `autodiff-kit regrade` judges all of them again and shows who moves.
    `autodiff-kit override` gives other points, or excuses a learner; that stays when work is graded
    again. `autodiff-kit runs` withdraws the run of a wrong folder. Dates and what being late costs
    stand in course.toml, under [due] and [late].

    \b
    Examples:
      autodiff-kit grade submitted --results results
      autodiff-kit grade class.zip --exercise 04.accumulate
      autodiff-kit grade submitted --shard 2/5 --seed 7 --results part2
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    console = Console(highlight=False, emoji=False)
    plain = functools.partial(console.print, markup=False, soft_wrap=True)
    with explained():
        course = course_apart(folder, place)
        name = course.exercise(exercise).name if exercise else ""
        # Read before anybody's code runs: without walls it could change the files.
        names = {e.name: [n for step in e.steps for n in step.names] for e in course.exercises()}
        with Store(results / RESULTS) as store:
            secret = store.secret(seed)
            total = handed_in.count(place)
            run: engine_local.Engine
            if engine == "dask":
                run = engine_dask.OnDask(course, scheduler, allow_level)
                walls = None
            else:
                walls = walls_of(console, allow_level)
                run = engine_local.Local(course, walls, workers or os.cpu_count() or 1)
            with progress_on(console, total) as progress, unpacking(walls) as runner:
                submitted = submissions.find(place, course.names, name, pattern, runner, names)
                summary = engine_local.grade(
                    submitted,
                    course,
                    store,
                    run,
                    secret=secret,
                    shard=shard,
                    guard=walls is None and engine == "local",
                    place=str(place.resolve()),
                    author=getpass.getuser(),
                    progress=progress,
                )
            _say(console, course, store, results)
            _tell_merged(plain, store, place)
            speed = f" ({summary.graded / summary.seconds:.0f} a second)" if summary.graded else ""
            count = _number(summary.submissions, "submission")
            plain(
                f"{count}: {summary.graded} graded now{speed}, "
                f"{summary.known} known already. Seed {secret}.\n"
                f"Results: {results}, with a picture for each exercise.\n"
                f"Next: autodiff-kit show STUDENT --results {results}, or "
                f"autodiff-kit export canvas --results {results}"
            )
    if summary.changed:
        console.print(
            f"{summary.changed} rows were changed from outside during the run, and set right.",
            style="bold red",
        )
    if summary.faults:
        raise click.ClickException(
            f"{summary.faults} submissions could not be graded for reasons that are not theirs: "
            f"{named(summary.at_fault)}.\n"
            "-> See why with `autodiff-kit show`, then run the same command again."
        )


def named(learners: list[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(learners) - 10} more" if len(learners) > 10 else ""
    return ", ".join(learners[:10]) + more


@contextlib.contextmanager
def unpacking(walls: Walls | None) -> Iterator[Runner]:
    """Give a runner for learners' zips, which starts with the first one."""
    runner = runner_for(walls)
    try:
        yield runner
    finally:
        if isinstance(runner, sandbox.Sandbox):
            runner.close()


def walls_of(console: Console, least: int) -> Walls | None:
    """Return the best walls of this machine, or stop if they are too low."""
    findings = sandbox.probe()
    walls = None if not findings or findings[-1].problem else findings[-1].walls
    level = walls.level if walls else 0
    if level < least:
        reasons = "".join(f"\n   {finding.walls}: {finding.problem}" for finding in findings)
        raise click.ClickException(
            f"Submissions can be shut in at level {level} only on this machine "
            f"({LEVELS[level].split(': ')[1]}).{reasons}\n"
            f"-> Fix it (see `autodiff-kit doctor`), grade in a container or virtual machine of "
            f"its own, or accept it: --allow-level {level}"
        )
    console.print(f"Isolation: level {LEVELS[level]}.", markup=False, soft_wrap=True)
    return walls


@contextlib.contextmanager
def progress_on(console: Console, total: int) -> Iterator[Any]:
    """Show how far it is and what is left: a bar, or a line every half minute in a log file."""
    columns = (
        TextColumn("grading"),
        *(BarColumn(), MofNCompleteColumn()),
        *(TimeRemainingColumn(), TextColumn("left")),
    )
    start = latest = time.monotonic()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=total)

        def show(summary: engine_local.Summary) -> None:
            nonlocal latest
            count, now = summary.graded + summary.known, time.monotonic()
            bar.update(task, completed=count)
            if not console.is_terminal and now - latest > LOG_EVERY and summary.graded:
                seconds = max(total - count, 0) * (now - start) / summary.graded
                click.echo(f"{count} of about {max(count, total)}, {seconds / 60:.0f} min left")
                latest = now

        yield show


def _tell_merged(plain: functools.partial[None], store: Store, place: Path) -> None:
    """Say which folders were read as one learner's, and are by Moodle's names of several."""
    origins: dict[str, list[str]] = {}
    for hand_in in store.hand_ins(standing=True):
        origins.setdefault(hand_in.student, []).append(hand_in.origin)
    counts = {student: several_in(names) for student, names in origins.items()}
    if several := [student for student, count in counts.items() if count > 1]:
        plain(
            f"Read as one learner's, and by Moodle's names of several: {named(several)}.\n"
            f"-> Is it so? Then withdraw this run (autodiff-kit runs), and grade what is in it: "
            f"autodiff-kit grade {place / several[0]}"
        )


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _say(console: Console, course: Course, store: Store, results: Path) -> None:
    """Print a summary per exercise, and draw its histogram."""
    plain = functools.partial(console.print, markup=False, soft_wrap=True)
    grades = store.grades(due=course.due)
    names = sorted({grade.exercise for grade in grades})
    wide = max([len("exercise"), *map(len, names)])
    plain(f"\n{'exercise':{wide}}  graded       mean  all right  empty  unreadable")
    for name in names:
        here = [g for g in grades if g.exercise == name]
        graded = [g for g in here if not g.is_excused]
        most = max((g.max for g in graded), default=0)
        mean = f"{sum(g.out_of(most) for g in graded) / max(len(graded), 1):.1f} of {most:g}"
        full = sum(bool(g.max) and g.points >= g.max for g in here)
        empty = sum(map(export.is_empty, here))
        unread = sum(g.attempt.status == "unreadable" for g in here)
        plain(
            f"{name or '(unknown)':{wide}}  {len(graded):6}  {mean:>9}  {full:9}  {empty:5}  "
            f"{unread:10}"
        )
        if excused := len(here) - len(graded):
            plain(f"    excused: {excused}")
        if late := sum(g.days_late > 0 for g in here):
            plain(f"    late: {late}")
        if untimed := sum(UNREADABLE_TIME in g.attempt.note for g in here):
            plain(f"    time stamps that cannot be read (the file's own counts): {untimed}")
        if waiting := sum(g.ungraded for g in here):
            plain(f"    answers in words that wait for a mark: {waiting} (autodiff-kit mark)")
        if stale := sum(g.is_stale for g in here):
            plain(f"    judged by checks that have changed since: {stale} (autodiff-kit regrade)")
        for names in export.sharing(here):
            plain(f"    the same graph was performed by {', '.join(names)}: one may have copied")
        exercise = course.exercise(name) if name in course.names else None  # it may be gone
        words = in_short(exercise) if exercise else {}
        for message, count in export.mistakes(here).most_common(3):
            plain(f"    {count} x {words.get(message, message.replace('_', ' '))}")
        bad = [g.attempt for g in here if g.attempt.status == "unreadable"]
        for attempt in bad[:MAX_NAMED]:
            plain(f"    unreadable: {attempt.origin}: {attempt.marks[0].text}")
        if len(bad) > MAX_NAMED:
            plain(f"    and {len(bad) - MAX_NAMED} more that are unreadable: see the export csv")
        if exercise:
            texts = exercise.messages | words
            picture = export.histogram(here, name, f"{exercise.id} {exercise.title}", texts)
            (results / f"{name}.svg").write_text(picture, encoding="utf-8")
    plain()
