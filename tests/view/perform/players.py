"""Players: one who performs without a mistake, and for each misconception one who has it.

What they answer comes from the recording's events, from the run itself and from NumPy, never from
the script: a player sees the prompt, the options, and which box and which arrow it is about.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autodiff_kit.view import build
from autodiff_kit.view.perform import Task, Verdict, Walk
from tests.view.perform.bank import PROGRAMS, execute, run

Answer = str | list[str]


def array(value: Any) -> Any:
    """Return a recorded value as an array."""
    return np.array(value["data"], dtype=float).reshape(value["shape"])


@cache
def inputs_at(title: str) -> dict[str, tuple[int, int]]:
    """Return, by arrow, the node it leads to and the place among its inputs."""
    outline = build(run(title).recording, fold=False).outline
    return {edge.id: at for at, edge in outline.edge_at.items()}


@cache
def once_more(title: str, root: str) -> str:
    """Run a program and its last backward pass once more; say what comes of it."""
    try:
        execute(PROGRAMS[title].source, more=f"{root}.backward()")
    except RuntimeError:
        return "error"
    return "adds"


class Player:
    """Performs a program of the bank; ``seed`` decides on order and notation."""

    misconception = ""

    def __init__(self, title: str, seed: int = 0) -> None:
        self.title, self.draw = title, random.Random(seed)
        recording, self.variables = run(title)
        self.data = recording.to_dict()
        self.nodes = self.data["nodes"]
        self.inputs_at = inputs_at(title)
        self.passes: list[list[Any]] = []
        for event in self.data["events"]:
            if event["kind"] == "backward":
                self.passes.append([])
            if self.passes and "node" in event:
                self.passes[-1].append(event)
        self.number = -1
        self.arrived: set[tuple[int, int]] = set()  # of this pass: node, place of its contribution
        self.visited: set[int] = set()
        self.forks = list(PROGRAMS[title].ran)
        self.slips = 0  # answers that are not the right ones

    # -- what the recording says -------------------------------------------------------------

    @property
    def events(self) -> list[Any]:
        return self.passes[self.number]

    def contributions(self, node: int) -> list[Any]:
        """Return what a node passes on in this pass."""
        return [e for e in self.events if e["kind"] == "contribution" and e["node"] == node]

    def into(self, node: int) -> list[Any]:
        return [e for e in self.events if e["kind"] == "contribution" and e["to"] == node]

    def gradient(self, node: int) -> Any:
        return next(
            array(e["g"]) for e in self.events if e["kind"] == "visit" and e["node"] == node
        )

    def asked(self, task: Task) -> Any:
        """Return the contribution that a task is about."""
        node, place = self.inputs_at[task["edge"] or ""]
        arg = self.nodes[node]["inputs"][place]["arg"]
        return next(e for e in self.contributions(node) if e["arg"] == arg)

    def value_of(self, node: int, source: int) -> Any:
        """Return the value of an input when an op ran: nothing in the bank reads a changed one."""
        return array(self.nodes[source]["value"])

    # -- answers ------------------------------------------------------------------------------

    def answer(self, task: Task) -> Answer:
        """Return the right answer."""
        if task["about"] == "begin":
            self.number += 1
            self.visited.clear()
            return str(self.events_root())
        if task["kind"] == "choice" and task["about"] == "shape":
            return str(self.asked(task)["after"]["shape"])
        return getattr(self, task["about"])(task)

    def events_root(self) -> int:
        backwards = [e for e in self.data["events"] if e["kind"] == "backward"]
        return int(backwards[self.number]["roots"][0])

    def recorded(self, task: Task) -> Answer:
        node = self.nodes[int(task["node"] or 0)]
        if node["kind"] == "leaf":
            return "leaf" if node["requires_grad"] else "data"
        return "yes" if node["grad_fn"] else "no"

    def inputs(self, task: Task) -> Answer:
        sources = {str(s["node"]) for s in self.nodes[int(task["node"])]["inputs"] if "node" in s}
        return self.shuffled(sources)

    def shuffled(self, boxes: set[str]) -> list[str]:
        ordered = sorted(boxes)
        self.draw.shuffle(ordered)
        return ordered

    def edges(self, task: Task) -> Answer:
        sources = [s["node"] for s in self.nodes[int(task["node"])]["inputs"] if "node" in s]
        return str(max(sources.count(s) for s in sources))

    def saved(self, task: Task) -> Answer:
        node = self.nodes[int(task["node"])]
        by_arg = {s["arg"]: str(s["node"]) for s in node["inputs"] if "node" in s}
        names = [s["name"] for s in node["saved"]]
        boxes = {by_arg[n] for n in names if n in by_arg}
        boxes |= {str(node["id"])} if "out" in names else set()
        return self.shuffled(boxes) or ["nothing"]

    def branch(self, task: Task) -> Answer:
        return next(o["value"] for o in task["options"] if o["text"].strip("`") in self.forks)

    def seed(self, task: Task) -> Answer:
        return self.written(np.float64(1.0), task)

    def ready(self) -> list[int]:
        """Return the nodes that may be next."""
        nodes = {e["to"] for e in self.events if e["kind"] == "contribution"}
        nodes = {n for n in nodes if self.contributions(n)} - self.visited
        return sorted(n for n in nodes if {e["node"] for e in self.into(n)} <= self.visited)

    def next(self, task: Task) -> Answer:
        self.visited.add(self.events_root())
        node = self.draw.choice(self.ready())
        return str(node)

    def targets(self, task: Task) -> Answer:
        self.visited.add(int(task["node"]))
        return self.shuffled({str(e["to"]) for e in self.contributions(int(task["node"]))})

    def count(self, task: Task) -> Answer:
        targets = [e["to"] for e in self.contributions(int(task["node"]))]
        return str(max(targets.count(t) for t in targets))

    def axes(self, task: Task) -> Answer:
        event = self.asked(task)
        wide, narrow = event["before"]["shape"], event["after"]["shape"]
        added = len(wide) - len(narrow)
        padded = [1] * added + narrow
        axes = [k for k, (n, m) in enumerate(zip(wide, padded, strict=True)) if m == 1 and n != 1]
        words = f"Ax{'i' if len(axes) == 1 else 'e'}s {' and '.join(map(str, axes))}"
        return next(o["value"] for o in task["options"] if o["text"] == words)

    def value(self, task: Task) -> Answer:
        event = self.asked(task)
        self.visited.add(event["node"])
        return self.expression(event, task) or self.written(array(event["after"]), task)

    def sum(self, task: Task) -> Answer:
        node = int(task["node"])
        return self.written(sum(array(e["after"]) for e in self.into(node)), task)

    def grad(self, task: Task) -> Answer:
        node = int(task["node"])
        own = (e for e in self.events if e["kind"] == "accumulate" and e["node"] == node)
        return self.written(array(next(own)["grad"]), task)

    def leaf(self, task: Task) -> Answer:
        grad = self.variables[self.nodes[int(task["node"])]["name"]].grad
        return "None" if grad is None else self.written(grad.numpy().astype(float), task)

    def again(self, task: Task) -> Answer:
        root = self.nodes[self.events_root()]
        return once_more(self.title, root.get("variable") or root["name"])

    def freed(self, task: Task) -> Answer:
        return "no" if any(e["kind"] == "release" for e in self.events) else "yes"

    def stops(self, task: Task) -> Answer:
        return "error"

    # -- notation -----------------------------------------------------------------------------

    def expression(self, event: Any, task: Task) -> str | None:
        """Return an expression in the learner's names for a product, now and then."""
        node = self.nodes[event["node"]]
        others = [s for s in node["inputs"] if s["arg"] != event["arg"]]
        if node["op"] != "mul" or event["before"] or self.draw.random() < 0.4:
            return None
        name = self.nodes[others[0]["node"]]["name"] if "node" in others[0] else None
        g = self.gradient(event["node"])
        if name not in task["names"] or g.shape or "g" not in task["names"]:
            return None
        number = repr(float(g))
        return self.draw.choice(
            [f"g * {name}", f"{name}*g", f"{number} * {name}", f"{name} * ({number} - 1 + 1)",
             f"g*{name} + 0", f"2 * g * {name} / 2", f"`g * {name}`", f"-(-{name}) * g"]
        )  # fmt: skip

    def written(self, value: Any, task: Task) -> str:
        """Return a value as some learner would type it."""
        value = np.asarray(value, dtype=float)
        if value.shape:
            digits = self.draw.choice([4, 5, 6])
            nested = np.round(value, digits).tolist()
            text = str(nested)
            forms = [text, text.replace(" ", ""), f"tensor({text})", text.replace(".0,", ".,")]
            return self.draw.choice(forms)
        number = float(value)
        forms = [
            repr(number), f"{number:.6g}", f"{number:.5e}", f" {number!r} ", f"+{number!r}",
            f"{number / 2!r} * 2", f"{number - 3!r} + 3", f"tensor({number!r})", f"({number!r})",
            repr(number).replace("-", "\u2212"), f"{number:.6g}".replace(".", ".", 1),
        ]  # fmt: skip
        if abs(number) >= 1:
            forms.append(f"{number:.2f}" if number == round(number, 2) else f"{number:.4f}")
        if number == int(number):
            forms += [str(int(number)), f"{int(number)}.", f"{int(number)}/1"]
        return self.draw.choice(forms)


