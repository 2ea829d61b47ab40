"""The course's list of learners: who is who, who is missing, and where a teacher is asked."""

import csv
import dataclasses
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading import roster
from autodiff_kit.grading.export import export
from autodiff_kit.grading.identity import Platform
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.store import Store
from tests.grading import tiny
from tests.grading.graded import TITLES, graded

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,01.double Double (812),Final
    Points Possible,,,,,3,100
"Lovelace, Ada",4711,s1,ada,A,,
"Babbage, Charles",12,s2,cb,A,,
"Student, Test",99,,,A,,
"""
MOODLE = """\ufeffIdentifier;Full name;Email address;ID number
Participant 4711;Ada Lovelace;ada@uni.example;s1
Participant 12;Jürgen Groß;jg@uni.example;s2
"""
MOODLE_DE = """\ufeffID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung
Teilnehmer/in4711,Ada Lovelace,ada@uni.example,-,
Teilnehmer/in12,Jürgen Groß,jg@uni.example,-,
"""
OWN_DE = "Vorname;Nachname;Matrikelnummer;E-Mail\nAda;Lovelace;s1;ada@uni.example\n"
OWN = (
    "First name\tLast name\tE-Mail\nAda\tLovelace\tada@uni.example\nAda\tByron\tbyron@uni.example\n"
)


def listed(folder: Path, text: str, encoding: str = "utf-8") -> roster.Roster:
    path = folder / "list.csv"
    path.write_bytes(text.encode(encoding))
    return roster.read(path)


def learner(student: str, name: str = "", platform: Platform = Platform.OTHER) -> roster.Learner:
    return roster.Learner(student, name or student, platform)


def who(people: roster.Roster, *learners: roster.Learner, **answers: str) -> dict[str, str]:
    return {s: p.name for s, p in roster.match(people, learners, answers).people.items()}


def test_the_lists_of_platforms_and_people_are_read(tmp_path: Path) -> None:
    names = [
        [person.name for person in listed(tmp_path, text).people] for text in (CANVAS, MOODLE, OWN)
    ]

    assert names == [
        ["Lovelace, Ada", "Babbage, Charles"],  # neither points possible, nor Canvas' own test
        ["Ada Lovelace", "Jürgen Groß"],
        ["Ada Lovelace", "Ada Byron"],
    ]


def test_german_lists_are_read_and_say_the_same(tmp_path: Path) -> None:
    german, own = listed(tmp_path, MOODLE_DE), listed(tmp_path, OWN_DE)

    assert (german.platform, own.platform) == (Platform.MOODLE, Platform.OTHER)
    assert german.taken == {
        "number": ["ID"],
        "address": ["E-Mail-Adresse"],
        "name": ["Vollständiger Name"],
    }
    assert own.taken["name"] == ["Vorname", "Nachname"]
    everybody = [
        learner("4711", "?", Platform.MOODLE),
        learner("jg@uni.example"),
        learner("4712", "Ada", Platform.MOODLE),
    ]
    assert who(german, *everybody) == {"4711": "Ada Lovelace", "jg@uni.example": "Jürgen Groß"}
    assert who(german, learner("4711", "?", Platform.CANVAS)) == {}
    assert who(own, learner("s1"), learner("4711")) == {"s1": "Ada Lovelace"}


def test_moodles_columns_come_back_as_it_wrote_them(tmp_path: Path) -> None:
    grade = graded("4711", "e01_double", 2, 1, name="Ada Lovelace")
    matches = roster.match(
        listed(tmp_path, MOODLE_DE), [learner("4711", "Ada Lovelace", Platform.MOODLE)], {}
    )

    path = export([grade], "moodle", tmp_path, TITLES, matches=matches)
    with open(path, encoding="utf-8", newline="") as file:
        head, ada, other = csv.reader(file)

    assert head[:4] == ["ID", "ID number", "Vollständiger Name", "E-Mail-Adresse"]
    assert ada[:5] == ["Teilnehmer/in4711", "", "Ada Lovelace", "ada@uni.example", "3"]
    assert other[:5] == ["Teilnehmer/in12", "", "Jürgen Groß", "jg@uni.example", ""]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_list_is_read_as_spreadsheets_write_it(encoding: str, tmp_path: Path) -> None:
    people = listed(tmp_path, "Name;Login\nJürgen Groß;jg\n", encoding).people

    assert [(person.name, person.key) for person in people] == [("Jürgen Groß", "jg")]


@pytest.mark.parametrize(
    ("someone", "expected"),
    [
        (learner("4711", "someone else", Platform.MOODLE), "Ada Lovelace"),  # its own number
        (learner("ada@uni.example"), "Ada Lovelace"),
        (learner("JG"), "Jürgen Groß"),  # what stands before the @
        (learner("s2"), "Jürgen Groß"),
        (learner("jürgen_groß"), "Jürgen Groß"),
        (learner("Gross, Jürgen"), "Jürgen Groß"),  # as ß is written in capitals
        (learner("77", "Ada Lovelace", Platform.MOODLE), "Ada Lovelace"),  # of an earlier list
    ],
)
def test_a_learner_is_found_by(someone: roster.Learner, expected: str, tmp_path: Path) -> None:
    assert who(listed(tmp_path, MOODLE), someone) == {someone.student: expected}


def test_a_number_before_a_login_before_a_name(tmp_path: Path) -> None:
    people = listed(tmp_path, MOODLE)
    learners = [
        *(learner("Ada Lovelace"), learner("ada")),
        learner("4711", "ada lovelace", Platform.MOODLE),
    ]

    for count in (1, 2, 3):
        matches = roster.match(people, learners[:count], {})
        assert list(matches.people) == [learners[count - 1].student]
        assert list(matches.doubtful) == [one.student for one in learners[: count - 1]]


@pytest.mark.parametrize("column", ["ID", "Identifier", "User ID", "Number", "Student ID"])
@pytest.mark.parametrize("platform", Platform)
def test_a_number_counts_in_a_table_of_ones_own_if_the_name_agrees(
    column: str, platform: Platform, tmp_path: Path
) -> None:
    people = listed(tmp_path, f"Name,{column},Section\nAda,4711,A\nEve,12,A\nAda,13,B\n")

    def matches(name: str) -> roster.Matches:
        return roster.match(people, [learner("4711", name, platform)], {})

    assert {p.line for p in matches("Ada").people.values()} == {2}  # not the Ada of line 4
    assert {p.line for p in matches("4711").people.values()} == {2}  # a teacher's own folder
    for name, likely in {"Eve": ["Ada", "Eve"], "Mallory": ["Ada"], "12": ["Ada"]}.items():
        assert matches(name).people == {}
        assert [person.name for person in matches(name).doubtful["4711"]] == likely


@pytest.mark.parametrize(("text", "own"), [(CANVAS, "CANVAS"), (MOODLE, "MOODLE")])
@pytest.mark.parametrize("platform", Platform)
def test_only_in_its_own_list_a_platforms_number_counts_alone(
    text: str, own: str, platform: Platform, tmp_path: Path
) -> None:
    people = listed(tmp_path, text)

    assert len(who(people, learner("4711", "Mallory", platform))) == (platform.name == own)


def test_a_name_that_a_learner_chose_is_nobodys_login(tmp_path: Path) -> None:
    learners = [learner("77", "cb", Platform.CANVAS), learner("78", "12", Platform.CANVAS)]

    assert who(listed(tmp_path, CANVAS), *learners) == {}


def test_where_two_may_be_meant_nobody_is(tmp_path: Path) -> None:
    people = listed(tmp_path, "Name,Login\nAda Byron,a1\nAda Byron,a2\nEve,e\n")

    matches = roster.match(people, [learner("Ada Byron"), learner("e"), learner("E")], {})

    assert matches.people == {}  # two learners of equal right are nobody, either
    assert [str(person) for person in matches.doubtful["Ada Byron"]] == [
        "Ada Byron (a1)",
        "Ada Byron (a2)",
    ]
    assert [person.name for person in matches.missing] == ["Ada Byron", "Ada Byron", "Eve"]


def test_what_a_teacher_says_decides(tmp_path: Path) -> None:
    people = listed(tmp_path, CANVAS)
    learners = [learner("ada"), learner("adda"), learner("tutor")]

    matches = roster.match(people, learners, {"adda": "4711", "tutor": ""})

    assert {s: p.name for s, p in matches.people.items()} == {"adda": "Lovelace, Ada"}
    assert list(matches.doubtful) == ["ada"]  # the tutor is nobody, and not asked about again
    with pytest.raises(roster.RosterError, match="'zoe' is not in the list"):
        roster.match(people, learners, {"ada": "zoe"})


def test_what_was_said_of_another_list_says_nothing_of_this_one(tmp_path: Path) -> None:
    people = listed(tmp_path, "Name,Login\nAda,ada\nCleo Klein,cleo\n")
    learners = [learner("ada"), learner("cleo")]

    # who was in no list then has a login in this one; who was somebody then is not in this one
    matches = roster.match(people, learners, {}, {"cleo": "", "ada": "b7"})
    assert {s: p.name for s, p in matches.people.items()} == {"ada": "Ada", "cleo": "Cleo Klein"}
    assert (matches.answers, matches.missing) == ({}, [])
    # what is said now counts, and is told
    matches = roster.match(people, learners, {"cleo": ""})
    assert matches.answers == {"cleo": None}
    assert [person.name for person in matches.missing] == ["Cleo Klein"]


def test_what_stands_before_the_at_is_a_login_only_of_one_institution(tmp_path: Path) -> None:
    one = listed(tmp_path, "Name,Email\nAda L,lovelace@uni.edu\nAda B,ada@uni.edu\n")
    assert roster.match(one, [learner("ada")], {}).people["ada"].name == "Ada B"
    two = listed(tmp_path, "Name,Email\nAda L,lovelace@uni.edu\nAda B,ada@mail.example\n")
    matches = roster.match(two, [learner("ada")], {})
    assert matches.people == {}
    assert [person.name for person in matches.doubtful["ada"]] == ["Ada B"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 a spreadsheet", "Save it as CSV"),
        (b"a,b\n1,2\n", "Its columns are: a, b"),
        (b'"never closed\n', "Its columns are"),
        (b"\x00\x01\x02", "No learner is found"),
        (b"Name\n" + b"x" * 200_000 + b"\n", "is no table"),
    ],
)
def test_what_is_no_list_is_told_as_that(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(data)

    with pytest.raises(roster.RosterError, match=words):
        roster.read(path)


def exported(form: str, folder: Path, text: str, *, missing: object = "") -> list[list[str]]:
    results = [
        graded("4711", "e01_double", 2, 1, name="Ada L"),
        graded("tutor", "e01_double", 2, 2),
        graded("12", "e02_triple", 1, name="Babbage, Charles", status="fault"),
    ]
    platform = Platform.CANVAS if text is CANVAS else Platform.MOODLE
    learners = [learner(grade.student, grade.name, platform) for grade in results]
    matches = roster.match(listed(folder, text), learners, {})
    path = export(results, form, folder, TITLES, matches=matches, missing=missing)
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_canvas_gets_its_own_columns_back_and_a_line_for_everyone(tmp_path: Path) -> None:
    ada, charles = ["Lovelace, Ada", "4711", "s1", "ada", "A"], ["Babbage, Charles", "12", "s2"]

    assert exported("canvas", tmp_path, CANVAS) == [
        [
            *("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
            *("01.double Double (812)", "02.triple Triple"),  # as Canvas calls its assignment
        ],
        ["    Points Possible", "", "", "", "", "3.0", "5.0"],
        [*ada, "3", ""],
        [*charles, "cb", "A", "", ""],
    ]
    assert exported("canvas", tmp_path, CANVAS, missing=0)[3][-2:] == ["0", ""]  # a fault is none


def test_moodle_gets_its_own_columns_back(tmp_path: Path) -> None:
    head, *lines = exported("moodle", tmp_path, MOODLE)

    assert head[:4] == ["Identifier", "ID number", "Full name", "Email address"]
    assert lines[0][:5] == ["Participant 4711", "s1", "Ada Lovelace", "ada@uni.example", "3"]
    assert [line[0] for line in lines] == ["Participant 4711", "Participant 12"]


def test_a_table_has_totals(tmp_path: Path) -> None:
    head, *lines = exported("table", tmp_path, MOODLE, missing=0)

    assert head == ["student", "name", *(t for t, _ in TITLES.values()), "total", "of", "percent"]
    assert lines[0] == ["4711", "Ada Lovelace", "3", "0", "3", "8.0", "37.5"]


def test_what_is_excused_is_not_in_the_total(tmp_path: Path) -> None:
    grade = graded("ada", "e01_double", 0, status="graded")
    marks = tuple(type(mark)(mark.step, 0, 0, "excused", "", "", "") for mark in grade.marks)
    excused = Grade("ada", "ada", "e01_double", marks, grade.attempt, 1)
    other = graded("ada", "e02_triple", 2, 2)

    path = export([excused, other], "table", tmp_path, TITLES)
    (_, line) = path.read_text(encoding="utf-8").splitlines()
    assert line == "ada,ada,excused,4,4,5.0,80.0"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with two learners' results; the current folder is in it."""
    tiny.make_course(tmp_path / "course")
    (tmp_path / "course" / "results").mkdir()
    monkeypatch.chdir(tmp_path / "course")
    with Store(Path("results/results.sqlite")) as store:
        for student in ("ada", "bobby"):
            store.add([graded(student, tiny.NAME, 1, name=student).attempt])
    return tmp_path / "course"


