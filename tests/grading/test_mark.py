"""Questions that are answered in words: read, graded by a person, and part of the grade."""

import csv
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading import questions, sandbox
from autodiff_kit.grading.answers_in_words import own_answers, read_answers
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.mark_in_notebook import MarkingForm
from autodiff_kit.grading.mark_in_notebook import mark as mark_in_notebook
from autodiff_kit.grading.questions import digest_of
from autodiff_kit.grading.release import build, with_hidden_tests
from autodiff_kit.grading.results import Grade, ManualMark
from autodiff_kit.grading.store import Store, StoreError
from autodiff_kit.grading.worker import Level0
from tests.grading import tiny
from tests.grading.in_words import ASKED, MODEL, RUBRIC, make_course, notebook_of

ROOT = Path(__file__).parents[2]
# -- Reading -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    make_course(folder)
    return folder


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["Twice."], "Twice."),
        ([["Twi", "ce.\n", 3, "One."]], "Twice.\nOne."),
        (["YOUR ANSWER HERE\n\nTwice."], "Twice."),
        (["Twice.", "Twice.", "One."], "Twice.\n\nOne."),  # a copy of the cell has its id, too
        (["a\x1b[2J\ud800<b>"], "a\\x1b[2J?<b>"),
        (["x" * 20_000], "x" * questions.MOST_TEXT + "..."),
        (["YOUR ANSWER HERE"], ""),
        ([7, None], None),
        ([], None),
    ],
)
def test_an_answer_is_what_stands_in_its_cells(answers: list[Any], expected: str | None) -> None:
    by_question = read_answers(notebook_of("", *answers), ".ipynb", Level0())

    assert by_question == ({} if expected is None else {"why": expected})


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[]", b"{", b'{"cells": 3}', b"[" * 100_000, b'{"cells": [3]}', b"\xff\xfe"),
        b'{"cells": [' + b"[]," * 200_000 + b"[]]}",
    ],
)
def test_what_is_no_notebook_has_no_answers_and_stops_nothing(data: bytes) -> None:
    assert "cannot be read" in read_answers(data, ".ipynb", Level0())
    assert own_answers(data) == set()
    assert read_answers(data, ".py", Level0()) == {}


def test_a_learner_is_told_which_questions_are_open() -> None:
    assert own_answers(notebook_of("", "YOUR ANSWER HERE\n")) == set()
    assert own_answers(notebook_of("", "YOUR ANSWER HERE\nTwice")) == {"why"}


def test_a_question_is_read_with_its_rubric_and_model_answer(course: Path) -> None:
    exercise = open_course(course).exercise("01.double")
    (question,) = exercise.questions

    assert (question.text, question.solution) == (ASKED, "Twice one, plus one.")
    assert [question.earned(n) for n in ([0], [0, 1], [0, 2], [2], [])] == [1, 2.5, 0, 0, 0]
    assert (exercise.points, exercise.total) == (3, 5.5)
    assert "Twice" not in exercise.solution  # it is no code


def test_learners_get_the_question_and_not_the_answer(course: Path) -> None:
    exercise = open_course(course).exercise("01.double")
    source = notebook_of(tiny.MARKED, MODEL)

    (*_, question, answer) = json.loads(build(source))["cells"]

    assert ("".join(question["source"]), "".join(answer["source"])) == (ASKED, "YOUR ANSWER HERE")
    with pytest.raises(
        ExerciseError, match="have no test cell"
    ):  # it has none, but is gone through
        with_hidden_tests(source, exercise)


