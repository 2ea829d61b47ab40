"""The learner's mistakes: PyTorch's class and words, then a line that teaches."""

from typing import Any

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.rows import for_each
from tests.same_as_torch.mistakes import GIVEN, PROGRAMS, answers
from tests.same_as_torch.outcomes import run

ANSWERS = answers()


@pytest.fixture(scope="module")
def torch() -> Any:
    return require_torch()


def test_pytorchs_answers_are_those_to_these_programs() -> None:
    assert list(ANSWERS) == PROGRAMS


@pytest.mark.parity
@for_each("program", PROGRAMS)
def test_pytorch_fails_so(program: str, torch: Any) -> None:
    if "cuda" in program and torch.version.cuda:
        return  # this PyTorch was built for graphics cards: it says what is wrong with yours
    raised = run(torch, GIVEN + program).raised

    assert raised is not None
    assert list(raised) == ANSWERS[program]


@for_each("program", PROGRAMS)
def test_the_kit_fails_as_pytorch_does_and_says_what_to_do(program: str) -> None:
    outcome = run(autodiff_kit, GIVEN + program)

    assert outcome.raised is not None
    assert list(outcome.raised) == ANSWERS[program]
    assert outcome.advice.startswith("-> ")
    assert outcome.advice.endswith((".", ")"))
