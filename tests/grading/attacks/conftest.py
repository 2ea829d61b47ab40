"""The places where an attack runs: a plain process, and one behind walls."""

import os
from collections.abc import Iterator

import pytest

from autodiff_kit.grading.calls import Runner
from autodiff_kit.grading.one_submission import runner_for
from autodiff_kit.grading.worker import Level0
from tests.grading.standing import PLACES, WALLS


@pytest.fixture(scope="module", params=PLACES)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """What runs the code, once in each place."""
    if request.param == "plain process":
        yield Level0()
    elif WALLS is None:
        assert os.environ.get("ADK_REQUIRE_SANDBOX") != "1", "no walls stand on this machine"
        pytest.skip("no walls stand on this machine, see `autodiff-kit doctor`")
    else:
        with runner_for(WALLS) as walled:  # type: ignore[union-attr]
            yield walled
