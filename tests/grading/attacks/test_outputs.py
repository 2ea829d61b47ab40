"""One hostile class, and all that a teacher's commands make of it: pages, tables, terminal, rows.

Each learner puts a text where the grader takes one over: into a name, an error, an answer in words,
code, or the name of a file. No text is markup, a formula or a command anywhere; no learner takes
another's place; and no row, seed or attempt is lost or gained.
"""

from __future__ import annotations

import csv
import html.parser
import io
import itertools
import json
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.results import Attempt, Grade
from autodiff_kit.grading.store import Store
from tests.grading import tiny
from tests.grading.in_words import MODEL, RUBRIC, notebook_of

TEXTS = {
    "script": "<script>alert(1)</script>",
    "picture": "<img src=x onerror=alert(1)>",
    "drawing": "<svg onload=alert(1)><animate onbegin=alert(1)>",
    "end of the page": "</p></div></section></body></html><h1>10 of 10",
    "attribute": "' onmouseover='alert(1)' x='",
    "attribute in double quotes": '" onfocus="alert(1)" autofocus x="',
    "style": "</style><style>*{display:none}</style>",
    "comment": "<!-- --!> <!--><x>",
    "character data": "]]><x/>",
    "entities": "&lt;b&gt; &#60;script&#62; &unknown;",
    "code within backticks": "`<b>` `<script>` ` ``",
    "link": "[x](javascript:alert(1)) <a href=javascript:alert(1)>",
    "frame": "<iframe srcdoc='<script>1</script>'><base href=//evil.example>",
    "formula": "=1+1",
    "command of a spreadsheet": "=cmd|' -C calc'!A0",
    "plus": "+1+cmd",
    "minus": "-2+3",
    "function of a spreadsheet": "@SUM(1)",
    "wide formula": "\uff1d1+1",
    "formula behind a blank": " \t=1+1",
    "formula behind a comma": "x,=1+1",
    "formula behind a semicolon": "x;=1+1",
    "formula behind a quote": '"=1+1',
    "formula on a line of its own": "x\n=1+1\r=2+2",
    "screen": "\x1b[2J\x1b[H10 of 10",
    "title of the window": "\x1b]0;evil\x07",
    "eight-bit escape": "\x9b31mred\x9d0;x\x9c",
    "overwriting": "3 of 3\r0 of 3\x08\x08",
    "from right to left": "\u202e3 fo 0\u202c\u2066x",
    "lines of other kinds": "x\u2028=1\u2029=2\x0b=3\x0c=4\x85=5",
    "no width": "a\u200bd\u2060a\ufeff",
    "markup of the terminal": "[bold red]x[/] [/red] [link=https://evil.example]x[/link]",
    "format": "%s %(name)s {0} {name!r} ${HOME} $(id)",
    "option": "--help",
    "json": '"}],"points":99,"x":[{"',
    "sql": "x'); drop table attempts; --",
    "very long": "x" * 5_000,
}
# Where each text is put.
NAME, ERROR, ANSWER, CODE, FILE = "name", "error", "answer", "code", "file"
PLACES = (NAME, ERROR, ANSWER, CODE, FILE)
DISGUISES = {  # folders that look like ada's, or ask to be read as hers
    "capital": "Ada",
    "blank behind": "ada ",
    "another alphabet": "\u0430da",
    "wide letter": "\uff41da",
    "no width": "ada\u200b",
    "mark of a copy": "ada (1)",
    "mark of a disguise": "ada~abcdef",
    "id": "id:ada",
    "all": "all",
    "match": "ada=bob",
    "nothing said": "ada=",
    "home": "~",
    "canvas": "ada_1_2_e01_double",
    "moodle": "ada_1_assignsubmission_file_",
    "step": "ada:numbers",
    "below": "ada\\..\\bob",
}


@dataclass
class Outputs:
    """What came of the class."""

    grades: dict[str, Grade]
    attempts: list[Attempt]
    pages: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    terminal: dict[str, str] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    folders: list[str] = field(default_factory=list)


