"""The process behind walls: how well it can be shut in here, and a fork server that does it.

After reading this file you can say what each isolation level promises, how the grader finds out
which one this machine gives (it tries, and makes sure that ordinary imports still work), and how
a submission gets in and its answers get out. Read next: ``walls.py``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from autodiff_kit.grading import wire
from autodiff_kit.grading.calls import Call, Fault, Limits, Process, Reply, Runner, Work
from autodiff_kit.grading.supervision import START, supervise
from autodiff_kit.grading.worker import bare_environment, bare_python

__all__ = ["LEVELS", "Finding", "Sandbox", "Walls", "best_walls", "probe"]

# The files of the kit that the process behind walls is made of.
OWN = ("child", "messages", "namespace", "notebook", "seal", "usage", "walls", "wire", "zygote")
LEVELS = {
    0: "0 process: answers and judging in another process; all files of its user (solutions and "
    "other packages, too), network, other processes are in reach",
    1: "1 confined: no files but Python's, no sockets, no new processes, bounded memory and time",
    2: "2 sandboxed: as level 1, and cut off from the network and the sight of other processes",
}


@dataclasses.dataclass(frozen=True)
class Walls:
    """One way of shutting submissions in."""

    namespaces: bool = True  # made by ourselves
    bubblewrap: bool = False  # made by the program `bwrap`
    user: int | None = None  # the user to become, for root
    landlock: bool = True

    @property
    def level(self) -> int:
        """The level of isolation that these walls give."""
        return 2 if self.namespaces or self.bubblewrap else 1

    @property
    def name(self) -> str:
        """The name of the level, as it stands in each row of results."""
        return LEVELS[self.level].split(":")[0]

    @property
    def names(self) -> list[str]:
        """Each wall by its name."""
        parts = ["bubblewrap" if self.bubblewrap else "namespaces"] * (self.level == 2)
        parts += ["Landlock"] * self.landlock + ["seccomp"]
        return parts + ["a user of its own"] * (self.user is not None)

    def __str__(self) -> str:
        """Name the walls for people."""
        return ", ".join(self.names)


def candidates() -> Iterator[Walls]:
    """Yield the sets of walls to try, the best first."""
    if not sys.platform.startswith("linux"):
        return
    # A number that no account of the machine has, and its own for each grader.
    own = 64_000 + os.getpid() % 1000 if os.getuid() == 0 else None
    users = (own, None) if own else (None,)
    for user in users:
        yield Walls(user=user)
    if shutil.which("bwrap"):
        for user in users:
            for landlock in (True, False):
                yield Walls(namespaces=False, bubblewrap=True, user=user, landlock=landlock)
    for user in users:
        yield Walls(namespaces=False, user=user)


class Sandbox:
    """Submissions behind walls, each in a fork of a warm process.

    Parameters
    ----------
    walls : Walls
        What `probe` found to work here.
    """

    def __init__(self, walls: Walls) -> None:
        self.walls = walls
        self.level = walls.name
        self._server: _Server | None = None

    def run_calls(self, code: str | Work, calls: Sequence[Call], limits: Limits) -> list[Reply]:
        """Return one reply per call, in order; never raise for what the learner's code did."""
        return supervise(self._start, code, calls, limits)

    def _start(self, request: bytes) -> Process:
        if self._server is not None:
            with contextlib.suppress(OSError):
                return _Forked(self._server, request)
            self.close()  # it is gone: a new one
        self._server = _Server(self.walls)
        try:
            return _Forked(self._server, request)
        except OSError as error:
            raise Fault(f"The fork server is gone: {error}") from error

    def close(self) -> None:
        """End the fork server and whatever runs in it."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Sandbox:
        """Return itself."""
        return self

    def __exit__(self, *ignored: object) -> None:
        """End the fork server."""
        self.close()


class _Server:
    def __init__(self, walls: Walls) -> None:
        ours, theirs = socket.socketpair()
        files, folders = readable()
        command = [*bare_python("zygote"), str(theirs.fileno())]
        if walls.bubblewrap:
            command = [*_bubblewrap(files), *command]
        outside = walls.user if walls.bubblewrap else None  # bubblewrap itself runs as that user
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=bare_environment(),
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                user=outside,
                group=outside,
                extra_groups=None if outside is None else [],
            )
        except OSError as error:
            ours.close()
            raise Fault(f"The fork server does not start: {error}") from error
        finally:
            theirs.close()
        self.control = ours
        self.control.settimeout(START)
        setting = {
            "user": None if walls.bubblewrap else walls.user,
            "namespaces": walls.namespaces,
            "landlock": walls.landlock,
            "files": files,
            "folders": folders,
            "taken": 0,
        }
        try:
            self.control.sendall(wire.frame(wire.encode(setting)))
            problem = self.told()
            if problem.startswith("LookupError") and walls.user is not None:  # of an encoding
                problem = "another user cannot read this Python"
        except (OSError, EOFError) as error:
            problem = f"no answer ({error})"
        if problem:
            self.close()
            raise Fault(f"The fork server does not come up: {problem}")

    def told(self) -> str:
        return str(wire.decode(*wire.unframe(self.control.recv)))

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Forked:
    def __init__(self, server: _Server, request: bytes) -> None:
        self.server = server
        self.talk, theirs = socket.socketpair()
        self.is_closed = False
        self.ended: str | None = None
        try:
            with theirs:
                socket.send_fds(server.control, [b"R"], [theirs.fileno()])
        except OSError:
            self.talk.close()
            raise
        self.send(request, START)

    def send(self, request: bytes, seconds: float) -> bool:
        # A process that could not be forked, or does not read, shows in its silence.
        self.talk.settimeout(max(seconds, 1e-6))
        try:
            self.talk.sendall(request)
        except TimeoutError:
            return False
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has ended: what it said before that is still there to be read
        return True

    def read(self, seconds: float) -> bytes | None:
        self.talk.settimeout(max(seconds, 1e-6))
        try:
            chunk = self.talk.recv(2**16)
        except TimeoutError:
            return None
        except ConnectionError:
            chunk = b""
        self.is_closed = not chunk
        return chunk

    def cpu(self) -> float | None:
        try:
            self.server.control.sendall(b"T")
            seconds = self.server.told()
        except (OSError, EOFError, wire.WireError):
            return None
        return float(seconds) if seconds else None

    def end(self) -> str:
        if self.ended is None:
            self.talk.close()
            self.ended = ""
            try:
                self.server.control.sendall(b"W" if self.is_closed else b"K")
                self.ended = self.server.told()
            except (OSError, EOFError, wire.WireError) as error:
                self.server.close()
                raise Fault(f"The fork server is gone: {error}") from error
        return self.ended


def readable() -> tuple[list[str], list[str]]:
    """Return what a submission may read, and what it may list but not read.

    The standard library, the system's shared libraries and NumPy; no other package, neither of
    this Python nor of another one, and nothing of the kit.
    """
    paths = sysconfig.get_paths()
    libraries = {"/lib", "/lib64", "/usr/lib", "/usr/lib64", f"{sys.base_prefix}/lib"}
    libraries |= {paths["stdlib"], paths["platstdlib"], *_of_base("stdlib", "platstdlib")}
    hidden = {os.path.realpath(Path(__file__).parents[1])}
    for folder in libraries | {paths["purelib"], "/usr/lib", "/usr/local/lib"}:
        for pattern in ("*-packages", "python*/*-packages"):
            hidden.update(map(os.path.realpath, glob.glob(f"{folder}/{pattern}")))
    files: set[str] = set()
    folders: set[str] = set()

    def add(path: str) -> None:
        if path in hidden:
            return
        if not any(other.startswith(path + "/") for other in hidden):
            files.add(path)
            return
        folders.add(path)
        for entry in os.scandir(path):
            add(entry.path)

    for path in libraries:
        if os.path.isdir(path):
            add(os.path.realpath(path))
    numpy = Path(np.__file__).parent
    files.update(map(str, (numpy, numpy.with_name("numpy.libs"))))
    files.update(("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo"))
    return sorted(filter(os.path.exists, files)), sorted(folders)


def _of_base(*names: str) -> list[str]:
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    base |= {"installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
    return [sysconfig.get_path(name, vars=base) for name in names]


def _bubblewrap(files: list[str]) -> list[str]:
    """Return the command that shows these files only, and no network and no other process."""
    here = Path(__file__).parent
    own = [str(here / f"{name}.py") for name in OWN]
    own.append(os.path.realpath(bare_python()[0]))
    mounts = [part for path in [*files, *own] for part in ("--ro-bind", path, path)]
    for path in ("/lib", "/lib64", "/bin"):
        if os.path.islink(path):
            mounts += ["--symlink", os.readlink(path), path]
    walls = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return [
        shutil.which("bwrap") or "bwrap",
        *walls,
        *mounts,
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--remount-ro",
        "/",
        "--",
    ]


_HONEST = """
import array, bisect, collections, contextlib, copy, csv, ctypes, dataclasses, datetime, decimal
import enum, fractions, functools, glob, hashlib, heapq, html, inspect, io, itertools, json, math
import operator, pathlib, pickle, random, re, statistics, string, tempfile, textwrap, threading
import time, typing, unittest, uuid, warnings, weakref, xml.etree.ElementTree, zlib
import numpy as np, numpy.fft, numpy.polynomial, numpy.testing

