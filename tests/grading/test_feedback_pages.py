"""What goes back to learners: their pages, under the names by which platforms take them back."""

import datetime
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autodiff_kit.cli import cli
from autodiff_kit.grading import sandbox
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.feedback_pages import Page, page_of, pages_of, safe_names
from autodiff_kit.grading.results import Attempt, Comment, Grade, Mark, file_hash
from autodiff_kit.grading.store import Store
from tests.grading import tiny

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)>=1+1\x1b[2J"


class Parts(HTMLParser):
    """The tags and the words of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course and a folder of files as three platforms give them out; the current folder."""
    monkeypatch.setattr(sandbox, "probe", list)
    folder = tmp_path / "course"
    tiny.make_course(folder)
    monkeypatch.chdir(folder)
    for path in (
        f"Ada L_4711_assignsubmission_file_/{tiny.NAME}.py",
        f"Cy_12_assignsubmission_file_{tiny.NAME}.py",
        f"bob_LATE_22_33_{tiny.NAME}.py",
        f"dan/{tiny.NAME}/{tiny.NAME}.py",
        # What these two have called a file in their own folder is nothing of a platform's.
        f"hal/bob_22_33_{tiny.NAME}.py",
        f"fay/{tiny.NAME}/Ada L_4711_assignsubmission_file_{tiny.NAME}.py",
        # This one has called himself "foo_22": to Canvas, his page would be Bob's.
        f"foo_22_777_888_{tiny.NAME}.py",
        f"foo_22_777_889_more {tiny.NAME}.py",
    ):
        file = folder / "in" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(tiny.WRONG)
    run("grade", "in", "--allow-level", "0", "--workers", "1")
    return folder


def run(*words: str, status: int = 0) -> Result:
    result = CliRunner().invoke(cli, list(words))
    assert result.exit_code == status, result.output
    return result


def page(name: str) -> str:
    return Parts(Path("feedback", f"{name}.html").read_text(encoding="utf-8")).words


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return sorted(archive.namelist())


def test_a_page_says_points_the_mistake_a_hint_and_the_comment(place: Path) -> None:
    run("comment", "dan", "01.double", "arrays", "--text", "Try `x = 0`.", "--author", "Prof")
    run("feedback")

    words = page("dan")

    assert "01.double Double: 0 of 3 points" in words
    assert "numbers: 0 of 1 points, not right" in words
    assert "The one is missing." in words
    assert "A hint. Two times." in words
    assert "Prof: Try x = 0." in words
    assert "Prof" not in page("4711")


def test_a_comment_takes_the_place_of_another_and_can_be_taken_back(place: Path) -> None:
    for text in ("One remark", "Another"):
        run("comment", "dan", "01.double", "--text", text)
    run("feedback")
    after_two = page("dan")
    run("comment", "dan", "01.double", "--withdraw")
    run("feedback")

    assert "Another" in after_two and "One remark" not in after_two
    assert "Another" not in page("dan")


def test_a_comment_needs_a_learner_a_step_and_words(place: Path) -> None:
    assert (
        "There are: numbers, arrays"
        in run("comment", "dan", "01.double", "gone", "--text", "x", status=1).output
    )
    assert "No results for" in run("comment", "eve", "01.double", "--text", "x", status=1).output
    run("comment", "dan", "01.double", "--text", " ", status=2)


def test_a_comment_on_work_that_was_not_handed_in_is_told_and_stands_on_the_page(
    place: Path,
) -> None:
    exercise = open_course(place).exercise("01")
    other = replace(exercise, name="e02_other", id="02.other")
    comment = Comment("ada", other.name, "", "Where is it?", "Prof", 0)

    (page,) = pages_of(
        [grade_of("ada", "t")], [exercise, other], {("ada", other.name): {"": comment}}, "c"
    )

    words = Parts(page.text).words
    assert "02.other Double: nothing was handed in" in words and "Prof: Where is it?" in words
    assert "0 of 1 points in all" not in words  # of what was handed in, there is one

    assert "handed in nothing" not in run("comment", "dan", "01.double", "--text", "x").output
    run("runs", "1", "--withdraw", "--reason", "the wrong folder")
    for form in ("pages", "moodle"):
        output = run("feedback", form).output
        assert "on no page, as nothing was handed in: dan (e01_double)" in output


def test_a_name_of_two_learners_is_asked_about_with_their_ids(place: Path) -> None:
    for path in (f"Bo_13_assignsubmission_file_{tiny.NAME}.py", f"Bo_{tiny.NAME}.py"):
        (place / "in" / path).write_text(tiny.SOLUTION)
    run("grade", "in", "--allow-level", "0", "--workers", "1")

    for command in (
        ("comment", "Bo", "01.double", "--text", "x"),
        ("override", "Bo", "01.double", "numbers", "0", "--reason", "x"),
        ("show", "bo"),
    ):
        text = run(*command, status=1).output
        assert "There is more than one" in text
        assert "13 (Bo), " in text
    assert "id:Bo (Bo)" in run("show", "Bo", status=1).output
    assert "13, 01.double" in run("comment", "13", "01.double", "--text", "x").output
    assert "Bo, 01.double" in run("comment", "id:Bo", "01.double", "--text", "x").output


def test_each_platform_gets_its_own_pages_under_names_that_it_knows(place: Path) -> None:
    moodle, canvas = (run("feedback", form).output for form in ("moodle", "canvas"))
    run("feedback", "nbgrader", "--to", "back")

    assert names_in(place / "feedback" / f"{tiny.NAME}-moodle.zip") == [
        "Ada L_4711_assignsubmission_file_/feedback.html",
        "Cy_12_assignsubmission_file_feedback.html",
    ]
    assert names_in(place / "feedback" / f"{tiny.NAME}-canvas.zip") == [
        "bob_LATE_22_33_feedback.html"
    ]
    others = "bob, foo_22, dan, fay, hal"
    assert f"5 files did not come from Moodle, and have no place in its zip: {others}" in moodle
    assert "6 files did not come from Canvas, or have a name that it reads as another's" in canvas
    assert (place / "back" / "dan" / tiny.NAME / f"{tiny.NAME}.html").is_file()


def grade_of(student: str, text: str, picture: str = "") -> Grade:
    marks = (Mark("numbers", 0, 1, "wrong", "m", text, "Numbers", picture),)
    attempt = Attempt(
        *(
            file_hash(student.encode()),
            student,
            student,
            tiny.NAME,
            1,
            "o",
            "h",
            "c",
            "1",
            "0",
            "graded",
        ),
        marks=marks,
    )
    return Grade(student, student, tiny.NAME, marks, attempt, 1)


def test_no_text_of_a_learner_is_markup(tmp_path: Path) -> None:
    exercise = tiny.make_course(tmp_path).exercise("01")
    comment = Comment(HOSTILE, tiny.NAME, "numbers", HOSTILE, HOSTILE, 0)

    text = page_of([(exercise, grade_of(HOSTILE, HOSTILE), {"numbers": comment})], HOSTILE)

    parts = Parts(text)
    assert not {"script", "img"} & set(parts.tags)
    assert parts.tags.count("style") == 1
    assert "default-src 'none'" in text and "script-src" not in text
    assert "\x1b" not in text


def test_hostile_names_are_names_of_files_and_not_of_others(tmp_path: Path) -> None:
    names = ["../up", "a/b", "a_b", "con\n", "x" * 300, "Zoë", "Ada", "ada", "STRASSE", "straße"]
    pages = [Page(grade_of(name, ""), "") for name in names]

    files = {name.casefold() for name in safe_names(pages)}

    assert len(files) == len(names) and "zoë" in files
    assert all("/" not in file and "." not in file and len(file) < 80 for file in files)


def test_a_page_has_the_picture_of_the_example() -> None:
    course = open_course()
    exercise = course.exercise("04.accumulate")
    text = page_of([(exercise, grade_of("ada", "t", "<svg><g></g></svg>"), {})], "c")

    assert "svg" in Parts(text).tags


def test_what_the_machine_failed_has_no_page_yet(tmp_path: Path) -> None:
    exercise = tiny.make_course(tmp_path).exercise("01")
    grade = grade_of("ada", "t")
    fault = Grade("ada", "ada", tiny.NAME, grade.marks, _failed(grade.attempt), 1)

    assert pages_of([fault], [exercise], {}, "c") == []


def _failed(attempt: Attempt) -> Attempt:
    return Attempt(**{**vars(attempt), "status": "fault"})


def test_an_example_that_can_be_drawn_is_drawn_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = open_course()
    exercise = course.exercise("04.accumulate")
    mutant = next(mutant for mutant in exercise.mutants if mutant.message == "adds_twice")
    file = tmp_path / "in" / "ada" / exercise.name / "work.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"{exercise.solution}\n\n{mutant.code}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sandbox, "probe", list)
    run("grade", "in", "--allow-level", "0", "--workers", "1", "--course", str(course.folder))

    with Store(Path("results/results.sqlite")) as store:
        (mark,) = store.grades()[0].marks

    words = Parts(mark.picture).words
    assert "yours" in words and "grad 14" in words  # 2 * 7: the derivative of x * x + x at 3 is 7
    assert len(mark.failures.split()) > 0


def test_what_is_right_is_on_no_page_before_all_dates_are_over(place: Path) -> None:
    def pages_with(due: datetime.date) -> str:
        Path("course.toml").write_text(f"{course}[due]\n'01.double' = {due}\n")
        return run("feedback").output + page("dan")

    course = Path("course.toml").read_text()
    today = datetime.date.today()
    week = datetime.timedelta(days=7)
    run("feedback")
    assert "right is" in page("dan")  # no date is known

    before = pages_with(today + week)
    assert "01.double: no right answers on pages before" in before
    assert "right is" not in before and "your code gives" in before

    after = pages_with(today - week)
    assert "right is" in after and "no right answers" not in after

    run("extend", "Cy", "01.double", f"{today + week}", "--reason", "was ill")
    assert "right is" not in pages_with(today - week)
