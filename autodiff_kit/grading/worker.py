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
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from autodiff_kit.grading import child, wire

__all__ = ["Call", "Fault", "InProcess", "Level0", "Limits", "Reply", "Runner", "clean"]

HERE = Path(__file__).parent
ERROR_LENGTH = 1000
START = 30.0  # seconds that a process may take to come up: the machine's fault, not the learner's


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    seconds: float = 3.0  # wall clock for running the cells, and again for each call
    memory: int = 512  # MiB beyond what Python and NumPy take
    output: int = 10_000  # characters printed
    reply: int = 8 * 2**20  # bytes of one answer
    file: int = 2**20  # bytes of one file
    total: float = 30.0  # wall clock for everything together


@dataclasses.dataclass(frozen=True)
class Call:
    """One question to a submission."""

    driver: str
    """Source of one function ``def drive(step, data)``. It runs beside the learner's code: `step`
    has the learner's names as attributes, `np` is NumPy."""
    data: Any
    """Plain data (`wire.encode`), different in every run."""


@dataclasses.dataclass(frozen=True)
class Reply:
    """One answer. Only `value` can earn points; the texts are the learner's word."""

    status: str
    """"ok", "raised", "missing" (a name is not defined), "timeout", "memory", "died", "refused" (no
    plain data), or "fault": the machine's, not the learner's; worth another try."""
    value: Any = None
    error: str = ""
    output: str = ""


class Runner(Protocol):
    """Anything that can ask a submission."""

    level: str

    def run_calls(self, code: str, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order."""
        ...


class Fault(Exception):
    """The machine could not run a submission; the learner has no part in it."""


class Process(Protocol):
    """One child with one submission in it."""

    def read(self, seconds: float) -> bytes | None:
        """Return some bytes, ``b""`` at the end, or None if none came in time."""
        ...

    def end(self) -> str:
        """Kill whatever is left; return how it had ended before, or nothing."""
        ...


def clean(text: str, length: int = ERROR_LENGTH) -> str:
    """Return a stranger's text with its control characters made visible, and cut to a length."""
    text = text[:length] + ("..." if len(text) > length else "")
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else ascii(c)[1:-1] for c in text)


