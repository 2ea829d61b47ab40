"""What one node passes to another: over which axes it is summed, and its value or its shape.

After reading you can say what is asked of a contribution, and what the smaller question is. Read
next: ``arrivals.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from autodiff_kit.record.events import Accumulate, Backward, Contribution, Event, Value, Visit
from autodiff_kit.view.perform.branches import Fork, forks
from autodiff_kit.view.perform.context import Context, bare_task, code, slip
from autodiff_kit.view.perform.mistakes import (
    Contributed,
    answer_at,
    as_text,
    distinct,
    only_apart,
    right_values,
    slips_of,
)
from autodiff_kit.view.perform.replay import LARGEST, Point, array_of, is_whole
from autodiff_kit.view.perform.script import Details, Mark, Send, Slip, Task
from autodiff_kit.view.values import shape_text
from autodiff_kit.view.words import box_value, capital, fraction, ordinal

__all__ = ["ContributionTasks"]


class ContributionTasks:
    """Makes the tasks of the contributions of one pass; holds what happened in it."""

    def __init__(self, context: Context, number: int, at: int, events: Sequence[Event]) -> None:
        self.context, self.number, self.at = context, number, at
        self.events = events
        self.start = cast(Backward, events[0])
        self.visits: list[int] = []
        self.gradients: dict[int, Visit] = {}
        self.sent: dict[int, list[tuple[int, Contribution]]] = {}  # by node: place, event
        self.arrived: dict[int, list[tuple[int, Contribution]]] = {}  # by the node that gets it
        self.accumulated: dict[int, Accumulate] = {}
        for k, event in enumerate(events, at):
            if event["kind"] == "visit":
                self.visits.append(event["node"])
                self.gradients[event["node"]] = event
            elif event["kind"] == "contribution":
                self.sent.setdefault(event["node"], []).append((k, event))
                self.arrived.setdefault(event["to"], []).append((k, event))
            elif event["kind"] == "accumulate":
                self.accumulated[event["node"]] = event
        self.edges: dict[int, str | None] = {}
        for node, contributions in self.sent.items():
            self._edges_of(node, contributions)
        self.forks: list[Fork] = forks(context.recording)

    def _edges_of(self, node: int, contributions: list[tuple[int, Contribution]]) -> None:
        """Find the arrow of each contribution: of several to one node, each has its own."""
        edges: set[int] = set()
        for at, event in contributions:
            inputs = enumerate(self.context.nodes[node]["inputs"])
            places = [
                p
                for p, s in inputs
                if s.get("node") == event["to"] and s["arg"] == event["arg"] and p not in edges
            ]
            if places:
                edges.add(places[0])
            self.edges[at] = self.context.edge(node, places[0]) if places else None

    def send(self, at: int, event: Contribution) -> Send:
        """Return a contribution with what is asked about it."""
        context, node = self.context, event["node"]
        points = []
        if at in context.replay.sent:
            after = context.replay.sent[at][1]
            points = context.replay.points(self.number, node, event["arg"], after)
        names = context.name(node), context.name(event["to"])
        recorded = [point for _, point in points]
        question = Contributed(self.number, at, event, self.edges[at], *names, recorded)
        tasks = self._tasks_of(question, points) if context.is_asked(node) else []
        text = box_value(event["after"])
        return {
            "to": context.box(event["to"]),
            "edge": question.edge,
            "tasks": tasks,
            "fields": {"sent": text, "arrived": text, "earlier": None},
        }

    def _tasks_of(
        self, question: Contributed, points: Sequence[tuple[Iterable[str], Point]]
    ) -> list[str]:
        tasks = []
        before, after = question.event["before"], question.event["after"]
        if before and before["shape"] != after["shape"]:
            tasks.append(self._axes(question, before["shape"], after["shape"]))
        if is_whole(after) and len(after["data"]) <= LARGEST:
            tasks.append(self._value(question, [sorted(varied) for varied, _ in points]))
        else:
            tasks.append(self._shape(question, after["shape"]))
        return tasks

    def _about(self, question: Contributed) -> Details:
        node = question.event["node"]
        g = self.gradients.get(node)
        premise = f"The gradient of `{question.name}` {_in_full(g['g'])}." if g else ""
        _, others = self._alone(question)
        if others:
            premise = f"{premise} {self._one_arrow(question, others)}".strip()
        return {
            "node": self.context.box(node),
            "edge": question.edge,
            "where": self.context.nodes[node]["where"],
            "hint": premise,
        }

    def _alone(self, question: Contributed) -> tuple[str | None, list[int]]:
        event = question.event
        return self.context.one_way(event["node"], event["arg"], event["to"])

    def _one_arrow(self, question: Contributed, others: Sequence[int]) -> str:
        """Say that other ways to the same tensor are other contributions."""
        if set(others) == {question.event["to"]}:
            return (
                f"One arrow at a time: `{question.to}` is used twice here, and each use has a "
                "contribution of its own."
            )
        names = code(*(self.context.names.name(other) for other in others))
        return (
            f"One arrow at a time: {names} {'are' if len(others) > 1 else 'is'} made from "
            f"`{question.to}`, too, but what comes that way is another contribution."
        )

    def _as_input(self, question: Contributed) -> str:
        """Return ", as its first input," where a node is used more than once by another one."""
        inputs = self.context.nodes[question.event["node"]]["inputs"]
        places = [k for k, s in enumerate(inputs) if s.get("node") == question.event["to"]]
        if len(places) < 2:
            return ""
        own = next((k for k in places if inputs[k]["arg"] == question.event["arg"]), places[0])
        return f", for its use as {ordinal(own + 1)} input"

    def _value(self, question: Contributed, varied: list[list[str]]) -> str:
        context, node = self.context, question.event["node"]
        right = right_values(context.replay, question)
        names = context.expression_names(node, question.points)
        expression, others = self._alone(question)
        slips = slips_of(context.replay, question)
        if others:
            slips = only_apart(distinct([*slips, *self._all_ways(question, expression)], right))
        record = context.nodes[node]
        product = f"`{as_text(right[0])}`"
        return context.value_task(
            "backward",
            "value",
            f"What does `{question.name}` pass to `{question.to}`{self._as_input(question)}?",
            right,
            slips,
            names=names,
            varied=varied,
            otherwise=(
                "The contribution is the local slope of "
                f"`{expression or context.names.text(node)}` with respect to `{question.to}`, "
                f"times the gradient flowing into `{question.name}`."
            ),
            right=f"`{question.name}` passes {product} to `{question.to}`.",
            smaller=self._smaller(question, slips),
            like=f"{record['op']} {question.event['arg']} {np.ndim(right[0])}",
            **self._about(question),
        )

    def _all_ways(self, question: Contributed, expression: str | None) -> Iterator[Slip]:
        """Yield what arrives in all: the slope of the whole, where one way is asked about."""
        parts = [event["after"] for _, event in self.arrived.get(question.event["to"], [])]
        if not all(is_whole(part) for part in parts):
            return
        total = sum(array_of(part) for part in parts)
        alone = f" Along this arrow alone it is the slope of `{expression}`." if expression else ""
        yield slip(
            answer_at([total]),
            f"That is what arrives at `{question.to}` in all, on every way. Each arrow brings its "
            f"part.{alone}",
        )

    def _smaller(self, question: Contributed, slips: Sequence[Slip]) -> Task:
        """Ask for the local slope alone where it is one number, else for a shape."""
        event, shape = question.event, self.context.replay.sent[question.at][1].shape
        slope = next((s for s in slips if s["is"] == ["local_slope"]), None)
        shared = {**self._about(question), "hint": ""}
        if slope and not shape:
            expression, others = self._alone(question)
            of = (expression or question.name) if others else question.name
            text = fraction(of, question.to)
            return bare_task(
                "smaller",
                "backward",
                "value",
                "value",
                f"Take the gradient of `{question.name}` as 1 for a moment. What is {text}, the "
                f"change of `{of}` for a small change of `{question.to}`, per unit?",
                [slope["answer"]],
                right="That is the local slope. Now multiply it by the gradient flowing in.",
                otherwise=(
                    f"Differentiate `{expression or self.context.names.text(event['node'])}`"
                    f"{', with the rest held as it is' if others else ''}."
                ),
                names=self.context.expression_names(event["node"], question.points[:1]),
                **shared,
            )
        g = self.gradients.get(event["node"])
        shapes = [list(shape), *([g["g"]["shape"]] if g else [])]
        return self._shape_task("smaller", question, shapes, shared)

    def _shape_task(
        self, number: str, question: Contributed, shapes: list[list[int]], shared: Details
    ) -> Task:
        right = shapes[0]
        options = [right]
        for shape in (*shapes[1:], right[::-1], [*right, 1], [1, *right]):
            if shape not in options and len(options) < 3:
                options.append(list(shape))
        options.sort()
        return bare_task(
            number,
            "backward",
            "shape",
            "choice",
            f"Which shape has the contribution that `{question.to}` gets?",
            [{"one": str(right)}],
            options=[{"value": str(s), "text": _shape(s)} for s in options],
            otherwise=f"A contribution has the shape of the tensor that gets it, `{question.to}`.",
            right=f"It has the shape of `{question.to}`, {_shape(right)}.",
            reveal=_shape(right),
            **shared,
        )

    def _shape(self, question: Contributed, shape: list[int]) -> str:
        g = self.gradients.get(question.event["node"])
        shapes = [shape, *([g["g"]["shape"]] if g else [])]
        task = self._shape_task("smaller", question, shapes, {})
        more: Details = {
            "options": task["options"],
            "otherwise": task["otherwise"],
            "right": task["right"],
            "reveal": task["reveal"],
            "smaller": {
                **task,
                "prompt": f"Which shape has `{question.to}` itself?",
                "otherwise": f"Look at the value in the box of `{question.to}`.",
                "right": "A contribution has the shape of the tensor that gets it.",
            },
            **self._about(question),
        }
        prompt, answers = task["prompt"], task["answers"]
        return self.context.task("backward", "shape", "choice", prompt, answers, **more)

    def _axes(self, question: Contributed, wide: list[int], narrow: list[int]) -> str:
        added = len(wide) - len(narrow)
        axes = [*range(added)]
        axes += [d + added for d, n in enumerate(narrow) if n == 1 != wide[d + added]]
        candidates = [[], *([k] for k in range(len(wide)))]
        candidates += [list(range(len(wide)))] * (len(wide) > 1)
        if axes not in candidates:
            candidates.append(axes)
        copied = f"`{question.to}` has the shape {_shape(narrow)}, and was used as {_shape(wide)}."
        marks: list[Mark] = []
        if question.edge:
            text = f"{_shape(narrow)} was used as {_shape(wide)}"
            marks = [{"kind": "wrong", "edge": question.edge, "text": text}]
        texts = {
            str(axes_): "None: it is passed on as it is"
            if not axes_
            else capital(_axes_text(axes_))
            for axes_ in candidates
        }
        slips = []
        for other in candidates:
            if other != axes:
                text = _wrong_axes(question.to, wide, narrow, axes, other)
                slips.append(slip({"one": str(other)}, text, "broadcast_axis", marks=marks))
        return self.context.task(
            "backward",
            "axes",
            "choice",
            f"{copied} Over which axes is its contribution summed?",
            [{"one": str(axes)}],
            options=[{"value": value, "text": text} for value, text in texts.items()],
            slips=slips,
            right=f"Each copy of `{question.to}` gets its part, and the parts add up.",
            reveal=texts[str(axes)],
            like=f"{wide} {narrow}",
            smaller=self._shape_task("smaller", question, [narrow, wide], self._about(question)),
            **self._about(question),
        )


def _shape(shape: Sequence[int]) -> str:
    return shape_text(shape) if shape else "()"


def _wrong_axes(
    name: str, wide: list[int], narrow: list[int], axes: list[int], other: list[int]
) -> str:
    """Say what comes of summing over other axes than those that broadcasting added."""
    shape = [n for k, n in enumerate(wide) if k not in other]
    misread = [1 if k in other else n for k, n in enumerate(wide)]
    copies = f"the copies of `{name}` lie along {_axes_text(axes)}, and what they get adds up."
    if narrow not in (shape, misread):
        what = "Nothing is summed" if not other else "Other axes are summed"
        return (
            f"{what}, then: the contribution would have the shape {_shape(shape)}, and `{name}` "
            f"has {_shape(narrow)}. Look where broadcasting made copies: {copies}"
        )
    return (
        f"The shape would be right, {_shape(narrow)}, but along {_axes_text(other)} lie different "
        f"elements of `{name}`, and each has a gradient of its own. Look again: {copies}"
    )


def _axes_text(axes: list[int]) -> str:
    return f"ax{'i' if len(axes) == 1 else 'e'}s {' and '.join(map(str, axes))}"


def _in_full(value: Value) -> str:
    """Say what a value is, with all elements; of a large one, which shape it has."""
    if is_whole(value) and len(value["data"]) <= LARGEST:
        return f"is `{as_text(array_of(value))}`"
    return f"has the shape `{shape_text(value['shape'])}`"
