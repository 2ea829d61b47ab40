"""The teacher's commands: from a folder of submissions to a file for the gradebook.

After reading this file you can say what each command reads and writes, and what `grade` does before
it runs anybody's code: it finds out how well that code can be shut in here, and refuses to go on
below a level. Read next: ``learner.py``, the learners' commands.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autodiff_kit.grading import engine_dask, engine_local, export, sandbox, submissions
from autodiff_kit.grading.calls import Runner
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.judging import runner_for
from autodiff_kit.grading.learner import LEARNER
from autodiff_kit.grading.release import build as released
from autodiff_kit.grading.release import has_test_cells, with_hidden_tests
from autodiff_kit.grading.sandbox import LEVELS, Walls
from autodiff_kit.grading.store import Grade, Store, StoreError
from autodiff_kit.grading.template import begin
from autodiff_kit.grading.verify import SEEDS, table, verify

__all__ = ["COMMANDS", "isolation"]

RESULTS = "results.sqlite"
LOG_EVERY = 30  # seconds
MAX_NAMED = 20  # unreadable files of one exercise that the summary names
_COURSE = click.option(
    "--course",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder with course.toml; else the one around here, else the kit's own exercises.",
)
_RESULTS = click.option(
    "--results",
    default="results",
    show_default=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder that `grade` wrote.",
)
_POLICY = click.option(
    "--policy",
    type=click.Choice(["best", "last"]),
    default="best",
    show_default=True,
    help="Which of several attempts counts.",
)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn the errors that a teacher can fix into their words, without a traceback."""
    try:
        yield
    except (ExerciseError, StoreError, submissions.Unreadable, engine_dask.ClusterError) as error:
        raise click.ClickException(str(error)) from error


def course_in(folder: Path | None) -> Course:
    """Return the course that is meant."""
    return open_course(find_course(folder or Path.cwd()))


