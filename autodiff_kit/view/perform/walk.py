"""A performance in Python: for grading outside of the learner's process; the oracle of walk.mjs.

It says which question comes next, what an answer leads to, and what came of it all.

After reading you can say why any order that the engine may take is right: a node can be chosen as
soon as all its contributions have arrived, and the tasks of a node do not depend on the order.
``static/kit/walk.mjs`` is the same in the browser; tests hold the two together. Read next:
``tests/view/perform/players.py``, performances that are right and wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

from autodiff_kit.view.perform.judging import Response, Verdict, judge
from autodiff_kit.view.perform.script import Mark, NodePlan, Pass, Script, Send, Slip, Task

__all__ = ["SMALLER_AFTER", "Record", "Result", "Walk"]

SMALLER_AFTER = 2  # wrong tries, and a smaller question is offered


@dataclass
class Record:
    """What came of one question.

    Attributes
    ----------
    task, about, part : str
        Which one it was.
    tries : int
        Answers that could be read.
    named : list of list of str
        For each wrong answer the misconceptions that it may show.
    is_right : bool
        Whether a right answer was given.
    looked : bool
        Whether the kit has performed the step instead.
    """

    task: str
    about: str
    part: str
    tries: int = 0
    named: list[list[str]] = field(default_factory=list)
    is_right: bool = False
    looked: bool = False

    @property
    def at_once(self) -> bool:
        """Whether the first answer was right."""
        return self.is_right and self.tries == 1


class Result(TypedDict):
    """What was mastered, and what to try again."""

    asked: int  # questions that were answered, rightly or not
    at_once: int
    later: int
    looked: int
    mastered: list[str]  # keys of CONCEPTS: right at once wherever they were asked for
    practise: list[str]  # the others of those that were asked for
    only_shown: list[str]  # what the kit has performed, and nothing was answered
    misconceptions: list[str]
    possible: list[str]  # misconceptions that a wrong answer may show, beside another one


@dataclass
class _Pass:
    """How far a backward pass has come."""

    plan: Pass
    arrived: dict[str, list[int]]  # by box, the uses that have brought their contribution
    started: set[str]  # roots that have their gradient
    visited: set[str]


class Walk:
    """Goes through a script, one question after the other.

    Parameters
    ----------
    script : Script
        As ``perform_script`` returns it.
    is_exam : bool
        Go on after each answer, be it right or wrong.

    Attributes
    ----------
    task : Task or None
        The question that is asked now; None at the end.
    records : list of Record
        What came of each so far.
    order : list of str
        The boxes in the order in which their gradient was passed on.
    passes : list of list of Send
        For each backward pass so far, the contributions that have arrived.
    """

    def __init__(self, script: Script, *, is_exam: bool = False) -> None:
        self.script, self.is_exam = script, is_exam
        self.task: Task | None = None
        self.records: list[Record] = []
        self.order: list[str] = []
        self.passes: list[list[Send]] = []
        self._main: Task | None = None  # while a smaller question is asked
        self._last: list[str] = []  # boxes that the last answer named
        self._pass: _Pass | None = None
        self._agenda: list[tuple[Any, ...]] = [("stage", k) for k in range(len(script["stages"]))]
        self._go_on()

    # -- answers ------------------------------------------------------------------------------

    @property
    def is_smaller(self) -> bool:
        """Whether the question asked now is a smaller one."""
        return self._main is not None

    @property
    def offers_smaller(self) -> bool:
        """Whether a smaller question can be asked for."""
        if self.task is None or self._main is not None or not self.records:
            return False
        tries = self.records[-1]
        return len(tries.named) >= SMALLER_AFTER and self._smaller() is not None

    @property
    def complete(self) -> list[str]:
        """The boxes that have all of their contributions in this backward pass."""
        if self._pass is None:
            return []
        nodes = self._pass.plan["nodes"]
        return [box for box in nodes if self._count(box) == nodes[box]["needs"]]

    @property
    def visited(self) -> set[str]:
        """The boxes that have had their turn in this backward pass."""
        return set() if self._pass is None else self._pass.visited

    @property
    def plan(self) -> Pass | None:
        """The backward pass that is performed now."""
        return None if self._pass is None else self._pass.plan

    def answer(self, response: Response) -> Verdict:
        """Judge an answer, and go on if it is right.

        Raises
        ------
        ValueError
            At the end, when nothing is asked.
        """
        if self.task is None:
            raise ValueError("The performance is at its end: there is no question to answer.")
        verdict = judge(self.task, response)
        if self._main is not None:
            if verdict.outcome == "right":
                self.task, self._main = self._main, None
            return verdict
        if verdict.outcome == "unclear":
            return verdict
        record = self.records[-1]
        record.tries += 1
        self._last = [response] if isinstance(response, str) else [*response]
        if verdict.outcome == "right":
            record.is_right = True
            self._done(self._last)
        else:
            record.named.append([*verdict.misconceptions])
            if self.is_exam:
                self._done([])
        return verdict

    def show(self) -> None:
        """Let the kit perform the step."""
        if self.task is not None:
            self.task, self._main = self._main or self.task, None
            self.records[-1].looked = True
            self._done([])

    def skip(self) -> None:
        """Let the kit perform a step that is like others before: it does not count."""
        if self.task is not None:
            self.records.pop()
            self._done([])

    def ask_smaller(self) -> None:
        """Ask the smaller question instead, if there is one."""
        smaller = self._smaller()
        if self._main is None and smaller is not None:
            self._main, self.task = self.task, smaller

    def _smaller(self) -> Task | None:
        if self.task is None:
            return None
        if self.task["about"] == "next":  # of the box that was chosen; of the next one where that
            plan = self._state.plan["nodes"]  # gets no gradient
            boxes = [*(box for box in self._last if box in plan), self._newest(self._ready())]
            return plan[boxes[0]]["smaller"]
        return self.task.get("smaller")

    # -- what comes next ----------------------------------------------------------------------

    def _done(self, response: list[str]) -> None:
        task = self.task
        assert task is not None
        if task["about"] == "next":
            ready = self._ready()
            chosen = next((box for box in response if box in ready), self._newest(ready))
            self._agenda.insert(0, ("visit", chosen))
        self.task = None
        self._go_on()

    def _go_on(self) -> None:
        """Work off the agenda up to the next question."""
        while self._agenda and self.task is None:
            what, *rest = self._agenda.pop(0)
            if what == "ask":
                self._ask(self.script["tasks"][rest[0]])
            elif what == "stage":
                self._stage(rest[0])
            elif what == "root":
                self._state.started.add(rest[0])
                self._arrive(rest[0])
            elif what == "send":
                self._send(*rest)
            elif what == "visit":
                self._visit(rest[0])
            elif what == "next":
                self._next()

    def _ask(self, task: Task) -> None:
        self.task = task
        self.records.append(Record(task["id"], task["about"], task["part"]))

    @property
    def _state(self) -> _Pass:
        assert self._pass is not None
        return self._pass

    def _stage(self, number: int) -> None:
        stage = self.script["stages"][number]
        agenda: list[tuple[Any, ...]] = [("ask", task) for task in stage["tasks"]]
        self._pass = None
        if "pass" in stage:
            plan = stage["pass"]
            self.passes.append([])
            self._pass = _Pass(plan, {box: [] for box in plan["nodes"]}, set(), set())
            agenda += [("ask", task) for task in plan["begin"]]
            agenda += [*(("root", root) for root in plan["roots"]), ("next",)]
        self._agenda[:0] = agenda

    def _count(self, box: str) -> int:
        return len(self._state.arrived[box]) + (box in self._state.started)

    def _arrive(self, box: str) -> None:
        plan = self._state.plan["nodes"][box]
        if self._count(box) == plan["needs"]:
            if plan["is_leaf"]:
                self._state.visited.add(box)
            self._agenda[:0] = [("ask", task) for task in plan["complete"]]

    def _send(self, box: str, number: int) -> None:
        nodes = self._state.plan["nodes"]
        send = nodes[box]["sends"][number]
        uses, arrived = nodes[send["to"]]["uses"], self._state.arrived[send["to"]]
        own = [send["edge"] or "", nodes[box]["name"]]
        arrived.append(next(k for k, use in enumerate(uses) if use == own and k not in arrived))
        self.passes[-1].append(send)
        self._arrive(send["to"])

    def _visit(self, box: str) -> None:
        plan = self._state.plan["nodes"][box]
        self._state.visited.add(box)
        self.order.append(box)
        agenda: list[tuple[Any, ...]] = [("ask", task) for task in plan["before"]]
        for number, send in enumerate(plan["sends"]):
            agenda += [("ask", task) for task in send["tasks"]]
            agenda.append(("send", box, number))
        self._agenda[:0] = [*agenda, ("next",)]

    def _waiting(self) -> list[str]:
        nodes = self._state.plan["nodes"]
        return [b for b in nodes if b not in self._state.visited and not nodes[b]["is_leaf"]]

    def _ready(self) -> list[str]:
        nodes = self._state.plan["nodes"]
        return [box for box in self._waiting() if self._count(box) == nodes[box]["needs"]]

    def _newest(self, boxes: list[str]) -> str:
        return max(boxes, key=lambda box: self._state.plan["nodes"][box]["newest"])

    def _next(self) -> None:
        ready, waiting = self._ready(), self._waiting()
        if not ready:
            return
        newest = self._state.plan["nodes"][self._newest(ready)]
        is_asked = self._state.plan["asks"] and len(waiting) > 1 and self.order_begun()
        is_asked = is_asked and not newest["silent"]
        if is_asked:
            self._ask(self.next_task(ready))
        else:
            self._agenda.insert(0, ("visit", self._newest(ready)))

    def order_begun(self) -> bool:
        """Tell whether this pass has left its root."""
        nodes = self._state.plan["nodes"]
        return any(box in self._state.visited for box in nodes)

    def next_task(self, ready: list[str]) -> Task:
        """Return the question which node is next, as it stands now."""
        state = self._state
        nodes = state.plan["nodes"]
        slips = [self._too_early(box, nodes[box]) for box in nodes if box not in ready]
        slips += state.plan["closed"].values()
        names = [f"`{nodes[box]['name']}`" for box in ready]
        newest = f"`{nodes[self._newest(ready)]['name']}`"
        if len(ready) > 1:
            right = (
                f"The order is open here: {', '.join(names[:-1])} and {names[-1]} are complete, "
                f"and each may be next. PyTorch takes the newest, {newest}; the gradients are the "
                "same."
            )
        else:
            right = f"{newest} has all of its contributions."
        return {
            "id": f"next.{len(self.records) + 1}",
            "part": "backward",
            "about": "next",
            "kind": "node",
            "prompt": "Which node is next?",
            "hint": "Choose a node of the graph.",
            "node": None,
            "edge": None,
            "where": state.plan["where"],
            "options": [],
            "names": {},
            "varied": [],
            "answers": [{"one": box} for box in ready],
            "slips": slips,
            "otherwise": "A node is next when all of its contributions have arrived.",
            "right": right,
            "reveal": newest,
        }

    def _too_early(self, box: str, plan: NodePlan) -> Slip:
        state = self._state
        name = f"`{plan['name']}`"
        if box in state.visited:
            text = f"{name} has had its turn: its gradient is complete."
            if not plan["is_leaf"]:
                text = f"{name} has had its turn: it has passed on its contributions."
            return {"answer": {"one": box}, "is": [], "text": text, "marks": []}
        missing = [use for k, use in enumerate(plan["uses"]) if k not in state.arrived[box]]
        count, needs = self._count(box), plan["needs"]
        names = list(dict.fromkeys(f"`{name}`" for _, name in missing))
        from_whom = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        here = "none has" if not count else "1 has" if count == 1 else f"{count} have"
        gets = "1 contribution" if needs == 1 else f"{needs} contributions"
        text = (
            f"Not {name} yet: it gets {gets}, and {here} arrived. "
            f"Missing along the dotted edge: from {from_whom}."
        )
        marks: list[Mark] = [{"kind": "wrong", "node": box}]
        marks += [
            {"kind": "missing", "edge": edge, "text": "not here yet"} for edge, _ in missing if edge
        ]
        return {"answer": {"one": box}, "is": ["too_early"], "text": text, "marks": marks}

    # -- what came of it ----------------------------------------------------------------------

    def result(self) -> Result:
        """Return what was mastered so far, and what to try again."""
        done = [r for r in self.records if r.is_right or r.looked or r.named]
        asked = [r for r in done if r.tries]  # what was shown at once was not asked
        questions = list(dict.fromkeys(r.about for r in asked))
        mastered = [
            about for about in questions if all(r.at_once for r in asked if r.about == about)
        ]
        performed = dict.fromkeys(r.about for r in done)
        sets = [names for r in asked for names in r.named if names]
        alone = list(dict.fromkeys(names[0] for names in sets if len(names) == 1))
        possible = [
            name for names in sets if len(names) > 1 and not set(names) & set(alone)
            for name in names
        ]  # fmt: skip
        return {
            "asked": len(asked),
            "at_once": sum(r.at_once for r in asked),
            "later": sum(r.is_right and not r.at_once for r in asked),
            "looked": sum(r.looked for r in done),
            "mastered": mastered,
            "practise": [about for about in questions if about not in mastered],
            "only_shown": [about for about in performed if about not in questions],
            "misconceptions": alone,
            "possible": list(dict.fromkeys(possible)),
        }