@pytest.mark.parametrize(
    ("toml", "answers", "message"),
    [
        (RUBRIC, [], "questions.toml has"),
        ("", [MODEL], "questions.toml has"),
        ("[why]\nrubric = [{points = -1, text = 'x'}]", [MODEL], "no line of the rubric"),
        ("[why]\nrubric = [{points = 'x', text = 'x'}]", [MODEL], "Cannot read the exercise"),
        ("[why]\nrubric = 3", [MODEL], "Cannot read the exercise"),
        (RUBRIC.replace("rubric =", "points = 3\nrubric ="), [MODEL], "have 2.5 together"),
    ],
)
def test_questions_that_do_not_fit_the_notebook_are_refused(
    toml: str, answers: list[str], message: str, tmp_path: Path
) -> None:
    make_course(tmp_path)
    (tmp_path / "checks" / tiny.NAME / "questions.toml").write_text(toml)
    source = tmp_path / "source" / tiny.NAME / f"{tiny.NAME}.ipynb"
    source.write_bytes(notebook_of(tiny.MARKED, *answers))

    with pytest.raises(ExerciseError, match=message):
        open_course(tmp_path).exercise("01.double")


# -- Marking -------------------------------------------------------------------------------------

CLASS = {
    "ada": "It is doubled, and one is added.",
    "bob": "It is squared.",
    "cy": "YOUR ANSWER HERE",
    "di": "It is squared.",
}


def hand_in(answers: dict[str, str], folder: str = "in") -> None:
    for student, answer in answers.items():
        place = Path(folder) / student / tiny.NAME
        place.mkdir(parents=True)
        (place / f"{tiny.NAME}.ipynb").write_bytes(notebook_of(tiny.SOLUTION, answer))


def run(*words: str, typed: str = "", status: int = 0) -> str:
    result = CliRunner().invoke(cli, words, input=typed)
    assert result.exit_code == status, result.output
    return result.output


def mark(typed: str, *words: str, status: int = 0) -> str:
    return run("mark", *words, "--author", "prof", typed=typed, status=status)


GRADE = ("grade", "--allow-level", "0", "--workers", "1")


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose class was graded."""
    folder = tmp_path_factory.mktemp("graded")
    make_course(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "probe", list)
        patch.chdir(folder)
        hand_in(CLASS)
        assert "answers in words that wait for a mark: 3" in run(*GRADE, "in")
    return folder


@pytest.fixture
def graded(graded_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; the current folder."""
    monkeypatch.setattr(sandbox, "probe", list)
    shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


def grades(policy: str = "best") -> dict[str, Grade]:
    with Store(Path("results/results.sqlite")) as store:
        return {grade.student: grade for grade in store.grades(policy)}


def points() -> dict[str, float]:
    return {student: grade.points for student, grade in grades().items()}


def test_answers_are_graded_one_after_the_other_and_count(graded: Path) -> None:
    before = points()
    output = mark("1 2\n3\n0\n", "--by", "student")

    assert before == dict.fromkeys(CLASS, 3)
    assert points() == {"ada": 5.5, "bob": 3, "cy": 3, "di": 3}
    assert output.index("| It is doubled") < output.index("bob") < output.index("di")
    assert output.count(ASKED) == 1 and "  2  +1.5  Says that one is added." in output
    assert "Marks given: 3. Answers that wait: 0." in output
    assert grades()["ada"].marks[-1].text == (
        "+1 Says that it is doubled.\n+1.5 Says that one is added."
    )
    assert "No answer waits for a mark." in mark("")
    assert "marked: e01_double why = 2.5, by prof" in run("show", "ada")


@pytest.mark.parametrize("end", ["q\n", "", "s\nq\n"])
def test_who_stops_goes_on_later_and_nothing_is_lost(end: str, graded: Path) -> None:
    first = mark(f"p 1,5\nc Well, no.\n{end}", "--by", "student")

    assert "Marks given: 1. Answers that wait: 2." in first
    second = mark("0\n0\n", "--by", "student")
    assert "1 of 2" in second and "You say: Well, no." in second
    assert points() == {"ada": 4.5, "bob": 3, "cy": 3, "di": 3}


def test_going_back_and_again_a_mark_is_replaced(graded: Path) -> None:
    output = mark("1\nb\n2\nq\n", "--by", "student")
    again = mark("1 2\n", "--student", "ada", "--again")

    assert "It has 1 of 2.5." in output and "It has 1.5 of 2.5." in again
    assert points()["ada"] == 5.5
    with Store(Path("results/results.sqlite")) as store:
        assert [m.points for m in store.manual_marks()] == [1, 1.5, 2.5]  # nothing is overwritten


