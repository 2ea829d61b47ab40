"""Hand-ins that are alike: copies are found however disguised, and nobody else is named."""

import ast
import itertools
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.similar_page import similar_page
from autodiff_kit.grading.similarity import Pair, Work, pairs_of
from tests.grading import tiny

COURSE = open_course(Path(__file__).resolve().parents[2] / "exercises")
WRITTEN = [e for e in COURSE.exercises() if e.kind != "perform"]
LONG = COURSE.exercise("13.find_the_bug")


def authors(exercise: Exercise) -> list[Work]:
    """Return right answers that were written independently of each other."""
    works = [Work("solution", "solution", exercise.solution)]
    return works + [Work(a.name, a.name, a.code) for a in exercise.alternatives]


def disguised(code: str) -> str:
    """Return code that does the same: other names, comments and layout."""
    tree = ast.parse(code)
    numbers = itertools.count()
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        own = getattr(node, "id", None) or getattr(node, "arg", None)
        if isinstance(own, str):
            names.setdefault(own, f"thing_{next(numbers)}")
    for node in ast.walk(tree):
        for field in ("id", "arg"):
            if isinstance(getattr(node, field, None), str):
                setattr(node, field, names[getattr(node, field)])
    lines = ast.unparse(tree).splitlines()
    return "\n\n".join(f"{line}  # my own idea" for line in lines)


@pytest.mark.parametrize("exercise", WRITTEN, ids=lambda e: e.id)
def test_a_disguised_copy_is_found_and_no_one_else(exercise: Exercise) -> None:
    works = authors(exercise)
    longest = max(works, key=lambda work: len(work.code))

    pairs = pairs_of([*works, Work("eve", "Eve", disguised(longest.code))], [])

    names = [{pair.first.student, pair.second.student} for pair in pairs]
    assert names == [{longest.student, "eve"}]
    assert pairs[0].share > 0.75 > pairs[0].exact


def test_what_was_handed_out_is_no_likeness() -> None:
    works = [Work(name, name, f"{LONG.solution}\n{name} = 1\n") for name in ("ada", "bob")]

    assert [pair.share for pair in pairs_of(works, [])] == [1.0]
    assert pairs_of(works, [LONG.solution]) == []


def test_what_many_write_is_no_likeness() -> None:
    works = [Work(f"s{k}", f"s{k}", LONG.solution) for k in range(5)]

    assert len(pairs_of(works[:4], [])) == 6
    assert pairs_of(works, []) == []  # five of five: it is how this is written


def test_lines_in_common_are_those_that_were_copied() -> None:
    own = "\n".join(f"value_{k} = {k} + max({k}, other[{k}]) * ({k} - scale)" for k in range(9))
    works = [
        Work("ada", "ada", f"# mine\n{LONG.solution}"),
        Work("eve", "eve", f"{own}\n{LONG.solution}"),
    ]

    (pair,) = pairs_of(works, [], at_least=0.1)
    first, second = pair.lines

    assert min(first) > 1 and min(second) > 8  # at most one print reaches into the line above
    count = LONG.solution.count("\n")
    assert len(first) > 0.6 * sum(bool(line.strip()) for line in LONG.solution.splitlines())
    assert max(first) <= count + 2


@pytest.mark.parametrize(
    "code",
    ["", "x", "'" * 5000, '"""' + "\\" * 999, "\ud800\x00" * 500, "((((" * 9999, "f'{x" * 999],
)
def test_any_text_can_be_compared(code: str) -> None:
    works = [Work("ada", "ada", code), Work("bob", "bob", code), *authors(LONG)]

    for pair in pairs_of(works, [code], at_least=0.0):
        assert {pair.first.student, pair.second.student}.isdisjoint({"ada", "bob"})


def test_the_page_runs_nothing_of_what_was_handed_in() -> None:
    hostile = Work("</pre><script>alert(1)</script>", "\x1b[2J<b>", "<script>x()</script>\x1b[2J")
    pair = Pair(hostile, hostile, 1.0, 1.0, 9, (frozenset({1}), frozenset()))

    page = similar_page("<i>A course", {"01.double Double": [pair], "02": []})

    assert "default-src 'none'" in page and "script-src" not in page
    assert not re.search(r"<script|<b>|<i>|\x1b", page)
    assert page.count("class=same") == 1 and "<p>None.</p>" in page


def test_the_command_compares_what_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.make_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    code = f"{tiny.SOLUTION}\n{LONG.solution}"
    texts = {
        "ada": code,
        "bob": tiny.SOLUTION,
        "eve": json.dumps({"cells": [{"cell_type": "code", "source": f"# {code[0]}\n{code}"}]}),
        "fay": "no notebook",
    }
    for name, text in texts.items():
        folder = tmp_path / "submitted" / name / tiny.NAME
        folder.mkdir(parents=True)
        suffix = "py" if name in ("ada", "bob") else "ipynb"
        (folder / f"work.{suffix}").write_text(text, encoding="utf-8")
    words = ["--allow-level", "0", "--workers", "1"]
    graded = CliRunner().invoke(cli, ["grade", str(tmp_path / "submitted"), *words])

    done = CliRunner().invoke(cli, ["similar"])

    assert graded.exit_code == 0, graded.output
    assert done.exit_code == 0, done.output
    assert "01.double: 3 compared, 1 pairs are alike\n  100 %  ada and eve\n" in done.output
    assert "no code to be read: fay" in done.output and "proves nothing by itself" in done.output
    assert "my_idea" not in Path("similar.html").read_text(encoding="utf-8")
