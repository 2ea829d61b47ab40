"""Anomaly mode: the first nan is led back to the line of forward, in PyTorch's words."""

import warnings

import pytest

import autodiff_kit as ak
from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
x = torch.tensor([-1.0, 2.0], requires_grad=True)
"""

PROGRAMS = {
    "the first nan raises and names its operation": """
        with torch.autograd.detect_anomaly():
            y = x.sqrt().sum()
            attempt(lambda: y.backward())
    """,
    "without the mode in forward the place is not known": """
        y = x.sqrt().sum()
        with torch.autograd.detect_anomaly():
            attempt(lambda: y.backward())
    """,
    "the second input": """
        with torch.autograd.detect_anomaly():
            y = (a * (x.sqrt() * 0)).sum()
            attempt(lambda: y.backward())
        w = torch.ones(2)
        with torch.autograd.detect_anomaly():
            attempt(lambda: torch.maximum(w, x.log()).sum().backward())
            attempt(lambda: (w * float("nan") * x).sum().backward())
    """,
    "a Function": """
        class Nan(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * float("nan")

        with torch.autograd.detect_anomaly():
            attempt(lambda: Nan.apply(x).sum().backward())
    """,
    "infinity is no anomaly": """
        with torch.autograd.detect_anomaly():
            (x.detach().clamp(min=0).requires_grad_() ** 0.5).sum().backward()
        print("no error")
    """,
    "the mode can be switched": """
        print(torch.is_anomaly_enabled())
        torch.autograd.set_detect_anomaly(True)
        print(torch.is_anomaly_enabled())
        attempt(lambda: x.sqrt().sum().backward())
        with torch.autograd.set_detect_anomaly(False):
            print(torch.is_anomaly_enabled())
        print(torch.is_anomaly_enabled())
        torch.autograd.set_detect_anomaly(False)
        attempt(lambda: x.sqrt().sum().backward())
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            attempt(lambda: x.sqrt().sum().backward())
            y = a * 1
            z = y.exp() * y
            y.add_(1)
            attempt(lambda: z.sum().backward())
    """,
    "a saved tensor that was changed": """
        with torch.autograd.detect_anomaly():
            y = a * 1
            z = y.exp() * y
            y.add_(1)
            attempt(lambda: z.sum().backward())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


def test_the_warning_shows_the_line_of_forward() -> None:
    x = ak.tensor(-1.0, requires_grad=True)

    with warnings.catch_warnings(record=True) as caught, ak.autograd.set_detect_anomaly(True):
        warnings.simplefilter("always")
        y = x.sqrt()  # the line of forward
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th"):
            y.backward()

    assert str(caught[-1].message).endswith("y = x.sqrt()  # the line of forward\n")


@pytest.mark.parametrize("inside", [False, True])
def test_a_recording_and_the_mode_go_together(inside: bool) -> None:
    x = ak.tensor(4.0, requires_grad=True)
    mode = ak.autograd.set_detect_anomaly(not inside)
    with mode, ak.record() as rec, ak.autograd.set_detect_anomaly(True):
        x.sqrt().backward()

    assert rec.note is None
    assert rec.nodes[-1]["op"] == "sqrt"
    assert x.grad.item() == 0.25
    assert not ak.is_anomaly_enabled()
