"""A learner's function is run within bounds, and leaves nothing behind."""

import contextlib
import gc
import sys
import threading
import time

import pytest

import autodiff_kit as torch
from autodiff_kit.core.mode import local
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.record import record
from autodiff_kit.record.notes import Notes
from autodiff_kit.widgets import Compare, Slope, at_points, running
from autodiff_kit.widgets.running import FullSpeed, Refused, Stopped, name_of, run, the_tensor
from tests.widgets.clock import the_clock_strikes


def square(x):
    return x * x


def test_a_run_gives_the_value_and_the_recording():
    value, recording = run(square, torch.tensor(3.0, requires_grad=True))

    assert value.item() == 9
    assert [node["op"] for node in recording.nodes] == [None, "mul"]


def test_keywords_reach_the_function():
    value, _ = run(lambda x, *, power: x**power, torch.tensor(2.0), power=3)

    assert value.item() == 8


@the_clock_strikes
def test_a_bare_endless_loop_ends_when_time_is_up():
    def forever(x):
        while True:
            pass

    with pytest.raises(Refused, match=r"forever was stopped: it was still running after 0.1 sec"):
        run(forever, torch.tensor(1.0), seconds=0.1)


@the_clock_strikes
def test_an_endless_loop_that_catches_everything_ends_too():
    def stubborn(x):
        while True:
            with contextlib.suppress(BaseException):
                x = x * 1.0

    with pytest.raises(Refused, match="stubborn was stopped"):
        run(stubborn, torch.tensor(1.0), seconds=0.05, operations=10**9)


def test_too_many_operations_are_refused_with_their_number():
    def many(x):
        for _ in range(2000):
            x = x + 1
        return x

    with pytest.raises(Refused, match="more than 1,000 operations"):
        run(many, torch.tensor(1.0), operations=1000)


def test_errors_of_the_function_come_through():
    with pytest.raises(ZeroDivisionError):
        run(lambda x: 1 // 0, torch.tensor(1.0))


def test_a_stop_by_the_learner_comes_through():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted, torch.tensor(1.0))


def test_the_grad_mode_is_put_back():
    run(lambda x: torch.set_grad_enabled(False), torch.tensor(1.0))

    assert torch.is_grad_enabled()


def test_a_recorder_outside_is_not_told():
    x = torch.tensor(3.0)

    with record() as outer:
        run(square, x)
        torch.tensor(1.0)

    assert [event["kind"] for event in outer.events] == ["leaf"]


@the_clock_strikes
def test_after_a_run_nothing_comes_late():
    def just_in_time(x):
        time.sleep(0.05)
        return x

    for _ in range(5):  # the clock strikes at about the moment at which the function is done
        with contextlib.suppress(Refused):
            run(just_in_time, torch.tensor(1.0), seconds=0.05)

    time.sleep(0.2)
    assert not [thread for thread in threading.enumerate() if thread.name == "clock of a lab"]


@the_clock_strikes
def test_a_clock_that_strikes_while_it_is_being_started_is_ended_all_the_same():
    for _ in range(20):
        with contextlib.suppress(Refused):
            run(lambda: None, seconds=0.0)

    time.sleep(0.2)
    assert not [thread for thread in threading.enumerate() if thread.name == "clock of a lab"]


class Struck:
    """A context manager that a time limit interrupts on the way out, before it does anything."""

    def __init__(self, inner):
        self.inner = inner
        self.strikes = iter([Stopped("struck")])  # a clock strikes once

    def __enter__(self):
        return self.inner.__enter__()

    def __exit__(self, *error):
        for strike in self.strikes:
            raise strike
        self.inner.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def tracing():
    tools = getattr(sys, "monitoring", None)
    return sys.gettrace(), [tools and tools.get_tool(tool) for tool in range(6)]


@pytest.mark.parametrize("part", ["installed", "record"])
def test_a_clock_that_strikes_on_the_way_out_leaves_no_observer_and_no_tracing(monkeypatch, part):
    whole = getattr(running, part)
    monkeypatch.setattr(running, part, lambda *args: Struck(whole(*args)))
    before, outer = tracing(), Observer()

    with installed(outer):
        with pytest.raises(Refused, match="was stopped: struck"):
            run(square, torch.tensor(3.0))

        assert local.mode.observer is outer
    assert tracing() == before


def test_a_recording_that_is_struck_while_it_begins_leaves_no_tracing(monkeypatch):
    begin = Notes.begin

    def struck(self):
        begin(self)
        raise Stopped("struck")

    monkeypatch.setattr(Notes, "begin", struck)
    before = tracing()

    with pytest.raises(Refused, match="was stopped: struck"):
        run(square, torch.tensor(3.0))

    assert local.mode.observer is None
    assert tracing() == before


