"""Processes of the grader, copied from one which has imported what they need and ran nothing.

A judge, a fork server and a plain process spend their start on importing NumPy and the kit, the
same in each of hundreds. Here one of each kind is started by the very command that the grader
gives; before the last word of that, ``main()``, it waits (``forking.py``). Whenever the grader
starts another, a fork of that one goes on with the last word, with the files, the environment and
the folder that the grader gives. No learner's code was ever in the process that is copied. What a
judge without walls starts is never a copy: the code in it can reach the process that it comes from,
which has to be the judge.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autodiff_kit.grading import judging, sandbox, worker

STARTING: dict[str, Any] = {"judging": judging, "sandbox": sandbox, "worker": worker}
STARTED = re.compile(r"grading\.\w+ import (main|serve)\b")
LAST_WORD = re.compile(r"\w+\(\)\s*\Z")
FORKING = Path(__file__).with_name("forking.py")


class Warm:
    """Starts copies of processes, which wait at addresses in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.owner = os.getpid()
        self.waiting: list[subprocess.Popen[bytes]] = []
        self.starting = threading.Lock()  # judges are started side by side

    def start(self, command: Sequence[str], **how: Any) -> Any:
        """Start a process, as ``subprocess.Popen`` does; a copy, if there is one to be copied."""
        end = command.index("-c") + 2 if "-c" in command else 0
        is_python = command[0] in (sys.executable, worker.bare_python()[0])
        if not (is_python and end and STARTED.search(command[end - 1])):
            return subprocess.Popen(command, **how)
        name = hashlib.sha256(json.dumps(command[:end]).encode()).hexdigest()[:16]
        address = self.folder / name
        with self.starting:
            if not address.exists():
                if os.getpid() != self.owner:
                    return subprocess.Popen(command, **how)
                self._serve(command[:end], address, how)
        return Copy(address, command[end:], **how)

    def _serve(self, command: Sequence[str], address: Path, how: dict[str, Any]) -> None:
        """Start the process that is copied: the command, waiting before its last word."""
        last = LAST_WORD.search(command[-1])
        assert last is not None
        lines = [
            command[-1][: last.start()],
            "modules = set(sys.modules)",
            f"exec(open({str(FORKING)!r}).read(), waiting := {{}})",
            f"waiting['wait_to_be_copied']({str(address)!r}, modules)",
            last[0],
        ]
        if last[0].startswith("serve"):  # a judge, which starts fork servers
            lines[1:1] = [
                "from tests.grading.warm import Warm",
                f"warm = Warm({str(self.folder)!r})",
            ]
            lines[-1:-1] = ["warm.install('sandbox')"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen(
            [*command[:-1], "\n".join(lines)], env=how.get("env"), cwd=how.get("cwd"), **pipes
        )
        self.waiting.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"

    @contextlib.contextmanager
    def installed(self, *modules: str) -> Iterator[None]:
        """Let some of the grader's modules start copies, as long as it lasts."""
        with anew():
            self.install(*modules)
            yield

    def install(self, *modules: str) -> None:
        """Let some of the grader's modules start copies, in this process."""
        names = types.SimpleNamespace(**{**vars(subprocess), "Popen": self.start})
        for module in modules:
            STARTING[module].subprocess = names

    def close(self) -> None:
        """End the processes that are copied."""
        for process in self.waiting:
            process.communicate()


class Copy:
    """A copy of a process: of ``subprocess.Popen``, what the grader asks for."""

    def __init__(
        self,
        address: Path,
        words: Sequence[str],
        *,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        pass_fds: Sequence[int] = (),
        start_new_session: bool = False,
        **nothing: None,
    ) -> None:
        assert start_new_session and not any(nothing.values())
        self.args = words
        self.returncode: int | None = None
        self.stdin = self.stdout = None
        files = {number: number for number in pass_fds}
        opened: list[int] = []
        if stdin == subprocess.PIPE:
            files[0], end = os.pipe()
            self.stdin = os.fdopen(end, "wb")
            opened.append(files[0])
        if stdout == subprocess.PIPE:
            end, files[1] = os.pipe()
            self.stdout = os.fdopen(end, "rb")
            opened.append(files[1])
        for number, file in enumerate((stdin, stdout, stderr)):
            if file == subprocess.DEVNULL:
                files[number] = os.open(os.devnull, os.O_RDWR)
                opened.append(files[number])
            elif file is None:
                files[number] = number
        start = {
            "numbers": list(files),
            "words": list(words),
            "environment": dict(os.environ) if env is None else env,
            "folder": cwd or os.getcwd(),
        }
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(str(address))
        socket.send_fds(self.line, [b"+"], list(files.values()))
        self.line.sendall(json.dumps(start).encode() + b"\n")
        self.pid = int(self.line.recv(64))
        for file in opened:
            os.close(file)

    def poll(self) -> int | None:
        """Return the exit code, if it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, when it has ended."""
        if self.returncode is None:
            self.line.settimeout(timeout)
            try:
                code = self.line.recv(64)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self.line.close()
            self.returncode = int(code or -signal.SIGKILL)
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it may end just now
                os.kill(self.pid, signal.SIGKILL)


@contextlib.contextmanager
def anew() -> Iterator[None]:
    """Let all of the grader's modules start new processes, as long as it lasts."""
    before = {module: module.subprocess for module in STARTING.values()}
    for module in before:
        module.subprocess = subprocess
    try:
        yield
    finally:
        for module, names in before.items():
            module.subprocess = names


@contextlib.contextmanager
def warm() -> Iterator[Warm]:
    """Make a folder for processes that are copied; end them."""
    folder = tempfile.mkdtemp(prefix="adk-warm-")
    engine = Warm(folder)
    try:
        yield engine
    finally:
        engine.close()
        shutil.rmtree(folder, ignore_errors=True)
