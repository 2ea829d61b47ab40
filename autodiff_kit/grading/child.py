"""What happens in the process of the learner's code: run it, call it, send plain data back.

After reading this file you can say what a submission sees (its own namespace, the standard
library and NumPy; no answers, no checks, no kit) and what it can tell the grader (values; nothing
it says about itself counts). It is started in a bare Python (``worker.bare_python``) and imports
nothing of the kit but ``wire.py``. Read next: ``worker.py``, the other end of the pipe.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import io
import os
import re
import signal
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodiff_kit.grading import wire

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SUBMISSION = "<submission>"
# The numbers of two answers to no call: the learner's code is about to run, and all cells were run.
READY, LOADED = -2, -1
_DEFINES = (ast.FunctionDef, ast.ClassDef, ast.Assign)
Emit = Callable[[dict[str, Any]], None]


class Missing(AttributeError):
    """The learner's code defines no such name."""


class Step(types.ModuleType):
    """The learner's namespace; drivers read names from it as attributes."""

    def __getattr__(self, name: str) -> Any:
        """Say what is missing."""
        raise Missing(f"{name} is not defined")


class Printed(io.TextIOBase):
    """What was printed, up to a limit; the rest is dropped, not stored."""

    def __init__(self, limit: int) -> None:
        self.room = limit
        self.parts: list[str] = []

    def writable(self) -> bool:
        """Answer yes, as print asks."""
        return True

    def write(self, text: str) -> int:
        """Keep what still fits."""
        if self.room > 0:
            self.parts.append(text[: self.room])
            self.room -= len(text)
        return len(text)

    def taken(self) -> str:
        """Return what was printed since the last time."""
        text = "".join(self.parts)
        self.parts.clear()
        return text


def run(code: str, calls: list[dict[str, Any]], emit: Emit, output: int) -> None:
    """Run ``code``, then each call's driver beside it, and emit one answer after each.

    Parameters
    ----------
    code : str
        The learner's source. Lines that begin with ``# %%`` part it into cells: a cell that does
        not compile takes no other with it. After a statement that raises, the next one is run, as
        in a notebook.
    calls : list of {"driver": source of ``def drive(step, data)``, "data": plain data}
    emit : callable
        Takes {"call", "status", "value", "error", "output"}; raises ValueError for a value that
        cannot be sent.
    output : int
        How many characters of prints to keep.
    """
    step = Step("submission")
    printed = Printed(output)
    sys.modules["submission"] = step  # dataclasses and pickle look their module up there
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            emit(_answer(READY, "ok"))
            failure = _load(code, step)
            emit(_answer(LOADED, "ok"))
            for number, call in enumerate(calls):
                _drive(number, call, step, emit, printed, failure, code)
    finally:
        sys.modules.pop("submission", None)


def _answer(
    number: int, status: str, value: Any = None, error: str = "", output: str = ""
) -> dict[str, Any]:
    return {"call": number, "status": status, "value": value, "error": error, "output": output}


def _load(code: str, step: Step) -> str:
    """Run all cells; return the first error that can be why a name is missing, or nothing."""
    failure = ""
    flags = 0
    for cell in _cells(code):
        try:
            statements = ast.parse(cell, SUBMISSION).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            failure = failure or describe(error, code)
            continue
        for statement in statements:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for alias in statement.names:
                    flags |= getattr(__future__, alias.name, __future__.annotations).compiler_flag
            try:
                tree = ast.Module([statement], [])
                exec(compile(tree, SUBMISSION, "exec", flags, True), step.__dict__)
            except BaseException as error:  # also SystemExit: the statement ends, nothing more
                if isinstance(statement, _DEFINES):
                    failure = failure or describe(error, code)
    return failure


def _cells(code: str) -> Iterator[str]:
    """Yield the cells, each behind as many empty lines as keep its line numbers right."""
    start = 0
    for cell in re.split(r"(?m)^(?=# %%)", code):
        yield "\n" * start + cell
        start += cell.count("\n")


def _drive(
    number: int,
    call: dict[str, Any],
    step: Step,
    emit: Emit,
    printed: Printed,
    failure: str,
    code: str,
) -> None:
    value = None
    try:
        beside: dict[str, Any] = {"__name__": "driver", "np": np}
        exec(_driver(call["driver"]), beside)
        value = beside["drive"](step, call["data"])
        status, error = "ok", ""
    except Missing as absent:
        # Why it is missing, if a cell failed before its definition.
        status, error = ("raised", failure) if failure else ("missing", str(absent))
    except MemoryError as problem:
        status, error = "memory", describe(problem, code)
    except BaseException as problem:
        status, error = "raised", describe(problem, code)
    try:
        emit(_answer(number, status, value, error, printed.taken()))
    except MemoryError:
        emit(_answer(number, "memory", None, "MemoryError", printed.taken()))
    except ValueError as problem:
        emit(_answer(number, "refused", None, str(problem), printed.taken()))


@functools.cache  # many calls share a driver
def _driver(source: str) -> types.CodeType:
    return compile(textwrap.dedent(source), "<driver>", "exec")


def describe(error: BaseException, code: str) -> str:
    """Return class, message and the last line of the learner's code that was running."""
    try:
        message = f"{type(error).__name__}: {error}"[:2000]
    except BaseException:  # a message may be made by the learner's own code
        message = type(error).__name__
    line = None
    if isinstance(error, SyntaxError) and error.filename == SUBMISSION:
        line = error.lineno
        message = f"{type(error).__name__}: {error.msg}"
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SUBMISSION:
            line = trace.tb_lineno
        trace = trace.tb_next
    lines = code.splitlines()
    if line is None or not 0 < line <= len(lines):
        return message
    return f"{message}\nline {line}: {lines[line - 1].strip()[:200]}"


def taken_memory() -> int:
    """Return the bytes of address space that this process has already, or 0 if it cannot tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def limit_resources(limits: dict[str, Any], taken: int) -> None:
    """Let the system itself stop what grows too large (where it can: not on Windows)."""
    if resource is None:
        return
    values = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(limits["total"]) + 1,
        "RLIMIT_FSIZE": limits["file"],
        "RLIMIT_NOFILE": 64,
    }
    if taken:  # what Python and NumPy take already is not the learner's
        values["RLIMIT_AS"] = taken + limits["memory"] * 2**20
    for name, value in values.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def answer(request: dict[str, Any], reply_to: int) -> None:
    """Do what ``request`` asks, and write the answers to the file ``reply_to``."""
    limits = request["limits"]

    def emit(message: dict[str, Any]) -> None:
        data = wire.encode(message)
        if len(data) > limits["reply"]:
            raise wire.WireError(f"The answer takes more than {limits['reply']:,} bytes.")
        data = wire.frame(data)
        while data:
            data = data[os.write(reply_to, data) :]

    run(request["code"], request["calls"], emit, limits["output"])


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


def main() -> None:
    """Answer the one request that comes in on standard input."""
    source = sys.stdin.buffer
    request = wire.decode(*wire.unframe(source.read))
    # From here on, what the learner prints or reads cannot be taken for the talk with the grader.
    reply_to = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    limit_resources(request["limits"], taken_memory())
    answer(request, reply_to)
