"""A grade is made of attempts: by the current checks, by the time of their hand-in, and in time."""

import datetime
import itertools
import os
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from autodiff_kit.cli import cli
from autodiff_kit.grading import sandbox, submissions
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.due import Due, dates_of, in_words, time_of
from autodiff_kit.grading.engine_local import Engine, grade
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.hand_ins import FOLDER, keep, kept
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.judging import Judge
from autodiff_kit.grading.merge_command import merged
from autodiff_kit.grading.one_submission import Job, grade_one
from autodiff_kit.grading.results import Attempt, file_hash
from autodiff_kit.grading.store import Store
from autodiff_kit.grading.worker import InProcess
from tests.grading import tiny

HALF = "def double(x): return 2 * x + 1 if isinstance(x, float) else x\n"
MONDAY = datetime.datetime(2026, 11, 30, 12).timestamp()
DAY = 86_400
NOON = (2026, 11, 30, 12, 0, 0)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return tiny.make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "out" / "results.sqlite") as results:
        yield results


@pytest.fixture(autouse=True)
def without_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "probe", list)


def work(
    code: str, days: float = 0.0, student: str = "ada", late: bool | None = None
) -> Submission:
    """Return work that was handed in so many days after Monday."""
    origin = f"{student}.py"
    who = (student, student, tiny.NAME, origin)
    return Submission(*who, code.encode(), ".py", handed_in=MONDAY + DAY * days, is_late=late)


def engine(course: Course, backwards: bool = False) -> Engine:
    def run(jobs: object) -> Iterator[object]:
        attempts = [grade_one(job, course, InProcess()) for job in jobs]  # type: ignore[attr-defined]
        return iter(attempts[::-1] if backwards else attempts)

    return run  # type: ignore[return-value]


def points(store: Store, policy: str, due: Due | None = None) -> float:
    (mark,) = store.grades(policy, {tiny.NAME: due} if due else {})
    return mark.points


# -- When ------------------------------------------------------------------------------------------


def found(place: Path) -> list[tuple[str, float, bool | None]]:
    names = [tiny.NAME]
    return [(s.student, s.handed_in, s.is_late) for s in submissions.find(place, names)]


def zipped(path: Path, name: str, when: tuple[int, ...] = NOON) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name, when), "x = 1")  # type: ignore[arg-type]
    return path


def test_a_platforms_zip_says_when_each_file_came(tmp_path: Path) -> None:
    name = f"Ada L_4711_assignsubmission_file_/{tiny.NAME}.py"

    assert found(zipped(tmp_path / "a.zip", name)) == [("4711", MONDAY, None)]


@pytest.mark.parametrize("when", [(1980, 1, 1, 0, 0, 0), (2026, 0, 0, 0, 0, 0)])
def test_a_zip_that_knows_no_time_says_none(when: tuple[int, ...], tmp_path: Path) -> None:
    (submission,) = found(zipped(tmp_path / "a.zip", f"ada_{tiny.NAME}.py", when))

    assert submission[1] == 0 or when[0] != 1980


def test_canvas_says_who_was_late(tmp_path: Path) -> None:
    late = zipped(tmp_path / "a.zip", f"ada_LATE_12_34_{tiny.NAME}.py")
    in_time = zipped(tmp_path / "b.zip", f"ada_12_34_{tiny.NAME}.py")

    assert [found(late)[0][2], found(in_time)[0][2]] == [True, False]