class Mutant(Player):
    """Has one misconception; answers rightly where it does not show."""

    def mistaken(self, task: Task) -> Answer | None:
        """Return the answer of the misconception where it differs from the right one."""
        how: Callable[[Task], Answer | None] | None = getattr(self, f"m_{task['about']}", None)
        return how(task) if how else None

    def apart(self, wrong: Any, task: Task, right: Any) -> str | None:
        """Write a wrong value down if it is another one."""
        wrong, right = np.asarray(wrong, float), np.asarray(right, float)
        if wrong.shape == right.shape and np.allclose(wrong, right, rtol=2e-2):
            return None
        return str(wrong.tolist())


class TooEarly(Mutant):
    misconception = "too_early"

    def m_next(self, task: Task) -> Answer | None:
        self.visited.add(self.events_root())
        reached = {e["to"] for e in self.events if e["kind"] == "contribution"} - self.visited
        waiting = [n for n in reached if not {e["node"] for e in self.into(n)} <= self.visited]
        return str(self.draw.choice(sorted(waiting))) if waiting else None


class Overwrites(Mutant):
    misconception = "overwrites"

    def m_sum(self, task: Task) -> Answer | None:
        parts = [array(e["after"]) for e in self.into(int(task["node"]))]
        return self.apart(self.draw.choice(parts), task, sum(parts))


