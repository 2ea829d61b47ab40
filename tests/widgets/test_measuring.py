"""Measuring calls: in turn, by the median, and not where that would flood a notebook."""

import functools
import math
import subprocess
import sys
import time
from typing import Any

import pytest

from autodiff_kit.widgets import measuring
from autodiff_kit.widgets.measuring import micro, prints, seconds_of


def test_times_are_medians_of_calls_in_turn() -> None:
    called: list[str] = []

    def often_slow() -> None:  # four times of five
        called.append("slow")
        time.sleep(0.002 if called.count("slow") % 5 else 0)

    slow, quick = seconds_of(often_slow, lambda: called.append("quick"))

    assert slow >= 0.002 > quick
    assert called[::2] == ["slow"] * (len(called) // 2)
    assert called[1::2] == ["quick"] * (len(called) // 2)


FAULTS = """
import resource
import numpy as np
from autodiff_kit.widgets.measuring import seconds_of

faults = []

def held():  # ten arrays of 400,000 bytes, as a graph of ten nodes holds them
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(100_000, np.float32) for _ in range(10)]
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

seconds_of(held)
print(sorted(faults)[len(faults) // 2])
"""


def test_what_is_timed_finds_its_memory_at_hand() -> None:
    run = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)

    pages = 10 * 400_000 // 4096  # each a fault, were the memory fetched anew in every call
    assert int(run.stdout) < pages / 10


def test_a_call_that_is_quicker_than_the_steps_of_the_clock_has_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0

    def call() -> None:
        nonlocal now
        now += 7e-6

    def clock() -> float:  # as in a browser: it is read in no time, and goes on by 0.1 ms
        nonlocal now
        now += 1e-7
        return math.floor(now / 1e-4) * 1e-4

    monkeypatch.setattr(measuring, "perf_counter", clock)

    (seconds,) = seconds_of(call)

    assert seconds == pytest.approx(7e-6, rel=0.1)


def test_a_machine_that_is_busy_just_then_is_not_taken_for_a_slow_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, calls = 0.0, 0

    def call() -> None:
        nonlocal now, calls
        calls += 1
        now += 0.01 if calls in (2, 3) else 7e-6  # others had the processor

    def clock() -> float:
        nonlocal now
        now += 1e-7
        return math.floor(now / 1e-4) * 1e-4

    monkeypatch.setattr(measuring, "perf_counter", clock)

    (seconds,) = seconds_of(call)

    assert seconds == pytest.approx(7e-6, rel=0.1)


def says(x: Any) -> Any:
    print(x)
    return x


def calls_one_that_says(x: Any) -> Any:
    return says(x) + 1


def calls_itself(n: int) -> int:
    return calls_itself(n - 1) if n else 0


def has_one_inside(x: Any) -> Any:
    def inside() -> None:
        print(x)

    inside()
    return x


def refers_to_later() -> Any:
    def first(x: Any) -> Any:
        return second(x)

    outcome = prints(first)  # its cell is still empty
    second = says
    return outcome, first


@functools.wraps(says)
def wraps_one_that_says(x: Any) -> Any:
    return says(x)


LATER = refers_to_later()


@pytest.mark.parametrize(
    "function", [says, calls_one_that_says, has_one_inside, LATER[1], wraps_one_that_says]
)
def test_a_print_is_found_also_in_what_is_called(function: Any) -> None:
    assert prints(function)


@pytest.mark.parametrize("function", [calls_itself, micro, abs])
def test_functions_that_do_not_print_and_things_without_code(function: Any) -> None:
    assert not prints(function)


def test_a_function_that_is_defined_further_down_is_no_hindrance() -> None:
    assert LATER[0] is False


def test_times_in_words() -> None:
    assert [micro(s) for s in (5.21e-5, 0.0123)] == ["52.1 µs", "12.3 ms"]
