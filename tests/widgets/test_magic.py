"""``%%step`` and ``%%engine``: the cell runs as always, and a widget stands below it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from autodiff_kit.core.mode import local
from autodiff_kit.view.scene import build
from tests.parity import require_torch

START = "import autodiff_kit as torch\n%load_ext autodiff_kit"


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_cell(START)
    yield shell
    assert local.mode.observer is None  # nobody watches any more
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> SimpleNamespace:
    with capture_output() as captured:
        result = shell.run_cell(cell)
    steppers = [out.data["text/plain"] for out in captured.outputs if "image/svg+xml" in out.data]
    output = captured.stdout + captured.stderr
    return SimpleNamespace(said=output, steppers=steppers, result=result)


def test_a_cell_runs_as_always_and_is_shown(shell) -> None:
    ran = run(shell, "%%step\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()")

    assert ran.result.success
    assert shell.user_ns["x"].grad.item() == 4.0
    assert len(ran.steppers) == 1
    assert ran.steppers[0].startswith("Stepper(2 nodes")


def test_a_name_keeps_the_recording(shell) -> None:
    run(shell, "%%step run\nx = torch.tensor(2.0)\ny = x * 3")

    assert len(shell.user_ns["run"].nodes) == 2
    assert shell.user_ns["run"].nodes[1]["where"][1] == 2  # lines count from the cell's body


def test_a_cell_is_called_as_the_notebook_calls_it(shell) -> None:
    shell.run_cell("1", store_history=True)
    shell.run_cell("def twice(x):\n    return x * 2", store_history=True)
    shell.run_cell("%%step run\ny = twice(torch.tensor(2.0))", store_history=True)

    assert shell.execution_count == 4  # of the next cell
    assert [source["name"] for source in shell.user_ns["run"].sources] == ["cell [3]", "cell [2]"]


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        (
            "x = torch.tensor(3.)\ny = x * x\ny.backward()",
            "Write `x = torch.tensor(3., requires_grad=True)`.",
        ),
        (
            "x = torch.ones(3, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()",
            "Make a new tensor instead of writing into the old one: `y = y + 1`.",
        ),
        ("torch.ones(2) + torch.ones(3)", "Compared from the right, sizes must be equal or 1."),
    ],
)
def test_the_last_step_explains_an_error_in_the_learners_names(shell, code: str, fix: str) -> None:
    run(shell, f"%%step run\n{code}")

    last = build(shell.user_ns["run"]).payload()["frames"][-1]
    assert last["caption"].startswith("The code stopped here with RuntimeError: ")
    assert last["explanation"]["fix"].endswith(fix)


def test_loading_the_extension_again_says_nothing(shell) -> None:
    again = run(shell, START)

    assert again.result.success
    assert again.said == ""


def test_a_recording_is_replaced_by_a_new_one_of_the_same_name(shell) -> None:
    run(shell, "%%step run\nx = torch.tensor(2.0)\ny = x * 3")
    run(shell, "%%step run\nz = y * y * y")

    assert shell.user_ns["run"].nodes[-1]["name"] == "z"


def test_a_syntax_error_is_shown_once_and_nothing_is_lost(shell) -> None:
    run(shell, "%%step run\nx = torch.tensor(2.0)")
    before = shell.user_ns["run"]

    ran = run(shell, "%%step run\nx = 2)")

    assert isinstance(ran.result.error_before_exec, SyntaxError)
    assert ran.said.count("SyntaxError") == 1
    assert ran.steppers == []
    assert "recorded" not in ran.said
    assert shell.user_ns["run"] is before


def test_a_cell_without_tensors_gets_a_friendly_sentence(shell) -> None:
    ran = run(shell, "%%step\na = 1 + 1")

    assert ran.result.success
    assert "Nothing was recorded: no tensor was made or used in this cell." in ran.said
    assert ran.steppers == []
    assert shell.user_ns["a"] == 2


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("x = torch.ones(2)\ny = x + torch.ones(3)", ["y = x + torch.ones(3)"]),
        (
            "def double(g):\n    raise ValueError('oh')\n"
            "x = torch.ones(2, requires_grad=True)\nx.register_hook(double)\nx.sum().backward()",
            ["x.sum().backward()", "raise ValueError('oh')"],  # the kit's engine is between them
        ),
        (
            "try:\n    torch.ones(2) + torch.ones(3)\n"
            "except RuntimeError as error:\n    raise ValueError('oh') from error",
            ["torch.ones(2) + torch.ones(3)", "raise ValueError('oh') from error"],
        ),
        ("import json\ntorch.ones(2)\njson.loads('{')", ["json.loads('{')", "JSONDecodeError"]),
    ],
    ids=["op", "hook", "cause", "not the kit's"],
)
def test_a_traceback_has_the_lines_of_the_learner_and_not_the_kits(shell, code, lines) -> None:
    shell.run_line_magic("colors", "nocolor")

    ran = run(shell, "%%step\n" + code)

    assert not ran.result.success
    assert all(line in ran.said for line in lines)
    assert "autodiff_kit/" not in ran.said and "fast_" not in ran.said
    assert "hidden" not in ran.said
    assert shell.custom_exceptions == ()


def test_a_handler_of_the_learners_stays_theirs(shell) -> None:
    messages = []
    shell.set_custom_exc((ValueError,), lambda shell, kind, error, *a, **k: messages.append(error))

    run(shell, "%%step\nraise ValueError('oh')")

    assert [str(error) for error in messages] == ["oh"]
    assert shell.custom_exceptions == (ValueError,)


@pytest.mark.parametrize("error", ["ValueError('oh')", "KeyboardInterrupt"])
def test_code_that_stops_half_way_is_shown_up_to_there(shell, error) -> None:
    ran = run(
        shell,
        f"%%step run\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\nraise {error}\nz = 1",
    )

    kind = error.split("(")[0]
    assert ran.said.count(f"{kind}") >= 1
    assert ran.said.count("Traceback (most recent call last)") <= 1
    assert len(ran.steppers) == 1
    assert shell.user_ns["run"].error["type"] == kind
    assert shell.user_ns["run"].error["where"][1] == 3
    assert "z" not in shell.user_ns


def test_an_error_below_the_magic_is_the_error_of_the_whole_cell(shell) -> None:
    ran = run(shell, "%%step\nx = torch.tensor(2.0)\n1 / 0")

    assert isinstance(ran.result.error_in_exec, ZeroDivisionError)


def test_an_error_before_the_first_op_says_nothing_of_recording(shell) -> None:
    ran = run(shell, "%%step\nraise ValueError('oh')\nx = torch.tensor(2.0)")

    assert "recorded" not in ran.said
    assert ran.steppers == []
    assert isinstance(ran.result.error_in_exec, ValueError)


@pytest.mark.parametrize("line", ["--help", "-h", " --help "])
@pytest.mark.parametrize("body", ["", "\nx = torch.tensor(2.0)"])
def test_help_is_shown_and_nothing_runs(shell, line, body) -> None:
    ran = run(shell, f"%%step {line}{body}")

    assert ran.result.success
    assert "%%step rec " in ran.said
    assert "--help" in ran.said
    assert "x" not in shell.user_ns


def test_the_question_mark_shows_the_same_help(shell) -> None:
    assert "%%step rec " in run(shell, "%%step?").said


def test_the_magic_alone_says_what_to_write(shell) -> None:
    ran = run(shell, "%%step")

    assert "Nothing was recorded" in ran.said
    assert "Error" not in ran.said


@pytest.mark.parametrize("line", ["--all", "-n", "rec -v", "one two"])
def test_what_is_not_one_name_is_refused_in_one_line(shell, line) -> None:
    ran = run(shell, f"%%step {line}\nx = torch.tensor(2.0)")

    assert ran.said.strip() == (
        f"UsageError: %%step {line}: write one name or none after %%step, for example %%step rec. "
        "More: %%step --help"
    )
    assert not ran.result.success
    assert "x" not in shell.user_ns


@pytest.mark.parametrize("name", ["2x", "for", "None", "a.b", "a,b"])
def test_a_name_that_python_forbids_is_refused_before_anything_runs(shell, name) -> None:
    ran = run(shell, f"%%step {name}\nx = torch.tensor(2.0)")

    assert f"%%step {name}: {name} is not a name for a variable." in ran.said
    assert "Traceback" not in ran.said
    assert not ran.result.success
    assert "x" not in shell.user_ns
    assert ran.steppers == []


@pytest.mark.parametrize("name", ["x", "torch", "print"])
def test_a_name_that_means_something_is_not_overwritten(shell, name) -> None:
    shell.run_cell("x = torch.tensor(2.0)")
    before = shell.user_ns["x"], shell.user_ns["torch"]

    ran = run(shell, f"%%step {name}\nz = x * x")

    assert f"%%step {name}: {name} has another meaning already" in ran.said
    assert not ran.result.success
    assert "z" not in shell.user_ns
    assert "print" not in shell.user_ns
    assert (shell.user_ns["x"], shell.user_ns["torch"]) == before


def test_a_variable_that_the_cell_makes_is_not_overwritten_either(shell) -> None:
    ran = run(shell, "%%step x\nx = torch.tensor(2.0)")

    assert shell.user_ns["x"].item() == 2.0
    assert "%%step x: the cell has made a variable x of its own." in ran.said
    assert len(ran.steppers) == 1


def test_loading_twice_changes_nothing(shell) -> None:
    before = list(shell.input_transformers_cleanup)

    shell.run_cell("%reload_ext autodiff_kit\nimport autodiff_kit.widgets")

    assert shell.input_transformers_cleanup == before


MAGICS = """x = torch.ones(2, requires_grad=True)
%time q = x*x
if q.sum() > 0:
    !echo \u00e9 \u00e9
    z = q * 2; é = 3; w = z*q
