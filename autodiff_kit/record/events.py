"""What a recording is made of: the types of its nodes, its values and its events.

After reading this file you know every key of a recording and what stands there. A recording is
plain data, so these are types of dictionaries: they cost nothing while a run is recorded, mypy
holds those who write and those who read to them, and ``damage.py`` checks a file against the very
same lines. A word beside a type, as in ``Annotated[int, "node"]``, is a condition that
``damage.py`` knows. Read next: ``recording.py``, which holds the whole, and ``damage.py``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, final

from autodiff_kit.core.op import Params

__all__ = ["Accumulate", "Backward", "Branch", "Contribution", "ErrorRecord", "Event"]
__all__ += [
    "Gradient",
    "Input",
    "Made",
    "Mark",
    "Modified",
    "NodeNumber",
    "NodeRecord",
    "Numeral",
    "OpRecord",
    "Packer",
    "Params",
]
__all__ += [
    "RecordingData",
    "Release",
    "Requirement",
    "Result",
    "RuleRecord",
    "Saved",
    "ScopeRecord",
]
__all__ += ["ScopeKind", "SourceRecord", "Statistics", "Value", "Visit", "Where"]

NodeNumber = Annotated[int, "node"]  # the place of a node in the list of nodes
ScopeNumber = Annotated[int, "scope"]
Where = Annotated[list[int], "place"]  # source, line, column, end line, end column
Numeral = float | int | bool | Literal["nan", "inf", "-inf"]  # JSON has no nan and no inf

# -- values --------------------------------------------------------------------------------------


class Statistics(TypedDict):
    """What is known of an array of which not all elements are kept; nan and inf are counts."""

    min: Numeral
    max: Numeral
    mean: Numeral
    std: Numeral
    nan: Numeral
    inf: Numeral


class Value(TypedDict):
    """An array: all elements, row by row; of a large one the first 8, and statistics.

    ``dtype`` is "" if the array was not seen, and the elements are then not there.
    """

    shape: list[int]
    dtype: str
    data: list[Numeral]
    stats: NotRequired[Statistics]


# -- the graph -----------------------------------------------------------------------------------


class Input(TypedDict):
    """What an op was given for one of its arguments: a node's output, or else a plain value."""

    arg: str
    node: NotRequired[NodeNumber]
    value: NotRequired[Any]
    is_seed: NotRequired[bool]  # such a value: the gradient that the backward pass began with
    variable: NotRequired[str]  # what a node of another name is called there: ``t``


Packer = Literal["hook", "checkpoint"]
Saved = TypedDict(
    "Saved",
    {
        "name": str,
        "for": Annotated[list[str], "some"],  # the arguments whose rules read it
        "bytes": int,
        "by": NotRequired[Packer],  # who has packed it
    },
)

Mode = Literal["grad", "inference_mode"]
_MadeFrom = TypedDict("_MadeFrom", {"from": NotRequired[NodeNumber]})  # a leaf: by which op


class NodeRecord(_MadeFrom):
    """A leaf, or one output of an op."""

    id: int
    kind: Literal["leaf", "op"]
    op: Annotated[str, "op"] | None
    grad_fn: str | None
    recorded: bool  # whether it is in the graph that backward goes through
    name: str | None
    text: str
    inputs: list[Input]
    params: Params
    value: Value
    requires_grad: bool
    scope: ScopeNumber
    where: Where | None
    saved: list[Saved]
    part: NotRequired[str]  # what a leaf is, such as "parameter of Linear"
    older: NotRequired[bool]  # a leaf: whether it was there before the recording began
    # If a checkpoint has computed it once more: whether no gradient flows there, but to the first.
    again: NotRequired[bool]
    part_of: NotRequired[NodeNumber]  # the first output of the same node
    variable: NotRequired[str]  # what the code calls it, if its name is numbered: ``h`` of ``h2``
    mode: NotRequired[Mode]  # in which an op ran that is not recorded, if not in no_grad
    transform: NotRequired[str]  # what it ran inside of, in PyTorch: ``torch.func.grad(f)``
    inside: NotRequired[str]  # the call that made it on its way to a result: ``vmap(f)(w)``


class RuleRecord(TypedDict):
    """The backward rule of one argument of an op."""

    text: str
    tex: str
    reads: list[str]
    source: str


class OpRecord(TypedDict):
    """What pictures need to know of an op."""

    text: str
    tex: str
    doc: str
    node_name: str
    inputs: list[str]
    rules: dict[str, RuleRecord]


# A "test" is that of a ``while`` which no round has followed: a round begins with its test.
ScopeKind = Literal["root", "call", "module", "loop", "iteration", "test"]


