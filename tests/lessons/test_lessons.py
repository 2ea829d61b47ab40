"""The notebooks: complete, tidy, the same for every learner, and true in PyTorch as well."""

import ast
import contextlib
import io
import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autodiff_kit import widgets
from autodiff_kit.grading.learner import for_lessons
from autodiff_kit.lessons import normalise
from autodiff_kit.lessons.bank import LESSONS, QUESTIONS
from autodiff_kit.lessons.datasets import digits
from autodiff_kit.lessons.library import copy_lessons
from autodiff_kit.lessons.runs import Runs
from autodiff_kit.lessons.typed import typed
from tests.gate import some
from tests.lessons.small_gpt import program_with
from tests.parity import require_torch

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def lesson(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in lesson(path).cells if cell.cell_type == "code"]


def names(path: Path) -> str:
    return path.stem


every_lesson = pytest.mark.parametrize("path", NOTEBOOKS, ids=names)


def test_there_is_a_notebook_for_every_lesson_and_its_heading_is_the_lessons_title() -> None:
    headings = [lesson(path).cells[0].source.split("\n")[0] for path in NOTEBOOKS]

    assert headings == [f"# {number} {title}" for number, title in LESSONS]
    assert [path.name[:2] for path in NOTEBOOKS] == [number for number, _ in LESSONS]


@every_lesson
def test_a_lesson_is_of_a_size_for_one_sitting(path: Path) -> None:
    assert len(lesson(path).cells) <= 28


@every_lesson
def test_the_first_cell_brings_all_that_the_lesson_needs(path: Path) -> None:
    first, *others = code_cells(path)

    assert first.source.startswith("import autodiff_kit as torch\n")
    number = path.name[:2]
    recall = "" if number == "00" else f'\nrecall("{number}")'
    assert first.source.endswith(f"\n%load_ext autodiff_kit{recall}")
    assert not any(re.search(r"^\s*(import|from)\b", cell.source, re.M) for cell in others)


def test_every_question_is_asked_once_and_in_its_own_lesson() -> None:
    keys = [
        (path.name[:2], key)
        for path in NOTEBOOKS
        for cell in code_cells(path)
        for key in re.findall(r'predict\("([^"]+)"\)', cell.source)
    ]

    assert sorted(key for _, key in keys) == sorted(QUESTIONS)
    assert all(key.startswith(f"{number}.") for number, key in keys)


@every_lesson
def test_no_answer_stands_on_its_own_in_the_cell_below_its_question(path: Path) -> None:
    sources = [cell.source for cell in lesson(path).cells]

    for source, below in pairwise(sources):
        if key := re.fullmatch(r'predict\("([^"]+)"\)', source):
            question = QUESTIONS[key[1]]
            answers = {choice.strip("`") for choice in question.choices or [str(question.answer)]}
            there = {answer for answer in answers if answer in below}
            there = {a for a in there if not any(a != b and a in b for b in there)}
            assert question.kind == "number" or there != {str(question.answer).strip("`")}, key[1]


@every_lesson
def test_a_lesson_ends_with_a_task(path: Path) -> None:
    sources = [cell.source for cell in lesson(path).cells]
    task = next(i for i, source in enumerate(sources) if "## Try it yourself" in source)

    assert any(f'predict("{path.name[:2]}.task")' in source for source in sources[task:])
    assert "**Next:" in sources[-1]


