"""Programs that the fuzzer has written and made small are right, by what was wrong in them.

PyTorch, which runs beside the kit, says what is right.
"""

import pytest

from tests.parity import require_torch

require_torch()

from tests.fuzz.known import reason_for  # noqa: E402
from tests.fuzz.once_wrong import gradients, hooks, messages, values, views  # noqa: E402
from tests.fuzz.running import replay  # noqa: E402

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]
PROGRAMS = {**values.PROGRAMS, **gradients.PROGRAMS, **views.PROGRAMS, **hooks.PROGRAMS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_were_once_wrong_are_right(name: str) -> None:
    run = replay(PROGRAMS[name])

    differences = [d for d in run.differences if d.kind != "message"]
    assert [d for d in differences if reason_for(d, run.lines) is None] == []
    assert run.lines == PROGRAMS[name]


@pytest.mark.parametrize("name", messages.PROGRAMS)
def test_errors_that_were_once_worded_otherwise_are_pytorchs(name: str) -> None:
    run = replay(messages.PROGRAMS[name])

    assert run.differences == []
    assert run.lines == messages.PROGRAMS[name]
