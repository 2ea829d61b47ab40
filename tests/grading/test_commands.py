"""The commands, as teachers and learners type them."""

import csv
import hashlib
import json
import os
import shutil
import sqlite3
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autodiff_kit.cli import cli
from autodiff_kit.grading import commands, feedback, sandbox, submit_command
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.sandbox import Finding, Walls
from tests.grading import tiny


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course, with the current folder in it."""
    tiny.make_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a course that two learners handed their work in to, and its results."""
    folder = tmp_path_factory.mktemp("class")
    tiny.make_course(folder / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "probe", list)
        patch.chdir(folder / "course")
        grade(folder / "course")
    return folder


@pytest.fixture
def graded(tmp_path: Path, graded_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that was graded, with the current folder in it."""
    shutil.copytree(graded_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture(autouse=True)
def without_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether walls stand is another test's question."""
    findings = [Finding(Walls(), "unshare: Operation not permitted")]
    monkeypatch.setattr(sandbox, "probe", lambda: findings)


def run(*words: str | Path, status: int = 0) -> Result:
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == status, result.output
    return result


def hand_in(place: Path) -> Path:
    folder = place.parent / "submitted"
    for student, code in (("ada", tiny.SOLUTION), ("=bob", tiny.WRONG)):
        (folder / student / tiny.NAME).mkdir(parents=True)
        (folder / student / tiny.NAME / "work.py").write_text(code)
    return folder


def grade(place: Path, *words: str) -> Result:
    return run("grade", hand_in(place), "--allow-level", "0", "--workers", "1", *words)


# -- Teachers --------------------------------------------------------------------------------------


def test_from_submissions_to_a_table_and_a_picture(place: Path) -> None:
    result = grade(place)

    assert "2 submissions: 2 graded now" in result.output
    assert "1 x one is missing" in result.output
    assert (place / "results" / f"{tiny.NAME}.svg").read_text().startswith("<svg")


def test_finished_work_beside_an_untouched_notebook_counts_and_both_are_named(place: Path) -> None:
    folder = place.parent / "submitted" / "ada"
    folder.mkdir(parents=True)
    (folder / f"{tiny.NAME}.ipynb").write_bytes(tiny.notebook(tiny.STUB))
    (folder / f"{tiny.NAME} (1).ipynb").write_bytes(tiny.notebook(tiny.SOLUTION))

    run("grade", folder.parent, "--allow-level", "0", "--workers", "1")
    text = run("show", "ada").output
    run("export", "csv")
    with open("grades.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))

    assert f"{tiny.NAME}: 3 of 3\n  ada/{tiny.NAME} (1).ipynb" in text
    assert f"not counted: ada/{tiny.NAME}.ipynb" in text
    assert [line["status"] for line in lines] == ["right", "right"]
    assert {line["file"] for line in lines} == {f"ada/{tiny.NAME} (1).ipynb"}
    assert {line["note"] for line in lines} == {
        f"One of several files; not counted: ada/{tiny.NAME}.ipynb."
    }


def test_a_file_that_got_its_exercise_later_is_no_unknown_one_any_more(place: Path) -> None:
    folder = place.parent / "submitted"
    (folder / "ada").mkdir(parents=True)
    (folder / "ada" / "work.py").write_text(tiny.SOLUTION)
    (folder / "bob.py").write_text(tiny.SOLUTION)
    (folder / "cy.py").write_text("")
    words = ("grade", folder, "--allow-level", "0", "--workers", "1")

    first = run(*words).output
    (folder / "bob.py").rename(folder / f"bob_{tiny.NAME}.py")
    (folder / "cy.py").rename(folder / f"cy_{tiny.NAME}.pdf")
    second = run(*words).output
    third = run(*words, "--exercise", "01.double").output
    run("export", "csv")
    with open("grades.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))

    for name in ("ada/work.py", "bob.py", "cy.py"):
        assert f"unreadable: {name}: Which exercise is this?" in first
    assert "bob.py" not in second and "unreadable: ada/work.py" in second
    # Of an empty file nothing tells which one it is.
    assert "ada/work.py" not in third and "unreadable: cy.py" in third
    assert {line["student"] for line in lines if not line["exercise"]} == {"cy"}


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
def test_a_file_whose_name_is_no_text_is_a_row_and_ends_no_run(place: Path) -> None:
    folder = hand_in(place)
    for student in ("aaa", "zzz"):
        (folder / student / tiny.NAME).mkdir(parents=True)
        os.symlink("/etc/passwd", os.fsencode(folder / student / tiny.NAME / "work.") + b"\xff")

    result = run("grade", folder, "--allow-level", "0", "--workers", "1")
    run("export", "csv")

    assert "4 submissions: 4 graded now" in result.output
    with open("grades.csv", encoding="utf-8", newline="") as file:
        status = {line["student"]: line["status"] for line in csv.DictReader(file)}
    assert status == {"aaa": "unreadable", "ada": "right", "'=bob": "wrong", "zzz": "unreadable"}


@pytest.mark.parametrize("inside", ["ada", ".", "ada/e01_double"])
def test_a_course_among_the_hand_ins_is_not_run(
    inside: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = hand_in(place)
    shutil.copytree(place, folder / inside, dirs_exist_ok=True)
    checks = folder / inside / "checks" / tiny.NAME / "checks.py"
    checks.write_text("open('run.txt', 'w').close()\n" + checks.read_text())
    monkeypatch.chdir(folder / inside)

    for words in (["grade", "."], ["grade", folder], ["export", "csv", "--results", place]):
        assert "--course FOLDER" in run(*words, status=1).output

    assert not (folder / inside / "run.txt").exists()
    words = ("--course", place, "--allow-level", "0", "--workers", "1", "--out", place / "out")
    assert "all right" in run("grade", folder, *words).output


def test_what_a_teacher_says_counts_where_the_machine_failed(place: Path) -> None:
    grade(place)
    with sqlite3.connect("results/results.sqlite") as base:
        base.execute("update attempts set status = 'fault' where student = 'ada'")
    base.close()
    before = exported("canvas")["ada"][-1]

    run("override", "ada", "01.double", "arrays", "2", "--reason", "talked it through")

    assert before == ""
    assert exported("canvas")["ada"][-1] != ""


def test_it_refuses_to_run_strangers_code_below_the_level(place: Path) -> None:
    result = run("grade", hand_in(place), status=1)

    assert "level 0 only" in result.output
    assert "unshare: Operation not permitted" in result.output
    assert "--allow-level 0" in result.output


def test_a_second_run_finds_its_rows_and_its_seed(place: Path) -> None:
    folder = hand_in(place)
    words = ("grade", folder, "--allow-level", "0", "--workers", "1")

    first, second = run(*words, "--seed", "7"), run(*words)

    assert "Seed 7" in first.output and "Seed 7" in second.output
    assert "0 graded now" in second.output
    assert "2 known already" in second.output


def test_a_seed_that_is_not_that_of_the_results_is_refused(place: Path) -> None:
    folder = hand_in(place)
    words = ("grade", folder, "--allow-level", "0", "--workers", "1")
    run(*words, "--seed", "7")
    before = run("show", "ada").output

    refused = run(*words, "--seed", "8", status=1).output
    run(*words, "--seed", "7")
    run(*words, "--seed", "7", "--out", "again")

    assert "--seed 7" in refused and "--out FOLDER" in refused
    assert before == run("show", "ada").output == run("show", "ada", "--results", "again").output


def test_verify_says_first_which_course_it_is(place: Path) -> None:
    output = run("verify", "--seeds", "1", status=1).output

    assert output.startswith(f"Course: {place}\n01.double ...\n")
    assert "add a mutant that fails this check alone" in output


def test_who_lost_points_is_shown_for_which_checks(place: Path) -> None:
    folder = place.parent / "submitted" / "ada"
    folder.mkdir(parents=True)
    (folder / f"{tiny.NAME}.ipynb").write_bytes(tiny.notebook(tiny.WRONG))

    run("grade", folder.parent, "--allow-level", "0", "--workers", "1")

    text = run("show", "ada").output
    assert "Points lost: twice, plus one (1)." in text
    assert "Points lost: also for arrays (2)." in text


def test_more_points_than_a_step_has_are_refused_unless_they_are_meant(graded: Path) -> None:
    words = ("override", "ada", "01.double", "arrays", "--reason", "x")

    refused = run(*words, "300", status=1).output
    run(*words, status=2)
    run(*words, "1", "--withdraw", status=2)
    run(*words, "nan", status=2)
    run(*words[:-1], " ", "2", status=2)

    assert "has 2 points" in refused and "--bonus" in refused
    assert "override" not in run("show", "ada").output
    assert "300 points from now on" in run(*words, "300", "--bonus").output


def test_an_override_can_be_withdrawn(graded: Path) -> None:
    words = ("override", "=bob", "01.double", "arrays", "--reason", "x")
    nothing = run(*words, "--withdraw", status=1).output
    run(*words, "1")

    withdrawn = run(*words, "--withdraw").output
    again = run(*words, "--withdraw", status=1).output

    assert "0 points from now on again, as graded" in withdrawn
    assert "no override" in nothing and "no override" in again
    text = run("show", "=bob").output
    assert "arrays = 1, by" in text and "arrays = withdrawn, by" in text
    assert f"The grade: {tiny.NAME} 0 of 3" in text


def test_points_for_work_on_paper_need_no_row_and_are_not_given_to_a_slip_of_the_pen(
    graded: Path,
) -> None:
    words = ("override", "=eve", "01.double", "arrays", "1", "--reason", "on paper")

    refused = run(*words, status=1).output
    run("override", "eve", "01.double", "arrays", "1", "--reason", "on paper", "--no-file")

    assert "No results for '=eve'" in refused
    assert run("show", "eve").output.count(f"The grade: {tiny.NAME} 1 of 3") == 1
    run("export", "canvas", "--to", "out")
    with open("out/canvas.csv", encoding="utf-8", newline="") as file:
        lines = {line[0]: line for line in csv.reader(file)}
    assert float(lines["eve"][-1]) == 1


def exported(form: str) -> dict[str, list[str]]:
    """Return the lines of an export by what they begin with."""
    run("export", form, "--to", "out")
    with open(f"out/{form}.csv", encoding="utf-8", newline="") as file:
        return {line[0] or line[1]: line for line in csv.reader(file)}


def test_an_excused_step_counts_neither_for_nor_against(graded: Path) -> None:
    run("override", "=bob", "01.double", "numbers", "1", "--reason", "explained it")
    words = ("override", "=bob", "01.double", "arrays", "--reason", "was ill")

    output = run(*words, "--excused").output

    assert "excused: it counts neither for nor against" in output
    text = run("show", "=bob").output
    assert "arrays = excused, by" in text and f"The grade: {tiny.NAME} 1 of 1" in text
    assert float(exported("canvas")["'=bob"][-1]) == 3  # all there was to earn, out of 3
    run(*words, "--withdraw")
    assert float(exported("canvas")["'=bob"][-1]) == 1


def test_an_excused_exercise_needs_no_file_and_is_told_as_that(graded: Path) -> None:
    words = ("override", "01.double", "all", "--reason", "was ill")

    run(words[0], "=bob", *words[1:], "--excused")
    run(words[0], "fay", *words[1:], "--excused", "--no-file")
    refused = run(words[0], "fai", *words[1:], "--excused", status=1).output

    assert "No results for 'fai'" in refused
    assert f"The grade: {tiny.NAME} excused" in run("show", "fay").output
    canvas, moodle, nbgrader = exported("canvas"), exported("moodle"), exported("nbgrader")
    assert [canvas[name][-1] for name in ("'=bob", "fay")] == ["EX", "EX"]
    assert moodle["fay"][3] == "" and nbgrader[tiny.NAME][-2:] == ["", "0"]
    again = run("grade", graded.parent / "submitted", "--allow-level", "0", "--workers", "1").output
    assert "excused: 2" in again


def test_who_is_excused_has_no_file_in_gradescope_and_is_skipped_in_junit(graded: Path) -> None:
    run("override", "ada", "01.double", "all", "--reason", "was ill", "--excused")
    for form in ("gradescope", "junit"):
        run("export", form, "--to", "out")

    names = [path.name for path in Path("out/gradescope").iterdir()]
    assert names and not any(name.startswith("ada") for name in names)
    text = Path("out/junit.xml").read_text(encoding="utf-8")
    assert text.count('<skipped message="excused"') == 2 and 'skipped="2"' in text


def test_points_for_all_steps_at_once_are_refused(graded: Path) -> None:
    words = ("override", "ada", "01.double", "all", "--reason", "x")

    assert "There are: numbers, arrays" in run(*words, "1", status=1).output
    run(*words, "1", "--excused", status=2)


def test_points_without_a_file_that_are_withdrawn_leave_no_grade(graded: Path) -> None:
    words = ("override", "eve", "01.double", "arrays", "--reason", "on paper")
    run(*words, "1", "--no-file")

    run(*words, "--withdraw")

    run("export", "csv", "--to", "out")
    assert "\neve," not in Path("out/grades.csv").read_text(encoding="utf-8")


def test_work_that_is_handed_in_later_takes_the_place_of_none(graded: Path) -> None:
    run("override", "eve", "01.double", "arrays", "1", "--reason", "on paper", "--no-file")
    later = graded.parent / "later" / "eve" / tiny.NAME
    later.mkdir(parents=True)
    (later / "work.py").write_text("def double(x):\n    return 2 * x + 1.0\n")

    run("grade", graded.parent / "later", "--allow-level", "0", "--workers", "1")

    run("export", "csv", "--to", "out")
    with open("out/grades.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["student"] == "eve"]
    assert [(row["step"], float(row["points"]), row["attempts"]) for row in rows] == [
        ("numbers", 1, "1"),
        ("arrays", 1, "1"),
    ]


def test_points_that_are_no_number_are_told_as_that(graded: Path) -> None:
    words = ("override", "ada", "01.double", "arrays", "--reason", "x")

    outputs = {text: run(*words, text, status=2).output for text in ("nan", "1,500", "inf", "two")}

    assert all(f"{text}" in output for text, output in outputs.items())
    assert all("is no number of points" in output for output in outputs.values())
    assert "1.5 points from now on" in run(*words, "1,5").output  # as many keyboards write it


def test_show_tells_all_about_a_student(graded: Path) -> None:
    run(
        "override", "=bob", "01.double", "arrays", "1", "--reason", "explained it", "--author", "me"
    )

    text = run("show", "=bob").output

    assert "0 of 3" in text and "level 0 process" in text
    assert "arrays: 0 of 2  wrong: one_is_missing" in text
    assert "arrays = 1, by me on 20" in text and ": explained it" in text
    assert f"The grade: {tiny.NAME} 1 of 3" in text


def test_what_a_learner_wrote_is_shown_letter_by_letter(place: Path) -> None:
    folder = place.parent / "odd" / "eve" / tiny.NAME
    folder.mkdir(parents=True)
    (folder / "work.py").write_text("def double(x):\n    return x[:a:]\n")
    run("grade", place.parent / "odd", "--allow-level", "0", "--workers", "1")

    assert "return x[:a:]" in run("show", "eve").output


def test_show_helps_with_a_name_that_is_not_there(graded: Path) -> None:
    assert "Did you mean: =bob" in run("show", "bob", status=1).output


def test_learners_are_found_by_name_where_the_results_know_a_number(place: Path) -> None:
    handed_in = place.parent / "canvas"
    handed_in.mkdir()
    for label in ("ada_7_91", "bob_8_92", "bob_9_93"):
        (handed_in / f"{label}_{tiny.NAME}.py").write_text(tiny.SOLUTION)
    run("grade", handed_in, "--allow-level", "0", "--workers", "1")

    assert run("show", "Ada").output.startswith("ada (7)\n")
    assert run("show", "9").output.startswith("bob (9)\n")
    assert "8 (bob), 9 (bob)" in run("show", "bob", status=1).output
    changed = run("override", "ada", "01.double", "arrays", "1", "--reason", "explained it")
    assert changed.output.startswith("7, 01.double, arrays: 1 points")


def test_an_override_needs_a_step_that_exists(graded: Path) -> None:
    wrong = run("override", "ada", "01.double", "nothing", "1", "--reason", "x", status=1)

    assert "There are: numbers, arrays" in wrong.output


def test_export_writes_a_file_for_canvas(graded: Path) -> None:
    run("export", "canvas", "--to", "out")
    with open("out/canvas.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))

    assert lines[0][-1] == "01.double Double"
    assert [(line[0], line[-1]) for line in lines[2:]] == [("'=bob", "0"), ("ada", "3")]


def test_shards_merge_to_the_whole(place: Path) -> None:
    folder = hand_in(place)
    common = ("--allow-level", "0", "--workers", "1", "--seed", "7")
    for part in ("1/2", "2/2"):
        run("grade", folder, *common, "--shard", part, "--out", f"part{part[0]}")

    merged = run("merge", "part1", "part2", "--out", "results").output

    assert sum(int(line.split(": ")[1].split()[0]) for line in merged.splitlines()) == 2
    assert "3 of 3" in run("show", "ada").output


def test_build_makes_the_learners_notebook_and_check_sees_a_stale_one(place: Path) -> None:
    stale = run("build", "--check", status=1)
    run("build")
    released = place / "release" / tiny.NAME / f"{tiny.NAME}.ipynb"

    assert "autodiff-kit build" in stale.output
    assert "2 * x + 1" not in released.read_text(encoding="utf-8")
    fresh = run("build", "--check").output
    assert "0 of them new" in fresh and fresh.strip().endswith("release")


def test_verify_names_what_is_to_be_mended(place: Path) -> None:
    result = run("verify", "--seeds", "2", status=1)

    assert "has 1 mutants; 8 are the least" in result.output


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        ("alternatives/bad.py", "import not_installed\n" + tiny.SOLUTION, "ModuleNotFoundError"),
        ("alternatives/bad.py", "def double(x:", "SyntaxError"),
    ],
)
def test_verify_names_the_file_that_cannot_be_run(
    place: Path, file: str, code: str, words: str
) -> None:
    (place / "checks" / tiny.NAME / file).write_text(code)

    result = run("verify", "--seeds", "2", status=1)

    assert f"01.double: {file} stops when it is run: {words}" in result.output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("float(rng.normal())", "3.0", "check Numbers gives points under 10 of 10 seeds for the a"),
        (
            "return step.double(data)\n\n\n@",
            "return [data, np.shape(step.double(data))]\n\n\n@",
            "check Numbers gives points for functions that return 0, first",
        ),
        (
            "return rng.normal(size=(3, 2))",
            "return np.array([1.0, 2.0]) * int(rng.integers(1, 3))",
            "check Arrays gives points under",
        ),
        (
            "return step.double(data)\n\n\n@",
            "try:\n            return step.double(data)\n        except Exception:\n"
            "            return 2 * data + 1\n\n\n@",
            "check Numbers gives points for the notebook as it was handed out",
        ),
    ],
)
def test_verify_names_a_check_that_gives_points_for_no_work(
    old: str, new: str, words: str, place: Path
) -> None:
    path = place / "checks" / tiny.NAME / "checks.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))

    result = run("verify", "--seeds", "2", status=1)

    assert words in result.output


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        ("code = 'double = nothing'", "NameError: name 'nothing'"),
        ("old = 'return 2'\nnew = 'return )'", "SyntaxError"),
    ],
)
def test_verify_names_the_mutant_that_cannot_be_run(place: Path, mutant: str, words: str) -> None:
    (place / "checks" / tiny.NAME / "mutants.toml").write_text(f"[one_is_missing]\n{mutant}\n")

    result = run("verify", "--seeds", "2", status=1)

    assert f"01.double: the mutant one_is_missing stops when it is run: {words}" in result.output