h = %timeit -n1 -r1 -o q*4
y = 2*x
"""


def lit(recording) -> list[str]:
    texts = []
    for node in recording.nodes:
        _, line, column, end_line, end_column = node["where"]
        lines = recording.sources[0]["text"].splitlines()[line - 1 : end_line]
        lines[-1] = lines[-1][:end_column]
        texts.append("\n".join(lines)[column:])
    return texts


def test_lines_that_ipython_rewrites_are_shown_as_they_were_written(shell) -> None:
    run(shell, "%%step run\n" + MAGICS)

    recording = shell.user_ns["run"]
    assert recording.sources[0]["text"] == MAGICS
    assert lit(recording) == [
        *("torch.ones(2, requires_grad=True)", "%time q = x*x", "q.sum()", "q.sum() > 0"),
        *("q * 2", "z*q", "%timeit -n1 -r1 -o q*4", "2*x"),
    ]
    texts = [frame["caption"] for frame in build(recording).frames]
    assert any(c.startswith("if tests q.sum() > 0: it is True, so the body runs") for c in texts)
    assert texts[-1].startswith("y = 2*x: multiply"), texts[-1]


def test_a_cell_magic_in_the_cell_is_shown_as_it_was_written(shell) -> None:
    body = "%%time\nx = torch.ones(2, requires_grad=True)\ny = x*2\n"
    run(shell, "%%step run\n" + body)

    recording = shell.user_ns["run"]
    assert recording.sources[0]["text"] == body
    assert set(lit(recording)) == {body.rstrip()}


@pytest.mark.parity
@pytest.mark.parametrize(
    "cell",
    [
        "import torch as real\nx = real.tensor(2., requires_grad=True)\n(x * x).backward()",
        "import torch as real\nx = real.ones(2) @ real.ones(3)",
        "from torch import nn\nlayer = nn.Linear(1, 1)",
    ],
)
def test_a_cell_of_pytorch_is_told_how_it_is_recorded(shell, cell: str) -> None:
    require_torch()

    ran = run(shell, f"%%step\n{cell}")

    assert not ran.steppers
    name = "real" if "real" in cell else "torch"
    assert f"with ak.record({name}) as rec:" in ran.said


def test_an_error_of_the_first_operation_on_older_tensors_is_explained(shell) -> None:
    shell.run_cell("a = torch.ones(2)\nb = torch.ones(3)")

    ran = run(shell, "%%step rec\nc = a + b")

    assert len(ran.steppers) == 1
    words = [place["words"] for place in explained(shell.user_ns["rec"])["places"]]
    assert words[:2] == ["`a` has shape (2,).", "`b` has shape (3,)."]


def explained(recording):
    return build(recording).frames[-1]["explanation"]


CELL = "x = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()"


def test_a_cell_is_performed_below_it(shell) -> None:
    ran = run(shell, f"%%engine rec --backward --free\n{CELL}")

    assert ran.result.success
    assert ran.steppers == ["BeTheEngine(backward: x, y = x * x)"]
    assert shell.user_ns["x"].grad.item() == 4.0
    assert len(shell.user_ns["rec"].nodes) == 2


def test_a_cell_that_is_too_long_to_be_performed_runs_and_says_so(shell) -> None:
    cell = "x = torch.tensor(1.0, requires_grad=True)\nfor _ in range(90):\n    x = x * 2"

    ran = run(shell, f"%%engine\n{cell}")

    assert ran.result.success
    assert "a performance has at most 60" in ran.said
    assert ran.steppers == []


@pytest.mark.parametrize("options", ["--fast", "--free --exam", "--help me"])
def test_unknown_options_of_the_engine_are_refused_before_anything_runs(shell, options) -> None:
    ran = run(shell, f"%%engine {options}\nz = 1")

    assert not ran.result.success
    assert "More: %%engine --help" in ran.said
    assert "z" not in shell.user_ns


def test_the_help_of_the_engine_is_shown_and_nothing_runs(shell) -> None:
    ran = run(shell, "%%engine --help")

    assert "ask you to perform it step by step" in ran.said
    assert ran.result.success
