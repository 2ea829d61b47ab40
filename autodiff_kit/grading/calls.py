"""Say what is asked of a learner's code, within which limits, and what can come back.

After reading this file you can say what each status of a `Reply` means, and which part of it is
the learner's word. Read next: ``supervision.py``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from autodiff_kit.grading import child
from autodiff_kit.grading.messages import LimitsSent, Told

__all__ = ["LINES", "Call", "Fault", "Limits", "Process", "Reply", "Runner", "Work", "clean"]

ERROR_LENGTH = 1000
LINES = "\n\t"


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    seconds: float = 3.0  # of computing, for each statement of the cells and for each call
    memory: int = 512  # MiB beyond what Python and NumPy take
    output: int = 10_000  # characters printed
    reply: int = 8 * 2**20  # bytes of one answer
    file: int = 2**20  # bytes of one file
    total: float = 30.0  # for one try: reading, cells, all calls, and asking again
    tries: float = 45.0  # wall clock for all tries of a submission together
    waiting: float = 90.0  # that a busy machine may add to all of that

    def after(self, seconds: float) -> Limits:
        """Return what is left when so many seconds, by the clock, are gone.

        What was waited for is not told from what was computed: as long as the machine may be let
        wait for, there is time for one more answer.
        """
        rest = max(self.total + self.waiting - seconds, 0.0)
        total = min(rest, max(self.total - seconds, self.seconds))
        return dataclasses.replace(self, total=total, waiting=rest - total)

    @property
    def sent(self) -> LimitsSent:
        """What the process of the learner's code is told of them."""
        return {
            "seconds": self.seconds,
            "memory": self.memory,
            "output": self.output,
            "reply": self.reply,
            "file": self.file,
            "total": self.total,
        }


@dataclasses.dataclass(frozen=True)
class Work:
    """What a learner handed in, as it came: only the process of the learner's code reads it."""

    data: bytes
    suffix: str = ".py"
    names: tuple[str, ...] = ()
    """What the exercise asks for: it tells copies of a cell apart."""
    given: str = ""
    """The teacher's code that runs ahead."""
    locked: tuple[str, ...] = ()
    """The teacher's locked cells: what is in them is no work of the learner's."""
    instead: str = ""
    """The teacher's code for what the learner defines as well: as if it were given."""
    skip: tuple[int, ...] = ()
    """The numbers of statements that are left out: they ended a process before."""

    @classmethod
    def of(cls, code: str | Work) -> Work:
        """Return source code as the work that it is."""
        return code if isinstance(code, Work) else cls(code.encode("utf-8", "replace"))

    @property
    def source(self) -> str:
        """All of the code, for work that is known to be a script."""
        return "\n\n".join(filter(None, (self.given, self.data.decode(), self.instead)))


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

    def answer_to(self, question: Any) -> Told:
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
    """Of an error: the line where that code left the function that was called; its number only."""
    loading: bool = False
    """Whether it comes from running the cells, and not from the call."""
    absent: str = ""
    """The name that has no value because of that, where it is another than the one called."""
    is_deeper: bool = False
    """Whether the error came from another function than the one that was called."""

    def without_words(self) -> Reply:
        """Return the reply without any text that the learner's code may have made.

        Nor does it say how far down it stopped: functions can be as many as there are inputs. Nor
        what stands in the line, or how a process ended itself: each can name an input.
        """
        words = {
            "raised": self.kind,
            "memory": self.kind,
            "died": "The process ended.",
            "missing": "A name is not defined.",
            "refused": "The answer is not plain data, or too much of it.",
        }
        error = words.get(self.status, self.error)
        return dataclasses.replace(self, error=error, output="", place=self.called, absent="")


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

    def send(self, request: bytes, seconds: float) -> bool:
        """Send what comes after the first request; tell whether it was taken in time."""
        ...

    def read(self, seconds: float) -> bytes | None:
        """Return some bytes, ``b""`` at the end, or None if none came in time."""
        ...

    def cpu(self) -> float | None:
        """Return the seconds that it has computed, or None where that cannot be told."""
        ...

    def end(self) -> str:
        """Kill whatever is left; return how it had ended before, or nothing."""
        ...


def clean(text: str, length: int = ERROR_LENGTH, exceptions: str = "") -> str:
    """Return a stranger's text with its control characters made visible, and cut to a length.

    Ends of lines, too, but for ``exceptions``: no name and no error begins a line of its own.
    """
    text = text[:length] + ("..." if len(text) > length else "")
    if text.isprintable():
        return text
    return "".join(c if c in exceptions or c.isprintable() else ascii(c)[1:-1] for c in text)
