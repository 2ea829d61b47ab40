"""A teacher's own exercise: what `new-exercise` writes works at once, and nothing is lost."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autodiff_kit.cli import cli
from autodiff_kit.grading import sandbox
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.template import begin
from tests.gate import IN_THE_GATE
from tests.grading import tiny


def run(*words: str | Path, status: int = 0) -> Result:
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == status, result.output
    return result


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one exercise, with the current folder in it."""
    folder = tmp_path / "course"
    tiny.make_course(folder)
    monkeypatch.chdir(folder)
    return folder


def all_files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_it_writes_can_be_built_verified_graded_and_tried_at_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "probe", list)  # whether walls stand is another test's question
    output = run("new-exercise", "02.softmax", "--title", 'A "share" for each').output
    name = "e02_softmax"

    run("build")
    seeds = () if IN_THE_GATE else ("--seeds", "20")
    verified = run("verify", "02.softmax", *seeds).stdout  # progress goes elsewhere
    handed_in = place / "submitted" / "ada" / name
    shutil.copytree(place / "source" / name, handed_in)
    shutil.copytree(place / "release" / name, place / "submitted" / "bob" / name)
    run("grade", "submitted", "--allow-level", "0", "--workers", "1")
    listed = run("list").output
    run("start", "02.softmax")
    tried = run("check", "02.softmax", status=1).output

    assert "autodiff-kit verify 02.softmax" in output
    assert verified.splitlines()[1].split()[0] == "02.softmax"
    assert verified.splitlines()[1].split()[-1] == "ok"
    assert "4 of 4" in run("show", "ada").output
    assert "not attempted" in run("show", "bob").output
    assert 'A "share" for each' in listed
    assert "not attempted yet" in tried


def test_one_that_is_performed_is_of_its_own_name_and_is_graded(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "probe", list)  # whether walls stand is another test's question
    name = "e02_two_passes"

    run("new-exercise", "02.two_passes", "--perform", "--title", 'Two "passes"')
    run("build")
    for student, part in (("ada", "source"), ("bob", "release")):
        shutil.copytree(place / part / name, place / "submitted" / student / name)
    run("grade", "submitted", "--allow-level", "0", "--workers", "1")

    assert 'Two "passes"' in run("list").output
    assert "10 of 10" in run("show", "ada").output
    assert "not attempted" in run("show", "bob").output
    texts = [path.read_text("utf-8") for path in place.rglob(f"{name}/**/*") if path.is_file()]
    assert len(texts) > 6
    assert not any("17.one_pass" in text or "e17" in text for text in texts)


def test_its_notebook_has_a_test_cell_with_hidden_tests_for_each_check(place: Path) -> None:
    begin(place, "02.softmax")

    notebook = json.loads((place / "source/e02_softmax/e02_softmax.ipynb").read_text("utf-8"))
    tests = [
        "".join(cell["source"])
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade")
    ]

    checks = open_course(place).exercise("02.softmax").checks
    assert len(tests) == len(checks)
    for check, test in zip(checks, tests, strict=True):
        assert f'hidden_test("02.softmax", "{check.name}", globals())' in test


def test_build_brings_the_hidden_tests_in_line_with_the_checks(place: Path) -> None:
    begin(place, "02.softmax")
    source = place / "source/e02_softmax/e02_softmax.ipynb"
    right = source.read_bytes()
    source.write_bytes(right.replace(b'\\"Vector\\"', b'\\"Older\\"'))
    run("build", "--check", status=1)

    run("build")

    assert source.read_bytes() == right


def test_it_stands_in_the_course_behind_those_that_were_there(place: Path) -> None:
    begin(place / "checks", "02.softmax")  # a folder inside of the course will do
    begin(place, "09.last")

    assert open_course(place).names == (tiny.NAME, "e02_softmax", "e09_last")


@pytest.mark.parametrize(
    "text",
    [
        'exercises = []\ntitle = "A [good] course"\n',
        "title = 'x'\nexercises = [\n]  # [none] yet, \"soon\"\n",
        'title = "x"\nexercises = [\n    # the first ones ]\n]\n',
        '# exercises = ["old"]\ntitle = "x"\nexercises=[]\n[more]\nlist = ["a"]\n',
    ],
)
def test_the_list_of_a_course_keeps_its_comments(text: str, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(text)

    begin(tmp_path, "01.softmax")

    after = (tmp_path / "course.toml").read_text()
    assert open_course(tmp_path).names == ("e01_softmax",)
    assert after.replace('\n    "e01_softmax",', "").replace('"e01_softmax"', "").split() == (
        text.split()
    )


@pytest.mark.parametrize("key", ["softmax", "2.softmax", "02.", "02.Soft max", "02.../x", "٢٢.x"])
def test_a_wrong_id_is_explained_and_nothing_is_written(key: str, place: Path) -> None:
    before = all_files(place)

    output = run("new-exercise", key, status=1).output

    assert "such as 02.softmax" in output
    assert all_files(place) == before


def test_a_number_that_is_taken_is_answered_with_one_that_is_free(place: Path) -> None:
    before = all_files(place)

    for key in ("01.double", "01.other"):
        output = run("new-exercise", key, status=1).output
        assert f"belongs to {tiny.NAME}" in output
        assert "-> The next free one is 02" in output

    assert all_files(place) == before


def test_folders_that_are_there_already_are_left_as_they_are(place: Path) -> None:
    (place / "checks" / "e02_softmax").mkdir()
    (place / "checks" / "e02_softmax" / "checks.py").write_text("# mine")
    before = all_files(place)

    output = run("new-exercise", "02.softmax", status=1).output

    assert "it was left as it is" in output
    assert all_files(place) == before


def test_a_folder_that_is_no_course_is_told_how_to_become_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    output = run("new-exercise", "01.softmax", status=1).output
    recipe = [line.strip() for line in output.splitlines() if " = " in line]
    nothing = all_files(tmp_path)
    (tmp_path / "course.toml").write_text("\n".join(recipe))
    run("new-exercise", "01.softmax")

    assert "is no course" in output
    assert nothing == {}
    assert open_course(tmp_path).names == ("e01_softmax",)


def test_a_course_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("exercises = [")

    with pytest.raises(ExerciseError, match="Cannot read the course in"):
        begin(tmp_path, "01.softmax")
