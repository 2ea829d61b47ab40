"""The sources' own programs, under the kit and under PyTorch 2.13.0: what they really give."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

import autodiff_kit
from tests.parity import require_torch

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))

# The sources' programs as printed there, without the lines that only echo a value.
SNIPPET = """\
x = torch.randn([3,3], requires_grad=True)
y = 2 * x + 3
y = torch.randn([3,3], requires_grad=True)
z = 4 * y - 1
z.sum().backward()
"""


def sources(number: str) -> str:
    """Return the code of a lesson."""
    path = next(path for path in NOTEBOOKS if path.name[:2] == number)
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def test_lesson_03_runs_the_sources_program_as_printed() -> None:
    assert SNIPPET in sources("03")


def test_lesson_02_begins_with_the_numbers_that_the_source_printed() -> None:
    for number in ("-0.3360", "-0.2482", "-1.1120", "1.7921", "-0.8937", "1.3045"):
        assert number in sources("02")


TORCHES = [
    pytest.param(lambda: autodiff_kit, id="kit"),
    pytest.param(require_torch, id="pytorch", marks=pytest.mark.parity),
]


@pytest.mark.parametrize("load", TORCHES)
def test_the_sources_program_gives_no_gradient_to_x(load: Any) -> None:
    space: dict[str, Any] = {"torch": load()}

    exec(SNIPPET, space)

    assert space["x"].grad is None
    assert repr(space["y"].grad) == (
        "tensor([[4., 4., 4.],\n        [4., 4., 4.],\n        [4., 4., 4.]])"
    )


@pytest.mark.parametrize("load", TORCHES)
def test_without_the_third_line_the_sources_claim_holds(load: Any) -> None:
    space: dict[str, Any] = {"torch": load()}
    lines = SNIPPET.splitlines(True)

    exec("".join(lines[:2] + lines[3:]), space)

    assert repr(space["x"].grad) == (
        "tensor([[8., 8., 8.],\n        [8., 8., 8.],\n        [8., 8., 8.]])"
    )


# What the source printed: y before the third line, y after it, z.
FIRST_Y = [2.3281, 2.5035, 0.7760, 6.5842, 3.2868, 1.2125, 0.8045, 5.5803, 5.6090]
SECOND_Y = [0.1635, 1.0521, -0.3305, -0.1648, -0.3370, -0.1706, -0.6183, 1.1766, 0.4418]
PRINTED_Z = [8.3123, 9.0141, 2.1038, 25.3369, 12.1474, 3.8501, 2.2181, 21.3214, 21.4362]


def test_the_z_that_the_source_printed_was_made_of_the_first_y() -> None:
    # Four printed digits of y are four times as uncertain in z.
    assert all(abs(4 * y - 1 - z) < 0.0003 for y, z in zip(FIRST_Y, PRINTED_Z, strict=True))
    assert all(abs(4 * y - 1 - z) > 1 for y, z in zip(SECOND_Y, PRINTED_Z, strict=True))


@pytest.mark.parametrize("load", TORCHES)
def test_an_inner_result_keeps_its_gradient_only_when_asked(load: Any) -> None:
    torch = load()
    x = torch.tensor(5.0, requires_grad=True)
    y = 2 * x + 3
    y.retain_grad()
    inner = 4 * y
    (inner - 1).backward()

    assert str(y.grad) == "tensor(4.)"
    with pytest.warns(UserWarning, match="non-leaf"):
        assert inner.grad is None