@pytest.mark.parametrize("part", ["installed", "enable_grad"])
def test_a_bounded_call_that_is_struck_on_the_way_out_leaves_the_modes(monkeypatch, part):
    whole = getattr(at_points, part)
    monkeypatch.setattr(at_points, part, lambda *args: Struck(whole(*args)))
    outer = Observer()

    with torch.no_grad(), installed(outer):
        with pytest.raises(Refused, match="was stopped: struck"):
            at_points.bounded(5.0, square, torch.tensor(3.0))

        assert local.mode.observer is outer
        assert not torch.is_grad_enabled()
        gc.collect()  # what was struck puts back what it found when it is collected


def test_an_observer_of_a_block_that_was_struck_on_the_way_out_never_comes_back():
    blocks = []  # as a cycle keeps it, until the garbage collector comes to it

    def struck(x):
        blocks.append(installed(Observer()))
        blocks[-1].__enter__()
        raise Stopped("struck")  # before the way out has put anything back

    with pytest.raises(Refused, match="was stopped: struck"):
        run(struck, torch.tensor(3.0))
    blocks.clear()
    gc.collect()

    assert local.mode.observer is None


@pytest.fixture
def no_threads(monkeypatch):
    """Python as a browser has it (Pyodide)."""

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)


def test_labs_do_their_work_where_there_are_no_threads(no_threads):
    lab = Slope(square, -2, 2, x=1.0)
    compared = Compare(square, x=2.0)

    assert run(square, torch.tensor(3.0))[0].item() == 9
    assert lab.canvas.caption.startswith("At x = 1 the value is 1 and the slope 2")
    assert (lab.message, compared.message, compared.agrees) == ("", "", True)


def protected():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def calls_itself():
    try:
        while True:
            pass
    except BaseException:
        calls_itself()


@the_clock_strikes
@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 cannot watch itself")
@pytest.mark.parametrize("stubborn", [protected, calls_itself])
@pytest.mark.parametrize("has_threads", [True, False])
def test_no_loop_is_protected_from_the_clock(stubborn, has_threads, request):
    if not has_threads:
        request.getfixturevalue("no_threads")

    with pytest.raises(Refused, match=r"was stopped: it was still running after 0\.05 sec"):
        run(lambda x: stubborn(), torch.tensor(1.0), seconds=0.05, of=stubborn)


@the_clock_strikes
@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 cannot watch itself")
@pytest.mark.parametrize("catches", [True, False])
def test_an_endless_loop_ends_where_there_are_no_threads(no_threads, catches):
    def forever(x):
        while True:
            with contextlib.suppress(BaseException if catches else ValueError):
                while True:
                    pass

    tools = [sys.monitoring.get_tool(tool) for tool in range(6)]
    for _ in range(2):
        with pytest.raises(Refused, match=r"forever was stopped: it was still running after 0\.02"):
            run(forever, torch.tensor(1.0), seconds=0.02)
    assert [sys.monitoring.get_tool(tool) for tool in range(6)] == tools


def test_time_is_not_up_after_a_run_where_there_are_no_threads(no_threads):
    run(square, torch.tensor(1.0), seconds=0.02)
    end = time.perf_counter() + 0.05

    while time.perf_counter() < end:
        pass


def test_the_tensor_says_what_came_instead():
    x = torch.tensor(1.0)

    assert the_tensor(x, square) is x
    with pytest.raises(Refused, match="square returned nothing"):
        the_tensor(None, square)
    with pytest.raises(Refused, match=r"square returned the float 1\.0; this lab needs a tensor"):
        the_tensor(1.0, square)


def test_functions_have_names_without_addresses():
    class Model:
        def __call__(self, x):
            return x

    assert [name_of(square), name_of(lambda x: x), name_of(Model())] == [
        "square",
        "the lambda",
        "Model",
    ]


@the_clock_strikes
@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 cannot watch itself")
def test_what_is_timed_is_not_watched_and_what_follows_is(no_threads):
    def forever(x):
        names = {tool: sys.monitoring.get_tool(tool) for tool in range(6)}
        tools = [tool for tool, name in names.items() if name and name != "autodiff_kit"]
        before.extend(map(sys.monitoring.get_events, tools))
        with FullSpeed():
            events.append([sys.monitoring.get_events(tool) for tool in tools])
        while True:
            pass

    before, events = [], []  # of what looks at the clock; a recorder only counts loops
    with pytest.raises(Refused, match="forever was stopped"):
        run(forever, torch.tensor(1.0), seconds=0.3)
    assert any(before) and events and not any(events[0])