def test_verify_names_a_mutant_whose_points_depend_on_the_inputs(place: Path) -> None:
    # Wrong for a third of the inputs, and a check has three of them.
    (place / "checks" / tiny.NAME / "mutants.toml").write_text(
        "[one_is_missing]\nold = '2 * x + 1'\nnew = '2 * x + 1.0 * (x > -0.5)'\n"
    )

    result = run("verify", "--seeds", "200", status=1)

    assert "the mutant one_is_missing has different points: " in result.output


def test_verify_names_a_mutant_whose_old_code_is_not_in_the_solution(place: Path) -> None:
    mutants = place / "checks" / tiny.NAME / "mutants.toml"
    mutants.write_text("[one_is_missing]\nold = '3 * x'\nnew = '2 * x'\n")

    result = run("verify", status=1)

    assert "the solution has no code as `old` of the mutant one_is_missing" in result.output


def test_verify_names_a_mutant_that_does_not_run_beside_other_exercises(place: Path) -> None:
    run("new-exercise", "02.softmax")
    mutants = place / "checks" / tiny.NAME / "mutants.toml"
    mutants.write_text("[one_is_missing]\ncode = 'double = double'\n")

    result = run("verify", "--seeds", "2", status=1)

    assert "the mutant one_is_missing of 01.double stops without its own notebook" in result.output


