"""The teacher's report: its figures against NumPy's, and what never stands on it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.class_figures import FEWEST, in_short, overview, own_progress
from autodiff_kit.grading.due import Due
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.report_page import report_page
from autodiff_kit.grading.results import Attempt, Grade, Mark
from autodiff_kit.grading.store import Store
from tests.grading import tiny

NOON = 1_795_000_000.0  # in November 2026
HOSTILE = "<script>alert(1)</script>`=x`\x1b[2J"


def grade(student: str, numbers: float, arrays: float, *, at: float = 0.0, **facts: str) -> Grade:
    def mark(step: str, points: float, most: float) -> Mark:
        is_right = points == most
        text = "" if is_right else facts.get("text", f"On double(3), {student} gives 6.")
        kind = facts.get("kind", "right" if is_right else "wrong")
        return Mark(step, points, most, kind, "" if is_right else "one_is_missing", text)

    marks = (mark("numbers", numbers, 1), mark("arrays", arrays, 2))
    row = ("k" + student, student, student, tiny.NAME, 1, student, "h", "c", "1", "2 sandboxed")
    attempt = Attempt(*row, facts.get("status", "graded"), marks)
    return Grade(student, student, tiny.NAME, marks, attempt, 1, handed_in=at)


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return tiny.make_course(tmp_path_factory.mktemp("course")).exercise("01.double")


def random_class(count: int) -> list[Grade]:
    random = np.random.default_rng(5)
    return [
        grade(f"s{k}", *random.choice([0, 0.5, 1.0], size=2) * [1, 2], at=NOON + 40_000 * k)
        for k in range(count)
    ]


def test_difficulty_and_discrimination_are_those_of_numpy(exercise: Exercise) -> None:
    grades = random_class(40)
    numbers, arrays = np.array([[m.points for m in g.marks] for g in grades]).T

    figures = overview(exercise, grades)

    first, second = figures.steps
    assert (first.count, first.full) == (40, int((numbers == 1).sum()))
    assert first.share == pytest.approx(numbers.mean())
    assert second.share == pytest.approx(arrays.mean() / 2)
    r = np.corrcoef(numbers, arrays)[0, 1]  # of two steps, the rest is the other one
    assert first.discrimination == pytest.approx(r) == second.discrimination
    assert figures.median == pytest.approx(np.median((numbers + arrays) / 3))


def test_few_learners_or_equal_ones_have_no_correlation(exercise: Exercise) -> None:
    few = overview(exercise, random_class(FEWEST - 1))
    equal = overview(exercise, [grade(f"s{k}", 1, 1) for k in range(30)])

    assert [step.discrimination for step in (*few.steps, *equal.steps)] == [None] * 4


def test_who_did_not_begin_is_counted_apart(exercise: Exercise) -> None:
    grades = [
        grade("ada", 1, 2),
        grade("bob", 0, 0, kind="missing"),
        grade("eve", 0, 0, kind="unreadable", status="unreadable"),
        grade("fay", 0, 0, kind="excused"),
    ]

    figures = overview(exercise, grades)

    assert figures.shares == [1.0]
    assert (figures.empty, figures.unreadable, figures.excused) == (1, 1, 1)
    assert [(m.message, m.count) for m in figures.mistakes] == []


def page_of(exercise: Exercise, grades: list[Grade], now: float = 0.0) -> str:
    due = {tiny.NAME: Due(NOON + 86_400 * 5)}
    words = {tiny.NAME: exercise.messages | in_short(exercise)}
    return report_page("A course", [overview(exercise, grades)], due, words, now=now)


def test_a_report_fetches_and_runs_nothing_and_names_no_learner(exercise: Exercise) -> None:
    grades = [*random_class(20), grade(HOSTILE, 0, 0, text=HOSTILE)]

    page = page_of(exercise, grades, now=NOON)

    assert "default-src 'none'" in page and "script-src" not in page and "<script" not in page
    assert not re.search(r"(src|href|action)=|url\(", page)
    assert "\x1b" not in page and "&lt;script&gt;" not in page.split("<h3>")[0]
    assert "The one is missing." in page


def test_every_hand_in_is_in_a_bar_and_the_date_stands_among_them(exercise: Exercise) -> None:
    page = page_of(exercise, random_class(20))
    label = re.findall(r'aria-label="([^"]*)"', page.split("When it was handed in")[1])[0]

    assert sum(int(text.rsplit(" ", 1)[1]) for text in label.split(", ")) == 20
    assert ">due</text>" in page and "20 hand-ins that count, by day." in page


def test_an_example_of_a_mistake_is_what_one_learner_was_told(exercise: Exercise) -> None:
    figures = overview(exercise, [grade("x", 0, 2, text="On double(3), your code gives 6.")] * 2)

    assert figures.mistakes[0].example == "On double(3), your code gives 6."
    assert figures.mistakes[0].message == "one_is_missing"


def test_what_learners_hand_in_of_their_own_is_counted(tmp_path: Path) -> None:
    for name, right, hints in (("ada", True, [0]), ("bob", False, [0, 1, 0])):
        folder = tmp_path / name
        folder.mkdir()
        answers = {"03.sum": {"first": "x", "right": right}, "odd": 3}
        (folder / "progress.json").write_text(json.dumps({"version": 2, "answers": answers}))
        data = {"01.double": {"shown": hints}, "odd": [1]}
        (folder / ".autodiff-kit-exercises.json").write_text(json.dumps(data))
    (tmp_path / "broken.json").write_text("[" * 100_000)
    (tmp_path / "other.json").write_text('{"a": 1}')

    own = own_progress(tmp_path)

    assert own.files == 4 and own.unread == ["broken.json"]
    assert own.questions == {"03.sum": (1, 2)}
    assert own.hints == {"01.double": {0: 2, 1: 1}}


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.make_course(tmp_path / "course")
    (tmp_path / "course" / "results").mkdir()
    monkeypatch.chdir(tmp_path / "course")
    empty = CliRunner().invoke(cli, ["report"])
    with Store(Path("results/results.sqlite")) as store:
        store.add([grade(f"learner{k}", 1, k % 3).attempt for k in range(12)])

    done = CliRunner().invoke(cli, ["report", "--progress", "."])

    assert empty.exit_code == 1 and "no result of this course" in empty.output
    assert done.exit_code == 0, done.output
    assert done.output == "Wrote report.html: 1 exercises, 12 grades\n"
    page = Path("report.html").read_text(encoding="utf-8")
    assert "What learners handed in of their own progress" in page
    assert "learner3" not in page.replace("On double(3), learner", "")
