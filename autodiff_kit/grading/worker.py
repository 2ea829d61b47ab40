"""Run a learner's code: in a plain process that works on every system, or in this very one.

After reading this file you can say what a bare Python sees (the standard library and NumPy), and
what `Level0` keeps apart and what not; `InProcess` is for code one trusts. Read next:
``sandbox.py``, the process behind walls.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_kit.clock import Clock
from autodiff_kit.grading import child, seal, usage, wire
from autodiff_kit.grading.calls import Call, Fault, Limits, Reply, Work
from autodiff_kit.grading.messages import Claim, Message
from autodiff_kit.grading.supervision import order_of, reply_of, request_of, supervise

__all__ = ["HAS_PROCESSES", "InProcess", "Level0", "bare_environment", "bare_python", "own_runner"]

HERE = Path(__file__).parent
LEAST = 0.1  # seconds for a call that is begun
HAS_PROCESSES = sys.platform != "emscripten"  # the Python of a browser has none


class InProcess:
    """Run code in this very process: for code one trusts. Its time is limited, and nothing else."""

    level = "in process"

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order."""
        order = order_of(calls)
        messages: list[Claim] = []

        def emit(message: Message) -> None:
            if message["call"] != child.RUNNING:
                messages.append(wire.decode(wire.encode(message), limits.reply))

        def ask(number: int, question: Any) -> Any:
            call = calls[[*order[0], *order[1]][number]]
            return child.value_of(call.answer_to(wire.decode(wire.encode(question), limits.reply)))

        request = request_of(Work.of(code), calls, order, limits, b"")
        first, second = (wire.decode(data, 2**40) for data in request)
        before = sys.modules.get("submission")
        with np.errstate():
            clock = functools.partial(_Within, limits, time.monotonic() + limits.total)
            child.run(first["work"], (first["calls"], second), emit, limits.output, ask, clock)
        if before is not None:
            sys.modules["submission"] = before
        names = Work.of(code).names
        cells = next(m["value"] for m in messages if m["call"] == child.READ)
        if cells is None:
            return [Reply("unreadable", error=messages[-1]["error"])] * len(calls)
        replies = {
            number: _timed(reply_of(message, limits, cells, names), limits)
            for number, message in zip([*order[0], *order[1]], messages[3:], strict=True)
        }
        return [
            replies[n] if call.is_example else replies[n].without_words()
            for n, call in enumerate(calls)
        ]


class _Within:
    """Limits the time of a statement or of a call, with an eye on that of them all together."""

    def __init__(self, limits: Limits, until: float) -> None:
        left = until - time.monotonic()
        self.is_over = left <= 0
        self.clock = Clock(min(limits.seconds, max(left, LEAST)), child.TimeUp)

    def __enter__(self) -> None:
        if self.is_over:
            raise child.TimeUp
        try:
            self.clock.__enter__()
        except child.TimeUp:  # on a very busy machine it strikes while it begins
            self.clock.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        self.clock.__exit__(*error)


def _timed(reply: Reply, limits: Limits) -> Reply:
    """Return a reply in which time was up as one that says so."""
    if not reply.error.startswith(child.TimeUp.__name__):
        return reply
    words = "It did not end" if reply.loading else "No answer"
    error = f"{words} within {limits.seconds:g} s."
    return Reply("timeout", error=error, place=reply.place, loading=reply.loading)


class Level0:
    """A plain process for each submission, on any system.

    It keeps the answers and the grader's own process apart from the learner's code. It does not
    keep that code from the files and the network that the user who started the grader can reach.
    """

    level = "0 process"

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order; never raise for what the learner's code did."""
        return supervise(_Plain, code, calls, limits)


def own_runner() -> InProcess | Level0:
    """Return what runs a learner's own code for the learner: no grade comes of it."""
    return Level0() if HAS_PROCESSES else InProcess()


def bare_python(module: str = "child") -> list[str]:
    """Return the command of a Python that sees the standard library and, in it, NumPy alone.

    NumPy is imported from its folder, which then leaves the path: its neighbours are not there.
    The kit's few files that the child needs are loaded under their names and then forgotten. No
    code of theirs knows its path: what prints frames, in C, shows none.
    """
    packages = str(Path(np.__file__).parents[1])
    start = f"""
import sys, types
from importlib.machinery import FileFinder, SourceFileLoader

class Loader(SourceFileLoader):
    def get_code(self, name):
        return nameless(super().get_code(name))

def nameless(code):
    parts = [nameless(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.replace(co_filename={seal.GRADER!r}, co_consts=tuple(parts))

sys.path.append({packages!r})
import numpy, numpy.random, numpy.linalg
sys.path.remove({packages!r})
for name, path in (("autodiff_kit", []), ("autodiff_kit.grading", [{str(HERE)!r}])):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
sys.path_importer_cache[{str(HERE)!r}] = FileFinder({str(HERE)!r}, (Loader, [".py"]))
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

    def send(self, request: bytes, seconds: float) -> bool:
        self.requests.put(request)  # it is not waited for
        return True

    def read(self, seconds: float) -> bytes | None:
        try:
            return self.chunks.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None

    def cpu(self) -> float | None:
        return usage.computed(self.process.pid)

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
        return "" if status is None else usage.how_it_ended(status)
