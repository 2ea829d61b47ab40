"""A class is graded: one row for each submission, whatever is in it and whatever happens."""

import dataclasses
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from autodiff_kit.grading import engine_local, submissions, supervision, worker
from autodiff_kit.grading.calls import Call, Limits, Reply, Runner, Work
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.engine_local import Local, Summary, grade
from autodiff_kit.grading.feedback import code_in
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.merge_command import merged
from autodiff_kit.grading.one_submission import Job, grade_one
from autodiff_kit.grading.results import Attempt, Mark, key_of
from autodiff_kit.grading.sandbox import Sandbox
from autodiff_kit.grading.store import Store, StoreError
from autodiff_kit.grading.worker import InProcess, Level0
from tests.grading import tiny
from tests.grading.standing import PLACES, WALLS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return tiny.make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "out" / "results.sqlite") as results:
        yield results


@pytest.fixture(scope="module", params=PLACES)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """A process for each code: behind walls it costs a fork, else a start of Python."""
    if request.param == "plain process":
        yield Level0()
    else:
        if WALLS is None:
            pytest.skip("no walls stand on this machine, see `autodiff-kit doctor`")
        with Sandbox(WALLS) as walled:
            yield walled


def submitted(
    student: str, code: str | bytes, suffix: str = ".py", problem: str = ""
) -> Submission:
    data = code.encode() if isinstance(code, str) else code
    return Submission(student, student, tiny.NAME, f"{student}.py", data, suffix, problem)


def in_process(course: Course) -> engine_local.Engine:
    return lambda jobs: (grade_one(job, course, InProcess()) for job in jobs)


CLASS = [
    submitted("ada", tiny.SOLUTION),
    submitted("bob", tiny.WRONG),
    submitted("cy", tiny.STUB),
    submitted("di", "def double(x): return 2 * x + 1 if isinstance(x, float) else x"),
    submitted("ed", b"{]", ".ipynb"),
    submitted("flo", "", problem="A link or a special file is not followed."),
    submitted("gus", tiny.notebook("1 + 1"), ".ipynb"),
]
WANTED = {
    "ada": (3, "graded", ["right", "right"]),
    "bob": (0, "graded", ["wrong", "wrong"]),
    "cy": (0, "graded", ["not attempted", "not attempted"]),
    "di": (1, "graded", ["right", "wrong"]),
    "ed": (0, "unreadable", ["unreadable", "unreadable"]),
    "flo": (0, "unreadable", ["unreadable", "unreadable"]),
    "gus": (0, "graded", ["missing", "missing"]),
}


def table_of(store: Store) -> dict[str, tuple[float, str, list[str]]]:
    return {
        g.student: (g.points, g.attempt.status, [m.status for m in g.marks]) for g in store.grades()
    }


# -- One row for each ----------------------------------------------------------------------------


def test_each_kind_of_submission_is_one_row_with_a_clear_status(
    course: Course, store: Store
) -> None:
    summary = grade(CLASS, course, store, in_process(course), secret=1)

    assert table_of(store) == WANTED
    assert (summary.submissions, summary.graded, summary.known, summary.faults) == (7, 7, 0, 0)


def test_a_known_mistake_is_named_in_the_row(course: Course, store: Store) -> None:
    grade(CLASS[:2], course, store, in_process(course), secret=1)
    _, bob = store.grades()

    assert bob.marks[1].message == "one_is_missing"
    assert bob.marks[1].text.startswith("The one is missing.")


@pytest.mark.parametrize(("order", "workers"), [(1, 1), (-1, 1), (-1, 2)])
def test_order_and_number_of_workers_change_nothing(
    order: int, workers: int, course: Course, store: Store
) -> None:
    grade(CLASS[::order], course, store, Local(course, WALLS, workers), secret=1)

    assert table_of(store) == WANTED


def test_a_second_run_grades_only_what_is_new(course: Course, store: Store) -> None:
    grade(CLASS[:3], course, store, in_process(course), secret=1)

    again = grade(CLASS, course, store, in_process(course), secret=1)

    assert (again.graded, again.known) == (4, 3)
    assert len(list(store.attempts())) == 7


