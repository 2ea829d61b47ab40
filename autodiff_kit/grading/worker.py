"""Ask a learner's code questions, from the safe end of a pipe.

After reading this file you can say how a question (`Call`) becomes an answer (`Reply`), what each
status means, and why nothing that the code does can end the grader: it runs in a process of its
own, has a time limit for every answer, and talks in bounded plain data only. `Level0` is the plain
process that works on every system; `InProcess` is for code one trusts. Read next: ``sandbox.py``,
the process behind walls.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from autodiff_kit.grading import child, wire
from autodiff_kit.grading.notebook import MAX_CODE, lines_of

__all__ = ["Call", "Fault", "InProcess", "Level0", "Limits", "Reply", "Runner", "Work", "clean"]

HERE = Path(__file__).parent
ERROR_LENGTH = 1000
LINES = "\n\t"
REPLY_ITEMS = 50_000  # values in one answer: what is compared and shown takes time for each
MAX_SOURCE = 4 * MAX_CODE + 2**16  # bytes of all cells, as they come back from being read
READING = 2**22  # bytes a second, at the least: stored outputs take time to be passed over
MAX_STOPS = 5  # statements of one submission that may end its process, and are then left out
MAX_ASKED = 100_000  # questions of one call that the grader answers
START = 30.0  # seconds that a process may take to come up: the machine's fault, not the learner's


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    seconds: float = 3.0  # wall clock for running the cells, and again for each call
    memory: int = 512  # MiB beyond what Python and NumPy take
    output: int = 10_000  # characters printed
    reply: int = 8 * 2**20  # bytes of one answer
    file: int = 2**20  # bytes of one file
    total: float = 30.0  # wall clock for one try: reading, cells, and all calls
    tries: float = 45.0  # wall clock for all tries of a submission together


@dataclasses.dataclass(frozen=True)
class Work:
    """What a learner handed in, as it came: only the process of the learner's code reads it."""

    data: bytes
    suffix: str = ".py"
    names: tuple[str, ...] = ()
    """What the exercise asks for: it tells copies of a cell apart."""
    given: str = ""
    """The teacher's code that runs ahead."""
    skip: tuple[int, ...] = ()
    """The numbers of statements that are left out: they ended a process before."""

    @classmethod
    def of(cls, code: str | Work) -> Work:
        """Return source code as the work that it is."""
        return code if isinstance(code, Work) else cls(code.encode("utf-8", "replace"))

    @property
    def source(self) -> str:
        """All of the code, for work that is known to be a script."""
        return f"{self.given}\n\n{self.data.decode()}" if self.given else self.data.decode()


@dataclasses.dataclass(frozen=True)
class Call:
    """One question to a submission."""

    driver: str
    """Source of one function ``def drive(step, data)``. It runs beside the learner's code: `step`
    has the learner's names as attributes, `np` is NumPy."""
    data: Any
    """Plain data (`wire.encode`), different in every run."""
    is_example: bool = False
    """Whether learners may see the question and all that their code says to it. All examples are
    asked first: no word that is shown was made by code that had seen another input."""
    public: Callable[[Any], Any] | None = None
    """What is sent of the data, if not all of it."""
    reply: Callable[[Any, Any], Any] | None = None
    """What `ask` in the driver returns, of the data and a question: computed on this side."""

    @property
    def sent(self) -> Any:
        """What the process of the learner's code gets to see."""
        return self.data if self.public is None else self.public(self.data)

    def answer_to(self, question: Any) -> dict[str, Any]:
        """Return the value that the driver asks for, or the error that comes instead."""
        if self.reply is None:
            return {"value": None, "kind": "TypeError", "error": "This check answers no questions."}
        try:
            with np.errstate(all="ignore"):
                return {"value": self.reply(self.data, question), "kind": "", "error": ""}
        except Exception as error:  # the question may be anything; words could tell too much
            return {"value": None, "kind": child.kind_of(error), "error": "not for these values"}


@dataclasses.dataclass(frozen=True)
class Reply:
    """One answer. Only `value` can earn points; the texts are the learner's word."""

    status: str
    """"ok", "raised", "missing" (a name is not defined), "timeout", "memory", "died", "refused" (no
    plain data), "unreadable" (there is no code in the file), or "fault": the machine's, not the
    learner's; worth another try."""
    value: Any = None
    error: str = ""
    output: str = ""
    kind: str = ""
    """Of an error: the name of Python's or NumPy's own class of it."""
    place: str = ""
    """Of an error: the line of the learner's code, by number and as it was handed in."""
    called: str = ""
    """Of an error: the line where that code left the function that was called."""
    loading: bool = False
    """Whether it comes from running the cells, and not from the call."""
    absent: str = ""
    """The name that has no value because of that, where it is another than the one called."""

    def without_words(self) -> Reply:
        """Return the reply without any text that the learner's code may have made.

        Nor does it say how far down it stopped: functions can be as many as there are inputs.
        """
        words = {
            "raised": self.kind,
            "memory": self.kind,
            "missing": "A name is not defined.",
            "refused": "The answer is not plain data, or too much of it.",
        }
        error = words.get(self.status, self.error)
        place = self.place if self.loading else self.called
        return dataclasses.replace(self, error=error, output="", place=place, absent="")


