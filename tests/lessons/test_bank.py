"""Every answer in the lessons' questions is what the code behind it gives, here and in PyTorch."""

from importlib import import_module
from pathlib import Path

import pytest

import autodiff_kit
from autodiff_kit.lessons.bank import QUESTIONS
from tests.lessons.proofs import PROOFS
from tests.parity import require_torch
from tests.rows import for_each

for file in sorted((Path(__file__).parent / "proofs").glob("lesson_*.py")):
    import_module(f"tests.lessons.proofs.{file.stem}")


@for_each("key", QUESTIONS)
def test_the_answer_is_what_the_kit_gives(key: str) -> None:
    assert QUESTIONS[key].judge(PROOFS[key](autodiff_kit)).outcome == "right"


@pytest.mark.parity
@for_each("key", QUESTIONS)
def test_the_answer_is_what_pytorch_gives(key: str) -> None:
    assert QUESTIONS[key].judge(PROOFS[key](require_torch())).outcome == "right"


@pytest.mark.parametrize("answer", ["8 * x + 11", "z = x * 8 + 11", "4*(3+2*x)-1"])
def test_the_mended_line_may_be_written_in_other_ways(answer: str) -> None:
    assert QUESTIONS["03.mend"].judge(answer).outcome == "right"


@for_each("key", QUESTIONS)
def test_a_right_answer_is_explained_and_so_is_every_wrong_one_that_was_foreseen(key: str) -> None:
    question = QUESTIONS[key]

    assert len(question.right) > 10
    for wrong in question.why:
        verdict = question.judge(str(wrong))
        assert verdict.outcome == "wrong"
        assert verdict.text != question.otherwise
        assert len(verdict.text) > 10


def test_the_slope_explained_in_words_is_the_slope() -> None:
    # "From 3 to 3.001 ... takes y from 9 to 9.006001", "the slope is 8, but z itself is off by 9"
    assert round(3.001 * 3.001, 6) == 9.006001
    for x in (0.0, 1.0, 5.0):
        assert 4 * (2 * x + 3) - 1 - (4 * 2 * x + 3 - 1) == 9