def test_the_same_file_twice_is_one_row_and_another_version_is_another_attempt(
    course: Course, store: Store
) -> None:
    better = submitted("bob", tiny.SOLUTION)

    grade([*CLASS, *CLASS, better], course, store, in_process(course), secret=1)
    bob = next(g for g in store.grades() if g.student == "bob")

    assert len(list(store.attempts())) == 8
    assert (bob.points, bob.attempts) == (3, 2)


def test_the_best_or_the_last_attempt_counts(course: Course, store: Store) -> None:
    worse = submitted("ada", tiny.WRONG)
    grade([CLASS[0], worse], course, store, in_process(course), secret=1)

    assert [g.points for g in store.grades("best")] == [3]
    assert [g.points for g in store.grades("last")] == [0]


def test_work_that_is_handed_in_again_after_other_work_is_the_last_attempt(
    course: Course, store: Store, tmp_path: Path
) -> None:
    right, half = CLASS[0], submitted("ada", CLASS[3].data)
    last = []

    for handed_in in (half, right, submitted("ada", tiny.STUB), half, half, right):
        grade([handed_in], course, store, in_process(course), secret=1)
        last.append([g.points for g in store.grades("last")])

    assert last == [[1], [3], [0], [1], [1], [3]]
    assert [g.points for g in store.grades("best")] == [3]
    with Store(tmp_path / "whole.sqlite") as whole:
        for _ in range(2):
            merged(whole, store)
            assert [g.points for g in whole.grades("last")] == [3]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_last_attempt_is_the_one_handed_in_last_and_not_the_one_graded_last(
    workers: int, course: Course, store: Store
) -> None:
    slow = submitted("ada", f"import time\ntime.sleep(0.5)\n{tiny.SOLUTION}")
    attempts = [slow, submitted("ada", tiny.WRONG), submitted("bob", tiny.SOLUTION)]

    grade(attempts, course, store, Local(course, WALLS, workers), secret=1)

    assert [g.points for g in store.grades("last")] == [0, 3]
    assert [a.points for a in store.attempts("ada")] == [3, 0]


def test_attempts_come_in_their_order_from_any_engine(course: Course, store: Store) -> None:
    many = [submitted("ada", f"{tiny.WRONG}#{n}") for n in range(9)] + [CLASS[0]]

    def backwards(jobs: object) -> Iterator[Attempt]:
        return iter([*in_process(course)(jobs)][::-1])  # type: ignore[arg-type]

    grade(many, course, store, backwards, secret=1)

    assert [a.points for a in store.attempts()] == [0] * 9 + [3]


def test_another_seed_or_other_checks_are_another_row(course: Course, tmp_path: Path) -> None:
    other = tiny.make_course(tmp_path / "other")
    (other.folder / "checks" / tiny.NAME / "notes.txt").write_text("changed")

    with Store(tmp_path / "results.sqlite") as store:
        for where, seed in ((course, 1), (course, 2), (other, 1), (course, 1)):
            grade(CLASS[:1], where, store, in_process(course), secret=seed)

        assert len(list(store.attempts())) == 3


def test_parts_of_a_class_put_together_are_the_class(course: Course, tmp_path: Path) -> None:
    with Store(tmp_path / "whole.sqlite") as whole:
        whole.fact("seed", "1")
        for part in (1, 2, 3):
            with Store(tmp_path / f"{part}.sqlite") as store:
                store.fact("seed", "1")
                grade(CLASS, course, store, in_process(course), secret=1, shard=(part, 3))
                store.override("ada", tiny.NAME, "arrays", 0, "me", "copied")
                new = merged(whole, store)
                assert (new, merged(whole, store)) == (len(list(store.attempts())), 0)

        assert {**table_of(whole), "ada": None} == {**WANTED, "ada": None}
        assert len(whole.overrides("ada")) == 3