class Runner(Protocol):
    """Anything that can ask a submission."""

    level: str

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order."""
        ...


class Fault(Exception):
    """The machine could not run a submission; the learner has no part in it."""


class Process(Protocol):
    """One child with one submission in it."""

    def send(self, request: bytes, seconds: float) -> None:
        """Send what comes after the first request; give up on one that does not take it."""
        ...

    def read(self, seconds: float) -> bytes | None:
        """Return some bytes, ``b""`` at the end, or None if none came in time."""
        ...

    def end(self) -> str:
        """Kill whatever is left; return how it had ended before, or nothing."""
        ...


def clean(text: str, length: int = ERROR_LENGTH, kept: str = "") -> str:
    """Return a stranger's text with its control characters made visible, and cut to a length.

    Ends of lines, too, if they are not ``kept``: no name and no error begins a line of its own.
    """
    text = text[:length] + ("..." if len(text) > length else "")
    if text.isprintable():
        return text
    return "".join(c if c in kept or c.isprintable() else ascii(c)[1:-1] for c in text)


class InProcess:
    """Run code in this very process: for code one trusts, and without any limit."""

    level = "in process"

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order."""
        order = _order(calls)
        messages = []

        def emit(message: dict[str, Any]) -> None:
            if message["call"] != child.RUNNING:
                messages.append(wire.decode(wire.encode(message), limits.reply))

        def ask(number: int, question: Any) -> Any:
            call = calls[[*order[0], *order[1]][number]]
            return child.value_of(call.answer_to(wire.decode(wire.encode(question), limits.reply)))

        sent = _request(Work.of(code), calls, order, limits, b"")
        first, second = (wire.decode(data, 2**40) for data in sent)
        before = sys.modules.get("submission")
        with np.errstate():
            child.run(first["work"], (first["calls"], second), emit, limits.output, ask)
        if before is not None:
            sys.modules["submission"] = before
        cells = next(m["value"] for m in messages if m["call"] == child.READ)
        if cells is None:
            return [Reply("unreadable", error=messages[-1]["error"])] * len(calls)
        replies = {
            number: _reply(message, limits, cells, calls[number])
            for number, message in zip([*order[0], *order[1]], messages[3:], strict=True)
        }
        return [
            replies[n] if call.is_example else replies[n].without_words()
            for n, call in enumerate(calls)
        ]


class Level0:
    """A plain process for each submission, on any system.

    It keeps the answers and the grader's own process apart from the learner's code. It does not
    keep that code from the files and the network that the user who started the grader can reach.
    """

    level = "0 process"

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order; never raise for what the learner's code did."""
        return supervise(_Plain, code, calls, limits)


def bare_python(module: str = "child") -> list[str]:
    """Return the command of a Python that sees the standard library and, in it, NumPy alone.

    NumPy is imported from its folder, which then leaves the path: its neighbours are not there.
    The kit's few files that the child needs are loaded under their names and then forgotten.
    """
    packages = str(Path(np.__file__).parents[1])
    start = f"""
import sys, types
sys.path.append({packages!r})
import numpy, numpy.random, numpy.linalg
sys.path.remove({packages!r})
for name, path in (("autodiff_kit", []), ("autodiff_kit.grading", [{str(HERE)!r}])):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
from autodiff_kit.grading.{module} import main
for name in [name for name in sys.modules if name.startswith("autodiff_kit")]:
    del sys.modules[name]
main()
"""
    # The python of a virtual environment only starts the real one.
    python = getattr(sys, "_base_executable", "") or sys.executable
    return [python, "-S", "-s", "-P", "-B", "-c", start]