def test_no_name_is_shown_if_it_is_hidden_and_equal_answers_are_side_by_side(
    graded: Path,
) -> None:
    output = mark("s\ns\ns\n", "--anonymous")

    assert not any(f" {name}" in output for name in CLASS)
    lines = [line for line in output.splitlines() if line.startswith("  | ")]
    place = lines.index("  | It is squared.")
    assert lines[place : place + 2] == ["  | It is squared."] * 2


def test_what_cannot_be_meant_gives_no_mark(graded: Path) -> None:
    for typed in ("4", "0 1", "-1", "?", "c   ", "c", "quit", "1 x"):
        assert "the numbers of the lines that apply" in mark(f"{typed}\nq\n")
    for typed in ("3", "-1", "nan", "x", "inf", ""):
        assert f"'{typed}' is no number of points from 0 to 2.5" in mark(f"p {typed}\nq\n")
    assert "Twice one, plus one." in mark("m\nq\n")
    assert points() == dict.fromkeys(CLASS, 3)


def test_a_comment_goes_to_any_step_and_stands_on_the_page(graded: Path) -> None:
    mark("c numbers: Short.\nc all: <b>Good</b>\nc nowhere: yes\n1\n", "--student", "ada")
    run("feedback")

    page = Path("feedback/ada.html").read_text(encoding="utf-8")
    assert page.index("&lt;b&gt;Good") < page.index("Short.") < page.index("nowhere: yes")
    assert page.index("It is doubled, and one is added.") < page.index("+1 Says that it is doubled")
    assert "It is squared." not in page and "Says that it is squared" not in page


def test_a_changed_answer_waits_for_a_mark_of_its_own(graded: Path) -> None:
    mark("1\n", "--student", "ada")
    hand_in({"ada": "One is added."}, "in2")
    run(*GRADE, "in2")

    assert points()["ada"] == 4  # the best of both
    assert grades("last")["ada"].points == 3 and grades("last")["ada"].ungraded == 1
    output = mark("2\n", "--student", "ada")
    assert "| One is added." in output and "answer 2 of 2" in output
    assert points()["ada"] == 4.5 and grades("first")["ada"].points == 4


def work_again(code: str, answer: str, days: float) -> None:
    """Let ada hand in once more, so many days after the rest of the class."""
    place = Path(f"again{days}/ada") / tiny.NAME
    place.mkdir(parents=True)
    path = place / f"{tiny.NAME}.ipynb"
    path.write_bytes(notebook_of(code, answer))
    when = Path("in/ada", tiny.NAME, path.name).stat().st_mtime + 86_400 * days
    os.utime(path, (when, when))
    run(*GRADE, f"again{days}")


def test_the_answers_of_attempts_that_cannot_count_wait_for_nobody(graded: Path) -> None:
    work_again(tiny.WRONG, "It was late.", 1)  # 0 points, with an answer worth 2.5: less than 3

    assert "Answers that wait: 1." in mark("q\n", "--student", "ada")
    assert "Answers that wait: 1." in mark("q\n", "--student", "ada", "--policy", "last")
    assert CLASS["ada"] in mark("q\n", "--student", "ada", "--policy", "first")
    assert "It was late." in mark("q\n", "--student", "ada", "--policy", "last")
    assert "It was late." not in mark("s\n", "--student", "ada")
    assert "count 0 so far: 3." in run("export", "table")


def test_an_answer_that_can_make_another_attempt_the_best_waits(graded: Path) -> None:
    work_again(tiny.SOLUTION, "YOUR ANSWER HERE", -1)  # as good so far, and no answer waits in it
    mark("0\n", "--student", "ada")
    work_again(tiny.SOLUTION, "Said better.", 1)
    assert {policy: grades(policy)["ada"].ungraded for policy in ("best", "first", "last")} == {
        "best": 1,
        "first": 0,
        "last": 1,
    }

    assert "Said better." in mark("1 2\n", "--student", "ada")

    assert points()["ada"] == 5.5 and "No answer waits" in mark("", "--student", "ada")
    assert "Said better." in mark("q\n", "--student", "ada", "--again")


