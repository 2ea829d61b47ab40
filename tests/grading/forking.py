"""Wait in a process that has imported what it needs; return in each copy of it that is asked for.

``warm.py`` has the processes run this file: it is no module there, and imports Python's own only.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Collection

FIRST = 1000  # numbers of files from here on are free for a moment


def wait_to_be_copied(address: str, modules: Collection[str]) -> None:
    """Fork whenever somebody connects, and return in the fork; end with standard input.

    A copy has these modules only: what is imported for the waiting is not to be seen in it.

    Who connects sends a line, in JSON, and the files that it speaks of; and gets the number of the
    copy, and, when that has ended, its exit code.
    """
    lines: dict[int, socket.socket] = {}
    door = socket.socket(socket.AF_UNIX)
    door.bind(address)
    door.listen()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.collect()
    gc.freeze()  # the copies share these pages as long as no collector writes in them
    os.write(1, b"open\n")
    while True:
        ready = select.select([door, woken, 0], [], [])[0]
        if 0 in ready:
            os._exit(0)
        if woken in ready:
            os.read(woken, 4096)
            _tell_of_ends(lines)
        if door not in ready:
            continue
        line = door.accept()[0]
        files = socket.recv_fds(line, 1, 16)[1]
        with line.makefile("rb") as text:
            start = json.loads(text.readline())
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (line, door, *lines.values()):
                one.detach()  # its file is closed below, and once only
            for name in sys.modules.keys() - set(modules):
                del sys.modules[name]
            _become(start, files)
            return
        for file in files:
            os.close(file)
        lines[pid] = line
        line.send(b"%d\n" % pid)


def _tell_of_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with lines.pop(pid) as line, contextlib.suppress(OSError):  # nobody waits
            line.send(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(start: dict[str, object], files: list[int]) -> None:
    """Take the files, the folder, the environment and the words that were sent."""
    for place, file in enumerate(files):
        os.dup2(file, FIRST + place)
    os.closerange(0, FIRST)
    for place, number in enumerate(start["numbers"]):
        os.dup2(FIRST + place, number)
    os.closerange(FIRST, FIRST + len(files))
    os.setsid()
    os.environ.clear()
    os.environ.update(start["environment"])
    os.chdir(start["folder"])
    sys.argv[1:] = start["words"]
