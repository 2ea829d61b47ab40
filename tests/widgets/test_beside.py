"""``%%beside``: a program's answers in the kit and in PyTorch, line by line; and without it."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from autodiff_kit.view.beside import Line, agree, draw
from autodiff_kit.widgets import BesidePyTorch, beside
from tests.parity import require_torch

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "16_map_of_pytorch.ipynb"
PROGRAM = "x = torch.tensor(3., requires_grad=True)\ny = x * x\nprint(y.grad_fn.name())\ny"


def cells() -> list[str]:
    if not LESSON.exists():
        return []
    cells_of_lesson = nbformat.read(LESSON, as_version=4).cells  # type: ignore[no-untyped-call]
    sources = [cell.source for cell in cells_of_lesson if cell.source.startswith("%%beside")]
    return [source.partition("\n")[2] for source in sources]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "pytorch", lambda: None)


def test_each_statement_has_its_answer(alone: None) -> None:
    lab = BesidePyTorch(PROGRAM)

    assert [line.kit for line in lab.lines] == [
        "tensor(3., requires_grad=True)",
        "tensor(9., grad_fn=<MulBackward0>)",
        "MulBackward0",
        "tensor(9., grad_fn=<MulBackward0>)",
    ]
    assert [line.code for line in lab.lines] == PROGRAM.split("\n")
    assert all(line.torch is None for line in lab.lines)


def test_without_pytorch_it_says_what_to_do_and_shows_the_kit(alone: None) -> None:
    lab = BesidePyTorch(PROGRAM)

    assert lab.message == ""
    assert lab.canvas.caption.startswith("PyTorch is not installed here")
    assert "pip install torch" in lab.canvas.caption
    assert "MulBackward0" in lab.canvas.svg


@pytest.mark.parity
def test_what_a_notebook_keeps_is_the_same_with_pytorch_and_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_torch()
    beside_it: Any = BesidePyTorch(PROGRAM)
    monkeypatch.setattr(beside, "pytorch", lambda: None)
    alone: Any = BesidePyTorch(PROGRAM)

    assert beside_it.canvas.caption != alone.canvas.caption
    for kind in ("image/svg+xml", "text/plain"):
        assert beside_it._repr_mimebundle_()[0][kind] == alone._repr_mimebundle_()[0][kind]


@pytest.mark.parity
def test_with_pytorch_both_answers_are_compared() -> None:
    require_torch()
    lab = BesidePyTorch(PROGRAM)

    assert all(map(agree, lab.lines))
    assert lab.canvas.caption == (
        "The answers of the kit beside those of PyTorch 2.13.0: all 4 are equal, character by "
        "character."
    )
    assert lab.shown() != lab.still()  # PyTorch's answers are seen, and not stored


@pytest.mark.parity
@pytest.mark.parametrize("source", cells())
def test_every_cell_of_lesson_16_says_the_same_in_pytorch(source: str) -> None:
    require_torch()
    lab = BesidePyTorch(source)

    assert lab.message == ""
    assert [line for line in lab.lines if not agree(line)] == []


def test_the_cell_said_to_be_of_lesson_02_stands_there() -> None:
    earlier = nbformat.read(ROOT / "notebooks" / "02_built_on_the_fly.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    sources = [cell.source.removeprefix("%%step\n") for cell in earlier.cells]

    assert len([source for source in cells() if source in sources]) == 1


@pytest.mark.parity
@pytest.mark.parametrize("source", [s for s in cells() if "tanh" in s])
def test_the_graph_that_lesson_16_steps_through_is_the_same_in_pytorch(source: str) -> None:
    import autodiff_kit

    kit = beside._recording(source, autodiff_kit)
    real = beside._recording(source, require_torch())

    # The same picture, text and number of steps: what the notebook keeps does not tell them apart.
    assert kit._repr_svg_() == real._repr_svg_()
    assert kit.to_text() == real.to_text()


def test_answers_that_differ_are_shown_both_and_marked() -> None:
    svg = draw([Line("y", "tensor(1.)", "tensor(2.)"), Line("z", "3", "3")], "A title")

    assert "the\u00a0kit:\u00a0tensor(1.)" in svg
    assert "PyTorch:\u00a0tensor(2.)" in svg
    assert svg.count(">\u2260<") == 1 and svg.count(">=<") == 1


def test_the_line_that_the_kit_adds_to_a_message_makes_no_difference() -> None:
    assert agree(Line("y", "RuntimeError: no\n-> Write yes.", "RuntimeError: no"))
    assert not agree(Line("y", "RuntimeError: no", "RuntimeError: yes"))
    assert not agree(Line("y", "1"))


def test_an_error_is_an_answer_and_ends_the_program(alone: None) -> None:
    lab = BesidePyTorch("x = torch.tensor([1., 2.], requires_grad=True)\nx.backward()\nx.grad")

    assert len(lab.lines) == 2
    assert lab.lines[1].kit.startswith("RuntimeError: grad can be implicitly created only")


def test_long_answers_are_cut_and_addresses_left_out(alone: None) -> None:
    lab = BesidePyTorch("torch.manual_seed(0)\ntorch.zeros(40, 1)")

    assert lab.lines[0].kit == ""
    assert lab.canvas.svg.count("adk-beside-answer") < 12 + 2
    assert "\u2026" in lab.canvas.svg


def test_a_program_that_cannot_be_read_is_named(alone: None) -> None:
    lab = BesidePyTorch("x = torch.tensor(1.)\ny = = x")

    assert lab.message.startswith("SyntaxError: invalid syntax, in line 2.")
    assert lab.still() == ""


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="%%beside"):
        BesidePyTorch(len)  # type: ignore[arg-type]


@pytest.mark.parity
def test_a_program_without_answers_is_not_said_to_be_equal() -> None:
    require_torch()

    assert "could be compared" in BesidePyTorch("import math").canvas.caption
    assert ": the only one is equal" in BesidePyTorch("x = 1").canvas.caption