def test_parts_from_different_seeds_are_not_put_together(tmp_path: Path) -> None:
    with Store(tmp_path / "a.sqlite") as a, Store(tmp_path / "b.sqlite") as b:
        a.fact("seed", "1")
        b.fact("seed", "2")

        with pytest.raises(StoreError, match="different seeds"):
            merged(a, b)


# -- What the machine does wrong -----------------------------------------------------------------


class Flaky:
    level = "flaky"

    def __init__(self, faults: int, status: str = "fault") -> None:
        self.faults = faults
        self.status = status
        self.calls = 0

    def run_calls(self, code: str, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        self.calls += 1
        if self.calls <= self.faults:
            return [Reply(self.status)] * len(calls)
        return InProcess().run_calls(code, calls, limits)


def job(course: Course, submission: Submission = CLASS[0]) -> Job:
    return Job(key_of(submission.student), submission, "", 1)


def test_what_the_machine_failed_is_tried_again(course: Course) -> None:
    attempt = grade_one(job(course), course, Flaky(2))

    assert (attempt.points, attempt.status, attempt.tries) == (3, "graded", 3)


def test_a_time_out_is_tried_once_more_and_then_counts(course: Course) -> None:
    slow, endless = Flaky(1, "timeout"), Flaky(99, "timeout")

    first, second = (grade_one(job(course), course, runner) for runner in (slow, endless))

    assert (first.points, first.tries, slow.calls) == (3, 2, 2)
    assert (second.points, second.tries, endless.calls) == (0, 2, 2)
    assert [m.status for m in second.marks] == ["timeout", "timeout"]


def test_a_fault_that_stays_is_no_grade_and_gives_way_to_one_later(
    course: Course, store: Store
) -> None:
    broken = grade(
        CLASS[:1],
        course,
        store,
        lambda jobs: (grade_one(j, course, Flaky(99)) for j in jobs),
        secret=1,
    )
    before = table_of(store)

    summary = grade(CLASS[:1], course, store, in_process(course), secret=1)

    assert (broken.faults, summary.graded, summary.faults) == (1, 1, 0)
    assert before == {"ada": (0, "fault", ["fault", "fault"])}
    assert table_of(store) == {"ada": WANTED["ada"]}


def test_a_check_that_stumbles_is_a_fault_and_not_the_end(course: Course, store: Store) -> None:
    class Stumbles:
        level = "none"

        def run_calls(self, *ignored: object) -> list[Reply]:
            raise RuntimeError("no such thing")

    attempt = grade_one(job(course), course, Stumbles())

    assert attempt.status == "fault"
    assert "RuntimeError: no such thing" in attempt.marks[0].text


@pytest.mark.usefixtures("new_processes")
def test_a_worker_that_is_killed_costs_nobody_a_row(course: Course, store: Store) -> None:
    many = [submitted(f"s{n:02}", f"{tiny.SOLUTION}\n#{n}") for n in range(12)]
    engine = Local(course, WALLS, 2)
    before = children(os.getpid())

    def killing(jobs: object) -> Iterator[Attempt]:
        for number, attempt in enumerate(engine(jobs)):
            if number == 3:
                workers = [p for p in children(os.getpid()) if "serve()" in command_of(p)]
                os.kill(next(p for p in workers if p not in before), signal.SIGKILL)
            yield attempt

    summary = grade(many, course, store, killing, secret=1)

    assert summary.faults == 0
    assert [g.points for g in store.grades()] == [3] * 12


def children(process: int) -> list[int]:
    listings = Path(f"/proc/{process}/task").glob("*/children")  # threads start processes, too
    return [int(number) for listing in listings for number in listing.read_text().split()]


def command_of(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")


def test_a_full_disk_loses_no_row_that_was_written(course: Course, store: Store) -> None:
    grade(CLASS[:1], course, store, in_process(course), secret=1)
    (pages,) = store.base.execute("pragma page_count").fetchone()
    store.base.execute(f"pragma max_page_count = {pages}")
    large = dataclasses.replace(CLASS[1], origin="x" * 100_000)

    with pytest.raises(StoreError, match="goes on where it was"):
        grade([large], course, store, in_process(course), secret=1)
    store.base.execute("pragma max_page_count = 100000")
    again = grade(CLASS[:2], course, store, in_process(course), secret=1)

    assert (again.known, again.graded) == (1, 1)
    assert {student: row[0] for student, row in table_of(store).items()} == {"ada": 3, "bob": 0}


def test_a_grader_that_is_killed_goes_on_where_it_was(course: Course, tmp_path: Path) -> None:
    count = 24
    handed_in = tmp_path / "class"
    handed_in.mkdir()
    for number in range(count):
        code = f"import time\ntime.sleep(0.1)\n{tiny.SOLUTION}#{number}\n"
        (handed_in / f"s{number:02}_{tiny.NAME}.py").write_text(code)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "autodiff_kit.cli", "grade", str(handed_in), "--out", str(out)]
    command += ["--course", str(course.folder), "--workers", "2", "--allow-level", "0"]
    first = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    some = wait_for_rows(out / "results.sqlite")
    helpers = children(first.pid)
    first.kill()
    first.wait()

    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    with Store(out / "results.sqlite") as store:
        assert len(list(store.attempts())) == count
        assert [g.points for g in store.grades()] == [3] * count
        assert store.base.execute("pragma integrity_check").fetchone()[0] == "ok"
    assert 0 < some < count
    assert f"{count} submissions" in second.stdout
    deadline = time.monotonic() + 60
    while alive := [p for p in helpers if Path(f"/proc/{p}").exists()]:
        assert time.monotonic() < deadline, f"left behind: {list(map(command_of, alive))}"
        time.sleep(0.05)


def wait_for_rows(path: Path) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists():
            try:
                with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
                    (rows,) = base.execute("select count(*) from attempts").fetchone()
            except sqlite3.OperationalError:
                rows = 0
            if rows:
                return int(rows)
        time.sleep(0.02)
    raise AssertionError("no row came")


# -- What somebody else does to the file ---------------------------------------------------------


def change_rows(path: Path) -> None:
    """Do what a learner's code can do to the results where no wall is in its way."""
    marks = json.dumps([{"step": "numbers", "points": 99, "max": 1, "status": "right"}])
    with sqlite3.connect(path) as other:
        other.execute("update attempts set marks = ?", (marks,))
        other.execute(
            "insert into overrides values (1, 'bob', ?, 'arrays', 9, 'me', 'x', 0, 0, 0, -1)",
            (tiny.NAME,),
        )
    other.close()


def test_rows_that_were_changed_during_a_run_without_walls_are_set_right(
    course: Course, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_local, "WRITE_EVERY", -1.0)

    def spoiled(jobs: Iterable[Job]) -> Iterator[Attempt]:
        for number, attempt in enumerate(in_process(course)(jobs)):
            yield attempt
            if number == 0:
                change_rows(store.path)

    summary = grade(CLASS[1::-1], course, store, spoiled, secret=1, guard=True)

    assert summary.changed == 2
    assert table_of(store) == {"ada": WANTED["ada"], "bob": WANTED["bob"]}


class Interrupted(BaseException):
    """As a teacher's Ctrl+C is."""


def nothing() -> None:
    """Let it be."""


def broken_off(course: Course, *events: Callable[[], object]) -> engine_local.Engine:
    """Return an engine that gives an attempt before each event, and then is interrupted."""

    def engine(jobs: Iterable[Job]) -> Iterator[Attempt]:
        attempts = in_process(course)(jobs)
        for event in events:
            yield next(attempts)
            event()
        raise Interrupted

    return engine


@pytest.mark.parametrize("guard", [False, True])
def test_a_run_that_is_broken_off_keeps_its_rows_and_the_times_of_their_hand_ins(
    guard: bool, course: Course, store: Store
) -> None:
    timed = [dataclasses.replace(one, handed_in=1e9 + n) for n, one in enumerate(CLASS)]

    with pytest.raises(Interrupted):
        grade(timed, course, store, broken_off(course, nothing, nothing), secret=1, guard=guard)

    assert table_of(store) == {name: WANTED[name] for name in ("ada", "bob")}
    assert [g.handed_in for g in store.grades()] == [1e9, 1e9 + 1]
    assert store.checks() == {}  # which checks count, a run says that came to its end


def test_a_run_without_walls_that_is_broken_off_sets_its_rows_right(
    course: Course, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_local, "WRITE_EVERY", -1.0)
    engine = broken_off(course, nothing, lambda: change_rows(store.path))

    with pytest.raises(Interrupted):
        grade(CLASS, course, store, engine, secret=1, guard=True)

    assert table_of(store) == {name: WANTED[name] for name in ("ada", "bob")}


def test_a_run_without_walls_that_is_broken_off_after_its_checks_were_changed_is_worth_nothing(
    tmp_path: Path, store: Store
) -> None:
    course = tiny.make_course(tmp_path / "course")
    checks = course.folder / "checks" / tiny.NAME / "checks.py"
    engine = broken_off(course, lambda: checks.write_text(f"{checks.read_text()}\n# changed"))

    with pytest.raises(StoreError, match=rf"were changed during the run.*{tiny.NAME}"):
        grade(CLASS, course, store, engine, secret=1, guard=True)

    assert list(store.attempts()) == []


def test_a_file_that_is_no_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    path.write_text("something else" * 100)

    with pytest.raises(StoreError, match="Cannot use"):
        Store(path)


# -- Overrides -----------------------------------------------------------------------------------


def test_an_override_counts_and_the_graded_row_stays(course: Course, store: Store) -> None:
    grade(CLASS[:2], course, store, in_process(course), secret=1)

    store.override("bob", tiny.NAME, "arrays", 1.5, "prof", "a good idea")
    store.override("bob", tiny.NAME, "arrays", 2, "prof", "a very good idea")
    bob = store.grades()[1]

    assert (bob.points, [m.status for m in bob.marks]) == (2, ["wrong", "override"])
    assert [a.points for a in store.attempts("bob")] == [0]
    assert [(o.points, o.reason) for o in store.overrides("bob")] == [
        (1.5, "a good idea"),
        (2, "a very good idea"),
    ]


def test_progress_is_told_with_numbers(course: Course, store: Store) -> None:
    summaries: list[Summary] = []

    grade(CLASS, course, store, in_process(course), secret=1, progress=summaries.append)

    assert summaries[-1].graded == 7


def test_an_attempt_comes_back_from_the_file_as_it_went_in(store: Store) -> None:
    attempt = Attempt(
        *("key", "student", "name", "e", 1, "o", "h", "c", "5", "2 sandboxed", "graded"),
        marks=(Mark("step", 0.5, 1, "wrong", "m", "text <b>"),),
        tries=2,
        seconds=0.25,
    )

    store.add([attempt])

    assert list(store.attempts()) == [attempt]


def test_submissions_from_a_folder_are_graded_like_any_other(
    course: Course, store: Store, tmp_path: Path
) -> None:
    place = tmp_path / "submitted"
    (place / "ada" / tiny.NAME).mkdir(parents=True)
    source = tiny.notebook(("x = 1", {}), (tiny.STUB, tiny.SOLVING), (tiny.SOLUTION, tiny.SOLVING))
    (place / "ada" / tiny.NAME / f"{tiny.NAME}.ipynb").write_bytes(source)

    grade(submissions.find(place, course.names), course, store, in_process(course), secret=1)

    assert table_of(store) == {"ada": WANTED["ada"]}


@pytest.mark.skipif(os.name != "posix", reason="tried where permissions are POSIX ones")
def test_without_walls_checks_that_were_changed_meanwhile_spoil_the_run(
    tmp_path: Path, store: Store
) -> None:
    course = tiny.make_course(tmp_path / "course")
    checks = course.folder / "checks" / tiny.NAME / "checks.py"
    yes = "    def compare(data, value, wanted):\n        return True\n"
    cheat = f"text = open({str(checks)!r}).read()\nopen({str(checks)!r}, 'w').write(text + {yes!r})"
    handed_in = [submitted("eve", cheat), submitted("bob", tiny.WRONG)]

    with pytest.raises(StoreError, match=rf"were changed during the run.*{tiny.NAME}"):
        grade(handed_in, course, store, Local(course, None, 1), secret=1, guard=True)

    assert list(store.attempts()) == []


def with_outputs(size: int, *cells: str) -> bytes:
    """Return a notebook with stored outputs of so many bytes."""
    notebook = json.loads(tiny.notebook(*cells))
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * size}}
    notebook["cells"][0]["outputs"] = [picture]
    return json.dumps(notebook).encode()


