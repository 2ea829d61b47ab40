"""The fork server: Python and NumPy loaded once, behind walls, and a fork for each submission.

After reading this file you can say what a submission costs (a fork, about 3 ms) and who kills it:
this process, when the grader says so or is gone itself. No answers and no checks were ever in
here. Read next: ``sandbox.py``, which starts it and talks to it.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import time

import numpy as np

from autodiff_kit.grading import child, usage, walls, wire
from autodiff_kit.grading.messages import CallSent, Message, WorkSent

GRACE = 0.1  # seconds for a process that has closed its end to be seen ending


def main() -> None:
    """Raise the walls that the grader asks for; then serve until it is gone.

    The commands, one byte each: ``R`` with a socket - run the submission that comes in there;
    ``T`` - tell how long it has computed; ``K`` - kill it; ``W`` - give it a moment to end by
    itself, then kill it. The last two answer how it ended, in words, or with nothing.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    setting = wire.decode(*wire.unframe(control.recv))
    try:
        home, program = _raise_walls(setting)
    except Exception as error:  # even a LookupError, where a new user cannot read Python
        control.sendall(wire.frame(wire.encode(f"{type(error).__name__}: {error}")))
        return
    control.sendall(wire.frame(wire.encode("")))
    base_memory = usage.taken_memory() or setting["taken"]
    # Once here, so that what runs for the first time does not do so in every fork.
    call: CallSent = {"driver": "def drive(step, data): return 1", "data": 1}
    for suffix, source in ((".py", b"x = 1"), (".ipynb", b'{"cells": []}')):
        data = np.frombuffer(source, np.uint8)
        work: WorkSent = {
            "data": data,
            "suffix": suffix,
            "names": [],
            "given": "y = 1",
            "instead": "z = 1",
            "locked": [],
            "skip": [],
        }
        child.run(work, [[call]], _nothing, 1)
    child.shut()
    gc.collect()
    gc.freeze()  # what is here already is not looked at, and so not copied, in the forks
    _serve(control, home, program, base_memory)


def _nothing(message: Message) -> None:
    wire.decode(wire.encode(message), 2**20)


def _raise_walls(setting: dict[str, object]) -> tuple[int | None, bytes]:
    user = setting["user"]
    if isinstance(user, int):
        walls.other_user(user)
    home = None
    if setting["namespaces"]:
        walls.new_namespaces()
        keeper = os.fork()
        if keeper:  # this one stands outside and only waits
            os._exit(os.waitstatus_to_exitcode(os.waitpid(keeper, 0)[1]) & 0xFF)
        walls.die_with_parent()
        home = os.open("/proc/self/ns/pid_for_children", os.O_RDONLY)
    program = walls.forbidden_calls()
    setting["taken"] = usage.taken_memory()
    if setting["landlock"]:
        walls.only_read(setting["files"], setting["folders"])  # type: ignore[arg-type]
    return home, program


def _serve(control: socket.socket, home: int | None, program: bytes, base_memory: int) -> None:
    process: int | None = None
    while True:
        command, files, _, _ = socket.recv_fds(control, 1, 1)
        if command == b"R":
            process = _fork(home)
            if process == 0:
                _submission(files[0], program, base_memory)
            os.close(files[0])
        elif command == b"T":
            seconds = None if process is None else usage.computed(process)
            control.sendall(wire.frame(wire.encode("" if seconds is None else str(seconds))))
        else:
            ended = "" if process is None else _end(process, wait=command == b"W")
            process = None
            if not command:  # the grader is gone
                return
            control.sendall(wire.frame(wire.encode(ended)))


def _fork(home: int | None) -> int | None:
    try:
        return os.fork() if home is None else walls.own_process_namespace(home)
    except OSError:  # the socket closes without an answer: the grader's "fault"
        return None


def _submission(talk: int, program: bytes, base_memory: int) -> None:
    """Run one submission; never return."""
    try:
        # Not by the objects' own `close`: nothing but the talk with the grader may stay open here.
        talk = os.dup2(talk, 3)
        os.closerange(4, 2**20)

        def read(count: int) -> bytes:
            return os.read(talk, count)

        request = wire.decode(*wire.unframe(read))
        os.setsid()
        usage.limit_resources(request["limits"], base_memory)
        walls.drop_capabilities()
        walls.forbid_calls(program)
        child.answer(read, request, talk)
    finally:
        os._exit(0)


def _end(process: int, wait: bool) -> str:
    """Kill the process, and return how it had ended before that, or nothing."""
    deadline = time.monotonic() + (GRACE if wait else 0)
    while True:
        pid, status = os.waitpid(process, os.WNOHANG)
        if pid:
            return usage.how_it_ended(os.waitstatus_to_exitcode(status))
        if time.monotonic() >= deadline:
            os.kill(process, 9)
            os.waitpid(process, 0)
            return ""
        time.sleep(0.001)
