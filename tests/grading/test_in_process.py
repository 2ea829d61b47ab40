"""Code that is run in this very process, as in a browser tab: its time is limited."""

import sys
import threading

import pytest

from autodiff_kit.grading.calls import Call, Limits, Reply, Work
from autodiff_kit.grading.worker import InProcess

DRIVER = "def drive(step, data):\n    return step.f(data)\n"
SHORT = Limits(seconds=0.1, total=3)
ENDLESS = "def f(x):\n    while True:\n        pass\n"
PROTECTED = """def f(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""
the_clock_strikes = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
watches_itself = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="Python 3.11 cannot watch itself"
)


def replies(code: str, limits: Limits = SHORT) -> list[Reply]:
    calls = [Call(DRIVER, 1.0, is_example=True), Call(DRIVER, 2.0)]
    return InProcess().run_calls(Work.of(code), calls, limits)


@pytest.fixture(params=["threads", "no threads"])
def python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Python with threads, and as a browser has it."""
    if request.param == "no threads":
        if sys.version_info < (3, 12):
            pytest.skip("Python 3.11 cannot watch itself")

        def start(self: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", start)
    return str(request.param)


@the_clock_strikes
def test_a_function_that_never_ends_is_late_and_the_next_call_is_asked(python: str) -> None:
    first, second = replies(ENDLESS)

    assert (first.status, first.error) == ("timeout", "No answer within 0.1 s.")
    assert first.place.startswith("line ")
    assert (second.status, second.place) == ("timeout", "")


@the_clock_strikes
@watches_itself
def test_a_function_that_catches_everything_is_late_too(python: str) -> None:
    assert [reply.status for reply in replies(PROTECTED)] == ["timeout", "timeout"]


@the_clock_strikes
def test_a_cell_that_never_ends_says_so_where_its_name_is_missing(python: str) -> None:
    first, _ = replies("f = [None for _ in iter(int, 1)]")

    assert (first.status, first.loading) == ("timeout", True)
    assert first.error == "It did not end within 0.1 s."


@the_clock_strikes
def test_what_follows_a_cell_that_never_ends_is_run(python: str) -> None:
    first, second = replies("while True:\n    pass\n\ndef f(x):\n    return x\n")

    assert [(reply.status, reply.value) for reply in (first, second)] == [("ok", 1.0), ("ok", 2.0)]


@the_clock_strikes
def test_all_calls_together_have_a_limit(python: str) -> None:
    calls = [Call(DRIVER, float(k), is_example=True) for k in range(2000)]

    answers = InProcess().run_calls(Work.of(ENDLESS), calls, Limits(seconds=0.1, total=0.3))

    assert {answer.status for answer in answers} == {"timeout"}


def test_what_is_quick_is_not_disturbed(python: str) -> None:
    assert [reply.value for reply in replies("def f(x):\n    return x\n")] == [1.0, 2.0]