@pytest.mark.parametrize("packed", [True, pytest.param(False, marks=pytest.mark.gate)])
def test_stored_outputs_cost_no_points(
    packed: bool, course: Course, store: Store, tmp_path: Path
) -> None:
    place = tmp_path / "submitted" / "ada"
    place.mkdir(parents=True)
    data = with_outputs(21 * 2**20, tiny.SOLUTION)
    if packed:
        with zipfile.ZipFile(place / f"{tiny.NAME}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{tiny.NAME}.ipynb", data)
    else:
        (place / f"{tiny.NAME}.ipynb").write_bytes(data)
    handed_in = submissions.find(place.parent, course.names)

    grade(handed_in, course, store, Local(course, WALLS, 1), secret=1)

    assert table_of(store) == {"ada": WANTED["ada"]}


ENDING = {
    "import os\nos._exit(0)": ("error", "status 0", "os._exit(0)"),
    "while True: pass": ("timeout", "did not end within 0.25 s", "while True: pass"),
    "import time\ntime.sleep(30)": ("timeout", "did not end within 0.25 s", "time.sleep(30)"),
    "import os\nos.kill(os.getpid(), 9)": ("error", "SIGKILL", "os.kill(os.getpid(), 9)"),
}


@pytest.mark.parametrize("ending", ENDING)
def test_a_stray_line_that_ends_the_run_costs_no_points(
    ending: str, course: Course, runner: Runner
) -> None:
    exercise = tiny.with_seconds(course.exercise("01.double"), 0.25)
    after = f"{tiny.SOLUTION}\n{ending}\nx = 1"

    for cells in ((tiny.SOLUTION, ending), (ending, tiny.SOLUTION), (after,)):
        work = Work(tiny.notebook(*cells), ".ipynb")
        result = grade_code(exercise, work, runner, 1)

        assert [row.status for row in result.rows] == ["right", "right"], result.rows


