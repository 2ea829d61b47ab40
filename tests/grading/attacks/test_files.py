"""Files made to harm their reader: each is a row with a reason, and costs nobody else anything."""

import resource
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from autodiff_kit.grading import marking, one_submission, submissions
from autodiff_kit.grading.calls import Call, Limits, Reply, Work
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.engine_local import Local, grade
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.one_submission import Job, grade_one, runner_for
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.sandbox import Sandbox
from autodiff_kit.grading.store import Store
from tests.gate import some
from tests.grading import tiny
from tests.grading.attacks.files import ALL
from tests.grading.standing import WALLS
from tests.rows import for_each

COURSE = Path(__file__).parents[3] / "exercises"
CHOSEN = some(ALL, 15)
GROWTH = 300  # MiB that the grader's own process may grow by


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Grade], int, int]:
    """A class of such files, an honest learner behind each; faults; and the growth in MiB."""
    place = tmp_path_factory.mktemp("files")
    course = tiny.make_course(place / "course", seconds=1.0)
    for name in CHOSEN:
        make, suffix = ALL[name]
        number, student = CHOSEN.index(name), name.replace(": ", "-")
        for who, content, ending in (
            (f"{number:03} {student}", make(), suffix),
            (f"{number:03} honest", f"{tiny.SOLUTION}#{number}".encode(), ".py"),
        ):
            folder = place / "submitted" / who / tiny.NAME
            folder.mkdir(parents=True)
            (folder / f"{tiny.NAME}{ending}").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runner = runner_for(WALLS)
    with Store(place / "results.sqlite") as store:
        hand_ins = submissions.find(place / "submitted", course.names, runner=runner)
        summary = grade(hand_ins, course, store, Local(course, WALLS, 2), secret=1)
        rows = {grade.student: grade for grade in store.grades()}
    if isinstance(runner, Sandbox):
        runner.close()
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return rows, summary.faults, growth // 1024


@for_each("name", CHOSEN)
def test_a_file_made_to_harm_is_a_row_with_a_reason_and_its_neighbour_is_graded(
    name: str, graded: tuple[dict[str, Grade], int, int]
) -> None:
    rows, _, _ = graded
    number = f"{CHOSEN.index(name):03}"
    attack, honest = rows[f"{number} {name.replace(': ', '-')}"], rows[f"{number} honest"]

    assert attack.points == 0
    assert attack.attempt.status in ("graded", "unreadable")
    assert all(mark.text for mark in attack.marks)
    assert honest.points == 3


@pytest.mark.parametrize("name", [name for name in CHOSEN if "blanks" in name])
def test_blanks_are_read_once_however_many_there_are(
    name: str, graded: tuple[dict[str, Grade], int, int]
) -> None:
    rows, _, _ = graded
    row = rows[f"{CHOSEN.index(name):03} {name.replace(': ', '-')}"]

    assert row.attempt.status == "graded"


def test_such_files_are_never_the_machines_fault_and_fill_no_memory_of_the_grader(
    graded: tuple[dict[str, Grade], int, int],
) -> None:
    rows, faults, growth = graded

    assert len(rows) == 2 * len(CHOSEN)
    assert faults == 0
    assert growth < GROWTH


class Lasting:
    """Code that gives no answer, and takes all of the time that it gets, or some of it."""

    level = "none"

    def __init__(self, computing: float, waiting: float) -> None:
        self.computing, self.waiting = computing, waiting
        self.now = 0.0
        self.runs = 0

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        self.runs += 1
        self.now += self.computing * limits.total + self.waiting * limits.waiting
        return [Reply("timeout")] * len(calls)


@pytest.mark.parametrize("name", ["e01_graph", "e12_train", "e16_gradcheck"])
@pytest.mark.parametrize(("computing", "waiting"), [(1, 1), (1, 0), (0.4, 0), (0.4, 0.3), (0, 1)])
def test_all_runs_of_all_tries_of_a_submission_have_one_limit_together(
    name: str, computing: float, waiting: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = open_course(COURSE)
    limits = course.exercise(name).limits
    code = Lasting(computing, waiting)
    clock = SimpleNamespace(monotonic=lambda: code.now)
    monkeypatch.setattr(one_submission, "time", clock)
    monkeypatch.setattr(marking, "time", clock)

    attempt = grade_one(
        Job("", Submission("eve", "eve", name, "", b"", ".py"), "", 1), course, code
    )

    assert attempt.points == 0
    assert code.now <= limits.tries + limits.waiting
    # One busy moment leaves time for what is asked again: the learner is not to blame.
    assert code.runs > 1 or waiting == 1