class LocalSlope(Mutant):
    misconception = "local_slope"

    def m_value(self, task: Task) -> Answer | None:
        event = self.asked(task)
        self.visited.add(event["node"])
        g, sent = self.gradient(event["node"]), array(event["after"])
        if g.shape != sent.shape or self.nodes[event["node"]]["op"] in ("mm", "mv"):
            return None
        return self.apart(sent / g, task, sent)


class OwnFactor(Mutant):
    misconception = "own_factor"

    def m_value(self, task: Task) -> Answer | None:
        event = self.asked(task)
        self.visited.add(event["node"])
        if self.nodes[event["node"]]["op"] != "mul":
            return None
        own = self.value_of(event["node"], event["to"])
        g = self.gradient(event["node"])
        wrong = g * own
        right = array(event["after"])
        return self.apart(wrong, task, right) if wrong.shape == right.shape else None


class WrongInput(Mutant):
    misconception = "wrong_input"

    def m_targets(self, task: Task) -> Answer | None:
        node = int(task["node"])
        self.visited.add(node)
        own = {s.get("node") for s in self.nodes[node]["inputs"]} | {node}
        others = [n["id"] for n in self.nodes if n["requires_grad"] and n["id"] not in own]
        if not others:
            return None
        return [*self.targets(task)[1:], str(self.draw.choice(others))]

    def m_value(self, task: Task) -> Answer | None:
        event = self.asked(task)
        self.visited.add(event["node"])
        others = [e for e in self.contributions(event["node"]) if e["to"] != event["to"]]
        if self.nodes[event["node"]]["op"] not in ("sub", "div", "mm", "mv") or not others:
            return None
        return self.apart(array(others[0]["after"]), task, array(event["after"]))