def test_the_answer_to_an_excused_or_overridden_step_waits_for_nobody(graded: Path) -> None:
    run("override", "ada", "01.double", "why", "2", "--reason", "talked it through")
    run("override", "bob", "01.double", "why", "--excused", "--reason", "was ill")

    assert "--- 1 of 1  01.double why  di" in mark("q\n", "--by", "student")


def test_marks_stay_when_work_is_judged_again_and_never_exceed_the_points(graded: Path) -> None:
    mark("1 2\n", "--student", "ada")
    (graded / "checks" / tiny.NAME / "questions.toml").write_text(RUBRIC.replace("1.5", "0.5"))

    output = run("regrade", "--allow-level", "0", "--workers", "1", "--yes")

    assert "01.double  ada: 5.5 -> 4.5 (-1)" in output
    assert points()["ada"] == 4.5 and grades()["ada"].max == 4.5


def test_an_override_is_above_a_mark_and_can_be_withdrawn(graded: Path) -> None:
    mark("1\n", "--student", "ada")
    run("override", "ada", "01.double", "why", "2", "--reason", "talked it through")
    above = points()["ada"]
    run("override", "ada", "01.double", "why", "--withdraw", "--reason", "a mistake")

    assert (above, points()["ada"]) == (5, 4)


def test_the_journal_and_parts_put_together_have_the_marks(graded: Path) -> None:
    mark("1\n0\n0\n")
    before = points()
    Path("results/results.sqlite").write_bytes(b"damaged" * 1000)
    run("rebuild")
    rebuilt = points()
    for _ in range(2):
        run("merge", "results", "--out", "whole")

    with Store(Path("whole/results.sqlite")) as whole:
        assert {grade.student: grade.points for grade in whole.grades()} == before == rebuilt
        assert len(whole.manual_marks()) == 3


def test_every_file_that_goes_out_says_what_waits(graded: Path) -> None:
    for words in (["export", "table"], ["feedback"], ["report"]):
        assert "count 0 so far: 3.\n-> autodiff-kit mark" in run(*words)
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Answers in words that wait for a mark, and count 0 above: 3." in page
    assert "not graded yet" in Path("feedback/ada.html").read_text(encoding="utf-8")

    mark("1\n0\n0\n")

    assert run("export", "csv") == "Wrote grades.csv\n"
    with open("grades.csv", encoding="utf-8") as file:
        rows = {r["student"]: r for r in csv.DictReader(file) if r["step"] == "why"}
    assert {s: (r["max"], r["status"]) for s, r in rows.items()} == {
        "ada": ("2.5", "graded by hand"),
        "bob": ("2.5", "graded by hand"),
        "cy": ("2.5", "not attempted"),
        "di": ("2.5", "graded by hand"),
    }


def test_a_mark_counts_for_its_learner_and_answer_alone(graded: Path) -> None:
    step = ("bob", tiny.NAME, "why")
    with Store(Path("results/results.sqlite")) as store:
        for digest in (digest_of(CLASS["ada"]), digest_of(""), "*"):
            store.mark(ManualMark(*step, digest, 2.5, "", "prof", 1.0))
        assert {g.student: g.points for g in store.grades()} == dict.fromkeys(CLASS, 3)
        store.mark(ManualMark(*step, digest_of(CLASS["bob"]), 2, "", "prof", 1.0))
        assert {g.student: g.points for g in store.grades()} == {
            **dict.fromkeys(CLASS, 3),
            "bob": 5,
        }