def called(text: str, number: int) -> str:
    """Return a text as the name of a folder, as far as a file system takes it."""
    return re.sub(r"[/\0]", "_", text)[:50] + f"k{number:03}"


def work(place: str, text: str, number: int) -> bytes:
    """Return a notebook that says a text in some place; it is all right but for that."""
    answer = text if place == ANSWER else "Mine."
    code = tiny.SOLUTION
    if place == ERROR:
        code = (
            f"class {'E' * 3}(ValueError): pass\nEEE.__name__ = EEE.__qualname__ = {text!r}\n"
            f"def double(x):\n    print({text!r})\n    raise EEE({text!r})  # {text!a}\n"
        )
    if place == CODE:  # two have this one in common
        lines = "\n".join(f"    y{k} = x * {k} + {number // 2}" for k in range(12))
        code = f"def double(x):\n    s = {text!r}\n{lines}\n    return 2 * x + 1\n"
    return notebook_of(f"{code}\n# {number}", answer)


def hand_in(place: Path, name: str, data: bytes, file: str = f"{tiny.NAME}.ipynb") -> None:
    folder = place / os.fsencode(name).decode("utf-8", "surrogateescape") / tiny.NAME
    folder.mkdir(parents=True)
    (folder / file).write_bytes(data)


def make_class(place: Path) -> list[str]:
    """Write the class; return the names of its folders."""
    number = 0
    hand_in(place, "ada", notebook_of(f"{tiny.SOLUTION}# ada", "Hers."))
    for at, (_, text) in itertools.product(PLACES, TEXTS.items()):
        for _ in range(1 + (at == CODE)):
            number += 1
            name = called(text, number) if at == NAME else f"k{number:03}"
            file = f"{called(text, number)}.ipynb" if at == FILE else f"{tiny.NAME}.ipynb"
            hand_in(place, name, work(at, text, number), file)
    for number, disguise in enumerate(DISGUISES.values()):
        hand_in(place, disguise, notebook_of(f"{tiny.WRONG}# {number}", f"Not hers {number}."))
    return sorted(path.name for path in place.iterdir())