@pytest.mark.parametrize("part", ["0/2", "3/2", "x", "1/"])
def test_a_shard_that_makes_no_sense_is_refused(part: str, place: Path) -> None:
    assert "such as 2/5" in run("grade", hand_in(place), "--shard", part, status=2).output


def test_dask_says_what_is_missing(place: Path) -> None:
    result = run("grade", hand_in(place), "--engine", "dask", status=1)

    assert "--scheduler tcp://" in result.output


@pytest.mark.parametrize(
    ("findings", "summary", "mend"),
    [
        ([], "cannot be shut in: level 0", "grade on Linux"),
        ([Finding(Walls(), "unshare: no")], "cannot be shut in: level 0", "apt install bubblewrap"),
        ([Finding(Walls(), "libseccomp.so.2 is not installed.")], "level 0", "libseccomp2"),
        (
            [
                Finding(Walls(), "unshare: no"),
                Finding(Walls(namespaces=False, bubblewrap=True), "setting up uid map: no"),
                Finding(Walls(namespaces=False), ""),
            ],
            "can be shut in: level 1 confined (Landlock, seccomp)",
            "allow user namespaces (unshare: no; bubblewrap: setting up uid map: no)",
        ),
    ],
)
def test_the_doctor_names_the_level_and_how_to_mend_it(
    findings: list[Finding], summary: str, mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: findings)

    state, finding, hint = commands.isolation()

    assert state == "optional"
    assert summary in finding
    assert mend in hint


