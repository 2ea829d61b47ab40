"""What a picture is told in: the steps, the fields of its boxes, and all that a browser gets.

After reading you know every key of a step and of the payload, and what stands there: ``scene.py``
and ``frames.py`` write them, ``svg.py``, ``text.py``, ``page.py`` and the JavaScript of the widgets
read them. Read next: ``steps.py``.
"""

from __future__ import annotations

import json
import zlib
from typing import Literal, NotRequired, TypedDict

from autodiff_kit.record.events import Where

__all__ = ["GRADIENT", "BoxPayload", "BoxText", "Explanation", "Fields", "Frame", "OpenPart"]
__all__ += ["NOTHING", "Payload", "Place", "SourceLines", "State", "deflate"]

GRADIENT = "gradient"  # the label of a gradient that is in no .grad

Phase = Literal["forward", "backward", "update"]


class Fields(TypedDict, total=False):
    """What a box, or an arrow, shows from a step on; None takes it away."""

    hidden: bool
    active: bool
    value: str  # after a change in place
    cells: str  # its picture; "" if it is not small
    map: str | None  # of a small gradient: its picture; of an arrow: what it brings, adding up
    tensor: str  # the same in full, for the inspector
    g: str | None  # what has come of the gradient in this pass; stands before `grad`
    grad: str | None  # what is in .grad
    total: str | None  # after the slots of its parts: what they add up to, "= 12."
    gradient: str  # either of them in full, for the inspector
    why: list[str | list[str]] | None  # what it is the sum of: arrows, or rows of words and number
    rule: list[str] | None  # the latest backward rule, in names and in numbers
    visited: bool
    released: bool
    slope: str | None  # of an arrow: the local slope, ``dy/dx = 3.``
    sent: str | None  # of an arrow: what its rule sends, ``1. * 3. = 3.``
    arrived: str | None  # of an arrow: what has come back along it, ``3.``
    whole: str  # of an arrow: the same in full, for the inspector
    spread: str  # of an arrow: how broadcasting has changed a shape, ``(3,) → (4, 3)``
    earlier: bool | None  # of an arrow: that was in a pass before this one


class Place(TypedDict):
    """One place of an explanation: in the code, in the graph, in words."""

    words: str  # code stands between backticks
    where: Where | None
    line: int | None  # as its number stands beside it
    node: str | None  # the box


class Explanation(TypedDict):
    """Why an error has ended a run, place by place in the order of time."""

    error: str  # its class
    title: str  # what went wrong in one line; "" if the recording tells no more than the message
    places: list[Place]  # the last one is where the error was raised
    fix: str  # what to write instead; "" if nothing is known
    message: str  # of the library


class Frame(TypedDict):
    """A step."""

    phase: str
    kind: str
    node: str | None  # the box it is about
    edge: str | None  # the arrow that lights up
    where: Where | None
    caption: str
    set: dict[str, Fields]  # what changes, by box
    along: NotRequired[dict[str, Fields]]  # what changes, by arrow
    explanation: NotRequired[Explanation]  # of the error that ends the run with this step


class State(TypedDict):
    """Everything that one step shows."""

    step: int
    phase: str
    kind: str
    caption: str
    where: Where | None
    node: str | None
    edge: str | None
    explanation: Explanation | None
    nodes: dict[str, Fields]
    edges: dict[str, Fields]


class BoxText(TypedDict):
    """What stands in a box, and what will stand there at other steps."""

    name: str
    symbol: str  # the expression beside a name, or what kind of box it is
    origin: str  # by what it is made: ``leaf``, ``** 2``
    lines: list[str]
    ghost: bool
    label: str  # of its gradient once a .grad holds it: ``w.grad``
    grads: list[str]
    values: list[str]
    cells: list[str]  # the value as a picture, at first and all that it becomes
    maps: list[str]  # all that its gradient becomes, as pictures
    slots: dict[str, str]  # arrow that brings a part of the gradient -> the longest it brings
    is_dense: bool  # the gradient stands beside the value


class SourceLines(TypedDict):
    """A cell or a file as it is shown."""

    name: str
    lines: list[str]
    first_line: int


OpenPart = TypedDict(
    "OpenPart",
    {
        "title": str,
        "key": list[int],
        "in": int | None,  # the place of the open part around it
        "stays": NotRequired[bool],  # on a page that has no picture with it folded
    },
)


_In = TypedDict("_In", {"in": NotRequired[int]})  # the place of the innermost open part around it


class BoxPayload(_In):
    """What the browser needs of a box."""

    title: str
    name: str  # as the box has it
    aria: str
    what: str  # a sentence
    uses: list[list[str]]  # arrows that bring a part of its gradient, and from where
    where: Where | None
    facts: list[list[str]]
    since: int
    inputs: list[str]
    consumers: list[str]
    opens: NotRequired[list[int]]


class Payload(TypedDict):
    """What the browser needs to draw a picture and to step through it."""

    version: int
    title: str
    width: float
    height: float
    svg: str
    sources: list[SourceLines]
    nodes: dict[str, BoxPayload]
    order: list[str]
    frames: list[Frame]
    turn: int | None
    opened: int
    parts: list[OpenPart]
    moments: NotRequired[list[int]]  # by step, how much has happened: the same in all pictures


def deflate(payload: Payload) -> bytes:
    """Return the payload as the viewer reads it: zlib-deflated JSON, the same bytes every time.

    Raises
    ------
    ValueError
        If a number in it is not finite: browsers' JSON has no word for it.
    """
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode("utf-8", "replace"))


NOTHING: Frame = {
    "phase": "forward",
    "kind": "empty",
    "caption": "Nothing was recorded: use at least one tensor while recording.",
    "where": None,
    "node": None,
    "edge": None,
    "set": {},
}