def _parts(context: Any, parameter: Any, text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    raise click.BadParameter("Give a part and the number of parts, such as 2/5.")


@click.command()
@click.argument("place", metavar="SUBMISSIONS", type=click.Path(path_type=Path, exists=True))
@click.option("--out", "results", default="results", show_default=True, type=Path)
@_COURSE
@click.option("--exercise", default="", help="Which one it is, where no path says so.")
@click.option("--pattern", default="", help="Regular expression with (?P<student>...) for paths.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes; else one per processor.")
@click.option(
    "--allow-level",
    type=click.IntRange(0, 2),
    default=1,
    show_default=True,
    help="The lowest isolation to accept: see `autodiff-kit doctor`.",
)
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
    twice, and nothing that was graded is lost.

    \b
    Examples:
      autodiff-kit grade submitted --out results
      autodiff-kit grade class.zip --exercise 04.accumulate
      autodiff-kit grade submitted --shard 2/5 --seed 7 --out part2
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    console = Console(highlight=False, emoji=False)
    plain = functools.partial(console.print, markup=False, soft_wrap=True)
    with explained():
        course = course_in(folder)
        name = course.exercise(exercise).name if exercise else ""
        # Read before anybody's code runs: without walls it could change the files.
        asked = {e.name: [n for step in e.steps for n in step.names] for e in course.exercises()}
        with Store(results / RESULTS) as store:
            secret = store.secret(seed)
            total = submissions.count(place)
            run: engine_local.Engine
            if engine == "dask":
                run = engine_dask.OnDask(course, scheduler, allow_level)
                walls = None
            else:
                walls = _walls(console, allow_level)
                run = engine_local.Local(course, walls, workers or os.cpu_count() or 1)
            with _progress(console, total) as progress, unpacking(walls) as runner:
                found = submissions.find(place, course.names, name, pattern, runner, asked)
                summary = engine_local.grade(
                    found,
                    course,
                    store,
                    run,
                    secret=secret,
                    shard=shard,
                    guard=walls is None and engine == "local",
                    progress=progress,
                )
            _say(console, course, store, results)
            speed = f" ({summary.graded / summary.seconds:.0f} a second)" if summary.graded else ""
            plain(
                f"{_number(summary.found, 'submission')}: {summary.graded} graded now{speed}, "
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
            f"{summary.faults} submissions could not be graded for reasons that are not theirs.\n"
            "-> See why with `autodiff-kit show`, then run the same command again."
        )


@contextlib.contextmanager
def unpacking(walls: Walls | None) -> Iterator[Runner]:
    """Give a runner for learners' zips, which starts with the first one."""
    runner = runner_for(walls)
    try:
        yield runner
    finally:
        if isinstance(runner, sandbox.Sandbox):
            runner.close()


def _walls(console: Console, least: int) -> Walls | None:
    """Return the best walls of this machine, or stop if they are too low."""
    seen = sandbox.probe()
    walls = None if not seen or seen[-1].problem else seen[-1].walls
    level = walls.level if walls else 0
    if level < least:
        reasons = "".join(f"\n   {finding.walls}: {finding.problem}" for finding in seen)
        raise click.ClickException(
            f"Submissions can be shut in at level {level} only on this machine "
            f"({LEVELS[level].split(': ')[1]}).{reasons}\n"
            f"-> Fix it (see `autodiff-kit doctor`), grade in a container or virtual machine of "
            f"its own, or accept it: --allow-level {level}"
        )
    console.print(f"Isolation: level {LEVELS[level]}.", markup=False, soft_wrap=True)
    return walls


@contextlib.contextmanager
def _progress(console: Console, total: int) -> Iterator[Any]:
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
            done, now = summary.graded + summary.known, time.monotonic()
            bar.update(task, completed=done)
            if not console.is_terminal and now - latest > LOG_EVERY and summary.graded:
                left = max(total - done, 0) * (now - start) / summary.graded
                click.echo(f"{done} of about {total}, {left / 60:.0f} min left")
                latest = now

        yield show


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _say(console: Console, course: Course, store: Store, results: Path) -> None:
    """Print a summary per exercise, and draw its histogram."""
    plain = functools.partial(console.print, markup=False, soft_wrap=True)
    grades = store.grades()
    names = sorted({grade.exercise for grade in grades})
    wide = max([len("exercise"), *map(len, names)])
    plain(f"\n{'exercise':{wide}}  graded       mean  all right  empty  unreadable")
    for name in names:
        here = [g for g in grades if g.exercise == name]
        most = max(g.max for g in here)
        mean = f"{sum(g.points for g in here) / len(here):.1f} of {most:g}"
        full = sum(bool(g.max) and g.points >= g.max for g in here)
        empty = sum(map(export.is_empty, here))
        unread = sum(g.attempt.status == "unreadable" for g in here)
        plain(
            f"{name or '(unknown)':{wide}}  {len(here):6}  {mean:>9}  {full:9}  {empty:5}  "
            f"{unread:10}"
        )
        words = _in_words(course.exercise(name)) if name else {}
        for message, count in export.mistakes(here).most_common(3):
            plain(f"    {count} x {words.get(message, message.replace('_', ' '))}")
        bad = [g.attempt for g in here if g.attempt.status == "unreadable"]
        for attempt in bad[:MAX_NAMED]:
            plain(f"    unreadable: {attempt.origin}: {attempt.marks[0].text}")
        if len(bad) > MAX_NAMED:
            plain(f"    and {len(bad) - MAX_NAMED} more that are unreadable: see the export csv")
        if name:
            exercise = course.exercise(name)
            said = exercise.messages | words
            picture = export.histogram(here, name, f"{exercise.id} {exercise.title}", said)
            (results / f"{name}.svg").write_text(picture, encoding="utf-8")
    plain()


def _in_words(exercise: Exercise) -> dict[str, str]:
    """Return message id -> short words for teachers, where the id itself does not say enough."""
    words = {check.name: f"not right: {check.concept}" for check in exercise.checks}
    words |= {"timeout": "not ready in time", "memory": "too much memory"}
    return {**words, "does_not_run": "a cell stops with an error, or ends the process"}


@click.command()
@click.argument("student")
@_RESULTS
def show(student: str, results: Path) -> None:
    """Show all attempts of a STUDENT (name or number), and what was overridden by whom."""
    plain = functools.partial(
        Console(highlight=False, emoji=False).print, markup=False, soft_wrap=True
    )
    with explained(), Store(results / RESULTS) as store:
        student = store.learner(student)
        attempts = list(store.attempts(student))
        if attempts[0].name != student:
            plain(f"{attempts[0].name} ({student})")
        for attempt in attempts:
            plain(
                f"{attempt.exercise or '(exercise not known)'}: {attempt.points:g} of "
                f"{attempt.max:g}\n  {attempt.origin}  (level {attempt.level}, seed {attempt.seed})"
                + (f"\n  {attempt.note}" if attempt.note else "")
            )
            said: set[str] = set()
            for mark in attempt.marks:
                message = "" if mark.message in (mark.status, "right") else f": {mark.message}"
                plain(
                    f"  {mark.step or 'file'}: {mark.points:g} of {mark.max:g}  "
                    f"{mark.status}{message}"
                )
                if mark.status != "right" and mark.text not in said:
                    said.add(mark.text)
                    plain("".join(f"      {text}\n" for text in mark.text.splitlines()), end="")
        for row in store.overrides(student):
            when = time.strftime("%Y-%m-%d", time.localtime(row["at"]))
            points = "withdrawn" if row["withdrawn"] else f"{row['points']:g}"
            plain(
                f"override: {row['exercise']} {row['step']} = {points}, by "
                f"{row['author']} on {when}: {row['reason']}"
            )
        for grade in store.grades():
            if grade.student == student and (grade.attempts > 1 or store.overrides(student)):
                plain(f"The grade: {grade.exercise} {grade.points:g} of {grade.max:g}")


@click.command()
@click.argument("student")
@click.argument("exercise")
@click.argument("step")
@click.argument("points", type=click.FloatRange(0), required=False)
@click.option("--withdraw", is_flag=True, help="Instead of POINTS: what was graded counts again.")
@click.option("--bonus", is_flag=True, help="Allow more points than the step has.")
@click.option("--reason", required=True, help="Why; it is kept with the row.")
@click.option("--author", help="Who says so; else the user who runs this.")
@_RESULTS
@_COURSE
def override(
    student: str,
    exercise: str,
    step: str,
    points: float | None,
    withdraw: bool,
    bonus: bool,
    reason: str,
    author: str | None,
    results: Path,
    folder: Path | None,
) -> None:
    """Give a STUDENT (name or number) other POINTS for a STEP of an EXERCISE.

    The graded rows stay as they are; this is one more row, with author and reason.

    \b
    Examples:
      autodiff-kit override ada 04.accumulate backward 3 --reason "talked it through"
      autodiff-kit override ada 04.accumulate backward --withdraw --reason "was a mistake"
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if (points is None) != withdraw or (points is not None and not math.isfinite(points)):
        raise click.UsageError("Give either the POINTS or --withdraw.")
    with explained(), Store(results / RESULTS) as store:
        asked = course_in(folder).exercise(exercise)
        steps = [part.id for part in asked.steps]
        if step not in steps:
            raise click.ClickException(
                f"{asked.id} has no step {step!r}.\n-> There are: {', '.join(steps)}"
            )
        student = store.learner(student)
        if not any(attempt.exercise == asked.name for attempt in store.attempts(student)):
            raise click.ClickException(f"No results for {student!r} in {asked.id} to override.")
        most = asked.steps[steps.index(step)].points
        if points is not None and points > most and not bonus:
            raise click.ClickException(
                f"The step {step} of {asked.id} has {most:g} points, and {points:g} are more.\n"
                "-> If you mean it: --bonus"
            )
        rows = [row for row in store.overrides(student) if row["exercise"] == asked.name]
        before = [row for row in rows if row["step"] == step]
        if withdraw and (not before or before[-1]["withdrawn"]):
            raise click.ClickException(
                f"{student} has no override for the step {step} of {asked.id} to withdraw."
            )
        store.override(student, asked.name, step, points, author or getpass.getuser(), reason)
        grade = next(g for g in store.grades() if (g.student, g.exercise) == (student, asked.name))
        now = next((mark.points for mark in grade.marks if mark.step == step), 0)
    again = " again, as graded" if withdraw else ""
    click.echo(f"{student}, {asked.id}, {step}: {now:g} points from now on{again}.")


@click.command(name="export")
@click.argument("form", metavar="FORMAT", type=click.Choice(list(export.FORMATS)))
@click.option("--to", default=".", type=click.Path(path_type=Path, file_okay=False))
@_RESULTS
@_POLICY
@_COURSE
def export_(form: str, to: Path, results: Path, policy: str, folder: Path | None) -> None:
    """Write the grades for another system.

    \b
    FORMAT is one of:
      csv         one line for each step of each learner
      canvas      to import in Canvas' gradebook
      moodle      to import in Moodle's gradebook
      nbgrader    the columns of `nbgrader export`
      gradescope  a results.json for each learner and exercise
      junit       JUnit XML, for a continuous integration system
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    with explained(), Store(results / RESULTS) as store:
        grades: list[Grade] = store.grades(policy)
        asked = course_in(folder).exercises()
        here = {grade.exercise for grade in grades}
        titles = {e.name: (f"{e.id} {e.title}", e.points) for e in asked if e.name in here}
        click.echo(f"Wrote {export.export(grades, form, to, titles)}")


@click.command()
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", "results", default="results", show_default=True, type=Path)
def merge(parts: tuple[Path, ...], results: Path) -> None:
    """Put the results of several shards (PARTS, folders that `grade` wrote) together."""
    with explained(), Store(results / RESULTS) as store:
        for part in parts:
            with Store(part / RESULTS) as other:
                click.echo(f"{part}: {store.merge(other)} new rows")


@click.command(name="verify")
@click.argument("keys", metavar="[EXERCISE]...", nargs=-1)
@_COURSE
@click.option("--seeds", type=click.IntRange(1), default=SEEDS, show_default=True)
def verify_(keys: tuple[str, ...], folder: Path | None, seeds: int) -> None:
    """Test the checks of your exercises: of those you name, else of all.

    Known wrong answers must fail with a message of their own, right ones must pass under all seeds.
    """
    with explained():
        verdicts = verify(course_in(folder), seeds, keys)
    click.echo(table(verdicts))
    if not all(verdict.ok for verdict in verdicts):
        raise click.ClickException("Some checks have to be fixed.")


@click.command()
@_COURSE
@click.option("--check", is_flag=True, help="Write nothing; fail if a notebook would change.")
def build(folder: Path | None, check: bool) -> None:
    """Make the learners' notebooks (release) from the teacher's (source).

    In the source, the hidden tests (for those who use nbgrader) are brought in line with the
    checks; nothing else of it changes but the outputs, which are left out.
    """
    stale = []
    with explained():
        course = course_in(folder)
        for exercise in course.exercises():
            name = exercise.name
            source = course.folder / "source" / name / f"{name}.ipynb"
            target = course.folder / "release" / name / f"{name}.ipynb"
            old = source.read_bytes()
            new = with_hidden_tests(old, exercise) if has_test_cells(old) else old
            data = released(new)
            if new == old and target.is_file() and target.read_bytes() == data:
                continue
            stale.append(name)
            if not check:
                target.parent.mkdir(parents=True, exist_ok=True)
                source.write_bytes(new)
                target.write_bytes(data)
    if check and stale:
        raise click.ClickException(
            f"Not built from their source: {', '.join(stale)}.\n-> Run: autodiff-kit build"
        )
    click.echo(f"{len(course.names)} notebooks, {len(stale)} of them new or changed.")


@click.command(name="new-exercise")
@click.argument("key", metavar="ID")
@click.option("--title", default="", help="Heading for learners; else made of the id.")
@click.option(
    "--course",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    help="The folder with course.toml; else the one around here.",
)
def new_exercise(key: str, title: str, folder: Path) -> None:
    """Begin an exercise of your own, such as 13.softmax, in your course.

    What is written works at once: a small exercise (the backward rule of the mean), its parts
    explained by comments. Put yours in its place, part by part, and let `verify` tell you what is
    still missing. Nothing that is there is overwritten.

    \b
    Examples:
      autodiff-kit new-exercise 13.softmax
      autodiff-kit new-exercise 13.softmax --title "The rule of softmax" --course ~/course
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    with explained():
        course, name = begin(folder, key, title)
    click.echo(
        f"Begun, in {course}:\n"
        f"  source/{name}/{name}.ipynb\n"
        "      the notebook, with its solution between two marks\n"
        f"  checks/{name}/\n"
        "      exercise.toml   points, limits, hints\n"
        "      checks.py       inputs and right answers\n"
        "      messages.toml   what learners are told\n"
        "      mutants.toml    known mistakes, each with its message\n"
        "      alternatives/   other right answers\n"
        "  course.toml\n"
        "      its name, at the end of the list\n"
        "It works already. Make it yours, and after each change:\n"
        "  autodiff-kit build                 write the notebook for learners\n"
        f"  autodiff-kit verify {key + ' ' * (13 - len(key))}  see whether the checks are good ones"
    )


def isolation() -> tuple[str, str, str]:
    """Return state, finding and how to fix it for ``autodiff-kit doctor``.

    Only trying tells: what is installed may be forbidden.
    """
    seen = sandbox.probe()
    if seen and not seen[-1].problem:
        walls = seen[-1].walls
        found = f"submissions can be shut in: level {walls.name} ({walls})"
        if len(seen) == 1:
            return "ok", found, ""
        fallen = sorted({wall for f in seen for wall in f.walls.names} - set(walls.names))
        if fallen:
            found += f". What does not stand: {', '.join(fallen)} ({seen[0].problem[:200]})"
        return "optional", found, _mend(seen)
    return "optional", f"submissions cannot be shut in: level {LEVELS[0]}", _mend(seen)


def _mend(seen: list[sandbox.Finding]) -> str:
    if not seen:
        return "grade on Linux (Windows: in WSL 2), or in a container of its own"
    problem = seen[0].problem[:120]
    if "libseccomp" in problem:
        return f"apt install libseccomp2 ({problem})"
    if seen[0].walls.user and any(not f.walls.user and not f.problem for f in seen):
        return (
            "grade as an ordinary user, or with a Python that every user may read "
            f"(this one is {sys.base_prefix})"
        )
    tried = [finding for finding in seen if finding.walls.bubblewrap]
    if tried:  # it is there, and is not let do its work
        return f"allow user namespaces ({problem}; bubblewrap: {tried[0].problem[:120]})"
    return f"allow user namespaces, or apt install bubblewrap ({problem})"


COMMANDS = [grade, show, override, export_, merge, new_exercise, build, verify_, *LEARNER]