def test_the_doctor_names_a_wall_that_does_not_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [Finding(Walls(user=64_001), "another user cannot read it"), Finding(Walls(), "")]
    monkeypatch.setattr(sandbox, "probe", lambda: findings)

    state, finding, hint = commands.isolation()

    assert state == "optional"
    assert "level 2" in finding
    assert "What does not stand: a user of its own (another user cannot read it)" in finding
    assert "ordinary user" in hint


def test_the_doctor_has_nothing_to_mend_where_the_best_walls_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "probe", lambda: [Finding(Walls(), "")])

    assert commands.isolation() == (
        "ok",
        "submissions can be shut in: level 2 sandboxed (namespaces, Landlock, seccomp)",
        "",
    )


# -- Learners --------------------------------------------------------------------------------------


@pytest.fixture
def begun(place: Path) -> Path:
    run("build")
    run("start", "01.double")
    return place / "autodiff-kit-exercises"


def write(begun: Path, code: str) -> None:
    (begun / f"{tiny.NAME}.ipynb").write_bytes(tiny.notebook((code, tiny.SOLVING)))


def test_list_names_the_exercises(place: Path) -> None:
    listed = run("list").output
    assert "01.double" in listed and "lesson" in listed


def test_the_link_to_the_lesson_leads_to_the_learners_own_lessons(begun: Path) -> None:
    released = begun.parent / "release" / tiny.NAME / f"{tiny.NAME}.ipynb"
    text = released.read_text().replace("double", "[none](../../../notebooks/none.ipynb)", 1)
    released.write_text(text)

    run("reset", "01.double")  # without lessons: words, and no link that leads nowhere
    words = (begun / f"{tiny.NAME}.ipynb").read_text()
    (begun.parent / "autodiff-kit-lessons").mkdir()
    (begun.parent / "autodiff-kit-lessons" / "none.ipynb").touch()
    run("reset", "01.double")

    assert "notebooks/none" not in words and words == text.replace(
        "[none](../../../notebooks/none.ipynb)", "none"
    )
    assert "](../autodiff-kit-lessons/none.ipynb)" in (begun / f"{tiny.NAME}.ipynb").read_text()


