"""What all tasks of a script are made with: the picture, the learner's names, and the next number.

After reading you can say which recordings can be performed: those whose boxes are one node each, at
most 60, or as many in the lines that are chosen. Read next: ``building.py``, ``backward.py`` and
``afterwards.py``, a file for each part.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from autodiff_kit.record.events import NodeRecord, RecordingData, Where
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.names import Names
from autodiff_kit.view.perform.mistakes import answer_at, as_text
from autodiff_kit.view.perform.refusing import PerformError, refuse_computing_backward
from autodiff_kit.view.perform.replay import LARGEST, Point, Replay, tensor
from autodiff_kit.view.perform.script import Answer, Mark, Option, Part, Slip, Task, Tensor
from autodiff_kit.view.scene import Picture, build
from autodiff_kit.view.slopes import one_use, other_ways
from autodiff_kit.view.values import short
from autodiff_kit.view.words import listed

__all__ = [
    "MOST",
    "Context",
    "Lines",
    "PerformError",
    "choice",
    "code",
    "picture_to_perform",
    "slip",
]

MOST = 60  # boxes of a performance
DRAWN = 400  # boxes of a picture of which a part is performed
Lines = tuple[int, int]  # the first and the last one
OPTIONS = 4  # to choose from, of a value
ALIKE = 2  # tasks of a kind that are asked in any case


def picture_to_perform(recording: Recording | RecordingData, lines: Lines | None = None) -> Picture:
    """Return the picture of a recording, with no box folded.

    Parameters
    ----------
    recording : Recording or dict
    lines : (int, int), optional
        The lines whose nodes are performed; else all.

    Raises
    ------
    PerformError
        If it has no operation, or too many nodes, or some that cannot be performed.
    """
    picture = build(recording, fold=False)
    data = recording.to_dict() if isinstance(recording, Recording) else recording
    boxes = picture.outline.boxes
    if not any(node["kind"] == "op" for node in data["nodes"]):
        raise PerformError(
            "There is nothing to perform: no operation was recorded.\n"
            "-> Record at least one line that computes with a tensor, such as y = x * x."
        )
    most = MOST if lines is None else DRAWN
    if len(boxes) > most or len(data["nodes"]) > most:
        raise PerformError(
            f"This recording has {len(data['nodes'])} nodes, and a performance has at most {most}"
            f"{'' if lines is None else ' in its picture'}.\n-> Perform a part of it: "
            "BeTheEngine(rec, lines=(3, 5)) for the nodes of lines 3 to 5; or record fewer rounds "
            "of a loop. Stepper(rec) shows all of it."
        )
    if lines is not None:
        chosen = [n for n in data["nodes"] if n["kind"] == "op" and is_in(data, n, lines)]
        first, last = lines
        if not chosen:
            raise PerformError(
                f"There is nothing to perform in lines {first} to {last}: no operation was "
                "recorded there.\n-> The numbers are those beside the code."
            )
        if len(chosen) > MOST:
            raise PerformError(
                f"Lines {first} to {last} have {len(chosen)} operations, and a performance has at "
                f"most {MOST}.\n-> Choose fewer lines, or record fewer rounds of a loop."
            )
    for node in data["nodes"]:
        if "part_of" in node or "transform" in node or "inside" in node:
            reason = "it makes several outputs at once"
            if around := node.get("transform") or node.get("inside"):
                reason = f"it runs inside of `{around}`, and no line of the recorded code writes it"
            raise PerformError(
                f"`{node['text'] or node['op']}` cannot be performed: {reason}.\n"
                "-> Leave it out of the recording."
            )
    refuse_computing_backward(data)
    return picture


def is_in(data: RecordingData, record: NodeRecord, lines: Lines) -> bool:
    """Return whether a node was made by one of these lines."""
    if (where := record["where"]) is None:
        return False
    first = data["sources"][where[0]].get("first_line", 1)
    return lines[0] <= where[1] + first - 1 <= lines[1]


def code(*names: str) -> str:
    """Return names as code, ``a``, ``b`` and ``c``."""
    return listed(f"`{name}`" for name in names)


def slip(answer: Answer, text: str, *kinds: str, marks: Iterable[Mark] = ()) -> Slip:
    """Return a mistake."""
    return {"answer": answer, "is": list(kinds), "text": text, "marks": list(marks)}


def choice(**texts: str) -> list[Option]:
    """Return options by their values."""
    return [{"value": value, "text": text} for value, text in texts.items()]


class Context:
    """Makes tasks; holds what they are made from.

    Attributes
    ----------
    tasks : dict from str to Task
        All that were made, in their order.
    """

    def __init__(
        self,
        recording: Recording | RecordingData,
        lines: Lines | None = None,
        picture: Picture | None = None,
    ) -> None:
        self.picture, self.lines = picture or picture_to_perform(recording, lines), lines
        self.recording: RecordingData = (
            recording.to_dict() if isinstance(recording, Recording) else recording
        )
        self.nodes, self.events = self.recording["nodes"], self.recording["events"]
        self.names = Names(self.recording)
        self.replay = Replay(self.recording, self.names)
        self.box_of = self.picture.outline.box_of
        self.tasks: dict[str, Task] = {}
        self._alike: Counter[tuple[str, str]] = Counter()

    def is_asked(self, node: int) -> bool:
        """Return whether the steps of a node are the learner's: all, or those of some lines."""
        if self.lines is None:
            return True
        return is_in(self.recording, self.nodes[node], self.lines)

    def name(self, node: int) -> str:
        """Return what the learner calls a node."""
        return self.names.called(node)

    def box(self, node: int) -> str:
        """Return the box of a node."""
        return self.box_of[node].id

    def edge(self, node: int, place: int) -> str | None:
        """Return the arrow into a node at a place of its inputs."""
        edge = self.picture.outline.edge_at.get((node, place))
        return edge.id if edge else None

    def tensors(self, record: NodeRecord) -> list[int]:
        """Return the nodes that an op reads, each once."""
        return list(dict.fromkeys(s["node"] for s in record["inputs"] if "node" in s))

    def line(self, where: Where | None) -> str:
        """Return "Line 7: " or nothing."""
        if where is None:
            return ""
        first = self.recording["sources"][where[0]].get("first_line", 1)
        return f"Line {where[1] + first - 1}: "

    def task(
        self,
        part: Part,
        about: str,
        kind: Any,
        prompt: str,
        answers: Sequence[Answer],
        *,
        like: str = "",
        **more: Any,
    ) -> str:
        """Make a task and return its id; ``like`` says which others of its kind are alike."""
        number = f"{part}.{len(self.tasks) + 1}"
        task = bare_task(number, part, about, kind, prompt, answers, **more)
        self._alike[about, like] += 1
        if self._alike[about, like] > ALIKE:
            task["repeats"] = True
        self.tasks[number] = task
        return number

    def value_task(
        self,
        part: Part,
        about: str,
        prompt: str,
        values: Sequence[Any],
        slips: Sequence[Slip],
        /,
        **more: Any,
    ) -> str:
        """Make a task that asks for a value (at each point), with options to choose from."""
        wrong = [s["answer"]["at"][0] for s in slips if s["answer"].get("at")]
        more.setdefault("options", options_for(values[0], wrong))
        more.setdefault("reveal", f"`{as_text(values[0])}`")
        return self.task(
            part, about, "value", prompt, [answer_at(values)], slips=list(slips), **more
        )

    def expression_names(self, node: int, points: Sequence[Point]) -> dict[str, list[Tensor]]:
        """Return the names that an expression about a node can use, at each point."""
        known: dict[str, list[Tensor]] = {}
        doubtful: set[str] = set()
        args = {s["node"]: s["arg"] for s in self.nodes[node]["inputs"] if "node" in s}
        args[node] = "out"
        for other in sorted(self._before(node)):
            name, value = self.names.name(other), self.replay.values.get(other)
            if not name.isidentifier() or value is None or value.size > LARGEST:
                continue
            values = [point.get(args.get(other, ""), value) for point in points] or [value]
            if name in known:
                doubtful.add(name)
            known[name] = [tensor(v) for v in values]
        for name in doubtful:
            del known[name]
        if "g" not in known and points and np.size(points[0]["g"]) <= LARGEST:
            known["g"] = [tensor(point["g"]) for point in points]
        return known

    def one_way(self, node: int, arg: str, to: int) -> tuple[str | None, list[int]]:
        """Return what an op computes along one of several ways, and through what the others lead.

        ``6. + w`` where ``w * x + w`` is asked about the second ``w``: what else is made from it is
        held at its value. None if an expression cannot say it; no others if there is one way.
        """
        ways = other_ways(self.nodes, node, arg, to)
        if not ways:
            return self.names.text(node), []
        values = {a: self.nodes[i]["value"] for a, i in ways.items()}
        numbers = {a: None if v["shape"] or not v["data"] else short(v) for a, v in values.items()}
        formula = str(self.recording["ops"][str(self.nodes[node]["op"])]["text"])
        return one_use(formula, self.names.operands(node), numbers), [*ways.values()]

    def _before(self, node: int) -> set[int]:
        """Return a node and all that it was made from."""
        visited, stack = set[int](), [node]
        while stack:
            at = stack.pop()
            if at not in visited:
                visited.add(at)
                stack += self.tensors(self.nodes[at])
        return visited


