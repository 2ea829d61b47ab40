"""Ask a learner's code questions, from the safe end of a pipe.

After reading this file you can say how a question (`Call`) becomes an answer (`Reply`), and why
nothing that the code does can end the grader, or keep it: it runs in a process of its own, has a
time limit for every answer, whatever it says or asks meanwhile, and talks in bounded plain data
only. Read next: ``worker.py``, the processes.
"""

from __future__ import annotations

import dataclasses
import hmac
import os
import re
import struct
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodiff_kit.grading import child, wire
from autodiff_kit.grading.calls import LINES, Call, Fault, Limits, Process, Reply, Work, clean
from autodiff_kit.grading.messages import Begun, CallSent, Claim, Request, WorkSent
from autodiff_kit.grading.notebook import MAX_CODE, lines_of

__all__ = ["START", "order_of", "reply_of", "request_of", "supervise"]

MAX_SOURCE = 4 * MAX_CODE + 2**16  # bytes of all cells, as they come back from being read
READING = 2**22  # bytes a second, at the least: stored outputs take time to be passed over
MAX_STOPS = 5  # statements of one submission that may end its process, and are then left out
MAX_ASKED = 100_000  # questions of one call that the grader answers
PATIENCE = 10  # times as long by the clock as of computing, at most
LOOK = 0.3  # seconds from one look at what was computed to the next
RUNS = 0.02  # share of a core below which a process is not waiting for the machine
START = 30.0  # seconds that a process may take to come up: the machine's fault, not the learner's


def supervise(
    start: Callable[[bytes], Process], code: str | Work, calls: Sequence[Call], limits: Limits
) -> list[Reply]:
    """Put the calls to a child made by ``start``; where one ends it, go on in a new child.

    A driver that ended a child is not run again: its other calls get the same reply, so that an
    infinite loop costs its time once. So with a statement of the cells: it is left out, and is the
    reason for the names that are then missing. A child that ends while it reads the file has run
    none of the learner's code: the file is read once more, and is unreadable if that ends the next
    child, too.
    """
    work = Work.of(code)
    is_second_reading = False
    replies: dict[int, Reply] = {}
    ended: dict[str, Reply] = {}
    stops: list[Reply] = []
    clock = _Clock(limits)
    while True:
        for number, call in enumerate(calls):
            if number not in replies and call.driver in ended:
                replies[number] = ended[call.driver]
        waiting = [number for number in range(len(calls)) if number not in replies]
        if not waiting:
            return [replies[number] for number in range(len(calls))]
        if clock.is_over():
            late = Reply("timeout", error=f"More than {limits.total:g} s for the whole submission.")
            replies.update(dict.fromkeys(waiting, late))
            continue
        calls_left = [calls[number] for number in waiting]
        try:
            for number, reply, is_end in _answers(start, work, calls_left, limits, clock):
                is_left_out = stops and reply.status == "missing"
                if is_left_out:
                    reply = dataclasses.replace(stops[0], absent=reply.absent)
                replies[waiting[number]] = reply
                if is_end:
                    ended[calls_left[number].driver] = reply
        except _Stopped as stop:
            stops.append(stop.reply)
            work = dataclasses.replace(work, skip=(*work.skip, stop.number))
            if len(stops) > MAX_STOPS:
                replies.update(dict.fromkeys(waiting, stops[0]))
        except _Unread as unread:
            if is_second_reading:
                replies.update(dict.fromkeys(waiting, unread.reply))
            is_second_reading = True
        except Fault as fault:
            waiting = [number for number in waiting if number not in replies]
            replies.update(dict.fromkeys(waiting, Reply("fault", error=str(fault))))


class _Stopped(Exception):
    """A child ended, or took too long, at one statement of the cells."""

    def __init__(self, reply: Reply, number: int) -> None:
        super().__init__(reply.error)
        self.reply = reply
        self.number = number


