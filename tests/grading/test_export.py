"""What other systems read, and what a hostile name can do in it: nothing."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.export import FORMATS, cell, export, histogram
from autodiff_kit.grading.results import UNGRADED, Grade, Mark
from autodiff_kit.grading.store import Store
from tests.grading import tiny
from tests.grading.graded import TITLES, graded

HOSTILE = "=cmd|'/c calc'!A1\x1b[2J<script>alert(1)</script>"


CLASS = [
    graded("4711", "e01_double", 2, 1, name="Ada L"),
    graded("bob", "e01_double", 0, 0),
    graded("bob", "e02_triple", 2, status="fault"),
]


def rows(form: str, folder: Path, grades: list[Grade] = CLASS) -> list[list[str]]:
    path = export(grades, form, folder, TITLES)
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_the_long_form_has_a_line_for_each_step(tmp_path: Path) -> None:
    head, *lines = rows("csv", tmp_path)

    assert head[:8] == ["student", "name", "exercise", "step", "points", "max", "status", "message"]
    assert lines[1][:9] == [
        *("4711", "Ada L", "e01_double", "step1", "1", "2.0", "wrong", "msg", "2 sandboxed"),
    ]
    assert len(lines) == 5
    assert (head[-1], lines[1][-1]) == ("text", "Ada L")  # why, with the points that were lost


def test_canvas_has_its_columns_and_the_points_possible(tmp_path: Path) -> None:
    assert rows("canvas", tmp_path) == [
        [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            *(t for t, _ in TITLES.values()),
        ],
        ["    Points Possible", "", "", "", "", "3.0", "5.0"],
        ["Ada L", "4711", "", "", "", "3", ""],
        ["bob", "", "", "bob", "", "0", ""],
    ]


def test_moodle_has_its_identifier(tmp_path: Path) -> None:
    lines = rows("moodle", tmp_path)

    assert lines[0][3:] == ["01.double Double", "02.triple Triple", *lines[0][5:]]
    assert lines[0][5:] == ["01.double Double (feedback)", "02.triple Triple (feedback)"]
    assert lines[1][:5] == ["Participant 4711", "4711", "Ada L", "3", ""]
    assert lines[1][5:] == ["[step0: 2 of 2] Ada L / [step1: 1 of 2] Ada L", ""]
    assert lines[2][:5] == ["", "bob", "bob", "0", ""]


def test_nbgrader_has_its_columns(tmp_path: Path) -> None:
    head, first, *_ = rows("nbgrader", tmp_path)

    assert dict(zip(head, first, strict=True)) | {"duedate": ""} == {
        "assignment": "e01_double",
        "duedate": "",
        "timestamp": "",
        "student_id": "4711",
        "last_name": "Ada L",
        "first_name": "",
        "email": "",
        "raw_score": "3",
        "late_submission_penalty": "0.0",
        "score": "3",
        "max_score": "4.0",
    }


def test_gradescope_has_a_result_for_each(tmp_path: Path) -> None:
    folder = export(CLASS, "gradescope", tmp_path, TITLES)
    paths = sorted(folder.rglob("results.json"))
    first = json.loads(paths[0].read_text(encoding="utf-8"))

    assert len(paths) == 3
    assert (first["score"], len(first["tests"])) == (3, 2)
    assert first["tests"][1] | {"output": ""} == {
        "name": "step1",
        "score": 1,
        "max_score": 2.0,
        "output": "",
        "output_format": "text",
        "visibility": "visible",
    }


def test_junit_counts_failures_and_errors(tmp_path: Path) -> None:
    suites = ElementTree.parse(export(CLASS, "junit", tmp_path, TITLES)).getroot()

    assert [(s.get("name"), s.get("tests"), s.get("failures")) for s in suites] == [
        ("e01_double", "4", "3"),
        ("e02_triple", "1", "0"),
    ]


@pytest.mark.parametrize(
    "start", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "|x", "%x"]
)
def test_no_text_begins_a_formula(start: str) -> None:
    assert str(cell(start)).startswith(("'", "\\"))


@pytest.mark.parametrize("between", [",", ";", "\t", "|", "\n", '"', ", ", ";  ", "';", ";;"])
@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1"])
def test_no_text_begins_a_formula_where_it_is_parted_elsewhere(between: str, start: str) -> None:
    text = str(cell(f"x{between}{start}"))

    parts = [part.strip(' "') for part in re.split(r"[,;|\t\n\"]", text)]
    assert not [part for part in parts if part.startswith(tuple("=+-@\uff1d"))]


@pytest.mark.parametrize("name", ["Ada - L", "O'Neil, Ann-Marie", "a;b", "C++", "x = 1", "1-2"])
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert cell(name) == name


def test_gradescope_gets_text_as_text(tmp_path: Path) -> None:
    odd = graded("ada", "e01_double", 0, name="a < b & c's")

    folder = export([odd], "gradescope", tmp_path, TITLES)
    (path,) = folder.rglob("results.json")
    (test,) = json.loads(path.read_text(encoding="utf-8"))["tests"]

    assert (test["output"], test["output_format"]) == ("a < b & c's", "text")


def test_numbers_stay_numbers() -> None:
    assert cell(-1.5) == -1.5


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "1.5"),
        (["--delimiter", "semicolon"], "1,5"),  # as the spreadsheets write it that want these
        (["--delimiter", "semicolon", "--decimal", "point"], "1.5"),
        (["--decimal", "comma"], '"1,5"'),
    ],
)
def test_a_number_has_its_decimals_as_the_spreadsheet_writes_them(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny.make_course(tmp_path / "course").folder)
    with Store(Path("results/results.sqlite")) as store:
        store.add([graded("ada", tiny.NAME, 1.5).attempt])

    result = CliRunner().invoke(cli, ["export", "table", *words])

    assert result.exit_code == 0, result.output
    first = Path("table.csv").read_text(encoding="utf-8").splitlines()[1]
    between = ";" if "semicolon" in words else ","
    assert first.startswith(f"ada{between}{between}{expected}{between}")


def test_a_learner_reads_in_moodle_what_was_said_and_no_formula_begins(tmp_path: Path) -> None:
    mark = Mark("step0", 1, 2, "wrong", "m", 'You gave [1.0, -2.0]; =1+1 | it\'s "x", @SUM(A1)')
    waiting = Mark("why", 0, 2, UNGRADED, "", "", answer="Because.")
    grade = replace(graded("ada", "e01_double", 2), marks=(mark, waiting))

    export([grade], "moodle", tmp_path, TITLES)
    with open(tmp_path / "moodle.csv", encoding="utf-8", newline="") as file:
        *_, text, _ = list(csv.reader(file))[1]

    visible = text.replace("\u2060", "")  # WORD JOINER, which cannot be seen
    assert visible == f"[step0: 1 of 2] {mark.text} / [why: not graded yet]"
    parts = [part.strip(' "') for part in re.split(r"[,;|\t\"]", text)]
    assert not [part for part in parts if part.startswith(tuple("=+-@"))]


@pytest.mark.parametrize("form", FORMATS)
def test_a_hostile_name_is_harmless_in_every_format(form: str, tmp_path: Path) -> None:
    hostile = graded("../../" + HOSTILE, "e01_double", 0, name=HOSTILE)

    path = export([hostile], form, tmp_path / "out", TITLES)
    files = [path] if path.is_file() else sorted(path.rglob("*.json"))
    text = "".join(file.read_text(encoding="utf-8") for file in files)

    assert files
    assert "\x1b" not in text
    assert ",=" not in text and not text.startswith("=")
    if path.suffix != ".csv":  # a spreadsheet shows marks of HTML as they are
        # Gradescope shows what is called "text" as text.
        assert "<script>" not in text or '"output_format": "text"' in text
    assert {p.name for p in tmp_path.iterdir()} == {"out"}


def test_the_histogram_counts_and_is_well_formed_with_hostile_text() -> None:
    svg = histogram(CLASS, "e01_double", HOSTILE, {"msg": "<b>&"})
    root = ElementTree.fromstring(svg)
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]

    assert "<b>&" in texts  # as text, not as a mark
    assert texts.count("1") == 2  # 3 of 4 points, and 0 of 4
    assert "2" in texts  # two learners were given the message, one of them twice


def test_a_long_mistake_is_cut_between_words_and_the_picture_fits_a_narrow_window() -> None:
    words = "the gradient of every leaf " * 10
    root = ElementTree.fromstring(histogram(CLASS, "e01_double", "Double", {"msg": words}))

    (line,) = (e.text for e in root.iter() if (e.text or "").startswith("the gradient"))
    assert line.endswith(" ...") and words.startswith(line.removesuffix("...").strip() + " ")
    assert root.get("viewBox") and "max-width: 100%" in root.get("style", "")