def test_a_file_on_a_disk_is_as_old_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "in" / "ada" / tiny.NAME / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text("x = 1")
    os.utime(path, (MONDAY, MONDAY))

    assert found(tmp_path / "in") == [("ada", MONDAY, None)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-30 12:00:00.5 UTC", 1796040000.5),  # date -u -d "2026-11-30 12:00" +%s
        ("2026-11-30 12:00:00 +0100", 1796036400),
        ("2026-11-30 12:00:00 CET", 1796036400),
        ("2026-11-30 12:00:00 EST", 1796040000 + 5 * 3600),
        ("2026-07-01 12:00:00 CEST", 1782900000),  # date -u -d "2026-07-01 10:00" +%s
        ("2026-07-01 12:00:00 Europe/Berlin", 1782900000),
        ("2026-11-30 12:00:00 Nowhere/City", None),
        ("2026-11-30 12:00:00 ../../etc/passwd", None),
        ("2026-11-30 12:00:00 CST", None),  # in China, Cuba or Chicago
        ("at noon", None),
        ("", None),
        ("0001-01-01 00:00:00 UTC", None),
        ("0001-01-01 00:00:00", None),
        ("9999-12-31 23:59:59 UTC", None),
        ("9999-12-31 23:59:59 -2359", None),
        ("1970-01-01 00:00:00 UTC", None),
    ],
)
def test_nbgraders_timestamp_counts_before_the_file_where_it_is_a_time(
    text: str, seconds: float | None, tmp_path: Path
) -> None:
    folder = tmp_path / "submitted" / "ada" / tiny.NAME
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("x = 1")
    (folder / "timestamp.txt").write_text(text)
    os.utime(folder / "a.py", (MONDAY, MONDAY))

    (submission,) = submissions.find(tmp_path / "submitted", [tiny.NAME])
    assert submission.handed_in == (MONDAY if seconds is None else seconds)
    assert submission.note == ("Time stamp not readable." if seconds is None else "")


@pytest.mark.parametrize(
    ("around", "inside", "is_believed"),
    [
        ("submitted", f"ada/{tiny.NAME}", True),
        ("submitted", f"ada/{tiny.NAME}/part/deeper", True),  # the stamp is for all below it
        ("in", f"ada/{tiny.NAME}", False),  # a folder of the learner's, with a file of theirs
        ("submitted", f"{tiny.NAME}/ada/{tiny.NAME}", False),
    ],
)
def test_a_time_stamp_counts_where_nbgrader_wrote_it_and_for_all_below(
    around: str, inside: str, is_believed: bool, tmp_path: Path
) -> None:
    folder = tmp_path / around / inside
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("x = 1")
    stamped = folder if is_believed is False else tmp_path / around / "ada" / tiny.NAME
    (stamped / "timestamp.txt").write_text("2026-12-05 08:30:00 UTC")
    os.utime(folder / "a.py", (MONDAY, MONDAY))

    (submission,) = submissions.find(tmp_path / around, [tiny.NAME])

    assert (submission.handed_in != MONDAY) is is_believed