def run(*words: str, status: int = 0, answers: str = "") -> str:
    result = CliRunner().invoke(cli, ["export", *words], input=answers)
    assert result.exit_code == status, result.output
    return result.output


def test_the_command_tells_who_is_missing_and_whose_line_is_open(results: Path) -> None:
    Path("class.csv").write_text("Name,Login\nAda L,ada\nBob K,bob.k\nCleo,c\n")

    output = run("table", "--roster", "class.csv")

    assert "Nothing was handed in by 2:\n  Bob K (bob.k)\n  Cleo (c)\n" in output
    assert "bobby  It may be: Bob K (bob.k)" in output and "--match LEARNER=WHO" in output
    with open("table.csv", encoding="utf-8") as file:
        assert [line["name"] for line in csv.DictReader(file)] == ["Ada L", "Bob K", "Cleo"]


def test_the_command_tells_a_platforms_number_from_that_of_a_table_of_ones_own(
    results: Path,
) -> None:
    attempt = graded("4711", tiny.NAME, 1, name="Mallory").attempt
    origin = "Mallory_4711_assignsubmission_file/e01_double.ipynb"
    with Store(Path("results/results.sqlite")) as store:
        store.add([dataclasses.replace(attempt, origin=origin)])
    Path("own.csv").write_text("Name,ID\nAda Lovelace,4711\n")
    Path("moodle.csv").write_text("Identifier,Full name\nParticipant 4711,Ada Lovelace\n")

    own, moodle = (run("table", "--roster", f"{name}.csv") for name in ("own", "moodle"))

    assert "4711 (Mallory)  It may be: Ada Lovelace (4711)" in own
    assert "Mallory" not in moodle and "Nothing was handed in" not in moodle