def test_start_never_overwrites(begun: Path) -> None:
    write(begun, tiny.WRONG)

    assert "You have begun it" in run("start", "01.double").output
    assert "2 * x" in (begun / f"{tiny.NAME}.ipynb").read_text()


def test_check_says_what_is_wrong_and_then_that_the_grade_uses_other_inputs(begun: Path) -> None:
    untouched = run("check", "01.double", status=1).output
    write(begun, tiny.WRONG)
    wrong = run("check", "01.double", status=1).output
    write(begun, tiny.SOLUTION)
    right = run("check", "01.double").output

    assert "not attempted" in untouched
    assert "The one is missing." in wrong
    assert "the grade uses other inputs" in right


def test_hints_come_one_at_a_time_and_begin_again(begun: Path) -> None:
    hints = [run("hint", "01.double").output.strip() for _ in range(3)]

    assert hints == ["Hint 1 of 2: Two times.", "Hint 2 of 2: Plus one.", "Hint 1 of 2: Two times."]


def in_notebook(begun: Path, monkeypatch: pytest.MonkeyPatch, *cells: str) -> object:
    """Run cells as a notebook in the folder of exercises does, and return what the last shows."""
    monkeypatch.chdir(begun)
    shell: dict[str, object] = {"In": [""], "check": feedback.check, "hint": feedback.hint}
    for cell in cells:
        shell["In"] = [*shell["In"], cell]  # type: ignore[misc]
        *lines, last = cell.split("\n")
        if not last.startswith(("check", "hint")):
            exec(cell, shell)
            continue
        exec("\n".join(lines), shell)
        value = eval(last, shell)
    return value