@pytest.mark.parametrize("ending", ENDING)
def test_a_line_that_ends_the_run_is_named_where_something_is_missing(
    ending: str, course: Course
) -> None:
    exercise = tiny.with_seconds(course.exercise("01.double"), 0.25)
    work = Work(tiny.notebook("x = 1", ("locked", {"locked": True}), ending), ".ipynb")

    # Behind walls no process can end another one, nor itself by a signal.
    row, _ = grade_code(exercise, work, Level0(), 1).rows
    status, why, line = ENDING[ending]
    begin = ending.splitlines()[0]
    place = f'in the cell "{begin}", line {ending.count(chr(10)) + 1}: {line}'

    assert row.status == status
    assert why in row.text.splitlines()[0]
    assert row.text.splitlines()[1:] == [place, "Without this line, `double` is not defined."]


def test_many_lines_that_end_the_run_have_a_limit_together(course: Course) -> None:
    exercise = course.exercise("01.double")
    started = []

    def start(request: bytes) -> object:
        started.append(request)
        return worker._Plain(request)

    calls = [Call("def drive(step, data): return step.double(1)", 0)]
    code = "import os\n" + "os._exit(0)\n" * 50 + tiny.SOLUTION
    (reply,) = supervision.supervise(start, code, calls, exercise.limits)  # type: ignore[arg-type]

    assert (reply.status, reply.place) == ("died", "line 2: os._exit(0)")
    assert len(started) == supervision.MAX_STOPS + 1


