"""How fast a class is graded, beside nbgrader on the same notebooks in the same run.

    python -m tests.benchmarks.grading                          submissions and notebooks per second
    python -m tests.benchmarks.grading --nbgrader PATH          ... and nbgrader's, by its program

nbgrader is left out where it is not installed (`pip install nbgrader`, best in an environment of
its own). Wall time of whole runs, without the start of the commands; a busy machine shows in it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from autodiff_kit.grading import submissions
from autodiff_kit.grading.course import Course, find_course, open_course
from autodiff_kit.grading.engine_local import Local, grade
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.sandbox import Walls, best_walls
from autodiff_kit.grading.store import Store
from tests.grading import tiny

ROOT = Path(__file__).parents[2]


def ours(course: Course, place: Path, walls: Walls | None, workers: int, count: int) -> float:
    """Return submissions per second, from the first row to the last."""
    with Store(place.with_suffix(".sqlite")) as store:
        times: list[float] = []
        found = submissions.find(place, course.names)
        engine = Local(course, walls, workers)

        def timed(jobs):
            for attempt in engine(jobs):
                times.append(time.perf_counter())
                yield attempt

        summary = grade(found, course, store, timed, seed=1)
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
        done = subprocess.run(
            [program, *words], cwd=place, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"nbgrader {' '.join(words)}:\n{done.stderr[-3000:]}")
        return time.perf_counter() - start

    run("generate_assignment", exercise.name)
    return count / run("autograde", exercise.name)


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
    chosen = parser.parse_args()
    walls = best_walls()
    course = open_course(find_course(ROOT / "exercises"))
    exercise = course.exercise(chosen.exercise)
    print(f"{chosen.workers} workers; walls: {walls or 'none'}; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
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