def test_checks_and_hints_of_the_notebook_count_as_those_of_the_command_line(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "'01.double'"
    in_notebook(begun, monkeypatch, tiny.SOLUTION, f"check({key})", f"hint({key})")
    monkeypatch.chdir(begun.parent)
    status = run("status").output
    following = run("hint", "01.double").output
    last = in_notebook(begun, monkeypatch, f"hint({key})")
    again = in_notebook(begun, monkeypatch, f"hint({key})")
    monkeypatch.chdir(begun.parent)

    assert "3 of 3" in status and "1 of 2" in status
    assert following == "Hint 2 of 2: Plus one.\n"
    assert "That was the last hint" in str(last) and "Hint 1 of 2" in str(again)
    assert "2 of 2" in run("status").output


def test_in_one_cell_what_was_said_first_is_shown_with_what_is_said_last(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, hint = "check('01.double')", "hint('01.double')"
    below = in_notebook(begun, monkeypatch, tiny.WRONG, f"{check}\n{hint}")
    above = in_notebook(begun, monkeypatch, tiny.WRONG, f"{hint}\n{check}")
    alone = in_notebook(begun, monkeypatch, tiny.WRONG, check, hint)

    for cell_output, number in ((below, 1), (above, 2)):
        for text in (repr(cell_output), cell_output._repr_html_()):  # type: ignore[attr-defined]
            assert "0 of 3 points" in text and f"Hint {number} of 2" in text
    assert repr(alone).startswith("That was the last hint")


def test_a_step_whose_cell_was_not_run_is_told_so_in_the_notebook(
    begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = in_notebook(begun, monkeypatch, "check('01.double')")

    monkeypatch.chdir(begun.parent)
    assert "0 of 3" not in run("status").output  # nothing was checked: an earlier check stays
    assert "Not found: `double`." in repr(message)
    assert "Run the cells above first. Run All stops at an example that fails" in repr(message)


def test_a_renamed_notebook_is_named_and_no_empty_one_is_begun_beside_it(begun: Path) -> None:
    write(begun, tiny.SOLUTION)
    (begun / f"{tiny.NAME}.ipynb").rename(begun / "mine.ipynb")
    (begun / "other.ipynb").write_bytes(tiny.notebook("x = 1"))

    for command in ("check", "submit", "start"):
        output = run(command, "01.double", status=1).output
        assert "but mine.ipynb has its cells" in output
        assert f"rename it: {tiny.NAME}.ipynb" in output
    (begun / "mine.ipynb").rename(begun / f"{tiny.NAME}.ipynb")
    assert "3 of 3" in run("submit", "01.double").output


def test_work_that_was_reset_is_no_renamed_notebook(begun: Path) -> None:
    run("reset", "01.double")
    (begun / f"{tiny.NAME}.ipynb").unlink()

    assert "Yours:" in run("start", "01.double").output


@pytest.mark.parametrize("key", ["double", "1", "01", "e01_double", "e01_double.ipynb"])
def test_an_exercise_may_be_named_in_any_plain_way(begun: Path, key: str) -> None:
    assert "Your work: " in run("check", key, status=1).output


@pytest.mark.parametrize("key", ["01.duoble", "e01-double"])
def test_an_exercise_that_is_nearly_named_is_suggested(begun: Path, key: str) -> None:
    assert "Did you mean 01.double?" in run("start", key, status=1).output


def test_reset_keeps_the_old_work(begun: Path) -> None:
    for code in (tiny.WRONG, tiny.SOLUTION):
        write(begun, code)
        run("reset", "01.double")

    assert "NotImplementedError" in (begun / f"{tiny.NAME}.ipynb").read_text()
    assert "2 * x + 1" in (begun / f"{tiny.NAME}-old2.ipynb").read_text()
    assert (begun / f"{tiny.NAME}-old1.ipynb").exists()


def test_submit_packs_the_work_with_its_hash_and_the_grader_takes_it(begun: Path) -> None:
    write(begun, tiny.SOLUTION)
    output = run("submit", "01.double").output
    packed = begun / f"{tiny.NAME}-submit.zip"
    with zipfile.ZipFile(packed) as archive:
        data = archive.read(f"{tiny.NAME}.ipynb")
        receipt = json.loads(archive.read("receipt.json"))
    graded = begun.parent / "in"
    graded.mkdir()
    packed.rename(graded / "ada.zip")

    result = run("grade", graded, "--allow-level", "0", "--workers", "1")

    assert receipt["sha256"] == hashlib.sha256(data).hexdigest()
    assert receipt["sha256"] in output
    assert "1 graded now" in result.output
    assert "3 of 3" in run("show", "ada").output


def test_a_change_of_the_given_code_is_told_once_by_check_and_submit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exercise = open_course().exercise("03.order")
    changed = exercise.given.replace("self.inputs = inputs", "self.inputs = list(inputs)")
    cells = ((changed, {"grade_id": "e03-given", "locked": True}), exercise.solution)
    (tmp_path / f"{exercise.name}.ipynb").write_bytes(tiny.notebook(*cells))
    shell = {"In": [exercise.given, changed, exercise.solution], "check": feedback.check}

    outputs = [run(command, "03.order", "--folder", ".").output for command in ("check", "submit")]
    exec("shown = check('03.order')", shell)

    for text in (*outputs, repr(shell["shown"]), shell["shown"]._repr_html_()):
        assert text.count("Your change is not used") == 1
    assert "You changed `Node` in the given code." in outputs[0]
    unchanged = feedback.Feedback(exercise, shell["shown"].result)
    assert "You changed" not in repr(unchanged)


def test_submit_says_what_it_is_worth_and_where_the_file_goes(begun: Path) -> None:
    write(begun, tiny.WRONG)
    output = run("submit", "01.double").output

    assert "By your own check: 0 of 3 points." in output
    assert "Nothing has been sent." in output
    assert "where your course collects work" in output


def test_a_course_says_where_its_work_is_handed_in(begun: Path) -> None:
    course = begun.parent / "course.toml"
    course.write_text(f'hand_in = "Week 3 in Moodle."\n{course.read_text()}')
    write(begun, tiny.SOLUTION)

    assert "Week 3 in Moodle." in run("submit", "01.double").output


def test_untouched_work_is_not_packed_unasked(begun: Path) -> None:
    refused = run("submit", "01.double", status=1).output
    is_packed = (begun / f"{tiny.NAME}-submit.zip").exists()
    run("submit", "01.double", "--yes")

    assert "numbers: not attempted (0 of 1 points)" in refused
    assert "arrays: not attempted (0 of 2 points)" in refused
    assert "Nothing is done yet, so nothing was packed." in refused
    assert not is_packed
    assert (begun / f"{tiny.NAME}-submit.zip").exists()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x = 1", "No step was found, so nothing was packed."),
        ("double = [] + 1", "Some cells do not run, so nothing was packed."),
    ],
)
def test_work_that_is_not_found_or_does_not_run_is_not_packed_unasked(
    begun: Path, code: str, words: str
) -> None:
    write(begun, code)

    assert words in run("submit", "01.double", status=1).output
    assert not (begun / f"{tiny.NAME}-submit.zip").exists()


@pytest.mark.parametrize(("answer", "is_packed"), [("n", False), ("", False), ("y", True)])
def test_somebody_who_sits_there_is_asked(
    begun: Path, answer: str, is_packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit_command, "_is_somebody_there", lambda: True)

    result = CliRunner().invoke(cli, ["submit", "01.double"], input=f"{answer}\n")

    assert "Pack it all the same? [y/N]" in result.output
    assert (begun / f"{tiny.NAME}-submit.zip").exists() == is_packed
    assert result.exit_code == (not is_packed)


def test_status_says_what_is_so_and_no_more(begun: Path) -> None:
    untouched = run("status").output
    write(begun, tiny.SOLUTION)
    before = run("status").output
    run("check", "01.double")
    run("submit", "01.double")
    packed = run("status").output
    write(begun, tiny.WRONG)
    later = run("status").output

    assert "not begun" in untouched
    assert "begun" in before and "not begun" not in before
    assert "3 of 3" in packed
    assert "packed for handing in" in packed
    assert "changed since it was packed" in later
    assert all("handed in" not in output for output in (untouched, before, packed, later))


def test_an_exercise_with_a_hint_is_begun(begun: Path) -> None:
    run("hint", "01.double")

    assert "not begun" not in run("status").output


def test_in_a_terminal_the_way_to_a_hint_is_a_command(begun: Path) -> None:
    output = run("check", "01.double", status=1).output

    assert "autodiff-kit hint 01.double" in output
    assert "hint(" not in output


def test_progress_that_cannot_be_read_counts_as_none(begun: Path) -> None:
    (begun / ".autodiff-kit-exercises.json").write_text("[]")

    assert "Hint 1" in run("hint", "01.double").output


def test_work_that_was_not_begun_is_named_with_the_command(place: Path) -> None:
    assert "autodiff-kit start 01.double" in run("check", "01.double", status=1).output


def test_an_unknown_exercise_is_answered_with_those_there_are(place: Path) -> None:
    unknown = run("start", "99.nothing", status=1).output
    assert "There are: 01.double" in unknown
    assert "your teacher has its checks: hand in the notebook." in unknown