class _Unread(Exception):
    """A child ended, or took too long, while it read the file."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.error)
        self.reply = reply


def order_of(calls: Sequence[Call]) -> tuple[list[int], list[int]]:
    """Return the numbers of the examples, and those of the others."""
    numbers = range(len(calls))
    return [n for n in numbers if calls[n].is_example], [
        n for n in numbers if not calls[n].is_example
    ]


def request_of(
    work: Work,
    calls: Sequence[Call],
    order: tuple[list[int], list[int]],
    limits: Limits,
    secret: bytes,
) -> tuple[bytes, bytes]:
    """Return the two messages to a child: its work and the examples, and then the other calls."""

    def sent(numbers: list[int]) -> list[CallSent]:
        chosen = (calls[number] for number in numbers)
        return [{"driver": textwrap.dedent(call.driver), "data": call.sent} for call in chosen]

    first, second = map(sent, order)
    handed_in: WorkSent = {
        "data": np.frombuffer(work.data, np.uint8),
        "suffix": work.suffix,
        "names": list(work.names),
        "given": work.given,
        "instead": work.instead,
        "locked": list(work.locked),
        "skip": list(work.skip),
    }
    request: Request = {
        "work": handed_in,
        "calls": first,
        "limits": limits.sent,
        "secret": np.frombuffer(secret, np.uint8),
    }
    try:
        return wire.encode(request), wire.encode(second)
    except wire.WireError as error:  # data that is not plain
        raise ValueError(f"The question cannot be sent: {error}") from error


def _answers(
    start: Callable[[bytes], Process],
    work: Work,
    calls: Sequence[Call],
    limits: Limits,
    clock: _Clock,
) -> Iterator[tuple[int, Reply, bool]]:
    """Yield (number, reply, whether it ended the child) as long as the child can answer."""
    order = order_of(calls)
    secret = os.urandom(3 * child.KEY)
    first, second = request_of(work, calls, order, limits, secret)
    process = start(wire.frame(first))
    frames = _Frames(process, secret[: child.KEY], clock)

    def stopped(reading: bool = False) -> Reply:
        how = process.end()
        late = frames.open or "SIGXCPU" in how
        text = f"No answer within {limits.seconds:g} s." if frames.open else how
        text = text or "The process closed its line to the grader."
        if reading:
            return Reply("unreadable", error=f"The file cannot be read. {text}")
        return Reply("timeout" if late else "died", error=text)

    running: Begun = {
        "call": child.RUNNING,
        "number": 0,
        "cell": -1,
        "line": 0,
    }  # what the child says before each statement

    def with_place(reply: Reply) -> Reply:
        """Return why the cells did not come to their end, with the place."""
        error = f"It did not end within {limits.seconds:g} s."
        error = error if reply.status == "timeout" else reply.error
        place = _place(cells, running["cell"], running["line"])
        return Reply(reply.status, error=error, place=place, loading=True)

    cells: list[Any] = []
    try:
        frames.begin(START)
        if frames.next(child.READY, limits.reply) is None:
            raise Fault(f"The process for the learner's code did not come up. {process.end()}")
        places = [child.READ, child.LOADED, *range(len(calls))]
        numbers = [-1, -1, *order[0], *order[1]]
        for place, number in zip(places, numbers, strict=True):
            reply = None
            if place == len(order[0]):
                process.send(wire.frame(wire.veiled(second, secret)), clock.left(limits.seconds))
            try:
                limit = MAX_SOURCE if place == child.READ else limits.reply
                extra = len(work.data) / READING if place == child.READ else 0.0
                frames.begin(clock.left(limits.seconds) + extra)
                message = frames.next(place, limit)
                for _ in range(MAX_ASKED):
                    if message is None or message["call"] != child.ASKED:
                        break
                    answer = wire.encode(calls[number].answer_to(message.get("value")))
                    # A child may ask without end, and read nothing of what it is told.
                    message = frames.next(place, limit) if frames.send(answer) else None
                while message is not None and message["call"] == child.RUNNING:
                    running = _statement(message)
                    # Its own time for each; and no child can make more of them than there is.
                    frames.begin(clock.left(limits.seconds))
                    message = None if clock.is_over() else frames.next(place, limit)
                if message is not None:
                    reply = reply_of(message, limits, cells, work.names)
            except wire.WireError as error:  # what follows cannot be trusted to be whole either
                reply, ended = Reply("refused", error=f"No answer of the right form: {error}"), True
            else:
                ended = reply is None
            if reply is None and place == child.READ:
                raise _Unread(stopped(reading=True))
            if reply is None:
                reply = stopped()
            if place == child.READ and reply.status == "ok":
                cells = reply.value
            elif (
                place == child.LOADED and running["number"] and ended and reply.status != "refused"
            ):
                raise _Stopped(with_place(reply), running["number"])
            elif place == child.READ or (place == child.LOADED and ended):
                # There is nothing to run, or no cell was begun.
                yield from ((number, reply, True) for number in range(len(calls)))
                return
            elif place != child.LOADED:
                yield number, reply if calls[number].is_example else reply.without_words(), ended
            if ended:
                return
    finally:
        process.end()


class _Clock:
    """The time that is left for a submission; what a busy machine takes is given back."""

    def __init__(self, limits: Limits) -> None:
        self.latest = time.monotonic() + limits.total
        self.room = limits.waiting

    def left(self, seconds: float) -> float:
        return min(seconds, max(self.latest - time.monotonic(), 0.1))

    def is_over(self) -> bool:
        return time.monotonic() > self.latest

    def put_off(self, seconds: float) -> float:
        """Return how much of this time may be added, and add it."""
        seconds = min(seconds, self.room)
        self.room -= seconds
        self.latest += seconds
        return seconds


class _Frames:
    """Messages, put together from whatever pieces of them arrive.

    The time for one is that of computing: a process which the machine lets wait gets more.
    """

    def __init__(self, process: Process, key: bytes, clock: _Clock) -> None:
        self.process = process
        self.key = key
        self.number = 0
        self.clock = clock
        self.data = bytearray()
        self.open = True
        self.born = self.begun = time.monotonic()
        self.seconds = self.deadline = 0.0
        self.look: tuple[float, float] | None = None

    def begin(self, seconds: float) -> None:
        """Begin to count the time for an answer."""
        self.begun = time.monotonic()
        self.seconds, self.deadline, self.look = seconds, self.begun + seconds, None

    def send(self, answer: bytes) -> bool:
        """Send an answer within the time that is left; tell whether it was taken."""
        while (left := self.deadline - time.monotonic()) <= 0:
            if not self._goes_on():
                return False
        return self.process.send(wire.frame(answer), left)

    def next(self, place: int, limit: int) -> Claim | None:
        """Return the message whose turn it is, or None if time or stream end before it.

        Raises
        ------
        WireError
            For a message of another form or place.
        """
        while (message := self._message(limit)) is None:
            left = self.deadline - time.monotonic()
            # What is there already is read; but a message that trickles in for ever has an end.
            chunk = self.process.read(left) if left > -LOOK else None
            if chunk is None and self._goes_on():
                continue
            if not chunk:
                self.open = chunk is None
                return None
            self.data += chunk
        answer = wire.decode(message, limit, child.REPLY_ITEMS)
        places = (
            place,
            {child.READ: child.READ, child.LOADED: child.RUNNING}.get(place, child.ASKED),
        )
        call = answer.get("call") if type(answer) is dict else None
        if type(call) is not int or call not in places:
            raise wire.WireError("it is out of order.")
        return answer

    def _goes_on(self) -> bool:
        """Tell whether the time is over by the clock alone; then put its end off."""
        used, now = self.process.cpu(), time.monotonic()
        if used is None or now - self.begun > PATIENCE * self.seconds:
            return False
        before, self.look = self.look, (used, now)
        # Earlier answers took no more of the processor than they took time.
        left = self.seconds - max(used - (self.begun - self.born), 0.0)
        is_waiting = before is not None and used - before[0] < RUNS * (now - before[1])
        if left <= 0.05 * self.seconds or is_waiting:  # for a lock, or asleep
            return False
        more = self.clock.put_off(min(left, LOOK))
        self.deadline = now + more
        return more > 0

    def _message(self, limit: int) -> bytes | None:
        if len(self.data) < 4:
            return None
        (length,) = struct.unpack("<I", self.data[:4])
        if length > limit + wire.SIGNATURE:
            raise wire.WireError(f"it takes more than {limit:,} bytes.")
        if len(self.data) < 4 + length:
            return None
        message = bytes(self.data[4 : 4 + length])
        del self.data[: 4 + length]
        sign, message = message[: wire.SIGNATURE], message[wire.SIGNATURE :]
        if not hmac.compare_digest(sign, wire.signature(message, self.number, self.key)):
            raise wire.WireError("your code has written among the answers (os.write, os.dup2).")
        self.number += 1
        return message


_TEXTS = {
    **{"status": str, "error": str, "output": str, "kind": str, "absent": str},
    **dict.fromkeys(("cell", "line", "cell_called", "line_called"), int),
    "loading": bool,
}


def _statement(message: Claim) -> Begun:
    """Return which statement a child begins: numbers, whatever else it says."""
    number, cell, line = (message.get(name) for name in ("number", "cell", "line"))
    if type(number) is int and type(cell) is int and type(line) is int:
        return {"call": child.RUNNING, "number": number, "cell": cell, "line": line}
    raise wire.WireError("its parts are not all there.")


def reply_of(message: Claim, limits: Limits, cells: list[Any], names: Sequence[str]) -> Reply:
    """Return a child's message as a reply, believing no word of it."""
    if any(type(message.get(name)) is not kind for name, kind in _TEXTS.items()):
        raise wire.WireError("its parts are not all there.")
    status, error = message["status"], message["error"]
    if status not in ("ok", "raised", "missing", "memory", "refused", "unreadable"):
        raise wire.WireError("The answer has no status that a child can give.")
    if status == "unreadable" and message["call"] != child.READ:
        raise wire.WireError("The file was read before.")
    at, called = ((message[f"cell{n}"], message[f"line{n}"]) for n in ("", "_called"))
    return Reply(
        status,
        message.get("value") if status == "ok" else None,
        clean(error),
        clean(message["output"], limits.output, LINES),
        message["kind"] if message["kind"] in child.KINDS else "",
        _place(cells, *at),
        _line(cells, *called, names),
        message["loading"],
        clean(message["absent"], 80),
        at != called,
    )


