"""How long a course takes: from release to grades, feedback and files for the platforms.

    python -m tests.benchmarks.course                  300 learners, all exercises
    python -m tests.benchmarks.course --class 20 --exercises 04.accumulate 16.gradcheck

Learners hand in right work, each known mistake, half of it, late, twice, nothing, under another
name, cheats and broken files, by nbgrader's folders, Canvas, Moodle and `submit`. What comes of it
is compared with what has to. Printed are the seconds by the clock and of computing, and the memory
of the one process that stays single: after a quarter of the work, and at its most.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from pathlib import Path

from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store
from tests.grading.classroom import Classroom, HandIn

ROOT = Path(__file__).parents[2]


class Timed:
    """Runs the teacher's commands, and adds up what they took."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = self.computed = 0.0

    def run(self, *words: str | Path, typed: str = "", status: int = 0) -> str:
        """Run a command and print what it took."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-m", "autodiff_kit.cli", *map(str, words)]
        with open(self.folder / "output.txt", "w+", encoding="utf-8") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            sizes: list[int] = []
            watch = threading.Thread(target=_watch, args=(process, sizes), daemon=True)
            watch.start()
            process.communicate(typed)
            watch.join()
            output.seek(0)
            text = output.read()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = time.perf_counter() - start
        computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.seconds, self.computed = self.seconds + seconds, self.computed + computed
        memory = ""
        if len(sizes) > 20:
            memory = f"  memory {max(sizes[: len(sizes) // 4])}, at most {max(sizes)} MiB"
        print(
            f"{seconds:7.1f} s  {computed:7.1f} s computed{memory}  {' '.join(map(str, words[:2]))}"
        )
        if process.returncode != status:
            raise SystemExit(f"status {process.returncode}\n{text[-3000:]}")
        return text


def _watch(process: subprocess.Popen[str], sizes: list[int]) -> None:
    """Note how much memory a process has, until it ends."""
    path = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            lines = path.read_text().splitlines()
        except OSError:
            return
        sizes += [int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")]
        time.sleep(0.2)


def problems(hand_in: HandIn, grade: Grade | None) -> str:
    """Return what is not as it has to be, or ``""``."""
    if grade is None:
        return "" if hand_in.kind == "missing" else "no row"
    own = [mark for mark in grade.marks if mark.step in {s.id for s in hand_in.exercise.steps}]
    points, most = sum(mark.points for mark in own), hand_in.exercise.points
    kind = hand_in.kind
    if kind in ("right", "late", "renamed", "double") and points != most:
        return f"{points} of {most}"
    if kind == "late" and not grade.days_late:
        return "not late"
    if kind in ("untouched", "cheat", "broken") and points:
        return f"{points} for nothing"
    if kind == "broken" and grade.attempt.status != "unreadable":
        return grade.attempt.status
    if kind == "mistake" and hand_in.message not in [mark.message for mark in own]:
        return f"not told {hand_in.message}, but {[mark.message for mark in own]}"
    if kind in ("mistake", "mixed") and points >= most:
        return "all points"
    return "missing, but graded" if kind == "missing" else ""


def course_of(keys: list[str], folder: Path) -> Course:
    """Return a copy of the kit's own course, with dates, and with some of its exercises or all."""
    own = open_course(find_course(ROOT / "exercises"))
    shutil.copytree(own.folder, folder)
    names = [own.exercise(key).name for key in keys] or list(own.names)
    facts = tomllib.loads((own.folder / "course.toml").read_text(encoding="utf-8"))
    lines = [
        f'title = "{own.title}"\nexercises = {names}\nengine = {facts.get("engine", [])}',
        "[late]\npenalty = 10\n[due]",
        *(f"{name} = 2026-11-30T12:00:00Z" for name in names),
    ]
    (folder / "course.toml").write_text("\n".join(lines), encoding="utf-8")
    return open_course(folder)


def main() -> None:
    """Read the command line, and take a class through the course."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.course",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--class", dest="count", type=int, default=300, help="learners")
    parser.add_argument("--exercises", nargs="*", default=[], help="these alone")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--allow-level", default="1")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed = Timed(folder)
        course = course_of(chosen.exercises, folder / "course")
        where = ("--course", course.folder)
        timed.run("build", *where)
        room = Classroom(course, chosen.count)
        places, lists = room.write(folder), room.rosters(folder)
        kinds = Counter(hand_in.kind for hand_in in room.hand_ins)
        print(f"{chosen.count} learners, {len(room.hand_ins)} times: {dict(kinds)}")
        level = ("--workers", str(chosen.workers), "--allow-level", chosen.allow_level)
        for platform, place in places.items():
            inside = sorted(place.glob("*.zip")) if platform in ("canvas", "moodle") else [place]
            for path in inside:
                timed.run("grade", path, *level, *where)
        with Store(folder / "results" / "results.sqlite") as store:
            grades = {(g.student, g.exercise): g for g in store.grades(due=course.due)}
        count = 0
        for hand_in in room.hand_ins:
            grade = grades.pop((hand_in.learner.student, hand_in.exercise.name), None)
            if words := problems(hand_in, grade):
                count += 1
                who = (hand_in.learner.platform, hand_in.learner.student, hand_in.exercise.name)
                print(f"  {hand_in.kind} {who}: {words}")
        print(f"{count} are not as they have to be; {len(grades)} rows are of others")
        waiting = sum(mark.status == "not graded yet" for g in grades.values() for mark in g.marks)
        timed.run("mark", "--by", "student", *where, typed="1\n" * (4 * chosen.count + waiting))
        for form in ("pages", "moodle", "canvas", "nbgrader"):
            timed.run("feedback", form, "--to", f"feedback-{form}", *where)
        for form, path in lists.items():
            timed.run("export", form, "--roster", path, "--missing", "zero", *where)
        timed.run("report", *where)
        timed.run("similar", *where)
        timed.run("show", room.learners[0].student, *where)
        print(f"{timed.seconds:7.1f} s  {timed.computed:7.1f} s computed, in all")
        print(f"on two free cores about {timed.computed / 120:.1f} minutes")


if __name__ == "__main__":
    main()
