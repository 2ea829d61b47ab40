"""A course from release to grades, feedback and files, with hand-ins of each kind and platform.

``python -m tests.benchmarks.course`` does the same with 300 learners and all exercises, timed.
"""

import csv
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store
from tests.benchmarks.course import problems
from tests.grading import tiny
from tests.grading.classroom import KINDS, PLATFORMS, Classroom
from tests.grading.in_words import make_course

COUNT = 80  # each of 20 kinds with each of 4 platforms


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Classroom, list[Grade]]:
    """A class that was graded; the folder has `results`, lists and a course."""
    folder = tmp_path_factory.mktemp("course")
    make_course(folder / "course")
    shutil.rmtree(folder / "course" / "release", ignore_errors=True)
    with open(folder / "course" / "course.toml", "a") as file:
        file.write(f"[due]\n{tiny.NAME} = 2026-11-30T12:00:00Z\n")
    run("build", folder)
    course = open_course(folder / "course")
    room = Classroom(course, COUNT)
    for place in room.write(folder).values():
        inside = [place, *place.glob("*.zip")][-1]
        words = ("--workers", "1", "--allow-level", "0", "--out", str(folder / "results"))
        run("grade", folder, str(inside), *words)
    with Store(folder / "results" / "results.sqlite") as store:
        return folder, room, store.grades(due=course.due)


def run(command: str, folder: Path, *words: str, typed: str = "") -> str:
    own = () if command in ("build", "grade") else ("--results", str(folder / "results"))
    where = ("--course", str(folder / "course"))
    done = CliRunner().invoke(cli, [command, *words, *own, *where], input=typed)
    assert done.exit_code == 0, done.output
    return done.output


def test_what_each_learner_has_is_what_their_work_is_worth(taken: tuple) -> None:
    _, room, grades = taken
    rows = {grade.student: grade for grade in grades}

    assert Counter(h.kind for h in room.hand_ins) == Counter({k: 4 * KINDS.count(k) for k in KINDS})
    faults = {
        (h.kind, h.learner.platform): words
        for h in room.hand_ins
        if (words := problems(h, rows.get(h.learner.student)))
    }
    assert faults == {}
    assert len({(h.kind, h.learner.platform) for h in room.hand_ins}) == 4 * len(set(KINDS))
    missing = sum(hand_in.kind == "missing" for hand_in in room.hand_ins)
    assert len(rows) == COUNT - missing


def test_each_platform_gets_its_own_learners_back(taken: tuple, tmp_path: Path) -> None:
    folder, room, _ = taken
    missing = {h.learner.student for h in room.hand_ins if h.kind == "missing"}
    by_platform = {
        platform: [one for one in room.learners if one.platform == platform]
        for platform in PLATFORMS
    }

    for form, path in room.rosters(tmp_path).items():
        output = run("export", folder, form, "--roster", str(path), "--to", str(tmp_path))
        own = by_platform.get(form, by_platform["nbgrader"] + by_platform["site"])
        count = sum(one.student in missing for one in own)
        assert f"Nothing was handed in by {count}:" in output or not count
        with open(tmp_path / f"{form}.csv", encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))[1 + (form == "canvas") :]
        assert len(lines) == len(own)
        assert (
            sum(
                bool(line[-2 if form == "moodle" else 5 if form == "canvas" else 2])
                for line in lines
            )
            == len(own) - count
        )
    for form in ("moodle", "canvas"):
        run("feedback", folder, form, "--to", str(tmp_path))
        with zipfile.ZipFile(tmp_path / f"{tiny.NAME}-{form}.zip") as archive:
            own = by_platform[form]
            assert len(archive.namelist()) == len(own) - sum(o.student in missing for o in own)


def test_equal_names_are_two_learners(taken: tuple) -> None:
    _, room, grades = taken
    names = Counter(one.name for one in room.learners)

    assert names.most_common(1)[0][1] > 1
    assert len({grade.student for grade in grades}) == len(grades)
