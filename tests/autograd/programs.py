"""Run a program with PyTorch and with the kit; everything it prints, warns and raises is equal."""

from textwrap import dedent

from autodiff_kit.core.mode import local
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run_both

GIVEN = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 4.0], requires_grad=True)
d = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
Function = torch.autograd.Function

def attempt(function):
    try:
        print("gives", function())
    except Exception as error:
        print(type(error).__name__, str(error).split("\\n")[0])
"""


def check(program: str, setup: str = "") -> None:
    """Compare a program that knows either package as ``torch``."""
    whole = GIVEN + dedent(setup) + dedent(program)
    assert run_both(require_torch(), whole).printed
    assert local.mode.observer is None  # nothing is left that watches
