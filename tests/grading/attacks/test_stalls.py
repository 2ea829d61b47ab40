"""Whatever a process says, asks or does not read: the one who listens is done in time."""

import dataclasses
import itertools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_kit.grading import child, supervision, wire
from autodiff_kit.grading.calls import Call, Limits
from autodiff_kit.grading.child import answer_to
from autodiff_kit.grading.supervision import supervise

LIMITS = Limits(seconds=3, total=30, waiting=90)
CALLS = [Call(f"def drive(step, data): return {n}", float(n), is_example=n < 2) for n in range(6)]
AT = {"call": child.RUNNING, "number": 1, "cell": 0, "line": 1}
STEP = 0.001  # seconds that each piece takes on its way


@dataclasses.dataclass
class Liar:
    """A process that has the key, and says what it likes, on a clock of the test's own."""

    pieces: Iterator[bytes]
    clock: types.SimpleNamespace
    reads: bool

    def send(self, request: bytes, seconds: float) -> bool:
        self.clock.now += STEP if self.reads else max(seconds, STEP)
        return self.reads

    def read(self, seconds: float) -> bytes | None:
        piece = next(self.pieces, None)
        self.clock.now += max(seconds, 0) if piece is None else STEP
        return piece

    def cpu(self) -> float | None:
        return 0.1 * self.clock.now  # as one that the machine lets wait

    def end(self) -> str:
        return ""


def asks_for_ever(say: Any) -> Iterator[bytes]:
    while True:
        yield say({"call": child.ASKED, "value": 1})


def trickles(say: Any) -> Iterator[bytes]:
    for byte in say(answer_to(0, value="x" * 2**22)):
        yield bytes([byte])


def asks_and_trickles(say: Any) -> Iterator[bytes]:
    while True:
        for byte in say({"call": child.ASKED, "value": 1}):
            yield bytes([byte])


def says_nothing(say: Any) -> Iterator[bytes]:
    yield from ()


def begins_statements_for_ever(say: Any) -> Iterator[bytes]:
    while True:
        yield say(AT)


TALKS = {
    "asks for ever": (asks_for_ever, False),
    "answers in pieces without end": (trickles, False),
    "asks in pieces": (asks_and_trickles, False),
    "says nothing": (says_nothing, False),
    "begins statements for ever": (begins_statements_for_ever, True),
}


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "does not read"])
@pytest.mark.parametrize("name", TALKS)
def test_a_process_that_keeps_the_grader_busy_costs_its_time_and_no_points(
    name: str, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, is_loading = TALKS[name]
    clock = types.SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(supervision, "time", clock)

    def start(request: bytes) -> Liar:
        secret = wire.decode(request[4:], len(request))["secret"].tobytes()

        numbers = itertools.count()

        def say(message: Any) -> bytes:
            data = wire.encode(message)
            return wire.frame(wire.signature(data, next(numbers), secret[: child.KEY]) + data)

        def all_said() -> Iterator[bytes]:
            yield say(answer_to(child.READY))
            yield say(answer_to(child.READ, value=[[0, 0, "x = 1"]]))
            yield say(AT)
            if not is_loading:
                yield say(answer_to(child.LOADED))
            yield from talk(say)

        return Liar(all_said(), clock, reads)

    calls = [dataclasses.replace(call, reply=lambda data, question: np.ones(9)) for call in CALLS]
    replies = supervise(start, "x = 1", calls, LIMITS)

    assert {reply.status for reply in replies} <= {"timeout", "refused"}
    assert clock.now < LIMITS.total + LIMITS.waiting + 2