class BroadcastAxis(Mutant):
    misconception = "broadcast_axis"

    def m_axes(self, task: Task) -> Answer | None:
        return next(o["value"] for o in task["options"] if o["text"].startswith("None"))

    def m_value(self, task: Task) -> Answer | None:
        event = self.asked(task)
        self.visited.add(event["node"])
        if event["before"] is None:
            return None
        wide, right = array(event["before"]), array(event["after"])
        wide_shape = right.reshape((1,) * (wide.ndim - right.ndim) + right.shape)
        wrong = self.draw.choice([wide, wide_shape if wide_shape.shape != right.shape else wide])
        return self.apart(wrong, task, right)


class Transpose(Mutant):
    misconception = "transpose"

    def m_value(self, task: Task) -> Answer | None:
        event = self.asked(task)
        node = self.nodes[event["node"]]
        self.visited.add(event["node"])
        if node["op"] != "mm":
            return None
        g, right = self.gradient(event["node"]), array(event["after"])
        source = next(s for s in node["inputs"] if s["arg"] != event["arg"])
        other = self.value_of(event["node"], source["node"])
        wrong = []
        for one, two in ((g, other), (other, g), (g.T, other), (other.T, g), (g, other.T)):
            if one.shape[1] == two.shape[0]:
                wrong.append(one @ two)
        wrong = [w for w in [*wrong, right.T] if self.apart(w, task, right)]
        wrong = [w for w in wrong if not self.is_of_other_input(w, event)]
        return str(self.draw.choice(wrong).tolist()) if wrong else None

    def is_of_other_input(self, value: Any, event: Any) -> bool:
        others = [e for e in self.contributions(event["node"]) if e["arg"] != event["arg"]]
        return any(
            array(e["after"]).shape == value.shape and np.allclose(array(e["after"]), value)
            for e in others
        )


class FlowsThrough(Mutant):
    misconception = "flows_through"

    def is_cut(self, node: int) -> bool:
        """Return whether no gradient flows into a node, though a leaf with one is behind it."""
        sources = [s["node"] for s in self.nodes[node]["inputs"] if "node" in s]
        is_op = self.nodes[node]["kind"] == "op" and not self.nodes[node]["grad_fn"]
        return is_op and any(self.nodes[s]["requires_grad"] or self.is_cut(s) for s in sources)

    def ghosts(self, node: int) -> list[str]:
        sources = [s["node"] for s in self.nodes[node]["inputs"] if "node" in s]
        return [str(s) for s in sources if self.is_cut(s)]

    def m_recorded(self, task: Task) -> Answer | None:
        return "yes" if self.is_cut(int(task["node"])) else None

    def m_targets(self, task: Task) -> Answer | None:
        self.visited.add(int(task["node"]))
        ghosts = self.ghosts(int(task["node"]))
        return [*self.targets(task), *ghosts] if ghosts else None

    def m_leaf(self, task: Task) -> Answer | None:
        node = self.nodes[int(task["node"])]
        grad = self.variables[node["name"]].grad
        return "0." if grad is None and self.is_behind_a_cut(node["id"]) else None

    def is_behind_a_cut(self, leaf: int) -> bool:
        """Return whether a leaf requires a gradient and is read, at some distance, by a cut."""
        reading = {leaf}
        for node in self.nodes:  # each after those that it reads
            if reading & {s["node"] for s in node["inputs"] if "node" in s}:
                reading.add(node["id"])
        return self.nodes[leaf]["requires_grad"] and any(map(self.is_cut, reading))


