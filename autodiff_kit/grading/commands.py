"""The teacher's commands on results, exercises and this machine.

After reading this file you can say what each command reads and writes. Read next: ``learner.py``,
the learners' commands.
"""

from __future__ import annotations

import functools
import getpass
import math
import re
import sys
import time
from pathlib import Path

import click
from rich.console import Console

from autodiff_kit.files import written_whole
from autodiff_kit.grading import sandbox
from autodiff_kit.grading.command_options import (
    COURSE,
    RESULTS,
    RESULTS_FOLDER,
    course_in,
    explained,
    learner,
)
from autodiff_kit.grading.course_files import for_teachers
from autodiff_kit.grading.due import in_words
from autodiff_kit.grading.engine_parts import parts_before, whole
from autodiff_kit.grading.export_command import export_
from autodiff_kit.grading.extend_command import extend
from autodiff_kit.grading.feedback_command import comment, feedback
from autodiff_kit.grading.grade_command import grade
from autodiff_kit.grading.learner import LEARNER
from autodiff_kit.grading.mark_command import mark
from autodiff_kit.grading.merge_command import merge
from autodiff_kit.grading.puzzle_making import packed
from autodiff_kit.grading.puzzles import PUZZLES
from autodiff_kit.grading.rebuild_command import rebuild
from autodiff_kit.grading.regrade_command import regrade
from autodiff_kit.grading.release import build as released
from autodiff_kit.grading.release import (
    for_teacher,
    handout,
    has_test_cells,
    with_engine,
    with_hidden_tests,
)
from autodiff_kit.grading.report_command import report
from autodiff_kit.grading.results import (
    BY_HAND,
    late_in_words,
    without_file,
    without_superseded,
    work_of,
)
from autodiff_kit.grading.runs_command import runs
from autodiff_kit.grading.sandbox import LEVELS
from autodiff_kit.grading.similar_command import similar
from autodiff_kit.grading.store import Store
from autodiff_kit.grading.submit_command import submit
from autodiff_kit.grading.template import begin
from autodiff_kit.grading.verify import SEEDS, table, verify

__all__ = ["COMMANDS", "isolation"]


_WITHDRAWN = "The runs that found it were withdrawn: this result does not count."
_SUPERSEDED = "It was graded again after its checks had changed: this result does not count."


@click.command()
@click.argument("student")
@RESULTS_FOLDER
@COURSE
def show(student: str, results: Path, folder: Path | None) -> None:
    """Show all attempts of a STUDENT (name or number), and what was overridden by whom."""
    plain = functools.partial(
        Console(highlight=False, emoji=False).print, markup=False, soft_wrap=True
    )
    with explained(), Store(results / RESULTS) as store:
        student = learner(store, student)
        attempts = list(store.attempts(student))
        withdrawn = store.withdrawn_works()
        works = {a.key: (student, a.exercise, work_of(a.hash, a.origin)) for a in attempts}
        latest = without_superseded(
            [a for a in attempts if works[a.key] not in withdrawn], store.checks()
        )
        times: dict[tuple[str, str], list[float]] = {}
        for hand_in in store.hand_ins(student):
            times.setdefault((hand_in.exercise, hand_in.work), []).append(hand_in.handed_in)
        reasons = {True: _WITHDRAWN, False: _SUPERSEDED}
        if attempts[0].name != student:
            plain(f"{attempts[0].name} ({student})")
        for attempt in attempts:
            plain(
                f"{attempt.exercise or '(exercise not known)'}: {attempt.points:g} of "
                f"{attempt.max:g}\n  {attempt.origin}  (level {attempt.level}, seed {attempt.seed})"
                + "".join(
                    f"\n  handed in {in_words(when)}"
                    for when in sorted(
                        times.get((attempt.exercise, work_of(attempt.hash, attempt.origin)), [])
                    )
                    if in_words(when)  # older results know the order alone
                )
                + (f"\n  {attempt.note}" if attempt.note else "")
                + ("" if attempt in latest else f"\n  {reasons[works[attempt.key] in withdrawn]}")
            )
            texts: set[str] = set()
            for mark in attempt.marks:
                has_id = mark.message not in (mark.status, "right", "")
                message = f": {mark.message}" if has_id else ""
                plain(
                    f"  {mark.step or 'file'}: {mark.points:g} of {mark.max:g}  "
                    f"{mark.status}{message}"
                )
                if mark.status != "right" and mark.text not in texts:
                    texts.add(mark.text)
                    plain("".join(f"      {text}\n" for text in mark.text.splitlines()), end="")
        for word in store.overrides(student):
            when = time.strftime("%Y-%m-%d", time.localtime(word.at))
            points = "excused" if word.excused else f"{word.points:g}"
            points = "withdrawn" if word.withdrawn else points
            plain(
                f"override: {word.exercise} {word.step} = {points}, by "
                f"{word.author} on {when}: {word.reason}"
            )
        for given in store.manual_marks():
            if given.student == student:
                when = time.strftime("%Y-%m-%d", time.localtime(given.at))
                plain(
                    f"marked: {given.exercise} {given.step} = {given.points:g}, by "
                    f"{given.author} on {when}"
                )
        for (who, exercise), date in store.own_dates().items():
            if who == student:
                plain(f"date: {exercise} until {in_words(date)}")
        for grade in store.grades(due=course_in(folder).due):
            by_hand = any(mark.status == BY_HAND for mark in grade.marks)
            is_more = grade.attempts > 1 or grade.days_late or store.overrides(student) or by_hand
            if grade.student == student and is_more:
                points = f"{grade.points:g} of {grade.max:g}"
                late = f" ({late_in_words(grade)})" if grade.days_late else ""
                points = "excused" if grade.is_excused else points + late
                plain(f"The grade: {grade.exercise} {points}")


