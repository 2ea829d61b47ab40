"""What a performance is made of: the questions, the answers that count, and what each mistake says.

After reading you know every key of a script. It is plain data, made once from a recording; Python
(``judging.py``, ``walk.py``) and the browser (``static/kit/walk.mjs``) read the same
one, and neither computes a gradient. Read next: ``judging.py``.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from autodiff_kit.record.events import Where
from autodiff_kit.view.payload import Fields

__all__ = ["CONCEPTS", "MISCONCEPTIONS", "Answer", "Details", "Mark", "NodePlan", "Option", "Part"]
__all__ += ["Pass", "Script", "Send", "Slip", "Stage", "Task", "Tensor"]

Details = dict[str, Any]  # what a task has besides its question, by the keys of a Task
Part = Literal["build", "backward", "state"]

MISCONCEPTIONS = {
    "too_early": "A node waits until all of its contributions have arrived.",
    "overwrites": "Contributions to one node add up.",
    "local_slope": "A contribution is the local slope times the gradient flowing in.",
    "own_factor": "In a product, each input gets the other factor.",
    "wrong_input": "Each input gets its own contribution.",
    "broadcast_axis": "An axis that broadcasting added is summed.",
    "transpose": "In a matrix product, order and transpose follow from the shapes.",
    "flows_through": "No gradient flows through detach, no_grad or integers.",
    "constant_as_leaf": "Data without requires_grad gets no gradient.",
    "stale_value": "A backward rule needs the value that was there when the operation ran.",
    "counts_once": "A tensor that is used twice gets two contributions.",
    "other_branch": "Only the branch that ran is in the graph.",
    "grad_replaced": "A backward pass adds to what .grad holds already.",
}
"""What is to be learnt from each mistake; the keys are what a script calls it."""

CONCEPTS = {
    "inputs": "draw the edges from the inputs",
    "edges": "count the edges of a tensor that is used twice",
    "recorded": "say what is recorded in the graph",
    "saved": "say what is saved for the backward pass",
    "branch": "follow the branch that ran",
    "begin": "begin the backward pass",
    "seed": "begin with the gradient 1",
    "next": "choose the next node",
    "targets": "say which inputs a gradient flows to",
    "count": "count the contributions of one node",
    "axes": "sum over the axes that broadcasting added",
    "value": "compute a contribution",
    "shape": "say which shape a contribution has",
    "sum": "add up contributions",
    "grad": "accumulate in .grad",
    "freed": "say what is freed",
    "stops": "say where a backward pass stops",
    "leaf": "know .grad after the backward pass",
    "again": "say what a second backward pass does",
}
"""What a task asks for, by its ``about``."""


class Tensor(TypedDict):
    """An array: all elements, row by row."""

    shape: list[int]
    data: list[float]


class Answer(TypedDict, total=False):
    """An answer to compare with; one of these keys is there."""

    one: str  # this option, or this box
    all: list[str]  # these options, or these boxes, in any order
    at: list[Tensor]  # this value: as recorded, then where names vary
    none: bool  # None, as a .grad can be
    number: bool  # any value at all: for mistakes


class Mark(TypedDict):
    """What is drawn over the picture: at a box, at an arrow, or at a line of the code."""

    kind: Literal["wrong", "look", "missing", "lost", "stop", "struck"]
    node: NotRequired[str]
    edge: NotRequired[str]
    line: NotRequired[Where]
    text: NotRequired[str]


Slip = TypedDict(
    "Slip",
    {
        "answer": Answer,
        "is": list[str],  # misconceptions; none for a mistake of no known kind
        "text": str,
        "marks": list[Mark],
    },
)


class Option(TypedDict):
    """What can be chosen."""

    value: str
    text: str


class Task(TypedDict):
    """A question; ``code`` stands between backticks in all texts."""

    id: str
    part: Part
    about: str  # a key of CONCEPTS
    kind: Literal["choice", "several", "node", "nodes", "value"]
    prompt: str
    hint: str  # what is known, below the field
    node: str | None  # the box it is about
    edge: str | None  # the arrow that is asked about
    where: Where | None
    options: list[Option]  # of "choice" and "several"; of "value", to choose from when guided
    names: dict[str, list[Tensor]]  # that an expression can use, at each point
    varied: list[list[str]]  # by point: which names stand for other numbers than recorded
    answers: list[Answer]
    slips: list[Slip]
    otherwise: str  # to a wrong answer that is none of the slips
    right: str
    reveal: str  # the right answer in words
    repeats: NotRequired[bool]  # alike were asked twice before
    smaller: NotRequired[Task]
    withheld: NotRequired[bool]  # whether the browser knows no answer (withholding.py)


class Send(TypedDict):
    """A contribution that a node passes on."""

    to: str
    edge: str | None
    tasks: list[str]
    fields: Fields  # what the arrow shows afterwards


class NodePlan(TypedDict):
    """What happens at a node of a backward pass."""

    name: str
    needs: int  # contributions
    uses: list[list[str]]  # for each contribution: arrow, and the name of the node it comes from
    is_leaf: bool  # then it is done as soon as all have arrived
    newest: int  # the engine takes the largest number first
    before: list[str]  # tasks when it is visited
    sends: list[Send]
    complete: list[str]  # tasks when all contributions have arrived
    gradient: str  # as shown once it is complete
    fields: Fields  # what its box shows then
    smaller: Task
    silent: bool  # not in the chosen lines: the kit performs it


class Pass(TypedDict):
    """A backward pass: the tasks at its beginning, and the nodes it goes through in any order."""

    frame: int  # step of the picture it begins with
    end: int  # and the one it ends with
    begin: list[str]
    roots: list[str]
    nodes: dict[str, NodePlan]
    closed: dict[str, Slip]  # boxes that no gradient reaches, and what to say about them
    asks: bool  # whether the order is asked for
    where: Where | None


Stage = TypedDict(
    "Stage",
    {"part": Part, "frame": int, "tasks": list[str], "pass": NotRequired[Pass]},
)


class Script(TypedDict):
    """A whole performance."""

    version: int
    title: str
    parts: list[Part]
    stages: list[Stage]
    tasks: dict[str, Task]
    lessons: dict[str, str]  # MISCONCEPTIONS
    concepts: dict[str, str]  # CONCEPTS
    closing: NotRequired[str]  # of a performance for points: what is said at the end