class ConstantAsLeaf(Mutant):
    misconception = "constant_as_leaf"

    def is_data(self, node: int) -> bool:
        return self.nodes[node]["kind"] == "leaf" and not self.nodes[node]["requires_grad"]

    def m_recorded(self, task: Task) -> Answer | None:
        return "leaf" if self.is_data(int(task["node"])) else None

    def m_targets(self, task: Task) -> Answer | None:
        node = int(task["node"])
        self.visited.add(node)
        data = [str(s["node"]) for s in self.nodes[node]["inputs"] if "node" in s]
        data = [s for s in data if self.is_data(int(s))]
        return [*self.targets(task), *data] if data else None

    def m_leaf(self, task: Task) -> Answer | None:
        return "6.5" if self.is_data(int(task["node"])) else None


class StaleValue(Mutant):
    misconception = "stale_value"

    def m_value(self, task: Task) -> Answer | None:
        event = self.asked(task)
        node = self.nodes[event["node"]]
        self.visited.add(event["node"])
        if not node["text"].count("mul_(") or event["arg"] != "y":
            return None
        wrong = self.gradient(event["node"]) * array(node["value"])
        return self.apart(wrong, task, array(event["after"]))

    def m_stops(self, task: Task) -> Answer | None:
        return "new"


class CountsOnce(Mutant):
    misconception = "counts_once"

    def m_edges(self, task: Task) -> Answer | None:
        return "1"

    m_count = m_edges


class OtherBranch(Mutant):
    misconception = "other_branch"

    def m_branch(self, task: Task) -> Answer | None:
        return next(o["value"] for o in task["options"] if o["text"].strip("`") not in self.forks)


class GradReplaced(Mutant):
    misconception = "grad_replaced"

    def m_grad(self, task: Task) -> Answer | None:
        node = int(task["node"])
        event = next(e for e in self.events if e["kind"] == "accumulate" and e["node"] == node)
        return self.apart(array(event["g"]), task, array(event["grad"]))

    def m_again(self, task: Task) -> Answer | None:
        return "sets" if self.again(task) == "adds" else None


MUTANTS: list[type[Mutant]] = [
    *(TooEarly, Overwrites, LocalSlope, OwnFactor, WrongInput, BroadcastAxis, Transpose),
    *(FlowsThrough, ConstantAsLeaf, StaleValue, CountsOnce, OtherBranch, GradReplaced),
]


def told(verdict: Verdict) -> list[Any]:
    """Return what came of an answer, as plain data."""
    marks = [dict(mark) for mark in verdict.marks]
    return [verdict.outcome, verdict.text, [*verdict.misconceptions], marks]


def perform(walk: Walk, player: Player, log: list[Any] | None = None) -> list[Any]:
    """Let a player perform all of a script; return the verdicts on what was not right."""
    wrong = []
    while (task := walk.task) is not None:
        mistaken = player.mistaken(task) if isinstance(player, Mutant) else None
        if mistaken is not None:
            player.slips += 1
            verdict = walk.answer(mistaken)
            if log is not None:
                log.append([mistaken, *told(verdict)])
            wrong.append((task, mistaken, verdict))
        response = player.answer(task)
        verdict = walk.answer(response)
        if log is not None:
            log.append([response, *told(verdict)])
        if task["about"] == "next" and verdict.outcome == "right":
            player.visited.add(int(str(response)))
        if verdict.outcome != "right":
            wrong.append((task, response, verdict))
            walk.show()
    return wrong