class InProcess:
    """Run code in this very process: for code one trusts, and without any limit."""

    level = "in process"

    def run_calls(self, code: str, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order."""
        answers = []

        def emit(message: dict[str, Any]) -> None:
            answers.append(wire.decode(wire.encode(message), limits.reply))

        request = wire.decode(_request(code, calls, limits), 2**40)
        before = sys.modules.get("submission")
        with np.errstate():
            child.run(code, request["calls"], emit, limits.output)
        if before is not None:
            sys.modules["submission"] = before
        return [_reply(answer) for answer in answers if answer["call"] >= 0]


class Level0:
    """A plain process for each submission, on any system.

    It keeps the answers and the grader's own process apart from the learner's code. It does not
    keep that code from the files and the network that the user who started the grader can reach.
    """

    level = "0 process"

    def run_calls(self, code: str, calls: Sequence[Call], limits: Limits) -> list[Reply]:
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
        # A thread, because not every system can wait for a pipe and a clock at the same time.
        self.chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._talk, args=(request,), daemon=True).start()

    def _talk(self, request: bytes) -> None:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        with contextlib.suppress(OSError, ValueError), stdin:
            stdin.write(request)
        with contextlib.suppress(OSError, ValueError), stdout:
            while chunk := os.read(stdout.fileno(), 2**16):
                self.chunks.put(chunk)
        self.chunks.put(b"")

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
        return "" if status is None else child.how_it_ended(status)


def supervise(
    start: Callable[[bytes], Process], code: str, calls: Sequence[Call], limits: Limits
) -> list[Reply]:
    """Put the calls to a child made by ``start``; where one ends it, go on in a new child.

    A driver that ended a child is not run again: its other calls get the same reply, so that an
    endless loop costs its time once.
    """
    replies: dict[int, Reply] = {}
    ended: dict[str, Reply] = {}
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
            process = start(wire.frame(_request(code, asked, limits)))
            for number, reply, is_end in _answers(process, waiting, limits):
                replies[number] = reply
                if is_end:
                    ended[calls[number].driver] = reply
        except Fault as fault:
            waiting = [number for number in waiting if number not in replies]
            replies.update(dict.fromkeys(waiting, Reply("fault", error=str(fault))))


def _request(code: str, calls: Sequence[Call], limits: Limits) -> bytes:
    asked = [{"driver": call.driver, "data": call.data} for call in calls]
    request = {"code": code, "calls": asked, "limits": dataclasses.asdict(limits)}
    try:
        return wire.encode(request)
    except wire.WireError as error:  # code that no file can hold, or data that is not plain
        raise ValueError(f"The question cannot be sent: {error}") from error


def _answers(
    process: Process, waiting: list[int], limits: Limits
) -> Iterator[tuple[int, Reply, bool]]:
    """Yield (number, reply, whether it ended the child) as long as the child can answer."""
    frames = _Frames(process, limits.reply)
    try:
        if frames.next(child.READY, START) is None:
            raise Fault(f"The process for the learner's code did not come up. {process.end()}")
        for place in range(child.LOADED, len(waiting)):
            try:
                reply = frames.next(place, limits.seconds)
            except wire.WireError as error:  # what follows cannot be trusted to be whole either
                reply, ended = Reply("refused", error=f"No answer of the right form: {error}"), True
            else:
                ended = reply is None
            if reply is None:
                how = process.end()
                late = frames.open or "SIGXCPU" in how
                text = f"No answer within {limits.seconds:g} s." if frames.open else how
                text = text or "The process closed its line to the grader."
                reply = Reply("timeout" if late else "died", error=text)
            if place != child.LOADED:
                yield waiting[place], reply, ended
            elif ended:  # the cells themselves do not come to an end
                yield from ((number, reply, True) for number in waiting)
            if ended:
                return
    finally:
        process.end()


class _Frames:
    """Messages, put together from whatever pieces of them arrive."""

    def __init__(self, process: Process, limit: int) -> None:
        self.process = process
        self.limit = limit
        self.data = bytearray()
        self.open = True

    def next(self, place: int, seconds: float) -> Reply | None:
        """Return the reply whose turn it is, or None if time or stream end before it.

        Raises
        ------
        WireError
            For a message of another form or place.
        """
        deadline = time.monotonic() + seconds
        while (message := self._message()) is None:
            chunk = self.process.read(deadline - time.monotonic())
            if not chunk:
                self.open = chunk is None
                return None
            self.data += chunk
        answer = wire.decode(message, self.limit)
        try:
            if answer["call"] != place:
                raise wire.WireError("it is out of order.")
            return _reply(answer)
        except (TypeError, KeyError):
            raise wire.WireError("its parts are not all there.") from None

    def _message(self) -> bytes | None:
        if len(self.data) < 4:
            return None
        (length,) = struct.unpack("<I", self.data[:4])
        if length > self.limit:
            raise wire.WireError(f"it takes more than {self.limit:,} bytes.")
        if len(self.data) < 4 + length:
            return None
        message = bytes(self.data[4 : 4 + length])
        del self.data[: 4 + length]
        return message


def _reply(message: dict[str, Any]) -> Reply:
    """Return a child's message as a reply, believing no word of it."""
    status, error, output = (message[key] for key in ("status", "error", "output"))
    if status not in ("ok", "raised", "missing", "memory", "refused"):
        raise wire.WireError("The answer has no status that a child can give.")
    if type(error) is not str or type(output) is not str:
        raise wire.WireError("The answer's texts are no texts.")
    value = message["value"] if status == "ok" else None
    return Reply(status, value, clean(error), clean(output, len(output)))
