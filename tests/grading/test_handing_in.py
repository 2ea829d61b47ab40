"""Handing in from inside a notebook."""

import base64
import json
import re
import zipfile
from pathlib import Path

import pytest

from autodiff_kit.grading import handing_in, status, submit, worker
from autodiff_kit.grading.child import Printed
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.learner import for_lessons

NAME = "e04_accumulate"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder of exercises, which is the current one."""
    for name, data in for_lessons().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    place = tmp_path / "autodiff-kit-exercises"
    monkeypatch.chdir(place)
    return place


def test_untouched_work_is_not_packed_and_the_way_round_is_a_call(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit("04.accumulate") is None
    assert 'submit("04.accumulate", yes=True)' in capsys.readouterr().out
    assert not list(folder.glob("*.zip"))


def test_what_is_packed_is_the_saved_notebook(folder: Path) -> None:
    packed = submit("04.accumulate", yes=True)

    assert packed is not None
    with zipfile.ZipFile(packed.path) as archive:
        assert archive.read(f"{NAME}.ipynb") == (folder / f"{NAME}.ipynb").read_bytes()
    assert packed._repr_html_() is None  # it lies in the folder


def test_what_was_run_and_is_not_saved_is_told_and_nothing_is_packed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / f"{NAME}.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    solution = open_course().exercise("04.accumulate").solution
    notebook["cells"].append({**notebook["cells"][-1], "cell_type": "code", "source": solution})
    call = 'submit("04.accumulate")'

    def packed_after(*cells: str) -> bool:
        space = {"In": ["", *cells], "submit": submit}
        exec(compile(f"result = {call}", "cell", "exec"), space)
        return space["result"] is not None

    assert not packed_after(solution)
    text = capsys.readouterr().out
    assert "`backward` as you ran it last" in text
    assert call in text
    assert not list(folder.glob("*.zip"))

    path.write_text(json.dumps(notebook), "utf-8")
    assert packed_after(solution)


def test_without_processes_a_link_downloads_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_in, "HAS_PROCESSES", False)
    monkeypatch.setattr(worker, "HAS_PROCESSES", False)
    packed = submit("04.accumulate", yes=True)

    assert packed is not None
    link = re.search(r"base64,([^\"]*)", packed._repr_html_() or "")
    assert link and base64.b64decode(link[1]) == packed.path.read_bytes()


def test_status_says_what_is_packed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit("04.accumulate", yes=True)
    capsys.readouterr()
    status()

    rows = capsys.readouterr().out.splitlines()
    assert [row for row in rows if "04.accumulate" in row and "packed for handing in" in row]
    assert [row for row in rows if "03.order" in row and "not begun" in row]


def test_a_stream_of_prints_takes_text_alone_as_all_of_python_do() -> None:
    printed = Printed(100)
    with pytest.raises(TypeError, match="must be str, not bytes"):
        printed.write(b"")  # type: ignore[arg-type]
    assert printed.write("text") == 4
    assert printed.taken() == "text"