def _points(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Read a number of points, as teachers write it."""
    if value is None:
        return None
    try:
        points = float(re.sub(r"(?a)^(\d+),(\d{1,2})$", r"\1.\2", value))  # 1,5 is 1.5
    except ValueError:
        raise click.BadParameter(f"{value!r} is no number of points.") from None
    if not 0 <= points < math.inf:
        raise click.BadParameter(f"{value} is no number of points.")
    return points


@click.command()
@click.argument("student")
@click.argument("exercise")
@click.argument("step")
@click.argument("points", callback=_points, required=False)
@click.option(
    "--no-file",
    is_flag=True,
    help="For work on paper or in person: there need be no file, nor a row of this learner.",
)
@click.option("--withdraw", is_flag=True, help="Instead of POINTS: what was graded counts again.")
@click.option(
    "--excused", is_flag=True, help="Instead of POINTS: the step counts neither for nor against."
)
@click.option("--bonus", is_flag=True, help="Allow more points than the step has.")
@click.option("--reason", required=True, help="Why; it is kept with the row.")
@click.option("--author", help="Who says so; else the user who runs this.")
@RESULTS_FOLDER
@COURSE
def override(
    student: str,
    exercise: str,
    step: str,
    points: float | None,
    no_file: bool,
    withdraw: bool,
    excused: bool,
    bonus: bool,
    reason: str,
    author: str | None,
    results: Path,
    folder: Path | None,
) -> None:
    """Give a STUDENT (name or number) other POINTS for a STEP of an EXERCISE, or excuse it.

    The graded rows stay as they are; this is one more row, with author and reason. The STEP `all`
    stands for each of them with --excused and --withdraw. What is excused has no points to earn in
    the grade: Canvas gets EX for an exercise, other files an empty cell, and for one that is
    excused in part the share of the rest.

    \b
    Examples:
      autodiff-kit override ada 04.accumulate backward 3 --reason "talked it through"
      autodiff-kit override ada 04.accumulate backward --withdraw --reason "was a mistake"
      autodiff-kit override eve 04.accumulate backward 8 --no-file --reason "on paper"
      autodiff-kit override fay 04.accumulate all --excused --reason "was ill"
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if (points is not None) + withdraw + excused != 1:
        raise click.UsageError("Give one of these: the POINTS, --withdraw or --excused.")
    if not reason.strip():
        raise click.UsageError("Say why (--reason): it is what a learner who asks is told.")
    with explained(), Store(results / RESULTS) as store:
        task = course_in(folder).exercise(exercise)
        points_of = task.points_by_part
        if step not in points_of and (step != "all" or points is not None):
            raise click.ClickException(
                f"{task.id} has no step {step!r}.\n-> There are: {', '.join(points_of)}"
            )
        steps = [step] if step in points_of else [*points_of]
        student = learner(store, student, may_be_new=no_file)
        attempts = list(store.attempts(student))
        has_row = any(attempt.exercise == task.name for attempt in attempts)
        if not has_row and not no_file and not excused:
            raise click.ClickException(
                f"No results for {student!r} in {task.id} to override.\n"
                "-> If the work is on paper, or was talked through: --no-file"
            )
        if points is not None and points > points_of[step] and not bonus:
            raise click.ClickException(
                f"The step {step} of {task.id} has {points_of[step]:g} points, and {points:g} are "
                "more.\n-> If you mean it: --bonus"
            )
        if withdraw:
            here = [word for word in store.overrides(student) if word.exercise == task.name]
            latest = {word.step: word for word in here}
            steps = [name for name in steps if name in latest and not latest[name].withdrawn]
        if not steps:
            raise click.ClickException(
                f"{student} has no override for the step {step} of {task.id} to withdraw."
            )
        if not has_row:
            name = attempts[0].name if attempts else student
            store.add([without_file(student, name, task.name, task.version, points_of)])
        author = author or getpass.getuser()
        for name in steps:
            word = (student, task.name, name, points, author, reason)
            store.override(*word, excused=excused, most=points_of[name])
        marks = [
            mark
            for grade in store.grades(due=course_in(folder).due)
            if (grade.student, grade.exercise) == (student, task.name)
            for mark in grade.marks
        ]
    now = sum(mark.points for mark in marks if mark.step in steps)
    words = f"{now:g} points from now on{' again, as graded' if withdraw else ''}"
    words = "excused: it counts neither for nor against" if excused else words
    click.echo(f"{student}, {task.id}, {step}: {words}.")


@click.command(name="verify")
@click.argument("keys", metavar="[EXERCISE]...", nargs=-1)
@COURSE
@click.option("--seeds", type=click.IntRange(1), default=SEEDS, show_default=True)
def verify_(keys: tuple[str, ...], folder: Path | None, seeds: int) -> None:
    """Test the checks of your exercises: of those you name, else of all.

    Known wrong answers must fail with a message of their own, right ones must pass under all seeds.
    """
    with explained():
        course = course_in(folder)
        click.echo(f"Course: {for_teachers(course.folder)}", err=True)
        verdicts = []
        for key in keys or [exercise.id for exercise in course.exercises()]:
            click.echo(f"{key} ...", err=True)
            verdicts += verify(course, seeds, [key])
    click.echo(table(verdicts))
    if not all(verdict.ok for verdict in verdicts):
        raise click.ClickException("Some checks have to be fixed.")


@click.command()
@COURSE
@click.option("--check", is_flag=True, help="Write nothing; fail if a notebook would change.")
@click.option(
    "--handout",
    "archive",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a zip for learners, too: their notebooks, and no checks, puzzles or solutions.",
)
@click.option(
    "--teacher",
    "teachers_zip",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a zip for teachers, too: all of the course, with checks and solutions.",
)
def build(
    folder: Path | None, check: bool, archive: Path | None, teachers_zip: Path | None
) -> None:
    """Make the learners' notebooks and puzzles (release) from the teacher's notebooks (source).

    In the source, the hidden tests (for those who use nbgrader) are brought in line with the
    checks; nothing else of it changes but the outputs, which are left out. Puzzles are made of the
    exercises that ask for them (`puzzles = true` in course.toml or exercise.toml): their file
    contains the solutions.

    A teacher who has installed the kit, and has no clone of it, unpacks the zip of --teacher and
    works in it: an installation has of the kit's exercises only what learners need.
    """
    if check and (archive is not None or teachers_zip is not None):
        raise click.UsageError("--check writes nothing; --handout and --teacher do: give one.")
    stale, notebooks_by_name = list[str](), dict[str, bytes]()
    with explained():
        course = course_in(folder)
        for_teachers(course.folder)
        for exercise in course.exercises():
            name = exercise.name
            source = course.folder / "source" / name / f"{name}.ipynb"
            target = course.folder / "release" / name / f"{name}.ipynb"
            old = source.read_bytes()
            new = with_hidden_tests(old, exercise) if has_test_cells(old) else old
            if exercise.whole_engine:
                new = with_engine(new, whole(parts_before(course.folder, name)))
            data = notebooks_by_name[name] = released(new)
            if new == old and target.is_file() and target.read_bytes() == data:
                continue
            stale.append(name)
            if not check:
                target.parent.mkdir(parents=True, exist_ok=True)
                source.write_bytes(new)
                target.write_bytes(data)
        notebooks = len(stale)
        puzzles, path = packed(course), course.folder / "release" / PUZZLES
        if (path.read_bytes() if path.is_file() else None) != puzzles:
            stale.append(PUZZLES)
            if not check and puzzles is None:
                path.unlink()
            elif not check and puzzles is not None:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(puzzles)
    if check and stale:
        raise click.ClickException(
            f"Not built from their source: {', '.join(stale)}.\n-> Run: autodiff-kit build"
        )
    if archive is not None:
        with written_whole(archive) as file:
            file.write(handout(notebooks_by_name))
        click.echo(f"{archive}: learners' notebooks, {len(notebooks_by_name)} of them")
    if teachers_zip is not None:
        data = for_teacher(course.folder)
        with written_whole(teachers_zip) as file:
            file.write(data)
        click.echo(f"{teachers_zip}: the whole course, with its solutions: for teachers alone")
    release = course.folder / "release"
    click.echo(f"{len(course.names)} notebooks, {notebooks} of them new or changed: {release}")
    if puzzles is not None:
        click.echo(
            f"{path} contains the solutions of the exercises with puzzles, line by line. "
            "Who gets the file has them."
        )


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
@click.option("--perform", is_flag=True, help="One that is performed, not written.")
def new_exercise(key: str, title: str, folder: Path, perform: bool) -> None:
    """Begin an exercise of your own, such as 20.softmax, in your course.

    What is written works at once: a small exercise (the backward rule of the mean), its parts
    explained by comments. Put yours in its place, part by part, and let `verify` tell you what is
    still missing. Nothing that is there is overwritten. With --perform, the learner is the engine:
    a graph is drawn for each, and they answer what happens in its backward pass.

    \b
    Examples:
      autodiff-kit new-exercise 20.softmax
      autodiff-kit new-exercise 20.softmax --title "The rule of softmax" --course ~/course
      autodiff-kit new-exercise 21.two_passes --perform
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    with explained():
        course, name = begin(folder, key, title, perform=perform)
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
    attempts = sandbox.probe()
    if attempts and not attempts[-1].problem:
        walls = attempts[-1].walls
        summary = f"submissions can be shut in: level {walls.name} ({walls})"
        if len(attempts) == 1:
            return "ok", summary, ""
        fallen = sorted({wall for f in attempts for wall in f.walls.names} - set(walls.names))
        if fallen:
            reason = attempts[0].problem.rpartition(": ")[
                2
            ]  # what comes first is where it was seen
            summary += f". What does not stand: {', '.join(fallen)} ({reason[:120]})"
        return "optional", summary, _mend(attempts)
    return "optional", f"submissions cannot be shut in: level {LEVELS[0]}", _mend(attempts)


def _mend(findings: list[sandbox.Finding]) -> str:
    if not findings:
        return "grade on Linux (Windows: in WSL 2), or in a container of its own"
    problem = findings[0].problem[:120]
    if "libseccomp" in problem:
        return f"apt install libseccomp2 ({problem})"
    if findings[0].walls.user and any(not f.walls.user and not f.problem for f in findings):
        return (
            "grade as an ordinary user, or with a Python that every user may read "
            f"(this one is {sys.base_prefix})"
        )
    in_bubblewrap = [finding for finding in findings if finding.walls.bubblewrap]
    if in_bubblewrap:  # it is there, and is not let do its work
        return f"allow user namespaces ({problem}; bubblewrap: {in_bubblewrap[0].problem[:120]})"
    return f"allow user namespaces, or apt install bubblewrap ({problem})"


COMMANDS = [
    *(grade, regrade, show, mark, override, extend, comment, feedback, report, similar, export_),
    *(runs, merge, rebuild, new_exercise, build, verify_, *LEARNER, submit),
]