def test_what_the_learners_code_prints_or_defines_is_no_answer(graded: Path) -> None:
    shutil.rmtree("in")
    code = f"{tiny.SOLUTION}\nimport json\njson.loads = lambda *a, **k: {{'cells': []}}\n"
    place = Path("in/eve") / tiny.NAME
    place.mkdir(parents=True)
    (place / f"{tiny.NAME}.ipynb").write_bytes(notebook_of(code, "Mine."))

    run(*GRADE, "in")

    assert grades()["eve"].marks[-1].answer == "Mine."


# -- In a notebook -------------------------------------------------------------------------------


def words_of(form: MarkingForm) -> str:
    """Return what the form says, without its marks."""
    texts = [child.value for child in form.children if isinstance(child, ipywidgets.HTML)]
    return " ".join(re.sub("<style>[^<]*</style>|<[^>]*>", "", text) for text in texts)


def test_the_form_in_a_notebook_gives_the_marks_of_the_command(graded: Path) -> None:
    form = mark_in_notebook(by="student", author="prof")
    first = words_of(form)
    form.rubric[0].value = form.rubric[1].value = True
    total = form.points.value
    form.comment.value = "Well said."
    form.give.click()
    form.rubric[2].value = True
    form.give.click()
    form.points.value = 1.5  # of its own
    form.give.click()

    assert ASKED in first and CLASS["ada"] in first and "1 of 3: 01.double why, ada" in first
    assert total == 2.5
    assert words_of(form).strip() == "Marks given: 3. Answers that wait: 0."
    assert points() == {"ada": 5.5, "bob": 3, "cy": 3, "di": 4.5}
    assert grades()["ada"].marks[-1].text == (
        "+1 Says that it is doubled.\n+1.5 Says that one is added."
    )
    assert grades()["di"].marks[-1].text == ""  # no line of the rubric explains 1.5
    with Store(Path("results/results.sqlite")) as store:
        assert store.comments()["ada", tiny.NAME]["why"].text == "Well said."
        assert {m.author for m in store.manual_marks()} == {"prof"}
    assert words_of(mark_in_notebook()).strip() == "No answer waits for a mark."


def test_the_form_goes_back_skips_and_keeps_what_was_said(graded: Path) -> None:
    form = mark_in_notebook("01.double", by="student")
    form.comment.value = "Which one?"
    form.skip.click()
    form.back.click()
    form.show_model.value = True

    assert form.comment.value == "Which one?" and "Twice one, plus one." in words_of(form)
    form.points.value = 3
    form.give.click()
    assert "3 is no number of points from 0 to 2.5" in words_of(form) and "1 of 3" in words_of(form)
    for number in ("nan", "inf", "-1"):
        form.points.value = float(number)
        form.give.click()
    assert points() == dict.fromkeys(CLASS, 3)
    form.points.value = 1
    form.give.click()
    assert "It has 1 of 2.5." in words_of(mark_in_notebook(again=True, student="ada"))


def test_the_form_hides_names_and_runs_nothing_of_an_answer(graded: Path) -> None:
    hand_in({"<b>eve": "<img src=x onerror=alert(1)>\x1b[2J</blockquote><script>1</script>"}, "in2")
    run(*GRADE, "in2")

    form = mark_in_notebook(student="<b>eve")
    hidden = mark_in_notebook(anonymous=True)

    page = "".join(child.value for child in form.children if isinstance(child, ipywidgets.HTML))
    assert "&lt;img src=x" in page and "&lt;b&gt;eve" in page
    assert not any(tag in page for tag in ("<img", "<script", "<b>eve", "\x1b"))
    for _ in range(4):
        assert not any(f"why, {name}" in words_of(hidden) for name in (*CLASS, "&lt;b"))
        hidden.skip.click()


def test_the_form_says_what_cannot_be_meant(graded: Path) -> None:
    with pytest.raises(ValueError, match="'question' or 'student'"):
        mark_in_notebook(by="name")
    with pytest.raises(FileNotFoundError, match="Grade first"):
        mark_in_notebook(results="nowhere")
    assert not Path("nowhere").exists()
    with pytest.raises(StoreError, match="No results for 'zoe'"):
        mark_in_notebook(student="zoe")