@pytest.mark.parametrize("cell", ["def double(x:\n    return 2 * x", "def double(x): return x +"])
def test_a_mistake_in_the_syntax_is_named_first_with_its_place(cell: str, course: Course) -> None:
    work = Work(tiny.notebook("y = 2", cell), ".ipynb")

    row, _ = grade_code(course.exercise("01.double"), work, InProcess(), 1).rows
    error, place, missing = row.text.splitlines()

    assert error.startswith("SyntaxError: ")
    assert place == f'in the cell "{cell.splitlines()[0]}", line 1: {cell.splitlines()[0]}'
    assert missing == "After this error, `double` is not defined."


CAUSES = {
    "half = one / 2": ("NameError: name 'one' is not defined", "After this error"),
    "import nowhere as half": ("ModuleNotFoundError: No module named 'nowhere'", "After this"),
    "half = [] + 1": ("TypeError: can only concatenate list", "After this error"),
    "while True: half = 0.5": ("It did not end within 0.25 s.", "Without this line"),
    "(half := nothing)": ("NameError: name 'nothing' is not defined", "After this error"),
    "def half(:": ("SyntaxError: ", "After this error"),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_name_that_another_cell_should_have_defined_leads_to_the_error_there(
    cause: str, course: Course, runner: Runner
) -> None:
    exercise = tiny.with_seconds(course.exercise("01.double"), 0.25)
    more = "rest = half + 1"  # an error that comes of the first
    work = Work(tiny.notebook(cause, more, "def double(x):\n    return rest * x"), ".ipynb")

    row, _ = grade_code(exercise, work, runner, 1).rows
    error, place, missing = row.text.splitlines()

    assert error.startswith(CAUSES[cause][0])
    assert place == f'in the cell "{cause}", line 1: {cause}'
    assert missing.startswith(CAUSES[cause][1])
    assert "`rest` is not defined, which your code for `double` needs." in missing
    assert ("Only NumPy" in missing) == error.startswith("ModuleNotFoundError")


KIT = 'from autodiff_kit.grading import check, hint\n\ncheck("01.double")'


@pytest.mark.parametrize("cells", [(KIT,), ("import nowhere", KIT), ("half = [] + 1",)])
def test_where_the_cell_is_gone_no_other_cell_is_the_reason(
    cells: tuple[str, ...], course: Course, runner: Runner
) -> None:
    rows = grade_code(
        course.exercise("01.double"), Work(tiny.notebook(*cells), ".ipynb"), runner, 1
    ).rows

    assert {row.status for row in rows} == {"missing"}
    assert {row.text for row in rows} == {"Not found: `double`. Is its cell still there?"}


def reason(course: Course, runner: Runner, data: bytes) -> str:
    """Return what is said where nothing that is asked for is in a notebook."""
    rows = grade_code(course.exercise("01.double"), Work(data, ".ipynb"), runner, 1).rows
    assert {row.status for row in rows} == {"missing"}
    (text,) = {row.text for row in rows}
    return text.removeprefix("Not found: `double`. ")


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_cell_of_another_type_is_told_as_that(kind: str, course: Course, runner: Runner) -> None:
    data = tiny.notebook((tiny.SOLUTION, tiny.SOLVING), "1 + 1")
    data = data.replace(b'"cell_type": "code"', f'"cell_type": "{kind}"'.encode(), 1)

    assert reason(course, runner, data).startswith("It stands in a cell that is not of the type")


def test_a_notebook_of_another_exercise_is_told_as_that(course: Course, runner: Runner) -> None:
    data = tiny.notebook(("def triple(x): pass", {**tiny.SOLVING, "grade_id": "e02-triple"}))

    assert reason(course, runner, data) == "The notebook's cells are those of exercise 02."


def test_a_notebook_without_code_is_told_as_that(course: Course, runner: Runner) -> None:
    assert reason(course, runner, tiny.notebook(" ")) == "The notebook has no code in it."


def test_an_import_of_unknown_names_that_fails_can_be_the_reason(
    course: Course, runner: Runner
) -> None:
    work = Work(tiny.notebook("from nowhere import *"), ".ipynb")

    row, _ = grade_code(course.exercise("01.double"), work, runner, 1).rows

    assert row.text.startswith("ModuleNotFoundError: No module named 'nowhere'")


@pytest.mark.parametrize("place", ["test", "given", "import"])
def test_the_notebook_and_the_grade_say_the_same_of_what_stands_in_locked_cells(
    place: str, runner: Runner
) -> None:
    exercise = open_course().exercise("04.accumulate")
    locked = {"grade_id": "e04-given", "locked": True, "solution": False}
    test = "x = Node(5.0)\nbackward(x)\nassert x.grad == 1.0"
    code_ahead, solution = exercise.given, exercise.solution
    sources = {
        "test": [(code_ahead, locked), (f"{solution}\n\n\n{test}", locked)],
        "given": [(f"{code_ahead}\n\n\n{solution}", locked), (test, locked)],
        "import": [
            (f"import math\n{code_ahead}", locked),
            solution.replace("1.0", "math.exp(0.0)"),
            (test, locked),
        ],
    }[place]
    shell = {"In": [cell if isinstance(cell, str) else cell[0] for cell in sources]}

    result = grade_code(exercise, code_in(shell, exercise), runner, 1)
    graded = grade_code(exercise, Work(tiny.notebook(*sources), ".ipynb"), runner, 1)

    assert result.points == graded.points == exercise.points


def test_a_name_that_is_defined_after_all_is_no_reason(course: Course, runner: Runner) -> None:
    work = Work(
        tiny.notebook("two = nothing", "two = 2", tiny.SOLUTION.replace("2", "two")), ".ipynb"
    )

    result = grade_code(course.exercise("01.double"), work, runner, 1)

    assert result.points == result.max


def test_a_notebook_s_check_takes_helpers_and_imports_from_cells_of_their_own(
    course: Course,
) -> None:
    cells = [
        "import math",
        "def half(x):\n    return 0",
        "def half(x):\n    return math.sqrt(0.25) * x",
        "x = 1 / 0  # nothing to do with it",
        "def double(x):\n    return 4 * half(x) + 1",
    ]

    work = code_in({"In": cells}, course.exercise("01.double"))

    sources = [cell["source"] for cell in json.loads(work.data)["cells"]]
    assert sources == [cells[number] for number in (0, 2, 4)]


def test_a_notebook_s_check_names_lines_as_they_stand_in_their_cell(
    course: Course, runner: Runner
) -> None:
    cells = ["import math\n\n\nHALF = 0.5\n", "# mine\ndef double(x):\n    return x.real[0] * HALF"]

    result = grade_code(
        course.exercise("01.double"),
        code_in({"In": cells}, course.exercise("01.double")),
        runner,
        1,
    )

    text = " ".join(row.text for row in result.rows)
    assert 'in the cell "# mine", line 3: return x.real[0] * HALF' in text


def test_what_gives_no_answer_is_not_said_to_be_wrong(course: Course, runner: Runner) -> None:
    exercise = tiny.with_seconds(course.exercise("01.double"), 0.25)
    code = "def double(x):\n    while True: pass\n"

    row, _ = grade_code(exercise, code, runner, 1).rows

    assert (row.status, row.points) == ("timeout", 0)
    assert exercise.messages["Numbers"] not in row.text
    assert "your code was not ready in time" in row.text


def test_an_answer_over_which_a_comparison_stumbles_is_wrong_and_not_a_fault(
    course: Course,
) -> None:
    def stumbling(data: object, value: object, expected: object) -> bool:
        return bool(value.shape)  # type: ignore[attr-defined]  # written for arrays

    exercise = course.exercise("01.double")
    checks = tuple(dataclasses.replace(check, compare=stumbling) for check in exercise.checks)

    result = grade_code(
        dataclasses.replace(exercise, checks=checks), "def double(x): return 'x'", InProcess(), 1
    )

    assert [(row.status, row.points) for row in result.rows] == [("wrong", 0), ("wrong", 0)]
