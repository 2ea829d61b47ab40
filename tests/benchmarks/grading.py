"""How fast a class is graded, beside nbgrader on the same notebooks in the same run.

    python -m tests.benchmarks.grading                          submissions and notebooks per second
    python -m tests.benchmarks.grading --nbgrader PATH          ... and nbgrader's, by its program
    python -m tests.benchmarks.grading --class 200              a class, from `build` to Canvas
    python -m tests.benchmarks.grading --scale 5000             what 100,000 would cost

nbgrader is left out where it is not installed (`pip install nbgrader`, best in an environment of
its own). Wall time of whole runs, without the start of the commands; a busy machine shows in it.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from autodiff_kit.grading import engine_dask, submissions
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.engine_local import Engine, Local, grade
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.one_submission import Job
from autodiff_kit.grading.results import Attempt, Mark, file_hash
from autodiff_kit.grading.sandbox import Walls, best_walls
from autodiff_kit.grading.store import Store
from tests.grading import pupils, tiny

ROOT = Path(__file__).parents[2]


def ours(course: Course, place: Path, walls: Walls | None, workers: int, count: int) -> float:
    """Return submissions per second, from the first row to the last."""
    with Store(place.with_suffix(".sqlite")) as store:
        times: list[float] = []
        submitted = submissions.find(place, course.names)
        engine = Local(course, walls, workers)

        def timed(jobs):
            for attempt in engine(jobs):
                times.append(time.perf_counter())
                yield attempt

        summary = grade(submitted, course, store, timed, secret=1)
        assert (summary.graded, summary.faults) == (count, 0), summary
    return (count - 1) / (times[-1] - times[0])


def one_function(folder: Path, walls: Walls | None, workers: int, count: int) -> float:
    """Grade a class's work on the tests' own small exercise."""
    course = tiny.make_course(folder / "tiny")
    place = folder / "functions"
    place.mkdir()
    for number in range(count):
        code = (tiny.SOLUTION, tiny.WRONG)[number % 4 == 0]
        (place / f"s{number:04}_{tiny.NAME}.py").write_text(f"{code}#{number}\n")
    return ours(course, place, walls, workers, count)


def hand_in(course: Course, exercise: Exercise, place: Path, count: int) -> None:
    """Fill in the released notebook for a class: three in four right, one with a known mistake."""
    released = course.folder / "release" / exercise.name / f"{exercise.name}.ipynb"
    solved = course.folder / "source" / exercise.name / f"{exercise.name}.ipynb"
    answers = {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(solved.read_text(encoding="utf-8"))["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    for number in range(count):
        notebook = json.loads(released.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["id"] in answers:
                mistake = exercise.mutants[number % len(exercise.mutants)].code
                wrong = f"\n\n{mistake}" if number % 4 == 0 else ""
                cell["source"] = f"{answers[cell['id']]}{wrong}\n# {number}"
        folder = place / f"s{number:04}" / exercise.name
        folder.mkdir(parents=True)
        (folder / f"{exercise.name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def theirs(program: str, course: Course, exercise: Exercise, folder: Path, count: int) -> float:
    """Return what nbgrader grades per second of the first `count` of the same notebooks."""
    place = folder / "nbgrader"
    shutil.copytree(course.folder / "source" / exercise.name, place / "source" / exercise.name)
    shutil.copy(course.folder / "nbgrader_config.py", place)
    for student in sorted((folder / "submitted").iterdir())[:count]:
        shutil.copytree(student, place / "submitted" / student.name)
    path = os.pathsep.join((str(Path(program).parent), os.environ.get("PATH", "")))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}

    def run(*words: str) -> float:
        start = time.perf_counter()
        process = subprocess.run(
            [program, *words], cwd=place, env=environment, capture_output=True, text=True
        )
        if process.returncode:
            raise SystemExit(f"nbgrader {' '.join(words)}:\n{process.stderr[-3000:]}")
        return time.perf_counter() - start

    run("generate_assignment", exercise.name)
    return count / run("autograde", exercise.name)


def a_class(course: Course, folder: Path, count: int, workers: int) -> None:
    """Run the teacher's commands over right answers, known mistakes, cheats and broken files."""
    handed_in = pupils.make(course, folder / "submitted", count)
    kinds = Counter(pupil.kind for pupil in handed_in)
    print(f"{count} learners: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}")
    where = ("--course", str(course.folder))
    options = ("--results", str(folder / "results"))
    for words in (
        ("build", "--check", *where),
        (
            "grade",
            str(folder / "submitted"),
            "--out",
            options[1],
            "--workers",
            str(workers),
            *where,
        ),
        (
            "grade",
            str(folder / "submitted"),
            "--out",
            options[1],
            "--workers",
            str(workers),
            *where,
        ),
        ("show", handed_in[4].student, *options),
        ("export", "canvas", "--to", str(folder / "out"), *options, *where),
    ):
        start = time.perf_counter()
        command = [sys.executable, "-m", "autodiff_kit.cli", *words]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        print(f"{time.perf_counter() - start:7.2f} s  autodiff-kit {words[0]}")
        print(
            "".join(f"             {line}\n" for line in process.stdout.splitlines()[-4:]), end=""
        )
    lines = (folder / "out" / "canvas.csv").read_text(encoding="utf-8").splitlines()
    print(f"{len(lines) - 2} lines for Canvas")


