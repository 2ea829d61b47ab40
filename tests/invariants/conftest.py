import pytest

import autodiff_kit as ak
from tests.gate import some
from tests.invariants.running import PROGRAMS, Run, run
from tests.parity import require_torch

LIBRARIES = ["kit", pytest.param("PyTorch", marks=pytest.mark.parity)]


@pytest.fixture(params=LIBRARIES, scope="session")
def programs(request: pytest.FixtureRequest) -> list[Run]:
    """Return the programs of the bank, each recorded once; outside of the gate, some."""
    torch = ak if request.param == "kit" else require_torch()
    return [run(name, torch) for name in some(PROGRAMS, 50)]


@pytest.fixture(params=LIBRARIES, scope="session")
def before_backward(request: pytest.FixtureRequest) -> list[Run]:
    """Return those that end in ``out.backward()``, without that."""
    torch = ak if request.param == "kit" else require_torch()
    ends = {n: text.rsplit("out.backward(", 1)[0] for n, text in PROGRAMS.items()}
    ends = {n: ends[n] for n in some(ends, 70)}
    return [run(n, torch, text) for n, text in ends.items() if text.count("backward(") == 0]
