"""A time limit for code that is run in this very process: in labs, and by checks in a browser.

After reading you know how ``while True: pass`` is survived: a second thread looks at the clock and,
when time is up, has Python raise an exception in the thread that runs. No signal handler, no trace
function and no other thing that belongs to the whole process is touched. In a browser's own Python
(Pyodide, JupyterLite) there are no threads; there the running code itself looks at the clock, at
each turn of a loop and at each call (``sys.monitoring``).

Code that catches the exception and goes on is met by the next one. From Python 3.12 on one is then
raised at *each* turn of a loop and each call: no ``except BaseException: pass`` has a turn of its
own that it protects. (A trace function would not do: Python drops it after it has raised.)
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import CodeType

__all__ = ["AGAIN", "CLOCK", "Clock", "FullSpeed", "Stopped"]

CLOCK = "clock of a lab"  # the name of what watches, a thread or a tool
AGAIN = 0.05  # seconds until the next try, if the exception was caught
# What undoes and imports things is not interrupted at each of its calls.
_SPARED = (str(Path(__file__).parent), "<frozen ")


class Stopped(BaseException):
    """Ends the learner's code; no Exception, so that ``except Exception`` does not catch it."""


class Clock:
    """Ends what this thread does inside the ``with`` block after so many seconds.

    Parameters
    ----------
    seconds : float
    stop : type of BaseException, optional
        What is raised. The default is a ``Stopped`` that says what to look for.
    """

    def __init__(self, seconds: float, stop: type[BaseException] | None = None) -> None:
        self._seconds = seconds
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._has_sent = False
        self._end_looking: Callable[[], None] = lambda: None
        message = (
            f"it was still running after {seconds:g} seconds.\n"
            "-> Look for a loop that never ends: something in its condition has to change. If it "
            "does end, give it less to do."
        )
        self._stop: type[BaseException] = stop or type(
            "Stopped", (Stopped,), {"__str__": lambda self: message}
        )

    def __enter__(self) -> None:
        watch = threading.Thread(target=self._watch, name=CLOCK, daemon=True)
        try:
            watch.start()
        except RuntimeError:  # there are no threads here
            self._end_looking = _looking(self._seconds, self._stop, self._thread)

    def __exit__(self, *error: object) -> None:
        is_over = False
        while not is_over:
            try:
                self._end_looking()
                with self._lock:
                    self._over.set()
                # One that is on its way comes now, where it does no harm: Python looks at each
                # turn of a loop. (It cannot be taken back; to try would slow this thread down.)
                for _ in range(100 if self._has_sent else 0):
                    pass
                is_over = True
            except self._stop:
                continue
        self._end_looking()  # it may have begun in the meantime

    def _watch(self) -> None:
        if self._over.wait(self._seconds):
            return
        is_looking = False
        while True:
            with self._lock:
                if self._over.is_set():
                    return
                if self._has_sent and not is_looking:
                    is_looking = True
                    self._end_looking = _looking(0, self._stop, self._thread)
                self._has_sent = True
                exception, thread = ctypes.py_object(self._stop), ctypes.c_ulong(self._thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, exception)
            if self._over.wait(AGAIN):
                return


def _looking(seconds: float, stop: type[BaseException], thread: int) -> Callable[[], None]:
    """Raise an exception in the code of a thread when time is up; return what ends that.

    Before Python 3.12, which no browser has, nothing looks.
    """
    if sys.version_info < (3, 12):
        return lambda: None
    monitoring = sys.monitoring
    tools = (number for number in range(6) if monitoring.get_tool(number) is None)
    tool = next(tools, None)
    if tool is None:  # debuggers and the like have them all
        return lambda: None
    until = perf_counter() + seconds
    again = until + AGAIN

    def look(code: CodeType, *_: object) -> None:
        nonlocal again
        now = perf_counter()
        if now <= until or code.co_filename == look.__code__.co_filename:
            return
        if threading.get_ident() != thread:
            return
        if code.co_filename.startswith(_SPARED):
            if now < again:
                return
            again = now + AGAIN
        raise stop

    def end() -> None:
        if monitoring.get_tool(tool) == name:
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)

    name = f"{CLOCK}, {id(look)}"
    monitoring.use_tool_id(tool, name)
    for event in (monitoring.events.JUMP, monitoring.events.PY_START):
        monitoring.register_callback(tool, event, look)
    monitoring.set_events(tool, monitoring.events.JUMP | monitoring.events.PY_START)
    return end


class FullSpeed:
    """Let code run at its own speed inside, where the code itself has to look at the clock.

    It is not stopped then: this is for calls that have come back before.
    """

    def __enter__(self) -> None:
        self._events: dict[int, int] = {}
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            names = {tool: monitoring.get_tool(tool) or "" for tool in range(6)}
            clocks = [tool for tool, name in names.items() if name.startswith(CLOCK)]
            self._events |= {tool: monitoring.get_events(tool) for tool in clocks}
            for tool in clocks:
                monitoring.set_events(tool, 0)

    def __exit__(self, *error: object) -> None:
        if sys.version_info >= (3, 12):
            for tool, mask in self._events.items():
                sys.monitoring.set_events(tool, mask)