def bare_task(
    number: str,
    part: Part,
    about: str,
    kind: Any,
    prompt: str,
    answers: Sequence[Answer],
    **more: Any,
) -> Task:
    """Return a task in which nothing is left out."""
    task: Task = {
        "id": number,
        "part": part,
        "about": about,
        "kind": kind,
        "prompt": prompt,
        "hint": "",
        "node": None,
        "edge": None,
        "where": None,
        "options": [],
        "names": {},
        "varied": [],
        "answers": list(answers),
        "slips": [],
        "otherwise": "Look again, one step at a time.",
        "right": "",
        "reveal": "",
    }
    return cast(Task, {**task, **more})


def options_for(right: Any, wrong: Sequence[Tensor]) -> list[Option]:
    """Return what can be chosen for a value: it and some that are wrong, in no telling order."""
    texts = [as_text(right)]
    for other in wrong:
        text = as_text_of(other)
        if text not in texts and len(texts) < OPTIONS and len(text) <= 60:
            texts.append(text)
    for other_value in (-right, right + 1, 2 * right, right - 3):
        text = as_text(other_value)
        if len(texts) < OPTIONS - 1 and text not in texts:
            texts.append(text)
    texts.sort(key=lambda text: zlib.crc32(f"{len(texts)} {text}".encode()))
    return [{"value": text, "text": f"`{text}`"} for text in texts]


def as_text_of(value: Tensor) -> str:
    """Return a tensor as a learner types it."""
    return as_text(np.array(value["data"]).reshape(value["shape"]))
