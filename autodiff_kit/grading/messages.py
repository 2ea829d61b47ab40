"""Name the parts of each message between the grader and the process of a learner's code.

After reading this file you can read the talk on the pipe: a `Request`, then from the child a
`Begun` before each statement and an `Answered` after each call, and an `Asked` wherever a driver
needs a value, which the grader answers with a `Told`. What the grader gets is only a `Claim` to
have this form: it believes no part before it has looked at it. Read next: ``child.py``.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

__all__ = [
    "Answered",
    "Asked",
    "Begun",
    "CallSent",
    "Claim",
    "Fields",
    "LimitsSent",
    "Message",
    "Request",
    "Space",
    "Told",
    "Trouble",
    "WorkSent",
]

Claim = dict[str, Any]  # what the learner's process has sent, before a look at it
Fields = dict[str, Any]  # of a dataclass, by their names
Space = dict[str, Any]  # what the names in a program stand for


class WorkSent(TypedDict):
    """What a learner handed in, and what is to be run of it."""

    data: NotRequired[Any]  # bytes as an array; taken out when they are read
    suffix: str
    names: list[str]
    given: str  # source that runs ahead
    instead: str  # likewise, but none of it may be read
    locked: list[str]  # sources of the teacher's cells: none of it is the learner's
    skip: list[int]  # numbers of statements that are left out: they ended a process before


class CallSent(TypedDict):
    """One question: the source of ``def drive(step, data)``, and plain data."""

    driver: str
    data: Any


class LimitsSent(TypedDict):
    """The parts of `calls.Limits` that hold for one process."""

    seconds: float
    memory: int
    output: int
    reply: int
    file: int
    total: float


class Request(TypedDict):
    """All that a child is told at its start; `secret` are bytes as an array."""

    work: WorkSent
    calls: list[CallSent]
    limits: LimitsSent
    secret: Any


class Trouble(TypedDict):
    """An error in words, its kind, and the cells and lines that were running."""

    error: str
    kind: str
    cell: int
    line: int
    cell_called: int
    line_called: int


class Answered(Trouble):
    """The answer to a call, or to none (`child.READY` and so on)."""

    call: int
    status: str
    value: Any
    output: str
    loading: bool
    absent: str


class Begun(TypedDict):
    """The statement that is run next."""

    call: int
    number: int
    cell: int
    line: int


class Asked(TypedDict):
    """A driver's question."""

    call: int
    value: Any


class Told(TypedDict):
    """What the grader answers a driver: a value, or the kind of an error and words for it."""

    value: Any
    kind: str
    error: str


Message = Answered | Begun | Asked