def test_what_was_said_is_kept_for_the_next_export(results: Path) -> None:
    Path("class.csv").write_text("Name,Login\nAda L,ada\nBob K,bob.k\n")

    for words in (["--match", "bobby=bob.k"], []):
        output = run("table", "--roster", "class.csv", "--delimiter", "semicolon", *words)
        assert output.splitlines()[2:] == ["  bobby is Bob K (bob.k)", "Wrote table.csv"]
        assert "bobby;Bob K;1" in Path("table.csv").read_text(encoding="utf-8")
    Path("results/roster.json").write_text("{")
    before = shutil.copy("table.csv", "before.csv")
    assert "Put it aside" in run("table", "--roster", "class.csv", status=1)
    assert Path(before).read_bytes() == Path("table.csv").read_bytes()


def test_a_list_is_not_written_over(results: Path) -> None:
    Path("table.csv").write_text("Name,Login\nAda L,ada\n")

    assert "written over your list" in run("table", "--roster", "table.csv", status=1)
    assert Path("table.csv").read_text() == "Name,Login\nAda L,ada\n"


def test_at_a_terminal_the_command_asks(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("class.csv").write_text("Name,Login\nAda L,ada\nBob K,bob.k\n")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True)

    output = run("table", "--roster", "class.csv", answers="who\n1\n")

    assert "bobby is in the results. Who is that in the list?\n  1  Bob K (bob.k)" in output
    assert "'who' is not in the list" in output
    assert output.endswith("Wrote table.csv\n")
    assert "bob.k" in Path("results/roster.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["csv", "--roster", "class.csv"], "csv has no list"),
        (["table", "--match", "ada=1"], "give the list, with --roster"),
        (["table", "--roster", "class.csv", "--match", "ada"], "write LEARNER=WHO"),
    ],
)
def test_options_that_say_nothing_together_are_refused(
    words: list[str], message: str, results: Path
) -> None:
    Path("class.csv").write_text("Name,Login\nAda L,ada\n")

    assert message in run(*words, status=2)
    assert not Path("table.csv").exists()


def test_a_match_of_nobody_is_told(results: Path) -> None:
    Path("class.csv").write_text("Name,Login\nAda L,ada\n")

    message = run("table", "--roster", "class.csv", "--match", "zoe=ada", status=1)
    assert "No results for zoe" in message