def canned(job: Job, *ignored: object) -> Attempt:
    """Return a row as large as a real one, without grading."""
    mark = Mark("backward", 5.0, 10.0, "wrong", "keeps_the_last", "x" * 400)
    who = job.submission
    data = file_hash(who.data)
    names = (job.key, who.student, who.name, who.exercise, 1, who.origin, data, job.checks)
    return Attempt(*names, str(job.seed), "2 sandboxed", "graded", (mark,) * 3)


def canned_there(jobs: list[Job], *ignored: object) -> list[Attempt]:
    """Stand in for the work of a cluster's worker."""
    return list(map(canned, jobs))


def scale(
    course: Course, exercise: Exercise, folder: Path, walls: Walls | None, count: int
) -> None:
    """Measure the parts that stay single, and print what 100,000 submissions would cost."""
    hand_in(course, exercise, folder / "submitted", count)
    few = folder / "few"
    for student in sorted((folder / "submitted").iterdir())[:200]:
        shutil.copytree(student, few / student.name)
    one = ours(course, few, walls, 1, len(list(few.iterdir())))
    print(f"one worker, whole notebooks            {one:9.0f} a second")

    rows = [
        canned(Job(f"key {number}", submission, "checks", 1))
        for number, submission in enumerate(submissions.find(few, course.names))
    ]
    rows = [dataclasses.replace(row, key=f"{row.key} {n}") for n in range(100) for row in rows]
    for batch in (1, 100):
        with Store(folder / f"rows{batch}.sqlite") as store:
            start = time.perf_counter()
            for place in range(0, len(rows), batch):
                store.add(rows[place : place + batch])
            speed = len(rows) / (time.perf_counter() - start)
        print(f"SQLite, {batch:3d} rows at a time              {speed:9.0f} a second")

    def whole(name: str, engine: Engine) -> float:
        with Store(folder / f"{name}.sqlite") as store:
            submitted = submissions.find(folder / "submitted", course.names)
            summary = grade(submitted, course, store, engine, secret=1)
        assert summary.graded == count
        return count / summary.seconds

    single = whole("single", lambda jobs: map(canned, jobs))
    print(f"find, read, hash, write: one process   {single:9.0f} a second")
    on_dask = None
    if importlib.util.find_spec("distributed"):
        on_dask = through_dask(course, whole)
        print(f"the same through Dask, two workers     {on_dask:9.0f} a second")
    print("100,000 submissions      local, as many cores      Dask")
    for workers in (1, 10, 100, 1000):
        cells = []
        for most in filter(None, (single, on_dask)):
            minutes = 100_000 / min(workers * one, most) / 60
            cells.append(f"{minutes:9.1f} min{'*' if workers * one > most else ' '}")
        print(f"{workers:5d} workers      {'             '.join(cells)}")
    print("* more workers do not help: the single part is at its end")


def through_dask(course: Course, whole: Callable[[str, Engine], float]) -> float:
    """Measure the way to the workers and back, where they have nothing to do."""
    distributed = importlib.import_module("distributed")
    real = engine_dask.grade_there
    engine_dask.grade_there = canned_there
    try:
        with distributed.LocalCluster(
            2, threads_per_worker=1, dashboard_address=None, silence_logs=40
        ) as cluster:
            return whole("dask", engine_dask.OnDask(course, cluster.scheduler_address, 0))
    finally:
        engine_dask.grade_there = real


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.grading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--functions", type=int, default=1000, help="one-function submissions")
    parser.add_argument("--notebooks", type=int, default=200, help="whole notebooks")
    parser.add_argument("--exercise", default="04.accumulate", help="whose notebooks")
    parser.add_argument("--nbgrader", default=shutil.which("nbgrader"), help="its program")
    parser.add_argument("--beside", type=int, default=10, help="notebooks for nbgrader (10)")
    parser.add_argument("--class", dest="pupils", type=int, help="learners, of all kinds")
    parser.add_argument("--scale", type=int, help="submissions for the single parts")
    chosen = parser.parse_args()
    walls = best_walls()
    course = open_course(find_course(ROOT / "exercises"))
    exercise = course.exercise(chosen.exercise)
    print(f"{chosen.workers} workers; walls: {walls or 'none'}; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.pupils:
            a_class(course, folder, chosen.pupils, chosen.workers)
            return
        if chosen.scale:
            scale(course, exercise, folder, walls, chosen.scale)
            return
        speed = one_function(folder, walls, chosen.workers, chosen.functions)
        print(f"one function      {speed:8.1f} submissions/s   (goal: 100)")
        hand_in(course, exercise, folder / "submitted", chosen.notebooks)
        speed = ours(course, folder / "submitted", walls, chosen.workers, chosen.notebooks)
        print(f"whole notebooks   {speed:8.1f} notebooks/s     (goal: 20)")
        if chosen.nbgrader is None:
            print("(nbgrader is not installed and left out)")
            return
        other = theirs(chosen.nbgrader, course, exercise, folder, chosen.beside)
        print(f"nbgrader          {other:8.2f} notebooks/s")
        print(f"ratio             {speed / other:8.1f}                 (goal: 20)")


if __name__ == "__main__":
    main()