class ScopeRecord(TypedDict):
    """A call of a function or of a module, a loop or one iteration of a loop."""

    id: int
    parent: ScopeNumber | None
    kind: ScopeKind
    name: str  # of a module: its path, ``net.layers.0``
    index: int  # of a round of its loop, or of a call of its function or module, from 0
    where: Where | None
    of: NotRequired[str]  # a module's class


class SourceRecord(TypedDict):
    """A cell or a file that took part."""

    name: str
    text: str
    first_line: NotRequired[int]


class OperandRecord(TypedDict):
    """What a name in the expression that raised an error stands for."""

    text: str
    type: str  # the name of its class
    shape: NotRequired[list[int]]  # of a tensor, as its dtype
    dtype: NotRequired[str]
    node: NotRequired[NodeNumber]  # of a tensor that is recorded


class ErrorRecord(TypedDict):
    """The exception that ended the run."""

    type: str
    message: str
    where: Where | None
    operands: NotRequired[list[OperandRecord]]


# -- events --------------------------------------------------------------------------------------


@final
class Made(TypedDict):
    """A node is there."""

    kind: Literal["leaf", "op"]
    node: NodeNumber


@final
class Branch(TypedDict):
    """Python has asked a tensor whether it is true."""

    kind: Literal["branch"]
    node: NodeNumber
    taken: bool
    where: Where | None
    scope: NotRequired[ScopeNumber]


@final
class Modified(TypedDict):
    """A tensor was changed in place; ``how`` is the method, or the step of an optimizer."""

    kind: Literal["modified"]
    node: NodeNumber
    how: str
    value: Value
    where: Where | None
    scope: NotRequired[ScopeNumber]
    settings: NotRequired[dict[str, bool | int | float]]  # of an optimizer, such as ``lr``
    # Of a change through another tensor: all that show the same elements of its storage hold the
    # value now. That are those of this number's change before, without some and with more.
    storage: NotRequired[int]
    joined: NotRequired[list[NodeNumber]]
    left: NotRequired[list[NodeNumber]]


@final
class Gradient(TypedDict):
    """The ``.grad`` of a tensor was set or cleared, or changed in place, by no backward pass."""

    kind: Literal["grad"]
    node: NodeNumber
    grad: Value | None
    how: str  # the method that has changed it in place; "" if it was set or cleared
    where: Where | None
    scope: NotRequired[ScopeNumber]


@final
class Requirement(TypedDict):
    """A leaf that is there begins to require a gradient, or ceases to."""

    kind: Literal["requires_grad"]
    node: NodeNumber
    requires_grad: bool
    where: Where | None
    scope: NotRequired[ScopeNumber]


@final
class Backward(TypedDict):
    """A backward pass begins."""

    kind: Literal["backward"]
    roots: list[NodeNumber]
    seed: list[Value]
    where: Where | None
    scope: NotRequired[ScopeNumber]


@final
class Visit(TypedDict):
    """Backward has come to a node with all of its gradient."""

    kind: Literal["visit"]
    node: NodeNumber
    g: Value


@final
class Contribution(TypedDict):
    """A rule of a node has computed what it passes on to another node."""

    kind: Literal["contribution"]
    node: NodeNumber
    arg: str
    to: NodeNumber
    before: Value | None  # as the rule has it, if broadcasting is undone afterwards
    after: Value
    total: Value | None  # with what others have contributed before


@final
class Accumulate(TypedDict):
    """A gradient was added to what a tensor had in its ``.grad`` before."""

    kind: Literal["accumulate"]
    node: NodeNumber
    g: Value
    before: Value | None
    grad: Value


@final
class Release(TypedDict):
    """A node has released what it had saved."""

    kind: Literal["release"]
    node: NodeNumber
    bytes: int


class Result(TypedDict):
    """A gradient that ``autograd.grad`` returned, and the name that it was given."""

    of: NodeNumber
    name: str
    value: Value
    node: NodeNumber | None
    by: NotRequired[str]  # what the code calls instead, such as ``torch.func.grad(f)``


@final
class Mark(TypedDict):
    """A backward pass has finished, or an exception has ended it; or an error ends the run."""

    kind: Literal["finish", "broken", "error"]
    results: NotRequired[list[Result]]  # "finish"
    without: NotRequired[list[NodeNumber]]  # "finish": leaves whose .grad is None


Event = (
    Made
    | Branch
    | Modified
    | Gradient
    | Requirement
    | Backward
    | Visit
    | Contribution
    | Accumulate
    | Release
    | Mark
)


class RecordingData(TypedDict):
    """A whole recording, as ``Recording.to_dict`` returns it and ``save`` writes it."""

    format: NotRequired[str]
    version: NotRequired[int]
    sources: list[SourceRecord]
    ops: dict[str, OpRecord]
    scopes: list[ScopeRecord]
    nodes: list[NodeRecord]
    events: list[Event]
    error: ErrorRecord | None
    note: NotRequired[str | None]
