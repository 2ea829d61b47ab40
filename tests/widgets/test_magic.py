"""``%%step``: the cell runs as always, and a Stepper stands below it."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from autodiff_kit.autograd.grad_mode import local

START = "import autodiff_kit as torch\n%load_ext autodiff_kit"


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_cell(START)
    yield shell
    assert local.mode.observer is None  # nobody watches any more
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str):
    with capture_output() as captured:
        shell.run_cell(cell)
    steppers = [out.data["text/plain"] for out in captured.outputs if "image/svg+xml" in out.data]
    return captured.stdout, captured.stderr, steppers


def test_a_cell_runs_as_always_and_is_shown(shell) -> None:
    _, _, steppers = run(
        shell, "%%step\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()"
    )

    assert shell.user_ns["x"].grad.item() == 4.0
    assert len(steppers) == 1
    assert steppers[0].startswith("Stepper(2 nodes")


def test_a_name_keeps_the_recording(shell) -> None:
    run(shell, "%%step run\nx = torch.tensor(2.0)\ny = x * 3")

    assert len(shell.user_ns["run"].nodes) == 2
    assert shell.user_ns["run"].nodes[1]["where"][1] == 2  # lines count from the cell's body


def test_a_syntax_error_is_shown_once_and_nothing_else(shell) -> None:
    stdout, stderr, steppers = run(shell, "%%step\nx = (2")

    assert (stdout + stderr).count("SyntaxError") == 1
    assert steppers == []
    assert "recorded" not in stdout


def test_a_cell_without_tensors_gets_a_friendly_sentence(shell) -> None:
    stdout, _, steppers = run(shell, "%%step\na = 1 + 1")

    assert "Nothing was recorded: no tensor was made or used in this cell." in stdout
    assert steppers == []


@pytest.mark.parametrize("error", ["ValueError('oh')", "KeyboardInterrupt"])
def test_code_that_stops_half_way_is_shown_up_to_there(shell, error) -> None:
    stdout, stderr, steppers = run(
        shell,
        f"%%step run\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\nraise {error}\nz = 1",
    )

    kind = error.split("(")[0]
    assert (stdout + stderr).count(f"{kind}") >= 1
    assert (stdout + stderr).count("Traceback (most recent call last)") <= 1
    assert len(steppers) == 1
    assert shell.user_ns["run"].error["type"] == kind
    assert shell.user_ns["run"].error["where"][1] == 3
    assert "z" not in shell.user_ns


def test_a_wrong_name_is_refused_before_anything_runs(shell) -> None:
    stdout, _, steppers = run(shell, "%%step 2x\nx = torch.tensor(2.0)")

    assert "this is not a name for a variable" in stdout
    assert "x" not in shell.user_ns
    assert steppers == []