PROGRESS = (
    {"answers": {text: {"right": True} for text in TEXTS.values()}},
    {"answers": {f"q{n}": {"right": False} for n in range(50_000)}},
    {text: {"shown": [0, 1, 10**9, -1, 0.5, True]} for text in TEXTS.values()},
    {f"{n}.x": {"shown": [*range(100)]} for n in range(2_000)},
    {"01.double": {"shown": [0]}},
    {"answers": {"q": {"right": 10**400}}},
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    folder = tmp_path_factory.mktemp("outputs")
    course = folder / "course"
    tiny.make_course(course)
    (course / "checks" / tiny.NAME / "questions.toml").write_text(RUBRIC)
    source = course / "source" / tiny.NAME / f"{tiny.NAME}.ipynb"
    source.write_bytes(notebook_of(tiny.MARKED, MODEL))
    folders = make_class(folder / "submitted")
    for number, facts in enumerate(PROGRESS):
        path = folder / "progress" / f"{number}.autodiff-kit-exercises.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(facts))
    (folder / "class.csv").write_text(
        "\n".join(["Name,Login", "Ada,ada", *(f"Learner {n},k{n:03}" for n in range(200))])
    )
    results = ("--results", str(folder / "results"))
    where = ("--course", str(course))

    def run(*words: str, typed: str = "") -> str:
        done = CliRunner().invoke(cli, [*words, *where], input=typed)
        assert done.exit_code == 0, done.output
        return done.output

    graded = run(
        *("grade", str(folder / "submitted"), "--out", results[1], "--workers", "1"),
        *("--allow-level", "0"),
    )
    with Store(folder / "results" / "results.sqlite") as store:
        result = Outputs(
            {grade.student: grade for grade in store.grades()},
            list(store.attempts()),
            folder=folder,
            folders=folders,
        )
    result.terminal = {
        "grade": graded,
        "mark": run("mark", *results, typed="s\n" * 300),
        "similar": run("similar", *results, "--to", str(folder / "alike.html")),
        "show": "".join(
            run("show", f"id:{student}", *results[:2])
            for student in list(result.grades)[:: len(result.grades) // 40]
        ),
        "list": run(
            *("export", "table", "--roster", str(folder / "class.csv"), "--to", str(folder / "t")),
            *results,
        ),
        "report": run(
            *("report", "--to", str(folder / "report.html"), *results),
            *("--progress", str(folder / "progress")),
        ),
    }
    run("feedback", "--to", str(folder / "feedback"), *results)
    run("feedback", "nbgrader", "--to", str(folder / "nbgrader"), *results)
    for path in (*folder.glob("*.html"), *(folder / "feedback").iterdir()):
        result.pages[path.name] = path.read_text(encoding="utf-8")
    for form, delimiter in itertools.product(
        ("csv", "table", "canvas", "moodle", "nbgrader"), ("comma", "semicolon")
    ):
        to = folder / delimiter
        run("export", form, "--to", str(to), "--delimiter", delimiter, *results)
        result.tables[f"{form} {delimiter}"] = (
            to / f"{'grades' if form == 'csv' else form}.csv"
        ).read_text(encoding="utf-8")
    run("export", "junit", "--to", str(folder), *results)
    run("export", "gradescope", "--to", str(folder), *results)
    result.others["junit"] = (folder / "junit.xml").read_text(encoding="utf-8")
    return result


# -- Pages -----------------------------------------------------------------------------------------

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4", "p", "b"),
    *("span", "div", "section", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "ul"),
    *("li", "figure", "figcaption", "svg", "rect", "line", "text", "i", "em"),
}


class Markup(html.parser.HTMLParser):
    """What of a page is markup."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.comments: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_is_markup_on_any_page(text: str, outputs: Outputs) -> None:
    number = list(TEXTS).index(text) + 1
    own = {f"k{number + k * len(TEXTS):03}" for k in range(len(PLACES) + 1)}
    pages = [page for name, page in outputs.pages.items() if any(k in name for k in own)]

    assert len(pages) >= 5
    for page in pages:
        markup = Markup(page)
        assert set(markup.tags) <= TAGS and not markup.comments
        assert not {a for a in markup.attributes if a.startswith("on") or a in ("href", "src")}
        assert {markup.tags[tag] for tag in ("html", "body", "title", "style", "h1")} == {1}
        assert not [c for c in page if not c.isprintable() and c != "\n"]


@pytest.mark.parametrize("name", ["report.html", "alike.html"])
def test_no_text_is_markup_on_a_page_about_the_class(name: str, outputs: Outputs) -> None:
    page = outputs.pages[name]
    markup = Markup(page)

    assert set(markup.tags) <= TAGS and not markup.comments
    assert not {a for a in markup.attributes if a.startswith("on") or a in ("href", "src")}
    assert {markup.tags[tag] for tag in ("html", "body", "title", "style", "h1")} == {1}
    assert not [c for c in page if not c.isprintable() and c != "\n"]
    assert len(page) < 3 * 10**6


def test_a_learners_files_of_progress_make_a_report_no_longer(outputs: Outputs) -> None:
    page = outputs.pages["report.html"]

    assert "6 files" in page and "1.x" not in page
    assert Markup(page).tags["tr"] < 100


# -- Tables, and other systems' files --------------------------------------------------------------

TABLES = [
    f"{f} {d}"
    for f in ("csv", "table", "canvas", "moodle", "nbgrader")
    for d in ("comma", "semicolon")
]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_no_cell_begins_a_formula_however_a_table_is_parted(
    name: str, delimiter: str, outputs: Outputs
) -> None:
    text = outputs.tables[name]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    cells = [part for row in rows for cell in row for part in (cell, *cell.splitlines())]
    texts = [cell.strip().strip('"').strip() for cell in cells]

    formulas = [t for t in texts if t[:1] in ("=", "+", "-", "@", "\uff1d", "%", "|")]
    assert [t for t in formulas if not re.fullmatch(r"-?[\d.]+", t)] == []
    # Of what cannot be seen, only the sign that keeps Moodle's feedback from beginning a formula.
    without = re.sub(r"\u2060(?=\s*[=+\-@%|\uff1d\uff0b\uff0d\uff20])", "", text)
    assert not [c for c in without if not c.isprintable() and c not in "\r\n"]


def test_a_table_has_one_line_for_each_learner(outputs: Outputs) -> None:
    for name in ("table comma", "canvas comma", "moodle comma", "nbgrader comma"):
        lines = outputs.tables[name].splitlines()
        assert len(lines) - 1 - name.startswith("canvas") == len(outputs.folders)


def test_junit_and_gradescope_get_what_they_can_read(outputs: Outputs) -> None:
    suites = ElementTree.fromstring(outputs.others["junit"])
    cases = suites.findall("testsuite/testcase")
    files = list((outputs.folder / "gradescope").rglob("*"))

    assert len(cases) == 3 * len(outputs.folders)
    assert {case.tag for case in suites.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
    }
    texts = [json.loads(path.read_text()) for path in files if path.is_file()]
    assert len(texts) == len(outputs.folders)
    assert {text["output"] for text in texts} == {"01.double Double"}
    assert all(t["output_format"] == "text" for text in texts for t in text["tests"])


# -- The terminal ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grade", "mark", "similar", "show", "list", "report"])
def test_no_text_is_a_command_of_the_terminal(name: str, outputs: Outputs) -> None:
    text = outputs.terminal[name]

    assert not [c for c in text if not c.isprintable() and c != "\n"]
    assert "\n=1+1" not in text and "\n10 of 10" not in text


# -- Who is who, and what is there -----------------------------------------------------------------


@pytest.mark.parametrize("place", [NAME, ANSWER, CODE, FILE])
@pytest.mark.parametrize("text", TEXTS)
def test_right_work_has_its_points_and_one_row_whatever_it_says(
    place: str, text: str, outputs: Outputs
) -> None:
    start = sum((1 + (p == CODE)) * len(TEXTS) for p in PLACES[: PLACES.index(place)])
    number = 1 + start + list(TEXTS).index(text) * (1 + (place == CODE))
    grades = [g for student, g in outputs.grades.items() if f"k{number:03}" in student]

    assert [(grade.points, grade.attempts) for grade in grades] == [(3, 1)]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_whoever_looks_like_another_is_another(disguise: str, outputs: Outputs) -> None:
    number = list(DISGUISES).index(disguise)
    answers = {
        mark.answer: grade
        for grade in outputs.grades.values()
        for mark in grade.marks
        if mark.answer.startswith("Not hers")
    }

    grade = answers[f"Not hers {number}."]
    assert grade.student != "ada" and (grade.points, grade.attempts) == (0, 1)
    ada = outputs.grades["ada"]
    assert (ada.points, ada.attempts, ada.marks[-1].answer) == (3, 1, "Hers.")


def test_there_is_one_row_for_each_and_no_two_have_one_seed(outputs: Outputs) -> None:
    assert len(outputs.attempts) == len(outputs.grades) == len(outputs.folders)
    assert len({attempt.seed for attempt in outputs.attempts}) == len(outputs.folders)
    assert {attempt.status for attempt in outputs.attempts} == {"graded"}


def test_each_learner_has_a_page_of_their_own(outputs: Outputs) -> None:
    pages = {name.casefold() for name in os.listdir(outputs.folder / "feedback")}

    assert len(pages) == len(outputs.folders)
    places = [path for path in (outputs.folder / "nbgrader").rglob("*") if path.is_file()]
    assert len(places) == len(outputs.folders)
    assert all(path.name == f"{tiny.NAME}.html" for path in places)


def test_a_second_run_changes_nothing(outputs: Outputs, tmp_path: Path) -> None:
    shutil.copytree(outputs.folder / "results", tmp_path / "results")
    words = ["grade", str(outputs.folder / "submitted"), "--out", str(tmp_path / "results")]
    words += ["--workers", "1", "--allow-level", "0", "--course", str(outputs.folder / "course")]

    done = CliRunner().invoke(cli, words)

    assert f"0 graded now, {len(outputs.folders)} known already" in done.output
    with Store(tmp_path / "results" / "results.sqlite") as store:
        assert list(store.attempts()) == outputs.attempts