def bare_environment() -> dict[str, str]:
    """Return the few variables that a child gets: none of the teacher's."""
    keep = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # The order of a set is the same in every run: grading again gives the same marks.
    return {**keep, **one, "PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "PATH": os.defpath}


class _Plain:
    def __init__(self, request: bytes) -> None:
        try:
            self.process = subprocess.Popen(
                bare_python(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=bare_environment(),
                cwd=os.path.abspath(os.sep),
                start_new_session=True,
            )
        except OSError as error:
            raise Fault(f"Python does not start: {error}") from error
        # Threads, because not every system can wait for a pipe and a clock at the same time.
        self.chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for work in (self._write, self._read):
            threading.Thread(target=work, daemon=True).start()
        self.send(request, 0)

    def _write(self) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError), stdin:
            while (request := self.requests.get()) is not None:
                stdin.write(request)
                stdin.flush()

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        with contextlib.suppress(OSError, ValueError), stdout:
            while chunk := os.read(stdout.fileno(), 2**16):
                self.chunks.put(chunk)
        self.chunks.put(b"")

    def send(self, request: bytes, seconds: float) -> None:
        self.requests.put(request)

    def read(self, seconds: float) -> bytes | None:
        try:
            return self.chunks.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None

    def end(self) -> str:
        try:  # one that stopped by itself gets a moment to be seen doing so
            status = self.process.wait(0.2)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.requests.put(None)
        return "" if status is None else child.how_it_ended(status)


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
    latest = time.monotonic() + limits.total
    while True:
        for number, call in enumerate(calls):
            if number not in replies and call.driver in ended:
                replies[number] = ended[call.driver]
        waiting = [number for number in range(len(calls)) if number not in replies]
        if not waiting:
            return [replies[number] for number in range(len(calls))]
        if time.monotonic() > latest:
            late = Reply("timeout", error=f"More than {limits.total:g} s for the whole submission.")
            replies.update(dict.fromkeys(waiting, late))
            continue
        asked = [calls[number] for number in waiting]
        try:
            for number, reply, is_end in _answers(start, work, asked, limits, latest):
                is_left_out = stops and reply.status == "missing"
                if is_left_out:
                    reply = dataclasses.replace(stops[0], absent=reply.absent)
                replies[waiting[number]] = reply
                if is_end:
                    ended[asked[number].driver] = reply
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


def _order(calls: Sequence[Call]) -> tuple[list[int], list[int]]:
    """Return the numbers of the examples, and those of the others."""
    numbers = range(len(calls))
    return [n for n in numbers if calls[n].is_example], [
        n for n in numbers if not calls[n].is_example
    ]


def _request(
    work: Work,
    calls: Sequence[Call],
    order: tuple[list[int], list[int]],
    limits: Limits,
    secret: bytes,
) -> tuple[bytes, bytes]:
    """Return the two messages to a child: its work and the examples, and then the other calls."""
    first, second = (
        [
            {"driver": textwrap.dedent(calls[number].driver), "data": calls[number].sent}
            for number in numbers
        ]
        for numbers in order
    )
    facts = {**dataclasses.asdict(work), "names": list(work.names), "skip": list(work.skip)}
    facts["data"] = np.frombuffer(work.data, np.uint8)
    request = {"work": facts, "calls": first, "limits": dataclasses.asdict(limits)}
    request["secret"] = np.frombuffer(secret, np.uint8)
    try:
        return wire.encode(request), wire.encode(second)
    except wire.WireError as error:  # data that is not plain
        raise ValueError(f"The question cannot be sent: {error}") from error


def _answers(
    start: Callable[[bytes], Process],
    work: Work,
    calls: Sequence[Call],
    limits: Limits,
    latest: float,
) -> Iterator[tuple[int, Reply, bool]]:
    """Yield (number, reply, whether it ended the child) as long as the child can answer."""
    order = _order(calls)
    secret = os.urandom(3 * child.TOKEN)
    first, second = _request(work, calls, order, limits, secret)
    process = start(wire.frame(first))
    frames = _Frames(process, secret[: child.TOKEN])

    def stopped(reading: bool = False) -> Reply:
        how = process.end()
        late = frames.open or "SIGXCPU" in how
        text = f"No answer within {limits.seconds:g} s." if frames.open else how
        text = text or "The process closed its line to the grader."
        if reading:
            return Reply("unreadable", error=f"The file cannot be read. {text}")
        return Reply("timeout" if late else "died", error=text)

    def left() -> float:
        return min(limits.seconds, max(latest - time.monotonic(), 0.1))

    running: dict[str, Any] = {}  # what the child says before each statement

    def with_place(reply: Reply) -> Reply:
        """Return why the cells did not come to their end, with the place."""
        error = f"It did not end within {limits.seconds:g} s."
        error = error if reply.status == "timeout" else reply.error
        place = _place(cells, running["cell"], running["line"])
        return Reply(reply.status, error=error, place=place, loading=True)

    cells: list[Any] = []
    try:
        if frames.next(child.READY, START, limits.reply) is None:
            raise Fault(f"The process for the learner's code did not come up. {process.end()}")
        places = [child.READ, child.LOADED, *range(len(calls))]
        numbers = [-1, -1, *order[0], *order[1]]
        for place, number in zip(places, numbers, strict=True):
            reply = None
            if place == len(order[0]):
                process.send(wire.frame(wire.veiled(second, secret)), limits.seconds)
            try:
                limit = MAX_SOURCE if place == child.READ else limits.reply
                extra = len(work.data) / READING if place == child.READ else 0.0
                ending = time.monotonic() + left() + extra
                message = frames.next(place, left() + extra, limit)
                for _ in range(MAX_ASKED):
                    if message is None or message["call"] != child.ASKED:
                        break
                    told = wire.encode(calls[number].answer_to(message.get("value")))
                    process.send(wire.frame(told), left())
                    message = frames.next(place, ending - time.monotonic(), limit)
                while message is not None and message["call"] == child.RUNNING:
                    running = _statement(message)
                    # Its own time for each; and no child can make more of them than there is.
                    in_time = time.monotonic() < latest
                    message = frames.next(place, left(), limit) if in_time else None
                if message is not None:
                    reply = _reply(message, limits, cells, calls[number])
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
            elif place == child.LOADED and running and ended and reply.status != "refused":
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


class _Frames:
    """Messages, put together from whatever pieces of them arrive."""

    def __init__(self, process: Process, token: bytes) -> None:
        self.process = process
        self.token = token
        self.data = bytearray()
        self.open = True

    def next(self, place: int, seconds: float, limit: int) -> dict[str, Any] | None:
        """Return the message whose turn it is, or None if time or stream end before it.

        Raises
        ------
        WireError
            For a message of another form or place.
        """
        deadline = time.monotonic() + seconds
        while (message := self._message(limit)) is None:
            chunk = self.process.read(deadline - time.monotonic())
            if not chunk:
                self.open = chunk is None
                return None
            self.data += chunk
        answer = wire.decode(message, limit, REPLY_ITEMS)
        places = (
            place,
            {child.READ: child.READ, child.LOADED: child.RUNNING}.get(place, child.ASKED),
        )
        if type(answer) is not dict or answer.get("call") not in places:
            raise wire.WireError("it is out of order.")
        return answer

    def _message(self, limit: int) -> bytes | None:
        if len(self.data) < 4:
            return None
        (length,) = struct.unpack("<I", self.data[:4])
        if length > limit + len(self.token):
            raise wire.WireError(f"it takes more than {limit:,} bytes.")
        if len(self.data) < 4 + length:
            return None
        message = bytes(self.data[4 : 4 + length])
        del self.data[: 4 + length]
        if not message.startswith(self.token):
            raise wire.WireError("it is not the child's own.")
        return message[len(self.token) :]


_TEXTS = {
    **{"status": str, "error": str, "output": str, "kind": str, "absent": str},
    **dict.fromkeys(("cell", "line", "cell_called", "line_called"), int),
    "loading": bool,
}


def _statement(message: dict[str, Any]) -> dict[str, int]:
    """Return which statement a child begins: numbers, whatever else it says."""
    parts = {name: message.get(name) for name in ("number", "cell", "line")}
    if any(type(part) is not int for part in parts.values()):
        raise wire.WireError("its parts are not all there.")
    return parts  # type: ignore[return-value]


def _reply(message: dict[str, Any], limits: Limits, cells: list[Any], call: Call) -> Reply:
    """Return a child's message as a reply, believing no word of it."""
    if any(type(message.get(name)) is not kind for name, kind in _TEXTS.items()):
        raise wire.WireError("its parts are not all there.")
    status, error = message["status"], message["error"]
    if status not in ("ok", "raised", "missing", "memory", "refused", "unreadable"):
        raise wire.WireError("The answer has no status that a child can give.")
    if status == "unreadable" and message["call"] != child.READ:
        raise wire.WireError("The file was read before.")
    place = _place(cells, message["cell"], message["line"])
    return Reply(
        status,
        message.get("value") if status == "ok" else None,
        clean(error),
        clean(message["output"], limits.output, LINES),
        message["kind"] if message["kind"] in child.KINDS else "",
        place,
        _place(cells, message["cell_called"], message["line_called"]),
        message["loading"],
        clean(message["absent"], 80),
    )


def _place(cells: list[Any], cell: int, line: int) -> str:
    """Return a line of the learner's code, found in the file itself and not in the child's word."""
    if not 0 <= cell < len(cells):
        return ""
    number, above, source = cells[cell]
    lines = lines_of(source)
    if not 0 < line <= len(lines):
        return ""
    where = f"code cell {number}, " if number else ""
    return f"{where}line {above + line}: {clean(lines[line - 1].strip(), 200)}"