def _is_there(cells: list[Any], cell: int, line: int) -> bool:
    """Tell whether there is such a line, or none: an answer, as most are."""
    return 0 <= cell < len(cells) and 0 < line <= len(lines_of(cells[cell][2]))


def _line(cells: list[Any], cell: int, line: int, names: Sequence[str]) -> str:
    """Return which line of the learner's code it is, in no word of the learner's."""
    if not _is_there(cells, cell, line):
        return ""
    number, above, source = cells[cell]
    defined = [name for name in names if re.search(rf"^(def|class) {name}\b", source, re.MULTILINE)]
    where = f"the cell with `{defined[0]}`" if defined else f"code cell {number}"
    return f"in {where}, line {above + line}" if number else f"line {above + line}"


def _place(cells: list[Any], cell: int, line: int) -> str:
    """Return a line of the learner's code, found in the file itself and not in the child's word."""
    if not _is_there(cells, cell, line):
        return ""
    number, above, source = cells[cell]
    lines = lines_of(source)
    # JupyterLab shows no numbers of code cells: a cell is known by how it begins.
    begin = next((text for text in lines if text.strip()), "")
    where = f'in the cell "{clean(begin.strip(), 60)}", ' if number else ""
    return f"{where}line {above + line}: {clean(lines[line - 1].strip(), 200)}"
