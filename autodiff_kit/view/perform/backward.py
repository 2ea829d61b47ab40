"""The tasks of a backward pass: which node is next, what it passes on, what adds up.

After reading you can say what is fixed and what is open: what a node passes on does not depend on
the order, so a pass is a plan for each node, and any node with all of its contributions may be
next. Read next: ``afterwards.py``, then ``walk.py``, which goes through the plan.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.view.payload import Fields
from autodiff_kit.view.perform.arrivals import ArrivalTasks
from autodiff_kit.view.perform.building import branch_slip, why_closed
from autodiff_kit.view.perform.context import Context, bare_task, choice, code, slip
from autodiff_kit.view.perform.mistakes import as_text, distinct
from autodiff_kit.view.perform.reaching import why_passed_by
from autodiff_kit.view.perform.replay import LARGEST, array_of, is_whole, tensor
from autodiff_kit.view.perform.script import Details, Mark, NodePlan, Pass, Slip, Stage, Task
from autodiff_kit.view.perform.smaller import (
    decided,
    one_of,
    places_read,
    tensors_read,
    yes_no,
)
from autodiff_kit.view.words import box_value, fraction, times

__all__ = ["PassTasks", "backward_stages"]


def backward_stages(context: Context) -> list[Stage]:
    """Return the backward passes that went through to their end, and what stopped one."""
    stages: list[Stage] = []
    starts = [at for at, e in enumerate(context.events) if e["kind"] == "backward"]
    frames = context.picture.frames
    begins = [k for k, frame in enumerate(frames) if frame["kind"] == "backward"]
    for number, at in enumerate(starts):
        end = next(
            (k for k in range(at + 1, len(context.events))
             if context.events[k]["kind"] in ("finish", "broken", "error", "backward")),
            len(context.events),
        )  # fmt: skip
        frame = begins[number]
        last = begins[number + 1] - 1 if number + 1 < len(begins) else len(frames) - 1
        finished = (k for k in range(frame, last + 1) if frames[k]["kind"] == "finish")
        tasks = PassTasks(context, number, at, context.events[at:end])
        if end < len(context.events) and context.events[end]["kind"] == "finish":
            plan = tasks.plan(frame, next(finished, last))
            stages.append({"part": "backward", "frame": frame, "tasks": [], "pass": plan})
        elif stop := tasks.stop():
            stages.append({"part": "backward", "frame": frame, "tasks": stop})
    return stages


class PassTasks(ArrivalTasks):
    """Makes the plan of one backward pass."""

    # -- the plan -----------------------------------------------------------------------------

    def plan(self, frame: int, end: int) -> Pass:
        """Return the plan of the pass."""
        context = self.context
        reached = [*dict.fromkeys([*self.visits, *self.arrived])]
        ops = [n for n in reached if context.nodes[n]["kind"] == "op" and n in self.sent]
        boxes = {context.box(node) for node in reached}
        closed = {}
        for box in context.picture.outline.boxes:
            if box.id not in boxes:
                closed[box.id] = self._closed(box.nodes[-1])
        begin = self._begin()
        plans = {node: self._node(node) for node in reached}
        return {
            "frame": frame,
            "end": end,
            "begin": begin,
            "roots": [context.box(root) for root in self.start["roots"]],
            "nodes": {context.box(node): plans[node] for node in sorted(reached)},
            "closed": closed,
            "asks": len(ops) > 2,
            "where": self.start["where"],
        }

    def _closed(self, node: int) -> Slip:
        context = self.context
        marks: list[Mark] = [{"kind": "wrong", "node": context.box(node), "text": "no gradient"}]
        record = context.nodes[node]
        if record["requires_grad"]:
            text = why_passed_by(context, self.number, node).text
            return slip({"one": context.box(node)}, text, marks=marks)
        text, kind = why_closed(context, node)
        edges = [e for e in context.picture.outline.edges if e.source == context.box(node)]
        marks += [{"kind": "stop", "edge": edge.id} for edge in edges]
        return slip({"one": context.box(node)}, text, kind, marks=marks)

    def _begin(self) -> list[str]:
        context, roots = self.context, self.start["roots"]
        if len(roots) != 1 or not context.is_asked(roots[0]):
            return []
        root, seed = roots[0], self.start["seed"][0]
        name = context.name(root)
        shared: Details = {"where": self.start["where"]}
        wrong = [
            slip(
                {"one": box.id},
                "The backward pass begins at the tensor that is differentiated, and moves from "
                "there to the leaves.",
                marks=[{"kind": "wrong", "node": box.id, "text": "not here"}],
            )
            for box in context.picture.outline.boxes
            if box.id != context.box(root)
        ]
        tasks = [
            context.task(
                "backward",
                "begin",
                "node",
                "Where does the backward pass begin?",
                [{"one": context.box(root)}],
                slips=wrong,
                right=f"It begins at `{name}`.",
                reveal=f"`{name}`",
                hint="Choose a node of the graph.",
                smaller=self._smaller_begin(root),
                **shared,
            )
        ]
        if is_whole(seed) and len(seed["data"]) <= LARGEST:
            one = array_of(seed)
            value = context.replay.values.get(root)
            slips = []
            own = fraction(name, name)
            if value is not None and value.shape == one.shape:
                text = f"That is the value of `{name}`. The gradient is {own}, which is 1."
                if not (one == 1).all():
                    text = f"That is the value of `{name}`, not the gradient that was given."
                slips = distinct([slip({"at": [tensor(value)]}, text)], [one])
            why = f"{own} is 1." if (one == 1).all() else "You gave this gradient."
            tasks.append(
                context.value_task(
                    "backward",
                    "seed",
                    f"With which gradient does it begin at `{name}`?",
                    [one],
                    slips,
                    otherwise=f"How does `{name}` change if `{name}` itself changes by 1?",
                    right=f"The gradient of `{name}` is `{as_text(one)}`: {why}",
                    node=context.box(root),
                    smaller=self._smaller_seed(root, is_one=bool((one == 1).all())),
                    **shared,
                )
            )
        return tasks

    def _smaller_begin(self, root: int) -> Task:
        context = self.context
        boxes = [box for box in context.picture.outline.boxes if box.nodes[-1] != root]
        names = [context.name(node) for node in sorted([root, *(b.nodes[-1] for b in boxes[-2:])])]
        return one_of(
            "backward",
            "begin",
            "Which tensor is differentiated by the line that is marked in the code?",
            context.name(root),
            {name: f"`{name}`" for name in names},
            right="Its node is where the backward pass begins.",
            otherwise="It stands before `.backward`, or is the first argument of the call.",
            where=self.start["where"],
        )

    def _smaller_seed(self, root: int, *, is_one: bool) -> Task:
        if not is_one:
            return yes_no(
                "backward",
                "seed",
                "Does the call that begins the backward pass say with which gradient?",
                True,
                "The pass begins with it.",
                "Look at the arguments of the call.",
                where=self.start["where"],
            )
        name = self.context.name(root)
        return one_of(
            "backward",
            "seed",
            "What is the derivative of f(t) = t with respect to t?",
            "1",
            {"0": "0", "1": "1", "t": "t"},
            right=f"And what is the derivative of `{name}` with respect to `{name}`?",
            otherwise="The graph of f is a straight line. How steep is it?",
        )

    def _node(self, node: int) -> NodePlan:
        context = self.context
        arrivals = self.arrived.get(node, [])
        uses = [[self.edges[at] or "", context.name(e["node"])] for at, e in arrivals]
        needs = len(arrivals) + (node in self.start["roots"])
        name, g = context.name(node), self.gradients.get(node)
        total = box_value(g["g"] if g else self._last_total(node))
        slots = context.picture.slots.get(context.box(node))
        fields: Fields = {"g": total}
        if slots:
            fields["total"] = f"= {total}"
        if node in self.accumulated:
            fields = {"g": None, "grad": box_value(self.accumulated[node]["grad"]), "total": None}
            if slots:
                fields["total"] = f"= {total}"
        from_whom = code(*dict.fromkeys(use[1] for use in uses)) if uses else "nowhere"
        smaller = bare_task(
            "smaller",
            "backward",
            "next",
            "choice",
            f"How many contributions does `{name}` get in this pass?",
            [{"one": str(needs)}],
            options=[{"value": str(k), "text": str(k)} for k in range(needs + 2)],
            right=f"It gets {needs}, from {from_whom}. Which of them have arrived?",
            otherwise=f"Count the edges from `{name}` to nodes on the path of the backward pass.",
            node=context.box(node),
        )
        return {
            "name": name,
            "needs": needs,
            "uses": uses,
            "is_leaf": node not in self.sent,
            "newest": node,
            "before": self._targets(node) if node in self.sent and context.is_asked(node) else [],
            "sends": [self.send(at, event) for at, event in self.sent.get(node, [])],
            "complete": self.complete(node) if self._is_met(node) else [],
            "silent": not context.is_asked(node),
            "gradient": total,
            "fields": fields,
            "smaller": smaller,
        }

    def _is_met(self, node: int) -> bool:
        """Return whether a node is asked about, or all from which something arrives at it."""
        senders = (event["node"] for _, event in self.arrived.get(node, []))
        return self.context.is_asked(node) or all(map(self.context.is_asked, senders))

    def _last_total(self, node: int) -> Any:
        _, event = self.arrived[node][-1]
        return event["total"] or event["after"]

    # -- the tasks of a node ------------------------------------------------------------------

    def _targets(self, node: int) -> list[str]:
        context, record = self.context, self.context.nodes[node]
        tasks = self._branch(node)
        tensors = context.tensors(record)
        targets = [*dict.fromkeys(event["to"] for _, event in self.sent[node])]
        if len(tensors) > 1 or set(tensors) - set(targets):
            tasks.append(self._where_to(node, tensors, targets))
        for target in targets:
            count = sum(event["to"] == target for _, event in self.sent[node])
            if count > 1:
                tasks.append(self._count(node, target, count))
        return tasks

    def _branch(self, node: int) -> list[str]:
        """Ask for the branch where the gradient comes to the first node that one has made."""
        where = self.context.nodes[node]["where"]
        fork = next((f for f in self.forks if _inside(where, f.ran_where)), None)
        if fork is None:
            return []
        self.forks = [f for f in self.forks if f.condition != fork.condition]
        name = self.context.name(node)
        options = [
            {"value": "ran", "text": f"`{fork.ran}`"},
            {"value": "other", "text": f"`{fork.other}`"},
        ]
        return [
            self.context.task(
                "backward",
                "branch",
                "choice",
                f"The gradient has come to `{name}`. Through which branch does it flow back?",
                [{"one": "ran"}],
                options=sorted(options, key=lambda option: option["text"]),
                slips=[branch_slip(fork, "other")],
                right=f"`{fork.condition}` was {fork.taken}, so `{fork.ran}` is in the graph.",
                reveal=f"`{fork.ran}`",
                node=self.context.box(node),
                where=where,
                like=fork.condition,
                smaller=decided("backward", fork.condition, fork.taken),
            )
        ]

    def _where_to(self, node: int, tensors: list[int], targets: list[int]) -> str:
        context = self.context
        name = context.name(node)
        slips = []
        for box in context.picture.outline.boxes:
            other = box.nodes[-1]
            if other in targets:
                continue
            if other in tensors:
                slips.append(self._closed(other))
                continue
            if not context.nodes[other]["requires_grad"]:
                closed = self._closed(other)
                text = f"`{context.name(other)}` is no input of `{name}`. {closed['text']}"
                slips.append({**closed, "text": text})
                continue
            marks: list[Mark] = [{"kind": "wrong", "node": box.id, "text": f"no input of {name}"}]
            edges = [self.edges[at] for at, _ in self.sent[node]]
            marks += [{"kind": "missing", "edge": edge} for edge in edges if edge]
            text = (
                f"`{context.name(other)}` is no input of `{name}`. A node passes contributions to "
                f"its own inputs alone: to {code(*map(context.name, targets))}."
            )
            if other == node:
                text = f"`{name}` has its gradient already. Which nodes was it computed from?"
            kinds = () if other == node else ("wrong_input",)
            slips.append(slip({"one": box.id}, text, *kinds, marks=marks))
        needing = {source for source in tensors if context.nodes[source]["requires_grad"]}
        missing = "One is missing: each input that requires a gradient gets a contribution."
        if needing - set(targets):
            missing = (
                "One is missing: an input gets a contribution if this pass computes its gradient, "
                "or that of a tensor it was computed from."
            )
        return context.task(
            "backward",
            "targets",
            "nodes",
            f"To which nodes does `{name}` pass a contribution?",
            [{"all": [context.box(target) for target in targets]}],
            slips=slips,
            otherwise=missing,
            right=f"`{name}` passes a contribution to {code(*map(context.name, targets))}.",
            reveal=code(*map(context.name, targets)),
            hint="Choose nodes of the graph, then check.",
            node=context.box(node),
            where=context.nodes[node]["where"],
            like=f"{len(targets)} of {len(tensors)}",
            smaller=tensors_read(
                context,
                "backward",
                "targets",
                node,
                "Which of them require a gradient?",
            ),
        )

    def _count(self, node: int, target: int, count: int) -> str:
        context = self.context
        name, to = context.name(node), context.name(target)
        edges = [self.edges[at] for at, event in self.sent[node] if event["to"] == target]
        marks: list[Mark] = [
            {"kind": "look", "edge": edge, "text": f"use {k}"}
            for k, edge in enumerate(edges, 1)
            if edge
        ]
        text = f"`{name}` uses `{to}` {times(count)}, and each use brings a contribution."
        return context.task(
            "backward",
            "count",
            "choice",
            f"How many contributions does `{name}` pass to `{to}`?",
            [{"one": str(count)}],
            options=[{"value": str(k), "text": str(k)} for k in range(count + 2)],
            slips=[slip({"one": "1"}, text, "counts_once", marks=marks)],
            otherwise=f"Count the edges between `{to}` and `{name}`.",
            right=text,
            reveal=str(count),
            node=context.box(node),
            where=context.nodes[node]["where"],
            smaller=places_read(context, "backward", "count", node, to),
        )

    # -- a pass that an error ends ---------------------------------------------------------------

    def stop(self) -> list[str]:
        """Ask what happens where a rule needs a value that was overwritten."""
        context = self.context
        failed = [n for n in self.visits if n not in self.sent and n in self.gradients]
        error = context.recording["error"]
        if not failed or error is None or "inplace" not in error["message"]:
            return []
        node = failed[-1]
        name = context.name(node)
        changed = [e for e in context.events if e["kind"] == "modified"]
        marks: list[Mark] = [
            {"kind": "wrong", "node": context.box(e["node"]), "text": "changed here"}
            for e in changed[-1:]
        ]
        marks.append({"kind": "stop", "node": context.box(node), "text": "stops here"})
        text = (
            f"The rule of `{name}` needs a value from the forward pass, and it was overwritten. "
            "PyTorch does not compute with the new value: the result would be wrong."
        )
        return [
            context.task(
                "backward",
                "stops",
                "choice",
                f"A value that `{name}` has saved was changed in place. What happens when the "
                f"backward pass comes to `{name}`?",
                [{"one": "error"}],
                options=choice(
                    error="It stops with an error",
                    new="It computes with the value after the change",
                    old="It computes with the value from before the change",
                ),
                slips=[
                    slip({"one": "new"}, text, "stale_value", marks=marks),
                    slip({"one": "old"}, f"Nothing has kept that value. {text}", marks=marks),
                ],
                right="It stops: the value that the rule needs no longer exists.",
                reveal="it stops with an error",
                node=context.box(node),
                where=self.start["where"],
                smaller=yes_no(
                    "backward",
                    "stops",
                    f"Is the value that `{name}` has saved still in memory as it was?",
                    False,
                    "PyTorch sees by the version of the tensor that it was changed.",
                    "A change in place writes over what was there.",
                ),
            )
        ]


def _inside(where: Any, around: Any) -> bool:
    if not where or not around or where[0] != around[0]:
        return False
    begin, end = (around[1], around[2]), (around[3], around[4])
    return begin <= (where[1], where[2] or 0) and (where[3], where[4] or 0) <= end
