"""The walls that stand on this machine; finding out takes a while, so it is done once."""

from functools import cache

import pytest

from autodiff_kit.grading.sandbox import probe
from tests.gate import IN_THE_GATE

tried_once = cache(probe)
_attempts = tried_once()
WALLS = _attempts[-1].walls if _attempts and not _attempts[-1].problem else None

# Each attack is tried wherever the tests run; both ways take a minute more.
unless_behind_walls = pytest.mark.skipif(
    WALLS is not None and not IN_THE_GATE, reason="takes minutes: the gate runs it"
)
PLACES = [pytest.param("plain process", marks=unless_behind_walls), "walls"]