@pytest.mark.parametrize("seconds", [1.0, 10.0**11, 10.0**17])
def test_a_time_of_no_clock_counts_as_none_and_is_told(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some disks keep no such time: what the system says of the file is put in its place."""
    path = tmp_path / f"ada_{tiny.NAME}.py"
    path.write_text("x = 1")
    facts = SimpleNamespace(st_mtime=seconds, st_mode=path.stat().st_mode)
    monkeypatch.setattr(os, "lstat", lambda path: facts)

    (submission,) = submissions.find(path, [tiny.NAME])

    assert (submission.handed_in, submission.note) == (0.0, "Time stamp not readable.")


@pytest.mark.parametrize("seconds", [-62_135_596_800.0, 253_402_300_799.0, 1e300, float("nan")])
def test_times_that_earlier_versions_kept_stop_no_command(seconds: float) -> None:
    assert in_words(seconds) == ""


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "9999-12-31T23:59", "1999-12-31"])
def test_a_date_of_another_century_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="2000 to 2099"):
        time_of(text)


def test_a_learners_own_timestamp_is_no_word_of_nbgraders(tmp_path: Path) -> None:
    folder = tmp_path / "submitted" / "Ada_4711_assignsubmission_file_" / tiny.NAME
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("x = 1")
    (folder / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    os.utime(folder / "a.py", (MONDAY, MONDAY))

    assert ("4711", MONDAY, None) in found(tmp_path / "submitted")


# -- Which -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("backwards", [False, True])
def test_the_time_of_the_hand_in_decides_and_not_the_order_of_grading(
    order: Sequence[int], backwards: bool, course: Course, store: Store
) -> None:
    attempts = [work(HALF, 0), work(tiny.SOLUTION, 1), work(tiny.WRONG, 2)]

    for number in order:
        grade([attempts[number]], course, store, engine(course, backwards), secret=1)

    assert [points(store, policy) for policy in ("first", "best", "last")] == [1, 3, 0]


def test_the_same_work_at_a_later_time_is_handed_in_again(course: Course, store: Store) -> None:
    attempts = [work(HALF, 0), work(tiny.WRONG, 1), work(HALF, 2)]

    grade(attempts, course, store, engine(course), secret=1)
    grade(attempts, course, store, engine(course), secret=1)

    assert points(store, "last") == 1
    assert [len(list(store.attempts())), len(store.hand_ins())] == [2, 3]


def test_a_run_that_finds_the_same_files_again_changes_nothing(
    course: Course, store: Store
) -> None:
    unknown = [replace(work(code), handed_in=0.0) for code in (HALF, tiny.SOLUTION, tiny.WRONG)]

    for _ in range(3):
        grade(unknown, course, store, engine(course), secret=1)

    assert points(store, "last") == 0
    assert len(store.hand_ins()) == 3


def test_results_of_an_older_version_keep_their_order(course: Course, store: Store) -> None:
    for code in (HALF, tiny.WRONG):
        grade([replace(work(code), handed_in=0.0)], course, store, engine(course), secret=1)
    keys = [attempt.key for attempt in store.attempts()]
    store.base.execute("delete from hand_ins")
    store.base.execute(
        "create table returns (number integer primary key autoincrement, key text not null, "
        "after integer not null, at real not null)"
    )
    store.base.execute("insert into returns (key, after, at) values (?, 2, 5)", keys[:1])

    with Store(store.path) as now:
        assert points(now, "last") == 1  # the first one came back
        assert points(now, "last", Due(MONDAY, penalty=1)) == 1  # and nothing says when
        (missing,) = now.base.execute("select count(*) from sqlite_master where name = 'returns'")
        assert missing[0] == 0


# -- Late ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "rules", "share"),
    [
        (0, {}, 0),
        (1, {}, 0),
        (-1, {"penalty": 0.1}, 0),
        (0.01, {"penalty": 0.1}, 0.1),
        (1, {"penalty": 0.1}, 0.1),
        (1.5, {"penalty": 0.1}, 0.2),
        (9, {"penalty": 0.2, "most": 0.5}, 0.5),
        (0.01, {"penalty": 0.1, "grace": 900}, 0),
        (0.02, {"penalty": 0.1, "grace": 900}, 0.1),
        (6.9, {"penalty": 0.1, "closes": 7 * DAY}, 0.7),
        (7.1, {"penalty": 0.1, "closes": 7 * DAY, "most": 0.5}, 1),
    ],
)
def test_each_day_that_has_begun_costs_its_share(
    days: float, rules: dict[str, float], share: float
) -> None:
    assert Due(MONDAY, **rules).share(MONDAY + days * DAY) == pytest.approx(share)


def test_the_platforms_word_counts_before_a_files_time() -> None:
    due = Due(MONDAY, penalty=0.1)

    assert due.days_late(MONDAY + 5 * DAY, is_late=False) == 0  # it was downloaded then
    assert due.days_late(MONDAY - 5 * DAY, is_late=True) == 1
    assert due.days_late(0, is_late=True) == 1
    assert due.days_late(0) == 0


def test_the_best_attempt_is_the_best_with_what_being_late_takes(
    course: Course, store: Store
) -> None:
    grade([work(HALF, -1), work(tiny.SOLUTION, 1)], course, store, engine(course), secret=1)

    small, large = Due(MONDAY, penalty=0.5), Due(MONDAY, penalty=0.75)

    assert [points(store, "best", due) for due in (None, small, large)] == [3, 1.5, 1]
    assert [points(store, "last", due) for due in (None, small, large)] == [3, 1.5, 0.75]


def test_what_a_teacher_gave_is_not_taken_for_being_late(course: Course, store: Store) -> None:
    grade([work(HALF, 1)], course, store, engine(course), secret=1)
    store.override("ada", tiny.NAME, "arrays", 2, "me", "talked it through")

    (mark,) = store.grades(due={tiny.NAME: Due(MONDAY, penalty=0.5)})

    assert (mark.points, mark.penalty, mark.days_late) == (2.5, 0.5, 1)


def test_a_course_says_dates_and_rules(tmp_path: Path) -> None:
    text = """
    [late]
    grace = 15
    penalty = 10
    [due]
    "01.double" = {date = 2026-11-30T12:00:00, penalty = 20, closes = 2}
    """
    course = tiny.make_course(tmp_path)
    with open(course.folder / "course.toml", "a") as file:
        file.write(text)

    assert open_course(tmp_path).due == {
        tiny.NAME: Due(MONDAY, grace=900, penalty=0.2, closes=2 * DAY)
    }


def test_a_day_lasts_until_its_end_and_a_zone_counts() -> None:
    assert time_of(datetime.date(2026, 11, 30)) == MONDAY + DAY / 2 == time_of("2026-11-30")
    assert time_of("2026-11-30T13:00:00+01:00") == 1796040000
    assert time_of("2026-11-30T12:00") == MONDAY


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[due]\n"09.gone" = 2026-11-30', "no exercise of this course"),
        ('[due]\n"01.double" = "soon"', "is no date"),
        ('[due]\n"01.double" = {penalty = 10}', "has no date"),
        ("[late]\npenalty = 120", "percent"),
        ("[late]\npenalty = true", "percent"),
        ("[late]\ngrace = -1", "minutes"),
        ("[late]\nfine = 1", "none of grace"),
        ("due = 3", "tables"),
    ],
)
def test_dates_that_cannot_be_read_say_what_to_write(text: str, words: str, tmp_path: Path) -> None:
    path = tiny.make_course(tmp_path).folder / "course.toml"
    path.write_text(path.read_text() + text)

    with pytest.raises(ExerciseError, match=words):
        open_course(tmp_path)


def test_dates_by_any_name_of_an_exercise() -> None:
    date = datetime.date(2026, 11, 30)

    assert dates_of({"due": {"01": date}}, {"01": tiny.NAME}) == {tiny.NAME: Due(MONDAY + DAY / 2)}


# -- What is kept, and judged again ----------------------------------------------------------------


def test_a_file_is_kept_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"x = 1\n" * 1000
    keep(tmp_path, data)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())

    def full(*ignored: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            keep(tmp_path, b"other")

    assert kept(tmp_path, file_hash(data)) == data
    assert kept(tmp_path, file_hash(b"other")) is None
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
    assert size < len(data)


def test_a_file_that_was_changed_since_is_not_judged(tmp_path: Path) -> None:
    keep(tmp_path, b"x = 1")
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    path.write_bytes(zlib.compress(b"x = 2"))

    assert kept(tmp_path, file_hash(b"x = 1")) is None


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course whose three learners were graded, and whose files are gone; the current folder."""
    place = tmp_path / "course"
    tiny.make_course(place)
    monkeypatch.chdir(place)
    for student, code in (("ada", tiny.SOLUTION), ("bob", tiny.WRONG), ("cy", HALF)):
        folder = place / "in" / student / tiny.NAME
        folder.mkdir(parents=True)
        (folder / "work.py").write_text(code)
        os.utime(folder / "work.py", (MONDAY, MONDAY))
    run("grade", "in", "--allow-level", "0", "--workers", "1")
    shutil.rmtree(place / "in")
    return place


def run(*words: str | Path, status: int = 0, answer: str = "") -> Result:
    result = CliRunner().invoke(cli, list(map(str, words)), input=answer)
    assert result.exit_code == status, result.output
    return result


LENIENT = """
    def compare(data, value, expected):
        return bool(np.allclose(np.asarray(value) - 2 * data, 1)) or bool(np.all(value == data))
"""


def change_a_check(place: Path) -> None:
    """Accept what `HALF` says of arrays."""
    path = place / "checks" / tiny.NAME / "checks.py"
    path.write_text(path.read_text() + LENIENT)


def now() -> dict[str, float]:
    with Store(Path("results/results.sqlite")) as store:
        return {grade.student: grade.points for grade in store.grades()}


REGRADE = ("regrade", "--allow-level", "0", "--workers", "1")


def test_all_is_judged_again_and_shown_before_it_counts(graded: Path) -> None:
    change_a_check(graded)

    no = run(*REGRADE, answer="n\n")
    after_no = now()
    yes = run(*REGRADE, answer="y\n")

    assert "01.double  cy: 1 -> 3 (+2)" in no.output
    assert "1 move up, 0 down, 2 stay." in no.output
    assert "3 judged again" in no.output and "0 judged again, 3 known" in yes.output
    assert after_no == {"ada": 3, "bob": 0, "cy": 1}
    assert now() == {"ada": 3, "bob": 0, "cy": 3}
    with Store(Path("results/results.sqlite")) as store:
        assert len(list(store.attempts("cy"))) == 2  # the history stays


def test_where_the_machine_fails_nothing_counts_unless_it_is_asked_for(
    graded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_a_check(graded)
    grade_job = Judge.grade

    def failing(judge: Judge, job: Job) -> Attempt:
        attempt = grade_job(judge, job)
        return replace(attempt, status="fault", marks=()) if attempt.student == "ada" else attempt

    monkeypatch.setattr(Judge, "grade", failing)
    refused = run(*REGRADE, "--yes", status=1)
    after_refusal = now()
    accepted = run(*REGRADE, "--yes", "--despite-faults")

    words = f"1 could not be judged for reasons that are not theirs: ada ({tiny.NAME})."
    assert f"{words} Nothing counts yet." in refused.output
    assert "--despite-faults" in refused.output
    assert after_refusal == {"ada": 3, "bob": 0, "cy": 1}
    assert f"{words} Their earlier results count." in accepted.output
    assert "1 move up, 0 down, 2 stay." in accepted.output
    assert now() == {"ada": 3, "bob": 0, "cy": 3}


def test_overrides_stay_when_work_is_judged_again(graded: Path) -> None:
    run("override", "cy", "01.double", "arrays", "0.5", "--reason", "half of it")
    change_a_check(graded)

    assert "0 move up, 0 down, 3 stay." in run(*REGRADE, "--yes").output


def test_without_a_change_there_is_nothing_to_ask(graded: Path) -> None:
    assert "These checks count already." in run(*REGRADE).output


def test_what_was_not_kept_is_named_and_keeps_its_grade(graded: Path) -> None:
    shutil.rmtree(graded / "results" / FOLDER)
    change_a_check(graded)

    output = run(*REGRADE, "--yes").output

    assert "not kept, so not judged again: cy" in output
    assert now() == {"ada": 3, "bob": 0, "cy": 1}


def test_a_run_with_new_checks_says_whose_grades_are_of_old_ones(graded: Path) -> None:
    change_a_check(graded)
    folder = graded / "in" / "dan" / tiny.NAME
    folder.mkdir(parents=True)
    (folder / "work.py").write_text(HALF + "# mine")

    output = run("grade", "in", "--allow-level", "0", "--workers", "1").output

    assert "judged by checks that have changed since: 3 (autodiff-kit regrade)" in output
    assert now() == {"ada": 3, "bob": 0, "cy": 1, "dan": 3}
    assert "Judged by checks that have changed since: 3." in run("export", "table").output


def test_grades_of_other_checks_than_the_courses_are_told_where_they_go_out(graded: Path) -> None:
    assert run("export", "table").output == "Wrote table.csv\n"
    change_a_check(graded)
    output = run("export", "table").output
    assert "01.double: not judged by the checks that are now in" in output
    assert "Is it the course that you mean (--course)?" in output


def test_work_on_paper_is_judged_by_no_checks_that_could_change(graded: Path) -> None:
    run("override", "eve", "01.double", "arrays", "1", "--reason", "on paper", "--no-file")
    change_a_check(graded)
    run(*REGRADE, "--yes")
    assert "changed since" not in run("export", "table").output


def test_late_work_is_told_everywhere_and_a_date_can_be_put_off(graded: Path) -> None:
    with open("course.toml", "a") as file:
        file.write('[late]\npenalty = 50\n[due]\n"01.double" = 2026-11-29\n')

    show = run("show", "ada").output
    run("export", "nbgrader", "--to", "out")
    row = (graded / "out" / "nbgrader.csv").read_text().splitlines()[1]
    extended = run("extend", "ada", "01.double", "2026-12-01", "--reason", "was ill").output
    later = run("show", "ada").output
    run("extend", "ada", "all", "--withdraw", "--reason", "a mistake")

    assert "handed in 2026-11-30 12:00" in show
    assert "The grade: e01_double 1.5 of 3 (1 day late: -1.5 points)" in show
    assert row == "e01_double,,2026-11-30 12:00,ada,ada,,,3,1.5,1.5,3"
    assert "until 2026-12-02 00:00" in extended and "until 2026-12-02 00:00" in later
    assert "late" not in later
    assert "1 day late" in run("show", "ada").output


def test_a_date_is_put_off_for_one_learner_and_a_new_name_is_told(graded: Path) -> None:
    with open("course.toml", "a") as file:
        file.write('[due]\n"01.double" = 2026-11-29\n')
    words = ("01.double", "2026-12-01", "--reason", "ill")

    assert "For all: the date in course.toml." in run("extend", "all", *words, status=2).output
    output = run("extend", "adda", *words).output
    assert "adda has handed in nothing so far: is it the right name? Near: ada." in output


def test_an_exercise_without_a_date_cannot_be_put_off(graded: Path) -> None:
    output = run("extend", "ada", "01.double", "2026-12-01", "--reason", "ill", status=1).output

    assert "has no date in course.toml" in output


def test_parts_put_together_know_their_hand_ins(course: Course, tmp_path: Path) -> None:
    with Store(tmp_path / "whole.sqlite") as whole:
        for name, attempt in (("a", work(tiny.WRONG, 2)), ("b", work(tiny.SOLUTION, 1))):
            with Store(tmp_path / f"{name}.sqlite") as part:
                grade([attempt], course, part, engine(course), secret=1)
                part.put_off("ada", tiny.NAME, MONDAY, "me", "ill")
                merged(whole, part)
                merged(whole, part)

        assert [points(whole, policy) for policy in ("first", "last")] == [3, 0]
        assert len(whole.hand_ins()) == 2
        assert whole.own_dates() == {("ada", tiny.NAME): MONDAY}
        (count,) = whole.base.execute("select count(*) from own_dates").fetchone()
        assert count == 2  # each part's own word, once
    assert sqlite3.connect(tmp_path / "whole.sqlite").execute("pragma quick_check")


def test_a_folder_with_the_course_in_it_is_not_graded(graded: Path) -> None:
    words = ("--allow-level", "0", "--course", str(graded))

    output = run("grade", str(graded), *words, status=1).output

    assert "its solutions would be graded as well" in output
