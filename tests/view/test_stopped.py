"""The Stepper's last step, after each of the commonest errors, on the kit and on real PyTorch."""

from functools import cache
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from autodiff_kit.view import build
from tests.parity import require_torch
from tests.record.cells import cell
from tests.view.stories import STORIES

pytestmark = pytest.mark.filterwarnings("ignore")
PYTORCH = require_torch()
LIBRARIES = pytest.mark.parametrize("library", [ak, PYTORCH], ids=["kit", "torch"])


@cache
def stopped(name: str, library: Any) -> tuple[Recording, Exception, int]:
    """Record a program that is refused: the recording, the error, and the line that noticed it."""
    library.manual_seed(0)
    try:
        with ak.record(library) as recording:
            cell(STORIES[name][0], {"torch": library})
    except Exception as error:
        lines, trace = [], error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename.startswith("<cell"):
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return recording, error, lines[-1]
    raise AssertionError(f"{name} is not refused")


def last_step(name: str, library: Any) -> dict[str, Any]:
    return dict(build(stopped(name, library)[0]).frames[-1])


@LIBRARIES
@pytest.mark.parametrize("name", STORIES)
def test_the_last_step_tells_cause_error_message_and_cure(name: str, library: Any) -> None:
    _, error, raised_at = stopped(name, library)
    step = last_step(name, library)
    explanation = step["explanation"]
    places = explanation["places"]
    lines = [place["line"] for place in places if place["line"] is not None]

    assert step["kind"] == "error"
    assert explanation["error"] == type(error).__name__
    assert str(error).startswith(explanation["message"][:40])
    assert explanation["title"] and explanation["fix"]
    assert lines == STORIES[name][1]
    assert raised_at in lines
    assert type(error).__name__ in step["caption"]
    for place in places:
        assert place["words"].endswith((".", "?", ".`"))
    if len(places) > 1:
        assert any(place["node"] is not None for place in places)


@pytest.mark.parametrize("name", STORIES)
def test_it_is_told_in_the_same_words_of_the_kit_and_of_pytorch(name: str) -> None:
    ours, theirs = (last_step(name, library)["explanation"] for library in (ak, PYTORCH))

    assert [p["words"] for p in ours["places"]] == [p["words"] for p in theirs["places"]]
    assert (ours["title"], ours["fix"]) == (theirs["title"], theirs["fix"])
    assert [p["node"] is None for p in ours["places"]] == [
        p["node"] is None for p in theirs["places"]
    ]