@every_lesson
def test_links_lead_to_lessons_that_are_there(path: Path) -> None:
    text = "\n".join(cell.source for cell in lesson(path).cells)

    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (path.parent / target).is_file(), target


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `autodiff-kit lab` makes."""
    folder = tmp_path_factory.mktemp("copy")
    copy_lessons(ROOT / "notebooks", folder, "0.1.0", for_lessons())
    return folder


def test_in_the_learners_copy_every_link_leads_to_a_file(copied: Path) -> None:
    books = sorted(copied.rglob("*.ipynb"))
    links = {
        (book.name, target): (book.parent / target).is_file()
        for book in books
        for cell in lesson(book).cells
        if cell.cell_type == "markdown"
        for target in re.findall(r"\]\(([^)]+)\)", cell.source)
    }

    exercises = sorted((ROOT / "exercises" / "release").rglob("*.ipynb"))
    assert len(books) == len(NOTEBOOKS) + len(exercises)
    assert {link for link, is_there in links.items() if not is_there} == set()
    assert ("01_what_is_a_graph.ipynb", "autodiff-kit-exercises/e01_graph.ipynb") in links
    assert ("e01_graph.ipynb", "../01_what_is_a_graph.ipynb") in links


def test_in_the_learners_copy_no_answer_is_on_the_screen(copied: Path) -> None:
    for book in copied.rglob("*.ipynb"):
        for cell in code_cells(book):
            assert (cell.outputs, cell.execution_count) == ([], None)


@every_lesson
def test_stored_outputs_have_no_address_no_path_and_no_warning(path: Path) -> None:
    for cell in code_cells(path):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"
            words = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            assert not re.search(r"0x[0-9a-f]{6,}|/tmp/|/home/", words)


@every_lesson
def test_every_stepper_leaves_its_picture_and_every_question_its_words(path: Path) -> None:
    for cell in code_cells(path):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        if cell.source.startswith(("%%step", "%%engine")):
            assert {"image/svg+xml", "text/plain"} <= kinds
        if cell.source.startswith("predict("):
            assert {"text/html", "text/plain"} <= kinds


@every_lesson
def test_every_lab_leaves_its_picture(path: Path) -> None:
    lab = re.compile(rf"^({'|'.join(widgets.__all__)})\(", re.M)

    for cell in code_cells(path):
        if lab.search(cell.source):  # one that refuses what it is given has words alone
            assert any("image/svg+xml" in output.get("data", {}) for output in cell.outputs)


@every_lesson
def test_the_file_is_normalised(path: Path) -> None:
    assert normalise.main(["--check", str(path)]) == 0


@pytest.mark.parametrize("path", some(NOTEBOOKS, 4), ids=names)
@pytest.mark.usefixtures("kernels")
def test_a_lesson_runs_alone_and_gives_the_same_file_to_a_learner_who_answered_everything(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = tmp_path / path.name
    shutil.copy(path, alone)
    answer = {"first": "42", "right": False, "tries": 2, "solved": True, "looked": False}
    progress = {"version": 2, "answers": dict.fromkeys(QUESTIONS, answer)}
    (tmp_path / ".autodiff-kit-progress.json").write_text(json.dumps(progress))
    monkeypatch.delenv("ADK_PROGRESS", raising=False)
    paths = (str(ROOT), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))

    notebook = normalise.read(alone)
    normalise.execute(notebook, alone)
    normalise.normalise(notebook)

    assert normalise.to_text(notebook) == path.read_text(encoding="utf-8")


OWN = {"predict", "recall", "show_progress", "verdicts", "StaticGraph", *widgets.__all__}


def printed(source: str, space: dict[str, Any]) -> str:
    """Run a cell as a plain Python program would, and return what it prints.

    The results of an experiment count as printed, since they are numbers of either library.
    """
    if source.startswith("%%beside"):  # asks PyTorch itself: tests/widgets/test_beside.py
        return ""
    lines = source.split("\n")
    if lines[0].startswith(("%%step", "%%engine")):
        lines = lines[1:]
    code = [line for line in lines if not line.startswith("%")]
    tree = ast.parse("\n".join(code))
    own = space.setdefault("of the kit", OWN.copy())
    tree.body = [line for line in tree.body if not is_of_the_kit(line, own)]
    match tree.body:
        case [*_, ast.Expr(ast.Call(ast.Name("Runs")) as runs) as line]:
            line.value = ast.Call(ast.Name("print", ast.Load()), [runs], [])
            ast.fix_missing_locations(tree)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), space)
    # The kit adds a line of its own to PyTorch's messages.
    return "".join(line for line in out.getvalue().splitlines(True) if not line.startswith("-> "))


def is_of_the_kit(line: ast.stmt, own: set[str]) -> bool:
    """Tell whether a line uses the kit's own names; what it defines is the kit's own, too."""
    used = {node.id for node in ast.walk(line) if isinstance(node, ast.Name)}
    if "autodiff_kit" not in ast.unparse(line) and own.isdisjoint(used):
        return False
    if isinstance(line, ast.Assign):
        own.update(target.id for target in line.targets if isinstance(target, ast.Name))
    return True


def stored(cell: Any) -> str:
    text = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    results = (output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    text += "".join(result + "\n" for result in results if result.startswith("Runs("))
    return "".join(line for line in text.splitlines(True) if not line.startswith("-> "))


@every_lesson
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # PyTorch's own jvp
@pytest.mark.parity
def test_every_cell_prints_in_pytorch_what_the_lesson_shows(path: Path) -> None:
    torch = require_torch()
    space: dict[str, Any] = {
        "torch": torch,
        "digits": digits,
        "Runs": Runs,
        "typed": typed,
    }  # what takes arrays and numbers of either library
    space["small_gpt"] = program_with(torch)

    for cell in code_cells(path):
        assert printed(cell.source, space) == stored(cell), cell.source
