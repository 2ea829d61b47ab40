"""Measure what a process uses of the machine, set its limits, and say how it ended.

After reading this file you can say which limits the system itself holds a learner's process to.
It needs the standard library only. Read next: ``child.py``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from autodiff_kit.grading.messages import LimitsSent

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["computed", "how_it_ended", "limit_resources", "taken_memory"]


def taken_memory() -> int:
    """Return the bytes of address space that this process has already, or 0 if it cannot tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def computed(process: int) -> float | None:
    """Return the seconds of processor time that a process has used, or None if it cannot tell."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return time.clock_gettime(~process << 3 | 2)  # as clock_getcpuclockid does
    except OSError:
        return None


def limit_resources(limits: LimitsSent, in_use: int) -> None:
    """Let the system itself stop what grows too large (where it can: not on Windows)."""
    if resource is None:
        return
    values = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(limits["total"]) + 1,
        "RLIMIT_FSIZE": limits["file"],
        "RLIMIT_NOFILE": 64,
    }
    if in_use:  # what Python and NumPy take already is not the learner's
        values["RLIMIT_AS"] = in_use + limits["memory"] * 2**20
    for name, value in values.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def how_it_ended(status: int) -> str:
    """Say an exit status in words; negative ones are signals."""
    if status >= 0:
        return f"The process ended itself with status {status}."
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = str(-status)
    why = {"SIGSEGV": " (a recursion too deep for the machine?)", "SIGXCPU": " (too much CPU time)"}
    return f"The process was ended by the signal {name}{why.get(name, '')}."
