"""``%%step`` in a real kernel: what Run All, nbconvert and a learner's Stop button see of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[2]
START = "import autodiff_kit as torch\n%load_ext autodiff_kit"
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def kernel(kernels: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run cells as nbconvert does; return their outputs and the error that stopped it."""
    paths = (str(ROOT), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))

    def run(*sources: str, **how: Any) -> tuple[list[list[Any]], CellExecutionError | None]:
        cells = [nbformat.v4.new_code_cell(source) for source in (START, *sources)]
        book = nbformat.v4.new_notebook(cells=cells)
        stopped = None
        try:
            NotebookClient(book, timeout=60, kernel_name="python3", **how).execute()
        except CellExecutionError as error:
            stopped = error
        return [cell.outputs for cell in book.cells[1:]], stopped

    return run


def errors(outputs: list[Any]) -> list[str]:
    return [output.ename for output in outputs if output.output_type == "error"]


def steppers(outputs: list[Any]) -> list[str]:
    return [o.data["text/plain"] for o in outputs if WIDGET in o.get("data", {})]


def test_a_cell_that_fails_stops_the_notebook_and_shows_how_far_it_came(kernel: Any) -> None:
    (failing, after), stopped = kernel(
        "%%step\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\nraise ValueError('oh')",
        "print('never')",
    )

    assert (stopped.ename, stopped.evalue) == ("ValueError", "oh")
    assert errors(failing) == ["ValueError"]
    [error] = [output for output in failing if output.output_type == "error"]
    assert "run_cell_magic" not in "".join(error.traceback)  # the learner's lines only
    [stepper] = steppers(failing)
    assert stepper.startswith("Stepper(2 nodes, 3 steps: x, y = x * x")
    assert after == []


def test_a_syntax_error_stops_the_notebook(kernel: Any) -> None:
    (failing, after), stopped = kernel("%%step\nx = 2)", "print('never')")

    assert stopped.ename == "SyntaxError"
    assert errors(failing) == ["SyntaxError"]
    assert after == []


def test_a_refused_name_stops_the_notebook_in_one_line(kernel: Any) -> None:
    (failing, after), stopped = kernel("%%step for\nx = torch.tensor(2.0)", "print('never')")

    assert stopped.ename == "UsageError"
    assert [output.output_type for output in failing] == ["stream"]
    assert after == []


def test_a_notebook_goes_on_where_errors_are_allowed(kernel: Any) -> None:
    (_, after), stopped = kernel(
        "%%step rec\nx = torch.tensor(2.0)\n1 / 0", "rec.error['type']", allow_errors=True
    )

    assert stopped is None
    assert after[0].data["text/plain"] == "'ZeroDivisionError'"


def test_an_endless_loop_is_interrupted_and_what_it_did_is_kept(kernel: Any) -> None:
    # The learner's Stop button sends the same signal.
    stop = "import os, signal, threading\nstop = lambda: os.kill(os.getpid(), signal.SIGINT)"
    loop = (
        "%%step rec\nx = torch.tensor(1.0)\nthreading.Timer(0.3, stop).start()\n"
        "while True:\n    x = x * 1.0"
    )

    (_, looping, after), stopped = kernel(
        stop, loop, "len(rec.nodes) > 2, rec.error['type'], x.item()", allow_errors=True
    )

    assert stopped is None
    assert errors(looping) == ["KeyboardInterrupt"]
    assert len(steppers(looping)) == 1
    assert after[0].data["text/plain"] == "(True, 'KeyboardInterrupt', 1.0)"


BLOCKED = """
import sys
sys.modules[{name!r}] = None  # as if it were not installed
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {cells!r}:
    print("-- " + cell)
    assert not shell.run_cell(cell).success
"""
CELLS = [
    "%load_ext autodiff_kit",
    "from autodiff_kit.widgets import Stepper",
    "import autodiff_kit as ak; ak.widgets.Stepper",
]


@pytest.mark.parametrize("name", ["ipywidgets", "anywidget"])
def test_without_the_widget_packages_the_message_says_what_to_install(
    name: str, tmp_path: Path
) -> None:
    process = subprocess.run(
        [sys.executable, "-u", "-c", BLOCKED.format(name=name, cells=CELLS)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=True,
    )

    answers = process.stdout.split("-- ")[1:]
    assert len(answers) == len(CELLS)
    for answer in answers:
        assert f"need the package {name}, which is not installed here" in answer
        assert 'pip install "autodiff_kit[lab]"' in answer
        assert "Traceback" not in answer


def test_without_the_widget_packages_all_else_works() -> None:
    code = (
        "import sys; sys.modules['ipywidgets'] = sys.modules['IPython'] = None\n"
        "import autodiff_kit as ak\n"
        "with ak.record() as rec: ak.tensor(2.0) * 3.0\n"
        "print(len(rec.nodes))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert process.stdout == "2\n", process.stderr
