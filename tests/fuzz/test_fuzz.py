"""The first programs of the fuzzer, in the gate; ``python -m tests.fuzz`` runs more."""

from functools import cache

import pytest

from tests.parity import require_torch

require_torch()

from tests.fuzz.__main__ import Result, run_many  # noqa: E402
from tests.fuzz.known import reason_for  # noqa: E402
from tests.fuzz.running import Difference, replay, run_seed  # noqa: E402
from tests.fuzz.shrinking import as_source, shrunk  # noqa: E402
from tests.fuzz.writing import FLAVOURS  # noqa: E402

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]
COUNT = 400  # programs of each flavour
WRONG = ("value", "gradient", "dtype", "shape", "requires_grad", "is_leaf", "accepted")


@cache
def first_programs(flavour: str) -> Result:
    return run_many(COUNT, 0, 1, flavour)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_programs_give_in_the_kit_what_they_give_in_pytorch(flavour: str) -> None:
    result = first_programs(flavour)

    ending = [examples[0] for cause, examples in result.causes.items() if cause[0] in WRONG]
    if ending:
        seed, difference, lines = ending[0]
        small, last = shrunk(lines, difference)
        pytest.fail(f"seed {seed}: {last}\n{as_source(small)}")


@pytest.mark.parametrize("kind", ["grad_fn", "version", "strides"])
def test_nearly_all_checks_agree(kind: str) -> None:
    results = [first_programs(flavour) for flavour in FLAVOURS]

    checks = sum(result.checks[kind] for result in results)
    assert sum(result.disagreements[kind] for result in results) <= 0.001 * checks


def test_a_seed_is_one_program() -> None:
    assert run_seed(7).lines == run_seed(7).lines != run_seed(8).lines


def test_a_replay_says_what_the_first_run_said() -> None:
    run = run_seed(5)

    assert replay(run.lines).checks == run.checks


def test_what_differs_is_found_and_made_small() -> None:
    lines = ["a = torch.ones(2)", "b = a * 2", "r = torch.__name__", "c = b + a"]
    (difference,) = replay(lines).differences

    assert difference.kind == "repr"
    assert shrunk(lines, difference)[0] == ["r = torch.__name__"]


def test_a_wrong_value_has_no_excuse() -> None:
    lines = ["a = torch.ones(2)", "b = a + 1"]
    difference = Difference("value", lines[1], "b", "2.0", "3.0")

    assert reason_for(difference, lines) is None
