"""What a teacher hands out holds no solution, check, known mistake or puzzle."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import Exercise
from tests.grading.in_words import make_course

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
COURSE = open_course(EXERCISES)


MARKED = re.compile(r"(?ms)^[ \t]*### BEGIN (SOLUTION|HIDDEN TESTS)\n.*?^[ \t]*### END \1$")


def code_of(notebook: str) -> str:
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def lines_of(code: str) -> set[str]:
    """Return the lines of a code that say something."""
    return {line.strip() for line in code.splitlines() if len(line.strip()) > 20}


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the kit's own course that are handed out."""
    path = tmp_path_factory.mktemp("handout") / "handout.zip"
    done = CliRunner().invoke(cli, ["build", "--course", str(EXERCISES), "--handout", str(path)])
    assert done.exit_code == 0, done.output
    assert f"learners' notebooks, {len(COURSE.names)} of them" in done.output
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_there_are_notebooks_and_nothing_else(notebooks: dict[str, str]) -> None:
    assert list(notebooks) == [f"{name}/{name}.ipynb" for name in COURSE.names]
    for name, text in notebooks.items():
        assert (EXERCISES / "release" / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("exercise", COURSE.exercises(), ids=lambda e: e.id)
def test_no_line_of_a_solution_or_known_mistake_is_handed_out(
    exercise: Exercise, notebooks: dict[str, str]
) -> None:
    notebook = notebooks[f"{exercise.name}/{exercise.name}.ipynb"]
    source = EXERCISES / "source" / exercise.name / f"{exercise.name}.ipynb"
    whole, code = code_of(source.read_text(encoding="utf-8")), code_of(notebook)

    secrets = "\n".join(match[0] for match in MARKED.finditer(whole))
    secrets += "\n".join(mutant.code for mutant in exercise.mutants)
    hidden = lines_of(secrets) - lines_of(MARKED.sub("", whole))
    assert len(hidden) > 10
    assert hidden & lines_of(code) == set()
    assert "SOLUTION" not in code and "hidden_test" not in code
    assert not [question for question in exercise.questions if question.solution in notebook]


def test_the_same_course_gives_the_same_file_and_check_gives_none(tmp_path: Path) -> None:
    make_course(tmp_path)

    def build(*words: str) -> int:
        where = ["--course", str(tmp_path)]
        return CliRunner().invoke(cli, ["build", *where, *words]).exit_code

    files = []
    for name in ("a.zip", "b.zip"):
        assert build("--handout", str(tmp_path / name)) == 0
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] and zipfile.is_zipfile(io.BytesIO(files[0]))
    assert build("--check", "--handout", str(tmp_path / "c.zip")) == 2
    assert not (tmp_path / "c.zip").exists()