def honest(x):
    @dataclasses.dataclass
    class Pair:
        first: float
    thread = threading.Thread(target=print)
    thread.start(), thread.join()
    rng = np.random.default_rng(1)
    return Pair(float(np.linalg.solve(np.eye(2), [x, x])[0])).first + 0 * rng.normal()
"""
_HONEST_DRIVER = "def drive(step, data):\n    return step.honest(data)"
_BREAKING_OUT = """def drive(step, data):
    import ctypes, importlib, os, socket, sys
    def send():
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))
    def start():
        try:
            os.execv("/nothing/here", ["x"])
        except FileNotFoundError:
            pass  # asked for, and only not found
    def import_neighbour():
        sys.path.append(data["packages"])
        importlib.import_module("click")
    tries = {
        "read a file": lambda: open(data["file"]).read(),
        "write a file": lambda: open(data["file"], "r+"),
        "use the network": send,
        "start a process": lambda: os.fork() or os._exit(0),
        "start a program": start,
        "signal another process": lambda: os.kill(data["process"], 0),
        "change a file's mode": lambda: os.chmod(data["file"], os.stat(data["file"]).st_mode),
        "import another package": import_neighbour,
    }
    done = []
    for name, attempt in tries.items():
        try:
            attempt()
        except (OSError, ImportError):
            continue
        done.append(name)
    return done"""


def self_test(runner: Runner) -> str:
    """Return what is wrong with a runner, or nothing.

    Ordinary imports must work - otherwise attacks fail for the wrong reason, and honest work with
    them - and what the walls are for must not be possible.
    """
    here = {
        "packages": str(Path(np.__file__).parents[1]),
        "file": __file__,
        "process": os.getpid(),
    }
    honest, breaking = runner.run_calls(
        _HONEST,
        [Call(_HONEST_DRIVER, 2.5, is_example=True), Call(_BREAKING_OUT, here, is_example=True)],
        Limits(seconds=10),
    )
    if honest.status != "ok" or honest.value != 2.5:
        return f"ordinary code does not run: {honest.status} {honest.error}"
    if breaking.status != "ok":
        return f"the walls cannot be tried: {breaking.status} {breaking.error}"
    if breaking.value:
        return f"a submission can {', '.join(breaking.value)}"
    return ""


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one set of walls did when it was tried; `problem` is empty if they stand."""

    walls: Walls
    problem: str


def probe() -> list[Finding]:
    """Try the sets of walls, the best first, until one stands; return what was seen."""
    attempts = []
    for walls in candidates():
        with Sandbox(walls) as sandbox:
            try:
                problem = self_test(sandbox)
            except Fault as fault:
                problem = str(fault)
        attempts.append(Finding(walls, problem))
        if not problem:
            break
    return attempts


def best_walls() -> Walls | None:
    """Return the best walls that stand on this machine; None if there are none."""
    attempts = probe()
    return attempts[-1].walls if attempts and not attempts[-1].problem else None
